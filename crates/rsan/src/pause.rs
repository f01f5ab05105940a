//! Looking again and again at what another process does.

use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

/// Sleeps for a part of the time that was waited for already, within these bounds: who is fast is not waited for much longer.
pub(crate) fn pause(since: Instant, bounds: RangeInclusive<Duration>) {
    thread::sleep((since.elapsed() / 8).clamp(*bounds.start(), *bounds.end()));
}

/// The bounds for a process that may take long.
pub(crate) const LOOKS: RangeInclusive<Duration> =
    Duration::from_micros(500)..=Duration::from_millis(20);
