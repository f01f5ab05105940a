//! Whole programs: locations, flags of spawned threads, conditions.

use crate::lower::{Flags, lower};
use crate::{Table, Target};
use rsan_model::machine;
use rsan_model::{Instr, LocId, Observable, Pc, Program, RegId, Register, Start, ThreadId};
use std::fmt;

/// What the table has no row for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The thread.
    pub thread: ThreadId,
    /// The instruction.
    pub pc: Pc,
    /// What it is: `a thread that is spawned twice`.
    pub what: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, pc, what } = self;
        write!(f, "{thread}{pc}: {what} has no translation")
    }
}

impl std::error::Error for Unsupported {}

/// The program as `target` runs it.
///
/// The origins of the operations are the program counters of the C instructions; those that wait for the spawn of a
/// thread and tell its end have the two numbers behind its last instruction.
///
/// # Errors
/// A spawn or join of a thread that runs from the beginning, and a thread that is spawned by several instructions.
pub fn compile(program: &Program, target: &Target) -> Result<machine::Program, Unsupported> {
    let flags = flags(program)?;
    let table = Table::of(target);
    let mut compiled = machine::Program::new(program.name.clone(), target.machine);
    compiled.source.clone_from(&program.source);
    compiled.condition.clone_from(&program.condition);
    compiled.observed = observed(program);
    compiled.locations = locations(program, &flags);
    for (t, thread) in program.threads.iter().enumerate() {
        let spurious = target.spurious;
        compiled.threads.push(lower(
            program,
            ThreadId::new(t),
            thread,
            &table,
            &flags,
            spurious,
        ));
    }
    debug_assert!(
        compiled
            .threads
            .iter()
            .all(|t| { t.code.len() == t.spans.len() && t.code.len() == t.origins.len() })
    );
    Ok(compiled)
}

/// The assertions of a compiled program: the instruction, and the register that is 1 if it failed.
pub fn assertions(program: &Program, compiled: &machine::Program) -> Vec<(ThreadId, Pc, RegId)> {
    let register = |t: ThreadId, pc: Pc| {
        let name = assertion_name(pc);
        let registers = &compiled.threads[t.index()].registers;
        registers.iter().position(|r| r.name == name)
    };
    program
        .instructions()
        .filter(|(_, _, instr)| matches!(instr, Instr::Assert(_)))
        .filter_map(|(t, pc, _)| Some((t, pc, RegId::new(register(t, pc)?))))
        .collect()
}

/// The name of the register that tells that an assertion failed.
pub(crate) fn assertion_name(pc: Pc) -> String {
    format!("{pc} failed")
}

/// The flags of spawned threads.
fn flags(program: &Program) -> Result<Flags, Unsupported> {
    let count = program.threads.len();
    let mut flags = Flags {
        start: vec![None; count],
        end: vec![None; count],
    };
    let mut next = program.locations.len();
    let mut new = || {
        next += 1;
        LocId::new(next - 1)
    };
    for (t, thread) in program.threads.iter().enumerate() {
        // A thread that nobody spawns has the flag, too: it never starts.
        if thread.start == Start::Spawned {
            flags.start[t] = Some(new());
        }
    }
    let mut spawned = vec![false; count];
    for (thread, pc, instr) in program.instructions() {
        let (Instr::Spawn(other) | Instr::Join(other)) = *instr else {
            continue;
        };
        let unsupported = |what: &str| Unsupported {
            thread,
            pc,
            what: what.to_owned(),
        };
        if flags.start[other.index()].is_none() {
            return Err(unsupported(
                "spawning or joining a thread that runs from the beginning",
            ));
        }
        if matches!(instr, Instr::Spawn(_)) {
            if std::mem::replace(&mut spawned[other.index()], true) {
                return Err(unsupported("spawning a thread at several places"));
            }
        } else if flags.end[other.index()].is_none() {
            flags.end[other.index()] = Some(new());
        }
    }
    Ok(flags)
}

fn locations(program: &Program, flags: &Flags) -> Vec<machine::Location> {
    let own = program.locations.iter().map(|l| machine::Location {
        name: l.name.clone(),
        init: l.init,
    });
    let mut locations: Vec<machine::Location> = own.collect();
    let mut added: Vec<(LocId, String)> = Vec::new();
    for (t, thread) in program.threads.iter().enumerate() {
        let name = &thread.name;
        added.extend(flags.start[t].map(|loc| (loc, format!("<start of {name}>"))));
        added.extend(flags.end[t].map(|loc| (loc, format!("<end of {name}>"))));
    }
    added.sort();
    locations.extend(
        added
            .into_iter()
            .map(|(_, name)| machine::Location { name, init: 0 }),
    );
    locations
}

/// What the program observes. If it names nothing, all that has a name in the source, which further registers and
/// locations have not.
fn observed(program: &Program) -> Vec<Observable> {
    if program.condition.is_some() || !program.observed.is_empty() {
        return program.observed.clone();
    }
    let registers = program.threads.iter().enumerate().flat_map(|(t, thread)| {
        let named = |(_, r): &(usize, &Register)| {
            r.name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        };
        let registers = thread.registers.iter().enumerate().filter(named);
        registers.map(move |(r, _)| Observable::Reg(ThreadId::new(t), RegId::new(r)))
    });
    let locations = (0..program.locations.len()).map(|l| Observable::Loc(LocId::new(l)));
    registers.chain(locations).collect()
}
