//! What the program does in a child, in exact mode: a thread that goes on alone and reads whatever C++20 lets it read.
//!
//! See [`super::exact`] for what is decided. As in [`super::child`], every entry of the runtime ends up here, and the child has
//! one thread. It has the state of locations, too, as other threads are not inside the runtime under controlled scheduling.

use super::answer::Answer;
use super::arrivals::Point;
use super::child;
use super::exact::{Role, Trial};
use super::trace::{Digest, Event, Sort};
use super::writes::Writes;
use crate::entry::REGISTERS;
use crate::finding::{Step, Unknown};
use crate::location::messages;
use crate::location::{Location, Locked};
use crate::options::Approximation;
use crate::shadow::Granule;
use crate::tls;
use crate::word::{fold, operands_of};
use rsan_clocks::Timestamp;
use rsan_clocks::write_log::{Rules, Stamp, Taken};
use rsan_model::{CasStrength, FenceOrd, ReadOrd, RmwOrd};
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering;

struct Global(UnsafeCell<Option<Box<Trial>>>);

// SAFETY: written by the one thread that runs under controlled scheduling, and then by the only thread of a child.
unsafe impl Sync for Global {}

static TRIAL: Global = Global(UnsafeCell::new(None));

/// What the next child is to do. To be called before it is made, by the one thread that runs.
pub(super) fn prepare(trial: Option<Box<Trial>>) {
    // SAFETY: one thread runs, as exact mode is for schedules that are ours.
    unsafe { *TRIAL.0.get() = trial };
}

/// The trial, in a child that makes one.
fn trial() -> Option<&'static mut Trial> {
    if !child::is_probing() && tls::context_word() != tls::ABSENT {
        return None;
    }
    // SAFETY: the child has one thread, and every entry asks once.
    unsafe { (*TRIAL.0.get()).as_deref_mut() }
}

/// The runtime's own code runs; what it does is not the program's.
pub(super) struct Inside(pub(super) &'static mut Trial);

impl Inside {
    pub(super) fn enter() -> Option<Self> {
        if !child::is_probing() {
            return None;
        }
        let trial = trial()?;
        tls::set_context_word(tls::ABSENT);
        Some(Self(trial))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        tls::set_context_word(tls::PROBING);
    }
}

/// Whether this is a child that makes a trial.
pub(super) fn is_on() -> bool {
    child::is_probing() && trial().is_some()
}

/// The answer is known, if this is a trial: what it found out is handed over with it.
pub(super) fn hand_over() {
    if let Some(trial) = trial() {
        trial.hand_over();
    }
}

/// What the program is about to do, for the digest of its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(super) enum Deed {
    Load = 1,
    Store,
    Rmw,
    Cas,
    Fence,
    Plain,
    Exit,
}

/// Registers that calls preserve, and the stack pointer, where the program called.
fn registers() -> [u64; 7] {
    let mut words = [0; 7];
    for (word, register) in words.iter_mut().zip(&REGISTERS) {
        // ORDERING: relaxed; the only thread has written them.
        *word = register.load(Ordering::Relaxed);
    }
    words
}

/// A digest of the state of the program: what it is about to do and where, its registers, and its stack up to `end`.
pub(super) fn state(
    (deed, operands): (Deed, [u64; 3]),
    pc: usize,
    registers: &[u64; 7],
    end: usize,
) -> u64 {
    let mut digest = Digest::new();
    let head = [deed as u64, pc as u64];
    let words = head.iter().chain(&operands).chain(registers);
    words.for_each(|word| digest.add(*word));
    for at in (registers[6] as usize & !7..end & !7).step_by(8) {
        // SAFETY: the thread's stack, from where the program is outwards.
        digest.add(unsafe { (at as *const u64).read_volatile() });
    }
    digest.end()
}

/// The same with what was written to other memory.
pub(super) fn with_memory(state: u64, writes: &Writes) -> u64 {
    let mut all = Digest::new();
    all.add(state);
    all.add(writes.digest());
    all.end()
}

impl Trial {
    /// The program comes to a point.
    pub(super) fn arrive(&mut self, deed: (Deed, [u64; 3]), pc: usize) {
        self.pc = pc;
        self.arrive_in(state(deed, pc, &registers(), self.stack_end));
    }

    /// The same, given the state but for memory.
    fn arrive_in(&mut self, state: u64) {
        let state = with_memory(state, &self.writes);
        let anywhere = self.breaks == Some(Approximation::Places);
        if self.role == Role::Stale && self.own.follows(&self.reference, state, anywhere) {
            child::conclude(Answer::Iterates);
        }
        if let Some(earlier) = self.own.find(state) {
            let after = earlier.choices as u32;
            child::conclude(Answer::Circles { after });
        }
        if self.own.arrive(state, self.chosen).is_none() {
            child::conclude(Answer::KeepsIterating);
        }
    }

