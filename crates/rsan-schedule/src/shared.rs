//! The memory in which a run leaves what it did, for whoever started it: a [`Header`], then [`ROOM`] steps
//! ([`Step::to_bytes`]). It is a file of [`LENGTH`] bytes; what was not written is zero.

use crate::explore::{End, Pending, Trace};
use crate::{Kind, Step, bytes};

/// Steps that there is room for. Later ones are counted only.
pub const ROOM: usize = 1 << 18;

/// Length of the file in bytes.
pub const LENGTH: usize = Header::BYTES + ROOM * Step::BYTES;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Outcome {
    /// It did not say: it runs, or was killed, or crashed.
    #[default]
    Running,
    /// By itself.
    Ended,
    /// All threads wait, and nothing will come.
    Deadlock,
    /// It took more steps than it was allowed.
    CutOff,
    /// The strategy ended it.
    Stopped,
    /// By itself, when no other thread could go on.
    EndedLast,
}

impl Outcome {
    fn from_number(number: u8) -> Option<Self> {
        let all = [
            Self::Running,
            Self::Ended,
            Self::Deadlock,
            Self::CutOff,
            Self::Stopped,
            Self::EndedLast,
        ];
        all.get(usize::from(number)).copied()
    }
}

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
    /// How it ended.
    pub outcome: Outcome,
    /// Threads that had not ended. What they were about to do follows the steps, each as a step with what it expected.
    pub pending: u32,
    /// The step, counted from 1, at which a replayed run did something else than the schedule says; 0: never.
    pub diverged: u64,
}

impl Header {
    /// Length of [`Header::to_bytes`].
    pub const BYTES: usize = 64;

    /// Its fixed form, little-endian: steps, switches, diverged (8 each), findings, pending (4 each), outcome (1), seven
    /// zeros, choices (8), zeros.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.steps.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.switches.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.diverged.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.findings.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.pending.to_le_bytes());
        bytes[32] = self.outcome as u8;
        bytes[40..48].copy_from_slice(&self.choices.to_le_bytes());
        bytes
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
            findings: half(24),
            pending: half(28),
            outcome: Outcome::from_number(bytes[32])?,
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
    let made = records.get(..steps.min(ROOM))?.iter();
    let made: Vec<Step> = made.map(Step::from_bytes).collect::<Option<_>>()?;
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
    let end = match header.outcome {
        _ if steps.saturating_add(header.pending as usize) > ROOM => End::Cut,
        Outcome::Running => End::Failed,
        Outcome::CutOff => End::Cut,
        Outcome::Ended if has_unended(&made) => End::Cut,
        Outcome::Ended | Outcome::EndedLast | Outcome::Deadlock | Outcome::Stopped => End::Finished,
    };
    let trace = Trace {
        pending: pending.collect::<Option<_>>()?,
        steps: made,
        end,
    };
    Some((header, trace))
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
        let read_back = |outcome, steps: &[Step], left: &[Step]| {
            let header = Header {
                steps: steps.len() as u64,
                pending: left.len() as u32,
                outcome,
                ..Header::default()
            };
            let mut memory = header.to_bytes().to_vec();
            for step in steps.iter().chain(left) {
                memory.extend(step.to_bytes());
            }
            assert_eq!(read(&memory[..memory.len() - 1]), None);
            let (again, trace) = read(&memory).expect("a run");
            assert_eq!((again, &trace.steps[..]), (header, steps));
            (trace.pending, trace.end)
        };
        let spawn = step(0, Kind::Spawn);
        let lock = step(1, Kind::Lock);
        let waiting = Pending {
            thread: lock.thread,
            op: lock.op,
            expected: 0,
        };
        let deadlock = read_back(Outcome::Deadlock, &[spawn], &[lock]);
        assert_eq!(deadlock, (vec![waiting], End::Finished));
        let ended = [spawn, step(1, Kind::End)];
        assert_eq!(read_back(Outcome::Ended, &ended, &[]).1, End::Finished);
        assert_eq!(read_back(Outcome::Ended, &[spawn, lock], &[]).1, End::Cut);
        let last = read_back(Outcome::EndedLast, &[spawn], &[lock]);
        assert_eq!(last, (vec![waiting], End::Finished));
        assert_eq!(read_back(Outcome::Running, &ended, &[]).1, End::Failed);
        assert_eq!(read_back(Outcome::CutOff, &ended, &[]).1, End::Cut);
    }

    #[test]
    fn headers_survive_shared_memory() {
        let header = Header {
            steps: 1 << 40,
            switches: 7,
            choices: 1 << 33,
            findings: 3,
            pending: 2,
            outcome: Outcome::Stopped,
            diverged: 12,
        };
        assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        let mut bytes = header.to_bytes();
        bytes[32] = 6;
        assert_eq!(Header::from_bytes(&bytes), None);
    }
}
