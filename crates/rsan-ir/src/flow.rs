//! The control flow of every thread, with its shared accesses and fences.
//!
//! *Decides*: a graph whose paths from the entry of a root include every path that a thread can take, and whose nodes do, in order,
//! whatever the program does to shared memory.
//!
//! *Method*: bodies of small functions are copied for each call; larger ones, recursive ones and those called through pointers have one
//! copy per thread function, which returns to all of its callers. The latter adds paths that do not exist: it can add a warning and
//! never hides one. A compare-exchange is a read that fails, or a read and a write; where the program branches on which, so does the graph.

mod build;
mod calls;
mod places;

pub(crate) use build::build;

use crate::alias::{ANY, Spot, UNKNOWN};
use crate::module::{FunctionId, Place};
use crate::order::Operation;
use crate::port::Assumption;
use crate::threads::Root;

/// A number of a node.
pub(crate) type NodeId = u32;
/// A number of an event.
pub(crate) type EventId = u32;

/// A step of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The function that has it.
    pub(crate) function: FunctionId,
    /// The instruction, or the terminator.
    pub(crate) number: u32,
    /// How the thread got there.
    pub(crate) context: u32,
    /// What it does.
    pub(crate) doing: Doing,
    /// A fence can be put right before it.
    pub(crate) gap: bool,
    /// An instruction of the same block right before it.
    pub(crate) previous: Option<u32>,
}

/// What a step does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// Nothing that counts.
    Nothing,
    /// A fence of C.
    Fence(Operation),
    /// A fence of a machine.
    MachineFence(String),
    /// A shared access.
    Access(EventId),
    /// Starts a thread.
    Start(Start),
    /// Waits for the thread whose handle is stored there.
    Join(Vec<Spot>),
}

/// How a thread is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    /// Where the handle is stored.
    pub(crate) handle: Vec<Spot>,
    /// What it may run.
    pub(crate) functions: Vec<FunctionId>,
    /// It starts one thread, not a team.
    pub(crate) single: bool,
}

/// A shared access on some path.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Where it is in the graph.
    pub(crate) node: NodeId,
    /// What it is in C.
    pub(crate) operation: Operation,
    /// What it may touch.
    pub(crate) class: u32,
    /// Which location of the thread it is; equal ones are the same location.
    pub(crate) same: Option<Same>,
    /// Part of an instruction that touches several bytes one after the other.
    pub(crate) bulk: bool,
    /// Not atomic: has no order that could be raised.
    pub(crate) fixed_order: bool,
    /// Marked `volatile`.
    pub(crate) volatile: bool,
    /// Some other thread can be there at the same time.
    pub(crate) live: bool,
    /// Where it comes from.
    pub(crate) place: Option<Place>,
}

/// A location as a thread knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Same {
    /// Where the pointer comes from.
    pub(crate) base: Base,
    /// Its offset.
    pub(crate) offset: i64,
    /// How many bytes.
    pub(crate) size: u32,
}

/// Where a pointer comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Base {
    /// An object there is only one of.
    Object(u32),
    /// A value of the thread function that is the same in the whole run.
    Thread(u32, u32),
    /// A value of a context: the same until the path goes back.
    Value(u32, u32),
}

impl Base {
    /// Whether the path matters.
    pub(crate) fn is_fixed(self) -> bool {
        !matches!(self, Self::Value(..))
    }
}

/// What some accesses may touch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Class {
    /// The places.
    pub(crate) spots: Vec<Spot>,
    /// Bytes from there; 0 if unknown.
    pub(crate) size: u32,
    /// Its type.
    pub(crate) kind: Option<u32>,
    /// The root that has it, if that runs only once.
    pub(crate) once: Option<u32>,
    /// Locks that are held there for sure.
    pub(crate) held: Vec<Spot>,
}

impl Class {
    /// Whether both could touch the same memory, in different threads.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        if self.once.is_some() && self.once == other.once {
            return false;
        }
        if self.held.iter().any(|lock| other.held.contains(lock)) {
            return false;
        }
        if self.spots[0].0 == UNKNOWN || other.spots[0].0 == UNKNOWN {
            return true;
        }
        let (mut mine, mut theirs) = (0, 0);
        // Both are sorted by object: objects in common are compared offset by offset.
        while mine < self.spots.len() && theirs < other.spots.len() {
            let (object, yours) = (self.spots[mine].0, other.spots[theirs].0);
            if object < yours {
                mine += 1;
            } else if yours < object {
                theirs += 1;
            } else {
                let mine_end = end_of(&self.spots, mine);
                let theirs_end = end_of(&other.spots, theirs);
                for a in &self.spots[mine..mine_end] {
                    for b in &other.spots[theirs..theirs_end] {
                        if overlap(a.1, self.size, b.1, other.size) {
                            return true;
                        }
                    }
                }
                (mine, theirs) = (mine_end, theirs_end);
            }
        }
        false
    }

    /// Whether it is one place for sure.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.spots[..], [(object, offset)] if object != UNKNOWN && offset != ANY)
    }
}

fn end_of(spots: &[Spot], from: usize) -> usize {
    let object = spots[from].0;
    from + spots[from..].iter().take_while(|s| s.0 == object).count()
}

fn overlap(a: i32, a_size: u32, b: i32, b_size: u32) -> bool {
    if a == ANY || b == ANY {
        return true;
    }
    let end = |start: i32, size: u32| match size {
        0 => i64::MAX,
        size => i64::from(start) + i64::from(size),
    };
    i64::from(a) < end(b, b_size) && i64::from(b) < end(a, a_size)
}

/// How a thread got into a function.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The thread.
    pub(crate) root: u32,
    /// Calls that lead there, the outermost first.
    pub(crate) calls: Vec<(FunctionId, u32)>,
}

/// The graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Steps.
    pub(crate) nodes: Vec<Node>,
    /// What may come next, and whether that goes back.
    pub(crate) next: Vec<Vec<(NodeId, bool)>>,
    /// Shared accesses.
    pub(crate) events: Vec<Event>,
    /// What they touch.
    pub(crate) classes: Vec<Class>,
    /// How threads got where they are.
    pub(crate) contexts: Vec<Context>,
    /// The threads, and where they begin.
    pub(crate) roots: Vec<(Root, NodeId)>,
    /// How deep in loops each node is.
    pub(crate) depth: Vec<u8>,
    /// What was not understood.
    pub(crate) assumptions: Vec<Assumption>,
    /// Calls through pointers were followed.
    pub(crate) indirect_calls: bool,
}

impl Graph {
    /// The event of a node.
    pub(crate) fn event_at(&self, node: NodeId) -> Option<EventId> {
        match self.nodes[node as usize].doing {
            Doing::Access(event) if self.events[event as usize].live => Some(event),
            _ => None,
        }
    }

    /// Whether two accesses of one thread are of one location, on a path that goes back or does not.
    pub(crate) fn is_same(&self, a: EventId, b: EventId, went_back: bool) -> bool {
        let (a, b) = (&self.events[a as usize], &self.events[b as usize]);
        match (a.same, b.same) {
            (Some(x), Some(y)) => x == y && (x.base.is_fixed() || !went_back),
            _ => false,
        }
    }
}
