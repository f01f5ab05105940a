//! What is known of an atomic location.

mod block;
mod far;
mod loads;
pub(crate) mod messages;
mod pieces;
mod slabs;
mod sync;
mod writes;

pub use block::{Approach, Block, Intent, Locked};
pub use far::FarParts;
pub(crate) use loads::CachedLoad;
pub use loads::LoadCache;
pub(crate) use slabs::{lock_all, prepare, unlock_all};
pub(crate) use sync::Left;
pub use sync::{Done, SyncState};
pub use writes::{LoggedWrite, Operation, WriteSite};

use crate::horizon;
use crate::options::Options;
use crate::owners;
use crate::shadow::Kind;
use crate::stack::Node;
use crate::trail::{Accessors, Act, Place, Step, Trail};
use rsan_clocks::write_log::{
    Ahead, LocationState, Rules, StaleWrite, Stamp, ThreadState, Weakness,
};
use rsan_clocks::{Access, Effect, Timestamp};
use rsan_model::{ReadOrd, RmwOrd, Value};
use std::arch::asm;
use writes::{Writes, number};

/// Asks for a line of memory that will be written, so many lines after a place. Taking a lock waits for one line, and
/// what comes after it does not start before; so the others are asked for first.
#[inline]
fn prefetch<T>(at: *const T, line: usize) {
    let at = at.cast::<u8>().wrapping_add(64 * line);
    // SAFETY: asking for memory that is not there does nothing, and so does the instruction on processors without it.
    unsafe { asm!("prefetchw [{0}]", in(reg) at, options(nostack, preserves_flags, readonly)) };
}

/// The same for one line that will only be read, and may stay with other processors, too.
#[inline]
fn prefetch_read<T>(at: *const T) {
    // SAFETY: as above.
    unsafe { asm!("prefetcht0 [{0}]", in(reg) at, options(nostack, preserves_flags, readonly)) };
}

/// The bytes of a location, and what is special about it, in one word: `flags:2 bytes:6 address:56`.
#[derive(Clone, Copy, Debug)]
struct Extent(u64);

/// Accessed with several sizes: values no longer mean what the monitor thinks. See [`pieces`].
const MIXED: u64 = 1 << 63;
/// Some value has a place of its own; see [`Writes`].
const WIDE: u64 = 1 << 62;

impl Extent {
    const BYTES_SHIFT: u32 = 56;

    #[inline]
    fn new(address: usize, bytes: usize) -> Self {
        Self((bytes as u64) << Self::BYTES_SHIFT | address as u64)
    }

    /// Whether it is this range.
    #[inline]
    fn is(self, address: usize, bytes: usize) -> bool {
        self.0 & !(MIXED | WIDE) == Self::new(address, bytes).0
    }

    fn address(self) -> usize {
        (self.0 & ((1 << Self::BYTES_SHIFT) - 1)) as usize
    }

    fn end(self) -> usize {
        let bytes = (self.0 & !(MIXED | WIDE)) >> Self::BYTES_SHIFT;
        self.address() + bytes as usize
    }

    fn overlaps(self, start: usize, end: usize) -> bool {
        self.address() < end && start < self.end()
    }

    #[inline]
    fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// An atomic location. What most accesses look at comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Location {
    extent: Extent,
    /// Who accessed it last.
    accessors: Accessors,
    state: LocationState,
    writes: Writes,
}

impl Location {
    fn new(address: usize, bytes: usize, bits: u128) -> Self {
        let mut location = Self {
            extent: Extent::new(address, bytes),
            accessors: Accessors::default(),
            state: LocationState::new(number(bits), Rules::c20()),
            writes: Writes::default(),
        };
        location.note(bits, WriteSite::INITIAL);
        location
    }

    /// Whether it is a piece, or overlapped by accesses of other sizes.
    #[inline]
    pub fn is_mixed(&self) -> bool {
        self.extent.has(MIXED)
    }

