//! Findings as values: their accesses, what makes two of them the same, and what a thread knows to be reported.

mod misuse;

pub use misuse::Misuse;
pub use rsan_log::{Operation, Unknown, Visible as Step, Wait};

use crate::chain::{self, Chain, Search};
use crate::held::{Held, Mode, Then};
use crate::order::Taken;
use crate::stack::{Function, Node, Site};
use crate::trail;
use rsan_model::{RmwOrd, ThreadId};

/// What makes findings distinct here, by addresses of code, and whether the value tells nothing
/// (`Finding::is_minor`): a violation that the value tells is reported although one that it does not tell was.
pub type Key = (rsan_log::Key<usize>, bool);

/// An access in a finding.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Who; `None` for the initial value.
    pub thread: Option<ThreadId>,
    /// What.
    pub operation: Operation,
    /// Memory order of an atomic access.
    pub order: Option<RmwOrd>,
    /// The value written; of a load that can be weak, what it reads.
    pub value: Option<u128>,
    /// Where.
    pub site: Site,
    /// The function of libc that makes it there.
    pub function: Function,
    /// The locks that its thread had.
    pub holding: Holding,
    /// Where its thread slept between the earlier access of a race and this one.
    pub slept: Option<Site>,
}

/// A read of another write than the last one, in a weak run.
#[derive(Clone, Debug)]
pub(crate) struct StaleRead {
    /// Steps before it.
    pub(crate) step: u64,
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) access: Side,
    /// What it read.
    pub(crate) read: Side,
    /// The last write that it could have read.
    pub(crate) last: Side,
}

/// The locks that a thread has at an access.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Holding {
    /// Not known.
    #[default]
    Unknown,
    /// Those that it had in an epoch, which its history says.
    At(u32),
    /// This one, and perhaps others: address, how, and where it was taken.
    Lock(Then),
}

impl Holding {
    /// Those that the thread has now.
    pub const NOW: Self = Self::At(u32::MAX);

    /// One lock.
    pub(crate) fn of(held: Held) -> Self {
        Self::Lock((held.lock, held.mode, held.pc))
    }

    /// The locks of a thread, if they are known.
    pub(crate) fn locks(self, thread: Option<ThreadId>) -> Option<Vec<Then>> {
        match self {
            Self::Unknown => None,
            Self::At(epoch) => trail::held_at(thread?, epoch),
            Self::Lock(lock) => Some(vec![lock]),
        }
    }
}

impl Side {
    /// The same with what its thread had in an epoch.
    #[must_use]
    pub fn holding(self, holding: Holding) -> Self {
        Self { holding, ..self }
    }

    /// A side of a race.
    pub fn plain(thread: Option<ThreadId>, operation: Operation, site: Site) -> Self {
        Self {
            thread,
            operation,
            order: None,
            value: None,
            site,
            holding: Holding::Unknown,
            slept: None,
            function: Function::NONE,
        }
    }

    /// The same, made by a function of libc.
    pub fn by(self, function: Function) -> Self {
        Self { function, ..self }
    }
}

/// Something to report.
#[derive(Clone, Copy, Debug)]
pub enum Finding {
    /// Two accesses race.
    Race {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The later access.
        access: Side,
        /// The earlier one.
        earlier: Side,
        /// What the chain of accesses that would order them is looked for with.
        search: Option<Search>,
    },
    /// An access can be weak.
    Violation {
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The access.
        access: Side,
        /// The write that every SC order puts before it.
        missed: Side,
        /// The older write that it may read or follow.
        stale: Side,
        /// What the program does with the old value, if that was asked.
        wait: Option<Wait>,
        /// What the chain of accesses that forces the order is looked for with.
        search: Option<Search>,
    },
    /// Memory is used after its end, or a lock wrongly.
    Misuse {
        /// How.
        what: Misuse,
        /// Where in memory.
        address: usize,
        /// How much.
        bytes: usize,
        /// The access or call.
        access: Side,
        /// The free, or what else makes it wrong.
        earlier: Option<Side>,
    },
    /// Locks are taken in orders that can end in a deadlock: each while the one before it is held, and the first one while the
    /// last is.
    Inversion {
        /// The last one to be seen first.
        taken: &'static [Taken],
    },
}

impl Taken {
    /// As a side of its finding.
    pub(crate) fn side(&self) -> Side {
        let operation = match self.mode {
            Mode::Read => Operation::ReadLock,
            Mode::Write => Operation::Lock,
        };
        Side::plain(Some(self.thread), operation, self.site).holding(Holding::of(self.held))
    }
}