    fn push(&mut self, event: Event) {
        if self.own.push(event).is_none() {
            child::conclude(Answer::KeepsIterating);
        }
    }

    /// One of so many ways to go on; the first if nothing else is wanted.
    fn choose(&mut self, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let Some(place) = self.options.get_mut(self.chosen) else {
            child::conclude(Answer::KeepsIterating);
        };
        *place = options.min(255) as u8;
        if options > 255 {
            child::conclude(Answer::KeepsIterating);
        }
        let wanted = self.wanted.get(self.chosen).copied().unwrap_or(0);
        self.chosen += 1;
        usize::from(wanted)
    }

    /// The thread reads a write: the last, or another one.
    pub(super) fn takes(&mut self, (sort, at): (Sort, usize), write: Option<Choice>, ord: ReadOrd) {
        if let Some(choice) = write {
            let taken = Taken {
                write: choice.write,
                message: None,
                is_old: choice.is_old,
                is_free_of_sc: choice.is_free_of_sc,
            };
            match choice.by {
                None => self.ahead.read(at, taken, ord),
                Some(by) => messages::with(at, (choice.write, by), |message| {
                    self.complete &= message.is_some();
                    self.ahead.read(at, Taken { message, ..taken }, ord);
                }),
            }
        }
        let is_old = write.is_some_and(|choice| choice.is_old);
        self.push(Event {
            sort,
            pc: self.pc,
            address: at,
            strength: ord as u8,
            is_old,
        });
    }

    /// One of the writes of a location that a read may take; the value that it has.
    fn takes_one_of(
        &mut self,
        (sort, at): (Sort, usize),
        location: &Location,
        options: &[(Timestamp, u128)],
        ord: ReadOrd,
    ) -> u128 {
        let (write, value) = options[self.choose(options.len())];
        let choice = Choice {
            write,
            by: location.writer(write),
            is_old: write != location.last_write(),
            is_free_of_sc: location.is_free_of_sc(),
        };
        self.takes((sort, at), Some(choice), ord);
        value
    }

    /// The writes of a location that a read may take, newest first, each with its value; none if only memory is known.
    fn reachable(&self, location: &Location, ord: ReadOrd) -> Vec<(Timestamp, u128)> {
        let oldest = location.reach(&self.ahead, ord);
        let last = location.last_write();
        let writes = (oldest.0..=last.0).rev().map(Timestamp);
        let mut all = Vec::new();
        for write in writes {
            match location.logged(write).value {
                Some(value) => all.push((write, value)),
                None => child::conclude(Answer::Unknown(Unknown::NoValue)),
            }
        }
        all
    }
}

/// A write that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) write: Timestamp,
    /// Whose it is, unless it is the initial one.
    pub(super) by: Option<Stamp>,
    /// It is not the last.
    pub(super) is_old: bool,
    /// Its location knows of no seq_cst event.
    pub(super) is_free_of_sc: bool,
}

/// Runs something on the location of an access, if it is known as such.
fn at_location<R>(address: usize, bytes: usize, act: impl FnOnce(Option<&mut Location>) -> R) -> R {
    let locked = Granule::existing(address).and_then(Locked::existing);
    let Some(mut locked) = locked else {
        return act(None);
    };
    let mut found = locked.overlapping(address, address + bytes);
    match (found.next(), found.next()) {
        (None, _) => {
            drop(found);
            act(None)
        }
        (Some(location), None) if location.is_at(address, bytes) => act(Some(location)),
        _ => child::passes(Step::Mixed),
    }
}

/// A load; `memory` is what is there. Returns what the program gets.
pub(super) fn load(address: usize, bytes: usize, ord: ReadOrd, memory: u128) -> Option<u128> {
    let inside = Inside::enter()?;
    let trial = &mut *inside.0;
    trial.arrive(
        (Deed::Load, [address as u64, bytes as u64, 0]),
        tls::caller(),
    );
    trial.looks_at(address, bytes);
    if trial.role == Role::Reference {
        trial.takes((Sort::Load, address), None, ord);
        return Some(memory);
    }
    Some(at_location(address, bytes, |location| {
        let Some(location) = location else {
            trial.takes((Sort::Load, address), None, ord);
            return memory;
        };
        let mut options = trial.reachable(location, ord);
        if trial.breaks == Some(Approximation::Words) && address != trial.word {
            options.truncate(1);
        }
        trial.takes_one_of((Sort::Load, address), location, &options, ord)
    }))
}

