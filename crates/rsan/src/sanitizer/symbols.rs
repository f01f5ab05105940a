//! Addresses of code as functions, files and lines, from the debug information of the modules. What is not known is left
//! out: a stripped module, or one that is gone, is never an error.

use super::log::Address;
use addr2line::Loader;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A function that was active, perhaps inlined in the next one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Frame {
    /// Demangled.
    pub(crate) function: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) module: Option<String>,
    pub(crate) offset: String,
}

impl Frame {
    /// Whether this is a place in libc of which nothing is known.
    fn is_start(&self) -> bool {
        let module = self.module.as_ref().and_then(|m| Path::new(m).file_name());
        let libc = module.is_some_and(|name| name.to_string_lossy().starts_with("libc.so"));
        libc && self.file.is_none()
    }

    /// `file:line`, if known.
    pub(crate) fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}

/// The modules whose debug information was needed.
pub(crate) struct Symbols {
    modules: BTreeMap<String, Option<Loader>>,
    /// Files below it are named relative to it.
    here: Option<PathBuf>,
}

impl Symbols {
    pub(crate) fn new() -> Self {
        Self {
            modules: BTreeMap::new(),
            here: std::env::current_dir().ok(),
        }
    }

    /// A stack with its inlined frames, innermost first.
    pub(crate) fn stack(&mut self, addresses: &[Address]) -> Vec<Frame> {
        let mut frames: Vec<_> = addresses.iter().flat_map(|a| self.frames(a)).collect();
        // What calls `main` is of no interest.
        if frames.len() > 1 && frames.last().is_some_and(Frame::is_start) {
            frames.pop();
        }
        frames
    }

    /// The frames of one address: at least one.
    fn frames(&mut self, address: &Address) -> Vec<Frame> {
        let bare = Frame {
            function: None,
            file: None,
            line: None,
            column: None,
            module: address.module.clone(),
            offset: address.offset.clone(),
        };
        let digits = address.offset.trim_start_matches("0x");
        let (Some(module), Ok(offset)) = (&address.module, u64::from_str_radix(digits, 16)) else {
            return vec![bare];
        };
        let loader = self
            .modules
            .entry(module.clone())
            .or_insert_with(|| Loader::new(module).ok());
        let Some(loader) = loader else {
            return vec![bare];
        };
        let mut frames = debug_frames(loader, offset, &bare, self.here.as_deref());
        if frames.is_empty() {
            frames.push(bare);
        }
        if let Some(outermost) = frames.last_mut().filter(|frame| frame.function.is_none()) {
            outermost.function = loader.find_symbol(offset).map(demangled);
        }
        frames
    }
}

fn debug_frames(loader: &Loader, offset: u64, bare: &Frame, here: Option<&Path>) -> Vec<Frame> {
    let mut frames = Vec::new();
    let Ok(mut found) = loader.find_frames(offset) else {
        return frames;
    };
    while let Ok(Some(frame)) = found.next() {
        let name = frame
            .function
            .as_ref()
            .and_then(|name| name.demangle().ok());
        let location = frame.location.as_ref();
        frames.push(Frame {
            function: name.map(Cow::into_owned),
            file: location.and_then(|l| l.file).map(|file| shown(file, here)),
            line: location.and_then(|l| l.line),
            column: location.and_then(|l| l.column).filter(|column| *column > 0),
            ..bare.clone()
        });
    }
    frames
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

/// A file's path as the user would name it.
fn shown(file: &str, here: Option<&Path>) -> String {
    let relative = here.and_then(|here| Path::new(file).strip_prefix(here).ok());
    relative.map_or(file.to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        let mut symbols = Symbols::new();
        for module in [None, Some("/nonexistent/module".to_owned())] {
            let offset = "0x10".to_owned();
            let frames = symbols.stack(&[Address { module, offset }]);
            assert_eq!((frames.len(), frames[0].place()), (1, None));
            assert_eq!(frames[0].offset, "0x10");
        }
    }
}
