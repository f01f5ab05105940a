//! Calls: what they lead to.

use super::build::Builder;
use super::{Doing, NodeId, Start};
use crate::alias::{Aliases, Effect, Object, Spot, Stopped, effect};
use crate::module::{Callee, FunctionId, Instr, Module, Op, Value, ValueId};
use crate::order::Part;
use std::collections::BTreeSet;

/// Which functions do anything that counts, themselves or by what they call.
pub(super) struct Matters {
    yes: Vec<bool>,
    taken: BTreeSet<FunctionId>,
    recursive: Vec<bool>,
}

impl Matters {
    pub(super) fn new(
        module: &Module,
        aliases: &Aliases<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Stopped> {
        let count = module.functions.len();
        let mut yes = vec![false; count];
        let taken = aliases.address_taken();
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut by_pointer = Vec::new();
        let mut work = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            let id = FunctionId(index as u32);
            if !go_on() {
                return Err(Stopped);
            }
            for instr in function.blocks.iter().flat_map(|b| &b.instrs) {
                let matters = match &instr.op {
                    Op::Load(access) | Op::Store { access, .. } | Op::Update { access, .. } => {
                        let spots = aliases.spots(id, access.pointer);
                        spots.iter().any(|s| aliases.is_shared(s.0))
                    }
                    Op::Fence(_) | Op::MachineFence(_) | Op::Bulk { .. } | Op::Assembly(_) => true,
                    Op::Call {
                        callee: Callee::Indirect(_),
                        ..
                    } => {
                        by_pointer.push(id.0);
                        true
                    }
                    Op::Call {
                        callee: Callee::Direct(f),
                        ..
                    } => {
                        let target = &module.functions[f.index()];
                        callers[f.index()].push(id.0);
                        target.blocks.is_empty() && matters_outside(&target.name, target.pure)
                    }
                };
                if matters && !yes[index] {
                    yes[index] = true;
                    work.push(index);
                }
            }
        }
        while let Some(index) = work.pop() {
            for caller in &callers[index] {
                let caller = *caller as usize;
                if !yes[caller] {
                    yes[caller] = true;
                    work.push(caller);
                }
            }
        }
        // Whoever calls through a pointer may call whatever has its address taken.
        let successors = |f: usize, visit: &mut dyn FnMut(usize)| {
            callers[f].iter().for_each(|caller| visit(*caller as usize));
            if taken.contains(&FunctionId(f as u32)) {
                by_pointer.iter().for_each(|caller| visit(*caller as usize));
            }
        };
        let components = crate::cycles::components(count, successors, go_on)?;
        let mut members = vec![0; count];
        components.iter().for_each(|c| members[*c] += 1);
        let calls_itself =
            |f: usize| callers[f].contains(&(f as u32)) || by_pointer.contains(&(f as u32));
        let recursive = (0..count)
            .map(|f| members[components[f]] > 1 || calls_itself(f))
            .collect();
        Ok(Self {
            yes,
            taken,
            recursive,
        })
    }

    /// Whether several activations of a function may exist in one thread.
    pub(super) fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive[function.index()]
    }
}

fn matters_outside(name: &str, pure: bool) -> bool {
    match effect(name) {
        Effect::Starts { .. } | Effect::Joins | Effect::Locks | Effect::Unlocks => true,
        Effect::Unknown => !pure,
        Effect::Allocates | Effect::Harmless => false,
    }
}

