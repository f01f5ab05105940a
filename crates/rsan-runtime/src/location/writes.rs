//! Values and places of the writes in a location's log, for reports and for comparing.
//!
//! The monitor's values have 32 bits and are only compared. Narrow values stand for themselves; wide ones have a
//! number ([`number`]) that another value may share, so whoever concludes something from equal numbers looks at the
//! values here.

use crate::stack::{Node, Site};
use crate::trail::Act;
use rsan_clocks::Timestamp;
use rsan_clocks::write_log::{LocationState, NOTE_BITS};
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
    ($($(#[$doc:meta])* $operation:ident,)+) => {
        /// What an atomic access is called.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Operation {
            $($(#[$doc])* $operation,)+
        }

        impl Operation {
            const ALL: &[Self] = &[$(Self::$operation),+];

            /// As findings have it.
            pub fn logged(self) -> rsan_log::Operation {
                match self {
                    $(Self::$operation => rsan_log::Operation::$operation,)+
                }
            }
        }
    };
}

operations! {
    /// What was there before.
    Initial,
    /// A write that is not atomic.
    PlainWrite,
    /// Store.
    Store,
    /// Exchange.
    Exchange,
    /// Compare-and-swap.
    CompareExchange,
    /// Compare-and-swap that waits for the value.
    BlockingCompareExchange,
    /// Addition.
    FetchAdd,
    /// Subtraction.
    FetchSub,
    /// Bitwise and.
    FetchAnd,
    /// Bitwise or.
    FetchOr,
    /// Bitwise exclusive or.
    FetchXor,
    /// Bitwise and, negated.
    FetchNand,
    /// Load.
    Load,
    /// Waiting for a value.
    Wait,
}

impl Operation {
    fn is_atomic(self) -> bool {
        !matches!(self, Self::Initial | Self::PlainWrite)
    }
}

impl From<Operation> for Act {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Load => Self::Load,
            Operation::Store => Self::Store,
            Operation::PlainWrite => Self::PlainWrite,
            _ => Self::Rmw,
        }
    }
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

/// Bits for the operation and order of a write.
const KIND_BITS: u32 = 6;
/// Bits of [`WriteSite::pack`].
const SITE_BITS: u32 = 24 + KIND_BITS;

impl WriteSite {
    /// What was there before.
    pub(super) const INITIAL: Self = Self {
        leaf: Node::UNKNOWN,
        operation: Operation::Initial,
        order: None,
    };

    /// An access that a thread is about to make. To be asked for before the location is locked, which others may wait
    /// for.
    #[inline]
    pub fn new(leaf: Node, operation: Operation, order: RmwOrd) -> Self {
        Self {
            leaf,
            operation,
            order: Some(order),
        }
    }

    /// Where.
    pub fn site(self) -> Site {
        self.leaf.as_site()
    }

    /// `leaf:24 operation and order:6`. Only for writes.
    #[inline]
    fn pack(self) -> u32 {
        let order = self.order.map_or(0, |order| order as u32);
        let kind = self.operation as u32 * RmwOrd::ALL.len() as u32 + order;
        debug_assert!(kind >> KIND_BITS == 0, "not a write: {self:?}");
        self.leaf.0 << KIND_BITS | kind
    }

    /// Nothing for what was there before.
    fn unpack(word: u32) -> Option<Self> {
        let kind = (word & ((1 << KIND_BITS) - 1)) as usize;
        let operation = Operation::ALL[kind / RmwOrd::ALL.len()];
        let order = RmwOrd::ALL[kind % RmwOrd::ALL.len()];
        (operation != Operation::Initial).then_some(Self {
            leaf: Node(word >> KIND_BITS),
            operation,
            order: operation.is_atomic().then_some(order),
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

/// What the monitor keeps with the write of a value that [`fits`]: the next 16 bits of it, which together with its number
/// say the whole, and [`WriteSite::pack`].
#[inline]
pub(super) fn note(bits: u128, site: WriteSite) -> u64 {
    u64::from((bits >> 32) as u16) << SITE_BITS | u64::from(site.pack())
}

const _: () = assert!(u16::BITS + SITE_BITS <= NOTE_BITS);

/// Whether a value is that of its lowest 48 bits: pointers, and what counts something.
#[inline]
pub(super) fn fits(bits: u128) -> bool {
    const REST: u32 = u64::BITS - 48;
    bits as u64 as i64 == (bits as i64) << REST >> REST && bits >> 64 == 0
}

/// The value that [`number`] and [`note`] come from.
fn value(number: Value, note: u64) -> u128 {
    let high = (note >> SITE_BITS) as i16 as u32;
    let low = number as u32 ^ high.wrapping_mul(FOLD);
    u128::from(u64::from(high) << 32 | u64::from(low))
}

/// The writes of a log, beside what the monitor knows of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    wide: Option<Box<Wide>>,
}

/// The values, once there was one that does not fit into a note: each in the place that its position in the
/// modification order gives it; the number of places is a power of two that is not smaller than the log.
#[derive(Clone, Debug)]
struct Wide(Box<[u128]>);

impl Wide {
    fn index(&self, write: Timestamp) -> usize {
        write.0 as usize & (self.0.len() - 1)
    }

    fn set(&mut self, write: Timestamp, bits: u128) {
        let index = self.index(write);
        self.0[index] = bits;
    }
}

impl Writes {
    /// Notes the last value, which does not fit into a note, or some value before it did not.
    #[cold]
    pub(super) fn put(&mut self, state: &LocationState, bits: u128) {
        let kept = state.log_len().0.next_power_of_two();
        let last = state.last_write();
        if self.wide.as_ref().is_none_or(|wide| wide.0.len() < kept) {
            let mut wide = Wide(vec![0; kept].into());
            for write in (state.oldest_write().0..last.0).map(Timestamp) {
                wide.set(write, self.value(state, write).unwrap_or_default());
            }
            self.wide = Some(Box::new(wide));
        }
        if let Some(wide) = &mut self.wide {
            wide.set(last, bits);
        }
    }

    /// Where a write of the log came from.
    pub(super) fn site(state: &LocationState, write: Timestamp) -> Option<WriteSite> {
        WriteSite::unpack(state.note(write)?.0 as u32 & ((1 << SITE_BITS) - 1))
    }

    /// The value of a write of the log, if it was known.
    pub(super) fn value(&self, state: &LocationState, write: Timestamp) -> Option<u128> {
        let (note, number) = state.note(write)?;
        Some(match &self.wide {
            Some(wide) => wide.0[wide.index(write)],
            None => value(number, note),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Location;
    use crate::options::Options;
    use rsan_clocks::Effect;
    use rsan_clocks::write_log::{Rules, SlotTable, ThreadState};
    use rsan_model::WriteOrd;

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
    }

    #[test]
    fn the_writes_of_the_log_are_found() {
        let rules = Rules::c20();
        let place = SlotTable::new(None).assign(None, rules);
        let narrow = |position: u64| u128::from(position << 33 | position);
        let negative = |position: u64| u128::from(u64::MAX - position);
        let wide = |position: u64| u128::from(position) << 65 | u128::from(position);
        let hashes = |position: u64| u128::from(position.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let later = |position: u64| u128::from(position) << if position < 200 { 0 } else { 60 };
        let values: [&dyn Fn(u64) -> u128; 5] = [&narrow, &negative, &wide, &hashes, &later];
        let cases = values.map(|bits| [2, 3, 8, 100].map(|cap| (cap, bits)));
        for (log_cap, bits) in cases.into_iter().flatten() {
            let options = Options {
                log_cap,
                ..Options::default()
            };
            let mut thread = ThreadState::initial(ThreadId(0), place, rules);
            let mut location = Location::new(0x1000, 16, bits(0));
            for position in 1..300 {
                let effect = |value| Effect::Write {
                    value,
                    ord: WriteOrd::Relaxed,
                };
                let site = WriteSite {
                    leaf: Node(position as u32),
                    operation: Operation::Store,
                    order: Some(RmwOrd::Relaxed),
                };
                location.write(&mut thread, bits(position), effect, site, &options);
                let writes: Vec<_> = location.logged_writes().collect();
                assert_eq!(writes.last(), Some(&Timestamp(position)));
                assert_eq!(writes.len(), log_cap.min(position as usize + 1));
                for write in writes {
                    let logged = location.logged(write);
                    assert_eq!(logged.value, Some(bits(write.0)));
                    let leaf = logged.write.map(|site| u64::from(site.leaf.0));
                    assert_eq!(leaf, (write.0 > 0).then_some(write.0));
                }
            }
        }
    }
}
