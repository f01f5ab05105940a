//! From whom a thread learnt what every SC order puts before it, so that a report can show the way back.
//!
//! When an access adds to a thread's SC past, the thread notes it in its *trail*: the access, and those before it on
//! the same location from which the addition came. A location remembers them: its last write, and the last reads
//! since ([`Accessors`], which [`crate::race`] asks as well). Each note is an edge of the run (reads-from, modification order or from-read), so any path of notes and
//! program order is one that every SC order respects. Fences are noted too, for they stand between accesses.
//!
//! **Not complete**: a trail keeps its last [`NOTES`] notes, those of ended threads are given to new ones (from `ENDED` on), a location keeps `READERS` readers, and what
//! comes through joins and fibers, or from any but the last who released a lock or the like, is not noted. Then a path may not be found; none is ever invented.
//!
//! **Cost**: nothing where nothing is learnt, except that a location remembers who accessed it.
//!
//! **Concurrency**: a trail is written by its thread and read by reports of any. Notes are words of a ring; a reader
//! drops what may have been overwritten while it read.

mod accessors;
mod locks;
mod step;

pub use accessors::Accessors;
pub(crate) use locks::held_at;
pub use locks::{LockNote, lock_notes};
pub use step::{Act, Place, Step, describe_fence};

use crate::lock::Lock;
use crate::mapping::map_zeroed;
use crate::tables::Map;
use accessors::READERS;
use locks::LockNotes;
use rsan_model::ThreadId;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use step::STEP_WORDS;

/// Notes that a trail keeps.
pub const NOTES: usize = 256;
/// Trails that are kept at least, those of threads that have ended included.
const ENDED: usize = 64;
const SOURCES: usize = READERS + 1;
const NOTE_WORDS: usize = 1 + (1 + SOURCES) * STEP_WORDS;

/// A step that taught its thread something, or a fence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What the thread did.
    pub step: Step,
    /// The location, if it has one.
    pub address: usize,
    /// What comes before it.
    pub sources: Vec<Step>,
}

/// Its first notes share a page with their number.
#[repr(C)]
#[derive(Debug)]
struct Ring {
    /// Notes written so far.
    len: AtomicU64,
    words: [AtomicU64; NOTES * NOTE_WORDS],
    locks: LockNotes,
}

#[derive(Debug)]
struct Rings {
    known: Option<Map<ThreadId, &'static Ring>>,
    /// Threads that have ended, oldest first.
    ended: VecDeque<ThreadId>,
    /// Rings that no thread has had.
    spare: Vec<&'static Ring>,
}

static RINGS: Lock<Rings> = Lock::new(Rings {
    known: None,
    ended: VecDeque::new(),
    spare: Vec::new(),
});

fn new_ring() -> &'static Ring {
    // SAFETY: zeroed memory is a valid ring, and it is never freed.
    unsafe { &*map_zeroed::<Ring>(1) }
}

/// Has trails for so many threads that come later.
pub(crate) fn prepare(threads: usize) {
    let rings = (0..threads).map(|_| new_ring());
    RINGS.lock().spare.extend(rings);
}

/// The lock of this module, for fork. Taken under locks of locations; takes none.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    RINGS.raw()
}

/// The trail of a thread. Used by that thread only.
#[derive(Debug, Default)]
pub struct Trail {
    position: u32,
    ring: Option<(ThreadId, &'static Ring)>,
}

impl Drop for Trail {
    fn drop(&mut self) {
        if let Some((thread, _)) = self.ring {
            RINGS.lock().ended.push_back(thread);
        }
    }
}

#[cold]
fn ring_for(thread: ThreadId) -> &'static Ring {
    let mut guard = RINGS.lock();
    let Rings {
        known,
        ended,
        spare,
    } = &mut *guard;
    let known = known.get_or_insert_default();
    let full = known.len() > ENDED;
    let oldest = full.then(|| ended.pop_front()).flatten();
    let ring = oldest.and_then(|oldest| known.remove(&oldest));
    let ring = ring.or_else(|| spare.pop()).unwrap_or_else(new_ring);
    // ORDERING: relaxed; who finds the ring has the lock after this.
    ring.len.store(0, Ordering::Relaxed);
    ring.locks.len.store(0, Ordering::Relaxed);
    known.insert(thread, ring);
    ring
}

impl Trail {
    /// Its length.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Its length before what it learnt last, if that was from a granule.
    pub fn position_before(&self, address: usize) -> u32 {
        let last = self.position.checked_sub(1);
        let of_granule = |index: &u32| {
            let (_, ring) = self.ring?;
            Some(ring.note(u64::from(*index))?.address >> 3 == address >> 3)
        };
        last.filter(|index| of_granule(index) == Some(true))
            .unwrap_or(self.position)
    }

    /// Adds a note.
    #[inline]
    pub fn note(&mut self, step: &Step, address: usize, sources: &[Step]) {
        self.note_from(step, address, sources.iter().copied());
    }

