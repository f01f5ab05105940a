//! Several modules as one program: symbols with the same name are the same, internal ones stay apart.
//!
//! A definition takes the place of declarations. Of functions that several modules may define (inline functions) the first one
//! stands for all; if two modules really define the same function, as those of two programs do, each calls its own.

use crate::read::{Unit, types};
use rsan_ir::module::{
    AccessType, Callee, File, Function, FunctionId, GlobalId, Module, Op, Place, Value,
};
use std::collections::HashMap;

/// Joins modules; also says which one each function is of.
pub(crate) fn join(mut units: Vec<Unit>) -> (Module, Vec<u32>) {
    if units.len() == 1
        && let Some(unit) = units.pop()
    {
        let unit_of = vec![0; unit.module.functions.len()];
        return (unit.module, unit_of);
    }
    let mut joined = Joined::default();
    joined.symbols(&units);
    for (index, unit) in units.into_iter().enumerate() {
        joined.add(index, unit);
    }
    types::drop_if_ambiguous(&mut joined.module);
    (joined.module, joined.unit_of)
}

#[derive(Default)]
struct Joined {
    module: Module,
    unit_of: Vec<u32>,
    /// Where each unit's functions and globals go.
    functions: Vec<Vec<FunctionId>>,
    globals: Vec<Vec<GlobalId>>,
    files: HashMap<File, u32>,
    types: HashMap<(String, Option<u32>), u32>,
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What of a unit is already there, or comes with a later one.
#[derive(Default)]
struct Table<'u> {
    /// The unit and position that stand for a name.
    chosen: HashMap<&'u str, (usize, usize)>,
}

impl<'u> Table<'u> {
    /// A definition wins over a declaration; the first one of each wins.
    fn offer(
        &mut self,
        name: &'u str,
        at: (usize, usize),
        defined: bool,
        is_defined: impl Fn((usize, usize)) -> bool,
    ) {
        let known = self.chosen.entry(name).or_insert(at);
        if defined && !is_defined(*known) {
            *known = at;
        }
    }
}

impl Joined {
    /// Decides where every symbol goes.
    fn symbols(&mut self, units: &[Unit]) {
        let defined =
            |(unit, at): (usize, usize)| !units[unit].module.functions[at].blocks.is_empty();
        let global_defined = |(unit, at): (usize, usize)| units[unit].defined[at];
        let (mut functions, mut globals) = (Table::default(), Table::default());
        for (index, unit) in units.iter().enumerate() {
            for (at, function) in unit.module.functions.iter().enumerate() {
                if !function.internal {
                    functions.offer(&function.name, (index, at), defined((index, at)), defined);
                }
            }
            for (name, id) in &unit.function_aliases {
                functions.offer(name, (index, id.index()), true, defined);
            }
            for (at, global) in unit.module.globals.iter().enumerate() {
                if !global.internal {
                    globals.offer(&global.name, (index, at), unit.defined[at], global_defined);
                }
            }
            for (name, id) in &unit.global_aliases {
                globals.offer(name, (index, id.index()), true, global_defined);
            }
        }
        // What stands for itself gets a number in order; the others get that of what stands for them.
        let function_home = |unit: usize, at: usize| {
            let function = &units[unit].module.functions[at];
            let own = (unit, at);
            let chosen = functions.chosen.get(&function.name[..]).copied();
            let strong = defined(own) && !units[unit].weak[at];
            match function.internal || strong {
                true => own,
                false => chosen.unwrap_or(own),
            }
        };
        let global_home = |unit: usize, at: usize| {
            let global = &units[unit].module.globals[at];
            match global.internal {
                true => (unit, at),
                false => globals
                    .chosen
                    .get(&global.name[..])
                    .copied()
                    .unwrap_or((unit, at)),
            }
        };
        let counts = units.iter().map(|unit| unit.module.functions.len());
        self.functions = places(counts.collect(), function_home, FunctionId);
        let counts = units.iter().map(|unit| unit.module.globals.len());
        self.globals = places(counts.collect(), global_home, GlobalId);
    }

