//! Sources become LLVM's IR: by clang, or by rustc.

use super::limits::Limits;
use crate::args::PortArgs;
use crate::input::failure;
use crate::sanitizer::compiler::{Compiler, Language};
use crate::sanitizer::run::language;
use crate::sanitizer::scratch::{self, Scratch};
use rsan_model::Reason;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// How often it is looked whether a compiler has ended.
const TICK: Duration = Duration::from_millis(2);

/// The IR of a program; what was compiled is gone when this is dropped.
pub(super) struct Built {
    /// Its files, in the order of the user's.
    pub(super) files: Vec<PathBuf>,
    _scratch: Option<Scratch>,
}

/// Why there is no IR.
pub(super) enum NotBuilt {
    /// The complete message for the user.
    Bad(String),
    /// A limit.
    Stopped(Reason),
    /// There is no compiler that writes IR: what to install.
    NoCompiler(String),
}

/// What kind of file a program is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// LLVM's.
    Ir,
    /// C or C++.
    Source(Language),
    /// Rust.
    Rust,
}

/// The kind of a file, by its extension; none for tests, and for what is unknown.
pub(super) fn part(file: &str) -> Option<Part> {
    if let Some(language) = language(file) {
        return Some(Part::Source(language));
    }
    match Path::new(file).extension()?.to_str()? {
        "bc" | "ll" => Some(Part::Ir),
        "rs" => Some(Part::Rust),
        _ => None,
    }
}

/// Compiles what is not IR yet. With an `overlay`, a file for clang's `-ivfsoverlay`, some files are read from elsewhere.
pub(super) fn build(
    files: &[String],
    args: &PortArgs,
    overlay: Option<&Path>,
    limits: &mut Limits<'_>,
) -> Result<Built, NotBuilt> {
    for file in files {
        let readable = fs::File::open(file).map_err(|error| NotBuilt::Bad(failure(file, &error)));
        let metadata = readable.and_then(|file| {
            let metadata = file.metadata();
            metadata.map_err(|error| NotBuilt::Bad(error.to_string()))
        })?;
        if metadata.is_dir() {
            let message = "this is a directory; name the files in it";
            return Err(NotBuilt::Bad(failure(file, &message)));
        }
    }
    if files.iter().all(|file| part(file) == Some(Part::Ir)) {
        return Ok(Built {
            files: files.iter().map(PathBuf::from).collect(),
            _scratch: None,
        });
    }
    scratch::sweep();
    let scratch = Scratch::new().map_err(|message| NotBuilt::Bad(failure(&files[0], &message)))?;
    let mut built = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let out = scratch.path().join(format!("{number}.bc"));
        let command = match part(file) {
            Some(Part::Source(language)) => by_clang(file, language, args, overlay, &out)?,
            Some(Part::Rust) => by_rustc(file, args, &out),
            Some(Part::Ir) | None => {
                built.push(PathBuf::from(file));
                continue;
            }
        };
        run(command, file, limits)?;
        built.push(out);
    }
    Ok(Built {
        files: built,
        _scratch: Some(scratch),
    })
}

/// A name that begins with a dash is no option.
fn named(file: &str) -> PathBuf {
    match file.starts_with('-') {
        true => Path::new(".").join(file),
        false => PathBuf::from(file),
    }
}

fn by_clang(
    file: &str,
    language: Language,
    args: &PortArgs,
    overlay: Option<&Path>,
    out: &Path,
) -> Result<Command, NotBuilt> {
    let clang = match Compiler::clang(language) {
        Ok(Some(clang)) => clang,
        Ok(None) => {
            let message = "there is no clang to compile C and C++ with: install clang, or give the program as .bc or .ll files";
            return Err(NotBuilt::NoCompiler(message.to_owned()));
        }
        Err(message) => return Err(NotBuilt::Bad(failure(file, &message))),
    };
    let level = args.level.as_deref().unwrap_or("1");
    let words = ["-c", "-emit-llvm", "-g", "-pthread"];
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    words.push("-Wno-unused-command-line-argument".into());
    words.push(format!("-O{level}").into());
    words.extend(args.flags.iter().cloned());
    words.extend(
        overlay
            .iter()
            .flat_map(|file| ["-ivfsoverlay".into(), file.into()]),
    );
    words.extend(["-o".into(), out.into(), named(file).into()]);
    Ok(clang.command(&words))
}

fn by_rustc(file: &str, args: &PortArgs, out: &Path) -> Command {
    let text = fs::read_to_string(file).unwrap_or_default();
    let kind = match text.contains("fn main(") {
        true => "bin",
        false => "lib",
    };
    let level = match args.level.as_deref() {
        None | Some("g") => "1",
        Some("fast") => "3",
        Some(level) => level,
    };
    let mut command = Command::new("rustc");
    command.args(["--emit=llvm-bc", "-g", "--edition", "2024"]);
    // One module has all of the crate, and a panic ends the program: it has no paths of its own.
    command.args(["-C", "codegen-units=1", "-C", "panic=abort"]);
    command.args(["-C", &format!("opt-level={level}")]);
    command.args(["--crate-type", kind]).args(&args.flags);
    command.arg("-o").arg(out).arg(named(file));
    command
}

/// Runs a compiler, whose messages are the user's.
fn run(mut command: Command, file: &str, limits: &mut Limits<'_>) -> Result<(), NotBuilt> {
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let mut child = child.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => NotBuilt::NoCompiler(format!(
            "there is no {program} to compile {file} with: install it, or give the program as .bc or .ll files"
        )),
        _ => NotBuilt::Bad(failure(file, &format!("{program}: {error}"))),
    })?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(NotBuilt::Bad(failure(file, &"it cannot be compiled"))),
            Ok(None) => {}
            Err(error) => return Err(NotBuilt::Bad(failure(file, &error))),
        }
        if let Some(reason) = limits.over(0) {
            // It may be gone already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(NotBuilt::Stopped(reason));
        }
        thread::sleep(TICK);
    }
}
