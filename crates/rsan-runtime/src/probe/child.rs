//! What the program does in a child, step by step, until the answer is known.
//!
//! The child has one thread, which was handed an old value by an access. Its TLS word says [`tls::PROBING`], so that
//! every entry of the runtime ends up here instead of at the monitors. Nothing here takes a lock or allocates: other
//! threads may have held locks when the child was made, and nobody will give them back.

use super::answer::{Answer, Place};
use super::arrivals::{Arrivals, Point, mix, stack_pointer};
use super::process;
use super::question::{Again, Kind, Question};
use super::way::Way;
use super::writes::Writes;
use crate::finding::{Step, Unknown};
use crate::sched::reuse::copy;
use crate::thread;
use crate::tls;
use crate::upcall::answers;
use std::cell::UnsafeCell;

/// How often the child may sleep or yield.
const PAUSES: usize = 10_000;
/// How much of the stack, from its innermost frame on, is the state of the thread. Writes further out are like
/// writes to other memory.
const WINDOW: usize = 16 << 10;

#[derive(Debug)]
struct Child {
    question: Question,
    /// Where the answer goes; nowhere in the parent.
    place: Option<Place>,
    /// The thread's own memory.
    own: (usize, usize),
    arrivals: Arrivals,
    pauses: usize,
    writes: Writes,
    way: Way,
    /// The program has read the current value of the location.
    knows: bool,
    /// The program has acquired something since it was handed the old value.
    acquired: bool,
    /// It was then handed the old value by another access, which may be more than is possible.
    doubtful: bool,
    /// It was then handed it by the same access, of which the same is true.
    later: bool,
    /// What the program is about to do, as a number.
    operands: u64,
}

struct Global(UnsafeCell<Child>);

// SAFETY: used by the only thread of a child; in the parent it stays as it is here.
unsafe impl Sync for Global {}

static CHILD: Global = Global(UnsafeCell::new(Child {
    question: Question::NONE,
    place: None,
    own: (0, 0),
    arrivals: Arrivals::NONE,
    pauses: 0,
    writes: Writes::NONE,
    way: Way::NONE,
    knows: false,
    acquired: false,
    doubtful: false,
    later: false,
    operands: 0,
}));

/// Whether this is a child in which the program runs.
#[inline]
pub(crate) fn is_probing() -> bool {
    tls::context_word() == tls::PROBING
}

/// The runtime's own code runs in a child; what it does is not the program's.
struct Inside;

impl Inside {
    fn enter() -> Self {
        tls::set_context_word(tls::ABSENT);
        Self
    }

    fn child(&mut self) -> &mut Child {
        // SAFETY: the child has one thread, which is inside once.
        unsafe { &mut *CHILD.0.get() }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        tls::set_context_word(tls::PROBING);
    }
}

/// Sets the child up; when it returns, the program goes on with what it is handed.
pub(super) fn start(question: Question, place: Place, dead: Option<(usize, usize)>) {
    let ready = super::maps::protect(stack_pointer(), place.address());
    let own = match ready.and_then(|own| process::confine(dead.is_some()).map(|()| own)) {
        Ok((low, high)) => (low, high.min(stack_pointer() + WINDOW)),
        Err(unknown) => {
            place.set(Answer::Unknown(unknown));
            process::end();
        }
    };
    // SAFETY: the only thread, before it is inside.
    let child = unsafe { &mut *CHILD.0.get() };
    child.question = question;
    child.place = Some(place);
    child.own = own;
    child.knows = question.handed == question.current && question.is_reference;
    copy::begin(stack_pointer(), dead, place.touched());
    tls::set_context_word(tls::PROBING);
}

/// Sets a child of exact mode up; when it returns, the program goes on with what it is handed.
pub(super) fn start_exact(place: Place) {
    let ready = super::maps::protect(stack_pointer(), place.address());
    if let Err(unknown) = ready.and_then(|_| process::confine(false)) {
        place.set(Answer::Unknown(unknown));
        process::end();
    }
    copy::begin(stack_pointer(), None, place.touched());
    // SAFETY: the only thread, before it is inside.
    unsafe { (*CHILD.0.get()).place = Some(place) };
    tls::set_context_word(tls::PROBING);
}

