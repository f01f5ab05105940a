//! Loops that only wait.
//!
//! A thread that comes to an atomic read with the same arguments, registers and stack as at an earlier visit, and has
//! written nothing in between, does forever what it did since then, unless one of the words it has read in the loop
//! changes. So it need not run until then: nobody is starved by a busy wait, a run in which everybody waits is known as
//! such, and an exhaustive search need not count how often a loop went round.
//!
//! A read-modify-write that finds what it writes (as of a lock that is taken) changes nothing, and counts as a read.
//!
//! Rounds in vain are marked in the trace, and make no difference between executions. When all executions are explored
//! ([`Strategy::goes_round`](rsan_schedule::Strategy::goes_round)), a thread whose round was in vain stays there for the rest
//! of the run: what it did depends only on what it has read then, and not on when others changed it.
//! [`rsan_schedule::explore`] says why that is enough.
//!
//! **Assumes** that functions without instrumentation that are called in such a loop keep no state. Therefore a
//! deadlock of such loops is only believed after they have gone round some more ([`super::stuck`]). A loop that counts
//! its rounds is not recognised; it yields every now and then.

use super::atomics::Registers;

/// Visits that are remembered: reads in one round of a loop.
const VISITS: usize = 16;
/// A stack that is larger is not looked at.
const STACK: usize = 64 << 10;
/// Reads without a write after which a thread lets others go first.
const PATIENCE: u32 = 64;

#[derive(Clone, Copy, Debug)]
struct Visit {
    /// Arguments, registers and stack.
    state: u64,
    address: usize,
    bytes: usize,
    /// Where the read is in the trace.
    step: usize,
    /// The word has been written since.
    changed: bool,
}

impl Visit {
    fn new(state: u64, address: usize, bytes: usize) -> Self {
        Self {
            state,
            address,
            bytes,
            step: 0,
            changed: false,
        }
    }
}

/// What a thread has read since it last wrote something.
#[derive(Debug, Default)]
pub(super) struct Loop {
    visits: Vec<Visit>,
    reads: u32,
    /// Where the thread's stack begins.
    pub(super) outermost: usize,
}

/// What a thread does when it comes to a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// It goes on.
    Fresh,
    /// It has been reading for long; others should go first.
    Tired,
    /// It has been here in the same state, and its round was in vain.
    InVain,
}

impl Loop {
    /// Of a thread whose stack begins there.
    pub(super) fn below(outermost: usize) -> Self {
        Self {
            outermost,
            ..Self::default()
        }
    }

    /// The thread has written something, or done something else that is no read.
    pub(super) fn reset(&mut self) {
        self.visits.clear();
        self.reads = 0;
    }

    /// The thread waits for a word, and for nothing else.
    pub(super) fn wait_for(&mut self, address: usize, bytes: usize) {
        self.reset();
        self.visits.push(Visit::new(0, address, bytes));
    }

    /// The thread goes round again, with the first of the visits in the loop.
    pub(super) fn go_on(&mut self) {
        self.visits.truncate(1);
        self.visits
            .iter_mut()
            .for_each(|visit| visit.changed = false);
    }

    /// The thread makes the read that it came for last, as this step.
    pub(super) fn reads_in(&mut self, step: usize) {
        if let Some(visit) = self.visits.last_mut() {
            (visit.step, visit.changed) = (step, false);
        }
    }

    /// The steps of the round that was in vain.
    pub(super) fn round(&self) -> impl ExactSizeIterator<Item = usize> {
        self.visits.iter().map(|visit| visit.step)
    }

    /// The thread is to try again, though nothing changed.
    pub(super) fn retry(&mut self) {
        self.visits.clear();
    }

    /// These bytes are written. Whether the thread has read one of them.
    pub(super) fn written(&mut self, address: usize, bytes: usize) -> bool {
        let overlaps = |visit: &&mut Visit| {
            address < visit.address + visit.bytes && visit.address < address + bytes
        };
        let mut any = false;
        for visit in self.visits.iter_mut().filter(overlaps) {
            (visit.changed, any) = (true, true);
        }
        any
    }

    /// Whether a word that the thread has read has been written since.
    pub(super) fn has_changed(&self) -> bool {
        self.visits.iter().any(|visit| visit.changed)
    }

    /// The thread is about to read.
    pub(super) fn arrive(
        &mut self,
        registers: &Registers,
        address: usize,
        bytes: usize,
    ) -> Arrival {
        self.reads += 1;
        let Some(state) = self.state(registers) else {
            self.visits.clear();
            return self.tired();
        };
        if let Some(start) = self.visits.iter().position(|visit| visit.state == state) {
            self.visits.drain(..start);
            return Arrival::InVain;
        }
        if self.visits.len() == VISITS {
            self.visits.clear();
        }
        self.visits.push(Visit::new(state, address, bytes));
        self.tired()
    }

    fn tired(&self) -> Arrival {
        if self.reads.is_multiple_of(PATIENCE) {
            Arrival::Tired
        } else {
            Arrival::Fresh
        }
    }

    /// Arguments, registers and stack as a number.
    pub(super) fn state(&self, registers: &Registers) -> Option<u64> {
        let (here, stack) = (0u8, registers.stack());
        // Another thread may have filled the registers in, if this one came back from outside.
        let own = &raw const here as usize..self.outermost;
        if !own.contains(&stack) || self.outermost - stack > STACK {
            return None;
        }
        let mut hash = Hash(0x9e37_79b9_7f4a_7c15);
        registers.words().iter().for_each(|word| hash.add(*word));
        for at in (stack..self.outermost).step_by(size_of::<u64>()) {
            // SAFETY: between the stack pointer of the calling thread and its outermost frame, all of which is mapped;
            // the pointer is aligned as the ABI has it.
            hash.add(unsafe { (at as *const u64).read_volatile() });
        }
        Some(hash.0)
    }
}

struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}
