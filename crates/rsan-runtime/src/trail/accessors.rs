//! Who accessed a location.

use super::{Act, Place, Step, Trail};
use crate::owners;
use crate::stack::Node;
use rsan_clocks::write_log::{Epoch, Slot, Stamp};
use rsan_model::RmwOrd;

/// Readers that a location remembers where it is.
const NEAR: usize = 2;
/// Readers that it remembers elsewhere.
const OTHERS: usize = 4;
/// Readers that a location remembers.
pub(super) const READERS: usize = NEAR + OTHERS;

/// The last read of a location by the thread of some slot; nobody's if the epoch is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    epoch: u32,
    position: u32,
    /// `leaf:24 order:6`, [`OTHERS_READ`] and [`FRESH`].
    tags: u32,
}

/// It has read since the last write.
const FRESH: u32 = 1 << 7;
/// One of the readers elsewhere has. In the last one that is near.
const OTHERS_READ: u32 = 1 << 6;
const ORDER: u32 = OTHERS_READ - 1;

/// Who accessed a location, as far as the log of its writes does not say it: for reports, and for races.
///
/// Who reads it first has a place here, and so has the second, for many locations are read by few threads, and what is elsewhere
/// comes later from another processor. Others whose slots are the same modulo `OTHERS` push each other out.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Accessors {
    near: [Reader; NEAR],
    slots: [Slot; NEAR],
    /// The length of the last writer's trail after the write.
    writer_position: u32,
    others: Option<Box<Others>>,
}

#[derive(Clone, Debug, Default)]
struct Others {
    /// Which of them have read since the last write, if any has: one bit each.
    fresh: u8,
    slots: [Slot; OTHERS],
    readers: [Reader; OTHERS],
    all: Option<Box<All>>,
}

/// An access: when, and where.
type Past = (Stamp, Node);

/// Where nothing may be forgotten: the last read and the last atomic write of each slot. What races with an earlier one races
/// with the last, too, for that comes later in program order.
#[derive(Clone, Debug, Default)]
struct All {
    reads: Vec<Past>,
    writes: Vec<Past>,
}

impl All {
    fn add(&mut self, writes: bool, access: Past) {
        let list = if writes {
            &mut self.writes
        } else {
            &mut self.reads
        };
        match list.iter_mut().find(|old| old.0.slot == access.0.slot) {
            Some(old) => *old = access,
            None => list.push(access),
        }
    }
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
            step.position = step.position.wrapping_add(1);
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
        for reader in &mut self.near {
            reader.tags &= !(FRESH | OTHERS_READ);
        }
    }

    #[inline(never)]
    fn note(&self, trail: &mut Trail, step: &Step, address: usize, writer: Option<Step>) {
        let position = self.writer_position;
        let writer = writer.map(|writer| Step { position, ..writer });
        let readers = step.act.writes().then(|| self.fresh_readers());
        let others = writer.into_iter().chain(readers.into_iter().flatten());
        let others = others.filter(|source| source.thread != step.thread);
        trail.note_from(step, address, others);
    }

    /// The last reads since the last write.
    fn fresh_readers(&self) -> impl Iterator<Item = Step> {
        let near = self.slots.iter().zip(&self.near);
        let near = near.filter(|(_, reader)| reader.tags & FRESH != 0);
        let any = self.near[NEAR - 1].tags & OTHERS_READ != 0;
        let others = self.others.iter().filter(move |_| any);
        let others = others.flat_map(|others| {
            let all = others.slots.iter().zip(&others.readers).enumerate();
            all.filter(|(index, _)| others.fresh >> index & 1 != 0)
                .map(|(_, reader)| reader)
        });
        near.chain(others)
            .filter_map(|(slot, reader)| reader.step(*slot))
    }

    /// The thread of a slot read the location, and learnt nothing.
    #[inline]
    pub fn read_by(&mut self, step: &Step, slot: Slot) {
        let reader = Reader {
            epoch: step.epoch,
            position: step.position,
            tags: (step.place.0 as u32) << 8 | FRESH | step.order as u32,
        };
        for (near, owner) in self.near.iter_mut().zip(&mut self.slots) {
            if *owner == slot || near.epoch == 0 {
                let tags = reader.tags | near.tags & OTHERS_READ;
                *near = Reader { tags, ..reader };
                *owner = slot;
                return;
            }
        }
        self.read_by_other(reader, slot);
    }

    fn read_by_other(&mut self, reader: Reader, slot: Slot) {
        let index = usize::from(slot.0) % OTHERS;
        let others = self.others.get_or_insert_default();
        let last = &mut self.near[NEAR - 1];
        if last.tags & OTHERS_READ == 0 {
            last.tags |= OTHERS_READ;
            others.fresh = 0;
        }
        others.slots[index] = slot;
        others.readers[index] = reader;
        others.fresh |= 1 << index;
    }

    /// Remembers an atomic access for good.
    pub fn remember(&mut self, writes: bool, at: Stamp, leaf: Node) {
        let all = &mut self.others.get_or_insert_default().all;
        all.get_or_insert_default().add(writes, (at, leaf));
    }

    /// All that is remembered for good: the last write of each slot, or the last read.
    pub fn remembered(&self, writes: bool) -> impl Iterator<Item = Past> {
        let all = self.others.iter().filter_map(|others| others.all.as_ref());
        all.flat_map(move |all| if writes { &all.writes } else { &all.reads })
            .copied()
    }

    /// Last reads: by whom, when, and where.
    pub fn reads(&self) -> impl Iterator<Item = (Stamp, Node)> {
        let others = self.others.iter();
        let others = others.flat_map(|others| others.slots.iter().zip(&others.readers));
        let near = self.slots.iter().zip(&self.near);
        let known = near.chain(others);
        let known = known.filter(|(_, reader)| reader.epoch != 0);
        known.map(|(&slot, reader)| {
            let epoch = Epoch::new(reader.epoch);
            (Stamp { slot, epoch }, Node(reader.tags >> 8))
        })
    }
}

