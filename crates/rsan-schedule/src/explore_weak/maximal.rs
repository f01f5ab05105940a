//! Whether what a revisit takes away is what the exploration adds first (TruSt, procedure *IsMaximallyAdded*).
//!
//! Of all graphs that lead to the same revisited graph, only the one is used in which everything that goes is a *first choice*. That is a function
//! of what is there: of the writes that are consistent and that no write is known to follow, the one that was added last before the read; then
//! those that the revisiting write needs, by their names.

use super::change::{Change, How, Revisit};
use super::consistent::{Check, Part, Verdict};
use super::graph::{Event, Graph, INIT, NONE, Syncs};
use crate::Kind;

/// A part of an event that was added.
struct Added {
    time: u32,
    event: u32,
    /// The write part of a read-modify-write, or a store.
    writes: bool,
}

/// A place in the order of choices; the highest that is possible is the first choice.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'n> {
    /// When it was added, if that was before the read.
    added: Option<u32>,
    name: Option<&'n super::graph::Name>,
}

impl Graph {
    /// Whether all that the change takes away, and the read that is revisited, are first choices.
    pub(super) fn is_maximal(&self, change: &Change, revisit: &Revisit) -> bool {
        let first = self.events[revisit.read as usize].added;
        let mut gone: Vec<Added> = Vec::new();
        for (q, event) in (0..).zip(&self.events) {
            if revisit.prefix[q as usize] || q == change.event {
                continue;
            }
            let mut add = |time: u32, writes| {
                let goes = time > first || time == first && q == revisit.read;
                if goes && time < change.now {
                    gone.push(Added {
                        time,
                        event: q,
                        writes,
                    });
                }
            };
            if event.reads() {
                add(event.added, false);
            }
            if event.writes {
                add(event.write_added, true);
            }
        }
        gone.sort_unstable_by_key(|added| std::cmp::Reverse(added.time));
        gone.iter().all(|added| match added.writes {
            true => !self.is_read(added, change),
            false => self.is_first_choice(added, change),
        })
    }

    /// Whether an earlier read, or one that the revisiting write needs, reads it.
    fn is_read(&self, added: &Added, change: &Change) -> bool {
        let mut events = (0..).zip(&self.events);
        events.any(|(q, event)| {
            event.rf == added.event && (event.added < added.time || change.is_in_prefix(q))
        })
    }

    /// What was there when the event was added, with what the revisiting write needs.
    fn previous(&self, added: &Added, change: &Change) -> Part<'_> {
        let mut events = self.events.clone();
        let mut stays = vec![false; events.len()];
        for (q, event) in (0..).zip(&mut events) {
            let there = |time: u32| time < added.time || change.is_in_prefix(q);
            stays[q as usize] = there(event.added);
            event.writes &= there(event.write_added);
        }
        let e = change.event as usize;
        let How { rf, .. } = change.how;
        stays[e] = rf != NONE;
        (events[e].rf, events[e].writes) = (rf, false);
        Part {
            graph: self,
            events,
            stays,
        }
    }

    fn is_first_choice(&self, added: &Added, change: &Change) -> bool {
        let read = &self.events[added.event as usize];
        let previous = self.previous(added, change);
        let is_write = |w: u32| {
            let event = &previous.events[w as usize];
            previous.stays[w as usize] && event.writes && event.object == read.object
        };
        let writes: Vec<u32> = (0..self.events.len() as u32)
            .filter(|&w| is_write(w))
            .collect();
        if read.rf != INIT && !is_write(read.rf) || read.spurious {
            return false;
        }
        if read.is_ordered() {
            return read.rf == self.last_of(&writes);
        }
        let Some(check) = Check::new(&previous, Syncs::Always) else {
            return true;
        };
        if check.is_overwritten(read.rf, read.object) {
            return false;
        }
        let rank = |w: u32| self.rank(w, added.time);
        let mut others = writes.iter().copied().chain([INIT]);
        !others.any(|w| {
            let counts = w != read.rf && (read.waits || rank(w) > rank(read.rf));
            counts
                && !check.is_overwritten(w, read.object)
                && self.is_choice(&previous, added.event, w)
        })
    }

    fn rank(&self, write: u32, time: u32) -> Rank<'_> {
        let event = self.events.get(write as usize);
        let added = event.map_or(0, |event| event.write_added + 1);
        let earlier = event.is_none_or(|event| event.write_added < time);
        Rank {
            added: earlier.then_some(added),
            name: event.map(|_| &self.names[write as usize]),
        }
    }

    /// Whether the event can read the write and pass.
    fn is_choice(&self, previous: &Part<'_>, read: u32, write: u32) -> bool {
        let event = &self.events[read as usize];
        let value = self.value(write, event.object);
        if self.passes(event, write, value) == Some(false) {
            return false;
        }
        let fails_alike = event.vain && value == self.value(event.rf, event.object);
        let writes = match event.kind {
            Kind::Compare => value == Some(event.expected),
            kind => kind.may_write() && !fails_alike,
        };
        let mut events = previous.events.clone();
        let mut stays = previous.stays.clone();
        events[read as usize] = Event {
            rf: write,
            writes,
            waits: false,
            ..*event
        };
        stays[read as usize] = true;
        let part = Part {
            graph: self,
            events,
            stays,
        };
        let check = Check::new(&part, Syncs::Always);
        check.is_some_and(|check| matches!(check.verdict(|_| 0), Verdict::Yes(_)))
    }

    /// The last of writes of an object whose operations are all ordered by what they read.
    pub(super) fn last_of(&self, writes: &[u32]) -> u32 {
        let before = |w: u32| {
            let prefix = self.prefix([w]);
            writes.iter().filter(|v| prefix[**v as usize]).count()
        };
        let last = writes.iter().copied().max_by_key(|&w| before(w));
        last.unwrap_or(INIT)
    }
}
