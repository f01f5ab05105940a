//! The linker that rustc calls: instruments what is bitcode, and links with the sanitizer.

use super::cache::Cache;
use super::flags::Plan;
use super::objects::Work;
use super::session::Session;
use super::standard::Standard;
use crate::sanitizer::compile::{CHOICE, code, compile};
use crate::sanitizer::compiler::Language;
use crate::sanitizer::response::expand;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Whether rustc was asked to optimise.
const OPTIMISED: &str = "RSAN_RUST_OPTIMISED";
/// The user's linker.
const COMPILER: &str = "RSAN_RUST_LINKER";

/// Tells the linker that rustc calls what it has to know.
pub(crate) fn tell(rustc: &mut Command, plan: &Plan) {
    match plan.optimise {
        true => rustc.env(OPTIMISED, "1"),
        false => rustc.env_remove(OPTIMISED),
    };
    match &plan.linker {
        Some(linker) => rustc.env(COMPILER, linker),
        None => rustc.env_remove(COMPILER),
    };
}

/// Links as the words say; returns the exit status.
pub(crate) fn run(words: &[OsString]) -> u8 {
    super::tool(|| link(words))
}

fn link(words: &[OsString]) -> Result<u8, String> {
    let session = Session::current()?;
    let words: Vec<_> = expand(words).into_iter().filter(is_wanted).collect();
    let mut words = match session.toolchain.llvm() {
        // What the compiler has instrumented is linked as it is.
        None => return finish(&words),
        Some(_) => words,
    };
    let cache = Cache::open()?;
    let scratch = cache.scratch()?;
    let standard = Standard::ready(&session.toolchain, &cache)?;
    let work = Work {
        toolchain: &session.toolchain,
        cache: &cache,
        scratch: scratch.path(),
        optimise: std::env::var_os(OPTIMISED).is_some(),
    };
    let mut inputs = Vec::new();
    for index in inputs_of(&words) {
        let file = Path::new(&words[index]);
        match standard.library(file) {
            Some(instrumented) => words[index] = instrumented.into(),
            None => inputs.extend(work.read(file)?.map(|input| (index, input))),
        }
    }
    work.instrument(inputs.iter().map(|(_, input)| input))?;
    for (index, input) in &inputs {
        let name = match input.is_archive() {
            true => format!("{index}.rlib"),
            false => format!("{index}.o"),
        };
        let file = scratch.path().join(name);
        work.write(input, &file)?;
        words[*index] = file.into();
    }
    finish(&words)
}

/// Which words are files that may have bitcode in them.
fn inputs_of(words: &[OsString]) -> Vec<usize> {
    let is_output = |index: usize| index > 0 && words[index - 1] == "-o";
    (0..words.len())
        .filter(|index| !is_output(*index) && is_input(Path::new(&words[*index])))
        .collect()
}

/// Calls the user's linker, or the compiler of C that is found.
fn finish(words: &[OsString]) -> Result<u8, String> {
    let mut all = Vec::new();
    if let Some(linker) = std::env::var_os(COMPILER) {
        let mut word = OsString::from(CHOICE);
        word.push(linker);
        all.push(word);
    }
    all.extend_from_slice(words);
    compile(Language::C, &all).map(code)
}

/// Options for a linker with LLVM's plugin have nothing left to do.
fn is_wanted(word: &OsString) -> bool {
    let text = word.to_string_lossy();
    !text.starts_with("-Wl,-plugin-opt=") && !text.starts_with("-Wl,--plugin-opt=")
}

fn is_input(file: &Path) -> bool {
    let extension = file.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| ["o", "rlib", "a"].contains(&e)) && file.is_file()
}
