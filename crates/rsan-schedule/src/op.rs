//! What a thread is about to do, and what it did.

use crate::bytes;
use rsan_model::{ReadOrd, RmwOrd, ThreadId};
use std::fmt;

/// Kinds of visible operations: those at which a scheduler may switch to another thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A thread's first operation, if the scheduler shows it.
    Begin,
    /// A thread's last operation, if the scheduler shows it.
    End,
    /// Atomic read.
    Load,
    /// Atomic write.
    Store,
    /// Read-modify-write that always writes.
    Update,
    /// Compare-and-swap: a read, and a write when it succeeds. A weak one may fail without a reason.
    Compare,
    /// Read that is enabled only while the expected value is there.
    Wait,
    /// Read that is enabled only while one of several values is there, which are not told.
    WaitAny,
    /// Compare-and-swap that is enabled only while the expected value is there.
    WaitUpdate,
    /// Thread fence: local, other threads do not notice it.
    Fence,
    /// Takes a lock; enabled only while it is free.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Any other operation on an object (semaphores, conditions, barriers): ordered with all others on that object. It may be
    /// disabled, and whether it is depends only on the operations on that object before it.
    Sync,
    /// Creates a thread.
    Spawn,
    /// Waits for the end of a thread; enabled only after it.
    Join,
    /// Gives up the processor: `sched_yield`, a sleep, a pause in a spin loop.
    Yield,
    /// Comes to a meeting of threads, a barrier or the end of a scope: it waits for nobody, and learns nothing.
    Arrive,
    /// Leaves such a meeting behind the arrival of another thread; enabled only after it. One step for each of them.
    Leave,
}

/// Every kind, and its name in schedule files.
const NAMES: [(Kind, &str); 18] = [
    (Kind::Begin, "begin"),
    (Kind::End, "end"),
    (Kind::Load, "load"),
    (Kind::Store, "store"),
    (Kind::Update, "update"),
    (Kind::Compare, "compare"),
    (Kind::Wait, "wait"),
    (Kind::WaitAny, "wait-any"),
    (Kind::WaitUpdate, "wait-update"),
    (Kind::Fence, "fence"),
    (Kind::Lock, "lock"),
    (Kind::Unlock, "unlock"),
    (Kind::Sync, "sync"),
    (Kind::Spawn, "spawn"),
    (Kind::Join, "join"),
    (Kind::Yield, "yield"),
    (Kind::Arrive, "arrive"),
    (Kind::Leave, "leave"),
];

impl Kind {
    /// All kinds, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|&(kind, _)| kind)
    }

    /// Its name in schedule files.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, n)| *n == name).map(|&(k, _)| k)
    }

    /// The kind with this number (`kind as u8`).
    pub fn from_number(number: u8) -> Option<Self> {
        NAMES.get(usize::from(number)).map(|&(kind, _)| kind)
    }

    /// Whether it reads its object, at least on some occasions.
    pub fn may_read(self) -> bool {
        match self {
            Self::Load
            | Self::Update
            | Self::Compare
            | Self::Wait
            | Self::WaitAny
            | Self::WaitUpdate
            | Self::Lock
            | Self::Sync
            | Self::Arrive => true,
            Self::Begin
            | Self::End
            | Self::Store
            | Self::Fence
            | Self::Unlock
            | Self::Spawn
            | Self::Join
            | Self::Yield
            | Self::Leave => false,
        }
    }

    /// Whether it writes its object, at least on some occasions.
    pub fn may_write(self) -> bool {
        match self {
            Self::Store
            | Self::Update
            | Self::Compare
            | Self::WaitUpdate
            | Self::Lock
            | Self::Unlock
            | Self::Sync
            | Self::Arrive => true,
            Self::Begin
            | Self::End
            | Self::Load
            | Self::Wait
            | Self::WaitAny
            | Self::Fence
            | Self::Spawn
            | Self::Join
            | Self::Yield
            | Self::Leave => false,
        }
    }

    /// Whether the values that it reads and writes are told ([`Step::read`], [`Step::wrote`]).
    pub fn shows_value(self) -> bool {
        match self {
            Self::Load
            | Self::Store
            | Self::Update
            | Self::Compare
            | Self::Wait
            | Self::WaitAny
            | Self::WaitUpdate => true,
            Self::Begin
            | Self::End
            | Self::Fence
            | Self::Lock
            | Self::Unlock
            | Self::Sync
            | Self::Spawn
            | Self::Join
            | Self::Yield
            | Self::Arrive
            | Self::Leave => false,
        }
    }

    /// Whether it can be disabled.
    pub fn may_block(self) -> bool {
        match self {
            Self::Wait
            | Self::WaitAny
            | Self::WaitUpdate
            | Self::Lock
            | Self::Sync
            | Self::Join
            | Self::Leave => true,
            Self::Begin
            | Self::End
            | Self::Load
            | Self::Store
            | Self::Update
            | Self::Compare
            | Self::Fence
            | Self::Unlock
            | Self::Spawn
            | Self::Yield
            | Self::Arrive => false,
        }
    }

    /// Whether it concerns an object of the memory that other threads may access.
    pub fn is_access(self) -> bool {
        self.may_read() || self.may_write()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a thread is about to do, as far as it is known before it does it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// What it is.
    pub kind: Kind,
    /// The address of its object; the number of the thread for [`Kind::Join`]; 0 when it has none.
    pub object: u64,
    /// The size of the object in bytes; 0 and 1 are the same.
    pub bytes: u8,
}

