//! What only some commands answer: the final states of a litmus test, the repair of a program.

use super::{Execution, Place, Thread};
use rsan_model::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The final states of a litmus test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LitmusAnswer {
    /// Of the test.
    pub name: String,
    /// What a C test was compiled for: a machine, and which of its mappings (`armv8+rcpc`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Absent when the test has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// What is observed at the end, in the order in which it is shown.
    pub observed: Vec<String>,
    /// Every final state that the model allows.
    pub states: Vec<FinalState>,
    /// Whether some consistent execution has a data race.
    pub data_race: bool,
    /// The unrolling bound, when a loop reached it.
    pub cut_at: Option<u32>,
}

/// The condition of a litmus test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// `exists`, `~exists` or `forall`.
    pub quantifier: String,
    /// As herd prints it.
    pub text: String,
    /// Whether it holds as written; null when that is not decided.
    pub holds: Option<bool>,
    /// Executions that satisfy the formula.
    pub satisfied: u64,
    /// Executions that do not.
    pub unsatisfied: u64,
    /// `Always`, `Sometimes` or `Never`.
    pub observation: String,
}

/// A final state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FinalState {
    /// By name.
    pub values: BTreeMap<String, Value>,
    /// Of the values that are addresses, the locations; their numbers mean nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// Number of consistent executions that end in it.
    pub executions: u64,
    /// Whether it satisfies the formula of the condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfies: Option<bool>,
}

impl FinalState {
    /// The value of what has this name, as it is shown.
    pub fn shown(&self, name: &str) -> String {
        match (self.addresses.get(name), self.values.get(name)) {
            (Some(location), _) => location.clone(),
            (None, value) => value.copied().unwrap_or_default().to_string(),
        }
    }
}

/// The cheapest changes that make a program robust.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// Whose costs count: `armv8`, `riscv` or `x86`.
    pub target: String,
    /// Of all changes.
    pub cost: u64,
    /// Each of them is needed.
    pub changes: Vec<RepairChange>,
    /// Sets of changes, or of weak runs, that were excluded before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<u64>,
    /// TSO: sets of places of which every repair needs one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<Vec<RepairChange>>,
}

/// What a change of a repair is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepairKind {
    /// A fence before an access, or in a control state.
    Fence,
    /// Another order for an access.
    Order,
}

/// A change, and why it is needed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepairChange {
    /// What it is.
    pub kind: RepairKind,
    /// Whose code it changes.
    pub thread: Thread,
    /// Where, in the subject.
    pub location: Option<Place>,
    /// Of a fence: behind what stands there, not before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after: bool,
    /// The control state of an automaton.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The order that stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The order that should.
    pub to: String,
    /// What it costs.
    pub cost: u64,
    /// What goes wrong without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What only this change forbids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forbids: Option<Execution>,
}
