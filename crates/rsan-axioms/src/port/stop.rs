//! Changes of programs: places where a thread may stop, and fences.

use rsan_model::machine::{Fence, Op, Program, Thread};
use rsan_model::{Expr, RegId, Span};
use std::collections::BTreeSet;

/// On which side of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Right before it: jumps to the instruction pass it.
    Before,
    /// Right behind it: jumps to what follows do not.
    After,
}

/// Puts a fence beside the instruction `origin`; nothing changes if the thread has no such instruction.
pub fn insert_fence(thread: &mut Thread, origin: u32, side: Side, fence: Fence) {
    let mut of_origin = thread
        .origins
        .iter()
        .enumerate()
        .filter(|(_, o)| **o == origin);
    let Some((first, _)) = of_origin.next() else {
        return;
    };
    let last = of_origin.next_back().map_or(first, |(last, _)| last);
    match side {
        Side::Before => insert(thread, first, Op::Fence(fence), Land::On),
        Side::After => insert(thread, last + 1, Op::Fence(fence), Land::Behind),
    }
}

/// The program with a choice to stop before each instruction that waits, and before each jump back.
pub(super) fn with_stops(program: &Program) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        let mut at = places_to_stop(thread);
        while let Some(place) = at.pop_last() {
            let targets = vec![place + 1, thread.code.len() + 1];
            insert(thread, place, Op::Choose { targets }, Land::On);
        }
    }
    program
}

fn places_to_stop(thread: &Thread) -> BTreeSet<usize> {
    let statuses = statuses(thread);
    let mut places = BTreeSet::new();
    for (at, op) in thread.code.iter().enumerate() {
        match op {
            Op::Await(condition) if !only_of(condition, &statuses) => {
                let origin = thread.origins[at];
                let first = thread.origins.iter().position(|&o| o == origin);
                places.extend(first);
            }
            Op::Branch { target, .. } | Op::Jump { target } if *target <= at => {
                places.insert(at);
            }
            Op::Choose { targets } if targets.iter().any(|&t| t <= at) => {
                places.insert(at);
            }
            _ => {}
        }
    }
    places
}

/// The registers that tell whether an exclusive store succeeded: nobody waits for that.
fn statuses(thread: &Thread) -> BTreeSet<RegId> {
    let status = |op: &Op| match op {
        Op::StoreExclusive { status, .. } => *status,
        _ => None,
    };
    thread.code.iter().filter_map(status).collect()
}

fn only_of(condition: &Expr, registers: &BTreeSet<RegId>) -> bool {
    let mut only = true;
    condition.for_each_reg(&mut |r| only &= registers.contains(&r));
    only
}

/// Where a jump to the operation at the place of an insertion leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Land {
    On,
    Behind,
}

/// Inserts an operation, whose own targets are right already.
fn insert(thread: &mut Thread, at: usize, op: Op, land: Land) {
    let shift = |target: &mut usize| {
        if *target > at || (*target == at && land == Land::Behind) {
            *target += 1;
        }
    };
    for old in &mut thread.code {
        match old {
            Op::Branch { target, .. } | Op::Jump { target } => shift(target),
            Op::Choose { targets } => targets.iter_mut().for_each(shift),
            Op::Assign { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::StoreExclusive { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Await(_) => {}
        }
    }
    let neighbour = match land {
        Land::On => at,
        Land::Behind => at.saturating_sub(1),
    };
    let origin = thread.origins.get(neighbour).copied().unwrap_or_default();
    let span = thread
        .spans
        .get(neighbour)
        .copied()
        .unwrap_or_else(Span::default);
    thread.code.insert(at, op);
    thread.origins.insert(at, origin);
    thread.spans.insert(at, span);
}
