//! Addresses of code as functions, files and lines, from the debug information of the modules. What is not known is left
//! out: a stripped module, or one that is gone, is never an error.

use super::scratch::shown as shown_module;
use crate::files;
use addr2line::Loader;
use rsan_log::Frame as Address;
use rsan_report::document::Frame;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

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

/// The library that a source belongs to, if the user did not write it.
fn library(file: &str) -> Option<String> {
    if file.starts_with("/rustc/") || file.contains("/lib/rustlib/src/") {
        return Some("the standard library".to_owned());
    }
    let folders = ["/usr/include/", "/usr/local/include/", "/usr/lib/"];
    let rest = folders
        .iter()
        .find_map(|folder| file.strip_prefix(folder))?;
    let name = match rest {
        _ if file.contains("/include/c++/v1/") => "libc++",
        _ if file.contains("/c++/") => "libstdc++",
        // A header of a compiler, or of the system.
        _ if file.starts_with("/usr/lib/gcc/") => "the compiler's headers",
        _ => match rest.split_once('/') {
            Some((folder, _)) if !folder.contains("linux-gnu") => folder,
            _ => "system headers",
        },
    };
    Some(name.to_owned())
}

/// Whether a module is a file that can be read to its end; a log may name anything.
pub(crate) fn is_file(module: &str) -> bool {
    let large = |metadata: std::fs::Metadata| metadata.is_file() && metadata.len() <= files::LARGE;
    std::fs::metadata(module).is_ok_and(large)
}

/// The modules whose debug information was needed.
pub(crate) struct Symbols {
    modules: BTreeMap<String, Option<Loader>>,
    /// Files below it are named relative to it.
    here: Option<PathBuf>,
}

impl Default for Symbols {
    fn default() -> Self {
        Self {
            modules: BTreeMap::new(),
            here: std::env::current_dir().ok(),
        }
    }
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
        let loader = self
            .modules
            .entry(module.to_owned())
            .or_insert_with(|| is_file(module).then(|| Loader::new(module).ok())?);
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
        let file = location.and_then(|l| l.file).map(plain);
        frames.push(Frame {
            function: name.map(Cow::into_owned),
            library: file.as_deref().and_then(library),
            file: file.map(|file| shown(&file, here)),
            line: location.and_then(|l| l.line),
            column: location.and_then(|l| l.column).filter(|column| *column > 0),
            ..bare.clone()
        });
    }
    frames
}

/// A symbol as it stands in the source. Names that are not mangled are left alone: `x` is no type.
pub(crate) fn demangled(name: &str) -> String {
    if !["_Z", "__Z", "_R"]
        .iter()
        .any(|start| name.starts_with(start))
    {
        return name.to_owned();
    }
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

/// A path without `.` and `..`, which some compilers have in the names of their headers.
fn plain(file: &str) -> String {
    if !file.contains("/..") && !file.contains("/./") {
        return file.to_owned();
    }
    let mut path = PathBuf::new();
    for part in Path::new(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.display().to_string()
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
    fn paths_are_plain_and_say_whose_the_source_is() {
        assert_eq!(plain("a/./b/../c.h"), "a/c.h");
        assert_eq!(plain("../x.c"), "../x.c");
        let header = "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/latch";
        assert_eq!(plain(header), "/usr/include/c++/12/latch");
        let of = |file: &str| library(&plain(file));
        assert_eq!(of(header).as_deref(), Some("libstdc++"));
        assert_eq!(
            of("/usr/lib/llvm-14/bin/../include/c++/v1/latch").as_deref(),
            Some("libc++")
        );
        assert_eq!(of("/usr/include/tbb/queue.h").as_deref(), Some("tbb"));
        assert_eq!(of("/home/me/include/queue.h"), None);
    }

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
