//! Documents as SARIF 2.1.0, the format that code scanning reads.
//!
//! Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0. All documents are one run, for GitHub takes one run for a
//! tool and category; each document is an invocation of it. What GitHub and GitLab need beyond the schema: a rule with
//! descriptions and help, a physical location for every result, a text, a fingerprint, and no more than [`RESULTS`],
//! [`RELATED`] and [`STEPS`].

mod fix;
mod flow;
mod log;
mod places;

use crate::document::{Document, Finding, Frame, Kind, Place, Severity, place_of};
use crate::fingerprint::{FINGERPRINT_KEY, Fingerprint, fingerprints};
use crate::judgement::Judgement;
use crate::rules;
use crate::text::sentence_case;
use log::{
    Configuration, Driver, Invocation, InvocationProperties, Location, Log, Notification, Outcome,
    OutcomeProperties, Provenance, Rule, RuleProperties, Run, Suppression, Text, Tool,
};
use places::{Files, literal};

/// Results of a run that GitHub takes.
const RESULTS: usize = 25_000;
/// Locations of a result that GitHub shows.
const RELATED: usize = 100;
/// Steps of a result's code flows that GitHub shows.
const STEPS: usize = 1_000;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Documents as a SARIF log.
///
/// # Panics
/// Never: the log has string keys and whole numbers only.
pub fn sarif(documents: &[Document]) -> String {
    let mut files = Files::default();
    let mut invocations: Vec<_> = documents.iter().map(invocation).collect();
    let mut results = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let marks = fingerprints(document);
        let room = RESULTS - results.len();
        let pairs = document.findings.iter().zip(&marks).take(room);
        results.extend(
            pairs.map(|(finding, mark)| {
                Builder { document, finding }.result(index, mark, &mut files)
            }),
        );
        if document.findings.len() > room {
            let left = document.findings.len() - room;
            let text = format!("{left} findings are left out: code scanning takes {RESULTS}.");
            invocations[index].notify("warning", text);
        }
    }
    let run = Run {
        tool: Tool { driver: driver() },
        column_kind: "unicodeCodePoints",
        original_uri_base_ids: places::bases(),
        invocations,
        artifacts: files.artifacts(),
        results,
    };
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [run],
    };
    serde_json::to_string_pretty(&log).expect("the log has string keys and whole numbers") + "\n"
}

fn driver() -> Driver {
    Driver {
        name: "rsan",
        full_name: "rsan, a robustness sanitizer and verifier for code with weak atomics",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        language: "en",
        rules: Kind::ALL.into_iter().map(rule).collect(),
    }
}

fn rule(kind: Kind) -> Rule {
    let rules::Rule {
        summary,
        meaning,
        fix,
        severity,
    } = rules::Rule::of(kind);
    let id = kind.name();
    Rule {
        id,
        name: pascal(id),
        short_description: Text::plain(summary),
        full_description: Text::plain(format!("{summary} {meaning}")),
        help: Text {
            text: format!("{summary} {meaning} Fix: {fix}"),
            markdown: Some(format!("**{summary}** {meaning}\n\n**Fix:** {fix}\n")),
        },
        default_configuration: Configuration {
            level: severity.name(),
        },
        properties: RuleProperties {
            tags: if kind.is_weak() {
                vec!["concurrency", "weak-memory"]
            } else {
                vec!["concurrency"]
            },
            // A finding of the sanitizer and of the verifier is an execution, not a guess.
            precision: "very-high",
            severity: match severity {
                Severity::Note => "recommendation",
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
        },
    }
}

/// `data-race` as `DataRace`.
fn pascal(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    name.split('-').map(capital).collect()
}

fn invocation(document: &Document) -> Invocation {
    let done = document.verdict != Judgement::Unknown;
    let mut invocation = Invocation {
        execution_successful: done,
        exit_code: document.exit_code(),
        tool_execution_notifications: Vec::new(),
        properties: InvocationProperties {
            command: document.command,
            subject: document.subject.clone(),
            verdict: document.verdict.name(),
            model: document.model.name(),
            property: document.property,
        },
    };
    for note in &document.notes {
        invocation.notify(if done { "note" } else { "warning" }, note.clone());
    }
    if let Some(note) = document.stats.of_standard() {
        invocation.notify("note", note);
    }
    invocation
}

impl Invocation {
    fn notify(&mut self, level: &'static str, text: String) {
        let message = Text::plain(literal(&text));
        self.tool_execution_notifications
            .push(Notification { level, message });
    }
}

/// A finding with its document.
#[derive(Clone, Copy)]
struct Builder<'a> {
    document: &'a Document,
    finding: &'a Finding,
}

