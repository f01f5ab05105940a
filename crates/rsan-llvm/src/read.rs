//! A module of LLVM as rsan sees it: [`rsan_ir::module::Module`].

mod calls;
pub(crate) mod debug;
pub(crate) mod function;
mod intrinsics;
mod success;
pub(crate) mod types;
mod values;

use crate::context::Context;
use crate::error::Error;
use crate::ffi::{linkage, value_kind};
use crate::input::{self, Piece};
use crate::merge;
use crate::module::Module;
use crate::producer;
use crate::title::title;
use crate::value::Value;
use debug::Debug;
use rsan_ir::module::{self as ir, FunctionId, GlobalId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use types::Types;

/// What was read of one or several files.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Read {
    /// All of it as one program.
    pub module: ir::Module,
    /// The modules it was read from: files, and members of archives (`libq.rlib(q.o)`).
    pub units: Vec<String>,
    /// The unit of each function, by [`FunctionId`].
    pub unit_of: Vec<u32>,
    /// The LLVM that read it.
    pub version: String,
}

/// A module, with what is needed to join it with others.
pub(crate) struct Unit {
    pub(crate) module: ir::Module,
    /// Functions of which several modules may have the same one.
    pub(crate) weak: Vec<bool>,
    /// Globals that are defined here.
    pub(crate) defined: Vec<bool>,
    /// Other names of functions and globals.
    pub(crate) function_aliases: Vec<(String, FunctionId)>,
    pub(crate) global_aliases: Vec<(String, GlobalId)>,
}

/// Reads files and joins what is in them by the names of symbols; `begin` is told of each module before LLVM sees it.
///
/// # Errors
/// A file cannot be read, has no IR, or LLVM does not accept it.
pub fn files(
    context: &Context<'_>,
    files: &[impl AsRef<Path>],
    begin: &mut dyn FnMut(&str),
) -> Result<Read, Error> {
    let mut units = Vec::new();
    let mut names = Vec::new();
    for file in files {
        let file = file.as_ref().display().to_string();
        for piece in input::pieces(&file)? {
            begin(&piece.name);
            let prepared = parse(context, &piece)?;
            units.push(unit(&prepared.module, &piece.name));
            names.push(piece.name);
        }
    }
    let (module, unit_of) = merge::join(units);
    Ok(Read {
        module,
        units: names,
        unit_of,
        version: context.library().version().to_string(),
    })
}

/// Parses and checks one piece of IR, and keeps in registers what needs no memory, as any optimiser does first: what an
/// unoptimised program does to its frame hides what it does with others.
///
/// Numbers of instructions are those of the module as it is then.
pub(crate) fn parse<'c>(context: &'c Context<'_>, piece: &Piece) -> Result<Prepared<'c>, Error> {
    let mut module = context
        .parse(&piece.name, &piece.bytes)
        .map_err(|message| refused(context, piece, message))?;
    let marked = |function: &Value<'_>| function.attribute(UNOPTIMISED).is_some();
    let names = module.functions().filter(marked).map(|f| f.name());
    let unoptimised: Vec<String> = names.collect();
    for function in &unoptimised {
        module.set_attribute(function, UNOPTIMISED, false);
    }
    module
        .run_passes(c"function(sroa)")
        .map_err(|message| refused(context, piece, message))?;
    Ok(Prepared {
        module,
        unoptimised,
    })
}

/// Forbids passes to touch a function.
const UNOPTIMISED: &str = "optnone";

/// A module that is ready to be read or changed.
pub(crate) struct Prepared<'c> {
    pub(crate) module: Module<'c>,
    /// Functions that passes may not touch: they have that attribute no longer.
    unoptimised: Vec<String>,
}

impl<'c> Prepared<'c> {
    /// The module as it was given, but for what is in registers now.
    pub(crate) fn restore(mut self) -> Module<'c> {
        for function in &self.unoptimised {
            self.module.set_attribute(function, UNOPTIMISED, true);
        }
        self.module
    }
}

fn refused(context: &Context<'_>, piece: &Piece, message: String) -> Error {
    let file = piece.name.clone();
    // The file is named by whoever shows the message.
    let message = message
        .strip_prefix(&format!("{file}:"))
        .unwrap_or(&message);
    let message = message.trim().trim_start_matches("error: ").to_owned();
    let version = context.library().version();
    let newer = producer::major(&piece.bytes).is_some_and(|major| major > version.major);
    match newer || message.contains("Incompatible epoch") {
        true => Error::TooNew {
            file,
            message,
            version: version.to_string(),
        },
        false => Error::Corrupt { file, message },
    }
}

/// Functions and globals of a module by their handles.
#[derive(Default)]
struct Names<'m> {
    functions: HashMap<Value<'m>, FunctionId>,
    globals: HashMap<Value<'m>, GlobalId>,
}

/// What is shared by all functions of a module.
struct Reading<'m> {
    llvm: &'m Module<'m>,
    names: Names<'m>,
    debug: Debug<'m>,
    types: Types<'m>,
}

