//! The log of a location: a ring of records, each in the place that its position in the modification order gives it.
//!
//! A log of the usual length needs no memory of its own, so that a record is found where the location is.

use super::epoch::{Epoch, Slot, Stamp};
use super::view::Observation;
use crate::Timestamp;
use rsan_model::Value;
use thin_vec::{ThinVec, thin_vec};

/// A write in the log, in as little memory as possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    epoch: Epoch,
    pub(super) value: Value,
    /// The lower half of the note.
    note: u32,
    slot: Slot,
    /// The rest of it, [`SC`] and [`RMW`].
    tags: u16,
}

/// The write is seq_cst.
const SC: u16 = 1 << 15;
/// The write is that of a read-modify-write.
const RMW: u16 = 1 << 14;

/// Bits of a note; see [`super::LocationState::set_note`].
pub const NOTE_BITS: u32 = u32::BITS + RMW.trailing_zeros();

impl Record {
    /// What was there before the first write.
    pub(super) fn initial(value: Value) -> Self {
        let by = Observation {
            stamp: Stamp::default(),
            sc: true,
        };
        Self::new(by, false, value)
    }

    #[inline]
    pub(super) fn new(by: Observation, rmw: bool, value: Value) -> Self {
        let tag = |set: bool, tag: u16| if set { tag } else { 0 };
        Self {
            epoch: by.stamp.epoch,
            value,
            note: 0,
            slot: by.stamp.slot,
            tags: tag(by.sc, SC) | tag(rmw, RMW),
        }
    }

    /// What the caller wants to know of the write.
    #[inline]
    pub(super) fn note(&self) -> u64 {
        u64::from(self.tags & (RMW - 1)) << u32::BITS | u64::from(self.note)
    }

    #[inline]
    pub(super) fn set_note(&mut self, note: u64) {
        debug_assert!(note >> NOTE_BITS == 0, "a note has {NOTE_BITS} bits");
        self.note = note as u32;
        self.tags = self.tags & (SC | RMW) | (note >> u32::BITS) as u16;
    }

    /// Whether it is that of a read-modify-write.
    #[inline]
    pub(super) fn is_rmw(&self) -> bool {
        self.tags & RMW != 0
    }

    #[inline]
    fn is_sc(&self) -> bool {
        self.tags & SC != 0
    }

    /// Who, when, and whether by a seq_cst access.
    #[inline]
    pub(super) fn by(&self) -> Observation {
        Observation {
            stamp: self.stamp(),
            sc: self.is_sc(),
        }
    }

    /// Who, when.
    #[inline]
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            slot: self.slot,
            epoch: self.epoch,
        }
    }
}

/// A read that made its thread know a write which it did not know otherwise, in as little memory as possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) write: Timestamp,
    epoch: Epoch,
    slot: Slot,
    sc: bool,
}

const _: () = assert!(size_of::<Reader>() == 16);

impl Reader {
    #[inline]
    fn new(write: Timestamp, by: Observation) -> Self {
        let Observation { stamp, sc } = by;
        Self {
            write,
            epoch: stamp.epoch,
            slot: stamp.slot,
            sc,
        }
    }

    /// Who, when, and whether by a seq_cst access.
    #[inline]
    pub(super) fn by(&self) -> Observation {
        Observation {
            stamp: Stamp {
                slot: self.slot,
                epoch: self.epoch,
            },
            sc: self.sc,
        }
    }
}

/// Records that need no memory of their own: as many as a log usually keeps.
pub(super) const FEW: usize = 8;

/// Who wrote last, when, and whether by a seq_cst access: all that most accesses have to know of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    epoch: Epoch,
    slot: Slot,
    sc: bool,
}

impl Newest {
    #[inline]
    fn of(record: &Record) -> Self {
        Self {
            epoch: record.epoch,
            slot: record.slot,
            sc: record.is_sc(),
        }
    }

