//! Values and places of the writes in a location's log, for reports and for comparing.
//!
//! The monitor's values have 32 bits and are only compared. Narrow values stand for themselves; wide ones have a
//! number ([`number`]) that another value may share, so whoever concludes something from equal numbers looks at the
//! values here.

use crate::stack::{Node, Site};
use rsan_clocks::write_log::LocationState;
use rsan_clocks::{Timestamp, WriteRef};
use rsan_model::{RmwOrd, ThreadId, Value};

/// The monitor's number for a value.
#[inline]
pub(super) fn number(bits: u128) -> Value {
    let fold = |wide: u64| wide as u32 ^ ((wide >> 32) as u32).wrapping_mul(0x9e37_79b1);
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
#[derive(Clone, Copy, Debug)]
pub struct WriteSite {
    /// Where.
    pub site: Site,
    /// What.
    pub operation: Operation,
    /// Its memory order, if it is atomic.
    pub order: Option<RmwOrd>,
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

/// A write of the log, without padding.
#[derive(Clone, Copy, Debug)]
struct Written {
    low: u64,
    pc: usize,
    node: Node,
    operation: Operation,
    order: Option<RmwOrd>,
}

impl Written {
    fn new(bits: u128, site: WriteSite) -> Self {
        Self {
            low: bits as u64,
            pc: site.site.pc,
            node: site.site.node,
            operation: site.operation,
            order: site.order,
        }
    }

    fn site(self) -> Option<WriteSite> {
        let site = Site {
            node: self.node,
            pc: self.pc,
        };
        (self.operation != Operation::Initial).then_some(WriteSite {
            site,
            operation: self.operation,
            order: self.order,
        })
    }
}

/// The writes in a log, each in the place that its position in the modification order gives it: the number of places
/// is a power of two that is not smaller than the log.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    places: Box<[Written]>,
    /// The upper halves of 128-bit values, in the same places.
    high: Option<Box<[u64]>>,
}

impl Writes {
    pub(super) fn new(bytes: usize, bits: u128) -> Self {
        let initial = WriteSite {
            site: Site::default(),
            operation: Operation::Initial,
            order: None,
        };
        let high = (bytes > size_of::<u64>()).then(|| Box::from([(bits >> 64) as u64]));
        Self {
            places: Box::new([Written::new(bits, initial)]),
            high,
        }
    }

    /// Notes the write that the monitor was just told of.
    #[inline]
    pub(super) fn note(&mut self, state: &LocationState, bits: u128, site: WriteSite) {
        let (last, kept) = (state.last_write().0, state.log_len().0);
        if kept > self.places.len() {
            self.grow(last);
        }
        let place = self.place(last);
        self.places[place] = Written::new(bits, site);
        if let Some(high) = &mut self.high {
            high[place] = (bits >> 64) as u64;
        }
    }

    #[inline]
    fn place(&self, position: u64) -> usize {
        position as usize & (self.places.len() - 1)
    }

    /// Doubles the number of places; the newest write is `last`, which has none yet.
    #[cold]
    fn grow(&mut self, last: u64) {
        let (old, new) = (self.places.len(), 2 * self.places.len());
        let source = |place: usize| {
            // The newest position before `last` that has this place.
            let newest = last.wrapping_sub(1);
            let position = newest.wrapping_sub(newest.wrapping_sub(place as u64) % new as u64);
            position as usize & (old - 1)
        };
        let sources = || (0..new).map(source);
        let places = sources().map(|from| self.places[from]).collect();
        let high = self.high.as_ref();
        let high = high.map(|high| sources().map(|from| high[from]).collect());
        (self.places, self.high) = (places, high);
    }

    /// Where a write of the log came from.
    pub(super) fn site(&self, write: Timestamp) -> Option<WriteSite> {
        self.places[self.place(write.0)].site()
    }

    /// What a report says about a write of the log, whose value is known or not.
    pub(super) fn logged(&self, write: &WriteRef, known: bool) -> LoggedWrite {
        let place = self.place(write.timestamp.0);
        let written = self.places[place];
        let high = self.high.as_ref().map_or(0, |high| high[place]);
        LoggedWrite {
            thread: write.thread,
            value: known.then_some(u128::from(high) << 64 | u128::from(written.low)),
            write: written.site(),
            epoch: 0,
        }
    }
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

    fn write(state: &mut LocationState, thread: &mut ThreadState) {
        let ord = WriteOrd::Relaxed;
        state.apply(thread, Effect::Write { value: 0, ord }, Rules::c20());
    }

    #[test]
    fn the_writes_of_the_log_are_found() {
        let rules = Rules::c20();
        let place = SlotTable::new(None).assign(None, rules);
        for cap in [2, 3, 8, 100] {
            let mut thread = ThreadState::initial(ThreadId(0), place, rules);
            let mut state = LocationState::new(0, rules);
            let bits = |position: u64| u128::from(position) << 65 | u128::from(position);
            let mut writes = Writes::new(16, bits(0));
            for _ in 0..300 {
                state.make_room(cap);
                write(&mut state, &mut thread);
                let last = state.last_write().0;
                let site = WriteSite {
                    site: Site::default(),
                    operation: Operation::Store,
                    order: Some(RmwOrd::Relaxed),
                };
                writes.note(&state, bits(last), site);
                for age in 0..state.log_len().0 as u64 {
                    let timestamp = Timestamp(last - age);
                    let reference = WriteRef {
                        loc: LocId(0),
                        timestamp,
                        thread: None,
                        value: 0,
                    };
                    let logged = writes.logged(&reference, true);
                    assert_eq!(logged.value, Some(bits(timestamp.0)));
                }
            }
            assert!(writes.places.len() < 2 * cap);
        }
    }
}
