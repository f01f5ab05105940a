//! Breadth-first search over all interleavings of visible steps.
//!
//! States are expanded level by level, so the first failure is at the end of a shortest schedule. A level is worked
//! off in rounds of two phases: workers expand the states of the round ([`crate::expand`]), then each adds what was
//! found to its share of the partitions ([`crate::store`]), in the order of the tasks. What is found, and in which
//! order, does not depend on the number of workers or on timing.

use crate::codec::{Codec, Overflow};
use crate::commute::{Commutation, ThreadSet};
use crate::expand::{Context, Expander, Found, Stop, Successor, Task};
use crate::machine::{Failure, FailureKind, Machine};
use crate::options::{Options, Stats};
use crate::state::State;
use crate::store::{Arrival, Key, PARTITION_LIMIT, PARTITIONS, Partition, StateId, partition_of};
use crate::workers::Workers;
use rsan_model::{Pc, Reason, ThreadId};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// States of a task, at most.
const TASK: usize = 256;
/// States of a round, about; more states at once would need more memory for what they lead to.
const ROUND: usize = 1 << 14;
/// States of a round from which on workers are worth their start.
const PARALLEL: usize = 8_000;
/// States that are looked up at once.
const BATCH: usize = 16;
/// Time between two calls of the progress function.
const PROGRESS: Duration = Duration::from_millis(200);

/// How a search ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Every reachable state was seen, none fails.
    Exhausted,
    /// A state fails, or the way to the initial one when there is none.
    Failed(Option<StateId>, Problem),
    /// A limit was reached.
    Cut(Reason),
    /// There are more states than the bounds allow.
    Larger,
    /// A value is outside the range; start again with a larger one.
    Widen(Overflow),
}

/// How far a search goes by itself, whatever the user's limits are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds<'b> {
    /// States, about.
    pub(crate) states: Option<u64>,
    /// Only schedules with fewer steps are of interest.
    pub(crate) depth: Option<u32>,
    /// Set when nobody asks any more.
    pub(crate) stop: Option<&'b AtomicBool>,
}

/// What is wrong with a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// A step fails.
    Step(Failure),
    /// No thread can move.
    Deadlock(Vec<(ThreadId, Pc)>),
}

/// A partition, and who sleeps in those of its states that were not expanded yet.
#[derive(Debug)]
struct Share {
    partition: Partition,
    asleep: Vec<ThreadSet>,
    /// The first state that was not expanded yet.
    next: usize,
    /// The first state of the next level.
    level_end: usize,
}

impl Share {
    fn new(length: Option<usize>, key: Key) -> Self {
        Self {
            partition: Partition::new(length, key),
            asleep: Vec::new(),
            next: 0,
            level_end: 0,
        }
    }

    fn absorb(&mut self, which: usize, found: &[Found]) {
        for found in found {
            for batch in found.of_partition(which).chunks(BATCH) {
                self.fetch(found, batch);
                for &i in batch {
                    self.add(found.successor(i));
                }
            }
        }
    }

    /// Touches what [`add`](Self::add) will look at: a table larger than the caches is waited for once for all of them.
    fn fetch(&self, found: &Found, batch: &[u32]) {
        let mut entries = [0; BATCH];
        for (entry, &i) in entries.iter_mut().zip(batch) {
            *entry = self.partition.entry(found.hash(i));
        }
        let words = entries.iter().zip(batch);
        let all = words.fold(0, |all, (&entry, &i)| {
            all ^ self.partition.first_word(entry, found.hash(i))
        });
        std::hint::black_box(all);
    }

    fn add(&mut self, (successor, words): (&Successor, &[u64])) {
        match self
            .partition
            .insert(words, successor.hash, successor.parent)
        {
            Arrival::New => self.asleep.push(successor.asleep),
            // Why threads may sleep there says nothing about the state that stands for it.
            Arrival::Covered => {}
            Arrival::Known(index) => {
                // A state that waits to be expanded: one more reason to let threads sleep in it.
                if let Some(waiting) = index.checked_sub(self.next) {
                    self.asleep[waiting] |= successor.asleep;
                }
            }
        }
    }
}

/// A search: the program, and what was found.
#[derive(Debug)]
pub(crate) struct Search<'m, 'a, const W: usize> {
    pub(crate) machine: &'m Machine<'a, W>,
    pub(crate) codec: &'m Codec,
    pub(crate) stats: Stats,
    shares: Vec<Share>,
    bounds: Bounds<'m>,
    deadlock: bool,
    started: Instant,
    last_progress: Instant,
    workers: &'m Workers,
}

