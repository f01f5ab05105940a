//! Looks at the limits: no long loop without one.

use super::Error;
use rsan_model::Reason;

/// Asks every now and then whether to go on.
pub(super) struct Ticker<'h> {
    halt: &'h mut dyn FnMut(u64) -> Option<Reason>,
    ticks: u32,
    /// Bytes that are kept.
    pub(super) memory: u64,
}

/// Why an enumeration ends before its end.
pub(super) enum Abort {
    /// Somebody wants it.
    Stopped,
    /// The program is wrong.
    Error(Error),
}

impl<'h> Ticker<'h> {
    const PERIOD: u32 = 256;

    /// Nothing is done yet.
    pub(super) fn new(halt: &'h mut dyn FnMut(u64) -> Option<Reason>) -> Self {
        Self {
            halt,
            ticks: 0,
            memory: 0,
        }
    }

    /// A bit of work is done, for which so many bytes are kept for a while.
    pub(super) fn tick(&mut self, bytes: u64) -> Result<(), Abort> {
        self.memory += bytes;
        self.ticks += 1;
        if self.ticks.is_multiple_of(Self::PERIOD) && (self.halt)(self.memory).is_some() {
            return Err(Abort::Stopped);
        }
        Ok(())
    }
}
