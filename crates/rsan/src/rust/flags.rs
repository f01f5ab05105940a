//! What rustc is told so that code can be instrumented, and what of the user's own flags cannot stay.

use super::session::Session;
use super::toolchain::{Instrumentation, TARGET, sanitizer_flags};
use super::words::{self, Argument, Kind, Name};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A call of rustc for code that runs in the program.
pub(crate) struct Plan {
    /// Its command line.
    pub(crate) words: Vec<OsString>,
    /// Whether it optimises.
    pub(crate) optimise: bool,
    /// The user's linker, if it is a compiler of C.
    pub(crate) linker: Option<String>,
    /// Archives that rustc writes without calling the linker.
    pub(crate) written: Vec<Written>,
}

/// An archive that rustc writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// For the linker of a later call.
    Rlib(PathBuf),
    /// For compilers of other languages.
    Static(PathBuf),
}

/// The value of `crate-type` for procedural macros.
const MACRO: &str = "proc-macro";
/// The one for shared libraries of Rust. Programs are linked with an archive of the same instead.
const DYLIB: &str = "dylib";

/// Options that would undo what is done here, or have nothing to do in it.
const DROPPED: &[&str] = &[
    "embed-bitcode",
    "incremental",
    "linker",
    "linker-flavor",
    "linker-plugin-lto",
    "lto",
    // The standard library that is a shared one has no bitcode.
    "prefer-dynamic",
    // Names and lines of findings are found in the program itself.
    "split-debuginfo",
    "strip",
];

/// The call that a command line asks for; none for code that runs in the compiler or before it: procedural macros and build scripts are
/// compiled without a target.
///
/// # Errors
/// What cannot be done with the sanitizer.
pub(crate) fn plan(words: &[OsString], session: &Session) -> Result<Option<Plan>, String> {
    let arguments = words::parse(words);
    let Some(target) = words::last(&arguments, Name::Target) else {
        return Ok(None);
    };
    // Cargo asks about all kinds at once.
    let mut kinds = crate_types(&arguments).peekable();
    if kinds.peek().is_some() && kinds.all(|kind| kind == MACRO) {
        return Ok(None);
    }
    refuse(&arguments, target)?;
    let level = words::setting(&arguments, "opt-level").unwrap_or("0");
    Ok(Some(Plan {
        words: flags(&arguments, session),
        optimise: level != "0",
        linker: linker(&arguments),
        written: written(&arguments),
    }))
}

/// What cannot be done.
fn refuse(arguments: &[Argument], target: &OsStr) -> Result<(), String> {
    if target != TARGET {
        return Err(format!(
            "--target {}: the sanitizer is for {TARGET}",
            target.display()
        ));
    }
    let mut features =
        words::settings(arguments, "target-feature").flat_map(|value| value.split(','));
    if features.any(|feature| feature == "+crt-static") {
        return Err(
            "-Ctarget-feature=+crt-static: programs with the sanitizer cannot be linked statically, for its library is a shared one"
                .to_owned(),
        );
    }
    let mut unstable = words::all(arguments, Name::Unstable).filter_map(OsStr::to_str);
    match unstable.find(|value| value.starts_with("sanitizer=")) {
        Some(other) => Err(format!(
            "-Z{other} cannot be combined with rsan; leave it out of this build"
        )),
        None => Ok(()),
    }
}

fn flags(arguments: &[Argument], session: &Session) -> Vec<OsString> {
    let mut flags: Vec<OsString> = arguments.iter().flat_map(kept).collect();
    let archive = crate_types(arguments).any(|kind| ["lib", "rlib"].contains(&kind));
    if crate_types(arguments).any(|kind| kind == DYLIB) && !archive {
        flags.push("--crate-type=rlib".into());
    }
    let mut linker = OsString::from("-Clinker=");
    linker.push(session.linker());
    flags.push(linker);
    let ours = match session.toolchain.instrumentation {
        Instrumentation::Bitcode { .. } => vec!["-Clinker-plugin-lto"],
        Instrumentation::Sanitizer { mismatch } => sanitizer_flags(mismatch),
    };
    flags.extend(ours.into_iter().map(OsString::from));
    flags.extend(["-Clinker-flavor=gcc", "-Cstrip=none", "--cfg=rsan"].map(OsString::from));
    // Where no names are declared, none is looked at.
    if words::last(arguments, Name::CheckCfg).is_some() {
        flags.push("--check-cfg=cfg(rsan)".into());
    }
    let debug = words::setting(arguments, "debuginfo").unwrap_or("0");
    if ["0", "none", "line-directives-only"].contains(&debug) {
        flags.push("-Cdebuginfo=1".into());
    }
    flags
}

/// What stays of an argument.
fn kept(argument: &Argument) -> Vec<OsString> {
    match &argument.kind {
        Kind::Codegen { name, .. } if DROPPED.contains(&&**name) => Vec::new(),
        Kind::Named(Name::Extern, value) => match static_form(value) {
            Some(value) => vec!["--extern".into(), value],
            None => argument.words.clone(),
        },
        Kind::Codegen { .. } | Kind::Named(..) | Kind::Other => argument.words.clone(),
    }
}

/// A dependency as an archive, if it is a shared library of Rust: with the shared one, the program would have the standard library twice.
fn static_form(value: &OsStr) -> Option<OsString> {
    let (name, file) = value.to_str()?.split_once('=')?;
    let file = Path::new(file).with_extension("rlib");
    let shared = value.as_bytes().ends_with(b".so");
    (shared && file.is_file()).then(|| format!("{name}={}", file.display()).into())
}

/// The user's linker, if it takes the options of a compiler. Others are replaced by the compiler that is found.
fn linker(arguments: &[Argument]) -> Option<String> {
    let linker = words::setting(arguments, "linker")?;
    let flavor = words::setting(arguments, "linker-flavor").unwrap_or("gcc");
    let name = Path::new(linker).file_name()?.to_str()?;
    let bare = ["ld", "lld", "rust-lld", "mold", "wild", "gold"];
    let is_bare =
        |name: &str| bare.contains(&name) || name.starts_with("ld.") || name.starts_with("ld-");
    let of_compiler = flavor == "gcc" || flavor.ends_with("-cc") || flavor.contains("-lld-cc");
    (of_compiler && !is_bare(name) && !name.starts_with("lld-")).then(|| linker.to_owned())
}

fn crate_types(arguments: &[Argument]) -> impl Iterator<Item = &str> {
    words::all(arguments, Name::CrateType)
        .filter_map(OsStr::to_str)
        .flat_map(|kinds| kinds.split(','))
}

/// What rustc writes itself, as cargo asks for it: a folder, and the parts of a name.
fn written(arguments: &[Argument]) -> Vec<Written> {
    let extra = words::setting(arguments, "extra-filename").unwrap_or_default();
    let file = |ending: &str| {
        if let Some(output) = words::last(arguments, Name::Output) {
            return Some(PathBuf::from(output));
        }
        let name = words::last(arguments, Name::Title)?.to_str()?;
        let folder = words::last(arguments, Name::OutDir).map_or(Path::new("."), Path::new);
        Some(folder.join(format!("lib{name}{extra}.{ending}")))
    };
    let of = |kind: &str| match kind {
        "lib" | "rlib" => file("rlib").map(Written::Rlib),
        "staticlib" => file("a").map(Written::Static),
        _ => None,
    };
    crate_types(arguments).filter_map(of).collect()
}

#[cfg(test)]
mod tests;
