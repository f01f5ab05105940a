//! The memory in which a run leaves what it did, for whoever started it: a [`Header`], then [`ROOM`] steps
//! ([`Step::to_bytes`]). Behind that there are [`KEPT`] bytes for runs that were made before it, when several were asked for together: each as
//! much of the same as it has. It is a file of [`LENGTH`] bytes; what was not written is zero.

use crate::explore::{Pending, Trace};
use crate::{End, Kind, Step, bytes};

/// Steps that there is room for. Later ones are counted only.
pub const ROOM: usize = 1 << 18;

/// Bytes for runs that were made before the last one.
pub const KEPT: usize = 1 << 20;

/// Where they begin.
pub const KEPT_AT: usize = Header::BYTES + ROOM * Step::BYTES;

/// Length of the file in bytes.
pub const LENGTH: usize = KEPT_AT + KEPT;

/// What there is to say of a run as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// Steps made, also those that there was no room for.
    pub steps: u64,
    /// How often another thread went on.
    pub switches: u64,
    /// Steps at which more than one thread could go on.
    pub choices: u64,
    /// Findings at the end.
    pub findings: u32,
    /// How it ended, as far as its process could say.
    pub end: End,
    /// Threads that had not ended. What they were about to do follows the steps, each as a step with what it expected.
    pub pending: u32,
    /// The step, counted from 1, at which a replayed run did something else than the schedule says; 0: never.
    pub diverged: u64,
    /// The place of the first read by which a weak run left sequential consistency; 0: none did.
    pub deviated: u64,
    /// The run slept, or waited until a limit of time was over. How long that takes beside what other threads do is not up to the program.
    pub timed: bool,
    /// As in [`Trace::overwrites`].
    pub overwrites: bool,
    /// The processor on which it ended, counted from 1; 0: nobody knows.
    pub processor: u16,
}

impl Header {
    /// Length of [`Header::to_bytes`].
    pub const BYTES: usize = 64;

    /// Its fixed form, little-endian: steps, switches, diverged (8 each), findings, pending (4 each), end, timed, overwrites (1 each), a
    /// zero, processor (2), two zeros, choices, deviated (8 each), zeros.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.steps.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.switches.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.diverged.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.findings.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.pending.to_le_bytes());
        bytes[32] = self.end.number();
        bytes[33] = u8::from(self.timed);
        bytes[34] = u8::from(self.overwrites);
        bytes[36..38].copy_from_slice(&self.processor.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.choices.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.deviated.to_le_bytes());
        bytes
    }

    /// Bytes of the run, with this header.
    pub fn length(&self) -> usize {
        let records = self.steps.saturating_add(self.pending.into());
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        Self::BYTES + records.min(ROOM) * Step::BYTES
    }

    /// The header with these bytes; `None` if there is none.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at| bytes::word(bytes, at);
        let half = |at| bytes::half(bytes, at);
        Some(Self {
            steps: word(0),
            switches: word(8),
            choices: word(40),
            diverged: word(16),
            deviated: word(48),
            findings: half(24),
            pending: half(28),
            end: End::from_number(bytes[32])?,
            timed: bytes[33] != 0,
            overwrites: bytes[34] != 0,
            processor: u16::from_le_bytes([bytes[36], bytes[37]]),
        })
    }
}