impl Builder<'_> {
    /// Follows a call. Answers the pointers through which unknown code may touch memory.
    pub(super) fn follow(
        &mut self,
        frame: u32,
        tail: &mut Vec<NodeId>,
        instr: &Instr,
        callee: Callee,
        arguments: &[Option<ValueId>],
    ) -> Result<Vec<ValueId>, Stopped> {
        match callee {
            Callee::Direct(f) if self.module.functions[f.index()].blocks.is_empty() => {
                self.external(frame, tail, instr, f, arguments)
            }
            Callee::Direct(f) if !self.matters.yes[f.index()] => Ok(Vec::new()),
            Callee::Direct(f) => {
                let call = self.call_step((tail, frame), instr, Doing::Nothing);
                let (entry, exit) = self.callee(frame, instr, f, arguments, true)?;
                self.edge(call, entry);
                let after = self.node(frame, instr.number, Doing::Nothing, false);
                self.edge(exit, after);
                *tail = vec![after];
                Ok(Vec::new())
            }
            Callee::Indirect(value) => self.indirect(frame, tail, instr, value, arguments),
        }
    }

    fn indirect(
        &mut self,
        frame: u32,
        tail: &mut Vec<NodeId>,
        instr: &Instr,
        value: ValueId,
        arguments: &[Option<ValueId>],
    ) -> Result<Vec<ValueId>, Stopped> {
        let function = self.frames[frame as usize].function;
        let (mut known, unknown) = self.aliases.functions(function, value);
        if unknown {
            let taken = self.matters.taken.iter().copied();
            let fits = |f: &FunctionId| {
                self.module.functions[f.index()].parameters as usize == arguments.len()
            };
            known.extend(taken.filter(fits));
            known.sort();
            known.dedup();
            let title = &self.module.functions[function.index()].title;
            self.assume(
                format!("`{title}` calls through a pointer that could be anything: it is taken to be any function of the program with as many parameters whose address is taken"),
                instr,
                true,
            );
        }
        for target in &known {
            let target = &self.module.functions[target.index()];
            if target.blocks.is_empty() && matters_outside(&target.name, target.pure) {
                let title = &target.title;
                self.assume(
                    format!("`{title}` is not in the program and is called through a pointer: it is taken to touch no shared memory"),
                    instr,
                    true,
                );
            }
        }
        self.graph.indirect_calls = true;
        let call = self.call_step((tail, frame), instr, Doing::Nothing);
        let after = self.node(frame, instr.number, Doing::Nothing, false);
        self.targets(frame, instr, (call, after), &known)?;
        *tail = vec![after];
        Ok(Vec::new())
    }

    /// One of these functions is called, or nothing that counts.
    fn targets(
        &mut self,
        frame: u32,
        instr: &Instr,
        (call, after): (NodeId, NodeId),
        targets: &[FunctionId],
    ) -> Result<(), Stopped> {
        self.edge(call, after);
        for target in targets {
            let defined = !self.module.functions[target.index()].blocks.is_empty();
            if defined && self.matters.yes[target.index()] {
                let (entry, exit) = self.callee(frame, instr, *target, &[], false)?;
                self.edge(call, entry);
                self.edge(exit, after);
            }
        }
        Ok(())
    }

    fn external(
        &mut self,
        frame: u32,
        tail: &mut Vec<NodeId>,
        instr: &Instr,
        callee: FunctionId,
        arguments: &[Option<ValueId>],
    ) -> Result<Vec<ValueId>, Stopped> {
        let target = &self.module.functions[callee.index()];
        let first = arguments.first().copied().flatten();
        match effect(&target.name) {
            Effect::Starts {
                function, skipped, ..
            } => {
                let handle = first.map(|v| self.variable(frame, v)).unwrap_or_default();
                let here = self.frames[frame as usize].function;
                let started = arguments.get(function).copied().flatten();
                let (functions, unknown) =
                    started.map_or((Vec::new(), true), |v| self.aliases.functions(here, v));
                let single = function > 0 && skipped == 0 && !unknown;
                let start = Start {
                    handle,
                    functions,
                    single,
                };
                self.call_step((tail, frame), instr, Doing::Start(start));
                Ok(Vec::new())
            }
            Effect::Joins => {
                let handle = first.map(|v| self.handle(frame, v)).unwrap_or_default();
                self.call_step((tail, frame), instr, Doing::Join(handle));
                Ok(Vec::new())
            }
            Effect::Locks | Effect::Unlocks => {
                let locks = effect(&target.name) == Effect::Locks;
                let part = if locks { Part::Lock } else { Part::Unlock };
                self.call_step((tail, frame), instr, Doing::Nothing);
                if let Some(lock) = first {
                    let node = self.lock(frame, instr, lock, part);
                    tail.iter().for_each(|before| self.edge(*before, node));
                    *tail = vec![node];
                }
                Ok(Vec::new())
            }
            Effect::Allocates | Effect::Harmless => Ok(Vec::new()),
            Effect::Unknown if target.pure => Ok(Vec::new()),
            Effect::Unknown => {
                let title = &target.title;
                self.assume(
                    format!("`{title}` is not in the program: it is taken to touch shared memory only through its arguments"),
                    instr,
                    true,
                );
                let function = self.frames[frame as usize].function;
                let pointers: Vec<ValueId> = arguments.iter().copied().flatten().collect();
                let back: Vec<FunctionId> = pointers
                    .iter()
                    .flat_map(|p| self.aliases.functions(function, *p).0)
                    .collect();
                let call = self.call_step((tail, frame), instr, Doing::Nothing);
                if !back.is_empty() {
                    let after = self.node(frame, instr.number, Doing::Nothing, false);
                    self.targets(frame, instr, (call, after), &back)?;
                    *tail = vec![after];
                }
                Ok(pointers)
            }
        }
    }

    /// The one variable that a handle is in; empty if that is not known.
    fn variable(&self, frame: u32, value: ValueId) -> Vec<Spot> {
        let spots = self
            .aliases
            .spots(self.frames[frame as usize].function, value);
        let is_one = |s: &Spot| {
            matches!(
                self.aliases.object(s.0),
                Object::Frame(..) | Object::Global(_)
            )
        };
        if spots.len() == 1 && spots.iter().all(is_one) {
            spots
        } else {
            Vec::new()
        }
    }

    /// Where a thread's handle was loaded from.
    fn handle(&self, frame: u32, value: ValueId) -> Vec<Spot> {
        let function = &self.module.functions[self.frames[frame as usize].function.index()];
        let Value::Result(number) = function.values[value.index()] else {
            return Vec::new();
        };
        let instrs = function.blocks.iter().flat_map(|b| &b.instrs);
        let load = instrs
            .filter(|i| i.number == number)
            .find_map(|i| match &i.op {
                Op::Load(access) => Some(access.pointer),
                _ => None,
            });
        load.map(|pointer| self.variable(frame, pointer))
            .unwrap_or_default()
    }
}