/// A read-modify-write; `next` is what it makes of a value. Returns what the program gets if it goes on.
pub(super) fn rmw(
    (address, bytes): (usize, usize),
    ord: RmwOrd,
    next: impl Fn(u128) -> u128,
    memory: u128,
) -> Option<u128> {
    let inside = Inside::enter()?;
    let trial = &mut *inside.0;
    let [first, second] = operands_of(&next);
    trial.arrive((Deed::Rmw, [address as u64, first, second]), tls::caller());
    trial.looks_at(address, bytes);
    let reads = ord.read();
    let leaves = |value| next(value) == value;
    if trial.role == Role::Reference {
        if !leaves(memory) {
            child::passes_at_point(Step::Rmw);
        }
        trial.takes((Sort::Rmw, address), None, reads);
        return Some(memory);
    }
    Some(at_location(address, bytes, |location| {
        let Some(location) = location else {
            if !leaves(memory) {
                child::passes_at_point(Step::Rmw);
            }
            trial.takes((Sort::Rmw, address), None, reads);
            return memory;
        };
        let last = location.last_write();
        let mut options = trial.reachable(location, reads);
        options.retain(|&(write, _)| write == last || !location.is_followed_by_rmw(write));
        if let Some(&(write, _)) = options.iter().find(|&&(_, value)| !leaves(value)) {
            if write == last || location.is_certain(&trial.ahead, write, reads) {
                child::passes_at_point(Step::Rmw);
            }
            trial.is_unclear = true;
            options.retain(|&(_, value)| leaves(value));
        }
        trial.takes_one_of((Sort::Rmw, address), location, &options, reads)
    }))
}

/// A compare-and-swap as a child sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cas {
    pub(super) address: usize,
    pub(super) bytes: usize,
    pub(super) expected: u128,
    pub(super) new: u128,
    pub(super) success: RmwOrd,
    pub(super) failure: ReadOrd,
    pub(super) strength: CasStrength,
    /// What is there.
    pub(super) memory: u128,
}

/// A compare-and-swap that fails, if this returns; returns what the program gets.
pub(super) fn compare_exchange(cas: Cas) -> Option<u128> {
    let inside = Inside::enter()?;
    let trial = &mut *inside.0;
    let (address, bytes, expected) = (cas.address, cas.bytes, cas.expected);
    let operands = [address as u64, fold(expected), fold(cas.new)];
    trial.arrive((Deed::Cas, operands), tls::caller());
    trial.looks_at(address, bytes);
    if trial.role == Role::Reference {
        if cas.memory == expected {
            child::passes_at_point(Step::Cas);
        }
        trial.takes((Sort::Failure, address), None, cas.failure);
        return Some(cas.memory);
    }
    Some(at_location(address, bytes, |location| {
        let Some(location) = location else {
            if cas.memory == expected {
                child::passes_at_point(Step::Cas);
            }
            trial.takes((Sort::Failure, address), None, cas.failure);
            return cas.memory;
        };
        let last = location.last_write();
        let succeeds = |&(write, value): &(Timestamp, u128)| {
            value == expected && (write == last || !location.is_followed_by_rmw(write))
        };
        let read = cas.success.read();
        let successes = trial.reachable(location, read);
        if let Some((write, _)) = successes.iter().find(|option| succeeds(option)) {
            if *write == last {
                child::passes_at_point(Step::Cas);
            }
            if location.is_certain(&trial.ahead, *write, read) {
                child::passes_at_point(Step::StaleCas);
            }
            trial.is_unclear = true;
        }
        let mut options = trial.reachable(location, cas.failure);
        options.retain(|(_, value)| *value != expected || cas.strength == CasStrength::Weak);
        if options.is_empty() {
            // It can neither succeed nor fail: there is no such execution.
            child::conclude(Answer::Iterates);
        }
        trial.takes_one_of((Sort::Failure, address), location, &options, cas.failure)
    }))
}

/// A store. Whether this is a trial, which ends here.
pub(super) fn store(address: usize, value: u128) {
    let Some(inside) = Inside::enter() else {
        return;
    };
    let operands = [address as u64, value as u64, (value >> 64) as u64];
    inside.0.arrive((Deed::Store, operands), tls::caller());
    child::passes_at_point(Step::Store);
}

/// A fence. Whether this is a trial.
pub(super) fn fence(ord: FenceOrd) -> bool {
    let Some(inside) = Inside::enter() else {
        return false;
    };
    let trial = &mut *inside.0;
    trial.arrive((Deed::Fence, [ord as u64, 0, 0]), tls::caller());
    trial.ahead.fence(ord, Rules::c20());
    trial.push(Event {
        sort: Sort::Fence,
        pc: trial.pc,
        strength: ord as u8,
        ..Event::default()
    });
    true
}

/// The program calls something that is visible, if this is a trial.
#[inline(never)]
pub(super) fn call() {
    let point = Point::here(tls::caller());
    if let Some(inside) = Inside::enter() {
        let state = point.state(inside.0.stack_end);
        inside.0.arrive_in(state);
    }
}