    /// Notes the write that the monitor was just told of.
    #[inline]
    fn note(&mut self, bits: u128, site: WriteSite) {
        self.state.set_note(writes::note(bits, site));
        if self.extent.has(WIDE) || !writes::fits(bits) {
            self.writes.put(&self.state, bits);
            self.extent.0 |= WIDE;
        }
    }

    /// Asks the monitor, before the access takes effect. A compare-and-swap is asked about by
    /// [`Location::check_compare`].
    #[inline]
    pub fn check(&self, thread: &ThreadState, access: &Access<'_>) -> Option<Weakness> {
        if self.is_mixed() {
            return None;
        }
        self.state.check(thread, access, Rules::c20())
    }

    /// Asks the monitor about a compare-and-swap, given the access that it is for the number of what it expects.
    #[inline]
    pub fn check_compare(
        &self,
        thread: &ThreadState,
        expected: u128,
        access: impl FnOnce(Value) -> Access<'static>,
    ) -> Option<Weakness> {
        let access = access(number(expected));
        let weakness = self.check(thread, &access)?;
        let stale = self.logged(weakness.stale).value;
        // Another value may have the same number; then the answer is for the wrong value.
        let right = stale.is_some_and(|stale| {
            let same = number(stale) == number(expected);
            same == (stale == expected)
        });
        (right && !self.has_unknown_value()).then_some(weakness)
    }

    /// Whether the monitor's numbers tell what is compared with from all old values that the thread's next access may read.
    /// Two values may share a number, and the value of a plain write is not known.
    pub fn tells(&self, thread: &ThreadState, compared: &[u128]) -> bool {
        let told = |value: u128| {
            let alike = |bits: u128| (number(value) == number(bits)) == (value == bits);
            compared.iter().all(|bits| alike(*bits))
        };
        let stale = self.stale(thread, &Access::Load(ReadOrd::Relaxed));
        let mut values = stale.iter().map(|stale| self.logged(stale.write).value);
        self.is_mixed() || values.all(|value| value.is_some_and(told))
    }

    /// Asks for what lies elsewhere, and will be looked at if there is some.
    #[inline]
    pub fn expect_access(&self, writes: bool) {
        if let Some((at, bytes)) = self.state.sc_part(writes) {
            for line in 0..bytes.div_ceil(64) {
                prefetch(at, line);
            }
        }
    }

    /// The monitor's number for a value that is compared.
    pub fn compared(bits: u128) -> Value {
        number(bits)
    }

    /// Whether it is this range, and accessed with one size only.
    pub fn is_at(&self, address: usize, bytes: usize) -> bool {
        self.extent.is(address, bytes) && !self.is_mixed()
    }

    /// The oldest write that a thread that goes on alone may read.
    pub fn reach(&self, ahead: &Ahead, ord: ReadOrd) -> Timestamp {
        ahead.reach(self.extent.address(), &self.state, ord, Rules::c20())
    }

    /// Whether it knows of no seq_cst access or fence.
    pub fn is_free_of_sc(&self) -> bool {
        self.state.is_free_of_sc()
    }

    /// Whether a thread that goes on alone can take, or follow, an old write in its reach for certain.
    pub fn is_certain(&self, ahead: &Ahead, write: Timestamp, ord: ReadOrd) -> bool {
        ahead.is_certain((self.extent.address(), write), &self.state, ord)
    }

    /// The last write.
    pub fn last_write(&self) -> Timestamp {
        self.state.last_write()
    }

    /// Who made a write, and when; nobody made the initial one.
    pub fn writer(&self, write: Timestamp) -> Option<Stamp> {
        self.state.writer(write)
    }

    /// Whether a read-modify-write follows a write directly.
    pub fn is_followed_by_rmw(&self, write: Timestamp) -> bool {
        self.state.is_followed_by_rmw(write)
    }

    /// Everything that makes such an access weak, newest first.
    pub fn stale(&self, thread: &ThreadState, access: &Access<'_>) -> Vec<StaleWrite> {
        self.state.stale(thread, access, Rules::c20())
    }

    /// The writes of the log, oldest first.
    fn logged_writes(&self) -> impl DoubleEndedIterator<Item = Timestamp> {
        (self.state.oldest_write().0..=self.state.last_write().0).map(Timestamp)
    }

