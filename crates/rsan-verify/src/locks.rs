//! Locks, and what a thread does alone while it holds one (docs/theory/finite.md, F18).
//!
//! A *lock* is a location that is 0 at first, is taken by `bcas(x, 0, n)` and given back by `store 0`, by its holder, and
//! not accessed otherwise. Whoever holds it is alone with it: no check of a lock can fail, giving it back can be done as
//! soon as nothing is left to do before, and taking it can wait for what is done next.

use rsan_model::{Instr, LocId, Pc, Place, Program, Thread};

/// Who holds which lock where, as far as it is certain.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    /// Per location.
    pub(crate) is_lock: Vec<bool>,
    /// Per thread and instruction, the locks that are held before it, as bits.
    held: Vec<Vec<u64>>,
}

impl Locks {
    /// The locks of a program; the first 64 locations are looked at.
    pub(crate) fn new(program: &Program) -> Self {
        let mut is_lock: Vec<bool> = (program.locations.iter().enumerate())
            .map(|(l, loc)| l < 64 && loc.init == 0)
            .collect();
        for (_, _, instr) in program.instructions() {
            if let Some(place) = instr.place()
                && taken(instr).is_none()
                && given_back(instr).is_none()
            {
                place.candidates().for_each(|l| is_lock[l.index()] = false);
            }
        }
        let held: Vec<_> = (program.threads.iter())
            .map(|t| held(t, &is_lock))
            .collect();
        for (t, pc, instr) in program.instructions() {
            if let Some(lock) = given_back(instr)
                && held[t.index()][pc.index()] & bit(lock) == 0
            {
                is_lock[lock.index()] = false;
            }
        }
        Self { is_lock, held }
    }

    /// Whether the instruction takes a lock.
    pub(crate) fn takes(&self, instr: &Instr) -> bool {
        taken(instr).is_some_and(|l| self.is_lock[l.index()])
    }

    /// Whether no other thread can notice the instruction, or be noticed by it, before the thread moves on: it gives a
    /// lock back, or accesses what only those do who hold a lock that the thread holds.
    pub(crate) fn is_alone(&self, program: &Program, t: usize, pc: usize) -> bool {
        let instr = program.threads[t].instr(Pc::new(pc));
        if given_back(instr).is_some_and(|l| self.is_lock[l.index()]) {
            return true;
        }
        let place = match instr {
            Instr::Load { place, .. } | Instr::Store { place, .. } | Instr::Rmw { place, .. } => {
                place
            }
            _ => return false,
        };
        let conflicts = |i: &Instr| instr.may_write() || i.may_write();
        let mut locks = self.locks_held(t, pc);
        for (u, at, other) in program.instructions() {
            let same = |l| {
                other
                    .place()
                    .is_some_and(|p| p.candidates().any(|m| l == m))
            };
            if conflicts(other) && place.candidates().any(same) {
                locks &= self.held[u.index()][at.index()];
            }
        }
        locks != 0
    }

    fn locks_held(&self, t: usize, pc: usize) -> u64 {
        let locks = self.is_lock.iter().enumerate();
        let locks = locks.fold(
            0,
            |set, (l, &is)| if is { set | bit(LocId::new(l)) } else { set },
        );
        self.held[t][pc] & locks
    }
}

/// Per instruction, what is held before it on every way to it.
fn held(thread: &Thread, is_lock: &[bool]) -> Vec<u64> {
    let n = thread.code.len() + 1;
    let mut held = vec![u64::MAX; n];
    held[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for pc in 0..n {
            let instr = thread.instr(Pc::new(pc));
            let mut after = held[pc];
            if let Some(lock) = taken(instr).filter(|l| is_lock[l.index()]) {
                after |= bit(lock);
            }
            if let Some(lock) = given_back(instr).filter(|l| is_lock[l.index()]) {
                after &= !bit(lock);
            }
            for next in instr.successors(Pc::new(pc)) {
                let next = &mut held[next.index().min(n - 1)];
                changed |= *next & after != *next;
                *next &= after;
            }
        }
    }
    held
}

fn bit(lock: LocId) -> u64 {
    1_u64.checked_shl(lock.0).unwrap_or(0)
}

/// The location that the instruction would take, if it is a lock.
fn taken(instr: &Instr) -> Option<LocId> {
    match instr {
        Instr::Bcas {
            place: Place::Loc(lock),
            expected,
            new,
            ..
        } if expected.as_const() == Some(0) && new.as_const() == Some(1) => Some(*lock),
        _ => None,
    }
}

/// The location that the instruction would give back, if it is a lock.
fn given_back(instr: &Instr) -> Option<LocId> {
    match instr {
        Instr::Store {
            place: Place::Loc(lock),
            value,
            ..
        } if value.as_const() == Some(0) => Some(*lock),
        _ => None,
    }
}
