//! Execution graphs of runs, with the order in which the exploration added their events.

use crate::Kind;
use crate::by_thread::ByThread;

pub(super) use crate::renumber::{INIT, NONE};

/// An event. Read-modify-writes are one event with two parts, which may be added at different times: the write part of a
/// read that is revisited comes later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    pub(super) kind: Kind,
    /// The object, or [`NONE`].
    pub(super) object: u32,
    /// The write that it reads, [`INIT`], or [`NONE`] when it does not read.
    pub(super) rf: u32,
    /// Whether it writes.
    pub(super) writes: bool,
    /// Whether it is an operation that waits: the thread's last event, which reads a write that does not let it pass.
    pub(super) waits: bool,
    /// The value written.
    pub(super) wrote: Option<u64>,
    /// The value that it compares with.
    pub(super) expected: u64,
    /// Whether it is a compare-and-swap that may fail for no reason.
    pub(super) may_fail: bool,
    /// Whether it does: it finds what it expects, and only reads.
    pub(super) spurious: bool,
    /// When it was added; for a read-modify-write, its read part.
    pub(super) added: u32,
    /// When its write part was added; for others the same.
    pub(super) write_added: u32,
    /// The thread that it creates or joins.
    pub(super) peer: u32,
}

impl Event {
    pub(super) fn reads(&self) -> bool {
        self.rf != NONE
    }
}

/// How often a thread fails for no reason at one object before it succeeds there.
const FAILURES: usize = 3;

/// An execution graph: the events that were executed, in an order in which they can be, then those that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    /// By object: its writes in modification order, without the initial one.
    pub(super) mo: Vec<Vec<u32>>,
    /// By event: the events directly before it by program order, creation, join and meeting, at most two.
    pub(super) before: Vec<[u32; 2]>,
    /// By object: the initial value, if it is known.
    pub(super) initial: Vec<Option<u64>>,
    /// By object: whether all accesses are to the same bytes, so that values tell what reads from where.
    pub(super) uniform: Vec<bool>,
}

impl Graph {
    /// The graph of these events and objects; `None` if their numbers do not fit together.
    pub(super) fn from_parts(
        events: Vec<Event>,
        initial: Vec<Option<u64>>,
        uniform: Vec<bool>,
    ) -> Option<Self> {
        let mut graph = Self {
            mo: vec![Vec::new(); initial.len()],
            initial,
            uniform,
            ..Self::default()
        };
        let mut links = Links::default();
        for (e, event) in (0..).zip(events) {
            let accesses = event.reads() || event.writes;
            let order = match graph.mo.get_mut(event.object as usize) {
                None if accesses && event.kind.is_access() || event.object != NONE => return None,
                order => order,
            };
            let is_write = |w: u32| {
                let write = graph.events.get(w as usize);
                write.is_some_and(|w| w.writes && w.object == event.object)
            };
            if event.rf < INIT && !is_write(event.rf) || event.added > NONE / 2 {
                return None;
            }
            if let Some(order) = order.filter(|_| event.writes) {
                order.push(e);
            }
            graph.before.push(links.before(e, &event));
            graph.events.push(event);
        }
        Some(graph)
    }

    /// The value of a write, if it is known.
    pub(super) fn value(&self, write: u32, object: u32) -> Option<u64> {
        match write {
            INIT => self.initial[object as usize],
            w => self.events[w as usize].wrote,
        }
    }

    /// Whether the compare-and-swap can be made to fail for no reason: its thread has not done so too often since it last succeeded.
    pub(super) fn can_fail(&self, e: u32) -> bool {
        self.events[e as usize].may_fail && !self.is_tired(e)
    }

    /// Whether the thread of the event has failed for no reason so often since it last succeeded at the object that nobody asks what
    /// comes of another failure: it may count them.
    pub(super) fn is_tired(&self, e: u32) -> bool {
        let Event { thread, object, .. } = self.events[e as usize];
        let before = self.events[..e as usize].iter().rev();
        let own = before.filter(|event| event.thread == thread && event.object == object);
        let since = own.take_while(|event| !(event.may_fail && event.writes));
        since.filter(|event| event.spurious).count() >= FAILURES
    }

    /// The last write of an object that is there at time `now`.
    pub(super) fn last_write(&self, object: u32, now: u32) -> u32 {
        let writes = self.mo[object as usize].iter().rev();
        let mut present = writes.filter(|&&w| self.events[w as usize].write_added < now);
        present.next().copied().unwrap_or(INIT)
    }
}

/// Who was before whom, as the events of a run come.
#[derive(Default)]
pub(super) struct Links {
    /// By thread: its last event.
    last: ByThread<u32>,
    /// By thread: the event that created it.
    creator: ByThread<u32>,
    /// By thread: its arrivals at meetings.
    arrivals: ByThread<Vec<u32>>,
}

impl Links {
    /// The events directly before `e`, which comes next.
    pub(super) fn before(&mut self, e: u32, event: &Event) -> [u32; 2] {
        let first = match self.last.get(event.thread) {
            Some(&before) => before,
            None => self.creator.get(event.thread).copied().unwrap_or(NONE),
        };
        let second = match event.kind {
            Kind::Join => self.last.get(event.peer).copied().unwrap_or(NONE),
            Kind::Leave => {
                let all = self.arrivals.get(event.peer);
                let one = all.and_then(|all| all.get(usize::try_from(event.expected).ok()?));
                one.copied().unwrap_or(NONE)
            }
            _ => NONE,
        };
        if event.kind == Kind::Arrive {
            let own = self.arrivals.or_insert(event.thread, Vec::new());
            own.push(e);
        }
        if event.kind == Kind::Spawn {
            self.creator.insert(event.peer, e);
        }
        self.last.insert(event.thread, e);
        [first, second]
    }
}
