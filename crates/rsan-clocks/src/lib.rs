//! Online monitors: they watch one sequentially consistent run and say, at each access, whether weak memory
//! would have allowed something that no sequentially consistent run shows, and whether two accesses race.
//!
//! * [`event`] is the interface: what a thread is about to do ([`Access`]), what then happened ([`Effect`]),
//!   and the traits that a verifier (replay) and a runtime (sanitizer) drive: [`Observer`], [`Monitor`],
//!   [`RaceMonitor`].
//! * [`location_clocks`] is the readable reference, for RA, RC20 and C20. Cost and memory grow with the
//!   number of locations.
//! * [`write_log`] is the form to run on real programs: vector clocks over threads and a short log of
//!   writes per location. Same answers.
//! * [`races`] finds data races, with clocks of its own or with those of the write log.
//!
//! This crate does no I/O, knows no program syntax and depends only on `rsan-model`. Nothing in it looks at
//! real time, real threads or addresses.

pub mod clock;
pub mod event;
pub mod location_clocks;
mod mutation;
pub mod races;
pub mod write_log;

pub use event::{
    Access, AccessKind, Bounds, Effect, Monitor, Observer, Race, RaceMonitor, RaceSide,
    ReleaseAcquire, Timestamp, Violation, WriteRef,
};

#[cfg(test)]
mod tests;
