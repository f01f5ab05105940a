//! Automata prepared for the search: what leaves each control state, which registers still matter there, and from
//! which writes an attack can start at all.

use crate::fences::FenceSet;
use rsan_model::Value;
use rsan_model::automata::{Automata, Automaton, Op, StateId};
use std::collections::BTreeSet;

/// Automata and what the search needs to know of them.
pub(crate) struct Compiled<'a> {
    pub(crate) automata: &'a Automata,
    pub(crate) threads: Vec<CompiledThread>,
}

pub(crate) struct CompiledThread {
    /// The transitions that leave each control state: first those that stay inside the thread, then the others.
    pub(crate) leaving: Vec<Leaving>,
    /// Which registers may still be read in each control state.
    pub(crate) live: Vec<Vec<bool>>,
    /// For each transition, whether it is a write that may be delayed past a load that matters.
    pub(crate) attacks: Vec<bool>,
    /// For each control state, whether a fence was put there.
    pub(crate) fenced: Vec<bool>,
}

#[derive(Clone, Default)]
pub(crate) struct Leaving {
    pub(crate) local: Vec<u32>,
    pub(crate) shared: Vec<u32>,
}

impl<'a> Compiled<'a> {
    pub(crate) fn new(automata: &'a Automata, fences: &FenceSet) -> Self {
        Self::with(automata, fences, is_inside, false)
    }

    /// Each thread may have several copies, which are others to each other.
    pub(crate) fn for_templates(automata: &'a Automata) -> Self {
        Self::with(automata, &FenceSet::default(), is_inside, true)
    }

    /// With fences as steps of their own.
    pub(crate) fn with_visible_fences(automata: &'a Automata) -> Self {
        Self::with(automata, &FenceSet::default(), Op::is_local, false)
    }

    fn with(
        automata: &'a Automata,
        fences: &FenceSet,
        inside: fn(&Op) -> bool,
        copies: bool,
    ) -> Self {
        let footprints: Vec<Footprint> = automata.threads.iter().map(Footprint::of).collect();
        let threads = automata.threads.iter().enumerate().map(|(t, thread)| {
            let fenced: Vec<bool> = (0..thread.states.len())
                .map(|s| fences.contains(t, StateId(s as u32)))
                .collect();
            let others = Footprint::of_others(&footprints, (!copies).then_some(t));
            CompiledThread {
                leaving: leaving(thread, inside),
                live: live(thread),
                attacks: attacks(thread, &fenced, &others),
                fenced,
            }
        });
        Self {
            automata,
            threads: threads.collect(),
        }
    }
}

fn leaving(thread: &Automaton, inside: fn(&Op) -> bool) -> Vec<Leaving> {
    let mut leaving = vec![Leaving::default(); thread.states.len()];
    for (i, transition) in thread.transitions.iter().enumerate() {
        let at = &mut leaving[transition.from.index()];
        let list = if inside(&transition.op) {
            &mut at.local
        } else {
            &mut at.shared
        };
        list.push(i as u32);
    }
    leaving
}

/// Whether an operation is no business of other threads under SC. A fence is not; it only stops an attacker.
pub(crate) fn is_inside(op: &Op) -> bool {
    op.is_local() || *op == Op::Fence
}

/// Registers that may be read before they are written, for each control state.
fn live(thread: &Automaton) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; thread.registers.len()]; thread.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for transition in &thread.transitions {
            let mut before = live[transition.to.index()].clone();
            through(&transition.op, &mut before);
            for (at, now) in live[transition.from.index()].iter_mut().zip(before) {
                changed |= now && !*at;
                *at |= now;
            }
        }
    }
    live
}

