//! The memory in which a run leaves what it did, for whoever started it: a [`Header`], then [`ROOM`] steps
//! ([`Step::to_bytes`]). It is a file of [`LENGTH`] bytes; what was not written is zero.

use crate::Step;

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
}

impl Outcome {
    fn from_number(number: u8) -> Option<Self> {
        let all = [
            Self::Running,
            Self::Ended,
            Self::Deadlock,
            Self::CutOff,
            Self::Stopped,
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

    /// Its fixed form, little-endian: steps, switches, diverged (8 each), findings, pending (4 each), outcome (1), zeros.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.steps.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.switches.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.diverged.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.findings.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.pending.to_le_bytes());
        bytes[32] = self.outcome as u8;
        bytes
    }

    /// The header with these bytes; `None` if there is none.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at: usize| {
            let eight = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        let half = |at: usize| {
            let four = bytes[at..at + 4].try_into().expect("four bytes");
            u32::from_le_bytes(four)
        };
        Some(Self {
            steps: word(0),
            switches: word(8),
            diverged: word(16),
            findings: half(24),
            pending: half(28),
            outcome: Outcome::from_number(bytes[32])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_shared_memory() {
        let header = Header {
            steps: 1 << 40,
            switches: 7,
            findings: 3,
            pending: 2,
            outcome: Outcome::Stopped,
            diverged: 12,
        };
        assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        let mut bytes = header.to_bytes();
        bytes[32] = 5;
        assert_eq!(Header::from_bytes(&bytes), None);
    }
}