impl<'m, 'a, const W: usize> Search<'m, 'a, W> {
    pub(crate) fn new(
        machine: &'m Machine<'a, W>,
        codec: &'m Codec,
        bounds: Bounds<'m>,
        deadlock: bool,
        started: Instant,
        workers: &'m Workers,
    ) -> Self {
        Self {
            machine,
            codec,
            stats: Stats::default(),
            shares: (0..PARTITIONS)
                .map(|_| Share::new(codec.words, codec.key))
                .collect(),
            bounds,
            deadlock,
            started,
            last_progress: started,
            workers,
        }
    }

    /// The packed words of a state.
    pub(crate) fn words(&self, id: StateId) -> &[u64] {
        self.shares[id.partition()].partition.get(id.index())
    }

    /// The state from which this one was first reached; the initial one is its own parent.
    pub(crate) fn parent(&self, id: StateId) -> StateId {
        self.shares[id.partition()].partition.parent(id.index())
    }

    /// Bytes that the states take.
    pub(crate) fn memory(&self) -> u64 {
        let share = |s: &Share| s.partition.memory() + s.asleep.capacity() as u64 * 2;
        self.shares.iter().map(share).sum()
    }

    /// Searches until the end.
    pub(crate) fn run(&mut self, options: &Options<'_>, progress: &mut dyn FnMut(&Stats)) -> End {
        let state = match self.machine.initial(&mut Vec::new()) {
            Ok(state) => state,
            Err(failure) => return End::Failed(None, Problem::Step(failure)),
        };
        if let Err(end) = self.insert_initial(&state) {
            return end;
        }
        let context = Context {
            machine: self.machine,
            codec: self.codec,
            commutation: Commutation::new(
                self.machine.program,
                self.machine.facts,
                self.machine.forgetting,
            ),
            deadlock: self.deadlock,
        };
        let mut expanders: Vec<_> = (0..self.workers.count())
            .map(|_| Expander::new(&context, &state))
            .collect();
        loop {
            let tasks = self.next_round();
            if tasks.is_empty() {
                return End::Exhausted;
            }
            let found = self.expand(&tasks, &mut expanders);
            if let Some(end) = self.absorb(&tasks, found, options, progress) {
                return end;
            }
        }
    }

    fn insert_initial(&mut self, state: &State<W>) -> Result<(), End> {
        let layout = &self.machine.layout;
        let mut words = Vec::new();
        let mut state = state.clone();
        if let Some(forgetting) = self.machine.forgetting
            && !forgetting.simplify(&mut state)
        {
            let first = not_real(ThreadId(0), Pc(0));
            return Err(End::Failed(None, Problem::Step(first)));
        }
        self.codec.canonicalise(layout, &mut state, |_, _| {});
        let packed = self.codec.pack(layout, &state, &mut words);
        packed.map_err(End::Widen)?;
        let hash = self.codec.key.hash(&words);
        let which = partition_of(hash);
        let share = &mut self.shares[which];
        share.partition.insert(&words, hash, StateId::new(which, 0));
        share.asleep.push(0);
        share.level_end = 1;
        self.stats.states = 1;
        Ok(())
    }

    /// The next states to expand, all of one level; none when all are done.
    fn next_round(&mut self) -> Vec<Task> {
        if self.shares.iter().all(|s| s.next == s.level_end) {
            let mut deeper = false;
            for share in &mut self.shares {
                share.level_end = share.partition.len();
                deeper |= share.next < share.level_end;
            }
            if (self.bounds.depth).is_some_and(|depth| self.stats.depth + 1 >= depth) {
                return Vec::new();
            }
            self.stats.depth += u32::from(deeper);
        }
        let mut tasks = Vec::new();
        let mut left = ROUND;
        for (partition, share) in self.shares.iter().enumerate() {
            let end = share.level_end.min(share.next + left);
            left -= end - share.next;
            tasks.extend((share.next..end).step_by(TASK).map(|start| Task {
                partition,
                states: start..end.min(start + TASK),
            }));
        }
        tasks
    }

    /// Takes idle workers for this much work, if it is worth their start.
    fn helpers(&self, work: usize) -> usize {
        if work < PARALLEL {
            0
        } else {
            self.workers.take(self.workers.count())
        }
    }

