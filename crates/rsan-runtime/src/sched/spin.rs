//! Loops that only wait.
//!
//! A thread that comes to an atomic read with the same arguments, registers and stack as at an earlier visit, and has
//! written nothing in between, does forever what it did since then, unless one of the words it has read in the loop
//! changes. So it need not run until then: nobody is starved by a busy wait, a run in which everybody waits is known as
//! such, and an exhaustive search need not count how often a loop went round.
//!
//! A read-modify-write that finds what it writes (as of a lock that is taken) changes nothing, and counts as a read. Words of
//! the stack that other threads write are not the thread's state, but memory ([`super::borrowed`]).
//!
//! Failed spin iterations are marked in the trace, and make no difference between executions. When all executions are explored
//! ([`Strategy::goes_round`](rsan_schedule::Strategy::goes_round)), a thread whose spin iteration failed stays there for the rest
//! of the run: what it did depends only on what it has read then, and not on when others changed it.
//! [`rsan_schedule::explore`] says why that is enough.
//!
//! A round in which a weak compare-and-swap has failed for no reason may also write what is there already (docs/theory/sc-runs.md, S12): then what the
//! thread has written since it last did anything else that others can see is part of its state.
//!
//! **Assumes** that functions without instrumentation that are called in such a loop keep no state. Therefore a
//! deadlock of such loops is only believed after they have gone round some more ([`super::stuck`]). A loop that counts
//! its rounds is not recognised: its thread lets others go on when it has made very many steps.

use super::atomics::Registers;
use super::borrowed::Borrowed;
use crate::allocator;
use crate::thread::accessed::Accessed;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Visits that are remembered: reads in one round of a loop.
const VISITS: usize = 16;
/// A stack that is larger is not looked at.
const STACK: usize = 64 << 10;

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
    /// It could have read a later write.
    stale: bool,
    /// What was in the memory that the thread had accessed.
    memory: u64,
    /// It is a weak compare-and-swap that has failed for no reason.
    failed: bool,
}

impl Visit {
    fn new(state: u64, address: usize, bytes: usize) -> Self {
        Self {
            state,
            memory: 0,
            failed: false,
            address,
            bytes,
            step: 0,
            changed: false,
            stale: false,
        }
    }
}

/// What a thread has read since it last wrote something.
#[derive(Debug)]
pub(super) struct Loop {
    visits: Vec<Visit>,
    /// Where the thread's stack begins.
    outermost: usize,
    /// The state in which it came to its last read, if that is known.
    last: Option<u64>,
    /// Words of the stack that others write.
    borrowed: Borrowed,
    /// The thread makes weak compare-and-swaps.
    is_weak: bool,
    /// What the thread has accessed plainly, or stored to relaxed, since it last did anything else that others can see but reading.
    accessed: Accessed,
    /// Where stores are in the trace that have written what was there since the first visit.
    rewrites: Vec<usize>,
}

/// What a thread does when it comes to a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// It goes on.
    Fresh,
    /// It has been here in the same state, and its spin iteration failed.
    InVain,
}

/// The lowest and the highest address of the stacks that are looked at.
static STACKS: [AtomicUsize; 2] = [AtomicUsize::new(usize::MAX), AtomicUsize::new(0)];

/// Whether these bytes may be on a stack that is looked at.
pub(super) fn may_be_on_a_stack(address: usize, bytes: usize) -> bool {
    // ORDERING: relaxed; one thread runs at a time.
    let [lowest, highest] = STACKS.each_ref().map(|end| end.load(Ordering::Relaxed));
    address < highest && address.saturating_add(bytes) > lowest
}

impl Loop {
    /// Of a thread whose stack begins there.
    pub(super) fn below(outermost: usize) -> Self {
        Self {
            outermost,
            visits: Vec::new(),
            last: None,
            borrowed: Borrowed::default(),
            is_weak: false,
            accessed: Accessed::NONE,
            rewrites: Vec::new(),
        }
    }

