//! Addresses of code as functions, files and lines, from the debug information of the modules. What is not known is left
//! out: a stripped module, or one that is gone, is never an error.

mod owner;
mod rust_name;
pub(crate) mod shared;

pub(crate) use owner::{Folders, find_standard, is_rust};

use super::scratch::shown as shown_module;
use crate::files;
use addr2line::{FunctionName, Loader};
use rsan_log::Frame as Address;
use rsan_report::document::Frame;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A function of libc that accesses memory for its caller: only its name is known.
pub(crate) fn of_libc(function: Option<&str>) -> Option<Frame> {
    Some(Frame {
        function: Some(function?.to_owned()),
        library: Some("libc".to_owned()),
        ..Frame::default()
    })
}

/// Whether this is a place in a standard library of which nothing is known.
fn is_start(frame: &Frame) -> bool {
    let module = frame.module.as_ref().and_then(|m| Path::new(m).file_name());
    let module = module
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let libraries = ["libc.so", "libstdc++.so", "libc++.so"];
    frame.file.is_none() && libraries.iter().any(|name| module.starts_with(name))
}

/// Whether a module is a file that can be read to its end; a log may name anything.
pub(crate) fn is_file(module: &str) -> bool {
    let large = |metadata: std::fs::Metadata| metadata.is_file() && metadata.len() <= files::LARGE;
    std::fs::metadata(module).is_ok_and(large)
}

/// The modules whose debug information was needed.
#[derive(Default)]
pub(crate) struct Symbols {
    modules: BTreeMap<String, Option<Loader>>,
    folders: Folders,
}

impl Symbols {
    /// A stack with its inlined frames, innermost first.
    pub(crate) fn stack(&mut self, addresses: &[Address]) -> Vec<Frame> {
        let mut frames: Vec<_> = addresses.iter().flat_map(|a| self.frames(a)).collect();
        // What calls `main`, or the function of a thread, is of no interest.
        let main = |frame: &Frame| frame.function.as_deref() == Some("main");
        if let Some(main) = frames.iter().rposition(main) {
            frames.truncate(main + 1);
        }
        let rust = |frame: &Frame| {
            let name = frame.function.as_deref().unwrap_or_default();
            name.contains("__rust_begin_short_backtrace")
        };
        if let Some(start) = frames.iter().position(rust).filter(|start| *start > 0) {
            frames.truncate(start);
        }
        let library = |frame: &Frame| is_start(frame) || frame.library.is_some();
        let own = frames.iter().rposition(|frame| !library(frame));
        frames.truncate(own.map_or(frames.len(), |last| last + 1));
        frames
    }

    /// The frames of one address: at least one.
    fn frames(&mut self, address: &Address) -> Vec<Frame> {
        let bare = Frame {
            function: None,
            file: None,
            line: None,
            column: None,
            module: address
                .module
                .as_deref()
                .map(|m| shown_module(m).to_owned()),
            offset: Some(address.offset.to_string()),
            library: None,
        };
        let (Some(module), offset) = (address.module.as_deref(), address.offset.0) else {
            return vec![bare];
        };
        shared::frames(module, offset, || self.find(module, offset, bare))
    }

    /// The same, by the debug information.
    fn find(&mut self, module: &str, offset: u64, bare: Frame) -> Vec<Frame> {
        let loader = self
            .modules
            .entry(module.to_owned())
            .or_insert_with(|| is_file(module).then(|| Loader::new(module).ok())?);
        let Some(loader) = loader else {
            return vec![bare];
        };
        let mut frames = debug_frames(loader, offset, &bare, &self.folders);
        if frames.iter().all(|frame| frame.line.is_none()) {
            find_line(&mut frames, loader, offset, &self.folders);
        }
        if frames.is_empty() {
            frames.push(bare);
        }
        if let Some(outermost) = frames.last_mut().filter(|frame| frame.function.is_none()) {
            outermost.function = loader.find_symbol(offset).map(demangled);
        }
        frames
    }
}

/// Bytes of code that are looked at for a line.
const NEAR: u64 = 64;

/// Optimised code has instructions without a line: the nearest one before, in the same function and file, has to do.
fn find_line(frames: &mut [Frame], loader: &Loader, offset: u64, folders: &Folders) {
    let Some(innermost) = frames.first_mut().filter(|frame| frame.file.is_some()) else {
        return;
    };
    for before in (offset.saturating_sub(NEAR)..offset).rev() {
        let near = debug_frames(loader, before, &Frame::default(), folders);
        let same = |frame: &&Frame| {
            let site = |frame: &Frame| (frame.function.clone(), frame.file.clone());
            frame.line.is_some() && site(frame) == site(innermost)
        };
        if let Some(frame) = near.iter().find(same) {
            (innermost.line, innermost.column) = (frame.line, frame.column);
            return;
        }
    }
}

fn debug_frames(loader: &Loader, offset: u64, bare: &Frame, folders: &Folders) -> Vec<Frame> {
    let mut frames = Vec::new();
    let Ok(mut found) = loader.find_frames(offset) else {
        return frames;
    };
    while let Ok(Some(frame)) = found.next() {
        let location = frame.location.as_ref();
        let file = location.and_then(|l| l.file);
        let is_rust = file.is_some_and(|file| file.ends_with(".rs"));
        let owned = file.map(|file| folders.of(file)).unzip();
        frames.push(Frame {
            function: frame
                .function
                .as_ref()
                .and_then(|name| function(name, is_rust)),
            library: owned.0.flatten(),
            file: owned.1,
            line: location.and_then(|l| l.line),
            column: location.and_then(|l| l.column).filter(|column| *column > 0),
            ..bare.clone()
        });
    }
    frames
}

/// The name of a function.
fn function(name: &FunctionName<impl addr2line::gimli::Reader>, is_rust: bool) -> Option<String> {
    let demangled = name.demangle().ok()?;
    let mangled = name.raw_name().ok()?;
    let short = rust_name::of_mangled(&mangled, &demangled);
    // Some inlined functions have no mangled name.
    let short = short.or_else(|| is_rust.then(|| rust_name::shortened(&demangled)));
    Some(short.unwrap_or_else(|| demangled.into_owned()))
}

/// A symbol as it stands in the source. Names that are not mangled are left alone: `x` is no type.
pub(crate) fn demangled(name: &str) -> String {
    if !["_Z", "__Z", "_R"]
        .iter()
        .any(|start| name.starts_with(start))
    {
        return name.to_owned();
    }
    let demangled = addr2line::demangle_auto(Cow::Borrowed(name), None);
    rust_name::of_mangled(name, &demangled).unwrap_or_else(|| demangled.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        let mut symbols = Symbols::default();
        for module in [None, Some("/nonexistent/module".into())] {
            let offset = rsan_log::Address(0x10);
            let frames = symbols.stack(&[Address { module, offset }]);
            assert_eq!((frames.len(), frames[0].place()), (1, None));
            assert_eq!(frames[0].offset.as_deref(), Some("0x10"));
        }
    }
}
