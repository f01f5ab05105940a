//! The answer about a litmus test: its final states, and whether its condition holds.

use crate::condition::{self, quantifier};
use crate::document::Rules;
use crate::document::{self, Command, Document, FinalState, Finding, Kind, LitmusAnswer, Severity};
use crate::judgement::Judgement;
use crate::number::plural;
use crate::test::Test;
use rsan_model::{Observable, Pc, Quantifier, Reason, ThreadId, Value};
use std::time::Duration;

/// A final state and the number of consistent executions that end in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Final {
    /// One value for each of [`Litmus::observables`].
    pub values: Vec<Value>,
    /// How many executions end in it.
    pub executions: u64,
}

/// The final states of one test under one model.
#[derive(Clone, Copy, Debug)]
pub struct Litmus<'a> {
    /// The input as the user named it.
    pub subject: &'a str,
    /// The test in it.
    pub program: &'a dyn Test,
    /// The memory model.
    pub model: Rules,
    /// What a C test was compiled for.
    pub arch: Option<&'a str>,
    /// What is observed at the end, in the order in which it is shown.
    pub observables: &'a [Observable],
    /// The final states, sorted.
    pub finals: &'a [Final],
    /// The executions shown are not all: why.
    pub incomplete: Option<&'a Reason>,
    /// Number of executions in which some thread waits for ever; they have no final state.
    pub blocked: u64,
    /// Number of executions that stop at a failed assertion or a trap; they have no final state either.
    pub failed: u64,
    /// Whether some consistent execution has a data race.
    pub data_race: bool,
    /// The assertions that fail in some execution.
    pub failed_asserts: &'a [(ThreadId, Pc)],
    /// Time.
    pub elapsed: Duration,
}

/// Whether the condition holds as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It does; where there is none, no assertion fails.
    Holds,
    /// It does not.
    Fails,
    /// What was enumerated does not settle it.
    Undecided,
}

impl From<Answer> for Judgement {
    /// A condition that holds says nothing of robustness.
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Holds => Self::NoFinding,
            Answer::Fails => Self::Violation,
            Answer::Undecided => Self::Unknown,
        }
    }
}

impl Litmus<'_> {
    /// Whether the condition holds as written; assertions take the place of a missing one. What was found stays
    /// found, so a state settles `exists` and refutes the others, and an assertion fails, even when executions
    /// are missing; everything else needs them all. Undefined behaviour leaves only what was found.
    pub fn answer(&self) -> Answer {
        let (found, when_found) = match self.program.condition() {
            None => (!self.failed_asserts.is_empty(), Answer::Fails),
            Some(condition) => {
                let (yes, no) = self.tally();
                match condition.quantifier {
                    Quantifier::Exists => (yes > 0, Answer::Holds),
                    Quantifier::NotExists => (yes > 0, Answer::Fails),
                    Quantifier::Forall => (no > 0, Answer::Fails),
                }
            }
        };
        let partial = self.incomplete.is_some() || self.undefined();
        match (found, partial, when_found) {
            (true, _, answer) => answer,
            (false, true, _) => Answer::Undecided,
            (false, false, Answer::Holds) => Answer::Fails,
            (false, false, Answer::Fails | Answer::Undecided) => Answer::Holds,
        }
    }

    /// Whether a data race leaves the program without a meaning.
    fn undefined(&self) -> bool {
        self.data_race && self.model.has_undefined_behaviour()
    }

    /// Executions that satisfy the formula of the condition, and that do not.
    fn tally(&self) -> (u64, u64) {
        let mut tally = (0, 0);
        for state in self.finals {
            match self.satisfies(state) {
                Some(true) => tally.0 += state.executions,
                Some(false) => tally.1 += state.executions,
                None => {}
            }
        }
        tally
    }

    fn satisfies(&self, state: &Final) -> Option<bool> {
        let condition = self.program.condition()?;
        let value = |o: Observable| {
            let position = self.observables.iter().position(|&other| other == o);
            position.map_or(0, |i| state.values[i])
        };
        Some(condition.prop.holds(&value))
    }

    fn observation(&self) -> &'static str {
        match self.tally() {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    fn executions(&self) -> u64 {
        self.finals.iter().map(|f| f.executions).sum()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(reason) = self.incomplete {
            let effect = match (self.answer(), self.program.condition()) {
                (Answer::Undecided, _) => "states may be missing, so the answer is open",
                (_, Some(_)) => "states may be missing, but the condition is already decided",
                (_, None) => "states may be missing",
            };
            notes.push(format!("{reason}: {effect}"));
        }
        if self.undefined() {
            notes.push(format!(
                "some execution has a data race, so under {} the program may do anything",
                self.model
            ));
        } else if self.data_race {
            notes.push("some execution has a data race".to_owned());
        }
        for &(thread, pc) in self.failed_asserts {
            notes.push(format!(
                "the assertion of {} fails in some execution",
                self.program.place(thread, pc)
            ));
        }
        if self.blocked > 0 {
            notes.push(format!(
                "{} without a final state: a thread waits for ever",
                plural(self.blocked, "execution")
            ));
        }
        if self.failed > 0 {
            notes.push(format!(
                "{} without a final state: a thread stops at an assertion or an expression without a value",
                plural(self.failed, "execution")
            ));
        }
        notes
    }
}

