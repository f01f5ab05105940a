//! The part of SARIF 2.1.0 that we write, by the names of the standard.

use crate::document::{Harm, OnMachine};
use serde::Serialize;
use std::collections::BTreeMap;

/// `sarifLog`
#[derive(Debug, Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [Run; 1],
}

/// `run`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    pub(super) column_kind: &'static str,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    pub(super) invocations: Vec<Invocation>,
    pub(super) artifacts: Vec<Artifact>,
    pub(super) results: Vec<Outcome>,
}

/// `tool`
#[derive(Debug, Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

/// `toolComponent`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) full_name: &'static str,
    pub(super) version: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) language: &'static str,
    pub(super) rules: Vec<Rule>,
}

/// `reportingDescriptor`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) name: String,
    pub(super) short_description: Text,
    pub(super) full_description: Text,
    pub(super) help: Text,
    pub(super) default_configuration: Configuration,
    pub(super) properties: RuleProperties,
}

/// `reportingConfiguration`
#[derive(Debug, Serialize)]
pub(super) struct Configuration {
    pub(super) level: &'static str,
}

/// What GitHub shows and filters by.
#[derive(Debug, Serialize)]
pub(super) struct RuleProperties {
    pub(super) tags: Vec<&'static str>,
    pub(super) precision: &'static str,
    #[serde(rename = "problem.severity")]
    pub(super) severity: &'static str,
}

/// `message`, and `multiformatMessageString`
#[derive(Debug, Serialize)]
pub(super) struct Text {
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) markdown: Option<String>,
}

/// `artifactLocation` of a base: where it is is for the reader to know.
#[derive(Debug, Serialize)]
pub(super) struct UriBase {
    pub(super) description: Text,
}

/// `invocation`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) exit_code: u8,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_execution_notifications: Vec<Notification>,
    pub(super) properties: InvocationProperties,
}

/// What was asked, and what the answer is.
#[derive(Debug, Serialize)]
pub(super) struct InvocationProperties {
    pub(super) command: crate::document::Command,
    pub(super) subject: String,
    pub(super) verdict: &'static str,
    pub(super) model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) property: Option<crate::document::Claim>,
}

/// `notification`
#[derive(Debug, Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: Text,
}

/// `artifact`
#[derive(Debug, Serialize)]
pub(super) struct Artifact {
    pub(super) location: Uri,
}

/// `artifactLocation`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Uri {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<usize>,
}

/// `result`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) rule_id: &'static str,
    pub(super) rule_index: usize,
    pub(super) level: &'static str,
    pub(super) message: Text,
    pub(super) locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) code_flows: Vec<CodeFlow>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) occurrence_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<Suppression>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<Fix>,
    pub(super) provenance: Provenance,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) properties: Option<OutcomeProperties>,
}

/// `resultProvenance`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provenance {
    pub(super) invocation_index: usize,
}

/// How to see it again, whether it hurts, which machines can show it, and which tests did.
#[derive(Debug, Serialize)]
pub(super) struct OutcomeProperties {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) harm: Option<Harm>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) machines: Vec<OnMachine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tests: Vec<String>,
}

impl OutcomeProperties {
    pub(super) fn is_empty(&self) -> bool {
        let lists = self.machines.is_empty() && self.tests.is_empty();
        self.replay.is_none() && self.harm.is_none() && lists
    }
}

/// `suppression`
#[derive(Debug, Serialize)]
pub(super) struct Suppression {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) justification: &'static str,
}

/// `location`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    pub(super) physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
}

/// `message` of a location
#[derive(Clone, Debug, Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

/// `physicalLocation`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: Uri,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

/// `region`
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<Message>,
}

/// `logicalLocation`
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
    pub(super) kind: &'static str,
}

/// `codeFlow`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub(super) message: Message,
    pub(super) thread_flows: Vec<ThreadFlow>,
}

/// `threadFlow`
#[derive(Debug, Serialize)]
pub(super) struct ThreadFlow {
    pub(super) id: String,
    pub(super) locations: Vec<FlowLocation>,
}

/// `threadFlowLocation`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowLocation {
    pub(super) location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nesting_level: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) execution_order: Option<usize>,
    pub(super) importance: &'static str,
}

/// `fix`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix {
    pub(super) description: Text,
    pub(super) artifact_changes: Vec<ArtifactChange>,
}

/// `artifactChange`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: Uri,
    pub(super) replacements: Vec<Replacement>,
}

/// `replacement`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Message,
}

impl Text {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            text,
            markdown: None,
        }
    }
}