impl Finding {
    /// Its accesses and their roles.
    pub(crate) fn sides(&self) -> Vec<(&'static str, Side)> {
        match *self {
            Self::Race {
                access, earlier, ..
            } => vec![("access", access), ("earlier", earlier)],
            Self::Violation {
                access,
                missed,
                stale,
                ..
            } => vec![("access", access), ("missed", missed), ("stale", stale)],
            Self::Misuse {
                access, earlier, ..
            } => {
                let earlier = earlier.map(|side| ("earlier", side));
                std::iter::once(("access", access)).chain(earlier).collect()
            }
            Self::Inversion { taken } => {
                let roles = std::iter::once("access").chain(std::iter::repeat("earlier"));
                roles.zip(taken.iter().map(Taken::side)).collect()
            }
        }
    }

    /// The memory that it is about, and how much.
    pub(crate) fn extent(&self) -> (usize, usize) {
        match self {
            Self::Race { address, bytes, .. }
            | Self::Violation { address, bytes, .. }
            | Self::Misuse { address, bytes, .. } => (*address, *bytes),
            Self::Inversion { taken } => (taken.first().map_or(0, |taken| taken.lock), 0),
        }
    }

    /// Whether the old value is the one that the load reads anyway.
    pub(crate) fn is_of_same_value(&self) -> bool {
        match self {
            Self::Race { .. } | Self::Misuse { .. } | Self::Inversion { .. } => false,
            Self::Violation { access, stale, .. } => {
                access.value.is_some() && access.value == stale.value
            }
        }
    }

    /// Whether a stale value makes no difference that was seen.
    pub(crate) fn is_minor(&self) -> bool {
        let alike = matches!(
            self,
            Self::Violation {
                wait: Some(Wait::Alike(_)),
                ..
            }
        );
        alike || self.is_of_same_value()
    }

    /// The accesses that force the order of a violation, if they are known.
    pub(crate) fn chain(&self) -> Option<Chain> {
        match self {
            Self::Misuse { .. } | Self::Inversion { .. } => None,
            Self::Race { search, .. } | Self::Violation { search, .. } => {
                chain::find(search.as_ref()?)
            }
        }
    }

    /// What makes it distinct.
    pub(crate) fn key(&self) -> Key {
        let key = match self {
            Self::Race {
                access, earlier, ..
            } => rsan_log::Key::race(access.site.pc, earlier.site.pc),
            Self::Violation { access, missed, .. } => {
                rsan_log::Key::violation(access.site.pc, missed.site.pc)
            }
            Self::Misuse {
                what,
                access,
                earlier,
                ..
            } => {
                let earlier = earlier.map_or(0, |side| side.site.pc);
                rsan_log::Key::misuse(what.kind(), access.site.pc, earlier)
            }
            Self::Inversion { taken } => {
                rsan_log::Key::inversion(taken.iter().map(|taken| taken.site.pc))
            }
        };
        (key, self.is_minor())
    }
}

/// Pairs of places, of the access and of the write that it misses, whose violation was written already. A cache, so that
/// nothing is collected for a report that would not be written.
#[derive(Debug)]
pub struct KnownPlaces([(Node, Node); KNOWN]);

const KNOWN: usize = 64;

impl Default for KnownPlaces {
    fn default() -> Self {
        Self([(Node::UNKNOWN, Node::UNKNOWN); KNOWN])
    }
}

impl KnownPlaces {
    fn index(places: (Node, Node)) -> usize {
        (places.0.0 ^ places.1.0.wrapping_mul(5)) as usize % KNOWN
    }

    /// Whether the violation is known to be written.
    pub fn contains(&self, places: (Node, Node)) -> bool {
        self.0[Self::index(places)] == places
    }

    /// Notes that it is.
    pub fn insert(&mut self, places: (Node, Node)) {
        self.0[Self::index(places)] = places;
    }
}

/// A thread of a deadlock.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// Who.
    pub(crate) thread: ThreadId,
    /// What it is about to do.
    pub(crate) operation: Operation,
    /// To what.
    pub(crate) address: Option<usize>,
    /// The thread whose end it waits for.
    pub(crate) joins: Option<ThreadId>,
    /// Who has the lock that it waits for, if that is known.
    pub(crate) held_by: Option<ThreadId>,
    /// The locks that it has.
    pub(crate) holds: Vec<Then>,
    /// Where.
    pub(crate) site: Site,
}