/// The answer is known.
pub(super) fn conclude(answer: Answer) -> ! {
    // What is copied from now on is not the program's.
    tls::set_context_word(tls::ABSENT);
    super::weak::hand_over();
    // SAFETY: the only thread; it does not go on.
    let child = unsafe { &*CHILD.0.get() };
    let answer = match answer {
        Answer::Passes(_) | Answer::Retries { .. } if child.doubtful => Answer::Doubtful,
        Answer::Passes(step) if child.later => Answer::PassesLater(step),
        other => other,
    };
    if let Some(place) = child.place {
        place.set(answer);
    }
    process::end()
}

/// The program does something visible.
#[cold]
pub(crate) fn passes(step: Step) -> ! {
    super::weak::call();
    // SAFETY: the only thread; it does not go on.
    let child = unsafe { &*CHILD.0.get() };
    if let Some(place) = child.place {
        place.set_mark(child.mark(step));
    }
    conclude(Answer::Passes(step))
}

/// Notes where an atomic write goes, and what is written.
pub(super) fn about(address: usize, value: u128) {
    let words = [address as u64, value as u64, (value >> 64) as u64];
    Inside::enter().child().operands = words.into_iter().fold(0, mix);
}

answers! {
    "rsan_up_probe_calls" thread::probe_calls => calls;
}

/// The program calls a function of a library.
fn calls() -> ! {
    passes(Step::Call)
}

/// The same at a point that the program was noted to have come to.
pub(super) fn passes_at_point(step: Step) -> ! {
    conclude(Answer::Passes(step))
}

/// The program sleeps or yields.
pub(super) fn pause() {
    let mut inside = Inside::enter();
    let child = inside.child();
    child.pauses += 1;
    if child.pauses > PAUSES {
        conclude(Answer::Unknown(Unknown::Pauses));
    }
}

/// The program acquires something that others released: what it could read before, it may not be able to read now.
pub(super) fn acquire() {
    Inside::enter().child().acquired = true;
}

/// An access to a location, as the child sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// The location in question.
    Same,
    /// Another one.
    Other,
}

impl Child {
    /// A digest of a visible step: where it is, what it does, and what the program read and wrote before. 0 if that cannot be
    /// told.
    fn mark(&self, step: Step) -> u64 {
        match step {
            Step::Store | Step::Rmw | Step::Cas => {
                let place = (tls::caller() as u64).rotate_left(17) ^ self.operands;
                let before = self.writes.digest() ^ self.way.digest();
                place.wrapping_add(before).max(1)
            }
            _ => 0,
        }
    }

    /// Whether that is a part of the innermost stack.
    fn is_own(&self, address: usize, bytes: usize) -> bool {
        let (low, high) = self.own;
        low <= address && address + bytes <= high
    }

    fn target(&self, address: usize, bytes: usize) -> Target {
        let (asked, size) = (self.question.address, self.question.bytes);
        if (address, bytes) == (asked, size) {
            Target::Same
        } else if address < asked + size && asked < address + bytes {
            passes(Step::Mixed)
        } else {
            Target::Other
        }
    }

    /// Whether an access at `pc` that could read the old value is to be handed it.
    fn is_again(&mut self, pc: usize) -> bool {
        if self.knows {
            return false;
        }
        let same = pc == self.question.pc;
        match self.question.again {
            Again::Never => return false,
            Again::Here if !same => return false,
            Again::Here | Again::Everywhere => {}
        }
        // The current value is always within reach.
        let may_be_gone = self.acquired && self.question.handed != self.question.current;
        self.doubtful |= may_be_gone && !same;
        self.later |= may_be_gone && same;
        true
    }

    fn note_write(&mut self, address: usize, bytes: usize) {
        if self.knows {
            self.writes.renew(address, bytes);
            return;
        }
        // SAFETY: the program is about to write there.
        let noted = unsafe { self.writes.note(address, bytes) };
        if noted.is_none() {
            passes(Step::Write);
        }
    }

    /// A compare-and-swap expects the current value. If the program has come to where it would be, had it read that
    /// at once, it only retries.
    fn would_succeed(&self, cas: Cas) -> Answer {
        let question = self.question;
        let acquired = !question.acquires || self.knows || cas.acquires;
        let retries = if self.knows {
            self.writes.are_renewed()
        } else {
            // The old value is equal to the current one.
            question.handed == question.current && acquired
        };
        if retries {
            Answer::Retries { new: cas.new }
        } else {
            Answer::Passes(Step::Cas)
        }
    }
}