impl Reader {
    /// What the thread of a slot did; nothing if it was long ago.
    fn step(self, slot: Slot) -> Option<Step> {
        let epoch = Epoch::new(self.epoch);
        Some(Step {
            thread: owners::owner(Stamp { slot, epoch })?,
            epoch: self.epoch,
            position: self.position,
            act: Act::Load,
            order: RmwOrd::ALL[(self.tags & ORDER) as usize],
            place: Place::leaf(Node(self.tags >> 8)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, tests::step};
    use super::*;
    use rsan_model::ThreadId;

    #[test]
    fn readers_count_until_the_next_write() {
        let (mut trail, mut location) = (Trail::default(), Accessors::default());
        // Slots that no other test has.
        let (first, thread) = (50_000, 1_000_002);
        let slot = |thread: u32| Slot(thread as u16);
        for thread in first..first + 9 {
            let epoch = Epoch::new(1);
            owners::add(
                Stamp {
                    slot: slot(thread),
                    epoch,
                },
                ThreadId(thread),
            );
        }
        let load = |number| Step {
            act: Act::Load,
            ..step(first + number, 0)
        };
        let mut access = |step: Step, learnt, writer: Option<Step>| {
            let by = (step, slot(step.thread.0));
            location.accessed(&mut trail, by, 8, learnt, || writer);
        };
        access(step(1, 3), false, None);
        for number in [2, 2, 3, 4, 5, 3] {
            access(load(number), false, None);
        }
        access(step(thread, 0), true, Some(step(1, 0)));
        access(load(6), false, None);
        access(load(3), false, None);
        access(step(thread, 1), true, None);
        access(step(thread, 2), true, None);
        let (_, notes) = read(ThreadId(thread)).expect("the trail is known");
        let sources = [step(1, 3), load(2), load(3), load(4), load(5)];
        assert_eq!(notes[0].sources, sources);
        assert_eq!(notes[0].step.position, 1);
        assert_eq!(notes[1].sources, [load(3), load(6)]);
        assert_eq!(notes[2].sources, [], "none since the last write");
        let epoch = Epoch::new(7);
        let reads: Vec<_> = location.reads().map(|read| read.0).collect();
        let slots = [2, 3, 4, 5, 6].map(|number| slot(first + number));
        assert_eq!(reads, slots.map(|slot| Stamp { slot, epoch }));
    }

    #[test]
    fn what_is_remembered_for_good_has_one_access_of_each_slot() {
        let mut location = Accessors::default();
        let stamp = |slot, epoch| Stamp {
            slot: Slot(slot),
            epoch: Epoch::new(epoch),
        };
        assert_eq!(location.remembered(false).count(), 0);
        for slot in (1..=9).chain([4]) {
            location.remember(false, stamp(slot, u32::from(slot)), Node(1));
        }
        location.remember(true, stamp(4, 5), Node(2));
        location.remember(false, stamp(4, 6), Node(3));
        let reads: Vec<_> = location.remembered(false).collect();
        assert_eq!((reads.len(), reads[3]), (9, (stamp(4, 6), Node(3))));
        let writes: Vec<_> = location.remembered(true).collect();
        assert_eq!(writes, [(stamp(4, 5), Node(2))]);
    }
}
