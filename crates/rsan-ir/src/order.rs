//! What an operation of C becomes on a machine, and which later accesses that orders.
//!
//! *Decides*: of a path from an access to a later one, whether the machine keeps the two in order. The table [`atoms`] says which
//! fences and annotations an operation becomes; [`step`] follows a path.
//!
//! *Source*: the definitions of `bob` (ARMv8), of `ppo` (RVWMO: fences, acquire, release, RCsc), of TSO and of the full fences of ARMv7 and
//! Power; the usual compilation of C11 atomics, which the table of `rsan-mapping` has in full.
//!
//! *State*: of the accesses that are ordered after the first one (itself included) only their kinds count: [`READ_BEFORE`],
//! [`WRITE_BEFORE`], and whether one is a release that a later acquire waits for ([`RELEASED`]). [`READS_AFTER`] and [`WRITES_AFTER`]:
//! later ones of this kind are ordered.
//!
//! *Two sides*: the machine `to` must order, so [`Side::Must`] leaves out what some compiler may not emit. The machine `from` may order,
//! so [`Side::May`] takes everything that could order, dependencies included: there a read is before all that follows.
//!
//! *Deviations*: ARMv8's `po; [L]; coi` is not used, nor are dependencies on the machine `to`; RMWs of ARMv8 are taken as exclusives.
//! On ARMv7 and Power only full fences order. All of that can add a warning and never hides one.

use crate::module::Order;
use rsan_model::machine::Machine;

/// What a path has shown so far: a set of the bits below.
pub(crate) type State = u8;

/// A read that is ordered after the first access, or is it.
pub(crate) const READ_BEFORE: State = 1;
/// A write that is ordered after the first access, or is it.
pub(crate) const WRITE_BEFORE: State = 2;
/// Every later read is ordered.
pub(crate) const READS_AFTER: State = 4;
/// Every later write is ordered.
pub(crate) const WRITES_AFTER: State = 8;
/// An RCsc release that is ordered after the first access, or is it.
pub(crate) const RELEASED: State = 16;
/// Everything later is ordered.
pub(crate) const ALL_AFTER: State = READS_AFTER | WRITES_AFTER;
/// Number of states.
pub(crate) const STATES: usize = 32;

/// Kinds of accesses.
const R: u8 = 1;
const W: u8 = 2;
const RW: u8 = 3;

/// Whether the machine has to order, or could.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Side {
    /// Only what every compilation orders.
    Must,
    /// Whatever some compilation could order.
    May,
}

/// What an operation is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// A load.
    Load,
    /// A store.
    Store,
    /// The read of an RMW.
    UpdateRead {
        /// Whether its write follows.
        succeeds: bool,
    },
    /// The write of an RMW.
    UpdateWrite,
    /// A lock of a library is taken: it acquires.
    Lock,
    /// It is given back: it releases.
    Unlock,
    /// A fence.
    Fence,
}

impl Part {
    /// Whether it writes.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Store | Self::UpdateWrite | Self::Unlock)
    }
}

/// An operation of C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Operation {
    /// What it is.
    pub(crate) part: Part,
    /// Its order.
    pub(crate) order: Order,
    /// Of a compare-exchange, its order if it fails.
    pub(crate) failure: Option<Order>,
    /// Bytes.
    pub(crate) size: u32,
}

impl Operation {
    /// A fence.
    pub(crate) fn fence(order: Order) -> Self {
        Self {
            part: Part::Fence,
            order,
            failure: None,
            size: 0,
        }
    }

    /// The order that counts for what a compare-exchange acquires: it does not know yet whether it will fail.
    fn merged(self) -> Order {
        match self.failure {
            Some(Order::SeqCst) => Order::SeqCst,
            Some(Order::Acquire) if self.order == Order::Release => Order::AcqRel,
            Some(Order::Acquire) if self.order <= Order::Relaxed => Order::Acquire,
            _ => self.order,
        }
    }
}

