//! What is known of a location (docs/theory/write-log.md, W4). To be used under the location's lock, which also covers the access itself.

use super::epoch::{Epoch, Slot, Stamp, VectorClock, Version};
use super::log::{Log, Newest, Record};
use super::rules::Rules;
use super::sc_part::ScPart;
use crate::Timestamp;
use rsan_model::Value;

/// The state of one location. What most accesses look at comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct LocationState {
    /// The last writer and what it knew, if its write taught it nothing and nobody else changed anything since:
    /// a repeated write changes the writer's own entries only.
    pub(super) settled: Version,
    /// The version of the last thread that put its past into `access_past`, but for its own entry.
    pub(super) shown: Version,
    /// The version of the writer whose `view` the message is, or its `released`, but for the writer's own entries.
    pub(super) message_version: Version,
    /// When the message was published, if it is equal to a publication; see [`LocationState::message_is`].
    message_epoch: Epoch,
    /// The last read of the thread that is `settled`, if it is newer than its own entries.
    pub(super) own_read: Epoch,
    /// Whose publication the message is.
    message_slot: Slot,
    /// What the write of `message_version` published.
    pub(super) published: Published,
    /// The `S` of the last writer is `access_past`: no other thread read since.
    pub(super) is_past_owned: bool,
    /// The own entries of the thread that is `settled` are older than its last record or read.
    pub(super) is_behind: bool,
    /// Whether the last write was seq_cst, if `settled`.
    pub(super) settled_sc: bool,
    /// Whether that writer happens-before-knew the message that it left, if `settled`.
    pub(super) settled_known: bool,
    /// Everything in `access_past` is a seq_cst access (`sat`).
    pub(super) saturated: bool,
    /// seq_cst events, once there are some.
    pub(super) sc: Option<Box<ScPart>>,
    /// The newest writes in modification order, and reads of them (`recs`, `rd`). Never empty; the oldest one kept is
    /// known to every thread, or the log was cut there.
    pub(super) records: Log,
    /// What every SC order puts before some access (`MS`).
    pub(super) access_past: VectorClock,
    /// What every SC order puts before the last write (`WS`).
    pub(super) write_past: VectorClock,
    /// What the last write lets an acquirer know of happens-before (`w`).
    pub(super) message: VectorClock,
    /// While saturated: what seq_cst events the message carries (`mq`).
    pub(super) saturated_message: VectorClock,
}

/// What a write publishes of what its thread knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Published {
    /// What it knows.
    Present,
    /// The same, but for what the write itself teaches of seq_cst events: the write is seq_cst.
    Before,
    /// What it knew at its last release fence.
    Fence,
}

/// The epoch of a message that is nobody's publication. Nothing is concluded from this epoch.
const NOBODYS: Epoch = Epoch::new(u32::MAX);

impl LocationState {
    /// A location that holds `value` and was not accessed yet. Also what it becomes when it is freed.
    pub fn new(value: Value, rules: Rules) -> Self {
        Self {
            records: Log::new(Record::initial(value)),
            message: VectorClock::default(),
            message_epoch: Epoch::START,
            own_read: Epoch::START,
            message_slot: Slot::default(),
            message_version: Version::NONE,
            published: Published::Present,
            write_past: VectorClock::default(),
            access_past: VectorClock::default(),
            is_past_owned: false,
            settled: Version::NONE,
            is_behind: false,
            settled_sc: false,
            settled_known: false,
            shown: Version::NONE,
            saturated: rules.saturation && rules.sc_accesses,
            saturated_message: VectorClock::default(),
            sc: None,
        }
    }

    /// Number of writes and of reads that are kept.
    #[inline]
    pub fn log_len(&self) -> (usize, usize) {
        (self.records.len(), self.records.reads().len())
    }

    /// Whether it holds any seq_cst state.
    pub fn has_sc_part(&self) -> bool {
        self.sc.is_some()
    }

    /// Where its seq_cst state lies, and how many bytes a read or a write changes most often, for callers that want it near
    /// the processor early.
    #[inline]
    pub fn sc_part(&self, writes: bool) -> Option<(*const u8, usize)> {
        let part: &ScPart = self.sc.as_ref()?;
        let bytes = if writes {
            ScPart::WRITTEN
        } else {
            ScPart::READ
        };
        Some((std::ptr::from_ref(part).cast(), bytes))
    }

