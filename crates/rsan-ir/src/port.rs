//! Which pairs of accesses a weaker machine may show in the wrong order, and what forbids that.

use crate::module::{Change, FunctionId, Order, Place};
use rsan_model::machine::Machine;

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The machine on which the program is right.
    pub from: Machine,
    /// The machine it moves to; weaker.
    pub to: Machine,
    /// Functions that threads run, by name; if empty, those that the program starts threads with.
    pub threads: Vec<String>,
    /// ARMv8: acquire loads are `ldapr`, not `ldar`.
    pub rcpc: bool,
    /// The program has no data races: only atomic and volatile accesses, and locks, can be on cycles.
    pub race_free: bool,
}

/// What is known of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The functions that threads run.
    pub threads: Vec<ThreadFunction>,
    /// Pairs that must be ordered and are not. None: the program is robust.
    pub warnings: Vec<Warning>,
    /// What was not understood, and how it was taken: once per cause.
    pub assumptions: Vec<Assumption>,
    /// Size of the question.
    pub counts: Counts,
}

/// How large it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Shared accesses.
    pub accesses: usize,
    /// Pairs of accesses with a path from one to the other.
    pub pairs: usize,
    /// Of these, the pairs on a cycle.
    pub on_cycles: usize,
    /// Fences and accesses that are stronger than relaxed.
    pub fences: usize,
    /// Steps of all threads, copies of functions included.
    pub steps: usize,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The program starts no thread that is known.
    NoThreads,
    /// No function has this name.
    UnknownThread(String),
    /// The machine `to` is not weaker than the machine `from`.
    NotWeaker,
    /// The caller did not want to go on.
    Stopped,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoThreads => {
                f.write_str("no function that a thread runs was found: name one with --thread")
            }
            Self::UnknownThread(name) => write!(f, "the program has no function `{name}`"),
            Self::NotWeaker => f.write_str("the machine that the program moves to is not weaker"),
            Self::Stopped => f.write_str("a limit was reached"),
        }
    }
}

/// A function that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadFunction {
    /// Which.
    pub function: FunctionId,
    /// How it is known: `started by pthread_create at queue.c:41`, `named by --thread`.
    pub reason: String,
}

/// A pair of accesses of one thread that the machine `to` may swap and the machine `from` does not, where another thread can see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Comes first in the program.
    pub first: Site,
    /// Comes later.
    pub second: Site,
    /// Pairs of other threads that close the cycle, from `second` back to `first`.
    pub partners: Vec<(Site, Site)>,
    /// Why nothing orders them on the machine `to`: a sentence.
    pub unordered: String,
    /// Why the machine `from` orders them: a sentence.
    pub ordered: String,
    /// What it rests on that is not exact: sentences; empty if the cycle is made of accesses that must meet.
    pub because: Vec<String>,
}

/// An access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Site {
    /// The function that has it.
    pub function: FunctionId,
    /// The instruction's number there.
    pub number: u32,
    /// Calls that lead to it from the thread function, the outermost first: function and number of the call.
    pub calls: Vec<(FunctionId, u32)>,
    /// `load`, `store`, `read-modify-write`, `copy`, `lock`, `unlock`.
    pub what: &'static str,
    /// Its order.
    pub order: Order,
    /// What it accesses: `flag`, `queue + 8`, a field of an allocation; for people.
    pub object: String,
    /// Where.
    pub place: Option<Place>,
}

/// Something that was not understood.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Assumption {
    /// A sentence: "`g` is called through a pointer: it is taken to be any function whose address is taken".
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// It could hide a violation: the answer is then no proof.
    pub unsound: bool,
}

/// Changes that order every pair.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    /// The cheapest ones.
    pub changes: Vec<Placed>,
    /// Their cost.
    pub cost: f64,
    /// How many fences the published scheme places (one after each pair's first access, as it finds them).
    pub naive: usize,
    /// Nothing cheaper orders every pair. Else the choices were too many to compare them all.
    pub exact: bool,
    /// Pairs that no change orders: both accesses are in one instruction, as in a `memcpy`, or in one unknown call.
    pub left: usize,
}

/// A change of one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The function that has the instruction.
    pub function: FunctionId,
    /// The instruction's number.
    pub number: u32,
    /// What to do.
    pub change: Change,
    /// Where.
    pub place: Option<Place>,
}

/// What changes cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// A seq_cst fence.
    pub full_fence: f64,
    /// An acquire fence.
    pub acquire_fence: f64,
    /// A release fence.
    pub release_fence: f64,
    /// An acq_rel fence.
    pub acq_rel_fence: f64,
    /// `dmb ishst` of ARMv8, which C cannot say; `None`: it is not used.
    pub store_fence: Option<f64>,
    /// An acquire load instead of a relaxed one.
    pub acquire_load: f64,
    /// A seq_cst load.
    pub seq_cst_load: f64,
    /// A release store.
    pub release_store: f64,
    /// A seq_cst store.
    pub seq_cst_store: f64,
    /// A read-modify-write that acquires or releases; both cost twice as much.
    pub update: f64,
    /// A change in a loop costs so many times as much.
    pub in_loop: f64,
}

/// What a repair may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// Fences only, as the published tool.
    Fences,
    /// Fences and stronger orders of atomic accesses.
    FencesAndOrders,
}
