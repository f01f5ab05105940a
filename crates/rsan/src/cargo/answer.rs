//! What the tests say together: a line for each, the output of those that failed, and one answer about the package.

use super::unit::Said;
use super::workers::Done;
use crate::args::{OutputFormat, ReportArgs};
use crate::sanitizer::campaign::quoted;
use crate::sanitizer::mixed;
use crate::session::{baseline, eprint, print, render};
use crate::status::Status;
use rsan_model::Model;
use rsan_report::document::{Recorded, TestOutcome, Tested};
use rsan_report::number::plural;
use rsan_report::{Command, Document, Judgement, merge};
use std::path::Path;

/// A test that the user knows.
pub(super) struct Test {
    /// `queue::spsc`
    pub(super) label: String,
    /// What stands in a command that runs only this test, after its options.
    pub(super) again: String,
    pub(super) ignored: bool,
}

/// What is known so far.
pub(super) struct Answer<'a> {
    subject: &'a str,
    report: &'a ReportArgs,
    /// The folder that the user is in.
    origin: &'a Path,
    /// Show the output of every test.
    shown: bool,
    documents: Vec<Document>,
    tests: Vec<Tested>,
    /// The user chose the schedules: what there is to say of them is wanted.
    explicit: bool,
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        subject: &'a str,
        report: &'a ReportArgs,
        origin: &'a Path,
        shown: bool,
    ) -> Self {
        Self {
            subject,
            report,
            origin,
            shown,
            documents: Vec::new(),
            tests: Vec::new(),
            explicit: false,
        }
    }

    /// Takes what came of a test over, and says it.
    pub(super) fn add(&mut self, test: &Test, done: Option<Done>) {
        let (tested, documents) = match done {
            None if test.ignored => (tested(test, TestOutcome::Ignored, Vec::new()), Vec::new()),
            None => {
                let why = vec!["interrupted".to_owned()];
                (tested(test, TestOutcome::Undecided, why), Vec::new())
            }
            Some(done) => {
                let said = done.said.as_ref();
                self.explicit |= said.is_some_and(|said| said.free.is_none());
                self.judge(test, done)
            }
        };
        self.say(&format!("test {} ... {}\n", tested.name, tested.word()));
        if let Some(output) = tested.output.as_ref().filter(|_| self.shown) {
            self.say(output);
        }
        self.documents.extend(documents);
        self.tests.push(tested);
    }

    /// Findings so far.
    pub(super) fn found(&self) -> u64 {
        self.tests.iter().map(|test| test.findings).sum()
    }

    fn judge(&self, test: &Test, done: Done) -> (Tested, Vec<Document>) {
        let Done {
            said,
            output,
            seconds,
        } = done;
        let Some(said) = said else {
            let why = output.trim().to_owned();
            let mut tested = tested(test, TestOutcome::Undecided, vec![why]);
            tested.seconds = seconds;
            return (tested, Vec::new());
        };
        let (outcome, notes) = outcome(&said);
        let mut tested = tested(test, outcome, notes);
        tested.seconds = seconds;
        let mut documents: Vec<_> = said.free.into_iter().chain(said.scheduled).collect();
        let fails_freely = documents.first().is_some_and(|first| {
            first.stats.schedules.is_none() && first.stats.failures.is_some_and(|runs| runs > 0)
        });
        for document in &mut documents {
            self.place(document, test);
            if outcome.is_failure() && !fails_freely {
                tested.notes.extend(replays(document));
            }
            document.notes.clear();
            tested.notes.extend(explored(document));
            tested.runs += document.stats.runs.unwrap_or(0);
        }
        let all = merge(documents.clone());
        let findings = all.iter().flat_map(|document| &document.findings);
        tested.findings = findings.filter(|finding| finding.counts()).count() as u64;
        let wanted = outcome.is_failure() || self.shown;
        tested.output = wanted.then_some(output).filter(|text| !text.is_empty());
        (tested, documents)
    }

    /// Makes a document one about the package, with commands that the user can give here.
    fn place(&self, document: &mut Document, test: &Test) {
        document.subject = self.subject.to_owned();
        let again = |recorded: &mut Recorded| {
            let file = Path::new(&recorded.file);
            let file = file.strip_prefix(self.origin).unwrap_or(file);
            recorded.file = file.display().to_string();
            let file = quoted(&recorded.file);
            recorded.command = format!("cargo rsan test --replay {file} {}", test.again);
        };
        for finding in &mut document.findings {
            finding.tests = vec![test.label.clone()];
            finding.recorded.iter_mut().for_each(again);
        }
        let schedules = document.stats.schedules.iter_mut();
        let failures = schedules.flat_map(|schedules| &mut schedules.failures);
        failures
            .filter_map(|failed| failed.first.as_mut())
            .for_each(again);
    }

    /// Says something while tests run, where the answer does not go.
    fn say(&self, text: &str) {
        match self.report.leaves_stdout() {
            // Whoever reads it may have had enough.
            true => drop(print(text)),
            false => eprint(text),
        }
    }

    /// Says the rest.
    pub(super) fn finish(mut self) -> Status {
        let baseline = match baseline(self.report) {
            Ok(baseline) => baseline,
            Err(status) => return status,
        };
        self.failures();
        let known = self.documents.first();
        // Only if all tests are robust are they together.
        let verdict = match known {
            Some(_) => Judgement::Robust,
            None => Judgement::NoFinding,
        };
        let model = known.map_or(Model::C20.into(), |document| document.model);
        let mut first = Document::new(Command::Run, self.subject, verdict, model);
        first.property = known.and_then(|document| document.property);
        first.stats.runs = Some(0);
        let all = std::iter::once(first).chain(std::mem::take(&mut self.documents));
        let mut documents = merge(all.collect());
        if let Some(document) = documents.first_mut() {
            if !self.explicit {
                // They are not those of all runs.
                document.stats.schedules = None;
            }
            document.notes.push(self.counts());
            document.notes.extend(self.cut());
            document.tests = std::mem::take(&mut self.tests);
            self.weigh(document);
        }
        let mut status = Status::Clean;
        for document in &mut documents {
            if let Some(baseline) = &baseline {
                baseline.apply(document);
            }
            document.fail_on = self.report.fail_on;
            status = status.and(Status::from(&*document));
        }
        if self.report.format == OutputFormat::Text {
            self.say("\n");
        }
        status.and(render(self.report.rendering(), documents, false))
    }

    /// Findings aside, the tests decide.
    fn weigh(&self, document: &mut Document) {
        let failed = |test: &&Tested| test.outcome.is_failure();
        let failures = document.tests.iter().filter(failed).count() as u64;
        let is_open = |test: &Tested| test.outcome == TestOutcome::Undecided;
        let is_open = failures > 0 || document.tests.iter().any(is_open);
        document.stats.failures = Some(failures);
        match document.verdict {
            Judgement::Violation => document.incomplete = is_open,
            Judgement::Robust | Judgement::NoFinding | Judgement::Unknown if is_open => {
                document.verdict = Judgement::Unknown;
            }
            Judgement::Unknown => document.verdict = Judgement::NoFinding,
            // What was not run is not proved.
            Judgement::Robust if document.tests.iter().any(is_left_out) => {
                document.verdict = Judgement::NoFinding;
            }
            Judgement::NoFinding | Judgement::Robust => {}
        }
    }

    /// The output of tests that failed.
    fn failures(&self) {
        if self.shown {
            return;
        }
        for test in &self.tests {
            let is_open = test.outcome.is_failure() || test.outcome == TestOutcome::Undecided;
            if !is_open && (!self.explicit || test.notes.is_empty()) {
                continue;
            }
            let notes = test.notes.iter();
            let notes: Vec<_> = notes.map(|note| format!("  {note}\n")).collect();
            self.say(&format!("\n{}:\n{}", test.name, notes.concat()));
            if let Some(output) = &test.output {
                self.say(&format!("{}\n", output.trim_end()));
            }
        }
    }

    /// That limits kept scheduled runs from saying more.
    fn cut(&self) -> Option<String> {
        let cut = self.tests.iter().filter(|test| is_cut(test)).count() as u64;
        (cut > 0 && !self.explicit)
            .then(|| format!("scheduled runs of {} reached limits", plural(cut, "test")))
    }

    /// `3 tests: 1 ok, 1 failed, 1 with findings`
    fn counts(&self) -> String {
        let count =
            |is: &dyn Fn(&Tested) -> bool| self.tests.iter().filter(|test| is(test)).count();
        let is = |outcome: TestOutcome| move |test: &Tested| test.outcome == outcome;
        let counts = [
            (count(&|test| test.word() == "ok"), "ok"),
            (count(&|test| test.outcome.is_failure()), "failed"),
            (count(&|test| test.findings > 0), "with findings"),
            (count(&is(TestOutcome::Undecided)), "undecided"),
            (count(&is(TestOutcome::Ignored)), "ignored"),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        let counts: Vec<_> = counts
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        let tests = plural(self.tests.len() as u64, "test");
        match counts.is_empty() {
            true => tests,
            false => format!("{tests}: {}", counts.join(", ")),
        }
    }
}

