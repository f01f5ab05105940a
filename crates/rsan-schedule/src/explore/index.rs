//! What is looked up in a graph again and again: who is before whom, who reads what, and what was maximal when it was added.
//!
//! # Invariants
//! The events of a graph are in the order of the run, those that wait last. So `mo` is ascending in the numbers of events, and so
//! are `po`, creation, join and `rf`.
//!
//! # Cost
//! O(n T) for n events of T threads, once for each graph; then O(1) for whether an event is before another, O(T log n) for
//! the last write before it.

use super::graph::{Event, Graph, INIT, NONE};
use crate::by_thread::ByThread;
use std::ops::{Deref, DerefMut};

/// By thread: how many of its events are before something. Very many are made, of few threads.
#[derive(Clone, Debug)]
pub(super) enum Clock {
    Few([u32; FEW], usize),
    Many(Vec<u32>),
}

/// Threads of a clock that needs no memory of its own.
const FEW: usize = 8;

impl Clock {
    fn new(threads: usize) -> Self {
        match threads <= FEW {
            true => Self::Few([0; FEW], threads),
            false => Self::Many(vec![0; threads]),
        }
    }
}

impl Deref for Clock {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::Few(all, threads) => &all[..*threads],
            Self::Many(all) => all,
        }
    }
}

impl DerefMut for Clock {
    fn deref_mut(&mut self) -> &mut [u32] {
        match self {
            Self::Few(all, threads) => &mut all[..*threads],
            Self::Many(all) => all,
        }
    }
}

/// Lookups in a [`Graph`].
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Index {
    threads: usize,
    /// By event: its thread, numbered without gaps, and its place there from 1.
    place: Vec<(u32, u32)>,
    /// By event and thread: what is before it by program order, creation, join and reads-from, with itself.
    porf: Vec<u32>,
    /// By write: when the first of those behind it in `mo` was added; by object: the first of all.
    next_added: Vec<u32>,
    first_added: Vec<u32>,
    /// By read: whether it read the last write there was when it was added, or a later one.
    maximal: Vec<bool>,
    /// By object: the maximal reads. What they read was there when they were added, or (second list) came later. In both, what
    /// they read comes in the order of `mo`; the first is also in the order in which they were added.
    reads: Vec<[Vec<u32>; 2]>,
    /// By object, by thread: its writes.
    writes: Vec<Vec<(u32, Vec<u32>)>>,
    /// By write: each thread's first read of it; and when the first of all its reads was added.
    readers: Vec<Vec<u32>>,
    first_read: Vec<u32>,
    /// By event: the place in `mo` of the last write of its object that sequential consistency puts before it. It can read
    /// none before that, and come behind none.
    floor: Vec<u32>,
    /// Parts of events and when they were added, in that order.
    pub(super) parts: Vec<Part>,
}

/// A part of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    pub(super) time: u32,
    pub(super) event: u32,
    /// The part that writes.
    pub(super) writes: bool,
}

/// Where a write is in the order of writes; the initial one is first.
pub(super) fn rank(write: u32) -> u32 {
    match write {
        INIT => 0,
        w => w + 1,
    }
}

impl Index {
    pub(super) fn new(graph: &Graph) -> Self {
        let n = graph.events.len();
        let (place, threads) = places(&graph.events);
        let mut index = Self {
            threads,
            place,
            porf: Vec::with_capacity(n * threads),
            next_added: vec![NONE; n],
            first_added: vec![NONE; graph.mo.len()],
            maximal: vec![false; n],
            reads: vec![Default::default(); graph.mo.len()],
            writes: vec![Vec::new(); graph.mo.len()],
            readers: vec![Vec::new(); n],
            first_read: vec![NONE; n],
            floor: vec![0; n],
            parts: Vec::with_capacity(n),
        };
        index.add_clocks(graph);
        index.add_writes(graph);
        index.add_reads(graph);
        index.add_floors(graph);
        index.add_parts(graph);
        index
    }

