//! What the program does in a child, step by step, until the answer is known.
//!
//! The child has one thread, which was handed an old value by an access. Its TLS word says [`tls::PROBING`], so that
//! every entry of the runtime ends up here instead of at the monitors. Nothing here takes a lock or allocates: other
//! threads may have held locks when the child was made, and nobody will give them back.

use super::answer::{Answer, Place, Step, Unknown};
use super::process;
use crate::tls;
use std::arch::asm;
use std::cell::UnsafeCell;

/// How often the access is made again before that is taken for an answer.
const ARRIVALS: usize = 1000;
/// How often the child may sleep or yield.
const PAUSES: usize = 10_000;
/// Writes that are remembered.
const WRITES: usize = 64;
/// Old values that a compare-and-swap could replace.
pub(super) const REPLACEABLE: usize = 16;
/// How much of the stack, from its innermost frame on, is the state of the thread. Writes further out are like
/// writes to other memory.
const WINDOW: usize = 16 << 10;

/// What sort of access was handed the old value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A load.
    Load,
    /// A compare-and-swap, which failed; with what it compares.
    Cas { expected: u128 },
    /// A read-modify-write that wrote what it read.
    Rmw,
}

/// What a child is to find out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// Where the program makes the access.
    pub(super) pc: usize,
    /// The location.
    pub(super) address: usize,
    /// Its size.
    pub(super) bytes: usize,
    /// The sort of access.
    pub(super) kind: Kind,
    /// Whether the access acquires when it reads only.
    pub(super) acquires: bool,
    /// The old value.
    pub(super) stale: u128,
    /// The value that the access found.
    pub(super) current: u128,
    /// Old values that a compare-and-swap could replace.
    pub(super) replaceable: [Option<Replaceable>; REPLACEABLE],
}

/// An old value that a compare-and-swap could replace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Replaceable {
    pub(super) value: u128,
    /// Also by one that is seq_cst.
    pub(super) by_sc: bool,
}

impl Question {
    const NONE: Self = Self {
        pc: 0,
        address: 0,
        bytes: 0,
        kind: Kind::Load,
        acquires: false,
        stale: 0,
        current: 0,
        replaceable: [None; REPLACEABLE],
    };

    fn can_replace(&self, value: u128, sc: bool) -> bool {
        let mut known = self.replaceable.iter().flatten();
        known.any(|old| old.value == value && (old.by_sc || !sc))
    }
}

/// A write to memory that is not the innermost part of the stack.
#[derive(Clone, Copy, Debug)]
struct Write {
    address: usize,
    bytes: usize,
    /// What was there before.
    old: u128,
    /// Written again after the program learnt the current value.
    renewed: bool,
}

#[derive(Debug)]
struct Child {
    question: Question,
    /// Where the answer goes; nowhere in the parent.
    place: Option<Place>,
    /// The thread's own memory.
    own: (usize, usize),
    arrivals: usize,
    states: [u64; ARRIVALS],
    /// Where the stack ended at the first arrival.
    stack: usize,
    pauses: usize,
    writes: [Option<Write>; WRITES],
    /// The compare-and-swap that failed on the current value, by its place.
    learnt_at: Option<usize>,
}

struct Global(UnsafeCell<Child>);

// SAFETY: used by the only thread of a child; in the parent it stays as it is here.
unsafe impl Sync for Global {}

