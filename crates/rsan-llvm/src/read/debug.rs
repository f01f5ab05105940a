//! Lines of instructions and functions, from debug information.

use crate::context::Context;
use crate::ffi::{MetadataRef, metadata_kind};
use crate::title::title;
use crate::value::{Value, text};
use rsan_ir::module::{File, Inlined, Place};
use std::collections::HashMap;
use std::ffi::{c_char, c_uint};
use std::path::Path;

/// Scopes are not nested more deeply; broken metadata could be.
const DEEPEST: usize = 256;

pub(super) struct Debug<'m> {
    context: &'m Context<'m>,
    pub(super) files: Vec<File>,
    by_node: HashMap<MetadataRef, u32>,
    by_name: HashMap<File, u32>,
    /// The function of a scope.
    functions: HashMap<MetadataRef, String>,
}

impl<'m> Debug<'m> {
    pub(super) fn new(context: &'m Context<'m>) -> Self {
        Self {
            context,
            files: Vec::new(),
            by_node: HashMap::new(),
            by_name: HashMap::new(),
            functions: HashMap::new(),
        }
    }

    /// Where a function is defined.
    pub(super) fn function_place(&mut self, function: Value<'_>) -> Option<Place> {
        let scope = function.subprogram()?;
        // SAFETY: a subprogram of this context.
        let line = unsafe { (self.context.library().api.subprogram_line)(scope) };
        let file = self.file(scope)?;
        (line > 0).then_some(Place {
            file,
            line,
            column: 0,
        })
    }

    /// Where an instruction comes from, and what it was inlined from.
    pub(super) fn place(&mut self, instruction: Value<'_>) -> (Option<Place>, Vec<Inlined>) {
        let Some(location) = instruction.debug_location() else {
            return (None, Vec::new());
        };
        (self.at(location), self.inlined(location))
    }

    fn at(&mut self, location: MetadataRef) -> Option<Place> {
        let api = &self.context.library().api;
        // SAFETY: a location of this context.
        let (line, column, scope) = unsafe {
            (
                (api.location_line)(location),
                (api.location_column)(location),
                (api.location_scope)(location),
            )
        };
        let file = self.file(scope.get()?)?;
        // Line 0 is code of the compiler's own.
        (line > 0).then_some(Place { file, line, column })
    }

    fn inlined(&mut self, location: MetadataRef) -> Vec<Inlined> {
        let api = &self.context.library().api;
        let mut found = Vec::new();
        let mut inner = location;
        // SAFETY: locations of this context.
        while let Some(outer) = unsafe { (api.location_inlined_at)(inner) }.get() {
            // SAFETY: as above.
            let scope = unsafe { (api.location_scope)(inner) };
            found.push(Inlined {
                function: scope.get().map_or_else(String::new, |s| self.function(s)),
                call: self.at(outer),
            });
            inner = outer;
            if found.len() == DEEPEST {
                break;
            }
        }
        found
    }

    fn file(&mut self, scope: MetadataRef) -> Option<u32> {
        let api = &self.context.library().api;
        // SAFETY: a scope of this context.
        let node = unsafe { (api.scope_file)(scope) }.get()?;
        if let Some(known) = self.by_node.get(&node) {
            return Some(*known);
        }
        let file = File {
            directory: part(node, api.file_directory),
            name: part(node, api.file_name),
        };
        let next = u32::try_from(self.files.len()).ok()?;
        let id = *self.by_name.entry(file.clone()).or_insert(next);
        if id == next {
            self.files.push(file);
        }
        self.by_node.insert(node, id);
        Some(id)
    }

    /// The name of the function that a scope is in, for people.
    fn function(&mut self, scope: MetadataRef) -> String {
        if let Some(known) = self.functions.get(&scope) {
            return known.clone();
        }
        let name = self.find_function(scope).unwrap_or_default();
        self.functions.insert(scope, name.clone());
        name
    }

    fn find_function(&self, scope: MetadataRef) -> Option<String> {
        let (_, operands) = subprogram(self.context, scope)?;
        let operand = |index: usize| operands.get(index).copied().flatten();
        // Operands of a subprogram: file, scope, name, name for the linker.
        let linked = operand(3).and_then(Value::string);
        let name = linked.or_else(|| operand(2).and_then(Value::string))?;
        Some(title(&name))
    }
}

/// The function that a scope is in, as a node and its operands.
fn subprogram<'m>(
    context: &'m Context<'m>,
    mut scope: MetadataRef,
) -> Option<(MetadataRef, Vec<Option<Value<'m>>>)> {
    let api = &context.library().api;
    for _ in 0..DEEPEST {
        // SAFETY: metadata of this context.
        let (kind, value) = unsafe {
            (
                (api.metadata_kind)(scope),
                (api.metadata_as_value)(context.raw(), scope),
            )
        };
        let operands = context.value(value)?.node()?;
        match kind {
            metadata_kind::SUBPROGRAM => return Some((scope, operands)),
            // Operands of a block: file, scope.
            metadata_kind::LEXICAL_BLOCK | metadata_kind::LEXICAL_BLOCK_FILE => {
                let outer = operands.get(1).copied().flatten()?;
                // SAFETY: an operand of a node, which is metadata.
                scope = unsafe { (api.value_as_metadata)(outer.raw) }.get()?;
            }
            _ => return None,
        }
    }
    None
}

/// The files of the functions that an instruction was written in, and inlined into: the innermost first, and empty where that is not known.
pub(crate) fn files_of(context: &Context<'_>, instruction: Value<'_>) -> Vec<String> {
    let api = &context.library().api;
    let mut files = Vec::new();
    let mut next = instruction.debug_location();
    while let Some(location) = next.filter(|_| files.len() < DEEPEST) {
        // SAFETY: a location of this context, and its function's node.
        let (scope, outer) = unsafe {
            (
                (api.location_scope)(location).get(),
                (api.location_inlined_at)(location).get(),
            )
        };
        let function = scope.and_then(|scope| subprogram(context, scope));
        // SAFETY: as above.
        let node = function.and_then(|(node, _)| unsafe { (api.scope_file)(node) }.get());
        files.push(node.map_or_else(String::new, |node| {
            let name = Path::new(&part(node, api.file_directory)).join(part(node, api.file_name));
            name.to_string_lossy().into_owned()
        }));
        next = outer;
    }
    files
}

fn part(
    node: MetadataRef,
    ask: unsafe extern "C" fn(MetadataRef, *mut c_uint) -> *const c_char,
) -> String {
    let mut length = 0;
    // SAFETY: a file's node; the string lives as long as the context.
    unsafe {
        let start = ask(node, &mut length);
        text(start, length as usize)
    }
}