    fn add_clocks(&mut self, graph: &Graph) {
        for (e, event) in graph.events.iter().enumerate() {
            let mut clock = self.before(graph, e as u32, event.rf);
            let (thread, number) = self.place[e];
            clock[thread as usize] = number;
            self.porf.extend_from_slice(&clock);
        }
    }

    fn add_writes(&mut self, graph: &Graph) {
        for (object, order) in graph.mo.iter().enumerate() {
            let mut first = NONE;
            for &w in order.iter().rev() {
                self.next_added[w as usize] = first;
                first = first.min(graph.events[w as usize].write_added);
            }
            self.first_added[object] = first;
            let by_thread = &mut self.writes[object];
            for &w in order {
                let thread = self.place[w as usize].0;
                match by_thread.iter_mut().find(|(t, _)| *t == thread) {
                    Some((_, writes)) => writes.push(w),
                    None => by_thread.push((thread, vec![w])),
                }
            }
        }
    }

    fn add_reads(&mut self, graph: &Graph) {
        for (e, event) in graph.events.iter().enumerate() {
            if !event.reads() {
                continue;
            }
            let object = event.object as usize;
            let (later, came) = match event.rf {
                INIT => (self.first_added[object], 0),
                w => {
                    self.add_reader(w, e as u32, event);
                    let write = &graph.events[w as usize];
                    (self.next_added[w as usize], write.write_added)
                }
            };
            // What fails for no reason is not what the exploration does first.
            if later > event.added && !event.spurious {
                self.maximal[e] = true;
                self.reads[object][usize::from(came > event.added)].push(e as u32);
            }
        }
        for [before, after] in &mut self.reads {
            let event = |e: &u32| &graph.events[*e as usize];
            before.sort_unstable_by_key(|e| event(e).added);
            after.sort_by_key(|e| rank(event(e).rf));
        }
    }

    fn add_reader(&mut self, write: u32, e: u32, event: &Event) {
        let first = &mut self.first_read[write as usize];
        *first = (*first).min(event.added);
        let place = &self.place;
        let thread = |q: u32| place[q as usize].0;
        let readers = &mut self.readers[write as usize];
        if !readers.iter().any(|&q| thread(q) == thread(e)) {
            readers.push(e);
        }
    }

    /// Goes through the run with clocks of `po ∪ rf ∪ mo ∪ fr`, creation and join.
    fn add_floors(&mut self, graph: &Graph) {
        let threads = self.threads;
        let mut clocks: Vec<u32> = Vec::with_capacity(self.porf.len());
        // By object: the last write and all that read it.
        let mut accesses = vec![Clock::new(threads); graph.mo.len()];
        let mut writes = vec![Clock::new(threads); graph.mo.len()];
        for (e, event) in graph.events.iter().enumerate() {
            let mut clock = Clock::new(threads);
            for before in graph.before[e] {
                join(&mut clock, row(&clocks, threads, before));
            }
            if event.object != NONE {
                let object = event.object as usize;
                let order = &graph.mo[object];
                let order = &order[..order.partition_point(|&w| w < e as u32)];
                let known = order.partition_point(|&w| self.is_in(&clock, w));
                self.floor[e] = known as u32;
                join(&mut clock, &writes[object]);
                if event.writes {
                    join(&mut clock, &accesses[object]);
                }
            }
            let (thread, number) = self.place[e];
            clock[thread as usize] = number;
            // What waits is at the end, not where it was in the run.
            if event.object != NONE && !event.waits {
                join(&mut accesses[event.object as usize], &clock);
                if event.writes {
                    writes[event.object as usize].copy_from_slice(&clock);
                }
            }
            clocks.extend_from_slice(&clock);
        }
    }