static CHILD: Global = Global(UnsafeCell::new(Child {
    question: Question::NONE,
    place: None,
    own: (0, 0),
    arrivals: 0,
    states: [0; ARRIVALS],
    stack: 0,
    pauses: 0,
    writes: [None; WRITES],
    learnt_at: None,
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

/// Sets the child up; when it returns, the program goes on with the old value.
pub(super) fn start(question: Question, place: Place) {
    let ready = super::maps::protect(stack_pointer(), place.address());
    let own = match ready.and_then(|own| process::confine().map(|()| own)) {
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
    tls::set_context_word(tls::PROBING);
}

/// The answer is known.
pub(super) fn conclude(answer: Answer) -> ! {
    // SAFETY: the only thread; it does not go on.
    if let Some(place) = unsafe { &*CHILD.0.get() }.place {
        place.set(answer);
    }
    process::end()
}

/// The program does something visible.
#[cold]
pub(crate) fn passes(step: Step) -> ! {
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

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Registers that a called function must preserve.
#[inline(always)]
fn preserved_registers() -> [u64; 6] {
    let mut all = [0; 6];
    // SAFETY: reads registers into memory that is valid.
    unsafe {
        asm!(
            "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12",
            "mov [{0} + 24], r13", "mov [{0} + 32], r14", "mov [{0} + 40], r15",
            in(reg) &raw mut all, options(nostack, preserves_flags),
        );
    }
    all
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

/// The access is about to be made again.
///
/// What the program will do depends on the stack from here on outwards, on the registers that calls preserve (they
/// are unchanged, or saved in that part of the stack), and on memory. The frames of the runtime itself lie there too;
/// what they hold depends on nothing else.
#[inline(never)]
fn arrive() {
    let registers = preserved_registers();
    record(stack_pointer(), &registers);
}

#[inline(never)]
fn record(stack: usize, registers: &[u64; 6]) {
    // SAFETY: as in `Inside::child`; `arrive` has no reference of its own.
    let child = unsafe { &mut *CHILD.0.get() };
    if child.writes.iter().flatten().any(Write::has_changed) {
        passes(Step::Write);
    }
    if child.arrivals > 0 && child.stack != stack {
        passes(Step::Recursion);
    }
    child.stack = stack;
    let state = registers.iter().fold(0, |hash, word| mix(hash, *word));
    let words = (stack..child.own.1 & !7).step_by(8);
    let state = words.fold(state, |hash, at| {
        // SAFETY: the thread's stack, which nobody writes now.
        mix(hash, unsafe { (at as *const u64).read_volatile() })
    });
    if child.states[..child.arrivals].contains(&state) {
        conclude(Answer::Iterates);
    }
    child.states[child.arrivals] = state;
    child.arrivals += 1;
    if child.arrivals == ARRIVALS {
        conclude(Answer::KeepsIterating);
    }
}

impl Write {
    fn covers(&self, address: usize, bytes: usize) -> bool {
        self.address <= address && address + bytes <= self.address + self.bytes
    }

    fn has_changed(&self) -> bool {
        // SAFETY: the program has written there.
        let now = unsafe { bits_at(self.address, self.bytes) };
        now != self.old
    }
}

/// Up to 16 bytes of memory as a number.
///
/// # Safety
/// They are readable.
unsafe fn bits_at(address: usize, bytes: usize) -> u128 {
    let byte = |i: usize| {
        // SAFETY: the caller's promise.
        u128::from(unsafe { ((address + i) as *const u8).read_volatile() })
    };
    (0..bytes).fold(0, |bits, i| bits | byte(i) << (8 * i))
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
    fn target(&self, address: usize, bytes: usize) -> Target {
        let Question {
            address: asked,
            bytes: size,
            ..
        } = self.question;
        if (address, bytes) == (asked, size) {
            Target::Same
        } else if address < asked + size && asked < address + bytes {
            passes(Step::Mixed)
        } else {
            Target::Other
        }
    }

    /// The program, not knowing the current value, made the access again.
    fn is_again(&self, pc: usize, kind: Kind) -> bool {
        self.learnt_at.is_none() && pc == self.question.pc && kind == self.question.kind
    }

    /// All that was written with the old value was written again with the current one.
    fn has_renewed_all(&self) -> bool {
        self.writes.iter().flatten().all(|write| write.renewed)
    }

    fn note_write(&mut self, address: usize, bytes: usize) {
        if self.learnt_at.is_some() {
            let new = Write {
                address,
                bytes,
                old: 0,
                renewed: true,
            };
            let renewed = |write: &&mut Write| new.covers(write.address, write.bytes);
            let writes = self.writes.iter_mut().flatten();
            writes
                .filter(renewed)
                .for_each(|write| write.renewed = true);
            return;
        }
        for at in (address..address + bytes).step_by(16) {
            let bytes = (address + bytes - at).min(16);
            let known = |write: &Write| write.covers(at, bytes);
            if self.writes.iter().flatten().any(known) {
                continue;
            }
            let Some(free) = self.writes.iter_mut().find(|write| write.is_none()) else {
                passes(Step::Write)
            };
            *free = Some(Write {
                address: at,
                bytes,
                // SAFETY: the program is about to write there.
                old: unsafe { bits_at(at, bytes) },
                renewed: false,
            });
        }
    }
}

/// A load; `memory` is what is there. Returns what the program gets.
pub(super) fn load(pc: usize, address: usize, bytes: usize, memory: u128) -> u128 {
    let mut inside = Inside::enter();
    let child = inside.child();
    let question = child.question;
    if child.target(address, bytes) == Target::Other {
        return memory;
    }
    if child.is_again(pc, Kind::Load) {
        arrive();
        return question.stale;
    }
    if child.learnt_at.is_some() && pc == question.pc && child.has_renewed_all() {
        conclude(Answer::Iterates);
    }
    question.current
}

/// A read-modify-write; returns what the program gets.
pub(super) fn rmw(pc: usize, address: usize, bytes: usize) -> u128 {
    let mut inside = Inside::enter();
    let child = inside.child();
    if child.target(address, bytes) == Target::Same && child.is_again(pc, Kind::Rmw) {
        arrive();
        return child.question.stale;
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

/// A plain write, which is made if this returns.
pub(super) fn plain_write(address: usize, bytes: usize) {
    let mut inside = Inside::enter();
    let child = inside.child();
    let (low, high) = child.own;
    if low <= address && address + bytes <= high {
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
        return cas.memory;
    }
    if child.is_again(cas.pc, Kind::Cas { expected }) {
        arrive();
        return question.stale;
    }
    if expected == question.current {
        conclude(child.would_succeed(cas));
    }
    if child.learnt_at.is_none() {
        if question.can_replace(expected, cas.sc) {
            passes(Step::StaleCas);
        }
        if question.acquires && !cas.failure_acquires {
            passes(Step::WeakFailure);
        }
        child.learnt_at = Some(cas.pc);
    }
    question.current
}

impl Child {
    /// A compare-and-swap expects the current value: is this where the program would be, had it read that at once?
    fn would_succeed(&self, cas: Cas) -> Answer {
        let question = self.question;
        let retries = match (self.learnt_at, question.kind) {
            (Some(failed), _) => failed == cas.pc && self.has_renewed_all(),
            // The old value is equal to the current one.
            (None, Kind::Load) => question.stale == question.current,
            (None, Kind::Cas { .. }) => question.pc == cas.pc && question.stale == question.current,
            (None, Kind::Rmw) => false,
        };
        let acquired = self.learnt_at.is_some() || !question.acquires || cas.acquires;
        if retries && acquired {
            Answer::Iterates
        } else {
            Answer::Passes(Step::Cas)
        }
    }
}