impl Op {
    /// An operation on an object.
    pub fn new(kind: Kind, object: u64, bytes: u8) -> Self {
        Self {
            kind,
            object,
            bytes,
        }
    }

    /// An operation without an object.
    pub fn bare(kind: Kind) -> Self {
        Self::new(kind, 0, 0)
    }

    /// Whether the objects of two accesses have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let end = |op: &Self| op.object.saturating_add(u64::from(op.bytes.max(1)));
        self.object < end(other) && other.object < end(self)
    }

    /// Whether the order of the two operations, by different threads, can matter: accesses of one object of which at least
    /// one may write.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.kind.may_write() && other.kind.is_access()
            || self.kind.is_access() && other.kind.may_write())
            && self.overlaps(other)
    }

    /// Whether no other thread can notice *when* it happens, so that a scheduler need not ask before it.
    ///
    /// Only such operations need no switch before them. That a store need no switch when the operation before it was a
    /// relaxed or release store of the same thread, as testers that simulate weak memory have it, does not hold here: they let a
    /// later load read the stale value, a run that is sequentially consistent has to stop between the stores for it. In
    ///
    /// ```text
    /// T1: x = 1; y = 1;            T2: if (x == 1 && y == 0) { a = 1; r = b; }      T3: b = 1; s = a;
    /// ```
    ///
    /// with relaxed accesses, the only weak behaviour (`r == s == 0`) needs a run in which T2 reads both `x` and `y` between
    /// T1's stores.
    pub fn is_local(&self) -> bool {
        match self.kind {
            Kind::Begin | Kind::Fence => true,
            Kind::End
            | Kind::Load
            | Kind::Store
            | Kind::Update
            | Kind::Compare
            | Kind::Wait
            | Kind::WaitAny
            | Kind::WaitUpdate
            | Kind::Lock
            | Kind::Unlock
            | Kind::Sync
            | Kind::Spawn
            | Kind::Join
            | Kind::Yield
            | Kind::Arrive
            | Kind::Leave => false,
        }
    }
}

/// A thread that can make a step, and the step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Candidate {
    /// The thread.
    pub thread: ThreadId,
    /// What it is about to do.
    pub op: Op,
}

/// What a thread did. Plain data: it is kept in shared memory as [`Step::to_bytes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// The thread.
    pub thread: ThreadId,
    /// What it was about to do.
    pub op: Op,
    /// The value that its object had before, for stores too; wider ones are folded. 0 when it has no object, and for
    /// locks and what else has no value.
    pub read: u64,
    /// The value it wrote; wider ones are folded. 0 when it wrote nothing.
    pub wrote: u64,
    /// [`Kind::Compare`], [`Kind::Wait`], [`Kind::WaitUpdate`]: the value that it compares with. [`Kind::Arrive`]: how many threads meet,
    /// again and again; 0 if they meet once. [`Kind::Leave`]: the number of the other's arrival among those of its thread, from 0.
    pub expected: u64,
    /// Whether it wrote: stores and updates do, a compare-and-swap when it succeeded, a lock when it was taken.
    pub writes: bool,
    /// [`Kind::Spawn`]: the thread that was made; [`Kind::Join`]: the thread that was joined; [`Kind::Leave`]: the thread that has arrived. 0: it
    /// is the object.
    pub child: ThreadId,
    /// Whether it belongs to a failed spin iteration ([`crate::explore`]).
    pub vain: bool,
    /// Whether time may end it: it waits, but not for ever.
    pub limited: bool,
    /// Weak executions: the memory order of an access or fence; that of success for a compare-and-swap.
    pub order: Option<RmwOrd>,
    /// Weak executions: the memory order of a failed compare-and-swap.
    pub failure: Option<ReadOrd>,
    /// Weak executions: the write that it read.
    pub from: ReadsFrom,
    /// Weak executions: that is not the last of those that it could have read.
    pub stale: bool,
    /// A compare-and-swap that failed although it found what it expected.
    pub spurious: bool,
    /// A compare-and-swap that may do so.
    pub may_fail: bool,
    /// What is known of its thread alone, for [`crate::explore`].
    pub local: Local,
}