    fn has_unknown_value(&self) -> bool {
        self.logged_writes()
            .any(|write| self.logged(write).value.is_none())
    }

    /// Tells the monitor of a read.
    #[inline]
    pub fn read(&mut self, thread: &mut ThreadState, effect: Effect) {
        self.state.apply(thread, effect, Rules::c20());
    }

    /// Tells the monitor of a write, given what it is for the number of the value written.
    #[inline]
    pub fn write(
        &mut self,
        thread: &mut ThreadState,
        bits: u128,
        effect: impl FnOnce(Value) -> Effect,
        site: WriteSite,
        options: &Options,
    ) {
        self.make_room(thread, options);
        self.state.apply(thread, effect(number(bits)), Rules::c20());
        self.note(bits, site);
        if options.exact {
            messages::note(self.extent.address(), &mut self.state);
        }
    }

    /// Tells the monitor of a repeated write.
    #[inline]
    pub fn repeat_write(
        &mut self,
        thread: &mut ThreadState,
        trail: &Trail,
        bits: u128,
        effect: impl FnOnce(Value) -> Effect,
        site: WriteSite,
        options: &Options,
    ) {
        self.make_room(thread, options);
        self.state
            .repeat(thread, effect(number(bits)), Rules::c20());
        self.note(bits, site);
        self.accessors.repeated(trail);
    }

    /// Tells the monitor of a load that tells the thread nothing.
    #[inline]
    pub fn read_known(
        &mut self,
        thread: &mut ThreadState,
        trail: &Trail,
        order: ReadOrd,
        leaf: Node,
    ) {
        self.state.note_read(thread, order, Rules::c20());
        let step = Step::new(thread, trail, Act::Load, order.into(), Place::leaf(leaf));
        self.accessors.read_by(&step, thread.slot());
    }

    /// A plain write hit the location; its value is not known.
    pub fn plain_write(&mut self, thread: &mut ThreadState, site: WriteSite, options: &Options) {
        self.make_room(thread, options);
        self.state.plain_write(thread, 0, Rules::c20());
        self.note(0, site);
        if options.exact {
            messages::note(self.extent.address(), &mut self.state);
        }
    }

    #[inline]
    fn make_room(&mut self, thread: &ThreadState, options: &Options) {
        if options.log_cap != 0 {
            self.state.make_room(options.log_cap);
        } else if self.state.wants_pruning(None) {
            horizon::prune(&mut self.state, thread);
        }
    }

    /// Remembers an access that the monitor was told of, and whether the thread's SC past grew by it.
    #[inline]
    pub fn accessed(
        &mut self,
        thread: &ThreadState,
        trail: &mut Trail,
        access: WriteSite,
        learnt: bool,
    ) {
        let act = Act::from(access.operation);
        let order = access.order.unwrap_or(RmwOrd::Relaxed);
        let step = Step::new(thread, trail, act, order, Place::leaf(access.leaf));
        let last = self.state.last_write().0;
        let before = Timestamp(if act.writes() { last - 1 } else { last });
        let state = &self.state;
        let writer = || {
            let stamp = state.writer(before)?;
            let write = Writes::site(state, before)?;
            Some(Step {
                thread: owners::owner(stamp)?,
                epoch: stamp.epoch.number(),
                act: Act::from(write.operation),
                order: write.order.unwrap_or(RmwOrd::Relaxed),
                place: Place::leaf(write.leaf),
                ..step
            })
        };
        let by = (step, thread.slot());
        self.accessors
            .accessed(trail, by, self.extent.address(), learnt, writer);
    }

    /// Remembers an atomic access that the monitor was told of for races, however many follow: the log of writes is pruned by
    /// what can still be read, and accessors push each other out.
    #[cold]
    pub fn remember(&mut self, thread: &ThreadState, access: WriteSite) {
        let writes = Act::from(access.operation).writes();
        let stamp = thread.stamp();
        self.accessors.remember(writes, stamp, access.leaf);
    }

