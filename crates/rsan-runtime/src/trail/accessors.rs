//! Who accessed a location.

use super::{Act, Place, Step, Trail};
use crate::stack::Node;
use rsan_clocks::write_log::{Epoch, Slot, Stamp};
use rsan_model::{RmwOrd, ThreadId};

/// Readers that a location remembers beside the first.
const OTHERS: usize = 4;
/// Readers that a location remembers.
pub(super) const READERS: usize = 1 + OTHERS;

/// The last read of a location by some thread; nobody's if the epoch is 0.
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
/// Whoever reads it first has a place here, for many locations are read by one thread only. Others whose slots are the
/// same modulo `OTHERS` push each other out.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Accessors {
    first: Reader,
    /// The length of the last writer's trail after the write.
    writer_position: u32,
    first_slot: Slot,
    /// Which of the readers have read since the last write: one bit each, [`FIRST`] for the first.
    fresh: u8,
    others: Option<Box<Others>>,
}

const FIRST: usize = OTHERS;

#[derive(Clone, Debug, Default)]
struct Others {
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
        self.fresh = 0;
    }

    #[inline(never)]
    fn note(&self, trail: &mut Trail, step: &Step, address: usize, writer: Option<Step>) {
        let position = self.writer_position;
        let writer = writer.map(|writer| Step { position, ..writer });
        let is_fresh = |index: &usize| step.act.writes() && self.fresh >> index & 1 != 0;
        let readers = [FIRST].into_iter().chain(0..OTHERS).filter(is_fresh);
        let readers = readers.filter_map(|index| match &self.others {
            _ if index == FIRST => Some(self.first.step()),
            others => Some(others.as_ref()?.readers[index].step()),
        });
        let others = writer.into_iter().chain(readers);
        let others = others.filter(|source| source.thread != step.thread);
        trail.note_from(step, address, others);
    }

    /// The thread of a slot read the location, and learnt nothing.
    #[inline]
    pub fn read_by(&mut self, step: &Step, slot: Slot) {
        let reader = Reader {
            thread: step.thread.0,
            epoch: step.epoch,
            position: step.position,
            tags: (step.place.0 as u32) << 8 | step.order as u32,
        };
        if self.first_slot == slot || self.first.epoch == 0 {
            self.first = reader;
            self.first_slot = slot;
            self.fresh |= 1 << FIRST;
        } else {
            self.read_by_other(reader, slot);
        }
    }

    fn read_by_other(&mut self, reader: Reader, slot: Slot) {
        let index = usize::from(slot.0) % OTHERS;
        let others = self.others.get_or_insert_default();
        others.slots[index] = slot;
        others.readers[index] = reader;
        self.fresh |= 1 << index;
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
        let known = [(&self.first_slot, &self.first)].into_iter().chain(others);
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
    use super::super::{read, tests::step};
    use super::*;

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
        let slots = [2, 4, 3].map(Slot);
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
