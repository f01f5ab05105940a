//! `rsan cc` and `rsan c++`: the compiler that the user has, with the instrumentation, and the linker with our runtime
//! instead of the compiler's.
//!
//! `-fsanitize=thread` at the linker would bring in libtsan, so a command line that compiles and links is done in two
//! steps, with the objects in a temporary folder.

use super::as_written;
use super::compiler::{Compiler, Family, Language};
use super::invocation::{Argument, Invocation, Steps, without_thread};
use super::library;
use super::response::expand;
use super::scratch::Scratch;
use crate::session::eprint;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// An option of our own, beside [`as_written::OPTION`]: the compiler's name or path.
pub(crate) const CHOICE: &str = "--rsan-compiler=";

/// A command line of the user's; returns the compiler's exit status.
pub(crate) fn run(language: Language, words: &[OsString]) -> u8 {
    match compile(language, words) {
        Ok(status) => code(status),
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

/// A process's exit status as a shell gives it.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
}

/// Does what a command line asks for, with the sanitizer; the status is that of the first step that fails.
///
/// # Errors
/// The message for the user, when it is not the compiler who fails.
pub(crate) fn compile(language: Language, words: &[OsString]) -> Result<ExitStatus, String> {
    let choice = |word: &OsString| word.to_str()?.strip_prefix(CHOICE).map(str::to_owned);
    let chosen = words.iter().filter_map(choice).next_back();
    let is_written = |word: &OsString| word == as_written::OPTION;
    let as_written = words.iter().any(is_written);
    let ours = |word: &OsString| choice(word).is_some() || is_written(word);
    let words: Vec<_> = words.iter().filter(|w| !ours(w)).cloned().collect();
    let compiler = Compiler::find(language, chosen.as_deref())?;
    let expanded = expand(&words);
    let invocation = Invocation::new(&expanded);
    refuse(&invocation)?;
    match invocation.steps {
        Steps::Ask => compiler.run(&words),
        Steps::Compile => {
            let last = last_options(&compiler, &expanded, as_written);
            compiler.run(&[instrumentation(&compiler), words, last].concat())
        }
        Steps::Link => {
            let kept: Vec<_> = expanded.iter().filter_map(without_thread).collect();
            // Response files are passed on unless there is something to take out of them.
            let words = if kept == expanded { words } else { kept };
            compiler.run(&[link_options(&invocation)?, words].concat())
        }
        Steps::CompileAndLink => {
            let last = last_options(&compiler, &expanded, as_written);
            in_two_steps(&compiler, &invocation, &last)
        }
    }
}

/// What cannot be done with the sanitizer.
fn refuse(invocation: &Invocation) -> Result<(), String> {
    if invocation.steps == Steps::Ask {
        return Ok(());
    }
    if let Some(other) = &invocation.conflict {
        return Err(format!(
            "-fsanitize={other} cannot be combined with rsan; leave it out of this build"
        ));
    }
    if invocation.fixed && invocation.steps != Steps::Compile {
        return Err(
            "-static: programs with the sanitizer cannot be linked statically, for its library is a shared one"
                .to_owned(),
        );
    }
    Ok(())
}

/// Compiles each source to a temporary object, then links.
fn in_two_steps(
    compiler: &Compiler,
    invocation: &Invocation,
    last: &[OsString],
) -> Result<ExitStatus, String> {
    let scratch = Scratch::new()?;
    let mut link = link_options(invocation)?;
    // The options for the other step are there too.
    let other_step = match compiler.family {
        Family::Clang => Some("-Wno-unused-command-line-argument".into()),
        Family::Gcc => None,
    };
    link.extend(other_step.clone());
    for (index, argument) in invocation.arguments.iter().enumerate() {
        match argument {
            Argument::Source(source, language) => {
                let object = scratch.path().join(format!("{index}.o"));
                let mut words = instrumentation(compiler);
                words.extend(other_step.clone());
                words.extend(compile_options(invocation));
                words.extend_from_slice(last);
                words.extend(dependency_options(invocation, source, compiler.family));
                words.extend(["-c".into(), "-o".into(), object.clone().into()]);
                words.extend(language.iter().flat_map(|l| ["-x".into(), l.clone()]));
                words.push(source.clone());
                let status = compiler.run(&words)?;
                if !status.success() {
                    return Ok(status);
                }
                link.push(object.into());
            }
            Argument::Object(file) => link.push(file.clone()),
            Argument::Output(file) => link.extend(["-o".into(), file.clone()]),
            Argument::Linker(words) | Argument::Both(words) => link.extend(words.iter().cloned()),
            Argument::Compiler(_) => {}
        }
    }
    compiler.run(&link)
}

fn compile_options(invocation: &Invocation) -> impl Iterator<Item = OsString> {
    let words = invocation
        .arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Compiler(words) | Argument::Both(words) => Some(words),
            Argument::Source(..)
            | Argument::Object(_)
            | Argument::Output(_)
            | Argument::Linker(_) => None,
        });
    // Debug information that is split off would be beside the temporary object.
    words.flatten().filter(|w| *w != "-gsplit-dwarf").cloned()
}

