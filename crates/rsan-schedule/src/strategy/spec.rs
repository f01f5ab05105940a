//! Strategies by name, as a user writes them: `pct:depth=3,steps=1000`.

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

/// A strategy of the table.
struct Entry {
    name: &'static str,
    parameters: &'static [&'static str],
    help: &'static str,
}

const TABLE: &[Entry] = &[
    Entry {
        name: "random",
        parameters: &[],
        help: "every thread that is ready is as likely as the others",
    },
    Entry {
        name: "pct",
        parameters: &["depth", "steps"],
        help: "random priorities that change depth-1 times in a run (depth: 3; steps with a choice: as many as in the first run)",
    },
    Entry {
        name: "pos",
        parameters: &[],
        help: "random priorities of operations; those that conflict with what was done draw new ones",
    },
];

/// Why a text names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// There is no such strategy.
    Name(String),
    /// The strategy has no such parameter.
    Parameter {
        /// The strategy.
        strategy: &'static str,
        /// What it does not have.
        found: String,
    },
    /// A parameter's value is not a number in its range.
    Value {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        found: String,
        /// Largest value; the smallest is 1.
        most: u64,
    },
    /// A parameter is given twice.
    Twice(&'static str),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(found) => {
                let known: Vec<&str> = TABLE.iter().map(|e| e.name).collect();
                let known = known.join(", ");
                write!(f, "no strategy is called `{found}` (known: {known})")
            }
            Self::Parameter { strategy, found } => {
                write!(f, "`{strategy}` has no parameter `{found}`")?;
                let entry = TABLE.iter().find(|e| e.name == *strategy);
                match entry.map_or(&[][..], |e| e.parameters) {
                    [] => Ok(()),
                    known => write!(f, " (it has: {})", known.join(", ")),
                }
            }
            Self::Value {
                parameter,
                found,
                most,
            } => write!(f, "`{parameter}={found}`: not a number from 1 to {most}"),
            Self::Twice(parameter) => write!(f, "`{parameter}` is given twice"),
        }
    }
}

impl std::error::Error for SpecError {}

/// Largest depth: more is of no use, the guarantee is gone long before.
const MOST_DEPTH: u64 = 100;
/// Largest number of steps.
const MOST_STEPS: u64 = 1 << 40;

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = TABLE
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| SpecError::Name(name.to_owned()))?;
        let given = parameters(entry, rest)?;
        let number = |parameter: &'static str, most: u64| {
            let Some((_, value)) = given.iter().find(|(p, _)| *p == parameter) else {
                return Ok(None);
            };
            let number = value.parse().ok().filter(|n| (1..=most).contains(n));
            number.map(Some).ok_or_else(|| SpecError::Value {
                parameter,
                found: (*value).to_owned(),
                most,
            })
        };
        Ok(match entry.name {
            "random" => Self::Random,
            "pct" => Self::Pct {
                depth: number("depth", MOST_DEPTH)?.unwrap_or(3) as u32,
                steps: number("steps", MOST_STEPS)?,
            },
            "pos" => Self::Pos,
            other => unreachable!("{other} is in the table"),
        })
    }
}

/// The parameters of `rest`, which stands behind the colon.
fn parameters<'t>(
    entry: &'static Entry,
    rest: &'t str,
) -> Result<Vec<(&'static str, &'t str)>, SpecError> {
    let mut given: Vec<(&'static str, &str)> = Vec::new();
    for part in rest.split(',').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let parameter = entry.parameters.iter().find(|p| **p == name);
        let parameter = parameter.ok_or_else(|| SpecError::Parameter {
            strategy: entry.name,
            found: name.to_owned(),
        })?;
        if given.iter().any(|(p, _)| p == parameter) {
            return Err(SpecError::Twice(parameter));
        }
        given.push((parameter, value));
    }
    Ok(given)
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
        let usage = |e: &Entry| match e.parameters {
            [] => e.name.to_owned(),
            p => format!("{}[:{}=N]", e.name, p.join("=N,")),
        };
        let lines = TABLE.iter().map(|e| format!("{:24}{}\n", usage(e), e.help));
        lines.collect()
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