/// From what is live after an operation to what is live before it.
fn through(op: &Op, live: &mut [bool]) {
    let mut reads = Vec::new();
    let mut note = |e: &rsan_model::Expr| e.for_each_reg(&mut |r| reads.push(r));
    // `accept` and the new value of an update see the register that the operation itself sets.
    let set = match op {
        Op::Read { reg, addr, accept } => {
            accept.iter().for_each(&mut note);
            let own = std::mem::take(&mut reads);
            addr.for_each_reg(&mut |r| reads.push(r));
            reads.extend(own.into_iter().filter(|r| r != reg));
            Some(*reg)
        }
        Op::Update {
            reg,
            addr,
            accept,
            value,
        } => {
            accept.iter().chain(value).for_each(&mut note);
            let own = std::mem::take(&mut reads);
            addr.for_each_reg(&mut |r| reads.push(r));
            reads.extend(own.into_iter().filter(|r| Some(*r) != *reg));
            *reg
        }
        Op::Write { addr, value } => {
            note(addr);
            note(value);
            None
        }
        Op::Assign { reg, value } => {
            note(value);
            Some(*reg)
        }
        Op::Check(e) | Op::Assert(e) | Op::Bounds(e) => {
            note(e);
            None
        }
        Op::Fence | Op::Lock | Op::Unlock | Op::Noop => None,
    };
    if let Some(reg) = set {
        live[reg.index()] = false;
    }
    for reg in reads {
        live[reg.index()] = true;
    }
}

/// The addresses that a thread may read or write; `None` when some are computed.
#[derive(Clone, Default)]
struct Footprint {
    accessed: Option<BTreeSet<Value>>,
    written: Option<BTreeSet<Value>>,
}

impl Footprint {
    fn of(thread: &Automaton) -> Self {
        let mut accessed = Some(BTreeSet::new());
        let mut written = Some(BTreeSet::new());
        let add = |set: &mut Option<BTreeSet<Value>>, addr: &rsan_model::Expr| match (
            addr.as_const().and_then(|n| Value::try_from(n).ok()),
            set,
        ) {
            (Some(n), Some(set)) => {
                set.insert(n);
            }
            (None, set) => *set = None,
            _ => {}
        };
        for transition in &thread.transitions {
            match &transition.op {
                Op::Read { addr, .. } => add(&mut accessed, addr),
                Op::Update {
                    addr, value: None, ..
                } => add(&mut accessed, addr),
                Op::Write { addr, .. } | Op::Update { addr, .. } => {
                    add(&mut accessed, addr);
                    add(&mut written, addr);
                }
                _ => {}
            }
        }
        Self { accessed, written }
    }

    fn of_others(all: &[Self], me: Option<usize>) -> Self {
        let union = |part: fn(&Self) -> &Option<BTreeSet<Value>>| {
            let mut union = BTreeSet::new();
            for (t, footprint) in all.iter().enumerate() {
                if Some(t) != me {
                    union.extend(part(footprint).as_ref()?);
                }
            }
            Some(union)
        };
        Self {
            accessed: union(|f| &f.accessed),
            written: union(|f| &f.written),
        }
    }
}

/// The writes to an address that others may access, from which a load of an address that others may write can be
/// reached without passing anything that drains the buffer.
fn attacks(thread: &Automaton, fenced: &[bool], others: &Footprint) -> Vec<bool> {
    let concerns =
        |set: &Option<BTreeSet<Value>>, addr: &rsan_model::Expr| match (set, addr.as_const()) {
            (Some(set), Some(n)) => Value::try_from(n).is_ok_and(|n| set.contains(&n)),
            (Some(set), None) => !set.is_empty(),
            (None, _) => true,
        };
    // Control states from which such a load can be reached.
    let mut reaches = vec![false; thread.states.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for transition in &thread.transitions {
            let from = transition.from.index();
            let here = match &transition.op {
                _ if fenced[from] || reaches[from] => false,
                Op::Read { addr, .. } if concerns(&others.written, addr) => true,
                op if op.drains() => false,
                _ => reaches[transition.to.index()],
            };
            changed |= here;
            reaches[from] |= here;
        }
    }
    let starts = thread
        .transitions
        .iter()
        .map(|transition| match &transition.op {
            Op::Write { addr, .. } => {
                concerns(&others.accessed, addr) && reaches[transition.to.index()]
            }
            _ => false,
        });
    starts.collect()
}
