//! Strategies of weak executions: who runs next, and which write a load reads. One per file; [`WeakSpec`] knows them by name.

mod guided;
mod pctwm;
mod random;
mod walk;

pub use guided::WeakGuided;
pub use pctwm::Pctwm;
pub use random::WeakRandom;

use super::Strategy;
use super::table::{self, DEPTH, Entry, Named, Parameter, SpecError};
use crate::Random;
use rsan_model::ThreadId;
use std::fmt;
use std::str::FromStr;

/// A strategy of weak executions, without its seed.
///
/// ```
/// use rsan_schedule::strategy::WeakSpec;
/// let spec: WeakSpec = "pctwm:depth=2".parse()?;
/// assert_eq!(spec, WeakSpec::Pctwm { depth: 2, history: 2 });
/// assert_eq!(spec.to_string(), "pctwm:depth=2,history=2");
/// assert_eq!(
///     "guided:depth=2".parse::<WeakSpec>().unwrap_err().to_string(),
///     "`guided` has no parameter `depth` (it has: stale)"
/// );
/// # Ok::<(), rsan_schedule::strategy::SpecError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeakSpec {
    /// [`WeakRandom`].
    Random {
        /// How often, of 100, a load that can read a stale value does; `None`: every write is as likely as the others.
        stale: Option<u8>,
    },
    /// [`Pctwm`].
    Pctwm {
        /// Communications of the violations that are looked for.
        depth: u32,
        /// How many writes back they reach.
        history: u32,
    },
    /// [`WeakGuided`].
    Guided {
        /// How often, of 100, a load that can read a stale value does after the run has left sequential consistency.
        stale: u8,
    },
}

/// Where a run leaves sequential consistency: what its campaign knows, and wants. Only [`WeakGuided`] heeds it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Aim {
    /// Places of loads at which earlier runs left it ([`crate::shared::Header::deviated`]).
    pub known: Vec<u64>,
    /// Where this run should.
    pub target: Option<Target>,
    /// It leaves it there or not at all.
    pub only: bool,
    /// Who makes the first steps; those who are not ready are left out.
    pub first: Vec<ThreadId>,
}

/// A read of a stale value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// The place of the load ([`super::place`]).
    pub load: u64,
    /// The place of the last write, which is not read; `None`: any.
    pub missed: Option<u64>,
}

const TABLE: &[Entry] = &[
    Entry {
        name: "random",
        parameters: &[STALE],
        help: "threads at random, and writes at random (stale: of 100 loads that can read a stale value, how many do)",
    },
    Entry {
        name: "pctwm",
        parameters: &[DEPTH, HISTORY],
        help: "random priorities, and depth reads from other threads, among their last writes (depth: 3; history: 2)",
    },
    Entry {
        name: "guided",
        parameters: &[STALE],
        help: "sequentially consistent up to a read that need not be, at places that no run has taken yet; weak from there (stale: 10)",
    },
];

/// Of 100 loads that can read a stale value.
const STALE: Parameter = Parameter::new("stale", 0, 100);
/// Writes that a communication may reach back.
const HISTORY: Parameter = Parameter::new("history", 1, 1000);

impl Default for WeakSpec {
    fn default() -> Self {
        Self::Guided { stale: 10 }
    }
}

impl FromStr for WeakSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let named = Named::read(TABLE, text)?;
        let stale = named.number("stale").map(|percent| percent as u8);
        Ok(match named.name {
            "random" => Self::Random { stale },
            "pctwm" => Self::Pctwm {
                depth: named.number("depth").unwrap_or(3) as u32,
                history: named.number("history").unwrap_or(2) as u32,
            },
            "guided" => Self::Guided {
                stale: stale.unwrap_or(10),
            },
            other => unreachable!("{other} is in the table"),
        })
    }
}

impl fmt::Display for WeakSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random { stale: None } => f.write_str("random"),
            Self::Random { stale: Some(stale) } => write!(f, "random:stale={stale}"),
            Self::Pctwm { depth, history } => write!(f, "pctwm:depth={depth},history={history}"),
            Self::Guided { stale } => write!(f, "guided:stale={stale}"),
        }
    }
}

impl WeakSpec {
    /// The strategy for one run, with about `steps` steps at which there is a choice, as far as it is known.
    pub fn build(&self, seed: u64, steps: u64, aim: Aim) -> Box<dyn Strategy> {
        match *self {
            Self::Random { stale } => Box::new(WeakRandom::new(seed, stale)),
            Self::Pctwm { depth, history } => Box::new(Pctwm::new(seed, depth, history, steps)),
            Self::Guided { stale } => Box::new(WeakGuided::new(seed, stale, aim)),
        }
    }

    /// A line of help for each strategy.
    pub fn help() -> String {
        table::help(TABLE)
    }
}

/// A write that is not the last of `count`, of 100 so often as given; else the last.
fn stale(random: &mut Random, count: usize, percent: u8) -> usize {
    match count > 1 && random.chance(percent.into()) {
        true => random.below(count - 1),
        false => count - 1,
    }
}

#[cfg(test)]
mod tests;
