//! Breadth-first search over all interleavings of visible steps.
//!
//! States are numbered in the order in which they are found, and expanded in that order, so the first failure is
//! at the end of a shortest schedule. Workers expand batches of states; one thread adds what they find to the
//! store, batch by batch in order, so the result does not depend on timing.

use crate::codec::{Codec, Overflow};
use crate::machine::{Failure, FailureKind, Machine, Mobility, Scratch};
use crate::options::{Options, Stats};
use crate::state::State;
use crate::store::{StateId, Store, hash_words};
use rsan_model::{Pc, Reason, ThreadId};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// States found before workers are worth their start.
const SEQUENTIAL: usize = 4_000;
/// States in a batch, at most.
const BATCH: usize = 512;
/// Batches under way per worker.
const IN_FLIGHT: usize = 3;
/// Time between two calls of the progress function.
const PROGRESS: Duration = Duration::from_millis(200);

/// How a search ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Every reachable state was seen, none fails.
    Exhausted,
    /// A state fails: the one with this number, or the initial one when there is none.
    Failed(Option<StateId>, Problem),
    /// A limit was reached.
    Cut(Reason),
    /// A value is outside the range; start again with a larger one.
    Widen(Overflow),
}

/// What is wrong with a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// A step fails.
    Step(Failure),
    /// No thread can move.
    Deadlock(Vec<(ThreadId, Pc)>),
}

/// A search: the machine, and what it has found.
pub(crate) struct Search<'m, 'a, const W: usize> {
    pub(crate) machine: &'m Machine<'a, W>,
    pub(crate) codec: &'m Codec,
    pub(crate) store: Store,
    pub(crate) stats: Stats,
    deadlock: bool,
    started: Instant,
    last_progress: Instant,
    level_end: usize,
}

/// States to expand, packed one after the other.
struct Job {
    words: Vec<u64>,
    count: usize,
}

/// What a batch of states leads to.
#[derive(Default)]
struct Found {
    words: Vec<u64>,
    hashes: Vec<[u64; 2]>,
    /// For each successor, which state of the batch it comes from.
    parents: Vec<u32>,
    /// Ends the search, at this state of the batch.
    stop: Option<(u32, Stop)>,
}

enum Stop {
    Problem(Problem),
    Widen(Overflow),
}

impl<'m, 'a, const W: usize> Search<'m, 'a, W> {
    pub(crate) fn new(
        machine: &'m Machine<'a, W>,
        codec: &'m Codec,
        deadlock: bool,
        started: Instant,
    ) -> Self {
        Self {
            machine,
            codec,
            store: Store::new(codec.words),
            stats: Stats::default(),
            deadlock,
            started,
            last_progress: started,
            level_end: 1,
        }
    }

    /// Searches until the end.
    pub(crate) fn run(&mut self, options: &Options<'_>, progress: &mut dyn FnMut(&Stats)) -> End {
        let state = match self.machine.initial(&mut Vec::new()) {
            Ok(state) => state,
            Err(failure) => return End::Failed(None, Problem::Step(failure)),
        };
        let mut words = vec![0; self.codec.words.iter().sum()];
        let mut first = state.clone();
        self.codec.canonicalise(&self.machine.layout, &mut first);
        if let Err(overflow) = self.codec.pack(&self.machine.layout, &first, &mut words) {
            return End::Widen(overflow);
        }
        self.store.insert(&words, self.hashes(&words), 0);
        let mut scratch = Scratch::new(&state);
        let mut expander = Expander::new(self.machine, self.codec, self.deadlock, state.clone());
        let mut next = 0;
        while next < self.store.len() && self.store.len() < SEQUENTIAL {
            let job = self.job(next, 1);
            let found = expander.expand(&job, &mut scratch);
            if let Some(end) = self.absorb(next, 1, found, options, progress) {
                return end;
            }
            next += 1;
        }
        if next == self.store.len() {
            return End::Exhausted;
        }
        let workers = match options.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        self.run_parallel(next, workers, &state, options, progress)
    }

    fn run_parallel(
        &mut self,
        mut next: usize,
        workers: usize,
        state: &State<W>,
        options: &Options<'_>,
        progress: &mut dyn FnMut(&Stats),
    ) -> End {
        let (machine, codec, deadlock) = (self.machine, self.codec, self.deadlock);
        std::thread::scope(|scope| {
            let mut lines: Vec<(Sender<Job>, Receiver<Found>)> = Vec::new();
            for _ in 0..workers {
                let (job_tx, job_rx) = channel::<Job>();
                let (found_tx, found_rx) = channel();
                scope.spawn(move || {
                    let mut scratch = Scratch::new(state);
                    let mut expander = Expander::new(machine, codec, deadlock, state.clone());
                    for job in job_rx {
                        if found_tx.send(expander.expand(&job, &mut scratch)).is_err() {
                            break;
                        }
                    }
                });
                lines.push((job_tx, found_rx));
            }
            let mut under_way: VecDeque<(usize, usize, usize)> = VecDeque::new();
            let mut turn = 0;
            loop {
                while under_way.len() < workers * IN_FLIGHT && next < self.store.len() {
                    let left = self.store.len() - next;
                    let count = (left / (2 * workers)).clamp(16, BATCH).min(left);
                    let sent = lines[turn].0.send(self.job(next, count));
                    sent.expect("a worker ends only when its channel closes");
                    under_way.push_back((turn, next, count));
                    next += count;
                    turn = (turn + 1) % workers;
                }
                let Some((worker, first, count)) = under_way.pop_front() else {
                    return End::Exhausted;
                };
                let found = lines[worker].1.recv();
                let found = found.expect("a worker answers every job");
                if let Some(end) = self.absorb(first, count, found, options, progress) {
                    return end;
                }
            }
        })
    }

