//! Which locations a thread may still write: a read that waits for a write which cannot come any more is
//! given up early. This prunes branches that end without a complete execution, and nothing else.

use rsan_model::{Instr, LocId, Pc, Program, Thread};
use std::collections::BTreeSet;

/// For every thread and instruction, the locations that may be written from there on.
pub(super) struct Reach {
    writes: Vec<Vec<BTreeSet<LocId>>>,
}

impl Reach {
    /// The location that stands for `f`, which SC fences update in models that order them.
    pub(super) fn fence_location(program: &Program) -> LocId {
        LocId::new(program.locations.len())
    }

    /// Computes the sets, by going round until nothing changes.
    pub(super) fn new(program: &Program) -> Self {
        let f = Self::fence_location(program);
        Self {
            writes: program.threads.iter().map(|t| of_thread(t, f)).collect(),
        }
    }

    /// Whether `thread`, standing at `pc`, may still write `loc`.
    pub(super) fn may_write(&self, thread: usize, pc: Pc, loc: LocId) -> bool {
        self.writes[thread]
            .get(pc.index())
            .is_some_and(|set| set.contains(&loc))
    }
}

fn of_thread(thread: &Thread, f: LocId) -> Vec<BTreeSet<LocId>> {
    let mut sets: Vec<BTreeSet<LocId>> = thread
        .code
        .iter()
        .map(|instr| match instr {
            Instr::Fence(ord) if ord.is_sc() => BTreeSet::from([f]),
            _ if instr.may_write() => instr
                .place()
                .into_iter()
                .flat_map(|p| p.candidates())
                .collect(),
            _ => BTreeSet::new(),
        })
        .collect();
    loop {
        let mut changed = false;
        for pc in (0..sets.len()).rev() {
            for next in thread.code[pc].successors(Pc::new(pc)) {
                let Some(later) = sets.get(next.index()).cloned() else {
                    continue;
                };
                let before = sets[pc].len();
                sets[pc].extend(later);
                changed |= sets[pc].len() != before;
            }
        }
        if !changed {
            return sets;
        }
    }
}
