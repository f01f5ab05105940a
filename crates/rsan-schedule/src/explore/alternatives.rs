//! What else an event could have done: read another write, be elsewhere in the modification order, or be read by an earlier
//! read (TruSt, procedures *Visit*, *VisitCOs* and *IsMaximallyAdded*).

use super::graph::{Event, Graph, INIT, NONE};
use super::item::{Change, Item, Revisit};
use super::plan::Unready;
use crate::Kind;

/// The alternatives of one event, when it is added to what was there before it.
pub(super) struct Alternatives<'g> {
    pub(super) graph: &'g Graph,
    pub(super) roots: u32,
    pub(super) items: Vec<Item>,
}

impl Alternatives<'_> {
    fn event(&self, e: u32) -> &Event {
        &self.graph.events[e as usize]
    }

    fn push(&mut self, change: &Change<'_>) {
        self.items.extend(self.graph.change(change, self.roots));
    }

    /// The initial write and those of the object that are there at time `now`, in modification order.
    fn writes(&self, object: u32, now: u32) -> Vec<u32> {
        let order = self.graph.mo[object as usize].iter().copied();
        let there = |w: &u32| self.event(*w).write_added < now;
        std::iter::once(INIT).chain(order.filter(there)).collect()
    }

    /// All alternatives of an event that is new.
    pub(super) fn of_event(&mut self, e: u32) {
        let event = *self.event(e);
        if event.object == NONE {
            return;
        }
        if event.reads() {
            self.of_read(e, &event);
        } else {
            self.of_store(e, &event);
        }
    }

    fn of_store(&mut self, e: u32, event: &Event) {
        let writes = self.writes(event.object, event.added);
        for &after in &writes[..writes.len() - 1] {
            self.push(&Change {
                now: event.added,
                event: e,
                rf: NONE,
                after: Some(after),
                wrote: event.wrote,
                unready: Unready::Diverges,
                guessed: false,
                revisit: None,
            });
        }
        self.revisits(e, NONE, event.wrote, event.added, Unready::Diverges);
    }

    fn of_read(&mut self, e: u32, event: &Event) {
        let now = event.added;
        for rf in self.writes(event.object, now) {
            if rf == event.rf {
                if event.writes {
                    self.revisits(e, rf, event.wrote, now, Unready::Diverges);
                }
                continue;
            }
            let value = self.graph.value(rf, event.object);
            if self.graph.passes(event, rf, value) == Some(false) {
                continue;
            }
            let unready = Unready::Refused;
            let comparable = self.graph.uniform[event.object as usize];
            let known = value.filter(|_| comparable);
            let writes: &[bool] = match event.kind {
                Kind::Load | Kind::Wait | Kind::WaitAny => &[false],
                Kind::Compare => match known.map(|v| v == event.expected) {
                    Some(true) => &[true],
                    Some(false) => &[false],
                    None => &[false, true],
                },
                _ => &[true],
            };
            for &writes in writes {
                self.push(&Change {
                    now,
                    event: e,
                    rf,
                    after: writes.then_some(rf),
                    wrote: None,
                    unready,
                    guessed: event.kind == Kind::Compare && known.is_none(),
                    revisit: None,
                });
                if writes {
                    self.revisits(e, rf, None, now, unready);
                }
            }
        }
    }

    /// The earlier reads that could read the write `e`, which reads `rf` itself if it reads.
    pub(super) fn revisits(
        &mut self,
        e: u32,
        rf: u32,
        wrote: Option<u64>,
        now: u32,
        unready: Unready,
    ) {
        let event = *self.event(e);
        let prefix = self.graph.prefix(e, rf);
        for r in 0..self.graph.events.len() as u32 {
            let read = self.event(r);
            let candidate = read.reads() && read.object == event.object && read.added < now;
            if r == e || !candidate || prefix[r as usize] || !self.is_maximal(e, r, &prefix, now) {
                continue;
            }
            let read = r;
            let mut change = Change {
                now,
                event: e,
                rf,
                after: Some(rf),
                wrote,
                unready,
                guessed: rf != event.rf && event.kind == Kind::Compare && wrote.is_none(),
                revisit: Some(Revisit {
                    read,
                    prefix: &prefix,
                }),
            };
            if rf != NONE {
                self.push(&change);
                continue;
            }
            let order = &self.graph.mo[event.object as usize];
            let there = |w: &&u32| {
                let added = self.event(**w).added;
                **w != r && **w != e && change.stays(self.graph, **w as usize, added)
            };
            let places: Vec<u32> = order.iter().filter(there).copied().collect();
            for after in std::iter::once(INIT).chain(places) {
                change.after = Some(after);
                self.push(&change);
            }
        }
    }

    /// Whether `r`, and all that goes when `e` revisits it, is what the exploration does first: reads of the last write there
    /// was, writes at the end of the modification order. Otherwise the changed graph is built elsewhere.
    fn is_maximal(&self, e: u32, r: u32, prefix: &[bool], now: u32) -> bool {
        let since = self.event(r).added;
        if !self.read_is_maximal(r, prefix) {
            return false;
        }
        (0..self.graph.events.len() as u32).all(|d| {
            let event = self.event(d);
            let goes = |time: u32| d != e && time > since && time < now && !prefix[d as usize];
            let read = !event.reads() || !goes(event.added) || self.read_is_maximal(d, prefix);
            let write =
                !event.writes || !goes(event.write_added) || self.write_is_maximal(d, prefix, now);
            read && write
        })
    }

    /// Whether the write was there when something was added at `time`, or is before the revisiting write.
    fn write_counts(&self, write: u32, time: u32, prefix: &[bool]) -> bool {
        self.event(write).write_added <= time || prefix[write as usize]
    }

    /// Writes of an object behind this one in modification order.
    fn later(&self, write: u32, object: u32) -> &[u32] {
        &self.graph.mo[object as usize][self.graph.place(write)..]
    }

    fn read_is_maximal(&self, d: u32, prefix: &[bool]) -> bool {
        let event = self.event(d);
        let mut later = self.later(event.rf, event.object).iter();
        !later.any(|&w| w != d && self.write_counts(w, event.added, prefix))
    }

    fn write_is_maximal(&self, d: u32, prefix: &[bool], now: u32) -> bool {
        let event = self.event(d);
        let time = event.write_added;
        let mut events = self.graph.events.iter().zip(prefix);
        let read_before =
            events.any(|(q, &inside)| q.rf == d && q.added < now && (q.added <= time || inside));
        let mut later = self.later(d, event.object).iter();
        !read_before && !later.any(|&w| self.write_counts(w, time, prefix))
    }
}