    /// Where the thread's stack begins.
    pub(super) fn outermost(&self) -> usize {
        self.outermost
    }

    /// The thread's stack begins here.
    pub(super) fn begin(&mut self, outermost: usize) {
        self.outermost = outermost;
        // ORDERING: relaxed; one thread runs at a time.
        STACKS[0].fetch_min(outermost.saturating_sub(STACK), Ordering::Relaxed);
        STACKS[1].fetch_max(outermost, Ordering::Relaxed);
    }

    /// The thread has written something, or done something else that is no read.
    pub(super) fn reset(&mut self) {
        self.forget();
        self.accessed.clear();
    }

    /// The visits do not count any more.
    fn forget(&mut self) {
        self.visits.clear();
        self.rewrites.clear();
    }

    /// The thread has accessed this since it last came to a read. If it has failed for no reason, it may have written what was there.
    pub(super) fn accessed(&mut self, later: &Accessed, writes: bool) {
        self.accessed.add(later);
        let is_known = self.accessed.is_known();
        if writes && !(self.has_failed() && is_known) || self.has_failed() && !is_known {
            self.forget();
        }
    }

    /// The thread makes a fence: others may know what it did before, and not what it does behind.
    pub(super) fn fences(&mut self) {
        self.accessed.lose();
    }

    /// The thread makes a weak compare-and-swap, which fails for no reason, or not.
    pub(super) fn compares_weakly(&mut self, fails: bool) {
        self.is_weak = true;
        if let Some(visit) = self.visits.last_mut() {
            visit.failed = fails;
        }
    }

    /// Whether the thread has failed for no reason in the loop.
    pub(super) fn has_failed(&self) -> bool {
        self.visits.iter().any(|visit| visit.failed)
    }

    /// Whether it has, and may write what is there.
    pub(super) fn may_rewrite(&self) -> bool {
        self.has_failed() && self.accessed.is_known()
    }

    /// The thread has written what was there, as this step.
    pub(super) fn rewrites_in(&mut self, step: usize) {
        self.rewrites.push(step);
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
            .for_each(|visit| (visit.changed, visit.stale) = (false, false));
    }

    /// The thread makes the read that it came for last, as this step.
    pub(super) fn reads_in(&mut self, step: usize) {
        if let Some(visit) = self.visits.last_mut() {
            (visit.step, visit.changed) = (step, false);
        }
    }

    /// The read that the thread came for last could have read a later write, or not.
    pub(super) fn reads_stale(&mut self, stale: bool) {
        if let Some(visit) = self.visits.last_mut() {
            visit.stale = stale;
        }
    }

    /// Whether a read could have read a later write.
    pub(super) fn has_stale(&self) -> bool {
        self.visits.iter().any(|visit| visit.stale)
    }

    /// The steps of the failed spin iteration.
    pub(super) fn round(&self) -> Vec<usize> {
        let reads = self.visits.iter().map(|visit| visit.step);
        let first = self.visits.first().map_or(usize::MAX, |visit| visit.step);
        let rewrites = self.rewrites.iter().filter(|step| **step > first);
        reads.chain(rewrites.copied()).collect()
    }