/// The header and the trace in this memory, which may be shorter than [`LENGTH`]; `None` if it is not what a run leaves.
///
/// A run with more than [`ROOM`] steps counts as cut off, and so does one that ended by itself while threads that it created
/// had not.
pub fn read(memory: &[u8]) -> Option<(Header, Trace)> {
    let (header, rest) = memory.split_first_chunk()?;
    let header = Header::from_bytes(header)?;
    let (records, _) = rest.as_chunks::<{ Step::BYTES }>();
    let steps = usize::try_from(header.steps).unwrap_or(usize::MAX);
    let records_made = records.get(..steps.min(ROOM))?;
    let mut made = Vec::with_capacity(records_made.len());
    for record in records_made {
        made.push(Step::from_bytes(record)?);
    }
    let room = ROOM - made.len();
    let left = records.get(made.len()..)?;
    let left = left.get(..room.min(header.pending as usize))?;
    let pending = left.iter().map(|step| {
        let step = Step::from_bytes(step)?;
        Some(Pending {
            thread: step.thread,
            op: step.op,
            expected: step.expected,
        })
    });
    let end = match header.end {
        _ if steps.saturating_add(header.pending as usize) > ROOM => End::CutOff,
        End::Ended if has_unended(&made) => End::CutOff,
        said => said,
    };
    let trace = Trace {
        pending: pending.collect::<Option<_>>()?,
        steps: made,
        end,
        overwrites: header.overwrites,
    };
    Some((header, trace))
}

/// The runs that were kept in this memory.
pub fn kept(mut memory: &[u8]) -> Option<Vec<(Header, Trace)>> {
    let mut runs = Vec::new();
    while !memory.is_empty() {
        let length = Header::from_bytes(memory.first_chunk()?)?.length();
        let (run, rest) = memory.split_at_checked(length)?;
        runs.push(read(run)?);
        memory = rest;
    }
    Some(runs)
}

/// Whether a thread that was created has not ended.
fn has_unended(steps: &[Step]) -> bool {
    let of = |kind| steps.iter().filter(move |s| s.op.kind == kind);
    of(Kind::Spawn).count() > of(Kind::End).filter(|s| s.thread.0 != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use rsan_model::ThreadId;

    #[test]
    fn a_run_can_be_read() {
        let step = |t: u32, kind| Step::new(ThreadId(t), Op::new(kind, 8, 4));
        let read_back = |end, steps: &[Step], left: &[Step]| {
            let header = Header {
                steps: steps.len() as u64,
                pending: left.len() as u32,
                end,
                ..Header::default()
            };
            let mut memory = header.to_bytes().to_vec();
            for step in steps.iter().chain(left) {
                memory.extend(step.to_bytes());
            }
            assert_eq!(read(&memory[..memory.len() - 1]), None);
            let (again, trace) = read(&memory).expect("a run");
            assert_eq!((again, &trace.steps[..]), (header, steps));
            assert_eq!(memory.len(), header.length());
            let twice = [&memory[..], &memory].concat();
            assert_eq!(kept(&twice), Some(vec![(header, trace.clone()); 2]));
            assert_eq!(kept(&twice[..twice.len() - 1]), None);
            (trace.pending, trace.end)
        };
        let spawn = step(0, Kind::Spawn);
        let lock = step(1, Kind::Lock);
        let waiting = Pending {
            thread: lock.thread,
            op: lock.op,
            expected: 0,
        };
        let deadlock = read_back(End::Deadlock, &[spawn], &[lock]);
        assert_eq!(deadlock, (vec![waiting], End::Deadlock));
        let ended = [spawn, step(1, Kind::End)];
        assert_eq!(read_back(End::Ended, &ended, &[]).1, End::Ended);
        assert_eq!(read_back(End::Ended, &[spawn, lock], &[]).1, End::CutOff);
        let last = read_back(End::EndedLast, &[spawn], &[lock]);
        assert_eq!(last, (vec![waiting], End::EndedLast));
        assert_eq!(read_back(End::Silent, &ended, &[]).1, End::Silent);
        assert_eq!(read_back(End::CutOff, &ended, &[]).1, End::CutOff);
    }

    #[test]
    fn headers_survive_shared_memory() {
        let header = Header {
            steps: 1 << 40,
            switches: 7,
            choices: 1 << 33,
            findings: 3,
            pending: 2,
            end: End::Stopped,
            diverged: 12,
            deviated: 13,
            timed: true,
            overwrites: true,
            processor: 0x0203,
        };
        assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        let mut bytes = header.to_bytes();
        bytes[32] = 6;
        assert_eq!(Header::from_bytes(&bytes), None);
    }
}
