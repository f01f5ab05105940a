//! Where the instructions of a module stand in the user's sources.

use rsan_ir::module::{FunctionId, Inlined, Instr, Module, Place};
use rsan_report::document;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Instructions by function and number, and files by how the user would name them.
pub(super) struct Places<'a> {
    module: &'a Module,
    instrs: HashMap<(FunctionId, u32), &'a Instr>,
    files: Vec<Named>,
}

/// A source file.
struct Named {
    /// Relative to the working folder, if it is in it.
    shown: String,
    /// The user did not write it.
    library: bool,
}

impl<'a> Places<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let mut instrs = HashMap::new();
        for (number, function) in module.functions.iter().enumerate() {
            let id = FunctionId(number as u32);
            let all = function.blocks.iter().flat_map(|block| &block.instrs);
            instrs.extend(all.map(|instr| ((id, instr.number), instr)));
        }
        let here = std::env::current_dir().unwrap_or_default();
        let files = module.files.iter().map(|file| {
            let path = cleaned(&Path::new(&file.directory).join(&file.name));
            let shown = path.strip_prefix(&here).unwrap_or(&path);
            let shown = shown.display().to_string();
            let library = is_library(&shown);
            Named { shown, library }
        });
        Self {
            module,
            instrs,
            files: files.collect(),
        }
    }

    /// An instruction by its number.
    pub(super) fn instr(&self, function: FunctionId, number: u32) -> Option<&'a Instr> {
        self.instrs.get(&(function, number)).copied()
    }

    /// The name of a function for people.
    pub(super) fn title(&self, function: FunctionId) -> String {
        let function = &self.module.functions[function.index()];
        match function.title.is_empty() {
            true => function.name.clone(),
            false => function.title.clone(),
        }
    }

    /// Where a reader of the program would look for an instruction: in their own code, or else where it is. The calls lead to it, the
    /// outermost first.
    pub(super) fn of(
        &self,
        function: FunctionId,
        number: u32,
        calls: &[(FunctionId, u32)],
    ) -> Option<Place> {
        let steps = calls.iter().rev().copied();
        let steps = std::iter::once((function, number)).chain(steps);
        let places = steps.flat_map(|(function, number)| self.chain(function, number));
        let mut first = None;
        for place in places {
            let own = self.files.get(place.file as usize);
            if own.is_some_and(|file| !file.library) {
                return Some(place);
            }
            first = first.or(Some(place));
        }
        first
    }

    /// Where an instruction of a function that was inlined was called from, if that is another file of the user's.
    pub(super) fn caller(&self, function: FunctionId, number: u32) -> Option<Place> {
        let mut own = self.chain(function, number).into_iter();
        own.by_ref()
            .find(|place| !self.is_library(*place))
            .and_then(|inner| own.find(|place| place.file != inner.file))
    }

    /// The places of an instruction, from the innermost function that was inlined outwards.
    fn chain(&self, function: FunctionId, number: u32) -> Vec<Place> {
        let Some(instr) = self.instr(function, number) else {
            return Vec::new();
        };
        let calls = instr
            .inlined
            .iter()
            .filter_map(|Inlined { call, .. }| *call);
        let chain = instr.place.into_iter().chain(calls);
        // Line 0 is what the compiler made up.
        chain.filter(|place| place.line > 0).collect()
    }

    /// Whether a place is in a file that the user did not write.
    pub(super) fn is_library(&self, place: Place) -> bool {
        let file = self.files.get(place.file as usize);
        file.is_some_and(|file| file.library)
    }

    /// The file of a place as the user would name it.
    pub(super) fn file(&self, place: Place) -> Option<&str> {
        let file = self.files.get(place.file as usize)?;
        Some(&file.shown)
    }

    /// A place as documents have it.
    pub(super) fn shown(&self, place: Place) -> Option<document::Place> {
        Some(document::Place {
            file: self.file(place)?.to_owned(),
            line: Some(place.line),
            column: (place.column > 0).then_some(place.column),
            end_line: None,
            end_column: None,
        })
    }

    /// Whether there is any debug information.
    pub(super) fn has_lines(&self) -> bool {
        self.instrs.values().any(|instr| instr.place.is_some())
    }
}

/// A path without `.` and, where that says the same, without `..`.
fn cleaned(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// Folders of compilers, systems and registries of crates.
fn is_library(file: &str) -> bool {
    const FOLDERS: [&str; 4] = ["/rustc/", "/.rustup/", "/.cargo/registry/", "/lib/rustlib/"];
    file.starts_with("/usr/") || FOLDERS.iter().any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_the_user_would_write_them() {
        let clean = |path: &str| cleaned(Path::new(path)).display().to_string();
        assert_eq!(clean("./src/../a.c"), "a.c");
        assert_eq!(clean("/x/./y//a.c"), "/x/y/a.c");
        assert_eq!(clean("../a.c"), "../a.c");
        assert!(is_library("/usr/include/stdatomic.h"));
        assert!(is_library("/rustc/1234/library/core/src/sync/atomic.rs"));
        assert!(!is_library("src/usr/a.c"));
    }
}