/// The options that instrument. They stand first, so that the user's own ones win.
fn instrumentation(compiler: &Compiler) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["-fsanitize=thread", "-g", "-D__RSAN__=1"]
        .map(OsString::from)
        .into();
    if compiler.family == Family::Gcc {
        // gcc warns that libtsan does not understand fences; our runtime does.
        words.push("-Wno-tsan".into());
    }
    words
}

/// What is stronger than the user's own options: gcc would instrument at link time, but not without libtsan.
fn last_options(compiler: &Compiler, words: &[OsString], as_written: bool) -> Vec<OsString> {
    let lto = |word: &OsString| word.to_string_lossy().starts_with("-flto");
    let mut last: Vec<OsString> = Vec::new();
    if compiler.family == Family::Gcc && words.iter().any(lto) {
        last.push("-fno-lto".into());
    }
    if as_written {
        last.extend(as_written::options(compiler));
    }
    // Without a place for it there is no header; whoever needs it is told so by the compiler.
    if let Ok(folder) = library::include_folder() {
        last.extend(["-isystem".into(), folder.into()]);
    }
    last
}

/// The names that a compiler gives to the file of dependencies and its target when it also links: they follow from the
/// program's name, or else from the source's; gcc (from 11 on) then puts that of `a.out` before it.
fn dependency_options(invocation: &Invocation, source: &OsStr, family: Family) -> Vec<OsString> {
    let asked = invocation.dependencies;
    let mut words = Vec::new();
    if !asked.wanted {
        return words;
    }
    let output = invocation
        .arguments
        .iter()
        .find_map(|argument| match argument {
            Argument::Output(file) => Some(PathBuf::from(file)),
            _ => None,
        });
    let (file, target) = match output {
        Some(output) => (output.with_extension("d"), output),
        None => {
            let name = Path::new(source).file_name().unwrap_or(source);
            let name = Path::new(name);
            let prefix = match family {
                Family::Gcc => "a-",
                Family::Clang => "",
            };
            let file = format!("{prefix}{}", name.with_extension("d").display());
            (PathBuf::from(file), name.with_extension("o"))
        }
    };
    if !asked.file {
        words.extend(["-MF".into(), file.into()]);
    }
    if !asked.target {
        words.extend(["-MQ".into(), target.into()]);
    }
    words
}

/// What makes the linker use the runtime, and the part of it that is linked with the program. It stands first, so that the program's calls of libc find the runtime before
/// any other library, and it is kept although nothing before it needs it.
fn link_options(invocation: &Invocation) -> Result<Vec<OsString>, String> {
    if invocation.relocatable {
        return Ok(Vec::new());
    }
    let folder = library::folder()?;
    let mut search = OsString::from("-L");
    search.push(&folder);
    let mut words: Vec<OsString> = vec!["-Wl,--push-state,--no-as-needed".into(), search];
    words.extend(["-lrsan_runtime", "-lpthread", "-ldl", "-Wl,--pop-state"].map(OsString::from));
    words.push(library::entries(&folder).into());
    words.extend(["-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
    words.push(folder.into());
    Ok(words)
}
