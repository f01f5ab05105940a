//! The verdict of a document: what was shown, and no more.

use crate::{Checked, Claim};
use rsan_model::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an answer says of its subject. The first line of the text, the field `verdict` of the document and the exit status
/// follow from this value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Proved, for every execution.
    Robust,
    /// Nothing was found, or nothing but what the user suppresses. That is no proof: runs were made, not all executions
    /// explored, or something else than robustness was asked.
    NoFinding,
    /// Something was found.
    Violation,
    /// Nothing was found, and what was asked for was not completed.
    Unknown,
}

impl Judgement {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::NoFinding => "no-finding",
            Self::Violation => "violation",
            Self::Unknown => "unknown",
        }
    }
}

impl Checked<'_> {
    /// What the answer says of the program.
    pub fn judgement(&self) -> Judgement {
        match (self.verdict, self.claim) {
            (
                Verdict::Robust,
                Claim::Robust
                | Claim::RobustForAllInstances
                | Claim::Observational
                | Claim::TriangularRaceFree
                | Claim::Portable,
            ) => Judgement::Robust,
            // Proved safe, which is less.
            (Verdict::Robust, Claim::Safe) => Judgement::NoFinding,
            (Verdict::Violation(_), _) => Judgement::Violation,
            (Verdict::Unknown(_), _) => Judgement::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Judgement::{self, NoFinding, Robust, Unknown, Violation};

    #[test]
    fn the_names_in_documents_are_a_contract() {
        let name = |judgement: Judgement| serde_json::to_string(&judgement).expect("a string");
        let names = [Robust, NoFinding, Violation, Unknown].map(name);
        let expected = ["robust", "no-finding", "violation", "unknown"];
        assert_eq!(names, expected.map(|name| format!("\"{name}\"")));
    }
}
