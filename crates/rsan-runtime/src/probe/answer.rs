//! What a child finds out, and the page in which it says so.

use super::exact::Outcome;
use crate::finding::{Step, Unknown};
use crate::sched::reuse::copy::Touched;
use crate::sched::reuse::memo;
use crate::system::own_call;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What the program does with an old value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It only tries again; it came back to a state that it was in before.
    Iterates,
    /// In exact mode: it goes round in a loop that began after so many choices, and that the access is not a part of.
    Circles {
        /// How many.
        after: u32,
    },
    /// It tried again as often as was watched, in ever new states.
    KeepsIterating,
    /// It comes to a compare-and-swap that expects the current value and is to write this one.
    Retries {
        /// What it is to write.
        new: u128,
    },
    /// It does something else.
    Passes(Step),
    /// The same, but the access was made again and handed the old value, after something was acquired: that may be more than is possible.
    PassesLater(Step),
    /// It does something else, but another access was handed the old value, too, in the same way.
    Doubtful,
    /// That is not known.
    Unknown(Unknown),
}

const STEPS: u32 = 16;
const LATER_STEPS: u32 = 32;
const UNKNOWNS: u32 = 64;

impl Answer {
    /// A number for the answer, and another one that belongs to some.
    fn code(self) -> (u32, u128) {
        match self {
            Self::Iterates => (1, 0),
            Self::KeepsIterating => (2, 0),
            Self::Doubtful => (3, 0),
            Self::Retries { new } => (4, new),
            Self::Circles { after } => (5, u128::from(after)),
            Self::Passes(step) => (STEPS + step as u32, 0),
            Self::PassesLater(step) => (LATER_STEPS + step as u32, 0),
            Self::Unknown(unknown) => (UNKNOWNS + unknown as u32, 0),
        }
    }

    /// What was remembered, and the mark.
    pub(super) fn of_memo(
        memo::Answer([code, low, high, mark]): memo::Answer,
    ) -> Option<(Self, u64)> {
        let new = u128::from(high) << 64 | u128::from(low);
        Some((Self::from_code(code as u32, new)?, mark))
    }

    fn from_code(code: u32, new: u128) -> Option<Self> {
        let index = |first: u32| code.checked_sub(first).map(|index| index as usize);
        let unknown = || Unknown::ALL.get(index(UNKNOWNS)?);
        let step = |first| Step::ALL.get(index(first)?).copied();
        match code {
            1 => Some(Self::Iterates),
            2 => Some(Self::KeepsIterating),
            3 => Some(Self::Doubtful),
            4 => Some(Self::Retries { new }),
            5 => Some(Self::Circles { after: new as u32 }),
            _ => unknown()
                .map(|u| Self::Unknown(*u))
                .or_else(|| step(LATER_STEPS).map(Self::PassesLater))
                .or_else(|| step(STEPS).map(Self::Passes)),
        }
    }
}

/// What is on the page of an answer.
#[derive(Debug)]
struct Page {
    code: AtomicU32,
    low: AtomicU64,
    high: AtomicU64,
    /// A digest of the visible step that the program came to; 0 if there is none.
    mark: AtomicU64,
    /// The pages of the program's that it touched, if that was to be noted.
    touched: Touched,
    /// What a child in exact mode hands over, written before the answer.
    outcome: UnsafeCell<Outcome>,
}

// SAFETY: the outcome is written by the only thread of the child, and read by the parent after the child's end.
unsafe impl Sync for Page {}

/// A page that a child shares with its parent. It holds nothing until the child has answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(&'static Page);

const LENGTH: usize = size_of::<Page>().next_multiple_of(4096);

impl Place {
    /// A fresh one, if there is memory. To be given back by [`Place::free`].
    pub(super) fn new() -> Option<Self> {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
        // SAFETY: a fresh mapping of zeros, which are valid numbers.
        unsafe {
            let page = own_call(
                libc::SYS_mmap,
                [0, LENGTH, protection, flags, usize::MAX, 0],
            );
            (page > 0).then(|| Self(&*(page as *const Page)))
        }
    }

    /// Its address.
    pub(super) fn address(self) -> usize {
        std::ptr::from_ref(self.0) as usize
    }

    /// Says the answer.
    pub(super) fn set(self, answer: Answer) {
        let (code, new) = answer.code();
        // ORDERING: relaxed; the parent looks after the child's end.
        self.0.low.store(new as u64, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        self.0.high.store((new >> 64) as u64, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        self.0.code.store(code, Ordering::Relaxed);
    }

    /// Leaves a digest of the visible step, before the answer.
    pub(super) fn set_mark(self, mark: u64) {
        // ORDERING: relaxed; the parent looks after the child's end.
        self.0.mark.store(mark, Ordering::Relaxed);
    }

    /// The digest of the visible step, or 0. After the end of the child.
    pub(super) fn mark(self) -> u64 {
        // ORDERING: relaxed; the child has ended.
        self.0.mark.load(Ordering::Relaxed)
    }

    /// Leaves what the child found out, before the answer.
    pub(super) fn hand_over(self, outcome: &Outcome) {
        // SAFETY: the only thread of the child; the parent looks after its end.
        unsafe { *self.0.outcome.get() = *outcome };
    }

    /// What the child found out. After its end.
    pub(super) fn handed_over(self) -> Outcome {
        // SAFETY: the child has ended. Fresh pages are zeros, which are an outcome.
        unsafe { *self.0.outcome.get() }
    }

    /// Where the child notes the pages that it touches.
    pub(super) fn touched(self) -> &'static Touched {
        &self.0.touched
    }

    /// The answer that was said, and the mark, to be remembered; none if it may be another one the next time.
    pub(super) fn lasting(self) -> Option<memo::Answer> {
        let answer = self.get()?;
        let (code, new) = answer.code();
        let words = [u64::from(code), new as u64, (new >> 64) as u64, self.mark()];
        (!matches!(answer, Answer::Unknown(_))).then_some(memo::Answer(words))
    }

    /// What was said.
    pub(super) fn get(&self) -> Option<Answer> {
        // ORDERING: relaxed; the child has ended.
        let [low, high] =
            [&self.0.low, &self.0.high].map(|half| u128::from(half.load(Ordering::Relaxed)));
        // ORDERING: relaxed, as above.
        Answer::from_code(self.0.code.load(Ordering::Relaxed), high << 64 | low)
    }

    /// Gives the page back.
    pub(super) fn free(self) {
        // SAFETY: made by `new`; the value is consumed, and its copy in the child is another mapping.
        unsafe { own_call(libc::SYS_munmap, [self.address(), LENGTH, 0, 0, 0, 0]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_their_page() {
        let steps = Step::ALL.iter();
        let steps = steps.flat_map(|&step| [Answer::Passes(step), Answer::PassesLater(step)]);
        let unknowns = Unknown::ALL.iter().map(|unknown| Answer::Unknown(*unknown));
        let others = [
            Answer::Iterates,
            Answer::KeepsIterating,
            Answer::Doubtful,
            Answer::Circles { after: 7 },
            Answer::Retries {
                new: u128::MAX - (1 << 70),
            },
        ];
        let place = Place::new().expect("a page");
        assert_eq!(place.get(), None);
        for answer in steps.chain(unknowns).chain(others) {
            place.set(answer);
            assert_eq!(place.get(), Some(answer));
        }
        place.free();
    }
}