fn is_left_out(test: &Tested) -> bool {
    test.outcome == TestOutcome::Ignored
}

fn is_cut(test: &Tested) -> bool {
    test.notes
        .iter()
        .any(|note| note.starts_with(mixed::LIMITS))
}

fn tested(test: &Test, outcome: TestOutcome, notes: Vec<String>) -> Tested {
    Tested {
        name: test.label.clone(),
        outcome,
        findings: 0,
        runs: 0,
        seconds: 0.0,
        notes,
        output: None,
    }
}

/// How a test ended, and what there is to say of it.
pub(super) fn outcome(said: &Said) -> (TestOutcome, Vec<String>) {
    let all = || said.free.iter().chain(&said.scheduled);
    let failed = |document: &Document| document.stats.failures.is_some_and(|runs| runs > 0);
    let hangs = said.free.as_ref().and_then(|free| free.stats.timeouts);
    // What fails by itself does so in every schedule.
    let scheduled = match said.free.as_ref().is_some_and(failed) {
        true => &[],
        false => &*said.scheduled,
    };
    let noted = said.free.iter().chain(scheduled);
    let notes: Vec<_> = noted.flat_map(|document| document.notes.clone()).collect();
    let is_open =
        |document: &Document| document.verdict == Judgement::Unknown || document.incomplete;
    let outcome = match () {
        () if said.interrupted => TestOutcome::Undecided,
        () if all().any(failed) => TestOutcome::Failed,
        () if hangs.is_some_and(|runs| runs > 0) => TestOutcome::TimedOut,
        () if all().any(is_open) => TestOutcome::Undecided,
        () => TestOutcome::Ok,
    };
    (outcome, notes)
}

/// That every execution was run.
fn explored(document: &Document) -> Option<String> {
    let schedules = document.stats.schedules.as_ref()?;
    let exploration = schedules.exploration.as_ref()?;
    let executions = plural(exploration.executions, "execution");
    exploration
        .complete
        .then(|| format!("explored: all {executions}"))
}

/// How to make the runs again in which a test failed.
fn replays(document: &Document) -> Vec<String> {
    let schedules = document.stats.schedules.iter();
    let failures = schedules.flat_map(|schedules| &schedules.failures);
    let first = failures.filter_map(|failed| failed.first.as_ref());
    first
        .map(|first| format!("Replay: {}", first.command))
        .collect()
}
