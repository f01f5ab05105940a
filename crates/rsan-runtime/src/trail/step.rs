//! What a thread did, when and where, in a few words of memory.

use super::Trail;
use crate::stack::{Node, Site};
use rsan_clocks::write_log::ThreadState;
use rsan_model::{FenceOrd, RmwOrd, ThreadId};

/// Length of a step's fixed form.
pub(super) const STEP_WORDS: usize = 3;

/// What a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Act {
    /// An atomic read.
    Load,
    /// An atomic write.
    Store,
    /// An atomic read-modify-write.
    Rmw,
    /// A non-atomic write to an atomic location.
    PlainWrite,
    /// A fence.
    Fence,
    /// The creation of a thread.
    Create,
    /// The first thing of a thread.
    Begin,
    /// A lock or the like is given back.
    Unlock,
    /// A lock or the like is taken.
    Lock,
    /// A non-atomic access of a race.
    Plain,
}

const ACTS: [Act; 10] = [
    Act::Load,
    Act::Store,
    Act::Rmw,
    Act::PlainWrite,
    Act::Fence,
    Act::Create,
    Act::Begin,
    Act::Unlock,
    Act::Lock,
    Act::Plain,
];

impl Act {
    /// As findings have it.
    pub fn operation(self) -> rsan_log::Operation {
        match self {
            Self::Load => rsan_log::Operation::Load,
            Self::Store => rsan_log::Operation::Store,
            Self::Rmw => rsan_log::Operation::Rmw,
            Self::PlainWrite => rsan_log::Operation::PlainWrite,
            Self::Fence => rsan_log::Operation::Fence,
            Self::Create => rsan_log::Operation::CreateThread,
            Self::Begin => rsan_log::Operation::Begin,
            Self::Unlock => rsan_log::Operation::Unlock,
            Self::Lock => rsan_log::Operation::Lock,
            Self::Plain => rsan_log::Operation::PlainAccess,
        }
    }

    /// Whether it reads a location.
    pub fn reads(self) -> bool {
        matches!(self, Self::Load | Self::Rmw)
    }

    /// Whether it writes a location.
    pub fn writes(self) -> bool {
        matches!(self, Self::Store | Self::Rmw | Self::PlainWrite)
    }
}

/// Something that a thread did, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// The thread's epoch afterwards.
    pub epoch: u32,
    /// The length of the thread's trail afterwards.
    pub position: u32,
    /// What.
    pub act: Act,
    /// With which order.
    pub order: RmwOrd,
    /// Where.
    pub place: Place,
}

/// Where something was done, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(pub(super) u64);

/// Set if the rest is an address.
const IS_LINE: u64 = 1 << 63;

impl Place {
    /// A place with its stack, as one number.
    #[inline]
    pub fn leaf(leaf: Node) -> Self {
        Self(u64::from(leaf.0))
    }

    /// A place without its callers.
    #[inline]
    pub fn line(pc: usize) -> Self {
        Self(pc as u64 | IS_LINE)
    }

    /// For a report.
    pub fn site(self) -> Site {
        if self.0 & IS_LINE == 0 {
            return Node(self.0 as u32).as_site();
        }
        Site {
            node: Node::UNKNOWN,
            pc: (self.0 & !IS_LINE) as usize,
        }
    }
}

impl Step {
    /// What a thread has just done.
    #[inline]
    pub fn new(state: &ThreadState, trail: &Trail, act: Act, order: RmwOrd, place: Place) -> Self {
        Self {
            thread: state.id(),
            epoch: state.stamp().epoch.number(),
            position: trail.position,
            act,
            order,
            place,
        }
    }

    /// Its fixed form.
    pub(super) fn words(self) -> [u64; STEP_WORDS] {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let order = self.order as u32;
        debug_assert_eq!(RmwOrd::ALL[order as usize], self.order);
        let tags = (self.act as u32) << 8 | order;
        [
            pair(self.thread.0, self.epoch),
            pair(self.position, tags),
            self.place.0,
        ]
    }

    /// The step with these words, if there is one.
    pub(super) fn from_words(words: &[u64]) -> Option<Self> {
        Some(Self {
            thread: ThreadId((words[0] >> 32) as u32),
            epoch: words[0] as u32,
            position: (words[1] >> 32) as u32,
            act: *ACTS.get((words[1] >> 8 & 0xff) as usize)?,
            order: *RmwOrd::ALL.get((words[1] & 0xff) as usize)?,
            place: Place(words[2]),
        })
    }
}

/// The order of a fence, for its [`Step`].
pub fn describe_fence(order: FenceOrd) -> RmwOrd {
    match order {
        FenceOrd::Acquire => RmwOrd::Acquire,
        FenceOrd::Release => RmwOrd::Release,
        FenceOrd::AcqRel => RmwOrd::AcqRel,
        FenceOrd::SeqCst => RmwOrd::SeqCst,
    }
}
