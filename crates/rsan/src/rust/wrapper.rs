//! The compiler that cargo calls: rustc, with flags for code that runs in the program.

use super::session::Session;
use super::toolchain::TARGET;
use crate::sanitizer::compile::code;
use crate::session::eprint;
use std::ffi::OsString;
use std::process::Command;

/// Tells the linker how much rustc was asked to optimise.
pub(crate) const OPTIMISED: &str = "RSAN_RUST_LEVEL";

/// Compiles as the words say, the first of which is the real rustc; returns the exit status.
pub(crate) fn run(words: &[OsString]) -> u8 {
    match compile(words) {
        Ok(status) => status,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

fn compile(words: &[OsString]) -> Result<u8, String> {
    let session = Session::current()?;
    let [rustc, words @ ..] = words else {
        return Err("the compiler to start is missing".to_owned());
    };
    let mut command = match &session.wrapper {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    let words = match is_for_target(words) {
        true => {
            command.env(OPTIMISED, level(words));
            instrumented(words, &session)
        }
        false => words.to_vec(),
    };
    let status = command.args(words).status();
    let status = status.map_err(|error| format!("{}: {error}", rustc.display()))?;
    Ok(code(status))
}

/// Whether the code is for the program. Build scripts and procedural macros are compiled without a target.
fn is_for_target(words: &[OsString]) -> bool {
    let pairs = words.windows(2);
    let mut pairs = pairs
        .filter(|pair| pair[0] == "--target")
        .map(|pair| &pair[1]);
    pairs.any(|target| target == TARGET)
        || words
            .iter()
            .any(|word| word == &*format!("--target={TARGET}"))
}

/// The value of the last `opt-level`.
fn level(words: &[OsString]) -> String {
    let levels = words.iter().filter_map(|word| {
        let text = word.to_str()?;
        let text = text.strip_prefix("-C").unwrap_or(text).trim_start();
        match text {
            "-O" => Some("3"),
            _ => text.strip_prefix("opt-level="),
        }
    });
    levels.last().unwrap_or("0").to_owned()
}

/// The words of rustc that make it write bitcode for our linker.
pub(crate) fn instrumented(words: &[OsString], session: &Session) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let option = match (&*text, rest.peek()) {
            ("-C" | "--codegen", Some(value)) => Some(value.to_string_lossy().into_owned()),
            _ => text.strip_prefix("-C").map(str::to_owned),
        };
        let two = ["-C", "--codegen"].contains(&&*text);
        if option.is_some_and(|option| is_ours(&option)) {
            if two {
                rest.next();
            }
            continue;
        }
        kept.push(word.clone());
        if two {
            kept.extend(rest.next().cloned());
        }
    }
    let mut linker = OsString::from("-Clinker=");
    linker.push(session.linker());
    kept.push(linker);
    let flags = [
        "-Clinker-flavor=gcc",
        "-Clinker-plugin-lto",
        "-Cstrip=none",
        "--cfg=rsan",
        "--check-cfg=cfg(rsan)",
    ];
    kept.extend(flags.map(OsString::from));
    let has_debug = words.iter().any(|word| {
        let text = word.to_string_lossy();
        text == "-g" || text.contains("debuginfo=")
    });
    if !has_debug {
        kept.push("-Cdebuginfo=1".into());
    }
    kept
}

/// Options that would undo what is done here.
fn is_ours(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    [
        "lto",
        "linker",
        "linker-flavor",
        "linker-plugin-lto",
        "strip",
        "incremental",
        "embed-bitcode",
        "split-debuginfo",
    ]
    .contains(&name)
}
