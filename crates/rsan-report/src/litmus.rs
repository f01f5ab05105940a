//! The final states of a litmus test, shown the way herd and litmus7 show them.
//!
//! A state's line is litmus7's: the number of executions that end in it, `*>` when it satisfies the formula of the
//! condition and `:>` when it does not, then the values. `Positive` counts the executions that speak for the
//! condition as written: for `~exists` those that do not satisfy the formula.

use crate::condition::{self, name, quantifier};
use crate::describe;
use crate::json::{ConditionDoc, Document, FindingDoc, LitmusDoc, StateDoc, StatsDoc};
use crate::judgement::Judgement;
use crate::number::plural;
use crate::style::{Role, Style};
use rsan_model::{Condition, Model, Observable, Pc, Program, Quantifier, Reason, ThreadId, Value};
use std::fmt::Write;
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
    /// The command that asked.
    pub command: &'a str,
    /// The input as the user named it.
    pub subject: &'a str,
    /// The program in it.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
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
        let (found, when_found) = match &self.program.condition {
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

    /// Whether a data race leaves the program without a meaning: in the models of C and C++ it does, in those of
    /// interleaving and of the x86 a racy access is an access like any other.
    fn undefined(&self) -> bool {
        match self.model {
            Model::Sc | Model::Tso => false,
            Model::Ra | Model::Rc20 | Model::C20 | Model::Rc11 => self.data_race,
        }
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
        let condition = self.program.condition.as_ref()?;
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
            let effect = match (self.answer(), &self.program.condition) {
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
                "the assertion of {}{} fails in some execution",
                self.program.threads[thread.index()].name,
                describe::at(self.program, describe::span(self.program, thread, pc))
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

/// The text of one test.
pub fn litmus_text(litmus: &Litmus<'_>, style: Style) -> String {
    let name = &litmus.program.name;
    let condition = litmus.program.condition.as_ref();
    let kind = match condition.map(|c| c.quantifier) {
        None => "",
        Some(Quantifier::Exists) => " Allowed",
        Some(Quantifier::NotExists) => " Forbidden",
        Some(Quantifier::Forall) => " Required",
    };
    let mut out = style.paint(Role::Strong, &format!("Test {name}{kind}"));
    let _ = writeln!(out, "\nStates {}", litmus.finals.len());
    let width = litmus
        .finals
        .iter()
        .map(|f| f.executions.to_string().len())
        .max()
        .unwrap_or(1);
    for state in litmus.finals {
        let sign = if litmus.satisfies(state) == Some(true) {
            '*'
        } else {
            ':'
        };
        let _ = writeln!(
            out,
            "{:<width$} {sign}>{}",
            state.executions,
            values(litmus, state)
        );
    }
    if let Some(condition) = condition {
        verdict(&mut out, litmus, condition, style);
    }
    for note in litmus.notes() {
        let _ = writeln!(out, "{} {note}", style.paint(Role::Undecided, "Note"));
    }
    let _ = writeln!(out, "Time {name} {:.2}", litmus.elapsed.as_secs_f64());
    out
}

fn verdict(out: &mut String, litmus: &Litmus<'_>, condition: &Condition, style: Style) {
    let (role, word) = match (litmus.answer(), litmus.undefined()) {
        (Answer::Holds, _) => (Role::Good, "Ok"),
        (Answer::Fails, _) => (Role::Bad, "No"),
        (Answer::Undecided, true) => (Role::Undecided, "Undef"),
        (Answer::Undecided, false) => (Role::Undecided, "Unknown"),
    };
    let (yes, no) = litmus.tally();
    let (positive, negative) = match condition.quantifier {
        Quantifier::NotExists => (no, yes),
        Quantifier::Exists | Quantifier::Forall => (yes, no),
    };
    let name = &litmus.program.name;
    let _ = writeln!(out, "{}", style.paint(role, word));
    let _ = writeln!(out, "Witnesses\nPositive: {positive} Negative: {negative}");
    let _ = writeln!(
        out,
        "Condition {}",
        condition::condition(litmus.program, condition)
    );
    let _ = writeln!(
        out,
        "Observation {name} {} {yes} {no}",
        litmus.observation()
    );
}

fn values(litmus: &Litmus<'_>, state: &Final) -> String {
    let mut out = String::new();
    for (&observable, value) in litmus.observables.iter().zip(&state.values) {
        let _ = write!(out, "{}={value}; ", name(litmus.program, observable));
    }
    out.trim_end().to_owned()
}

/// The document of one test.
pub fn litmus_document(litmus: &Litmus<'_>) -> Document {
    let answer = litmus.answer();
    let cut_at = match litmus.incomplete {
        Some(Reason::LoopBound(n)) => Some(*n),
        _ => None,
    };
    let states = litmus.finals.iter().map(|state| StateDoc {
        values: litmus
            .observables
            .iter()
            .zip(&state.values)
            .map(|(&o, &v)| (name(litmus.program, o), v))
            .collect(),
        executions: state.executions,
        satisfies: litmus.satisfies(state),
    });
    let reason = litmus.notes().join("; ");
    Document {
        model: litmus.model.name(),
        reason: (!reason.is_empty()).then_some(reason),
        litmus: Some(LitmusDoc {
            name: litmus.program.name.clone(),
            condition: condition_doc(litmus, answer),
            states: states.collect(),
            data_race: litmus.data_race,
            cut_at,
        }),
        findings: findings(litmus, answer),
        stats: StatsDoc {
            executions: Some(litmus.executions()),
            seconds: litmus.elapsed.as_secs_f64(),
            ..StatsDoc::default()
        },
        ..Document::empty(litmus.command, litmus.subject, answer.into())
    }
}

fn condition_doc(litmus: &Litmus<'_>, answer: Answer) -> Option<ConditionDoc> {
    let (satisfied, unsatisfied) = litmus.tally();
    litmus
        .program
        .condition
        .as_ref()
        .map(|condition| ConditionDoc {
            quantifier: quantifier(condition.quantifier),
            text: condition::condition(litmus.program, condition),
            holds: match answer {
                Answer::Holds => Some(true),
                Answer::Fails => Some(false),
                Answer::Undecided => None,
            },
            satisfied,
            unsatisfied,
            observation: litmus.observation(),
        })
}

fn findings(litmus: &Litmus<'_>, answer: Answer) -> Vec<FindingDoc> {
    let condition = litmus.program.condition.as_ref();
    let Some(condition) = condition.filter(|_| answer == Answer::Fails) else {
        return vec![];
    };
    vec![FindingDoc {
        kind: "condition",
        property: "condition",
        message: format!(
            "`{}` does not hold under {}",
            condition::condition(litmus.program, condition),
            litmus.model
        ),
        thread: None,
        location: None,
        related: vec![],
        stale: None,
        schedule: vec![],
        cycle: vec![],
        graph: None,
    }]
}