/// What is known of a thread when it comes to a step, whatever others do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Local {
    /// Stands for where the thread is, what it is about to do, its registers and its stack. 0: not known.
    pub state: u64,
    /// Since its last step with a known state it has accessed other memory than its stack, by plain accesses.
    pub plain: bool,
    /// How much the step orders if it only reads: a number that grows with the memory order.
    pub strength: u8,
}

/// The write that a step read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReadsFrom {
    /// It read nothing, or nobody has said: in a sequentially consistent run it is the write that was made last.
    #[default]
    Unsaid,
    /// The initial value of its object.
    Initial,
    /// That of the step with this number.
    Step(u32),
}

impl ReadsFrom {
    /// As a number: 0, 1, and the steps from 2 on.
    fn number(self) -> u32 {
        match self {
            Self::Unsaid => 0,
            Self::Initial => 1,
            Self::Step(step) => step.saturating_add(2),
        }
    }

    fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Unsaid,
            1 => Self::Initial,
            step => Self::Step(step - 2),
        }
    }
}

/// The position in a list of orders, from 1; 0 for none.
fn number_of<T: PartialEq>(all: &[T], order: Option<T>) -> u8 {
    let position = order.and_then(|order| all.iter().position(|known| *known == order));
    position.map_or(0, |position| position as u8 + 1)
}

/// The order with this number.
fn with_number<T: Copy>(all: &[T], number: u8) -> Option<Option<T>> {
    match number {
        0 => Some(None),
        position => all.get(usize::from(position) - 1).map(|order| Some(*order)),
    }
}

impl Step {
    /// Length of [`Step::to_bytes`].
    pub const BYTES: usize = 64;

    /// A step without values: begin, end, fence, lock, unlock, sync, yield, and what is filled in afterwards.
    pub fn new(thread: ThreadId, op: Op) -> Self {
        Self {
            thread,
            op,
            read: 0,
            wrote: 0,
            expected: 0,
            writes: op.kind.may_write(),
            child: ThreadId(0),
            vain: false,
            limited: false,
            order: None,
            failure: None,
            from: ReadsFrom::Unsaid,
            stale: false,
            spurious: false,
            may_fail: false,
            local: Local::default(),
        }
    }

    /// Whether it was an attempt only: the thread did not get what it needs, and waits. It counts as not made; the thread
    /// makes another attempt when it is let. A [`Kind::Join`] is an attempt until the thread's [`Kind::End`];
    /// a [`Kind::WaitAny`] never is, as nobody could tell.
    pub fn waits(&self) -> bool {
        match self.op.kind {
            Kind::Wait => self.read != self.expected,
            Kind::WaitUpdate | Kind::Lock | Kind::Sync => !self.writes,
            Kind::Begin
            | Kind::End
            | Kind::Load
            | Kind::Store
            | Kind::Update
            | Kind::Compare
            | Kind::Fence
            | Kind::Unlock
            | Kind::Spawn
            | Kind::Join
            | Kind::WaitAny
            | Kind::Yield
            | Kind::Arrive
            | Kind::Leave => false,
        }
    }

    /// Whether its object may have another value afterwards. A read-modify-write that finds what it writes leaves it as it is.
    pub fn changes(&self) -> bool {
        let both = self.op.kind.may_read() && self.op.kind.shows_value();
        let same = self.read == self.wrote && self.op.bytes <= 8;
        self.writes && !(both && same)
    }

    /// The number of the thread that it creates or joins.
    pub(crate) fn peer(&self) -> u32 {
        match self.child.0 {
            0 => self.op.object as u32,
            child => child,
        }
    }

