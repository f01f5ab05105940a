//! What else an event could have done: read another write, fail without a reason, or be read by an earlier read.

use super::change::{Change, How, Revisit};
use super::graph::{Event, Graph, INIT, NONE};
use crate::Kind;
use crate::explore::Unready;

/// An alternative of an event, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// The event reads this write, and all that follows from it.
    Source(u32),
    /// The event does this.
    Does(How),
    /// The event does this, and this earlier read reads it, and may fail without a reason then.
    Reader { how: How, read: u32, fails: bool },
}

/// What a choice turns out to be.
pub(super) enum Opened {
    /// These, in order; the last comes first.
    Several(Vec<Choice>),
    /// A graph, if it is consistent.
    One(Change),
    /// Nothing: the graph is built elsewhere.
    Elsewhere,
}

/// The alternatives of one event, when it is added to what was there at time `now`.
pub(super) struct Alternatives<'g> {
    graph: &'g Graph,
    event: u32,
    /// Whether only its write part is new.
    write: bool,
    now: u32,
}

impl<'g> Alternatives<'g> {
    /// Those of an event that is new, or of one whose write part is.
    pub(super) fn of(graph: &'g Graph, event: u32, write: bool) -> Self {
        let Event {
            added, write_added, ..
        } = graph.events[event as usize];
        Self {
            graph,
            event,
            write,
            now: if write { write_added } else { added },
        }
    }

    fn event(&self) -> &'g Event {
        &self.graph.events[self.event as usize]
    }

    /// The event as it was in the run.
    fn as_it_was(&self) -> How {
        let event = self.event();
        How {
            rf: event.rf,
            writes: event.writes,
            wrote: event.wrote,
            spurious: event.spurious,
            unready: Unready::Diverges,
        }
    }

    /// The writes of the same object that were there, the initial one first.
    fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        let object = self.event().object;
        let there = move |(w, event): &(u32, &Event)| {
            let other = *w != self.event && event.object == object;
            other && event.writes && event.write_added < self.now
        };
        let writes = (0..).zip(&self.graph.events).filter(there);
        [INIT].into_iter().chain(writes.map(|(w, _)| w))
    }

    /// The earlier reads of the same object that are not before the event, if it reads `rf`.
    fn readers(&self, rf: u32) -> Vec<u32> {
        let object = self.event().object;
        let prefix = self.prefix(rf);
        let is_reader = |(q, event): &(u32, &Event)| {
            let other = *q != self.event && event.object == object;
            other && event.reads() && event.added < self.now && !prefix[*q as usize]
        };
        let all = (0..).zip(&self.graph.events).filter(is_reader);
        all.map(|(q, _)| q).collect()
    }

    /// What is before the event if it reads `rf`.
    fn prefix(&self, rf: u32) -> Vec<bool> {
        let before = self.graph.before[self.event as usize];
        self.graph.prefix(before.into_iter().chain([rf]))
    }

    /// About how many alternatives there are, at least one if there is any.
    pub(super) fn count(&self) -> usize {
        let event = self.event();
        if event.object == NONE {
            return 0;
        }
        let others = match event.reads() && !self.write {
            true => self.sources().count() - 1 + usize::from(event.may_fail),
            false => 0,
        };
        let readers = match event.writes {
            true => self.readers(event.rf).len(),
            false => 0,
        };
        others + readers
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Choice> {
        match self.event().reads() && !self.write {
            true => self.sources().map(Choice::Source).collect(),
            false => self.by_readers(self.as_it_was()),
        }
    }

    fn by_readers(&self, how: How) -> Vec<Choice> {
        let mut all = Vec::new();
        for read in self.readers(how.rf) {
            let Event {
                may_fail, expected, ..
            } = self.graph.events[read as usize];
            let fails = false;
            all.push(Choice::Reader { how, read, fails });
            if may_fail && how.wrote.is_none_or(|value| value == expected) {
                let fails = true;
                all.push(Choice::Reader { how, read, fails });
            }
        }
        all
    }

    /// What the choice is.
    pub(super) fn open(&self, choice: Choice) -> Opened {
        match choice {
            Choice::Source(rf) => Opened::Several(self.of_source(rf)),
            Choice::Does(how) => Opened::One(self.change(how, None)),
            Choice::Reader { how, read, fails } => {
                let prefix = self.prefix(how.rf);
                let revisit = Revisit {
                    read,
                    fails,
                    prefix,
                };
                let change = self.change(how, Some(revisit));
                let revisit = change.revisit.as_ref().expect("a read that is revisited");
                match self.graph.is_maximal(&change, revisit) {
                    true => Opened::One(change),
                    false => Opened::Elsewhere,
                }
            }
        }
    }

    fn change(&self, how: How, revisit: Option<Revisit>) -> Change {
        Change {
            now: self.now,
            event: self.event,
            how,
            revisit,
        }
    }

    fn of_source(&self, rf: u32) -> Vec<Choice> {
        let event = self.event();
        let same = rf == event.rf;
        let value = self.graph.value(rf, event.object);
        let passes = self.graph.passes(event, rf, value);
        if passes == Some(false) || same && event.waits {
            return Vec::new();
        }
        let writes = match same {
            true => event.writes,
            false => Graph::writes(event, value).unwrap_or(false),
        };
        let other = How {
            rf,
            writes,
            // What a compare-and-swap writes does not depend on what it reads.
            wrote: event
                .wrote
                .filter(|_| writes && event.kind == Kind::Compare),
            spurious: false,
            unready: Unready::Refused,
        };
        let mut all = Vec::new();
        if event.may_fail && writes {
            all.push(Choice::Does(How {
                writes: false,
                wrote: None,
                spurious: true,
                ..other
            }));
        }
        if !same {
            all.push(Choice::Does(other));
        }
        if writes {
            all.extend(self.by_readers(if same { self.as_it_was() } else { other }));
        }
        all
    }
}
