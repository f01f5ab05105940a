//! The linker that rustc calls: instruments what is bitcode, and links with the sanitizer.

use super::cache::Cache;
use super::objects::{self, Instrumenter, Parts};
use super::session::Session;
use super::standard;
use super::wrapper::OPTIMISED;
use crate::sanitizer::compile::{code, compile};
use crate::sanitizer::compiler::Language;
use crate::sanitizer::response::expand;
use crate::sanitizer::scratch::Scratch;
use crate::session::eprint;
use rsan_llvm::Depth;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Links as the words say; returns the exit status.
pub(crate) fn run(words: &[OsString]) -> u8 {
    match link(words) {
        Ok(status) => status,
        Err(message) => {
            eprint(&format!("rsan: error: {message}\n"));
            2
        }
    }
}

fn link(words: &[OsString]) -> Result<u8, String> {
    let session = Session::current()?;
    let cache = Cache::open()?;
    let scratch = Scratch::new()?;
    let words: Vec<_> = expand(words).into_iter().filter(is_wanted).collect();
    let instrumenter = Instrumenter {
        toolchain: &session.toolchain,
        cache: &cache,
        depth: Depth::Full,
        optimise: std::env::var_os(OPTIMISED).is_some_and(|level| level != "0"),
    };
    let mut inputs = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let file = Path::new(word);
        if !is_input(file) {
            continue;
        }
        if let Some(instrumented) = standard::library(&session.toolchain, &cache, file) {
            inputs.push((index, Input::Ready(instrumented)));
            continue;
        }
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        match instrumenter.parts(file, &bytes)? {
            Parts::Plain => {}
            parts => inputs.push((index, Input::Parts(parts, bytes))),
        }
    }
    let parts = inputs.iter().filter_map(|(_, input)| match input {
        Input::Parts(parts, _) => Some(parts),
        Input::Ready(_) => None,
    });
    objects::instrument(objects::units(parts), &session.toolchain.llvm)?;
    let mut words = words;
    for (index, input) in &inputs {
        words[*index] = match input {
            Input::Ready(file) => file.into(),
            Input::Parts(Parts::Archive(parts), bytes) => {
                let archive = objects::rebuild(parts, bytes)?;
                let name = format!("{index}.rlib");
                let file = scratch.path().join(name);
                fs::write(&file, archive)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                file.into()
            }
            Input::Parts(Parts::Bitcode(unit), _) => objects::object(unit).into(),
            Input::Parts(Parts::Plain, _) => continue,
        };
    }
    compile(Language::C, &words).map(code)
}

enum Input {
    /// It is in the cache.
    Ready(PathBuf),
    Parts(Parts, Vec<u8>),
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
