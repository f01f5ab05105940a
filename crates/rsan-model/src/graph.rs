//! Execution graphs: what happened (events), in which order in each thread (`po`), which write each read
//! saw (`rf`), and in which order the writes of each location took effect (`mo`).

use crate::{
    EventId, EventSet, FenceOrd, LocId, Pc, ReadOrd, Relation, RmwOrd, ThreadId, Value, WriteOrd,
};

/// What an event does. Plain accesses are labels of their own: they have no order at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Label {
    /// The initial write of a location; it belongs to no thread.
    Init {
        /// Which location.
        loc: LocId,
        /// With what.
        value: Value,
    },
    /// Atomic read: a load, a failed compare-and-swap, or a wait.
    Read {
        /// Which location.
        loc: LocId,
        /// What it saw.
        value: Value,
        /// Its order.
        ord: ReadOrd,
    },
    /// Atomic write.
    Write {
        /// Which location.
        loc: LocId,
        /// What it wrote.
        value: Value,
        /// Its order.
        ord: WriteOrd,
    },
    /// Atomic read-modify-write: one event, both a read and a write.
    Rmw {
        /// Which location.
        loc: LocId,
        /// What it saw.
        read: Value,
        /// What it wrote.
        written: Value,
        /// Its order.
        ord: RmwOrd,
    },
    /// Non-atomic read.
    PlainRead {
        /// Which location.
        loc: LocId,
        /// What it saw.
        value: Value,
    },
    /// Non-atomic write.
    PlainWrite {
        /// Which location.
        loc: LocId,
        /// What it wrote.
        value: Value,
    },
    /// Thread fence.
    Fence(FenceOrd),
    /// Creation of a thread.
    Spawn(ThreadId),
    /// First event of a created thread.
    Begin,
    /// Last event of a created thread.
    End,
    /// Wait for the end of a thread.
    Join(ThreadId),
}

impl Label {
    /// What kind of event it is, in a word.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Init { .. } => "init",
            Self::Read { .. } | Self::PlainRead { .. } => "read",
            Self::Write { .. } | Self::PlainWrite { .. } => "write",
            Self::Rmw { .. } => "rmw",
            Self::Fence(_) => "fence",
            Self::Spawn(_) => "create",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Join(_) => "join",
        }
    }

    /// The location it accesses.
    pub fn loc(self) -> Option<LocId> {
        match self {
            Self::Init { loc, .. }
            | Self::Read { loc, .. }
            | Self::Write { loc, .. }
            | Self::Rmw { loc, .. }
            | Self::PlainRead { loc, .. }
            | Self::PlainWrite { loc, .. } => Some(loc),
            Self::Fence(_) | Self::Spawn(_) | Self::Begin | Self::End | Self::Join(_) => None,
        }
    }

    /// The value it reads.
    pub fn value_read(self) -> Option<Value> {
        match self {
            Self::Read { value, .. } | Self::PlainRead { value, .. } => Some(value),
            Self::Rmw { read, .. } => Some(read),
            _ => None,
        }
    }

    /// The value it writes.
    pub fn value_written(self) -> Option<Value> {
        match self {
            Self::Init { value, .. }
            | Self::Write { value, .. }
            | Self::PlainWrite { value, .. } => Some(value),
            Self::Rmw { written, .. } => Some(written),
            _ => None,
        }
    }

    /// Whether it reads.
    pub fn is_read(self) -> bool {
        self.value_read().is_some()
    }

    /// Whether it writes.
    pub fn is_write(self) -> bool {
        self.value_written().is_some()
    }

    /// Whether it is a read-modify-write.
    pub fn is_rmw(self) -> bool {
        matches!(self, Self::Rmw { .. })
    }

    /// Whether it is a non-atomic access.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::PlainRead { .. } | Self::PlainWrite { .. })
    }

    /// Whether its read part (or the fence) acquires.
    pub fn acquires(self) -> bool {
        match self {
            Self::Read { ord, .. } => ord.acquires(),
            Self::Rmw { ord, .. } => ord.acquires(),
            Self::Fence(ord) => ord.acquires(),
            _ => false,
        }
    }

    /// Whether its write part (or the fence) releases.
    pub fn releases(self) -> bool {
        match self {
            Self::Write { ord, .. } => ord.releases(),
            Self::Rmw { ord, .. } => ord.releases(),
            Self::Fence(ord) => ord.releases(),
            _ => false,
        }
    }

    /// Whether it is a seq_cst access.
    pub fn is_sc_access(self) -> bool {
        match self {
            Self::Read { ord, .. } => ord.is_sc(),
            Self::Write { ord, .. } => ord.is_sc(),
            Self::Rmw { ord, .. } => ord.is_sc(),
            _ => false,
        }
    }

    /// Whether it is a seq_cst fence.
    pub fn is_sc_fence(self) -> bool {
        matches!(self, Self::Fence(FenceOrd::SeqCst))
    }

    /// Whether it is a fence.
    pub fn is_fence(self) -> bool {
        matches!(self, Self::Fence(_))
    }
}

