//! What else an event could have done: read another write, be elsewhere in the modification order, or be read by an earlier
//! read (TruSt, procedures *Visit*, *VisitCOs* and *IsMaximallyAdded*).
//!
//! Alternatives are told one after another, as long runs have very many of them: a [`Choice`] is one, or stands for several, which
//! it is opened to. Most of what is not consistent is never looked at. What is left of that is found when the plan is made.

use super::graph::{Event, Graph, INIT, NONE};
use super::index::{Clock, Index, rank};
use super::item::{Change, Revisit};
use super::plan::Unready;
use crate::Kind;
use std::collections::HashMap;

/// An alternative of an event, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// The event writes behind this write.
    Place(u32),
    /// The event reads this write, and all that follows from it.
    Source(u32),
    /// The event reads `rf`, and writes or does not; it may be that it does something else.
    Read {
        rf: u32,
        writes: bool,
        guessed: bool,
    },
    /// The event reads `rf`, which is what it expects, and fails for no reason (docs/theory/sc-runs.md, S12); it may be that it is not
    /// what it expects.
    Failure { rf: u32, guessed: bool },
    /// All reads that could read the event, if it reads this.
    Writer(Writer),
    /// This read reads the event, and may fail for no reason then; a store can be at several places.
    Reader {
        writer: Writer,
        read: u32,
        fails: bool,
    },
    /// This read reads the event, which is behind this write.
    ReaderAt {
        writer: Writer,
        read: u32,
        after: u32,
        fails: bool,
    },
}

/// How an event writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Writer {
    /// What it reads.
    pub(super) rf: u32,
    /// The value, if it is known.
    pub(super) wrote: Option<u64>,
    /// What it means when it is not possible.
    pub(super) unready: Unready,
}

/// What a choice turns out to be.
pub(super) enum Opened {
    /// These, in order; the last comes first.
    Several(Vec<Choice>),
    /// A graph, if it is consistent.
    One(Change),
}

/// The alternatives of one event, when it is added to what was there at time `now`.
pub(super) struct Alternatives<'g> {
    pub(super) graph: &'g Graph,
    pub(super) index: &'g Index,
    pub(super) event: u32,
    pub(super) now: u32,
}

impl<'g> Alternatives<'g> {
    /// Those of an event that is new.
    pub(super) fn of(graph: &'g Graph, index: &'g Index, event: u32) -> Self {
        let now = graph.events[event as usize].added;
        Self {
            graph,
            index,
            event,
            now,
        }
    }

    /// Those of an event whose write part is new.
    pub(super) fn of_write(graph: &'g Graph, index: &'g Index, event: u32) -> Self {
        let now = graph.events[event as usize].write_added;
        Self {
            graph,
            index,
            event,
            now,
        }
    }

