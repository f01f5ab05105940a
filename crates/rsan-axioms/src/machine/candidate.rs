//! Candidate executions: events, what the threads say about them, and what the memory does.

use rsan_model::machine::{Fence, Strength};
use rsan_model::{EventId, EventSet, LocId, Relation, ThreadId, Value};

/// An event. Initial writes come first, then the events of each thread in program order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// Whose; `None` for the initial write of a location.
    pub thread: Option<ThreadId>,
    /// The operation it comes from: an index into the thread's code.
    pub op: usize,
    /// The instruction it comes from, as [`rsan_model::machine::Thread::origins`] has it.
    pub origin: u32,
    /// What it does.
    pub kind: Kind,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Reads a location.
    Read(Access),
    /// Writes a location.
    Write(Access),
    /// Orders.
    Fence(Fence),
}

/// A read or write of a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Where.
    pub loc: LocId,
    /// What is read or written.
    pub value: Value,
    /// Its order.
    pub strength: Strength,
    /// Whether it is a load that reserves or a store that needs the reservation.
    pub exclusive: bool,
    /// Whether it is a part of an instruction that reads and writes; also the read of one that did not write.
    pub update: bool,
    /// For the read of such an instruction: whether the program sees the value.
    pub returns: bool,
}

/// Dependencies: from a read (on RISC-V also from a store-conditional) to later events of its thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependencies {
    /// The later access has an address that depends on it.
    pub addr: Relation,
    /// The later write has a value that depends on it; picks also lead to the next loads of that location.
    pub data: Relation,
    /// A branch between them depends on it; to every event behind the branch, fences included.
    pub ctrl: Relation,
}

/// An execution that the threads and each location by itself allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The events.
    pub events: Vec<Event>,
    /// Program order, transitive; initial writes are not in it.
    pub po: Relation,
    /// Dependencies through values.
    pub deps: Dependencies,
    /// Dependencies that pass a choice between values at least once (`csel`, the comparison of `cas`); ARMv8 only.
    pub pick: Dependencies,
    /// From the read of an update to its write; exclusives only if the store succeeds and belongs to the load.
    pub rmw: Relation,
    /// The part of `rmw` that comes from one instruction.
    pub amo: Relation,
    /// From a write to the reads that see it.
    pub rf: Relation,
    /// The order of the writes of each location, transitive, the initial one first.
    pub co: Relation,
    /// The final registers of each thread.
    pub registers: Vec<Vec<Value>>,
    /// The final value of each location.
    pub memory: Vec<Value>,
}

impl Event {
    /// The access, unless it is a fence.
    pub fn access(&self) -> Option<&Access> {
        match &self.kind {
            Kind::Read(access) | Kind::Write(access) => Some(access),
            Kind::Fence(_) => None,
        }
    }

    /// Its location, unless it is a fence.
    pub fn loc(&self) -> Option<LocId> {
        self.access().map(|a| a.loc)
    }

    /// Whether it reads.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    /// Whether it writes.
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write(_))
    }
}

impl Candidate {
    /// The events that satisfy `f`.
    pub fn select(&self, f: impl Fn(&Event) -> bool) -> EventSet {
        EventSet::filter(self.events.len(), |e| f(&self.events[e.index()]))
    }

    /// `R`
    pub fn reads(&self) -> EventSet {
        self.select(Event::is_read)
    }

    /// `W`, initial writes included.
    pub fn writes(&self) -> EventSet {
        self.select(Event::is_write)
    }

    /// `M`: all but fences.
    pub fn accesses(&self) -> EventSet {
        self.select(|e| e.access().is_some())
    }

    /// The accesses that satisfy `f`.
    pub fn with(&self, f: impl Fn(&Access) -> bool) -> EventSet {
        self.select(|e| e.access().is_some_and(&f))
    }

    /// The fences that satisfy `f`.
    pub fn fences(&self, f: impl Fn(Fence) -> bool) -> EventSet {
        self.select(|e| matches!(e.kind, Kind::Fence(fence) if f(fence)))
    }

    /// `[from] ; po ; [by] ; po ; [to]`: what the fences `by` stand between.
    pub fn fenced(&self, from: EventSet, by: EventSet, to: EventSet) -> Relation {
        let before = self.po.between(from, by);
        before.then(&self.po.between(by, to))
    }

    /// Program order of accesses of one location.
    pub fn po_loc(&self) -> Relation {
        let mut r = Relation::new(self.events.len());
        for (a, b) in self.po.pairs() {
            let (x, y) = (&self.events[a.index()], &self.events[b.index()]);
            if x.loc().is_some() && x.loc() == y.loc() {
                r.add(a, b);
            }
        }
        r
    }

    /// How the threads communicate.
    pub fn communication(&self) -> Communication {
        let n = self.events.len();
        let mut fr = Relation::new(n);
        for (w, r) in self.rf.pairs() {
            self.co
                .successors(w)
                .iter()
                .for_each(|later| fr.add(r, later));
        }
        let (rfi, rfe) = self.split(&self.rf);
        let (coi, coe) = self.split(&self.co);
        let (fri, fre) = self.split(&fr);
        Communication {
            rf: self.rf.clone(),
            co: self.co.clone(),
            fr,
            rfi,
            rfe,
            coi,
            coe,
            fri,
            fre,
        }
    }

    /// The pairs within a thread, and those between threads.
    fn split(&self, relation: &Relation) -> (Relation, Relation) {
        let mut internal = Relation::new(self.events.len());
        let mut external = Relation::new(self.events.len());
        for (a, b) in relation.pairs() {
            match self.thread(a) == self.thread(b) {
                true => internal.add(a, b),
                false => external.add(a, b),
            }
        }
        (internal, external)
    }

    fn thread(&self, e: EventId) -> Option<ThreadId> {
        self.events[e.index()].thread
    }
}

/// The communication relations of a candidate. Initial writes belong to no thread: what they take part in is external.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Communication {
    /// Reads-from.
    pub rf: Relation,
    /// Coherence.
    pub co: Relation,
    /// From-read: from a read to the writes that come after the one it sees.
    pub fr: Relation,
    /// `rf` within a thread.
    pub rfi: Relation,
    /// `rf` between threads.
    pub rfe: Relation,
    /// `co` within a thread.
    pub coi: Relation,
    /// `co` between threads.
    pub coe: Relation,
    /// `fr` within a thread.
    pub fri: Relation,
    /// `fr` between threads.
    pub fre: Relation,
}

impl Communication {
    /// `rf ∪ co ∪ fr`
    pub fn com(&self) -> Relation {
        self.rf.union(&self.co).union(&self.fr)
    }

    /// `rfe ∪ coe ∪ fre`
    pub fn external(&self) -> Relation {
        self.rfe.union(&self.coe).union(&self.fre)
    }
}