    #[inline]
    fn note_from(&mut self, step: &Step, address: usize, sources: impl Iterator<Item = Step>) {
        let new = || (step.thread, ring_for(step.thread));
        let ring = self.ring.get_or_insert_with(new).1;
        let start = self.position as usize % NOTES * NOTE_WORDS;
        // Pairs with the fence in `read`: who sees a word of this note sees that the note before it is complete.
        fence(Ordering::Release);
        let put = |place: usize, word: u64| {
            // ORDERING: relaxed, after the fence.
            ring.words[start + place].store(word, Ordering::Relaxed);
        };
        let put_step = |index: u64, step: &Step| {
            for (word, value) in step.words().into_iter().enumerate() {
                put(1 + index as usize * STEP_WORDS + word, value);
            }
        };
        put_step(0, step);
        let mut count = 0;
        for source in sources.take(SOURCES) {
            count += 1;
            put_step(count, &source);
        }
        put(0, address as u64 | count << 56);
        // After 2^32 notes they are counted anew: those before are forgotten then.
        self.position = self.position.wrapping_add(1);
        // ORDERING: release, with the acquire in `read`.
        ring.len.store(u64::from(self.position), Ordering::Release);
    }
}

/// The notes of a thread that are still known: the number of the first one, and the notes from it on.
pub fn read(thread: ThreadId) -> Option<(u32, Vec<Note>)> {
    let rings = RINGS.lock();
    let ring = *rings.known.as_ref()?.get(&thread)?;
    // ORDERING: acquire, with the release in `note`.
    let len = ring.len.load(Ordering::Acquire);
    let first = len.saturating_sub(NOTES as u64);
    let mut notes: Vec<_> = (first..len).map(|index| ring.note(index)).collect();
    fence(Ordering::Acquire);
    // ORDERING: relaxed, after the fence.
    let now = ring.len.load(Ordering::Relaxed);
    // While the next note is written, the oldest one is overwritten.
    let valid = (now + 1).saturating_sub(NOTES as u64).max(first).min(len);
    notes.drain(..(valid - first) as usize);
    let notes = notes.into_iter().collect::<Option<Vec<_>>>()?;
    Some((valid as u32, notes))
}

impl Ring {
    fn note(&self, index: u64) -> Option<Note> {
        let start = index as usize % NOTES * NOTE_WORDS;
        let words: Vec<u64> = self.words[start..start + NOTE_WORDS]
            .iter()
            // ORDERING: relaxed; see `read`.
            .map(|word| word.load(Ordering::Relaxed))
            .collect();
        let count = (words[0] >> 56) as usize;
        let mut steps = words[1..].chunks(STEP_WORDS).map(Step::from_words);
        Some(Note {
            step: steps.next()??,
            address: (words[0] & ((1 << 56) - 1)) as usize,
            sources: steps.take(count).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Node;
    use rsan_model::RmwOrd;

    pub(super) fn step(thread: u32, position: u32) -> Step {
        Step {
            thread: ThreadId(thread),
            epoch: 7,
            position,
            act: Act::Store,
            order: RmwOrd::SeqCst,
            place: Place::leaf(Node(0x12_3456)),
        }
    }

    #[test]
    fn a_trail_keeps_the_last_notes() {
        let mut trail = Trail::default();
        let thread = 1_000_001;
        for number in 0..NOTES as u32 + 10 {
            let sources = [step(1, number), step(2, number)];
            trail.note(
                &step(thread, number + 1),
                0x1000,
                &sources[..number as usize % 3],
            );
        }
        let (first, notes) = read(ThreadId(thread)).expect("the trail is known");
        assert_eq!((first as usize, notes.len()), (11, NOTES - 1));
        assert_eq!(notes[0].step, step(thread, 12));
        assert_eq!(notes[0].sources, [step(1, 11), step(2, 11)]);
        assert_eq!(notes[1].sources, []);
        drop(trail);
        assert!(read(ThreadId(thread)).is_some(), "ended threads are known");
        for other in 0..2 * ENDED as u32 {
            Trail::default().note(&step(thread + 1000 + other, 1), 0, &[]);
        }
        assert_eq!(read(ThreadId(thread)), None, "but not for ever");
    }

    #[test]
    fn numbers_of_notes_begin_anew() {
        let thread = 2_000_001;
        let mut trail = Trail {
            position: u32::MAX - 3,
            ring: None,
        };
        for number in 0..10_u32 {
            let position = trail.position().wrapping_add(1);
            trail.note(&step(thread, position), number as usize, &[]);
        }
        let (first, notes) = read(ThreadId(thread)).expect("the trail is known");
        let addresses: Vec<_> = notes.iter().map(|note| note.address).collect();
        assert_eq!((first, addresses), (0, vec![4, 5, 6, 7, 8, 9]));
    }
}