/// The document of one test.
pub fn litmus_document(litmus: &Litmus<'_>) -> Document {
    let answer = litmus.answer();
    let program = litmus.program;
    let cut_at = match litmus.incomplete {
        Some(Reason::LoopBound(n)) => Some(*n),
        _ => None,
    };
    let names = litmus.observables.iter().map(|&o| program.observable(o));
    let names: Vec<String> = names.collect();
    let states = litmus.finals.iter().map(|state| FinalState {
        values: names
            .iter()
            .cloned()
            .zip(state.values.iter().copied())
            .collect(),
        addresses: names
            .iter()
            .zip(&state.values)
            .filter_map(|(name, &value)| {
                Some((name.clone(), program.location_at(value)?.to_owned()))
            })
            .collect(),
        executions: state.executions,
        satisfies: litmus.satisfies(state),
    });
    let states = states.collect();
    let mut document = Document::new(Command::Litmus, litmus.subject, answer.into(), litmus.model);
    document.notes = litmus.notes();
    document.litmus = Some(LitmusAnswer {
        name: program.name().to_owned(),
        arch: litmus.arch.map(str::to_owned),
        condition: condition_document(litmus, answer),
        observed: names,
        states,
        data_race: litmus.data_race,
        cut_at,
    });
    document.findings.extend(finding(litmus, answer));
    document.stats.executions = Some(litmus.executions());
    document.stats.seconds = litmus.elapsed.as_secs_f64();
    document
}

fn condition_document(litmus: &Litmus<'_>, answer: Answer) -> Option<document::Condition> {
    let (satisfied, unsatisfied) = litmus.tally();
    let condition = litmus.program.condition();
    condition.map(|condition| document::Condition {
        quantifier: quantifier(condition.quantifier).to_owned(),
        text: condition::condition(litmus.program, condition),
        holds: match answer {
            Answer::Holds => Some(true),
            Answer::Fails => Some(false),
            Answer::Undecided => None,
        },
        satisfied,
        unsatisfied,
        observation: litmus.observation().to_owned(),
    })
}

fn finding(litmus: &Litmus<'_>, answer: Answer) -> Option<Finding> {
    let condition = litmus.program.condition();
    let condition = condition.filter(|_| answer == Answer::Fails)?;
    let text = condition::condition(litmus.program, condition);
    let message = format!("`{text}` does not hold under {}", litmus.model);
    Some(Finding::new(Kind::Condition, Severity::Error, message))
}