/// Whether later accesses wait for it.
pub(crate) fn acquires(order: Order) -> bool {
    matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

/// Whether it waits for earlier accesses.
pub(crate) fn releases(order: Order) -> bool {
    matches!(order, Order::Release | Order::AcqRel | Order::SeqCst)
}

/// A piece of what an operation becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Atom {
    /// A fence: of the kinds before it, what the kinds after it wait for. Two pairs, both at once.
    Fence([(u8, u8); 2]),
    /// The access.
    Access {
        /// [`R`] or [`W`].
        kind: u8,
        /// Later accesses wait for it.
        acquire: bool,
        /// It waits for earlier accesses.
        release: bool,
        /// An acquire that waits for earlier releases, or such a release.
        rcsc: bool,
        /// Whatever comes after it may be ordered, if it is.
        spreads: bool,
    },
}

const fn fence(before: u8, after: u8) -> Atom {
    Atom::Fence([(before, after), (0, 0)])
}

/// A full fence.
pub(crate) const FULL: Atom = fence(RW, RW);

fn access(kind: u8, acquire: bool, release: bool, rcsc: bool) -> Atom {
    Atom::Access {
        kind,
        acquire,
        release,
        rcsc,
        spreads: false,
    }
}

/// What an operation becomes on a machine.
pub(crate) fn atoms(machine: Machine, side: Side, rcpc: bool, operation: Operation) -> Vec<Atom> {
    let as_access = match operation.part {
        Part::Lock => Some((Part::Load, Order::Acquire)),
        Part::Unlock => Some((Part::Store, Order::Release)),
        _ => None,
    };
    if let Some((part, order)) = as_access {
        // Inside, a library may do as much as it likes.
        let inside = atoms(
            machine,
            side,
            rcpc,
            Operation {
                part,
                order,
                ..operation
            },
        );
        let around = (side == Side::May).then_some(FULL);
        return around.into_iter().chain(inside).chain(around).collect();
    }
    match (machine, side) {
        (Machine::Sc, _) => sequential(operation),
        (Machine::X86, _) => x86(operation),
        (Machine::Armv8, _) => armv8(side, rcpc, operation),
        (Machine::Riscv, Side::Must) => riscv(operation),
        (Machine::Armv7, Side::Must) => armv7(operation),
        (Machine::Power, Side::Must) => power(operation),
        (Machine::Riscv | Machine::Armv7 | Machine::Power, Side::May) => anything(operation),
    }
}

fn kind(part: Part) -> u8 {
    if part.writes() { W } else { R }
}

/// `before; access; after`, the fences only where they are wanted.
fn fenced(before: Option<Atom>, access: Atom, after: Option<Atom>) -> Vec<Atom> {
    before.into_iter().chain([access]).chain(after).collect()
}

fn sequential(operation: Operation) -> Vec<Atom> {
    match operation.part {
        Part::Fence => vec![],
        part => vec![access(kind(part), true, true, true)],
    }
}

/// TSO: a read before all that follows, a write after all before it; locked instructions are fences, failed ones, too.
fn x86(operation: Operation) -> Vec<Atom> {
    let full = Some(FULL);
    let read = access(R, true, false, false);
    let write = access(W, false, true, false);
    match operation.part {
        Part::Load => vec![read],
        Part::Store if operation.order == Order::SeqCst => fenced(full, write, full),
        Part::Store => vec![write],
        Part::UpdateRead { succeeds: true } => fenced(full, read, None),
        Part::UpdateRead { succeeds: false } => fenced(full, read, full),
        Part::UpdateWrite => fenced(None, write, full),
        Part::Fence if operation.order == Order::SeqCst => vec![FULL],
        Part::Fence | Part::Lock | Part::Unlock => vec![],
    }
}

/// `ldar` or `ldapr`, `stlr`, exclusives with `a` and `l`; `dmb ishld` for acquire fences, else `dmb ish`.
fn armv8(side: Side, rcpc: bool, operation: Operation) -> Vec<Atom> {
    let order = operation.order;
    let read = |order: Order, pc: bool| access(R, acquires(order), false, !pc);
    let write = access(W, false, releases(order), true);
    match operation.part {
        Part::Load => vec![read(
            order,
            rcpc && order == Order::Acquire && side == Side::Must,
        )],
        Part::UpdateRead { .. } => vec![read(operation.merged(), false)],
        Part::Store => vec![write],
        // A later read of its value is ordered after it (`aob`), and with `a` and `l` one instruction is a full fence (`casal`).
        Part::UpdateWrite if side == Side::May => vec![Atom::Access {
            kind: W,
            acquire: false,
            release: releases(operation.merged()),
            rcsc: true,
            spreads: true,
        }],
        Part::UpdateWrite => vec![write],
        Part::Lock | Part::Unlock => vec![],
        Part::Fence => match order {
            Order::Plain | Order::Relaxed => vec![],
            Order::Acquire => vec![fence(R, RW)],
            Order::Release | Order::AcqRel | Order::SeqCst => vec![FULL],
        },
    }
}