    /// The thread is to try again, though nothing changed.
    pub(super) fn retry(&mut self) {
        self.forget();
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

    /// Another thread has written these bytes atomically.
    pub(super) fn overwritten(&mut self, address: usize, bytes: usize) {
        if self.is_weak && self.accessed.has_written(address, bytes) {
            self.accessed.lose();
        }
    }

    /// Another thread is about to write these bytes. Whether some of them may be on this thread's stack.
    pub(super) fn lends(&mut self, address: usize, bytes: usize) -> bool {
        let stack = (self.outermost.saturating_sub(STACK), self.outermost);
        let touches = address < stack.1 && address.saturating_add(bytes) > stack.0;
        if touches {
            let words = (address, bytes);
            self.borrowed.about_to_write(words, stack, word);
        }
        touches
    }

    /// The other threads have written what they were about to write.
    pub(super) fn has_lent(&mut self) {
        self.borrowed.settle(word);
    }

    /// The thread is about to write on its stack.
    pub(super) fn takes_back(&mut self, address: usize, bytes: usize) {
        if self.borrowed.take_back(address, bytes) {
            self.forget();
        }
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
        self.last = self.state(registers);
        let Some(state) = self.last else {
            self.forget();
            return Arrival::Fresh;
        };
        let memory = match self.is_weak {
            // SAFETY: one thread runs at a time, and what gives memory back says so.
            true => unsafe { self.accessed.digest() },
            false => 0,
        };
        let same = |visit: &Visit| visit.state == state && visit.memory == memory;
        if let Some(start) = self.visits.iter().position(same) {
            self.visits.drain(..start);
            return Arrival::InVain;
        }
        if self.visits.len() == VISITS {
            self.forget();
        }
        self.visits.push(Visit {
            memory,
            ..Visit::new(state, address, bytes)
        });
        Arrival::Fresh
    }

    /// The state in which the thread came to its last read, with what else there is to say of that; 0 if it is not known. What others have
    /// written on its stack is not in it.
    pub(super) fn came_in(&self, more: &[u64]) -> u64 {
        let last = self.last.filter(|_| self.borrowed.is_empty());
        let all = last.map(|state| {
            let mut hash = Hash::from(state);
            more.iter().for_each(|word| hash.add(*word));
            hash.value
        });
        all.unwrap_or(0)
    }

    /// Arguments, registers and stack as a number.
    fn state(&mut self, registers: &Registers) -> Option<u64> {
        let (here, stack) = (0u8, registers.stack());
        // Another thread may have filled the registers in, if this one came back from outside.
        let own = &raw const here as usize..self.outermost;
        if !own.contains(&stack) || self.outermost - stack > STACK {
            return None;
        }
        if self.borrowed.refresh(stack, word) {
            self.forget();
        }
        let mut hash = Hash::from(0x9e37_79b9_7f4a_7c15);
        registers.words().iter().for_each(|word| hash.add(*word));
        let frames = stack..self.outermost;
        match self.borrowed.is_empty() {
            true => hash.add_all(frames, word),
            false => hash.add_all(frames, |at| {
                self.borrowed.own(at).unwrap_or_else(|| word(at))
            }),
        }
        Some(hash.value)
    }
}

/// A word of a thread's stack.
fn word(at: usize) -> u64 {
    // SAFETY: between the stack pointer of the thread and its outermost frame, all of which is mapped, or where a
    // thread is about to write; the pointer is aligned.
    unsafe { (at as *const u64).read_volatile() }
}

struct Hash {
    value: u64,
    /// Memory of the runtime's. The program has no pointer to it: such a word is a register of the runtime's that a frame has saved, and
    /// depends on which runs the process has made before.
    private: Range<usize>,
}

impl Hash {
    fn from(value: u64) -> Self {
        Self {
            value,
            private: allocator::private(),
        }
    }

    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.value = self.mixed(self.value, word);
    }

    #[inline(always)]
    fn mixed(&self, value: u64, word: u64) -> u64 {
        let word = match self.private.contains(&(word as usize)) {
            true => 0,
            false => word,
        };
        (value.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
    }

    /// The words of a stack. Each of a few numbers gets every so manieth of them: the processor does not wait for one product to begin the next.
    #[inline(always)]
    fn add_all(&mut self, frames: Range<usize>, read: impl Fn(usize) -> u64) {
        const LANES: usize = 4;
        const WORD: usize = size_of::<u64>();
        let mut lanes = [self.value; LANES];
        let mut at = frames.start;
        while at + LANES * WORD <= frames.end {
            for (index, lane) in lanes.iter_mut().enumerate() {
                *lane = self.mixed(*lane, read(at + index * WORD));
            }
            at += LANES * WORD;
        }
        for at in (at..frames.end).step_by(WORD) {
            self.add(read(at));
        }
        for lane in lanes {
            self.value = (self.value.rotate_left(5) ^ lane).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
}