/// An event: a label, and whose instruction it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// The thread; `None` for initial writes.
    pub thread: Option<ThreadId>,
    /// The instruction; meaningless for initial writes and for [`Label::Begin`] / [`Label::End`].
    pub pc: Pc,
    /// What it does.
    pub label: Label,
}

/// An execution graph. The events of one thread stand in program order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Graph {
    events: Vec<Event>,
    rf: Vec<Option<EventId>>,
    mo: Vec<Vec<EventId>>,
}

impl Graph {
    /// The graph of the initial writes, one for each value.
    pub fn initial(values: impl IntoIterator<Item = Value>) -> Self {
        let mut graph = Self::default();
        for (i, value) in values.into_iter().enumerate() {
            let loc = LocId::new(i);
            let id = graph.push(Event {
                thread: None,
                pc: Pc(0),
                label: Label::Init { loc, value },
            });
            graph.mo.push(vec![id]);
        }
        graph
    }

    /// Adds an event at the end of its thread; `rf` and `mo` are set separately.
    pub fn push(&mut self, event: Event) -> EventId {
        let id = EventId::new(self.events.len());
        self.events.push(event);
        self.rf.push(None);
        id
    }

    /// Removes the event that was pushed last, also from `mo`.
    pub fn pop(&mut self) {
        if let Some(event) = self.events.pop() {
            self.rf.pop();
            let id = EventId::new(self.events.len());
            if let (true, Some(loc)) = (event.label.is_write(), event.label.loc()) {
                self.mo[loc.index()].retain(|&w| w != id);
            }
        }
    }

    /// Replaces an event's label.
    pub fn set_label(&mut self, e: EventId, label: Label) {
        self.events[e.index()].label = label;
    }

    /// Sets the write that a read sees.
    pub fn set_rf(&mut self, read: EventId, write: EventId) {
        self.rf[read.index()] = Some(write);
    }

    /// Puts a write into the modification order of its location, at `position` (0 is the initial write).
    pub fn insert_mo(&mut self, write: EventId, loc: LocId, position: usize) {
        self.mo[loc.index()].insert(position, write);
    }

    /// Number of events, initial writes included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether it has no event at all, not even an initial write.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Number of locations.
    pub fn locations(&self) -> usize {
        self.mo.len()
    }

    /// An event.
    pub fn event(&self, e: EventId) -> &Event {
        &self.events[e.index()]
    }

    /// An event's label.
    pub fn label(&self, e: EventId) -> Label {
        self.events[e.index()].label
    }

