//! Strategies by name, as a user writes them: `pct:depth=3,steps=1000`.

use super::table::{self, DEPTH, Entry, Named, Parameter, SpecError};
use super::{Pct, Pos, RandomWalk, Strategy};
use std::fmt;
use std::str::FromStr;

/// A sampling strategy without its seed.
///
/// ```
/// use rsan_schedule::strategy::Spec;
/// let spec: Spec = "pct:depth=2".parse()?;
/// assert_eq!(spec, Spec::Pct { depth: 2, steps: None });
/// assert_eq!(spec.to_string(), "pct:depth=2");
/// let strategy = spec.build(17, 100);
/// assert!(format!("{strategy:?}").starts_with("Pct"));
/// assert_eq!(
///     "pct:dept=2".parse::<Spec>().unwrap_err().to_string(),
///     "`pct` has no parameter `dept` (it has: depth, steps)"
/// );
/// # Ok::<(), rsan_schedule::strategy::SpecError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spec {
    /// [`RandomWalk`].
    Random,
    /// [`Pct`].
    Pct {
        /// Ordering constraints of the violations that are looked for.
        depth: u32,
        /// Steps of a run at which there is a choice; `None`: the estimate of who builds it.
        steps: Option<u64>,
    },
    /// [`Pos`].
    Pos,
}

const TABLE: &[Entry] = &[
    Entry {
        name: "random",
        parameters: &[],
        help: "every thread that is ready is as likely as the others",
    },
    Entry {
        name: "pct",
        parameters: &[DEPTH, STEPS],
        help: "random priorities that change depth-1 times in a run (depth: 3; steps with a choice: as many as in the first run)",
    },
    Entry {
        name: "pos",
        parameters: &[],
        help: "random priorities of operations; those that conflict with what was done draw new ones",
    },
];

/// Steps of a run at which there is a choice.
const STEPS: Parameter = Parameter::new("steps", 1, 1 << 40);

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let named = Named::read(TABLE, text)?;
        Ok(match named.name {
            "random" => Self::Random,
            "pct" => Self::Pct {
                depth: named.number("depth").unwrap_or(3) as u32,
                steps: named.number("steps"),
            },
            "pos" => Self::Pos,
            other => unreachable!("{other} is in the table"),
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => write!(f, "random"),
            Self::Pct { depth, steps } => {
                write!(f, "pct:depth={depth}")?;
                steps.map_or(Ok(()), |steps| write!(f, ",steps={steps}"))
            }
            Self::Pos => write!(f, "pos"),
        }
    }
}

impl Spec {
    /// The strategy for one run, with about `steps` steps at which there is a choice, as far as it is known.
    pub fn build(&self, seed: u64, steps: u64) -> Box<dyn Strategy> {
        match *self {
            Self::Random => Box::new(RandomWalk::new(seed)),
            Self::Pct { depth, steps: own } => {
                Box::new(Pct::new(seed, depth, own.unwrap_or(steps)))
            }
            Self::Pos => Box::new(Pos::new(seed)),
        }
    }

    /// A line of help for each strategy.
    pub fn help() -> String {
        table::help(TABLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Spec>().expect_err("an error").to_string()
    }

    #[test]
    fn every_entry_of_the_table_can_be_built_and_written() {
        for entry in TABLE {
            let spec: Spec = entry.name.parse().expect("a strategy");
            assert_eq!(spec.to_string().parse(), Ok(spec));
            assert!(Spec::help().contains(entry.help));
        }
        let spec: Spec = "pct:steps=9,depth=1".parse().expect("a strategy");
        assert_eq!(spec.to_string(), "pct:depth=1,steps=9");
    }

    #[test]
    fn errors_say_what_is_known() {
        assert_eq!(
            error("luck"),
            "no strategy is called `luck` (known: random, pct, pos)"
        );
        assert_eq!(error("pos:depth=1"), "`pos` has no parameter `depth`");
        assert_eq!(
            error("pct:depth=0"),
            "`depth=0`: not a number from 1 to 100"
        );
        assert_eq!(error("pct:depth"), "`depth=`: not a number from 1 to 100");
        assert_eq!(error("pct:depth=1,depth=1"), "`depth` is given twice");
    }
}