    /// Its fixed form, little-endian: thread (4), kind, bytes, writes, vain, object, read, wrote, expected (8 each), child (4),
    /// limited, order, order of failure, spurious (1), stale (2) and whether it may fail (4), from (4), the thread's strength and plain accesses (1 each), two zeros, its state (8).
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.thread.0.to_le_bytes());
        bytes[4] = self.op.kind as u8;
        bytes[5] = self.op.bytes;
        bytes[6] = u8::from(self.writes);
        bytes[7] = u8::from(self.vain);
        let words = [self.op.object, self.read, self.wrote, self.expected];
        for (chunk, word) in bytes[8..40].chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes[40..44].copy_from_slice(&self.child.0.to_le_bytes());
        bytes[44] = u8::from(self.limited);
        bytes[45] = number_of(&RmwOrd::ALL, self.order);
        bytes[46] = number_of(&ReadOrd::ALL, self.failure);
        bytes[47] =
            u8::from(self.spurious) | u8::from(self.stale) << 1 | u8::from(self.may_fail) << 2;
        bytes[48..52].copy_from_slice(&self.from.number().to_le_bytes());
        bytes[52] = self.local.strength;
        bytes[53] = u8::from(self.local.plain);
        bytes[56..].copy_from_slice(&self.local.state.to_le_bytes());
        bytes
    }

    /// The step with these bytes; `None` when there is none.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at| bytes::word(bytes, at);
        let thread = |at| ThreadId(bytes::half(bytes, at));
        let flags = [6, 7, 44, 53];
        if flags.iter().any(|at| bytes[*at] > 1) || bytes[47] > 7 || bytes[54..56] != [0; 2] {
            return None;
        }
        Some(Self {
            thread: thread(0),
            op: Op::new(Kind::from_number(bytes[4])?, word(8), bytes[5]),
            read: word(16),
            wrote: word(24),
            expected: word(32),
            writes: bytes[6] == 1,
            child: thread(40),
            vain: bytes[7] == 1,
            limited: bytes[44] == 1,
            order: with_number(&RmwOrd::ALL, bytes[45])?,
            failure: with_number(&ReadOrd::ALL, bytes[46])?,
            from: ReadsFrom::from_number(bytes::half(bytes, 48)),
            stale: bytes[47] & 2 != 0,
            spurious: bytes[47] & 1 != 0,
            may_fail: bytes[47] & 4 != 0,
            local: Local {
                state: word(56),
                plain: bytes[53] == 1,
                strength: bytes[52],
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn names_and_numbers_are_those_of_the_kinds() {
        for (i, kind) in Kind::all().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!(Kind::from_number(i as u8), Some(kind));
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::from_number(18), None);
        assert_eq!(Kind::from_name("nothing"), None);
    }

    #[test]
    fn steps_survive_shared_memory() {
        let mut random = Random::new(7);
        for _ in 0..1000 {
            let kind = Kind::from_number(random.below(18) as u8).expect("a kind");
            let step = Step {
                thread: ThreadId(random.bits() as u32),
                op: Op::new(kind, random.bits(), random.bits() as u8),
                read: random.bits(),
                wrote: random.bits(),
                expected: random.bits(),
                writes: random.below(2) == 1,
                child: ThreadId(random.bits() as u32),
                vain: random.below(2) == 1,
                limited: random.below(2) == 1,
                order: random.pick(&[None, Some(RmwOrd::Relaxed), Some(RmwOrd::SeqCst)]),
                failure: random.pick(&[None, Some(ReadOrd::Acquire)]),
                from: ReadsFrom::from_number(random.below(100) as u32),
                stale: random.below(2) == 1,
                spurious: random.below(2) == 1,
                may_fail: random.below(2) == 1,
                local: Local {
                    state: random.bits(),
                    plain: random.below(2) == 1,
                    strength: random.below(3) as u8,
                },
            };
            assert_eq!(Step::from_bytes(&step.to_bytes()), Some(step));
        }
        let mut bytes = Step::new(ThreadId(0), Op::bare(Kind::Fence)).to_bytes();
        bytes[4] = 18;
        assert_eq!(Step::from_bytes(&bytes), None);
    }

    #[test]
    fn writing_what_is_there_changes_nothing() {
        let step = |kind, read, wrote| Step {
            read,
            wrote,
            expected: read,
            writes: true,
            ..Step::new(ThreadId(0), Op::new(kind, 8, 4))
        };
        for kind in [Kind::Update, Kind::Compare, Kind::WaitUpdate] {
            assert!(!step(kind, 3, 3).changes(), "{kind}");
            assert!(step(kind, 3, 4).changes(), "{kind}");
            // Wider values are folded, which does not tell.
            let wide = Op::new(kind, 8, 16);
            assert!(
                Step {
                    op: wide,
                    ..step(kind, 3, 3)
                }
                .changes(),
                "{kind}"
            );
        }
        for kind in [Kind::Store, Kind::Lock, Kind::Unlock, Kind::Sync] {
            assert!(step(kind, 0, 0).changes(), "{kind}");
        }
    }

    #[test]
    fn conflicts_need_a_common_byte_and_a_write() {
        let op = Op::new;
        let load = op(Kind::Load, 8, 4);
        assert!(!load.conflicts(&load));
        assert!(load.conflicts(&op(Kind::Store, 10, 1)));
        assert!(op(Kind::Compare, 11, 8).conflicts(&load));
        assert!(!load.conflicts(&op(Kind::Store, 12, 4)));
        assert!(!load.conflicts(&op(Kind::Spawn, 8, 4)));
        assert!(op(Kind::Lock, 8, 0).conflicts(&op(Kind::Unlock, 8, 0)));
    }
}