    /// All events.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = EventId> + use<> {
        (0..self.events.len()).map(EventId::new)
    }

    /// The write that a read sees.
    pub fn reads_from(&self, read: EventId) -> Option<EventId> {
        self.rf[read.index()]
    }

    /// The writes of a location in modification order, the initial one first.
    pub fn modification_order(&self, loc: LocId) -> &[EventId] {
        &self.mo[loc.index()]
    }

    /// The events whose label satisfies `f`.
    pub fn select(&self, f: impl Fn(Label) -> bool) -> EventSet {
        EventSet::filter(self.len(), |e| f(self.label(e)))
    }

    /// Program order, transitive, per thread; initial writes come before every event of a thread.
    pub fn po(&self) -> Relation {
        let mut r = Relation::new(self.len());
        for b in self.ids() {
            for a in self.ids() {
                let (ta, tb) = (self.event(a).thread, self.event(b).thread);
                if tb.is_some() && (ta.is_none() || (ta == tb && a < b)) {
                    r.add(a, b);
                }
            }
        }
        r
    }

    /// Creation and join: `Spawn(t)` to the `Begin` of t, the `End` of t to `Join(t)`.
    pub fn asw(&self) -> Relation {
        let mut r = Relation::new(self.len());
        for a in self.ids() {
            for b in self.ids() {
                let edge = match (self.label(a), self.label(b)) {
                    (Label::Spawn(t), Label::Begin) => self.event(b).thread == Some(t),
                    (Label::End, Label::Join(t)) => self.event(a).thread == Some(t),
                    _ => false,
                };
                if edge {
                    r.add(a, b);
                }
            }
        }
        r
    }

    /// Reads-from, from write to read.
    pub fn rf(&self) -> Relation {
        let mut r = Relation::new(self.len());
        for read in self.ids() {
            if let Some(write) = self.reads_from(read) {
                r.add(write, read);
            }
        }
        r
    }

    /// Modification order, transitive.
    pub fn mo(&self) -> Relation {
        let mut r = Relation::new(self.len());
        for order in &self.mo {
            for (i, &a) in order.iter().enumerate() {
                order[i + 1..].iter().for_each(|&b| r.add(a, b));
            }
        }
        r
    }

    /// From-read: `(rf^-1 ; mo) \ id`, from a read to the writes that come after what it saw.
    pub fn fr(&self) -> Relation {
        let r = self.rf().inverse().then(&self.mo());
        let all = EventSet::filter(self.len(), |_| true);
        r.minus(&Relation::identity_on(self.len(), all))
    }

    /// Extended coherence order: `(rf ∪ mo ∪ fr)+`.
    pub fn eco(&self) -> Relation {
        self.rf().union(&self.mo()).union(&self.fr()).plus()
    }

    /// The union whose cycles are what SC forbids: `po ∪ asw ∪ rf ∪ mo ∪ fr`, not closed.
    pub fn sc_order(&self) -> Relation {
        self.po()
            .union(&self.asw())
            .union(&self.rf())
            .union(&self.mo())
            .union(&self.fr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_buffering_has_an_sc_cycle() {
        let mut g = Graph::initial([0, 0]);
        let mut add = |t: u32, label| {
            g.push(Event {
                thread: Some(ThreadId(t)),
                pc: Pc(0),
                label,
            })
        };
        let (x, y) = (LocId(0), LocId(1));
        let write = |loc| Label::Write {
            loc,
            value: 1,
            ord: WriteOrd::Release,
        };
        let read = |loc| Label::Read {
            loc,
            value: 0,
            ord: ReadOrd::Acquire,
        };
        let (wx, ry) = (add(0, write(x)), add(0, read(y)));
        let (wy, rx) = (add(1, write(y)), add(1, read(x)));
        g.insert_mo(wx, x, 1);
        g.insert_mo(wy, y, 1);
        g.set_rf(ry, EventId(1));
        g.set_rf(rx, EventId(0));
        assert_eq!(g.sc_order().shortest_cycle(), Some(vec![wx, ry, wy, rx]));
        assert!(g.eco().is_irreflexive());
        assert!(g.fr().contains(ry, wy));
    }
}