impl Builder<'_> {
    fn result(self, invocation: usize, mark: &Fingerprint, files: &mut Files) -> Outcome {
        let Self { document, finding } = self;
        let rule_index = Kind::ALL.iter().position(|kind| *kind == finding.kind);
        let baseline = if finding.known { "unchanged" } else { "new" };
        let library = finding.in_libraries.then_some(Suppression {
            kind: "external",
            status: "accepted",
            justification: "All accesses are inside libraries.",
        });
        let recorded = finding.recorded.as_ref();
        let properties = OutcomeProperties {
            replay: recorded.map(|recorded| recorded.command.clone()),
            harm: finding.harm.clone(),
            machines: finding.machines.clone(),
            tests: finding.tests.clone(),
        };
        Outcome {
            rule_id: finding.kind.name(),
            rule_index: rule_index.expect("ALL has every kind"),
            level: finding.severity.name(),
            message: Text::plain(literal(&self.message())),
            locations: vec![self.primary(files)],
            related_locations: self.related(files),
            code_flows: flow::code_flows(document, finding, files),
            partial_fingerprints: [(FINGERPRINT_KEY, mark.to_string())].into(),
            occurrence_count: finding.runs.filter(|runs| *runs > 0),
            baseline_state: document.stats.known.map(|_| baseline),
            suppressions: library.into_iter().collect(),
            fixes: fix::fixes(document, finding, files),
            provenance: Provenance {
                invocation_index: invocation,
            },
            properties: Some(properties).filter(|properties| !properties.is_empty()),
        }
    }

    /// The sentence, why, the fix, and which machines can show it.
    fn message(self) -> String {
        let Self { finding, .. } = self;
        let mut sentences = vec![finding.message.clone()];
        sentences.extend(finding.because.iter().cloned());
        let harm = finding.harm.as_ref();
        sentences.extend(harm.map(|harm| sentence_case(&harm.sentence())));
        if let Some(fix) = &finding.fix {
            sentences.push(format!("Fix: {}", fix.message));
        }
        let machines = finding.can_happen();
        sentences.extend(machines.map(|machines| sentence_case(&machines)));
        let sentence = |text: String| match text.ends_with('.') {
            true => text,
            false => text + ".",
        };
        let sentences: Vec<_> = sentences.into_iter().map(sentence).collect();
        sentences.join(" ")
    }

    /// Where the finding is; that of the subject if nothing else is known, for code scanning wants a file.
    fn primary(self, files: &mut Files) -> Location {
        let Self { document, finding } = self;
        let place = finding.location.clone().unwrap_or_else(|| Place {
            file: document.subject.clone(),
            line: None,
            column: None,
            end_line: None,
            end_column: None,
        });
        let stack = finding.accesses.first().map(|access| &access.stack);
        let frame = stack.and_then(|stack| place_of(stack));
        let function = frame.and_then(|frame: &Frame| frame.function.as_deref());
        files.location(document, &place).inside(function)
    }

    fn related(self, files: &mut Files) -> Vec<Location> {
        let Self { document, finding } = self;
        let related = finding.related.iter().take(RELATED).enumerate();
        let location = |(index, other): (usize, &crate::document::Related)| Location {
            id: Some(index),
            ..files
                .location(document, &other.location)
                .saying(other.message.clone())
        };
        related.map(location).collect()
    }
}
