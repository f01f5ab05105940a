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

mod step;

pub use step::{Act, Place, Step, describe_fence};

use crate::lock::Lock;
use crate::shadow::map_zeroed;
use crate::stack::Node;
use rsan_clocks::write_log::{Epoch, Slot, Stamp};
use rsan_model::{RmwOrd, ThreadId};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use step::STEP_WORDS;

/// Notes that a trail keeps.
pub const NOTES: usize = 256;
/// Trails that are kept at least, those of threads that have ended included.
const ENDED: usize = 64;
/// Readers that a location remembers.
pub const READERS: usize = 4;
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
}

#[derive(Debug)]
struct Rings {
    known: Option<HashMap<ThreadId, &'static Ring>>,
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
    known.insert(thread, ring);
    ring
}

impl Trail {
    /// Its length.
    pub fn position(&self) -> u32 {
        self.position
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
        self.position += 1;
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

/// The last read of a location by a thread with some remainder of its slot; nobody's if the epoch is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    thread: u32,
    epoch: u32,
    position: u32,
    /// `leaf:24 order:8`.
    tags: u32,
}

/// Who accessed a location, as far as the log of its writes does not say it: for reports, and for races.
///
/// Readers whose slots are the same modulo [`READERS`] push each other out.
#[derive(Clone, Debug, Default)]
pub struct Accessors {
    /// The length of the last writer's trail after the write.
    writer_position: u32,
    /// Which of the readers have read since the last write: one bit each.
    fresh: u8,
    slots: [Slot; READERS],
    readers: [Reader; READERS],
}

impl Accessors {
    /// The thread of a slot accessed the location, and learnt something by it or not. `writer` is who wrote it before.
    #[inline]
    pub fn accessed(
        &mut self,
        trail: &mut Trail,
        (mut step, slot): (Step, Slot),
        address: usize,
        learnt: bool,
        writer: impl FnOnce() -> Option<Step>,
    ) {
        if learnt {
            step.position += 1;
            self.note(trail, &step, address, writer());
        }
        if step.act.writes() {
            self.written_at(step.position);
        } else {
            self.read_by(&step, slot);
        }
    }

    /// The last writer wrote again, and learnt nothing.
    #[inline]
    pub fn repeated(&mut self, trail: &Trail) {
        self.written_at(trail.position);
    }

    #[inline]
    fn written_at(&mut self, position: u32) {
        self.writer_position = position;
        self.fresh = 0;
    }

    #[inline(never)]
    fn note(&self, trail: &mut Trail, step: &Step, address: usize, writer: Option<Step>) {
        let position = self.writer_position;
        let writer = writer.map(|writer| Step { position, ..writer });
        let is_fresh = |index: &usize| step.act.writes() && self.fresh >> index & 1 != 0;
        let readers = (0..READERS).filter(is_fresh);
        let readers = readers.map(|index| self.readers[index].step());
        let others = writer.into_iter().chain(readers);
        let others = others.filter(|source| source.thread != step.thread);
        trail.note_from(step, address, others);
    }

    /// The thread of a slot read the location, and learnt nothing.
    #[inline]
    pub fn read_by(&mut self, step: &Step, slot: Slot) {
        let index = usize::from(slot.0) % READERS;
        self.slots[index] = slot;
        self.readers[index] = Reader {
            thread: step.thread.0,
            epoch: step.epoch,
            position: step.position,
            tags: (step.place.0 as u32) << 8 | step.order as u32,
        };
        self.fresh |= 1 << index;
    }

    /// Last reads: by whom, when, and where.
    pub fn reads(&self) -> impl Iterator<Item = (Stamp, Node)> {
        let known = self.slots.iter().zip(&self.readers);
        let known = known.filter(|(_, reader)| reader.epoch != 0);
        known.map(|(&slot, reader)| {
            let epoch = Epoch::new(reader.epoch);
            (Stamp { slot, epoch }, Node(reader.tags >> 8))
        })
    }
}

impl Reader {
    fn step(self) -> Step {
        Step {
            thread: ThreadId(self.thread),
            epoch: self.epoch,
            position: self.position,
            act: Act::Load,
            order: RmwOrd::ALL[(self.tags & 0xff) as usize],
            place: Place::leaf(Node(self.tags >> 8)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: u32, position: u32) -> Step {
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
    fn readers_count_until_the_next_write() {
        let (mut trail, mut location) = (Trail::default(), Accessors::default());
        let load = |thread| Step {
            act: Act::Load,
            ..step(thread, 0)
        };
        let mut access = |step: Step, learnt, writer: Option<Step>| {
            let by = (step, Slot(step.thread.0 as u16));
            location.accessed(&mut trail, by, 8, learnt, || writer);
        };
        access(step(1, 3), false, None);
        access(load(2), false, None);
        access(load(2), false, None);
        access(load(3), false, None);
        let thread = 1_000_002;
        access(step(thread, 0), true, Some(step(1, 0)));
        access(load(4), false, None);
        let (_, notes) = read(ThreadId(thread)).expect("the trail is known");
        assert_eq!(notes[0].sources, [step(1, 3), load(2), load(3)]);
        assert_eq!(notes[0].step.position, 1);
        let epoch = Epoch::new(7);
        let reads: Vec<_> = location.reads().map(|read| read.0).collect();
        let slots = [4, 2, 3].map(Slot);
        assert_eq!(reads, slots.map(|slot| Stamp { slot, epoch }));
    }
}