    /// An atomic access that the thread does not know to happen before its next event: a write, or a read if those are
    /// wanted. Of several the newest write comes first. Without [`Location::remember`] an old one may be missing.
    pub fn unordered(&self, thread: &ThreadState, reads: bool) -> Option<(Kind, Stamp, Node)> {
        let is_unordered =
            |at: Stamp| at.slot != thread.slot() && thread.hb().get(at.slot) < at.epoch;
        let writes = self.logged_writes().rev().filter_map(|write| {
            let stamp = self.state.writer(write)?;
            let site = Writes::site(&self.state, write)?;
            let atomic = site.operation != Operation::PlainWrite;
            (atomic && is_unordered(stamp)).then_some((Kind::ATOMIC_WRITE, stamp, site.leaf))
        });
        let old = self.accessors.remembered(true);
        let old = old.filter(|(stamp, _)| is_unordered(*stamp));
        let old = old.map(|(stamp, leaf)| (Kind::ATOMIC_WRITE, stamp, leaf));
        let readers = self.accessors.reads();
        let readers = readers.chain(self.accessors.remembered(false));
        let readers = readers.filter(|(stamp, _)| reads && is_unordered(*stamp));
        let readers = readers.map(|(stamp, leaf)| (Kind::ATOMIC_READ, stamp, leaf));
        writes.chain(old).chain(readers).next()
    }

    /// Where a write was made.
    pub fn place_of(&self, write: Timestamp) -> Node {
        let site = Writes::site(&self.state, write);
        site.map_or(Node::UNKNOWN, |site| site.leaf)
    }

    /// What a report says about a write.
    pub fn logged(&self, write: Timestamp) -> LoggedWrite {
        let site = Writes::site(&self.state, write);
        let is_plain = site.is_some_and(|site| site.operation == Operation::PlainWrite);
        let is_known = !is_plain && !self.is_mixed();
        let writer = self.state.writer(write);
        LoggedWrite {
            thread: writer.and_then(owners::owner),
            value: is_known
                .then(|| self.writes.value(&self.state, write))
                .flatten(),
            write: site,
            epoch: writer.map_or(0, |stamp| stamp.epoch.number()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_clocks::write_log::SlotTable;
    use rsan_model::{ThreadId, WriteOrd};

    const SITE: WriteSite = WriteSite {
        leaf: Node(1),
        operation: Operation::Store,
        order: Some(RmwOrd::Relaxed),
    };

    fn store(location: &mut Location, thread: &mut ThreadState, bits: u128) {
        let ord = WriteOrd::Relaxed;
        let effect = |value| Effect::Write { value, ord };
        location.write(thread, bits, effect, SITE, &Options::default());
    }

    #[test]
    fn values_that_share_a_number_or_are_not_known_are_noticed() {
        let alike = 1 << 32 | u128::from(0x9e37_79b1_u32 ^ 7);
        assert_eq!(number(alike), number(7));
        let (rules, mut slots) = (Rules::c20(), SlotTable::new(None));
        let [mut one, mut two] =
            [0, 1].map(|id| ThreadState::initial(ThreadId(id), slots.assign(None, rules), rules));
        let [mut data, mut flag] = [0x1000, 0x2000].map(|at| Location::new(at, 8, alike));
        assert!(data.tells(&two, &[7]), "nothing is stale");
        store(&mut data, &mut one, 1);
        store(&mut flag, &mut one, 1);
        flag.read(&mut two, Effect::Read(ReadOrd::Relaxed));
        assert!(!data.tells(&two, &[7]) && !data.tells(&two, &[8, 7]));
        assert!(data.tells(&two, &[8]) && data.tells(&two, &[alike]));
        let plain = WriteSite {
            operation: Operation::PlainWrite,
            order: None,
            ..SITE
        };
        data.plain_write(&mut one, plain, &Options::default());
        store(&mut data, &mut one, 2);
        store(&mut flag, &mut one, 2);
        flag.read(&mut two, Effect::Read(ReadOrd::Relaxed));
        assert!(!data.tells(&two, &[8]));
    }
}
