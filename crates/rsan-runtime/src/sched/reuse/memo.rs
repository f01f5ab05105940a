//! Answers of copies that find something out, for when the same is asked again.
//!
//! Most runs of a campaign ask the same few questions. What a copy does depends on the question, on the registers and the stack of its thread,
//! and on the pages that it touches ([`super::copy`]): if all of these are as they were, the answer is.
//!
//! **How**: from the place in the program and on the stack to the lists of pages that copies have touched there; from the question, the registers
//! (the *key*), a list and what is in its pages to the answer. Of the page in which the stack ends only the part of the stack counts: what is below it is nobody's.
//! Both tables are in the memory that keepers share with the server, so that the next keeper has them, too.
//!
//! **Deviations**: digests have 128 bits, and are taken for what they are digests of. A copy that reads the processor's clock gets the same answer again.

use super::copy::{NOTED, Touched};
use super::keeper::{Keeper, keeper};
use super::pages::PAGE;
use crate::tls;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Lists of pages, and answers, that there is room for.
const LISTS: usize = 1 << 12;
const ANSWERS: usize = 1 << 18;
/// Places of a table that are looked at.
const NEAR: usize = 16;
/// Places in the program for which it is counted how often an answer is known. Two that share a count do no harm.
const PLACES: usize = 1 << 10;
/// Questions of a place after which what is counted tells something.
const ENOUGH: u32 = 256;

/// A digest; never all zeroes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Digest([u64; 2]);

/// Odd numbers without a pattern: the golden ratio, and the roots of 2 and 3.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xb504_f333_f9de_6485];
const SECOND: [u64; 2] = [0xddb3_d742_c265_539d, 0x9e37_79b9_7f4a_7c15];

impl Digest {
    pub(crate) const NONE: Self = Self(FACTORS);

    /// The digest with two more words.
    #[inline(always)]
    #[must_use]
    fn with_two(self, first: u64, second: u64) -> Self {
        let lane = |at: usize| {
            let a = first ^ self.0[at] ^ SECOND[at];
            let b = second.rotate_left(32) ^ FACTORS[at];
            let product = u128::from(a) * u128::from(b);
            // What the product loses if a factor is zero stays in the sum.
            (product as u64 ^ (product >> 64) as u64)
                .wrapping_add(self.0[at].rotate_left(23))
                .wrapping_add(first ^ second.wrapping_mul(FACTORS[at]))
        };
        Self([lane(0), lane(1)])
    }

    /// The digest with more words.
    #[must_use]
    pub(crate) fn with(self, words: &[u64]) -> Self {
        let (pairs, rest) = words.as_chunks::<2>();
        let all = pairs.iter().fold(self, |all, &[a, b]| all.with_two(a, b));
        let last = rest.first().copied().unwrap_or_default();
        all.with_two(last, words.len() as u64)
    }

    /// The digest with what is in memory.
    ///
    /// # Safety
    /// It can be read, from a word's start to a word's start; nobody else runs.
    unsafe fn with_memory(self, start: usize, end: usize) -> Self {
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(start as *const u64, (end - start) / 8) };
        self.with(words)
    }

    fn index(self, size: usize) -> usize {
        (self.0[0] ^ self.0[1]) as usize % size
    }
}

/// What was found out, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer(pub(crate) [u64; 4]);

/// The pages that a copy touched which was asked at a place.
#[derive(Debug)]
struct List {
    place: [AtomicU64; 2],
    count: AtomicUsize,
    pages: [AtomicUsize; NOTED],
}

#[derive(Debug)]
struct Known {
    digest: [AtomicU64; 2],
    answer: [AtomicU64; 4],
}

/// How often a place asks, and has an answer already.
#[derive(Debug)]
struct Rate {
    asked: AtomicU32,
    known: AtomicU32,
}

impl Rate {
    /// Whether it pays to look for answers, and to note what they depend on: a copy that notes its pages takes twice as long.
    fn pays(&self) -> bool {
        // ORDERING: relaxed, here and below; nothing but time depends on them.
        let asked = self.asked.load(Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        asked < ENOUGH || self.known.load(Ordering::Relaxed) >= asked / 2
    }

    fn count(&self, known: bool) {
        // ORDERING: relaxed, as in `pays`.
        self.asked.fetch_add(1, Ordering::Relaxed);
        // ORDERING: relaxed, as in `pays`.
        self.known.fetch_add(u32::from(known), Ordering::Relaxed);
    }
}

/// All that is known. All zeroes: nothing.
#[derive(Debug)]
pub(super) struct Memo {
    lists: [List; LISTS],
    answers: [Known; ANSWERS],
    rates: [Rate; PLACES],
}

/// The digest at a place of a table.
fn digest_at(words: &[AtomicU64; 2]) -> Option<Digest> {
    // ORDERING: acquire, with the release in `set_digest`.
    let [a, b] = [0, 1].map(|i: usize| words[i].load(Ordering::Acquire));
    (b != 0).then_some(Digest([a, b]))
}

/// The last thing that is written of an entry: a keeper may be ended at any time.
fn set_digest(words: &[AtomicU64; 2], digest: Digest) {
    // ORDERING: relaxed; the next one publishes it.
    words[0].store(digest.0[0], Ordering::Relaxed);
    // ORDERING: release, with the acquire in `digest_at`.
    words[1].store(digest.0[1], Ordering::Release);
}

impl Memo {
    /// The lists of a place, and room for another one.
    fn lists(&self, place: Digest) -> impl Iterator<Item = &List> {
        let start = place.index(LISTS);
        (0..NEAR).map(move |near| &self.lists[(start + near) % LISTS])
    }

