//! Strategies of weak executions: who runs next, and which write a load reads. One per file; [`WeakSpec`] knows them by name.

mod random;

pub use random::WeakRandom;

use super::Strategy;
use std::fmt;
use std::str::FromStr;

/// A strategy of weak executions, without its seed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WeakSpec {
    /// [`WeakRandom`].
    Random,
}

/// Why a text names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeakSpecError(String);

impl fmt::Display for WeakSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no strategy is called `{}` (known: random)", self.0)
    }
}

impl std::error::Error for WeakSpecError {}

impl FromStr for WeakSpec {
    type Err = WeakSpecError;

    fn from_str(text: &str) -> Result<Self, WeakSpecError> {
        match text {
            "random" => Ok(Self::Random),
            _ => Err(WeakSpecError(text.to_owned())),
        }
    }
}

impl fmt::Display for WeakSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
        }
    }
}

impl WeakSpec {
    /// The strategy for one run, with about `steps` steps at which there is a choice, as far as it is known.
    pub fn build(&self, seed: u64, _steps: u64) -> Box<dyn Strategy> {
        match self {
            Self::Random => Box::new(WeakRandom::new(seed)),
        }
    }
}