    fn job(&self, first: usize, count: usize) -> Job {
        let mut words = Vec::with_capacity(count * self.codec.words.iter().sum::<usize>());
        for id in first..first + count {
            self.store.load(id as StateId, &mut words);
        }
        Job { words, count }
    }

    fn hashes(&self, words: &[u64]) -> [u64; 2] {
        let (first, second) = words.split_at(self.codec.words[0]);
        [hash_words(first), hash_words(second)]
    }

    /// Adds what a batch found; says when the search is over.
    fn absorb(
        &mut self,
        first: usize,
        count: usize,
        found: Found,
        options: &Options<'_>,
        progress: &mut dyn FnMut(&Stats),
    ) -> Option<End> {
        let width: usize = self.codec.words.iter().sum();
        let successors = found.words.chunks_exact(width).zip(&found.hashes);
        for ((words, &hashes), &parent) in successors.zip(&found.parents) {
            let parent = first + parent as usize;
            // Levels end where the last state of one leaves off.
            while parent >= self.level_end {
                self.stats.depth += 1;
                self.level_end = self.store.len();
            }
            self.store.insert(words, hashes, parent as StateId);
        }
        self.stats.transitions += found.parents.len() as u64;
        self.stats.states = self.store.len() as u64;
        match found.stop {
            Some((at, Stop::Problem(problem))) => {
                let id = (first + at as usize) as StateId;
                return Some(End::Failed(Some(id), problem));
            }
            Some((_, Stop::Widen(overflow))) => return Some(End::Widen(overflow)),
            None => {}
        }
        if count == 1 && !first.is_multiple_of(64) {
            return None;
        }
        self.stats.memory = self.store.memory();
        self.stats.elapsed = self.started.elapsed();
        let over = |limit: Option<u64>| limit.is_some_and(|l| self.stats.memory > l);
        if options
            .stop
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
        {
            return Some(End::Cut(Reason::Interrupted));
        }
        if over(options.memory_limit) {
            return Some(End::Cut(Reason::MemoryLimit));
        }
        if options.time_limit.is_some_and(|l| self.stats.elapsed > l) {
            return Some(End::Cut(Reason::TimeLimit));
        }
        if self.store.len() > StateId::MAX as usize - (1 << 20) {
            return Some(End::Cut(Reason::TooLarge("more than 2^32 states".into())));
        }
        if self.last_progress.elapsed() > PROGRESS {
            self.last_progress = Instant::now();
            progress(&self.stats);
        }
        None
    }
}

/// Expands states on behalf of one worker.
struct Expander<'m, 'a, const W: usize> {
    machine: &'m Machine<'a, W>,
    codec: &'m Codec,
    deadlock: bool,
    state: State<W>,
}

impl<'m, 'a, const W: usize> Expander<'m, 'a, W> {
    fn new(machine: &'m Machine<'a, W>, codec: &'m Codec, deadlock: bool, state: State<W>) -> Self {
        Self {
            machine,
            codec,
            deadlock,
            state,
        }
    }

    fn expand(&mut self, job: &Job, scratch: &mut Scratch<W>) -> Found {
        let width: usize = self.codec.words.iter().sum();
        let mut found = Found::default();
        for (i, words) in job.words.chunks_exact(width).take(job.count).enumerate() {
            self.codec
                .unpack(&self.machine.layout, words, &mut self.state);
            if let Err(stop) = self.expand_one(i as u32, scratch, &mut found) {
                found.stop = Some((i as u32, stop));
                return found;
            }
        }
        found
    }

    fn expand_one(
        &self,
        index: u32,
        scratch: &mut Scratch<W>,
        found: &mut Found,
    ) -> Result<(), Stop> {
        let width: usize = self.codec.words.iter().sum();
        let mut overflow = None;
        let mut blocked = Vec::new();
        let mut free = false;
        for t in (0..self.state.pcs.len()).map(ThreadId::new) {
            let mut out = |next: &mut State<W>, _: &[_]| {
                self.codec.canonicalise(&self.machine.layout, next);
                let at = found.words.len();
                found.words.resize(at + width, 0);
                let words = &mut found.words[at..];
                if let Err(o) = self.codec.pack(&self.machine.layout, next, words) {
                    overflow = Some(o);
                }
                let (first, second) = words.split_at(self.codec.words[0]);
                found.hashes.push([hash_words(first), hash_words(second)]);
                found.parents.push(index);
            };
            match self.machine.expand(&self.state, t, scratch, &mut out) {
                Ok(Mobility::Free) => free = true,
                Ok(Mobility::Blocked(pc)) => blocked.push((t, pc)),
                Ok(Mobility::Ended) => {}
                Err(failure) => return Err(Stop::Problem(Problem::Step(failure))),
            }
            if let Some(overflow) = overflow {
                return Err(Stop::Widen(overflow));
            }
        }
        if self.deadlock && !free && !blocked.is_empty() {
            return Err(Stop::Problem(Problem::Deadlock(blocked)));
        }
        Ok(())
    }
}

/// Whether a failure is about the engine's own limits rather than about the program.
pub(crate) fn is_limit(failure: &Failure) -> bool {
    failure.kind == FailureKind::LocalLoop
}