/// The location is about to be read again, at `pc`.
#[inline(never)]
fn arrive(pc: usize) {
    let point = Point::here(pc);
    // SAFETY: as in `Inside::child`; the caller's reference is not used in between.
    let child = unsafe { &mut *CHILD.0.get() };
    if child.writes.have_changed() {
        passes(Step::Write);
    }
    if let Some(answer) = child.arrivals.note(&point, child.own.1) {
        conclude(answer);
    }
}

/// A load; `memory` is what is there. Returns what the program gets.
pub(super) fn load(pc: usize, address: usize, bytes: usize, acquires: bool, memory: u128) -> u128 {
    let mut inside = Inside::enter();
    let child = inside.child();
    if child.target(address, bytes) == Target::Other {
        child.acquired |= acquires;
        return memory;
    }
    let (handed, current) = (child.question.handed, child.question.current);
    if child.is_again(pc) {
        arrive(pc);
        return handed;
    }
    if child.knows && pc == child.question.pc && child.writes.are_renewed() {
        conclude(Answer::Iterates);
    }
    current
}

/// A read-modify-write, which would leave the old value as it is or not; returns what the program gets.
pub(super) fn rmw(pc: usize, address: usize, bytes: usize, leaves: impl Fn(u128) -> bool) -> u128 {
    let mut inside = Inside::enter();
    let child = inside.child();
    let handed = child.question.handed;
    let silent = child.question.kind == Kind::Rmw && leaves(handed);
    if child.target(address, bytes) == Target::Same && silent && child.is_again(pc) {
        arrive(pc);
        return handed;
    }
    passes(Step::Rmw)
}

/// A store, which is made if this returns.
pub(super) fn store(address: usize, bytes: usize, releases: bool) {
    let mut inside = Inside::enter();
    let child = inside.child();
    if releases || child.target(address, bytes) == Target::Same {
        passes(Step::Store);
    }
    child.note_write(address, bytes);
}

/// The program calls a function that returns there.
pub(super) fn enter(returns_to: usize) {
    Inside::enter().child().way.enter(returns_to);
}

/// The program leaves a function.
pub(super) fn leave() {
    Inside::enter().child().way.leave();
}

/// A plain read.
pub(super) fn plain_read(address: usize, bytes: usize) {
    let mut inside = Inside::enter();
    let child = inside.child();
    if !child.is_own(address, bytes) {
        child.way.read(address, bytes);
    }
}

/// A plain write, which is made if this returns.
pub(super) fn plain_write(address: usize, bytes: usize) {
    let mut inside = Inside::enter();
    let child = inside.child();
    if child.is_own(address, bytes) {
        return;
    }
    if child.target(address, bytes) == Target::Same {
        passes(Step::Write);
    }
    child.note_write(address, bytes);
}

/// A compare-and-swap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cas {
    pub(super) pc: usize,
    pub(super) address: usize,
    pub(super) bytes: usize,
    pub(super) expected: u128,
    pub(super) new: u128,
    /// Whether it is seq_cst when it succeeds.
    pub(super) sc: bool,
    /// Whether it acquires when it succeeds.
    pub(super) acquires: bool,
    /// Whether it acquires when it fails.
    pub(super) failure_acquires: bool,
    /// What is there.
    pub(super) memory: u128,
}

/// A compare-and-swap that fails, if this returns; returns what the program gets.
pub(super) fn compare_exchange(cas: Cas) -> u128 {
    let mut inside = Inside::enter();
    let child = inside.child();
    let question = child.question;
    let expected = cas.expected;
    if child.target(cas.address, cas.bytes) == Target::Other {
        if cas.memory == expected {
            passes(Step::Cas);
        }
        child.acquired |= cas.failure_acquires;
        return cas.memory;
    }
    if question.kind == (Kind::Cas { expected }) && child.is_again(cas.pc) {
        arrive(cas.pc);
        return question.handed;
    }
    if expected == question.current {
        conclude(child.would_succeed(cas));
    }
    if !child.knows {
        if question.can_replace(expected, cas.sc) {
            passes(Step::StaleCas);
        }
        if question.acquires && !cas.failure_acquires {
            passes(Step::WeakFailure);
        }
        child.knows = true;
    }
    question.current
}
