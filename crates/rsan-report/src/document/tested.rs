//! What came of the tests of a package.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A test that was run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    /// As findings name it.
    pub name: String,
    /// Findings aside.
    pub outcome: TestOutcome,
    /// Findings that it shows and that count.
    pub findings: u64,
    /// Its runs.
    pub runs: u64,
    /// Time.
    pub seconds: f64,
    /// How it failed, why it is undecided, and what else there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What it printed, if it failed; not all of it if that is much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    /// It passed.
    Ok,
    /// It failed, crashed or was killed.
    Failed,
    /// It did not end in time.
    TimedOut,
    /// The source says that it is not to be run.
    Ignored,
    /// It could not be run as planned, or the user ended it.
    Undecided,
}

impl TestOutcome {
    /// Whether it is a failed test.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }
}

impl Tested {
    /// The last word about it: `ok`, `FAILED`, `1 finding`.
    pub fn word(&self) -> String {
        let found = match self.findings {
            0 => None,
            number => Some(crate::number::plural(number, "finding")),
        };
        let own = match self.outcome {
            TestOutcome::Ok if found.is_some() => None,
            TestOutcome::Ok => Some("ok"),
            TestOutcome::Failed => Some("FAILED"),
            TestOutcome::TimedOut => Some("FAILED (time limit)"),
            TestOutcome::Ignored => Some("ignored"),
            TestOutcome::Undecided => Some("undecided"),
        };
        let words = own.map(str::to_owned).into_iter().chain(found);
        words.collect::<Vec<_>>().join(", ")
    }
}