    /// First phase: what the tasks lead to, in their order.
    fn expand(&self, tasks: &[Task], expanders: &mut [Expander<'_, 'm, 'a, W>]) -> Vec<Found> {
        let one = |expander: &mut Expander<'_, 'm, 'a, W>, task: &Task| {
            let share = &self.shares[task.partition];
            let asleep = &share.asleep[task.states.start - share.next..];
            expander.expand(task, &share.partition, asleep)
        };
        let states: usize = tasks.iter().map(|t| t.states.len()).sum();
        let helpers = self.helpers(states);
        if helpers == 0 {
            let expander = &mut expanders[0];
            return tasks.iter().map(|task| one(expander, task)).collect();
        }
        let results: Vec<Mutex<Option<Found>>> = tasks.iter().map(|_| Mutex::default()).collect();
        let turn = AtomicUsize::new(0);
        let work = |expander: &mut Expander<'_, 'm, 'a, W>| {
            while let Some(i) = Some(turn.fetch_add(1, Ordering::Relaxed))
                && let Some(task) = tasks.get(i)
            {
                let found = one(expander, task);
                *results[i].lock().expect("no worker panics with a result") = Some(found);
            }
        };
        let (own, others) = expanders.split_at_mut(1);
        std::thread::scope(|scope| {
            for expander in others.iter_mut().take(helpers) {
                // The system may have no more threads; those that are there take all tasks.
                let _ = Builder::new().spawn_scoped(scope, || work(expander));
            }
            work(&mut own[0]);
        });
        self.workers.give_back(helpers);
        let found = |result: Mutex<Option<Found>>| {
            let found = result.into_inner().expect("no worker panics with a result");
            found.expect("every task was taken by a worker")
        };
        results.into_iter().map(found).collect()
    }

    /// Second phase: adds what was found; says when the search is over.
    fn absorb(
        &mut self,
        tasks: &[Task],
        mut found: Vec<Found>,
        options: &Options<'_>,
        progress: &mut dyn FnMut(&Stats),
    ) -> Option<End> {
        for task in tasks {
            let share = &mut self.shares[task.partition];
            share.next = task.states.end;
        }
        for share in &mut self.shares {
            let expanded = share.asleep.len() - (share.partition.len() - share.next);
            share.asleep.drain(..expanded);
        }
        let stop = found.iter_mut().find_map(|f| f.stop.take());
        let transitions: usize = found.iter().map(Found::len).sum();
        self.stats.transitions += transitions as u64;
        match stop {
            Some((id, Stop::Problem(problem))) => return Some(End::Failed(Some(id), problem)),
            Some((_, Stop::Widen(overflow))) => return Some(End::Widen(overflow)),
            None => {}
        }
        let helpers = self.helpers(transitions);
        if helpers == 0 {
            for (which, share) in self.shares.iter_mut().enumerate() {
                share.absorb(which, &found);
            }
        } else {
            let size = PARTITIONS.div_ceil(helpers + 1);
            let queue = Mutex::new(self.shares.chunks_mut(size).enumerate());
            let next = || {
                queue
                    .lock()
                    .expect("no worker panics with the queue")
                    .next()
            };
            let work = || {
                while let Some((i, shares)) = next() {
                    for (j, share) in shares.iter_mut().enumerate() {
                        share.absorb(i * size + j, &found);
                    }
                }
            };
            std::thread::scope(|scope| {
                for _ in 0..helpers {
                    // The system may have no more threads.
                    let _ = Builder::new().spawn_scoped(scope, work);
                }
                work();
            });
            self.workers.give_back(helpers);
        }
        let cut = self.check_limits(options, progress).map(End::Cut);
        let larger = self.bounds.states.is_some_and(|b| self.stats.states > b);
        cut.or(larger.then_some(End::Larger))
    }

    fn check_limits(
        &mut self,
        options: &Options<'_>,
        progress: &mut dyn FnMut(&Stats),
    ) -> Option<Reason> {
        let sizes = self.shares.iter().map(|s| s.partition.len());
        let largest = sizes.clone().max().unwrap_or(0);
        self.stats.states = sizes.sum::<usize>() as u64;
        self.stats.memory = self.memory();
        self.stats.elapsed = self.started.elapsed();
        let mut stops = [options.stop, self.bounds.stop].into_iter().flatten();
        if stops.any(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Reason::Interrupted);
        }
        if options.memory_limit.is_some_and(|l| self.stats.memory > l) {
            return Some(Reason::MemoryLimit);
        }
        if options.time_limit.is_some_and(|l| self.stats.elapsed > l) {
            return Some(Reason::TimeLimit);
        }
        // One more round must fit, even if all of it goes to one partition.
        if largest + ROUND * 64 > PARTITION_LIMIT {
            let states = self.stats.states;
            return Some(Reason::TooLarge(format!("more than {states} states")));
        }
        if self.last_progress.elapsed() > PROGRESS {
            self.last_progress = Instant::now();
            progress(&self.stats);
        }
        None
    }
}

/// A step of a thread led to a state that stands for none of the program: too much was forgotten.
pub(crate) fn not_real(thread: ThreadId, pc: Pc) -> Failure {
    Failure {
        kind: FailureKind::NoCounter,
        thread,
        pc,
    }
}

/// Whether a failure is about the engine's own limits rather than about the program.
pub(crate) fn is_limit(failure: &Failure) -> bool {
    failure.kind == FailureKind::LocalLoop
}
