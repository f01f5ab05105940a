//! Documents as JUnit XML, for the test tabs of CI systems.
//!
//! There is no standard, so this is what GitLab, Jenkins and GitHub's test reporters have in common. A document is a suite. A finding
//! is a failed test; one that does not count (known from the baseline, in libraries, below `--fail-on`) is a skipped one. A document without findings is a
//! passed test, or an error if nothing could be decided. Tests of a package are tests here, too, beside the findings. Readers tell tests apart by `classname` and `name`, so names are
//! unique in a suite, and have no line numbers: a finding is the same test after lines are inserted above it.

use crate::document::{Document, Finding, Place, TestOutcome, Tested, place_of};
use crate::judgement::Judgement;
use crate::text;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Documents as a JUnit report.
pub fn junit(documents: &[Document]) -> String {
    let suites: Vec<_> = documents.iter().map(Suite::of).collect();
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let seconds: f64 = documents.iter().map(|d| d.stats.seconds).sum();
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        xml,
        "<testsuites name=\"rsan\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
        sum(|suite| suite.cases.len()),
        sum(|suite| suite.count(Result::is_failure)),
        sum(|suite| suite.count(Result::is_error)),
        sum(|suite| suite.count(Result::is_skipped)),
    );
    for suite in &suites {
        suite.write(&mut xml);
    }
    xml + "</testsuites>\n"
}

/// A document.
struct Suite {
    name: String,
    seconds: f64,
    cases: Vec<Case>,
    /// Notes of the document.
    output: String,
}

/// A test.
struct Case {
    name: String,
    place: Option<Place>,
    result: Result,
}

/// What came of a test.
enum Result {
    Passed,
    Skipped {
        message: String,
    },
    Failure {
        kind: &'static str,
        message: String,
        text: String,
    },
    Error {
        message: String,
    },
}

impl Result {
    fn is_failure(&self) -> bool {
        matches!(self, Self::Failure { .. })
    }

    fn is_error(&self) -> bool {
        matches!(self, Self::Error { .. })
    }

    fn is_skipped(&self) -> bool {
        matches!(self, Self::Skipped { .. })
    }
}

impl Suite {
    fn of(document: &Document) -> Self {
        let mut names = BTreeMap::new();
        let findings = document.findings.iter();
        let mut cases: Vec<_> = findings
            .map(|finding| Case {
                name: unique(&mut names, name(finding)),
                place: finding.location.clone(),
                result: result(document, finding),
            })
            .collect();
        let tests = document.tests.iter();
        cases.extend(tests.map(|test| of_test(&mut names, test)));
        if !cases.iter().any(|case| case.result.is_failure()) && document.tests.is_empty() {
            cases.push(whole(document));
        }
        Self {
            name: document.subject.clone(),
            seconds: document.stats.seconds,
            cases,
            output: {
                let notes = document.notes.iter().cloned();
                let notes: Vec<_> = notes.chain(document.stats.of_standard()).collect();
                notes.join("\n")
            },
        }
    }

    fn count(&self, what: fn(&Result) -> bool) -> usize {
        self.cases.iter().filter(|case| what(&case.result)).count()
    }

    fn write(&self, xml: &mut String) {
        let name = attribute(&self.name);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
            self.cases.len(),
            self.count(Result::is_failure),
            self.count(Result::is_error),
            self.count(Result::is_skipped),
            self.seconds,
        );
        for case in &self.cases {
            case.write(&name, xml);
        }
        if !self.output.is_empty() {
            let _ = writeln!(xml, "    <system-out>{}</system-out>", escape(&self.output));
        }
        xml.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, class: &str, xml: &mut String) {
        let name = attribute(&self.name);
        let _ = write!(
            xml,
            "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\""
        );
        if let Some(place) = &self.place {
            let _ = write!(xml, " file=\"{}\"", attribute(&place.file));
            if let Some(line) = place.line {
                let _ = write!(xml, " line=\"{line}\"");
            }
        }
        let _ = match &self.result {
            Result::Passed => writeln!(xml, "/>"),
            Result::Skipped { message } => {
                let message = attribute(message);
                writeln!(xml, "><skipped message=\"{message}\"/></testcase>")
            }
            Result::Error { message } => {
                let message = attribute(message);
                let start = "><error type=\"unknown\"";
                writeln!(xml, "{start} message=\"{message}\"/></testcase>")
            }
            Result::Failure {
                kind,
                message,
                text,
            } => {
                let (message, text) = (attribute(message), escape(text));
                let start = format!("><failure type=\"{kind}\" message=\"{message}\"");
                writeln!(xml, "{start}>{text}</failure></testcase>")
            }
        };
    }
}