    /// Who, when, and whether by a seq_cst access.
    #[inline]
    pub(super) fn by(self) -> Observation {
        Observation {
            stamp: self.stamp(),
            sc: self.sc,
        }
    }

    /// Who, when.
    #[inline]
    pub(super) fn stamp(self) -> Stamp {
        Stamp {
            slot: self.slot,
            epoch: self.epoch,
        }
    }
}

/// The newest records, never none, and the reads of them. What most accesses look at comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Log {
    /// Position of the oldest record in the modification order.
    base: u64,
    len: u32,
    newest: Newest,
    /// The records are in `many`.
    is_long: bool,
    /// Some read of the records is in `reads`.
    has_reads: bool,
    /// The last bits of the position of the write that was read last, if there are reads.
    last_read: u16,
    few: [Record; FEW],
    /// Their number is a power of two.
    many: ThinVec<Record>,
    /// Reads of the records, of the oldest first (`rd`), after such of older writes: those go when their room is needed, for
    /// the memory is elsewhere, and often with another processor.
    reads: ThinVec<Reader>,
}

impl Log {
    pub(super) fn new(first: Record) -> Self {
        Self {
            base: 0,
            len: 1,
            newest: Newest::of(&first),
            is_long: false,
            has_reads: false,
            last_read: 0,
            few: [first; FEW],
            many: ThinVec::new(),
            reads: ThinVec::new(),
        }
    }

    #[inline]
    fn places(&self) -> &[Record] {
        if self.is_long { &self.many } else { &self.few }
    }

    #[inline]
    fn place(&mut self, position: u64) -> &mut Record {
        let places = if self.is_long {
            &mut self.many[..]
        } else {
            &mut self.few[..]
        };
        let index = position as usize & (places.len() - 1);
        &mut places[index]
    }

    /// Whether there is no room for another record.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len() == self.places().len()
    }

    /// Whether more than half of the room is in use.
    pub(super) fn is_mostly_full(&self) -> bool {
        2 * self.len() > self.places().len()
    }

    /// The reads that made their threads know a write, of the oldest write first.
    #[inline]
    pub(super) fn reads(&self) -> &[Reader] {
        if self.has_reads {
            &self.reads[self.old_reads()..]
        } else {
            &[]
        }
    }

    /// Those of the newest record, newest first.
    #[inline]
    pub(super) fn reads_of_last(&self) -> impl Iterator<Item = &Reader> {
        let last = self.last();
        let some = self.has_reads && self.last_read == last as u16;
        let reads: &[Reader] = if some { &self.reads } else { &[] };
        let reads = reads.iter().rev();
        reads.take_while(move |read| read.write.0 == last)
    }

    /// Where the reads lie, if there are some.
    #[inline]
    pub(super) fn reads_at(&self) -> usize {
        if self.has_reads {
            self.reads.as_ptr().addr()
        } else {
            0
        }
    }

    /// How many of the reads are of records that are gone.
    fn old_reads(&self) -> usize {
        self.reads.partition_point(|read| read.write.0 < self.base)
    }

    /// Notes a read of the newest record.
    pub(super) fn push_read(&mut self, by: Observation) {
        if !self.has_reads {
            self.reads.clear();
        } else if self.reads.len() == self.reads.capacity() {
            self.reads.drain(..self.old_reads());
        }
        let write = Timestamp(self.last());
        self.reads.push(Reader::new(write, by));
        self.has_reads = true;
        self.last_read = write.0 as u16;
    }

    /// Position of the newest record.
    #[inline]
    fn last(&self) -> u64 {
        self.base + u64::from(self.len) - 1
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Position of the oldest record in the modification order.
    #[inline]
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    #[inline]
    fn at(&self, position: u64) -> &Record {
        let places = self.places();
        &places[position as usize & (places.len() - 1)]
    }

    /// The record of this index, the oldest being 0.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&Record> {
        (index < self.len()).then(|| self.at(self.base + index as u64))
    }

    /// What is to be known of the newest record.
    #[inline]
    pub(super) fn newest(&self) -> Newest {
        self.newest
    }

    /// The newest record.
    #[inline]
    pub(super) fn last_mut(&mut self) -> &mut Record {
        self.place(self.base + u64::from(self.len) - 1)
    }

    #[inline]
    pub(super) fn push(&mut self, record: Record) {
        if self.is_full() {
            self.grow();
        }
        self.newest = Newest::of(&record);
        *self.place(self.base + u64::from(self.len)) = record;
        self.len += 1;
    }

    /// Makes room for twice as many records.
    #[cold]
    pub(super) fn grow(&mut self) {
        let places = self.places();
        let (old, new) = (places.len(), 2 * places.len());
        // What stands in a place that is not used does not matter.
        let mut many = thin_vec![places[0]; new];
        for position in self.base..self.base + u64::from(self.len) {
            many[position as usize & (new - 1)] = places[position as usize & (old - 1)];
        }
        self.many = many;
        self.is_long = true;
    }

    /// Drops so many of the oldest records, not all, and the reads of them.
    #[inline]
    pub(super) fn drop_first(&mut self, count: usize) {
        debug_assert!(count < self.len(), "a log is never empty");
        // The write that was read last is one of them, so its last bits tell which.
        let is_told = self.len() <= 1 << u16::BITS;
        self.base += count as u64;
        self.len -= count as u32;
        if self.has_reads {
            let keeps = || self.old_reads() < self.reads.len();
            let age = (self.last() as u16).wrapping_sub(self.last_read);
            let is_there = if is_told {
                u32::from(age) < self.len
            } else {
                keeps()
            };
            debug_assert_eq!(is_there, keeps());
            self.has_reads = is_there;
        }
    }
}