    /// Where its reader entries and its seq_cst state lie, 0 for what is not there: for callers that want them near the processor
    /// the next time.
    #[inline]
    pub fn far_parts(&self) -> [usize; 2] {
        let sc = self.sc.as_deref();
        let sc = sc.map_or(0, |part| std::ptr::from_ref(part).addr());
        [self.records.reads_at(), sc]
    }

    /// The last write.
    #[inline]
    pub fn last_write(&self) -> Timestamp {
        self.timestamp(self.records.len() - 1)
    }

    /// The oldest one that is kept.
    pub fn oldest_write(&self) -> Timestamp {
        self.timestamp(0)
    }

    #[inline]
    pub(super) fn last_record(&self) -> Newest {
        self.records.newest()
    }

    /// The publication that the whole message is equal to, if it is one (`wtag`).
    #[inline]
    pub(super) fn message_is(&self) -> Option<Stamp> {
        let (slot, epoch) = (self.message_slot, self.message_epoch);
        (epoch != NOBODYS).then_some(Stamp { slot, epoch })
    }

    /// Whether the message is what was published at this stamp. Whoever has published nothing has left an empty one.
    #[inline]
    pub(super) fn is_message_of(&self, stamp: Stamp) -> bool {
        let same = self.message_slot == stamp.slot || stamp.epoch == Epoch::START;
        same && self.message_epoch == stamp.epoch && stamp.epoch != NOBODYS
    }

    #[inline]
    pub(super) fn set_message_is(&mut self, stamp: Option<Stamp>) {
        let Stamp { slot, epoch } = stamp.unwrap_or(Stamp {
            slot: Slot::default(),
            epoch: NOBODYS,
        });
        (self.message_slot, self.message_epoch) = (slot, epoch);
    }

    /// The last writer, if no other thread read since (`mown`).
    #[inline]
    pub(super) fn past_owner(&self) -> Option<Stamp> {
        self.is_past_owned.then(|| self.last_record().stamp())
    }

    /// Lets the last write be remembered with something that means nothing here, of [`super::NOTE_BITS`] bits.
    #[inline]
    pub fn set_note(&mut self, note: u64) {
        self.records.last_mut().set_note(note);
    }

    /// What a write of the log was remembered with, and its value.
    pub fn note(&self, write: Timestamp) -> Option<(u64, Value)> {
        let record = self.record(write)?;
        Some((record.note(), record.value))
    }

    /// A write of the log.
    fn record(&self, write: Timestamp) -> Option<&Record> {
        let index = write.0.checked_sub(self.records.base())?;
        self.records.get(usize::try_from(index).ok()?)
    }

    #[inline]
    pub(super) fn timestamp(&self, index: usize) -> Timestamp {
        Timestamp(self.records.base() + index as u64)
    }

    /// Who made a write of the log, and when; nobody made the initial one.
    pub fn writer(&self, write: Timestamp) -> Option<Stamp> {
        self.record(write)
            .map(Record::stamp)
            .filter(|stamp| *stamp != Stamp::default())
    }

    /// Checks the invariants that the rules keep; for tests.
    #[cfg(test)]
    pub(crate) fn assert_invariants(&self) {
        let mut current = self.clone();
        current.catch_up(Rules::c20());
        current.assert_current_invariants();
    }

    #[cfg(test)]
    fn assert_current_invariants(&self) {
        assert!(self.write_past.covers(&self.message));
        assert!(self.access_past.covers(&self.write_past));
        if let Some(part) = &self.sc {
            assert!(part.any.is_within(&self.access_past));
            assert!(part.last_write().is_within(&self.write_past));
            assert!(part.any.covers(part.last_write()));
            let message = &part.message;
            for set in [&message.access, &message.fence, &message.eco] {
                assert!(set.is_within(&self.write_past));
            }
            assert!(message.access.covers(&message.fence));
        }
        assert!(!self.saturated || self.sc.is_none());
        assert!(self.write_past.covers(&self.saturated_message));
        let reads = self.records.reads();
        assert!(reads.is_sorted_by_key(|read| read.write));
    }
}
