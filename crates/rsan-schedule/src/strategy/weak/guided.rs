//! `guided`: sequentially consistent up to a read that need not be, then weak.
//!
//! An execution that is not sequentially consistent has a first step that leaves sequential consistency, and up to there it is an
//! interleaving of its threads. So a run samples interleavings ([`super::walk`]), and reads the last write, until a load can read one that
//! leaves sequential consistency. There it decides whether this is the step. Nothing is spent on stale values that an
//! interleaving explains: another schedule shows the same.
//!
//! A campaign gives every place of that step its share. It tells where earlier runs left sequential consistency ([`Aim::known`]),
//! and a run leaves it at once at any other place, so that those come first. It names one of the known places
//! ([`Aim::target`]), each in turn; some runs make for it and pass others over, so that places late in the program have their share.
//! The rest take the first place that they come to. A few times that a run comes to a place are passed over, so that later ones have a
//! chance. A campaign may also say who makes the first steps ([`Aim::first`]), so that a run comes to a place as another one did.
//!
//! After that step most reads are of the last write: a bug shows when what was stale meets what is not. A thread that tries again, which
//! a yield tells, may take such a step again: what it had read was no use to it.

use super::random::FAILS;
use super::walk::Walk;
use super::{Aim, stale};
use crate::strategy::{Arrival, Readable, Reading, Strategy};
use crate::{Candidate, Random, Step};
use rsan_model::ThreadId;

/// Interleavings up to a step that leaves them.
#[derive(Clone, Debug)]
pub struct WeakGuided {
    random: Random,
    threads: Walk,
    aim: Aim,
    /// It makes for its target, not for any place.
    is_aimed: bool,
    /// Of 100 loads that can read a stale value after the deviation, how many do.
    stale: u8,
    /// The thread that left sequential consistency, unless it tries again.
    deviated: Option<ThreadId>,
    /// Of [`Aim::first`].
    next: usize,
}

/// Of 100 runs that have a target, those that make for it.
const AIMED: usize = 15;
/// Of 100 times that a run comes to a place that it makes for, those that it takes.
const TAKEN: usize = 95;
/// The same for other places that are known.
const OTHER: usize = 10;

impl WeakGuided {
    /// With this seed, and so many stale values, of 100 that can be read, after the deviation.
    pub fn new(seed: u64, stale: u8, aim: Aim) -> Self {
        let mut random = Random::new(seed);
        Self {
            threads: Walk::new(random.bits()),
            is_aimed: aim.target.is_some() && random.chance(AIMED),
            random,
            aim,
            stale,
            deviated: None,
            next: 0,
        }
    }

    /// Whether the run leaves sequential consistency by a read here, when `last` is the place of the last write.
    fn deviates(&mut self, place: u64, last: u64) -> bool {
        let target = self.aim.target.filter(|target| target.load == place);
        let is_target =
            target.is_some_and(|target| target.missed.is_none_or(|missed| missed == last));
        if self.aim.only && !is_target {
            return false;
        }
        if !is_target && !self.aim.known.contains(&place) {
            return true;
        }
        let passed = self.is_aimed && !is_target;
        self.random.chance(if passed { OTHER } else { TAKEN })
    }
}

impl Strategy for WeakGuided {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        while let Some(&thread) = self.aim.first.get(self.next) {
            self.next += 1;
            if let Ok(index) = ready.binary_search_by_key(&thread, |c| c.thread) {
                return Some(index);
            }
        }
        Some(self.threads.choose(ready, last))
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        let last = writes.len() - 1;
        if last == 0 {
            return 0;
        }
        if self.deviated.is_some() {
            return stale(&mut self.random, writes.len(), self.stale);
        }
        let leaving = || writes.iter().enumerate().filter(|(_, w)| w.leaves_sc);
        let count = leaving().count();
        if count == 0 || !self.deviates(reading.place, writes[last].place) {
            return last;
        }
        self.deviated = Some(reading.thread);
        let chosen = self.random.below(count);
        leaving().nth(chosen).map_or(last, |(index, _)| index)
    }

    fn fails(&mut self, _reading: &Reading) -> bool {
        self.random.chance(FAILS)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.deviated = self.deviated.filter(|by| *by != thread);
        self.threads.yielded(thread);
    }

    fn arrived(&mut self, arrival: Arrival) {
        self.threads.arrived(arrival);
    }

    fn stepped(&mut self, step: &Step) {
        self.threads.stepped(step);
    }
}
