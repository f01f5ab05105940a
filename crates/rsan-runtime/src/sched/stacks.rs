//! Frames of functions that have returned, and stacks of threads that have ended: nobody may use them.
//!
//! One thread runs at a time, and all others stand where they called the runtime. So what lies below the stack pointer of
//! that call is no frame of theirs, and of a thread that has ended nothing is. A thread's own accesses are not looked at.
//!
//! **Decides** for each access to the stack of another thread whether its memory is dead. Sound: a thread that is outside
//! the scheduler has no known stack pointer, stacks that the program itself made are left out, and who gets memory that was
//! a stack says so ([`forget`]). Not complete: memory of a function that has returned may be that of another call since.

use super::Inside;
use crate::finding::{Finding, Misuse, Side};
use crate::heap;
use crate::modules;
use crate::report;
use crate::shadow::Kind;
use crate::thread::Entered;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Threads whose stacks are known.
const THREADS: usize = 256;

/// How much of the first thread's stack is looked at. The system has nothing else there.
const FIRST: usize = 8 << 20;

/// The stack pointer of a thread that has ended.
const ENDED: usize = usize::MAX;

/// Bytes of its stack that the runtime uses before a thread comes to the program's code.
const USED: usize = 8 << 10;

/// Leaves nothing of the runtime below the caller's frame, on a stack with this lowest address. The state of a thread ([`super::spin`]) is all
/// of its frames, also what they do not write, and must not depend on numbers of processes or on the time.
pub(crate) fn wipe(lowest: usize) {
    let here = 0u8;
    // A program can give a thread a small stack.
    if &raw const here as usize > lowest.saturating_add(2 * USED) {
        wipe_below();
    }
}

/// The same on the stack of the calling thread, if it is known.
pub(super) fn wipe_own(thread: usize) {
    if let Some(stack) = STACKS.get(thread) {
        // ORDERING: relaxed, as in `add`.
        let (lowest, end) = (
            stack.lowest.load(Ordering::Relaxed),
            stack.end.load(Ordering::Relaxed),
        );
        if end != 0 {
            wipe(lowest);
        }
    }
}

#[inline(never)]
fn wipe_below() {
    let mut room = std::mem::MaybeUninit::<[u64; USED / 8]>::uninit();
    let first = room.as_mut_ptr().cast::<u64>();
    for index in 0..USED / 8 {
        // SAFETY: in the array.
        unsafe { first.add(index).write_volatile(0) };
    }
}

/// A stack. One thread runs at a time, so that no order is needed.
#[derive(Debug)]
struct Stack {
    /// Its lowest address, and its end; both 0 if it is not known.
    lowest: AtomicUsize,
    end: AtomicUsize,
    /// What lies below is dead. 0 while the thread is outside.
    pointer: AtomicUsize,
}

