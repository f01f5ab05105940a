//! The check: can an access go behind the last write of its location? See docs/theory/finite.md, F4.

use crate::bits::Bits;
use crate::layout::Layout;
use crate::mutation::Mutant;
use crate::state::State;
use rsan_model::{CasStrength, LocId, ReadOrd, RmwOrd, ThreadId, Value, WriteOrd};

/// What a thread is about to do to a location, as far as checks care.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attempt<'a> {
    Load(ReadOrd),
    Store(WriteOrd),
    Rmw(RmwOrd),
    Wait(ReadOrd, &'a [Value]),
    Bcas(RmwOrd, Value),
    Cas {
        ord: RmwOrd,
        fail: ReadOrd,
        expected: Value,
        strength: CasStrength,
    },
}

/// How an attempt can go behind the last write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weakness {
    /// As what it is; a compare-and-swap as a success.
    Direct,
    /// As a compare-and-swap that fails.
    Failing,
}

impl<const W: usize> Layout<W> {
    /// The stale values that an access of `t` may see: `[LB, cur)`.
    #[inline]
    fn visible(&self, s: &State<W>, t: ThreadId, sc: bool) -> Bits<W> {
        let first = self.threads[t.index()].current;
        let mut stale = s.slots[first];
        let c = &self.components;
        let sc = sc && !self.breaks(Mutant::ScBindsNobody) || self.breaks(Mutant::ScBindsAll);
        if let (true, Some(q)) = (sc, c.accesses) {
            stale.keep(s.slots[first + q]);
        } else if let (Some(f), false) = (c.fences, self.breaks(Mutant::FencesBindNobody)) {
            stale.keep(s.slots[first + f]);
        }
        stale
    }

    /// How the attempt can go behind the last write of `loc`, which SC forbids; `None` if it cannot.
    #[inline]
    pub(crate) fn weakness(
        &self,
        s: &State<W>,
        t: ThreadId,
        loc: LocId,
        attempt: Attempt<'_>,
    ) -> Option<Weakness> {
        let bits = &self.locations[loc.index()];
        let (Some(order), Some(bit)) = (self.threads[t.index()].order, bits.order) else {
            return None;
        };
        if s.slots[order].contains(bit) && !self.breaks(Mutant::CheckWithoutOrder) {
            return None;
        }
        let visible = |sc: bool| self.visible(s, t, sc);
        let unless = |mutant, mask, broken| if self.breaks(mutant) { broken } else { mask };
        let (stale, open) = (bits.stale_mask, bits.unextended_mask);
        let direct = match attempt {
            Attempt::Load(ord) => {
                visible(ord.is_sc()).intersects(unless(Mutant::LoadAsRmw, stale, open))
            }
            Attempt::Store(ord) => {
                visible(ord.is_sc()).intersects(unless(Mutant::StoreIgnoresBlocks, open, stale))
            }
            Attempt::Rmw(ord) => {
                visible(ord.is_sc()).intersects(unless(Mutant::RmwIgnoresBlocks, open, stale))
            }
            Attempt::Wait(ord, values) => {
                let visible = visible(ord.is_sc());
                values.iter().any(|&v| {
                    let value = bits.stale_value(v);
                    visible.intersects(unless(Mutant::WaitAsLoad, value, stale))
                })
            }
            Attempt::Bcas(ord, expected) => {
                let suitable = if self.breaks(Mutant::BcasIgnoresBlocks) {
                    bits.stale_value(expected)
                } else {
                    unless(Mutant::BcasAsRmw, bits.unextended_value(expected), open)
                };
                visible(ord.is_sc()).intersects(suitable)
            }
            Attempt::Cas {
                ord,
                fail,
                expected,
                strength,
            } => {
                let other = || stale.difference(bits.only_stale_value(expected));
                let failing = match strength {
                    CasStrength::Strong if self.breaks(Mutant::StrongCasNeverFails) => Bits::EMPTY,
                    CasStrength::Strong if self.breaks(Mutant::StrongCasAsWeak) => stale,
                    CasStrength::Weak if self.breaks(Mutant::WeakCasAsStrong) => other(),
                    // A strong one fails only on another value.
                    CasStrength::Strong => other(),
                    CasStrength::Weak => stale,
                };
                let (on_success, on_failure) = self.cas_orders(ord, fail);
                if visible(on_failure).intersects(failing) {
                    return Some(Weakness::Failing);
                }
                let value = bits.unextended_value(expected);
                let value = unless(Mutant::CasNeverSucceeds, value, Bits::EMPTY);
                visible(on_success).intersects(value)
            }
        };
        direct.then_some(Weakness::Direct)
    }

    /// Whether a compare-and-swap is checked as seq_cst when it succeeds, and when it fails.
    #[inline]
    fn cas_orders(&self, ord: RmwOrd, fail: ReadOrd) -> (bool, bool) {
        if self.breaks(Mutant::CasFailureUsesSuccessOrder) {
            (ord.is_sc(), ord.is_sc())
        } else if self.breaks(Mutant::CasSuccessUsesFailureOrder) {
            (fail.is_sc(), fail.is_sc())
        } else {
            (ord.is_sc(), fail.is_sc())
        }
    }
}
