//! Values and places of the writes in a location's log, for reports and for comparing.
//!
//! The monitor's values have 32 bits and are only compared. Narrow values stand for themselves; wide ones have a
//! number ([`number`]) that another value may share, so whoever concludes something from equal numbers looks at the
//! values here.

use crate::stack::{Node, Site};
use crate::thread::Entered;
use rsan_clocks::write_log::LocationState;
use rsan_clocks::{Timestamp, WriteRef};
use rsan_model::{RmwOrd, ThreadId, Value};

const FOLD: u32 = 0x9e37_79b1;

/// The monitor's number for a value.
#[inline]
pub(super) fn number(bits: u128) -> Value {
    let fold = |wide: u64| wide as u32 ^ ((wide >> 32) as u32).wrapping_mul(FOLD);
    let low = fold(bits as u64);
    let high = (bits >> 64) as u64;
    (low ^ fold(high).rotate_left(16)) as Value
}

macro_rules! operations {
    ($($(#[$doc:meta])* $operation:ident $name:literal,)+) => {
        /// What an atomic access is called.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Operation {
            $($(#[$doc])* $operation,)+
        }

        impl Operation {
            const ALL: [Self; 1 << 4] = {
                let all = [$(Self::$operation),+];
                let mut padded = [Self::Initial; 1 << 4];
                let mut index = 0;
                while index < all.len() {
                    padded[index] = all[index];
                    index += 1;
                }
                padded
            };

            /// Its name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$operation => $name,)+
                }
            }
        }
    };
}

operations! {
    /// What was there before.
    Initial "initial value",
    /// Load.
    Load "load",
    /// Store.
    Store "store",
    /// Exchange.
    Exchange "exchange",
    /// Compare-and-swap.
    CompareExchange "compare_exchange",
    /// Compare-and-swap that waits for the value.
    BlockingCompareExchange "blocking compare_exchange",
    /// Waiting for a value.
    Wait "wait",
    /// Addition.
    FetchAdd "fetch_add",
    /// Subtraction.
    FetchSub "fetch_sub",
    /// Bitwise and.
    FetchAnd "fetch_and",
    /// Bitwise or.
    FetchOr "fetch_or",
    /// Bitwise exclusive or.
    FetchXor "fetch_xor",
    /// Bitwise and, negated.
    FetchNand "fetch_nand",
    /// A write that is not atomic.
    PlainWrite "plain write",
}

/// A write, as a report shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteSite {
    /// Where, as one number.
    pub leaf: Node,
    /// What.
    pub operation: Operation,
    /// Its memory order, if it is atomic.
    pub order: Option<RmwOrd>,
}

const ORDERS: [Option<RmwOrd>; 6] = [
    None,
    Some(RmwOrd::Relaxed),
    Some(RmwOrd::Acquire),
    Some(RmwOrd::Release),
    Some(RmwOrd::AcqRel),
    Some(RmwOrd::SeqCst),
];

impl WriteSite {
    /// An access that a thread is about to make. To be asked for before the location is locked, which others may wait
    /// for.
    #[inline]
    pub fn new(me: &mut Entered, operation: Operation, order: RmwOrd) -> Self {
        Self {
            leaf: me.leaf(),
            operation,
            order: Some(order),
        }
    }

    /// Where.
    pub fn site(self) -> Site {
        self.leaf.as_site()
    }

    /// `leaf:24 operation:4 order:3`.
    #[inline]
    fn pack(self) -> u32 {
        let order = match self.order {
            None => 0,
            Some(RmwOrd::Relaxed) => 1,
            Some(RmwOrd::Acquire) => 2,
            Some(RmwOrd::Release) => 3,
            Some(RmwOrd::AcqRel) => 4,
            Some(RmwOrd::SeqCst) => 5,
        };
        self.leaf.0 << 8 | (self.operation as u32) << 3 | order
    }

    /// Nothing for what was there before.
    fn unpack(word: u32) -> Option<Self> {
        let operation = Operation::ALL[(word >> 3 & 0xf) as usize];
        (operation != Operation::Initial).then_some(Self {
            leaf: Node(word >> 8),
            operation,
            order: ORDERS[(word & 7) as usize],
        })
    }
}

/// What a report says about a write in the log.
#[derive(Clone, Copy, Debug)]
pub struct LoggedWrite {
    /// Who; `None` for what was there before.
    pub thread: Option<ThreadId>,
    /// The value written, if known.
    pub value: Option<u128>,
    /// Where and how, if known.
    pub write: Option<WriteSite>,
    /// The writer's epoch.
    pub epoch: u32,
}

/// What the monitor keeps with the write of a value: the upper half of it, which together with its number says the
/// lower one, and [`WriteSite::pack`].
#[inline]
fn note(bits: u128, site: WriteSite) -> u64 {
    u64::from((bits as u64 >> 32) as u32) << 32 | u64::from(site.pack())
}

/// The value of up to 64 bits that [`number`] and [`note`] come from.
fn value(number: Value, note: u64) -> u64 {
    let high = (note >> 32) as u32;
    let low = number as u32 ^ high.wrapping_mul(FOLD);
    u64::from(high) << 32 | u64::from(low)
}