impl Stack {
    #[inline]
    fn contains(&self, address: usize) -> bool {
        // ORDERING: relaxed, as in `add`.
        let lowest = self.lowest.load(Ordering::Relaxed);
        // ORDERING: relaxed, as in `add`.
        (lowest..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}

static STACKS: [Stack; THREADS] = [const {
    Stack {
        lowest: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        pointer: AtomicUsize::new(0),
    }
}; THREADS];

/// How many of them there may be.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// All stacks are between these addresses.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static END: AtomicUsize = AtomicUsize::new(0);
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Nothing is known of stacks any more: the program changes between stacks that it made itself.
pub(crate) fn give_up() {
    // ORDERING: relaxed, as in `add`.
    GIVEN_UP.store(true, Ordering::Relaxed);
    LOWEST.store(usize::MAX, Ordering::Relaxed);
}

/// A thread with this stack begins. The thread that had it before is no more.
pub(crate) fn add(thread: usize, lowest: usize, end: usize) {
    forget(lowest, end);
    let Some(stack) = STACKS.get(thread) else {
        return;
    };
    // ORDERING: relaxed, as below.
    if GIVEN_UP.load(Ordering::Relaxed) {
        return;
    }
    // ORDERING: relaxed, like all accesses here: one thread runs at a time.
    stack.pointer.store(0, Ordering::Relaxed);
    stack.lowest.store(lowest, Ordering::Relaxed);
    stack.end.store(end, Ordering::Relaxed);
    COUNT.fetch_max(thread + 1, Ordering::Relaxed);
    LOWEST.fetch_min(lowest, Ordering::Relaxed);
    END.fetch_max(end, Ordering::Relaxed);
}

/// The first thread has its frames below an address.
pub(super) fn add_first(thread: usize, outermost: usize) {
    add(thread, outermost.saturating_sub(FIRST), outermost);
}

/// What was there is no stack any more: the memory belongs to somebody else.
pub(crate) fn forget(lowest: usize, end: usize) {
    // ORDERING: relaxed, as in `add`.
    if LOWEST.load(Ordering::Relaxed) >= end || END.load(Ordering::Relaxed) <= lowest {
        return;
    }
    for stack in &STACKS {
        // ORDERING: relaxed, as in `add`.
        let (from, to) = (
            stack.lowest.load(Ordering::Relaxed),
            stack.end.load(Ordering::Relaxed),
        );
        if from < end && lowest < to {
            // ORDERING: relaxed, as in `add`.
            stack.end.store(0, Ordering::Relaxed);
        }
    }
}

/// A thread stands where its stack pointer is this; 0: it does not.
#[inline]
pub(super) fn stand(thread: usize, pointer: usize) {
    if let Some(stack) = STACKS.get(thread) {
        // ORDERING: relaxed, as in `add`.
        stack.pointer.store(pointer, Ordering::Relaxed);
    }
}

/// A thread has ended.
pub(super) fn end(thread: usize) {
    stand(thread, ENDED);
}

/// The thread is about to access memory of somebody's stack, perhaps.
#[inline]
pub(crate) fn check(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    // ORDERING: relaxed, as in `add`.
    if (LOWEST.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)).contains(&address) {
        look(me, address, bytes, kind);
    }
}

/// The same for a scheduled atomic load, which may be one that need not be looked at otherwise.
pub(crate) fn check_load(address: usize, bytes: usize) {
    if let Some(mut inside) = Inside::enter() {
        check(&mut inside.entered, address, bytes, Kind::ATOMIC_READ);
    }
}

#[inline(never)]
fn look(me: &mut Entered, address: usize, bytes: usize, kind: Kind) {
    let number = me.state.id().index();
    if STACKS.get(number).is_some_and(|own| own.contains(address)) {
        return;
    }
    // ORDERING: relaxed, as in `add`.
    let known = &STACKS[..COUNT.load(Ordering::Relaxed)];
    let Some(stack) = known.iter().find(|stack| stack.contains(address)) else {
        return;
    };
    // ORDERING: relaxed, as in `add`.
    let pointer = stack.pointer.load(Ordering::Relaxed);
    // A thread that has changed to another stack may come back to all of this one.
    let ended = pointer == ENDED;
    if address < pointer && (ended || stack.contains(pointer)) {
        report(me, (address, bytes), kind, ended);
    }
}

#[cold]
fn report(me: &mut Entered, (address, bytes): (usize, usize), kind: Kind, ended: bool) {
    let is_block = heap::find(address).is_some_and(|block| block.freed.is_none());
    let is_variable = || modules::find_data(&modules::modules(), address).is_some();
    if !me.options.races || is_block || is_variable() {
        return;
    }
    let text = match ended {
        true => "comes after the end of the thread",
        false => "comes after the end of the function",
    };
    let finding = Finding::Misuse {
        what: Misuse::UseAfterReturn(text),
        address,
        bytes,
        access: Side::plain(Some(me.state.id()), kind.operation(), me.site()),
        earlier: None,
    };
    report::report(me, &finding);
}