    fn event(&self) -> &'g Event {
        &self.graph.events[self.event as usize]
    }

    /// The event as it was in the run.
    fn writer(&self) -> Writer {
        Writer {
            rf: self.event().rf,
            wrote: self.event().wrote,
            unready: Unready::Diverges,
        }
    }

    /// The write at a place of `mo`; the initial one is at 0.
    fn write_at(&self, place: usize) -> u32 {
        match place {
            0 => INIT,
            _ => self.graph.mo[self.event().object as usize][place - 1],
        }
    }

    /// The writes that the event could read, or be behind, as places in `mo`: from the first that is not ruled out to the last.
    fn places(&self) -> (usize, usize) {
        let event = self.event();
        let order = &self.graph.mo[event.object as usize];
        let last = order.partition_point(|&w| w < self.event);
        let updates = event.reads() && event.kind.may_write();
        let first = match updates {
            false => self.index.floor(self.event),
            // What a read that is revisited takes away with it may be what rules a write out. What is before the event stays.
            true => {
                let before = self.index.before(self.graph, self.event, NONE);
                match self.index.last_write(event.object, &before) {
                    INIT => 0,
                    w => 1 + order.partition_point(|&v| v < w),
                }
            }
        };
        (first, last)
    }

    /// About how many alternatives there are, at least one if there is any.
    pub(super) fn count(&self, writes_only: bool) -> usize {
        let event = self.event();
        if event.object == NONE {
            return 0;
        }
        let others = match writes_only {
            true => 0,
            false => {
                let (first, last) = self.places();
                last - first + usize::from(event.writes && self.graph.can_fail(self.event))
            }
        };
        let readers = match event.writes {
            true => self.readers(&self.writer()).iter().map(|r| r.len()).sum(),
            false => 0,
        };
        others + readers
    }

    /// All of them.
    pub(super) fn all(&self, writes_only: bool) -> Vec<Choice> {
        let event = self.event();
        if writes_only {
            return vec![Choice::Writer(self.writer())];
        }
        let (first, last) = self.places();
        if event.reads() {
            let writes = (first..=last).map(|place| self.write_at(place));
            let others = writes.filter(|&w| w != event.rf || event.writes);
            return others.map(Choice::Source).collect();
        }
        let places = (first..last).map(|place| Choice::Place(self.write_at(place)));
        places.chain([Choice::Writer(self.writer())]).collect()
    }

    /// What the choice is.
    pub(super) fn open(&self, choice: Choice) -> Opened {
        match choice {
            Choice::Place(after) => match self.is_taken(after) {
                true => Opened::Several(Vec::new()),
                false => Opened::One(self.change(&self.writer(), Some(after), false)),
            },
            Choice::Source(rf) => Opened::Several(self.of_source(rf)),
            Choice::Read {
                rf,
                writes,
                guessed,
            } => {
                let writer = Writer {
                    rf,
                    wrote: None,
                    unready: Unready::Refused,
                };
                Opened::One(self.change(&writer, writes.then_some(rf), guessed))
            }
            Choice::Writer(writer) => Opened::Several(self.of_writer(&writer)),
            Choice::Failure { rf, guessed } => {
                let writer = Writer {
                    rf,
                    wrote: None,
                    unready: Unready::Refused,
                };
                let fails = true;
                Opened::One(Change {
                    fails,
                    ..self.change(&writer, None, guessed)
                })
            }
            Choice::Reader {
                writer,
                read,
                fails,
            } if writer.rf == NONE => Opened::Several(self.of_reader(writer, read, fails)),
            Choice::Reader {
                writer,
                read,
                fails,
            } => Opened::One(self.revisit(&writer, (read, fails), writer.rf)),
            Choice::ReaderAt {
                writer,
                read,
                after,
                fails,
            } => Opened::One(self.revisit(&writer, (read, fails), after)),
        }
    }

    fn change(&self, writer: &Writer, after: Option<u32>, guessed: bool) -> Change {
        Change {
            now: self.now,
            event: self.event,
            rf: writer.rf,
            after,
            wrote: writer.wrote,
            unready: writer.unready,
            guessed,
            fails: false,
            revisit: None,
        }
    }

    fn revisit(&self, writer: &Writer, (read, fails): (u32, bool), after: u32) -> Change {
        let event = self.event();
        let other = writer.rf != event.rf && event.kind == Kind::Compare;
        let guessed = (other || fails) && self.known(writer.wrote).is_none();
        let revisit = Revisit {
            read,
            fails,
            prefix: self.index.before(self.graph, self.event, writer.rf),
        };
        Change {
            revisit: Some(revisit),
            ..self.change(writer, Some(after), guessed)
        }
    }

    /// The read-modify-write that has read this write, before the event was added.
    fn taker(&self, write: u32) -> Option<u32> {
        let order = &self.graph.mo[self.event().object as usize];
        let place = match write {
            INIT => 0,
            w => 1 + order.partition_point(|&v| v < w),
        };
        let next = order.get(place).filter(|&&next| next < self.event)?;
        (self.graph.events[*next as usize].rf == write).then_some(*next)
    }

    /// Whether nothing can come behind the write, as a read-modify-write is there.
    fn is_taken(&self, write: u32) -> bool {
        self.taker(write).is_some()
    }

    fn of_source(&self, rf: u32) -> Vec<Choice> {
        let event = self.event();
        if rf == event.rf {
            let failure = Choice::Failure { rf, guessed: false };
            return match event.writes {
                true if self.graph.can_fail(self.event) => {
                    vec![failure, Choice::Writer(self.writer())]
                }
                true => vec![Choice::Writer(self.writer())],
                false => Vec::new(),
            };
        }
        let value = self.graph.value(rf, event.object);
        if self.graph.passes(event, rf, value) == Some(false) {
            return Vec::new();
        }
        let known = self.known(value);
        let writes: &[bool] = match event.kind {
            Kind::Load | Kind::Wait | Kind::WaitAny => &[false],
            Kind::Compare => match known.map(|v| v == event.expected) {
                Some(true) => &[true],
                Some(false) => &[false],
                None => &[false, true],
            },
            _ => &[true],
        };
        let guessed = event.kind == Kind::Compare && known.is_none();
        // What sequential consistency rules out as it is may still be possible when a read is revisited.
        let ruled_out = rank(rf) < rank(self.write_at(self.index.floor(self.event)));
        let mut all = Vec::new();
        for &writes in writes {
            if !(ruled_out || writes && self.is_taken(rf)) {
                all.push(Choice::Read {
                    rf,
                    writes,
                    guessed,
                });
            }
            if writes {
                if !ruled_out && self.graph.can_fail(self.event) {
                    all.push(Choice::Failure { rf, guessed });
                }
                all.push(Choice::Writer(Writer {
                    rf,
                    wrote: None,
                    unready: Unready::Refused,
                }));
            }
        }
        all
    }

    /// A value of the event's object, if it can be compared.
    fn known(&self, value: Option<u64>) -> Option<u64> {
        value.filter(|_| self.graph.uniform[self.event().object as usize])
    }

    /// The reads that may be those that could read the event, among others.
    fn readers(&self, writer: &Writer) -> [&'g [u32]; 2] {
        let event = self.event();
        let prefix = self.index.before(self.graph, self.event, writer.rf);
        let oldest = self.index.last_write(event.object, &prefix);
        // A read-modify-write that has read the same must be the read, or go with it.
        let taker = match writer.rf {
            NONE => None,
            rf => self.taker(rf),
        };
        let taken = taker.map(|t| self.graph.events[t as usize].write_added);
        let now = taken.map_or(self.now, |taken| taken.min(self.now));
        self.index.reads(self.graph, event.object, oldest, now)
    }

    /// The earlier reads that could read the event: those that are not before it, and which, with all that goes, are what
    /// the exploration does first: reads of the last write there was, writes at the end of the modification order. Otherwise the
    /// changed graph is built elsewhere.
    fn of_writer(&self, writer: &Writer) -> Vec<Choice> {
        let (graph, index) = (self.graph, self.index);
        let prefix = index.before(graph, self.event, writer.rf);
        let added = |r: &u32| graph.events[*r as usize].added;
        let all = self.readers(writer);
        let outside = |r: &&u32| **r != self.event && !index.is_in(&prefix, **r);
        let mut reads: Vec<u32> = all.into_iter().flatten().filter(outside).copied().collect();
        let Some(first) = reads.iter().map(added).min() else {
            return Vec::new();
        };
        let since = self.last_disorder(first, &prefix);
        reads.retain(|r| since.is_none_or(|since| added(r) > since));
        reads.sort_unstable();
        let writer = *writer;
        let reader = |read| {
            let one = |fails| Choice::Reader {
                writer,
                read,
                fails,
            };
            let expected = graph.events[read as usize].expected;
            let suits = self
                .known(writer.wrote)
                .is_none_or(|wrote| wrote == expected);
            let fails = suits && graph.can_fail(read);
            [Some(one(false)), fails.then(|| one(true))]
        };
        reads.into_iter().flat_map(reader).flatten().collect()
    }

    /// When the last part was added, after `first`, that is not what the exploration does first.
    fn last_disorder(&self, first: u32, prefix: &Clock) -> Option<u32> {
        let (graph, index) = (self.graph, self.index);
        let mut last_writes: HashMap<u32, u32> = HashMap::new();
        let parts = &index.parts[..index.parts.partition_point(|p| p.time < self.now)];
        let since = parts.iter().rev().take_while(|p| p.time > first);
        let mut goes = since.filter(|p| p.event != self.event && !index.is_in(prefix, p.event));
        let disorder = goes.find(|part| {
            let event = &graph.events[part.event as usize];
            let last = last_writes.entry(event.object);
            let last = *last.or_insert_with(|| index.last_write(event.object, prefix));
            !match part.writes {
                true => index.write_is_maximal(part.event, event, last, prefix),
                false => index.read_is_maximal(part.event, event, last),
            }
        });
        disorder.map(|part| part.time)
    }

    /// The places that a store can have when a read reads it: behind all writes that sequential consistency puts before the
    /// store or the read.
    fn of_reader(&self, writer: Writer, read: u32, fails: bool) -> Vec<Choice> {
        let change = self.revisit(&writer, (read, fails), INIT);
        let stays = |q: u32| {
            let added = self.graph.events[q as usize].added;
            q != read && q != self.event && change.stays(self.graph, self.index, q, added)
        };
        let object = self.event().object as usize;
        let there = |w: &&u32| stays(**w);
        let writes = self.graph.mo[object].iter().filter(there).copied();
        let mut places: Vec<u32> = std::iter::once(INIT).chain(writes).collect();
        if places.len() > 1 {
            let last = self.last_before([self.event, read], stays);
            places.retain(|&w| rank(w) >= rank(last));
        }
        let taken = |pair: &[u32]| self.graph.events[pair[1] as usize].rf == pair[0];
        let free = places.windows(2).map(|pair| !taken(pair)).chain([true]);
        let places = places.iter().zip(free.collect::<Vec<_>>());
        let at = |(&after, free): (&u32, bool)| {
            free.then_some(Choice::ReaderAt {
                writer,
                read,
                after,
                fails,
            })
        };
        places.filter_map(at).collect()
    }

    /// The last write of the object that is before one of these events in `po ∪ rf ∪ mo ∪ fr` of what stays.
    fn last_before(&self, events: [u32; 2], stays: impl Fn(u32) -> bool) -> u32 {
        let graph = self.graph;
        let mut before = vec![false; graph.events.len()];
        let mark = |before: &mut Vec<bool>, e: u32| {
            if e < INIT {
                before[e as usize] = true;
            }
        };
        for e in events.iter().flat_map(|&e| graph.before[e as usize]) {
            mark(&mut before, e);
        }
        // By object: whether a write that was met is before one of the events. Then so is all that accesses it earlier.
        let mut written = vec![false; graph.mo.len()];
        for (e, event) in graph.events.iter().enumerate().rev() {
            if event.waits || !stays(e as u32) {
                continue;
            }
            let written = written.get_mut(event.object as usize);
            let is_before = before[e] || written.as_ref().is_some_and(|w| **w);
            if !is_before {
                continue;
            }
            for earlier in graph.before[e].into_iter().chain([event.rf]) {
                mark(&mut before, earlier);
            }
            if event.writes {
                if event.object == self.event().object {
                    return e as u32;
                }
                if let Some(written) = written {
                    *written = true;
                }
            }
        }
        INIT
    }
}