/// The test of a document without a finding that counts.
fn whole(document: &Document) -> Case {
    Case {
        name: "no finding".to_owned(),
        place: None,
        result: match document.verdict {
            Judgement::Robust | Judgement::NoFinding => Result::Passed,
            Judgement::Violation if document.exit_code() == 0 => Result::Passed,
            Judgement::Violation if document.incomplete => undecided(document),
            Judgement::Violation => Result::Failure {
                kind: "violation",
                message: document.notes.join("; "),
                text: String::new(),
            },
            Judgement::Unknown => undecided(document),
        },
    }
}

/// The case of a test of a package: its findings are cases of their own.
fn of_test(names: &mut BTreeMap<String, u32>, test: &Tested) -> Case {
    let notes = test.notes.join("; ");
    let output = test.output.clone().unwrap_or_default();
    let failure = |kind| Result::Failure {
        kind,
        message: notes.clone(),
        text: output,
    };
    Case {
        name: unique(names, test.name.clone()),
        place: None,
        result: match test.outcome {
            TestOutcome::Ok => Result::Passed,
            TestOutcome::Failed => failure("test"),
            TestOutcome::TimedOut => failure("timeout"),
            TestOutcome::Ignored => Result::Skipped {
                message: "ignored".to_owned(),
            },
            TestOutcome::Undecided => Result::Error { message: notes },
        },
    }
}

fn undecided(document: &Document) -> Result {
    Result::Error {
        message: match document.notes.join("; ") {
            none if none.is_empty() => "undecided".to_owned(),
            notes => notes,
        },
    }
}

fn result(document: &Document, finding: &Finding) -> Result {
    let skipped = |why: &str| Result::Skipped {
        message: format!("{why}: {}", finding.message),
    };
    if finding.known {
        return skipped("known from the baseline");
    }
    if finding.in_libraries {
        return skipped("in libraries");
    }
    if !document.fails_by(finding) {
        let bar = document.fail_on.name();
        return skipped(&format!("below --fail-on {bar}"));
    }
    Result::Failure {
        kind: finding.kind.name(),
        message: finding.message.clone(),
        text: text::of_finding(document, finding),
    }
}

/// `data race in worker (queue.c)`.
fn name(finding: &Finding) -> String {
    let mut name = finding.kind.title().to_owned();
    let stack = finding.accesses.first().map(|access| &access.stack);
    let frame = stack.and_then(|stack| place_of(stack));
    let function = frame.and_then(|frame| frame.function.clone());
    let thread = finding.thread.as_ref().map(ToString::to_string);
    if let Some(inside) = function.or(thread) {
        let _ = write!(name, " in {inside}");
    }
    if let Some(place) = &finding.location {
        let _ = write!(name, " ({})", place.file);
    }
    name
}

/// The name, with a number if it stands there already.
fn unique(names: &mut BTreeMap<String, u32>, name: String) -> String {
    let number = names.entry(name.clone()).or_insert(0);
    *number += 1;
    match number {
        1 => name,
        more => format!("{name} #{more}"),
    }
}

/// Text for attributes: blanks that a reader would make spaces of are kept.
fn attribute(text: &str) -> String {
    let text = escape(text);
    text.replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Text for elements. What XML 1.0 can't have at all is shown as U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
