//! Breadth-first search over all interleavings of visible steps.
//!
//! States are numbered in the order in which they are found, and expanded in that order, so the first failure is
//! at the end of a shortest schedule. Workers expand batches of states; one thread adds what they find to the
//! store, batch by batch in order, so the result does not depend on timing.

use crate::codec::{Codec, Overflow};
use crate::commute::{Commutation, ThreadSet};
use crate::expand::{Expander, Found, Job, Stop};
use crate::machine::{Failure, FailureKind, Machine};
use crate::options::{Options, Stats};
use crate::state::State;
use crate::store::{Arrival, Changed, Nodes, StateId, Store};
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
    commutation: Commutation,
    nodes: Nodes,
    /// The threads that sleep in the states that were not expanded yet.
    asleep: VecDeque<ThreadSet>,
    /// The first of those states.
    next: usize,
    pub(crate) stats: Stats,
    deadlock: bool,
    started: Instant,
    last_progress: Instant,
    level_end: usize,
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
            store: Store::new(&codec.parts),
            commutation: Commutation::new(machine.program, machine.facts),
            nodes: Nodes::new(),
            asleep: VecDeque::new(),
            next: 0,
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
        let mut words = vec![0; self.codec.words];
        let mut first = state.clone();
        self.codec
            .canonicalise(&self.machine.layout, &mut first, &mut 0);
        if let Err(overflow) = self.codec.pack(&self.machine.layout, &first, &mut words) {
            return End::Widen(overflow);
        }
        self.store.insert_first(&words);
        self.asleep.push_back(0);
        let commutation = self.commutation.clone();
        let mut expander = Expander::new(
            self.machine,
            self.codec,
            &commutation,
            self.deadlock,
            &state,
        );
        while self.next < self.store.len() && self.store.len() < SEQUENTIAL {
            let first = self.next;
            let found = expander.expand(&self.job(1));
            if let Some(end) = self.absorb(first, 1, found, options, progress) {
                return end;
            }
        }
        if self.next == self.store.len() {
            return End::Exhausted;
        }
        let workers = match options.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        self.run_parallel(workers, &state, &commutation, options, progress)
    }

    fn run_parallel(
        &mut self,
        workers: usize,
        state: &State<W>,
        commutation: &Commutation,
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
                    let mut expander = Expander::new(machine, codec, commutation, deadlock, state);
                    for job in job_rx {
                        if found_tx.send(expander.expand(&job)).is_err() {
                            break;
                        }
                    }
                });
                lines.push((job_tx, found_rx));
            }
            let mut under_way: VecDeque<(usize, usize, usize)> = VecDeque::new();
            let mut turn = 0;
            loop {
                while under_way.len() < workers * IN_FLIGHT && self.next < self.store.len() {
                    let left = self.store.len() - self.next;
                    let count = (left / (2 * workers)).clamp(16, BATCH).min(left);
                    under_way.push_back((turn, self.next, count));
                    let sent = lines[turn].0.send(self.job(count));
                    sent.expect("a worker ends only when its channel closes");
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

    /// The next `count` states to expand.
    fn job(&mut self, count: usize) -> Job {
        let mut words = Vec::with_capacity(count * self.codec.words);
        for id in self.next..self.next + count {
            self.store.nodes(id as StateId, &mut self.nodes);
            self.store.load(&self.nodes, &mut words);
        }
        self.next += count;
        let asleep = self.asleep.drain(..count).collect();
        Job { asleep, words }
    }

    /// Number of words of the parts that changed.
    #[inline]
    fn changed_words(&self, changed: Changed) -> usize {
        let parts = self.codec.parts.iter().enumerate();
        parts
            .filter(|(i, _)| changed >> i & 1 != 0)
            .map(|(_, len)| len)
            .sum()
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
        let (mut words, mut hashes) = (&found.words[..], &found.hashes[..]);
        let mut expanded = None;
        for successor in &found.successors {
            let changed = successor.changed;
            let parent = first + successor.parent as usize;
            if expanded != Some(parent) {
                expanded = Some(parent);
                self.store.nodes(parent as StateId, &mut self.nodes);
                // Levels end where the last state of one leaves off.
                while parent >= self.level_end {
                    self.stats.depth += 1;
                    self.level_end = self.store.len();
                }
            }
            let parent = parent as StateId;
            match self
                .store
                .insert(&self.nodes, changed, words, hashes, parent)
            {
                Arrival::New => self.asleep.push_back(successor.asleep),
                Arrival::Known(id) => {
                    // A state that waits to be expanded: one more reason to let threads sleep in it.
                    let waiting = (id as usize).checked_sub(self.next);
                    if let Some(set) = waiting.and_then(|i| self.asleep.get_mut(i)) {
                        *set |= successor.asleep;
                    }
                }
            }
            words = &words[self.changed_words(changed)..];
            hashes = &hashes[changed.count_ones() as usize..];
        }
        self.stats.transitions += found.successors.len() as u64;
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

/// Whether a failure is about the engine's own limits rather than about the program.
pub(crate) fn is_limit(failure: &Failure) -> bool {
    failure.kind == FailureKind::LocalLoop
}
