//! `rsan cc` and `rsan c++`: the compiler that the user has, with the instrumentation, and the linker with our runtime
//! instead of the compiler's.
//!
//! `-fsanitize=thread` at the linker would bring in libtsan, so a command line that compiles and links is done in two
//! steps, with the objects in a temporary folder.

use super::invocation::{Argument, Invocation, Steps, expand};
use super::library;
use super::scratch::Scratch;
use crate::session::eprint;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// A language, for the choice of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
}

impl Language {
    /// The variable that chooses the compiler, and what is tried without it.
    fn compilers(self) -> (&'static str, [&'static str; 2]) {
        match self {
            Self::C => ("RSAN_CC", ["gcc", "clang"]),
            Self::Cpp => ("RSAN_CXX", ["g++", "clang++"]),
        }
    }
}

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
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
}

/// Does what a command line asks for, with the sanitizer; the status is that of the first step that fails.
///
/// # Errors
/// The message for the user, when it is not the compiler who fails.
pub(crate) fn compile(language: Language, words: &[OsString]) -> Result<ExitStatus, String> {
    let compiler = Compiler::find(language)?;
    let expanded = expand(words);
    let invocation = Invocation::new(&expanded);
    if invocation.fixed && !matches!(invocation.steps, Steps::Ask | Steps::Compile) {
        return Err("programs with the sanitizer cannot be linked statically".to_owned());
    }
    match invocation.steps {
        Steps::Ask => compiler.run(words),
        Steps::Compile => compiler.run(&[compiler.instrumentation(), words.to_vec()].concat()),
        Steps::Link => {
            // Response files are passed on unless there is something to take out of them.
            let sanitize = |word: &OsString| word == "-fsanitize=thread";
            let words = if expanded.iter().any(sanitize) {
                expanded.clone()
            } else {
                words.to_vec()
            };
            let words = words.into_iter().filter(|word| !sanitize(word)).collect();
            compiler.run(&[link_options(&invocation)?, words].concat())
        }
        Steps::CompileAndLink => in_two_steps(&compiler, &invocation),
    }
}

/// Compiles each source to a temporary object, then links.
fn in_two_steps(compiler: &Compiler, invocation: &Invocation) -> Result<ExitStatus, String> {
    let scratch = Scratch::new()?;
    let mut link = link_options(invocation)?;
    for (index, argument) in invocation.arguments.iter().enumerate() {
        match argument {
            Argument::Source(source, language) => {
                let object = scratch.path().join(format!("{index}.o"));
                let mut words = compiler.instrumentation();
                words.extend(compile_options(invocation));
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
    words.flatten().cloned()
}

/// What makes the linker use the runtime. It stands first, so that the program's calls of libc find the runtime before
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
    words.extend(["-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
    words.push(folder.into());
    Ok(words)
}

/// The user's compiler: a program and its first arguments.
struct Compiler {
    program: OsString,
    first: Vec<OsString>,
}

impl Compiler {
    fn find(language: Language) -> Result<Self, String> {
        let (variable, names) = language.compilers();
        let chosen = env::var(variable).unwrap_or_default();
        let mut words = chosen.split_whitespace().map(OsString::from);
        if let Some(program) = words.next() {
            let first = words.collect();
            return Ok(Self { program, first });
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let installed = |name: &&str| env::split_paths(&path).any(|dir| dir.join(name).is_file());
        let name = names.into_iter().find(installed).ok_or_else(|| {
            format!(
                "neither {} nor {} is installed; {variable} names another compiler",
                names[0], names[1]
            )
        })?;
        Ok(Self {
            program: name.into(),
            first: Vec::new(),
        })
    }

    /// The options that instrument. They stand first, so that the user's own ones win.
    fn instrumentation(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["-fsanitize=thread".into(), "-g".into()];
        let last = self.first.last().unwrap_or(&self.program);
        let name = Path::new(last)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        // gcc warns that libtsan does not understand fences; our runtime does.
        if name.contains("gcc") || name.contains("g++") && !name.contains("clang") {
            words.push("-Wno-tsan".into());
        }
        words
    }

    fn run(&self, words: &[OsString]) -> Result<ExitStatus, String> {
        let mut command = Command::new(&self.program);
        let status = command.args(&self.first).args(words).status();
        status.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{} is not installed", self.program.display()),
            _ => format!("{}: {error}", self.program.display()),
        })
    }
}