impl std::ops::Index<usize> for Log {
    type Output = Record;

    #[inline]
    fn index(&self, index: usize) -> &Record {
        self.get(index).expect("the index of a record")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_their_index() {
        for cap in [1, 2, 3, 8, 100] {
            let by = Record::initial(0).by();
            let mut log = Log::new(Record::initial(0));
            for position in 1..300 {
                if log.len() > cap {
                    log.drop_first(log.len() - cap);
                }
                log.push(Record::initial(position));
                let note = |position: u64| position << (NOTE_BITS - 10) | position;
                log.last_mut().set_note(note(position as u64));
                if position % 3 == 0 {
                    log.push_read(by);
                }
                let of_last = log.reads_of_last().count();
                assert_eq!(of_last, usize::from(position % 3 == 0));
                let reads = log.reads().iter().map(|read| read.write.0);
                let kept = log.base()..=position as u64;
                assert!(reads.eq(kept.filter(|write| *write > 0 && write % 3 == 0)));
                assert_eq!(log[log.len() - 1].value, position);
                for index in 0..log.len() {
                    let expected = log.base() + index as u64;
                    assert_eq!(log[index].value as u64, expected);
                    assert_eq!(log[index].note(), note(expected));
                    assert!(log[index].is_sc() && !log[index].is_rmw());
                }
                assert!(log.get(log.len()).is_none());
            }
            assert!(log.places().len() <= FEW.max(2 * (cap + 1).next_power_of_two()));
            assert!(log.reads.capacity() <= FEW.max(2 * cap), "old reads go");
        }
    }

    #[test]
    fn reads_of_long_logs_are_found() {
        let mut log = Log::new(Record::initial(0));
        log.push(Record::initial(1));
        log.push_read(Record::initial(0).by());
        for position in 2..100_000 {
            log.push(Record::initial(position));
        }
        let count = |log: &Log| (log.reads().len(), log.reads_of_last().count());
        assert_eq!(count(&log), (1, 0));
        log.drop_first(1);
        assert_eq!(count(&log), (1, 0));
        // Still so many that the last bits alone would say that the read is of one of them.
        log.drop_first(10_000);
        assert_eq!(count(&log), (0, 0));
        log.push_read(Record::initial(0).by());
        assert_eq!(count(&log), (1, 1));
    }
}
