//! `guided`: sequentially consistent up to a read that need not be, then weak.
//!
//! An execution that is not sequentially consistent has a first step that leaves sequential consistency, and up to there it is an
//! interleaving of its threads. So a run samples interleavings, by [`Pos`], and reads the last write, until a load can read one
//! that leaves sequential consistency. There it decides whether this is the step. Nothing is spent on stale values that an
//! interleaving explains: another schedule shows the same.
//!
//! A campaign makes the places of that step equally likely. It tells where earlier runs left sequential consistency ([`Aim::known`]),
//! and a run leaves it at once at any other place. It may name a place to leave it at ([`Aim::target`]): there, each time that the place
//! is reached is taken with probability 1/2, so that later ones have a chance. A run without either draws half of all places, and
//! takes those. It may also say who makes the first steps ([`Aim::first`]), so that a run comes to a place as another one did.

use super::random::FAILS;
use super::{Aim, stale};
use crate::strategy::{Pos, Readable, Reading, Strategy};
use crate::{Candidate, Random, Step};
use rsan_model::ThreadId;

/// Interleavings up to a step that leaves them.
#[derive(Clone, Debug)]
pub struct WeakGuided {
    random: Random,
    threads: Pos,
    /// Which half of all places this run takes.
    half: u64,
    aim: Aim,
    /// Of 100 loads that can read a stale value after the deviation, how many do.
    stale: u8,
    has_deviated: bool,
    /// Of [`Aim::first`].
    next: usize,
}

impl WeakGuided {
    /// With this seed, and so many stale values, of 100 that can be read, after the deviation.
    pub fn new(seed: u64, stale: u8, aim: Aim) -> Self {
        let mut random = Random::new(seed);
        Self {
            threads: Pos::new(random.bits()),
            half: random.bits(),
            random,
            aim,
            stale,
            has_deviated: false,
            next: 0,
        }
    }

    /// Whether the run leaves sequential consistency by a read here, when `last` is the place of the last write.
    fn deviates(&mut self, place: u64, last: u64) -> bool {
        let target = self.aim.target.filter(|target| target.load == place);
        if target.is_some_and(|target| target.missed.is_none_or(|missed| missed == last)) {
            return self.random.chance(50);
        }
        if self.aim.only {
            return false;
        }
        if self.aim.known.contains(&place) {
            return false;
        }
        let taken = rsan_random::mix(self.half ^ place) & 1 == 0;
        !self.aim.known.is_empty() || taken && self.random.chance(50)
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
        self.threads.choose(ready, last)
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        let last = writes.len() - 1;
        if last == 0 {
            return 0;
        }
        if self.has_deviated {
            return stale(&mut self.random, writes.len(), self.stale);
        }
        let leaving = || writes.iter().enumerate().filter(|(_, w)| w.leaves_sc);
        let count = leaving().count();
        if count == 0 || !self.deviates(reading.place, writes[last].place) {
            return last;
        }
        self.has_deviated = true;
        let chosen = self.random.below(count);
        leaving().nth(chosen).map_or(last, |(index, _)| index)
    }

    fn fails(&mut self, _reading: &Reading) -> bool {
        self.random.chance(FAILS)
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.threads.yielded(thread);
    }

    fn stepped(&mut self, step: &Step) {
        self.threads.stepped(step);
    }
}