    fn add(&mut self, index: usize, unit: Unit) {
        let Module {
            name,
            functions,
            globals,
            files,
            types,
        } = unit.module;
        if !self.module.name.is_empty() {
            self.module.name.push_str(", ");
        }
        self.module.name.push_str(&name);
        let files: Vec<u32> = files.into_iter().map(|file| self.file(file)).collect();
        let types = self.access_types(types);
        for (at, mut function) in functions.into_iter().enumerate() {
            if self.functions[index][at].index() == self.module.functions.len() {
                self.rename(index, &mut function, &files, &types);
                self.module.functions.push(function);
                self.unit_of.push(number(index));
            }
        }
        for (at, mut global) in globals.into_iter().enumerate() {
            if self.globals[index][at].index() == self.module.globals.len() {
                let homes = (&self.functions[index], &self.globals[index]);
                for function in &mut global.functions {
                    *function = homes.0[function.index()];
                }
                for other in &mut global.globals {
                    *other = homes.1[other.index()];
                }
                self.module.globals.push(global);
            }
        }
    }

    fn file(&mut self, file: File) -> u32 {
        let next = number(self.module.files.len());
        let id = *self.files.entry(file.clone()).or_insert(next);
        if id == next {
            self.module.files.push(file);
        }
        id
    }

    /// Parents come before their children.
    fn access_types(&mut self, types: Vec<AccessType>) -> Vec<u32> {
        let mut ids: Vec<u32> = Vec::new();
        for AccessType { name, parent } in types {
            let parent = parent.and_then(|parent| ids.get(parent as usize).copied());
            let next = number(self.module.types.len());
            let id = *self.types.entry((name.clone(), parent)).or_insert(next);
            if id == next {
                self.module.types.push(AccessType { name, parent });
            }
            ids.push(id);
        }
        ids
    }

    fn rename(&self, index: usize, function: &mut Function, files: &[u32], types: &[u32]) {
        let place = |place: &mut Option<Place>| {
            if let Some(place) = place {
                place.file = files[place.file as usize];
            }
        };
        place(&mut function.place);
        for value in &mut function.values {
            match value {
                Value::Global(id) => *id = self.globals[index][id.index()],
                Value::Function(id) => *id = self.functions[index][id.index()],
                _ => {}
            }
        }
        let instrs = function
            .blocks
            .iter_mut()
            .flat_map(|block| &mut block.instrs);
        for instr in instrs {
            place(&mut instr.place);
            instr
                .inlined
                .iter_mut()
                .for_each(|frame| place(&mut frame.call));
            match &mut instr.op {
                Op::Load(access) | Op::Store { access, .. } | Op::Update { access, .. } => {
                    access.kind = access.kind.map(|kind| types[kind as usize]);
                }
                Op::Call {
                    callee: Callee::Direct(id),
                    ..
                } => *id = self.functions[index][id.index()],
                _ => {}
            }
        }
    }
}

/// The number of each symbol of each unit: those that are their own home are numbered in order.
fn places<I: Copy>(
    counts: Vec<usize>,
    home: impl Fn(usize, usize) -> (usize, usize),
    id: impl Fn(u32) -> I,
) -> Vec<Vec<I>> {
    let all = || {
        let unit = |(unit, count): (usize, &usize)| (0..*count).map(move |at| (unit, at));
        counts.iter().enumerate().flat_map(unit).collect::<Vec<_>>()
    };
    let settled = |unit, at| settle(&home, (unit, at));
    let own = all()
        .into_iter()
        .filter(|(unit, at)| settled(*unit, *at) == (*unit, *at));
    let numbers: HashMap<(usize, usize), u32> = own.zip(0..).collect();
    let find = |unit, at| id(numbers[&settled(unit, at)]);
    let list = |(unit, count): (usize, &usize)| (0..*count).map(|at| find(unit, at)).collect();
    counts.iter().enumerate().map(list).collect()
}

/// Follows homes to one that is its own: an alias may stand for what another one stands for. What leads around in a circle stands for itself.
fn settle(home: &impl Fn(usize, usize) -> (usize, usize), start: (usize, usize)) -> (usize, usize) {
    const LONGEST: usize = 16;
    let mut at = start;
    for _ in 0..LONGEST {
        let next = home(at.0, at.1);
        if next == at {
            return at;
        }
        at = next;
    }
    start
}