/// Fences around loads and stores; AMOs with `aq` and `rl`, `lr`/`sc` for a compare-exchange and for small accesses.
fn riscv(operation: Operation) -> Vec<Atom> {
    let order = operation.order;
    let merged = operation.merged();
    let amo = operation.failure.is_none() && matches!(operation.size, 4 | 8);
    let when = |wanted: bool, atom: Atom| wanted.then_some(atom);
    match operation.part {
        Part::Load => fenced(
            when(order == Order::SeqCst, FULL),
            access(R, false, false, false),
            when(acquires(order), fence(R, RW)),
        ),
        Part::Store => fenced(
            when(releases(order), fence(RW, W)),
            access(W, false, false, false),
            None,
        ),
        Part::UpdateRead { .. } => {
            let release = if amo {
                releases(order)
            } else {
                merged == Order::SeqCst
            };
            vec![access(R, acquires(merged), release, true)]
        }
        Part::Lock | Part::Unlock => vec![],
        Part::UpdateWrite => vec![access(W, amo && acquires(order), releases(order), true)],
        Part::Fence => match order {
            Order::Plain | Order::Relaxed => vec![],
            Order::Acquire => vec![fence(R, RW)],
            Order::Release => vec![fence(RW, W)],
            Order::AcqRel => vec![Atom::Fence([(R, RW), (W, W)])],
            Order::SeqCst => vec![FULL],
        },
    }
}

/// `dmb` after what acquires and before what releases. A compare-exchange that fails may do without the one before it.
fn armv7(operation: Operation) -> Vec<Atom> {
    let order = operation.order;
    let full = |wanted: bool| wanted.then_some(FULL);
    let plain = access(kind(operation.part), false, false, false);
    match operation.part {
        Part::Load => fenced(None, plain, full(acquires(order))),
        Part::Store => fenced(full(releases(order)), plain, full(order == Order::SeqCst)),
        Part::UpdateRead { succeeds: true } => fenced(full(releases(order)), plain, None),
        Part::UpdateRead { succeeds: false } => {
            let failure = operation.failure.unwrap_or(Order::Relaxed);
            fenced(None, plain, full(acquires(failure)))
        }
        Part::UpdateWrite => fenced(None, plain, full(acquires(order))),
        Part::Lock | Part::Unlock => vec![],
        Part::Fence => full(order > Order::Relaxed).into_iter().collect(),
    }
}

/// `sync` before what is seq_cst. `lwsync` and `isync` are not used: they do not order what several threads see.
fn power(operation: Operation) -> Vec<Atom> {
    let full = |wanted: bool| wanted.then_some(FULL);
    let plain = access(kind(operation.part), false, false, false);
    let strong = operation.order == Order::SeqCst;
    match operation.part {
        Part::Load | Part::Store | Part::UpdateRead { succeeds: true } => {
            fenced(full(strong), plain, None)
        }
        Part::UpdateRead { succeeds: false } | Part::UpdateWrite => vec![plain],
        Part::Lock | Part::Unlock => vec![],
        Part::Fence => full(strong).into_iter().collect(),
    }
}

/// Everything that is not relaxed may order everything.
fn anything(operation: Operation) -> Vec<Atom> {
    let full = (operation.order > Order::Relaxed).then_some(FULL);
    match operation.part {
        Part::Fence => full.into_iter().collect(),
        part => {
            let plain = Atom::Access {
                kind: kind(part),
                acquire: false,
                release: false,
                rcsc: false,
                spreads: part == Part::UpdateWrite,
            };
            fenced(full, plain, full)
        }
    }
}

