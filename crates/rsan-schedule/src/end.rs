//! How a run ended: the one vocabulary of the runtime, which says how its process ended, of the exploration and of the command,
//! which know what the process could not say.

use std::fmt;
use std::str::FromStr;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum End {
    /// It did not say: it still runs, or it ended, or became another program, without a word.
    #[default]
    Silent,
    /// By itself.
    Ended,
    /// By itself, when no other thread could go on.
    EndedLast,
    /// All threads wait, and nothing will come; which is a finding.
    Deadlock,
    /// The strategy ended it.
    Stopped,
    /// It took more steps than it was allowed, or ended while threads could go on.
    CutOff,
    /// It took longer than it was allowed.
    Timeout,
    /// The program failed: its status, as `wait` has it.
    Failed(i32),
    /// The runtime could not go on.
    Fatal,
    /// It made another process, whose schedule is not ours.
    Forked,
    /// It did not do what another run had done.
    Diverged,
    /// The process that makes runs died of it, twice.
    ServerDied,
    /// The user asked to end.
    Interrupted,
    /// Ended from outside, because there was a finding.
    Halted,
}

/// Those with one text. What the process of a run can say comes first, in the order of its numbers in shared memory.
const TEXTS: [(End, &str); 13] = [
    (
        End::Silent,
        "ended without rsan noticing, or became another program",
    ),
    (End::Ended, "ended"),
    (End::Deadlock, "every thread waits"),
    (End::CutOff, "too many steps"),
    (End::Stopped, "ended by the strategy"),
    (End::EndedLast, "ended when no other thread could go on"),
    (End::Timeout, "reached the time limit"),
    (End::Fatal, "ended by the runtime"),
    (
        End::Forked,
        "made another process, whose schedule is not ours",
    ),
    (End::Diverged, "did something else than before"),
    (End::ServerDied, "ended the process that makes the runs"),
    (End::Interrupted, "interrupted"),
    (End::Halted, "ended at the first finding"),
];

/// How many of them the process of a run can say.
const SAID: usize = 6;

impl End {
    /// Its number in shared memory; that of [`End::Silent`] for what the process of a run cannot say.
    pub(crate) fn number(self) -> u8 {
        let said = TEXTS[..SAID].iter().position(|(end, _)| *end == self);
        said.unwrap_or_default() as u8
    }

    /// The one with this number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        let said = TEXTS[..SAID].get(usize::from(number));
        said.map(|(end, _)| *end)
    }

    /// Whether the run came to its end: nothing that it would have done is missing.
    pub fn is_complete(self) -> bool {
        match self {
            Self::Ended | Self::EndedLast | Self::Deadlock | Self::Stopped => true,
            Self::Silent
            | Self::CutOff
            | Self::Timeout
            | Self::Failed(_)
            | Self::Fatal
            | Self::Forked
            | Self::Diverged
            | Self::ServerDied
            | Self::Interrupted
            | Self::Halted => false,
        }
    }
}

/// The signal that ended a process, or its exit status, of a status as `wait` has it.
fn decoded(status: i32) -> Result<i32, i32> {
    match status & 0x7f {
        0 => Err(status >> 8 & 0xff),
        signal => Ok(signal),
    }
}

const SIGNAL: &str = "signal ";
const STATUS: &str = "exit status ";

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Failed(status) = self {
            return match decoded(*status) {
                Ok(signal) => write!(f, "{SIGNAL}{signal}"),
                Err(code) => write!(f, "{STATUS}{code}"),
            };
        }
        let text = TEXTS.iter().find(|(end, _)| end == self);
        f.pad(text.map_or("", |(_, text)| text))
    }
}

/// A text that is of no end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoEnd;

impl fmt::Display for NoEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not how a run ends")
    }
}

impl std::error::Error for NoEnd {}

/// Behind the number of a signal or a status may be what it means.
impl FromStr for End {
    type Err = NoEnd;

    fn from_str(text: &str) -> Result<Self, NoEnd> {
        let number = |start| -> Option<i32> {
            let rest = text.strip_prefix(start)?;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        };
        let signal = || number(SIGNAL).filter(|signal| (1..0x7f).contains(signal));
        let code = || number(STATUS).filter(|code| (1..=0xff).contains(code));
        let failed = || signal().or_else(|| code().map(|code| code << 8));
        let known = TEXTS.iter().find(|(_, known)| *known == text);
        let end = known.map(|(end, _)| *end);
        end.or_else(|| failed().map(Self::Failed)).ok_or(NoEnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_written_and_read() {
        let failed = [6, 9, 1 << 8, 255 << 8].map(End::Failed);
        let all = TEXTS.iter().map(|(end, _)| *end).chain(failed);
        for end in all {
            assert_eq!(end.to_string().parse(), Ok(end));
        }
        assert_eq!(End::Failed(6).to_string(), "signal 6");
        assert_eq!("signal 6 (SIGABRT)".parse(), Ok(End::Failed(6)));
        assert_eq!("exit status 127: x".parse(), Ok(End::Failed(127 << 8)));
        for none in [
            "",
            "exit status 0",
            "signal",
            "signal 200",
            "data-race a.c:5 a.c:7",
        ] {
            assert_eq!(none.parse::<End>(), Err(NoEnd), "{none}");
        }
    }

    #[test]
    fn what_a_process_says_has_a_number() {
        let numbers: Vec<_> = (0..=u8::MAX).map_while(End::from_number).collect();
        assert_eq!(numbers.len(), SAID);
        for (number, end) in numbers.into_iter().enumerate() {
            assert_eq!(usize::from(end.number()), number);
        }
        assert_eq!(End::from_number(SAID as u8), None);
        assert_eq!(End::Timeout.number(), End::Silent.number());
    }
}
