//! Tables of strategies by name, and how a text names one with its parameters: `name:parameter=N,...`.

use std::fmt;

/// A strategy of a table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) help: &'static str,
}

/// A parameter: a number in a range.
pub(super) struct Parameter {
    name: &'static str,
    least: u64,
    most: u64,
}

impl Parameter {
    pub(super) const fn new(name: &'static str, least: u64, most: u64) -> Self {
        Self { name, least, most }
    }
}

/// Largest depth: more is of no use, the guarantee is gone long before.
pub(super) const DEPTH: Parameter = Parameter::new("depth", 1, 100);

/// Why a text names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// There is no such strategy.
    Name {
        /// What the text says.
        found: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// The strategy has no such parameter.
    Parameter {
        /// The strategy.
        strategy: &'static str,
        /// What it does not have.
        found: String,
        /// What it has.
        known: Vec<&'static str>,
    },
    /// A parameter's value is not a number in its range.
    Value {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        found: String,
        /// Smallest value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// A parameter is given twice.
    Twice(&'static str),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { found, known } => {
                let known = known.join(", ");
                write!(f, "no strategy is called `{found}` (known: {known})")
            }
            Self::Parameter {
                strategy,
                found,
                known,
            } => {
                write!(f, "`{strategy}` has no parameter `{found}`")?;
                match &known[..] {
                    [] => Ok(()),
                    known => write!(f, " (it has: {})", known.join(", ")),
                }
            }
            Self::Value {
                parameter,
                found,
                least,
                most,
            } => write!(
                f,
                "`{parameter}={found}`: not a number from {least} to {most}"
            ),
            Self::Twice(parameter) => write!(f, "`{parameter}` is given twice"),
        }
    }
}

impl std::error::Error for SpecError {}

/// A strategy of a table with the parameters that a text gives it.
pub(super) struct Named {
    pub(super) name: &'static str,
    given: Vec<(&'static str, u64)>,
}

impl Named {
    /// What the text names.
    pub(super) fn read(table: &'static [Entry], text: &str) -> Result<Self, SpecError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = table.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| SpecError::Name {
            found: name.to_owned(),
            known: table.iter().map(|entry| entry.name).collect(),
        })?;
        let mut given: Vec<(&'static str, u64)> = Vec::new();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let parameter = entry.parameters.iter().find(|p| p.name == name);
            let parameter = parameter.ok_or_else(|| SpecError::Parameter {
                strategy: entry.name,
                found: name.to_owned(),
                known: entry.parameters.iter().map(|p| p.name).collect(),
            })?;
            if given.iter().any(|(p, _)| *p == parameter.name) {
                return Err(SpecError::Twice(parameter.name));
            }
            given.push((parameter.name, parameter.read(value)?));
        }
        let name = entry.name;
        Ok(Self { name, given })
    }

    /// The number that was given for a parameter.
    pub(super) fn number(&self, parameter: &str) -> Option<u64> {
        let given = self.given.iter().find(|(name, _)| *name == parameter);
        given.map(|(_, number)| *number)
    }
}

impl Parameter {
    fn read(&self, value: &str) -> Result<u64, SpecError> {
        let number = value.parse().ok();
        let number = number.filter(|number| (self.least..=self.most).contains(number));
        number.ok_or_else(|| SpecError::Value {
            parameter: self.name,
            found: value.to_owned(),
            least: self.least,
            most: self.most,
        })
    }
}

/// A line of help for each strategy.
pub(super) fn help(table: &[Entry]) -> String {
    let usage = |entry: &Entry| {
        let names: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
        match &names[..] {
            [] => entry.name.to_owned(),
            names => format!("{}[:{}=N]", entry.name, names.join("=N,")),
        }
    };
    let lines = table.iter().map(|e| format!("{:24}{}\n", usage(e), e.help));
    lines.collect()
}