    fn add_parts(&mut self, graph: &Graph) {
        for (e, event) in graph.events.iter().enumerate() {
            let event_number = e as u32;
            let part = |time, writes| Part {
                time,
                event: event_number,
                writes,
            };
            if event.reads() {
                self.parts.push(part(event.added, false));
            }
            if event.writes {
                self.parts.push(part(event.write_added, true));
            }
        }
        self.parts.sort_unstable();
    }

    /// Whether the event is among those that the clock has.
    pub(super) fn is_in(&self, clock: &[u32], e: u32) -> bool {
        let (thread, number) = self.place[e as usize];
        clock[thread as usize] >= number
    }

    /// The events before `e`, given what it reads, by program order, creation, join and reads-from; without `e`.
    pub(super) fn before(&self, graph: &Graph, e: u32, rf: u32) -> Clock {
        let mut clock = Clock::new(self.threads);
        let [first, second] = graph.before[e as usize];
        for before in [first, second, rf] {
            join(&mut clock, row(&self.porf, self.threads, before));
        }
        clock
    }

    /// Adds what is before an event to a clock, and the event, if there is one.
    pub(super) fn join(&self, clock: &mut Clock, e: u32) {
        join(clock, row(&self.porf, self.threads, e));
    }

    /// The last write of the object among the events that the clock has.
    pub(super) fn last_write(&self, object: u32, clock: &[u32]) -> u32 {
        let last = |(thread, writes): &(u32, Vec<u32>)| {
            let known = clock[*thread as usize];
            let known = writes.partition_point(|&w| self.place[w as usize].1 <= known);
            known.checked_sub(1).map(|i| writes[i])
        };
        let writes = self.writes[object as usize].iter().filter_map(last);
        writes.max().unwrap_or(INIT)
    }

    /// The place in `mo`, from 0 for the initial write, before which the event cannot read nor write.
    pub(super) fn floor(&self, e: u32) -> usize {
        self.floor[e as usize] as usize
    }

    /// The maximal reads of an object that were added before `now` and read `oldest` or a later write.
    pub(super) fn reads(&self, graph: &Graph, object: u32, oldest: u32, now: u32) -> [&[u32]; 2] {
        let event = |e: &u32| &graph.events[*e as usize];
        let [before, after] = &self.reads[object as usize];
        let older = |e: &u32| rank(event(e).rf) < rank(oldest);
        let before = &before[before.partition_point(older)..];
        let before = &before[..before.partition_point(|e| event(e).added < now)];
        [before, &after[after.partition_point(older)..]]
    }

    /// Whether a read, which is not in the clock, reads the last write that was there when it was added or is in the clock,
    /// given the last write of its object that is.
    pub(super) fn read_is_maximal(&self, d: u32, event: &Event, last: u32) -> bool {
        self.maximal[d as usize] && rank(last) <= rank(event.rf)
    }

    /// Whether a write, which is not in the clock, was at the end of the modification order when it was added, or is after what
    /// is in the clock, and nothing has read it that was there before it or is in the clock.
    pub(super) fn write_is_maximal(&self, d: u32, event: &Event, last: u32, clock: &[u32]) -> bool {
        let time = event.write_added;
        let read = self.first_read[d as usize] <= time
            || self.readers[d as usize]
                .iter()
                .any(|&q| self.is_in(clock, q));
        !read && self.next_added[d as usize] > time && rank(last) <= rank(d)
    }
}

/// Numbers the threads without gaps, and the events of each from 1.
fn places(events: &[Event]) -> (Vec<(u32, u32)>, usize) {
    let mut threads: ByThread<(u32, u32)> = ByThread::default();
    let mut place = Vec::with_capacity(events.len());
    for event in events {
        let next = threads.len() as u32;
        let (thread, number) = threads.or_insert(event.thread, (next, 0));
        *number += 1;
        place.push((*thread, *number));
    }
    (place, threads.len())
}

/// The clock of an event, if there is one.
fn row(clocks: &[u32], threads: usize, e: u32) -> &[u32] {
    match e < INIT {
        true => &clocks[e as usize * threads..][..threads],
        false => &[],
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