/// The writes of a log, beside what the monitor knows of them: each in the place that its position in the modification
/// order gives it, if there are any of 128 bits; the number of places is a power of two that is not smaller than the
/// log.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    wide: Option<Box<[u128]>>,
}

impl Writes {
    pub(super) fn new(bytes: usize, bits: u128) -> Self {
        let is_wide = bytes > size_of::<u64>();
        Self {
            wide: is_wide.then(|| Box::from([bits])),
        }
    }

    /// What the monitor is to keep with what was there before.
    pub(super) fn initial(bits: u128) -> u64 {
        let nothing = WriteSite {
            leaf: Node::UNKNOWN,
            operation: Operation::Initial,
            order: None,
        };
        note(bits, nothing)
    }

    /// Notes the write that the monitor was just told of.
    #[inline]
    pub(super) fn note(&mut self, state: &mut LocationState, bits: u128, site: WriteSite) {
        state.set_note(note(bits, site));
        if let Some(wide) = &mut self.wide {
            put(wide, state.last_write().0, state.log_len().0, bits);
        }
    }

    /// Where a write of the log came from.
    pub(super) fn site(state: &LocationState, write: Timestamp) -> Option<WriteSite> {
        WriteSite::unpack(state.note(write)?.0 as u32)
    }

    /// What a report says about a write of the log, whose value is known or not.
    pub(super) fn logged(
        &self,
        state: &LocationState,
        write: &WriteRef,
        known: bool,
    ) -> LoggedWrite {
        let noted = state.note(write.timestamp);
        let value = match &self.wide {
            Some(wide) => Some(wide[write.timestamp.0 as usize & (wide.len() - 1)]),
            None => noted.map(|(note, number)| u128::from(value(number, note))),
        };
        let writer = state.writer(write.timestamp);
        LoggedWrite {
            thread: write.thread,
            value: value.filter(|_| known),
            write: Self::site(state, write.timestamp),
            epoch: writer.map_or(0, |(_, stamp)| stamp.epoch.number()),
        }
    }
}

/// Notes a wide value, the newest of so many that are kept.
#[cold]
fn put(wide: &mut Box<[u128]>, last: u64, kept: usize, bits: u128) {
    if kept > wide.len() {
        let (old, new) = (wide.len(), 2 * wide.len());
        let source = |place: usize| {
            // The newest position before `last` that has this place.
            let newest = last.wrapping_sub(1);
            let position = newest.wrapping_sub(newest.wrapping_sub(place as u64) % new as u64);
            position as usize & (old - 1)
        };
        *wide = (0..new).map(|place| wide[source(place)]).collect();
    }
    let place = last as usize & (wide.len() - 1);
    wide[place] = bits;
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_clocks::Effect;
    use rsan_clocks::write_log::{Rules, SlotTable, ThreadState};
    use rsan_model::{LocId, WriteOrd};

    #[test]
    fn narrow_values_have_numbers_of_their_own() {
        assert_eq!(number(0xffff_ffff), -1);
        assert_eq!(number(7), 7);
        let pointers = (0..1000u128).map(|i| number(0x7fff_1234_0000 + 8 * i));
        let distinct: std::collections::HashSet<_> = pointers.collect();
        assert_eq!(distinct.len(), 1000);
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        for (operation, order) in [
            (Operation::Store, Some(RmwOrd::SeqCst)),
            (Operation::PlainWrite, None),
            (Operation::FetchNand, Some(RmwOrd::AcqRel)),
        ] {
            let leaf = Node((1 << 24) - 1);
            let site = WriteSite {
                leaf,
                operation,
                order,
            };
            assert_eq!(WriteSite::unpack(site.pack()), Some(site));
        }
        assert_eq!(WriteSite::unpack(Writes::initial(5) as u32), None);
    }

    #[test]
    fn the_writes_of_the_log_are_found() {
        let rules = Rules::c20();
        let place = SlotTable::new(None).assign(None, rules);
        for (cap, bytes) in [(2, 16), (3, 16), (8, 8), (100, 16), (100, 8)] {
            let mut thread = ThreadState::initial(ThreadId(0), place, rules);
            let shift = if bytes == 16 { 65 } else { 33 };
            let bits = |position: u64| u128::from(position) << shift | u128::from(position);
            let mut state = LocationState::new(number(bits(0)), rules);
            let mut writes = Writes::new(bytes, bits(0));
            for position in 1..300 {
                state.make_room(cap);
                let effect = Effect::Write {
                    value: number(bits(position)),
                    ord: WriteOrd::Relaxed,
                };
                state.apply(&mut thread, effect, rules);
                let last = state.last_write().0;
                assert_eq!(last, position);
                let site = WriteSite {
                    leaf: Node(position as u32),
                    operation: Operation::Store,
                    order: Some(RmwOrd::Relaxed),
                };
                writes.note(&mut state, bits(last), site);
                for age in 0..state.log_len().0 as u64 {
                    let timestamp = Timestamp(last - age);
                    let reference = WriteRef {
                        loc: LocId(0),
                        timestamp,
                        thread: None,
                        value: 0,
                    };
                    let logged = writes.logged(&state, &reference, true);
                    assert_eq!(logged.value, Some(bits(timestamp.0)));
                    assert_eq!(logged.write.is_some(), timestamp.0 > 0);
                }
            }
        }
    }
}