    fn answers(&self, digest: Digest) -> impl Iterator<Item = &Known> {
        let start = digest.index(ANSWERS);
        (0..NEAR).map(move |near| &self.answers[(start + near) % ANSWERS])
    }

    fn answer(&self, digest: Digest) -> Option<Answer> {
        let known = self.answers(digest);
        let known = known.map_while(|known| Some((known, digest_at(&known.digest)?)));
        let (found, _) = known.into_iter().find(|(_, at)| *at == digest)?;
        // ORDERING: relaxed; published by the digest.
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed);
        Some(Answer(found.answer.each_ref().map(word)))
    }

    fn add_list(&self, at: Digest, pages: &[usize]) {
        for list in self.lists(at) {
            match digest_at(&list.place) {
                Some(other) if other != at => {}
                Some(_) => {
                    if list.pages().0[..list.pages().1] == *pages {
                        return;
                    }
                }
                None => {
                    // ORDERING: relaxed; published by the digest.
                    list.count.store(pages.len(), Ordering::Relaxed);
                    for (place, page) in list.pages.iter().zip(pages) {
                        // ORDERING: relaxed, as above.
                        place.store(*page, Ordering::Relaxed);
                    }
                    return set_digest(&list.place, at);
                }
            }
        }
    }

    fn add_answer(&self, digest: Digest, answer: Answer) {
        let free = self
            .answers(digest)
            .find(|known| digest_at(&known.digest).is_none());
        let Some(known) = free else { return };
        for (place, word) in known.answer.iter().zip(answer.0) {
            // ORDERING: relaxed; published by the digest.
            place.store(word, Ordering::Relaxed);
        }
        set_digest(&known.digest, digest);
    }
}

impl List {
    fn pages(&self) -> ([usize; NOTED], usize) {
        // ORDERING: relaxed; published by the digest.
        let count = self.count.load(Ordering::Relaxed).min(NOTED);
        // ORDERING: relaxed, as above.
        (
            self.pages
                .each_ref()
                .map(|page| page.load(Ordering::Relaxed)),
            count,
        )
    }
}

/// A question that may be asked again.
#[derive(Debug)]
pub(crate) struct Question {
    memo: &'static Memo,
    rate: &'static Rate,
    place: Digest,
    key: Digest,
    /// Where the stack of the program ends, and the memory that it is in begins.
    stack: usize,
    dead: usize,
}

impl Question {
    /// `stack` and `outermost`: where the thread's stack ends and begins. `None` if the state of the program is not known well enough,
    /// or is hardly ever the same again where this is asked.
    pub(crate) fn new(pc: usize, key: Digest, stack: usize, outermost: usize) -> Option<Self> {
        let keeper = keeper()?;
        let shared = keeper.shared?;
        let memo = &shared.memo;
        let rate = &memo.rates[Digest::NONE.with(&[pc as u64]).index(PLACES)];
        if !rate.pays() {
            return None;
        }
        let dead = keeper.knows_all(stack, outermost)?;
        Some(Self {
            memo,
            rate,
            place: Digest::NONE.with(&[pc as u64, stack as u64]),
            key: key.with(&[pc as u64, stack as u64]),
            stack,
            dead,
        })
    }

    /// The part of the stack's memory that holds nothing of the program's.
    pub(crate) fn dead(&self) -> (usize, usize) {
        (self.dead, self.stack & !(PAGE - 1))
    }

    /// The state that an answer depends on. `None` if such pages are not there.
    fn state(&self, keeper: &Keeper, pages: &[usize]) -> Option<Digest> {
        let mut state = self.key;
        for &page in pages {
            if !keeper.pages.is_there(page) {
                return None;
            }
            let start = if page == self.stack & !(PAGE - 1) {
                self.stack & !7
            } else {
                page
            };
            state = state.with(&[page as u64]);
            // The runtime's own trace of its last call lies between the program's thread-local variables.
            let trace = tls::swap_trace([0; 2]);
            // SAFETY: memory of the program's, and one thread runs.
            state = unsafe { state.with_memory(start, page + PAGE) };
            tls::swap_trace(trace);
        }
        Some(state)
    }

    /// The answer, if there was one in the same state.
    pub(crate) fn recall(&self) -> Option<Answer> {
        let answer = self.find();
        self.rate.count(answer.is_some());
        answer
    }

    fn find(&self) -> Option<Answer> {
        let keeper = keeper()?;
        let memo = self.memo;
        for list in memo.lists(self.place) {
            let place = digest_at(&list.place)?;
            if place != self.place {
                continue;
            }
            let (pages, count) = list.pages();
            if let Some(state) = self.state(keeper, &pages[..count])
                && let Some(answer) = memo.answer(state)
            {
                return Some(answer);
            }
        }
        None
    }

    /// A copy that touched these pages has found something out.
    pub(crate) fn remember(&self, touched: &Touched, answer: Answer) {
        let Some(keeper) = keeper() else { return };
        let Some((pages, count)) = touched.all() else {
            return;
        };
        let Some(state) = self.state(keeper, &pages[..count]) else {
            return;
        };
        self.memo.add_list(self.place, &pages[..count]);
        self.memo.add_answer(state, answer);
    }
}
