//! Who runs next: strategies for a scheduler that runs one thread at a time, schedules as text, and the exploration of all
//! sequentially consistent executions of a program, each once.
//!
//! This crate does no I/O, starts no threads and knows no program: a scheduler asks a [`Strategy`] at every visible
//! operation ([`Op`]) who goes on, and tells it what was done ([`Step`]).
//!
//! - [`strategy`]: who goes on: samplers by name ([`strategy::Spec`]), replays, given threads.
//! - [`Schedule`]: who went on, as text that can be read, kept and replayed; [`minimize`] finds one with few stale
//!   reads and switches.
//! - [`explore`]: all executions of a program, each by one run; [`explore::Explorer`] hands out the runs.
//! - [`explore_weak`]: the same for weak executions.
//! - [`Coverage`]: how many executions a campaign has seen, and when it is time to stop.
//! - [`Request`] and [`Answer`]: what the command and the runtime say to each other, as text, and [`Settings`], its form.
//! - [`sequential`]: whether a run is one of an interleaving.
//! - [`End`]: how a run ended.
//! - [`shared`]: what a run leaves in shared memory.
//!
//! ```
//! use rsan_schedule::strategy::Spec;
//! use rsan_schedule::{Coverage, Fingerprint, Schedule, Step, Strategy};
//!
//! # fn run(_: &mut dyn Strategy) -> (Vec<Step>, bool) { (Vec::new(), true) }
//! let spec: Spec = "pct:depth=3".parse()?;
//! let (mut coverage, mut longest) = (Coverage::default(), 1);
//! for seed in 0..1000 {
//!     let mut strategy = spec.build(seed, longest);
//!     let (steps, is_bad) = run(&mut *strategy);
//!     longest = longest.max(steps.len() as u64);
//!     coverage.record(Fingerprint::of(&steps));
//!     if is_bad {
//!         let mut schedule = Schedule::of(&steps);
//!         schedule.set_note("strategy", &spec.to_string());
//!         schedule.set_note("seed", &seed.to_string());
//!         println!("{schedule}");
//!         break;
//!     }
//!     if coverage.is_saturated(0.01) {
//!         break;
//!     }
//! }
//! # Ok::<(), rsan_schedule::strategy::SpecError>(())
//! ```

mod by_thread;
mod bytes;
mod coverage;
mod end;
pub mod explore;
pub mod explore_weak;
mod minimize;
mod mixed;
mod objects;
mod op;
mod part;
mod renumber;
mod request;
mod schedule;
pub mod sequential;
mod settings;
pub mod shared;
pub mod strategy;

pub use coverage::{Coverage, Fingerprint};
pub use end::{End, NoEnd};
pub use minimize::{Minimized, minimize};
use objects::Objects;
pub use op::{Candidate, Kind, Local, Op, ReadsFrom, Step};
pub use request::{Answer, Choice, NoAnswer, Request, RequestError, SEPARATOR};
pub use rsan_random::Random;
pub use schedule::{Origin, ParseError, Planned, Problem, Schedule, Value};
pub use settings::{OpenQuote, Setting, Settings};
pub use strategy::{Readable, Reading, Strategy};
