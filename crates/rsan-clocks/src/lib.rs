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
//! ```
//! use rsan_clocks::write_log::{C20, Options, WriteLog};
//! use rsan_clocks::{Access, Effect, Monitor, Observer};
//! use rsan_model::{LocId, ReadOrd, ThreadId, WriteOrd};
//!
//! let (x, y) = (LocId(0), LocId(1));
//! let (left, right) = (ThreadId(0), ThreadId(1));
//! let store = Effect::Write { value: 1, ord: WriteOrd::Release };
//! let mut monitor = WriteLog::<C20>::new([0, 0], Options::default());
//! monitor.apply(left, x, store);
//! monitor.apply(left, y, Effect::Read(ReadOrd::Acquire));
//! monitor.apply(right, y, store);
//! // Store buffering: the right thread may still read the initial x.
//! let violation = monitor.check(right, x, &Access::Load(ReadOrd::Acquire)).unwrap();
//! assert_eq!(violation.stale.value, 0);
//! assert_eq!(violation.missed.thread, Some(left));
//! ```
//!
//! This crate does no I/O, knows no program syntax and depends only on `rsan-model`. Nothing in it looks at
//! real time, real threads or addresses.

pub mod clock;
pub mod event;
pub mod location_clocks;
mod mutation;
pub mod races;
mod release_acquire;
pub mod write_log;

pub use event::{
    Access, AccessKind, Bounds, Effect, Monitor, Observer, Race, RaceMonitor, RaceSide, Timestamp,
    Violation, WriteRef,
};
pub use release_acquire::ReleaseAcquire;

#[cfg(test)]
mod tests;