/// What a fence of a machine, written in assembly, does on `machine`. Foreign ones do nothing there; on the side that may order they
/// do everything.
pub(crate) fn machine_fence(machine: Machine, side: Side, text: &str) -> Vec<Atom> {
    let text = text.trim();
    let known = match machine {
        Machine::Sc => return vec![],
        Machine::X86 => match text {
            "mfence" => Some(FULL),
            "lfence" | "sfence" => return vec![],
            _ if text.starts_with("lock") => Some(FULL),
            _ => None,
        },
        Machine::Armv8 => match text {
            "dmb ish" | "dmb sy" | "dmb osh" | "dmb" | "dsb ish" | "dsb sy" | "dsb" => Some(FULL),
            "dmb ishld" | "dmb ld" | "dmb oshld" | "dsb ishld" | "dsb ld" => Some(fence(R, RW)),
            "dmb ishst" | "dmb st" | "dmb oshst" | "dsb ishst" | "dsb st" => Some(fence(W, W)),
            _ => None,
        },
        Machine::Armv7 => {
            let full = ["dmb ish", "dmb sy", "dmb", "dsb ish", "dsb sy", "dsb"];
            full.contains(&text).then_some(FULL)
        }
        Machine::Riscv => riscv_fence(text),
        Machine::Power => matches!(text, "sync" | "hwsync" | "sync 0").then_some(FULL),
    };
    match (known, side) {
        (Some(atom), _) => vec![atom],
        (None, Side::Must) => vec![],
        (None, Side::May) => vec![FULL],
    }
}

fn riscv_fence(text: &str) -> Option<Atom> {
    if text == "fence.tso" {
        return Some(Atom::Fence([(R, RW), (W, W)]));
    }
    if text == "fence" {
        return Some(FULL);
    }
    let (before, after) = text.strip_prefix("fence ")?.split_once(',')?;
    let kinds = |text: &str| {
        let has = |letter: char, kind: u8| if text.contains(letter) { kind } else { 0 };
        has('r', R) | has('w', W)
    };
    Some(fence(kinds(before), kinds(after)))
}

/// The state right after the first access itself; `atoms` is what it becomes.
pub(crate) fn start(machine: Machine, side: Side, atoms: &[Atom]) -> State {
    let mut state = 0;
    for atom in atoms {
        match *atom {
            Atom::Access {
                kind,
                acquire,
                release,
                rcsc,
                spreads,
            } => {
                let dependent = side == Side::May && kind == R && machine != Machine::Sc;
                state |= if kind == R { READ_BEFORE } else { WRITE_BEFORE };
                if acquire || spreads || dependent || machine == Machine::Sc {
                    state |= ALL_AFTER;
                }
                if release && rcsc {
                    state |= RELEASED;
                }
            }
            Atom::Fence(_) if state != 0 => state = pass(state, *atom, side),
            Atom::Fence(_) => {}
        }
    }
    state
}

/// The state after an operation, and whether its access, if it has one, is ordered after the first one.
pub(crate) fn step(mut state: State, side: Side, atoms: &[Atom]) -> (State, bool) {
    let mut ordered = false;
    for atom in atoms {
        if let Atom::Access { .. } = atom {
            ordered = is_ordered(state, *atom);
        }
        state = pass(state, *atom, side);
    }
    (state, ordered)
}

fn is_ordered(state: State, atom: Atom) -> bool {
    match atom {
        Atom::Fence(_) => false,
        Atom::Access {
            kind,
            acquire,
            release,
            rcsc,
            ..
        } => {
            let waits = if kind == R { READS_AFTER } else { WRITES_AFTER };
            state & waits != 0 || release || (acquire && rcsc && state & RELEASED != 0)
        }
    }
}

fn pass(state: State, atom: Atom, side: Side) -> State {
    match atom {
        Atom::Fence(pairs) => {
            let mut next = state;
            for (before, after) in pairs {
                let waits = (before & R != 0 && state & READ_BEFORE != 0)
                    || (before & W != 0 && state & WRITE_BEFORE != 0);
                if waits {
                    next |= if after & R != 0 { READS_AFTER } else { 0 };
                    next |= if after & W != 0 { WRITES_AFTER } else { 0 };
                }
            }
            next
        }
        Atom::Access {
            kind,
            acquire,
            release,
            rcsc,
            spreads,
        } if is_ordered(state, atom) => {
            let dependent = side == Side::May && kind == R;
            let mut next = state | if kind == R { READ_BEFORE } else { WRITE_BEFORE };
            if acquire || spreads || dependent {
                next |= ALL_AFTER;
            }
            if release && rcsc {
                next |= RELEASED;
            }
            next
        }
        Atom::Access { .. } => state,
    }
}

#[cfg(test)]
mod tests;