/// Reads a module.
pub(crate) fn unit(llvm: &Module<'_>, name: &str) -> Unit {
    let names = names(llvm);
    let mut reading = Reading {
        llvm,
        names,
        debug: Debug::new(llvm.context()),
        types: Types::new(llvm),
    };
    let functions: Vec<Value<'_>> = listed(llvm).collect();
    let mut module = ir::Module {
        name: name.to_owned(),
        ..ir::Module::default()
    };
    module.functions = functions
        .iter()
        .map(|function| head(&mut reading, *function))
        .collect();
    for (function, read) in functions.iter().zip(&mut module.functions) {
        function::body(&mut reading, *function, read);
    }
    module.globals = llvm
        .globals()
        .map(|value| global(&reading.names, value))
        .collect();
    let weak = functions.iter().map(|value| is_weak(*value)).collect();
    let defined = llvm
        .globals()
        .map(|value| !value.is_declaration())
        .collect();
    let (function_aliases, global_aliases) = aliases(llvm, &reading.names);
    module.files = reading.debug.files;
    module.types = reading.types.into_types();
    let mut unit = Unit {
        module,
        weak,
        defined,
        function_aliases,
        global_aliases,
    };
    types::drop_if_ambiguous(&mut unit.module);
    unit
}

/// Functions but intrinsics that no call is left of.
fn listed<'m>(llvm: &'m Module<'_>) -> impl Iterator<Item = Value<'m>> {
    llvm.functions()
        .filter(|function| intrinsics::of(&function.name()) == intrinsics::Intrinsic::No)
}

fn names<'m>(llvm: &'m Module<'_>) -> Names<'m> {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let functions = listed(llvm).enumerate();
    let globals = llvm.globals().enumerate();
    Names {
        functions: functions.map(|(i, v)| (v, FunctionId(number(i)))).collect(),
        globals: globals.map(|(i, v)| (v, GlobalId(number(i)))).collect(),
    }
}

/// A function without its body.
fn head(reading: &mut Reading<'_>, function: Value<'_>) -> ir::Function {
    let name = function.name();
    let parameters = function.parameters().len();
    let declared = function.is_declaration();
    ir::Function {
        title: title(&name),
        name,
        internal: is_internal(function),
        parameters: u32::try_from(parameters).unwrap_or(u32::MAX),
        place: reading.debug.function_place(function),
        values: Vec::new(),
        blocks: Vec::new(),
        pure: declared && intrinsics::touches_nothing(function),
    }
}

fn is_internal(value: Value<'_>) -> bool {
    matches!(value.linkage(), linkage::INTERNAL | linkage::PRIVATE)
}

/// Several modules may define it, and one of them is taken.
fn is_weak(value: Value<'_>) -> bool {
    let kind = value.linkage();
    kind == linkage::AVAILABLE_EXTERNALLY
        || kind == linkage::COMMON
        || (linkage::LINK_ONCE_ANY..=linkage::WEAK_ODR).contains(&kind)
}

fn global(names: &Names<'_>, value: Value<'_>) -> ir::Global {
    let (functions, globals) = value
        .initializer()
        .map(|initial| addresses(names, initial))
        .unwrap_or_default();
    let name = value.name();
    // rustc cuts a static up into fields: `FLAG.0`.
    let whole = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let spoken = title(if name.starts_with('_') { whole } else { &name });
    ir::Global {
        title: if spoken == name {
            String::new()
        } else {
            spoken
        },
        name,
        constant: value.is_constant_global(),
        thread_local: value.is_thread_local(),
        internal: is_internal(value),
        functions,
        globals,
    }
}

/// Functions and globals whose addresses a constant holds.
fn addresses(names: &Names<'_>, constant: Value<'_>) -> (Vec<FunctionId>, Vec<GlobalId>) {
    let (mut functions, mut globals) = (Vec::new(), Vec::new());
    let mut seen = std::collections::HashSet::new();
    let mut work = vec![constant];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match value.kind() {
            value_kind::FUNCTION => functions.extend(names.functions.get(&value)),
            value_kind::GLOBAL => globals.extend(names.globals.get(&value)),
            value_kind::ALIAS => work.extend(value.aliasee()),
            _ => work.extend(value.operands()),
        }
    }
    functions.sort();
    globals.sort();
    (functions, globals)
}

type Aliases<T> = Vec<(String, T)>;

fn aliases(llvm: &Module<'_>, names: &Names<'_>) -> (Aliases<FunctionId>, Aliases<GlobalId>) {
    let (mut functions, mut globals) = (Vec::new(), Vec::new());
    for alias in llvm.aliases().filter(|alias| !is_internal(*alias)) {
        let target = values::strip(alias);
        let name = alias.name();
        if let Some(id) = names.functions.get(&target) {
            functions.push((name, *id));
        } else if let Some(id) = names.globals.get(&target) {
            globals.push((name, *id));
        }
    }
    (functions, globals)
}
