//! What became of a weak behaviour when it was executed.

use super::{Place, Recorded};
use crate::number::plural;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a weak behaviour hurts, as far as runs in which it happens have shown (`--confirm`).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Harm {
    /// A run that has it ends as no sequentially consistent run of the campaign does.
    Harmful {
        /// What happens.
        effect: Effect,
        /// The same in words, without a full stop.
        message: String,
        /// Where it happens, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Place>,
        /// Runs that show it.
        runs: u64,
        /// Among so many in which the weak behaviour happens.
        continuations: u64,
        /// The smallest such run, unless its schedule could not be written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recorded: Option<Recorded>,
    },
    /// Nothing that a sequentially consistent run does not show.
    NotSeen {
        /// Runs in which the weak behaviour happens.
        continuations: u64,
    },
    /// It did not happen in any run.
    NotReached {
        /// How many were made.
        runs: u64,
    },
}

/// How a weak behaviour hurts.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// An assertion fails, or the program gives up.
    Assertion,
    /// A signal ends the program.
    Crash,
    /// A data race.
    Race,
    /// Memory or a lock is used wrongly.
    Misuse,
    /// Threads wait for ever.
    Deadlock,
    /// The program does not end.
    Hang,
    /// Another exit status.
    ExitStatus,
    /// Another output.
    Output,
}

impl Effect {
    /// All of them, the most serious first.
    pub const ALL: [Self; 8] = [
        Self::Assertion,
        Self::Crash,
        Self::Race,
        Self::Misuse,
        Self::Deadlock,
        Self::Hang,
        Self::ExitStatus,
        Self::Output,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Crash => "crash",
            Self::Race => "race",
            Self::Misuse => "misuse",
            Self::Deadlock => "deadlock",
            Self::Hang => "hang",
            Self::ExitStatus => "exit-status",
            Self::Output => "output",
        }
    }
}

impl Harm {
    /// Whether it was seen to hurt.
    pub fn is_harmful(&self) -> bool {
        match self {
            Self::Harmful { .. } => true,
            Self::NotSeen { .. } | Self::NotReached { .. } => false,
        }
    }

    /// What was seen, without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::Harmful {
                message,
                location,
                runs,
                continuations,
                ..
            } => {
                let at = location.as_ref().map(Place::file_line);
                let at = at.map_or(String::new(), |place| format!(" at {place}"));
                let of = plural(*continuations, "weak continuation");
                format!("harmful: {message}{at}, in {runs} of {of}")
            }
            Self::NotSeen { continuations } => {
                let continuations = plural(*continuations, "weak continuation");
                format!("no harm seen in {continuations}")
            }
            Self::NotReached { runs } => {
                format!("not confirmed: {} did not reach it", plural(*runs, "run"))
            }
        }
    }

    /// The run that shows the harm.
    pub fn recorded(&self) -> Option<&Recorded> {
        match self {
            Self::Harmful { recorded, .. } => recorded.as_ref(),
            Self::NotSeen { .. } | Self::NotReached { .. } => None,
        }
    }

    /// What two campaigns say together: what hurts once, hurts.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (harmful @ Self::Harmful { .. }, _) | (_, harmful @ Self::Harmful { .. }) => harmful,
            (
                Self::NotSeen { continuations },
                Self::NotSeen {
                    continuations: more,
                },
            ) => Self::NotSeen {
                continuations: continuations.saturating_add(more),
            },
            (seen @ Self::NotSeen { .. }, Self::NotReached { .. })
            | (Self::NotReached { .. }, seen @ Self::NotSeen { .. }) => seen,
            (Self::NotReached { runs }, Self::NotReached { runs: more }) => Self::NotReached {
                runs: runs.saturating_add(more),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmful() -> Harm {
        Harm::Harmful {
            effect: Effect::Assertion,
            message: "an assertion fails".to_owned(),
            location: None,
            runs: 3,
            continuations: 7,
            recorded: None,
        }
    }

    #[test]
    fn names_are_those_of_documents() {
        for effect in Effect::ALL {
            let json = serde_json::to_string(&effect).expect("a name");
            assert_eq!(json, format!("\"{}\"", effect.name()));
        }
    }

    #[test]
    fn what_hurts_once_hurts() {
        let seen = Harm::NotSeen { continuations: 5 };
        let unreached = Harm::NotReached { runs: 2 };
        assert_eq!(harmful().and(seen.clone()), harmful());
        assert_eq!(unreached.clone().and(harmful()), harmful());
        assert_eq!(unreached.clone().and(seen.clone()), seen);
        let both = Harm::NotSeen { continuations: 10 };
        assert_eq!(seen.clone().and(seen), both);
        let both = Harm::NotReached { runs: 4 };
        assert_eq!(unreached.clone().and(unreached), both);
    }

    #[test]
    fn it_is_said_how_sure_that_is() {
        let said = "harmful: an assertion fails, in 3 of 7 weak continuations";
        assert_eq!(harmful().sentence(), said);
        let seen = Harm::NotSeen { continuations: 1 };
        assert_eq!(seen.sentence(), "no harm seen in 1 weak continuation");
        let unreached = Harm::NotReached { runs: 200 };
        let said = "not confirmed: 200 runs did not reach it";
        assert_eq!(unreached.sentence(), said);
    }
}
