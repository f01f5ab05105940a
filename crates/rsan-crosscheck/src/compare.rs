//! The engines, asked the same question, and what their answers have to do with each other.
//!
//! - The oracle looks at all execution graphs and stops with the first that is not SC; the monitors and the search
//!   end a run at a race. So races and failed assertions are compared exactly when the oracle says that all graphs
//!   are SC, and else a monitor must find a weak access or a race: a program with a race may show weak
//!   behaviours only because of it, and the theorem that the monitors rest on speaks of both at once
//!   (docs/theory/races.md, D2).
//! - The monitors run side by side and must say the same at every step, in every detail.
//! - The search says what it found first; the monitors must have seen that, and it must not answer "robust" when they
//!   have seen something.
//! - Observational robustness is implied by robustness, implies safety, and when the search says that it holds,
//!   the definition must agree. The converse is not claimed: [`Answers::is_overcautious`].

use crate::interleave::{Runs, interleave};
use crate::observational;
use crate::panel::{MONITORS, Panel};
use rsan_axioms::{Limits, robustness};
use rsan_clocks::races::ScFences;
use rsan_clocks::{location_clocks, write_log};
use rsan_model::{Model, Program, Verdict};
use rsan_verify::{Options, Property, verify};

/// What the enumeration of execution graphs says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Oracle {
    /// All consistent graphs are SC.
    pub robust: bool,
    /// Some graph has a data race; meaningful if `robust`.
    pub racy: bool,
    /// An assertion fails in some graph; meaningful if `robust`.
    pub assertion_failed: bool,
    /// Observationally robust; `None` when there are too many graphs to say.
    pub observational: Option<bool>,
}

/// What the state-space search finds: the kind of fault ([`rsan_model::Fault::kind`]), or `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verifier {
    /// Verifying robustness.
    pub robust: Option<&'static str>,
    /// Verifying observational robustness.
    pub observational: Option<&'static str>,
    /// Verifying safety only.
    pub safe: Option<&'static str>,
    /// Verifying safety and the absence of deadlocks.
    pub deadlock: Option<&'static str>,
}

/// What each engine says about a program under a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answers {
    /// Enumeration of execution graphs.
    pub oracle: Oracle,
    /// The monitors over all SC runs.
    pub runs: Runs,
    /// State-space search.
    pub verifier: Verifier,
}

/// Asks every engine; `None` when the oracle finds the program too large.
pub fn compare(program: &Program, model: Model, limits: &Limits) -> Option<Answers> {
    let suits = "the program suits the model";
    let answer = robustness(program, model, limits).expect(suits);
    if answer.robust && answer.cut.is_some() {
        return None;
    }
    let observational = if answer.robust {
        Some(true)
    } else {
        observational(program, model, limits).expect(suits)
    };
    let search = |property, deadlock| {
        let options = Options {
            property,
            deadlock,
            workers: 1,
            ..Options::new(model)
        };
        let outcome = verify(program, &options, &mut |_| {}).expect(suits);
        match outcome.verdict {
            Verdict::Robust => None,
            Verdict::Violation(witness) => Some(witness.fault.kind()),
            Verdict::Unknown(reason) => panic!("small programs have an answer: {reason}"),
        }
    };
    Some(Answers {
        oracle: Oracle {
            robust: answer.robust,
            racy: answer.racy,
            assertion_failed: answer.assertion_failed,
            observational,
        },
        runs: monitors(program, model),
        verifier: Verifier {
            robust: search(Property::Robust, false),
            observational: search(Property::Observational, false),
            safe: search(Property::Safe, false),
            deadlock: search(Property::Safe, true),
        },
    })
}

/// The monitors of a model over all SC runs of a program.
fn monitors(program: &Program, model: Model) -> Runs {
    let raised = program.for_model(model);
    if model == Model::C20 {
        let panel = Panel::<location_clocks::C20, write_log::C20>::new(&raised, ScFences::Local);
        interleave(&raised, panel)
    } else {
        let fences = ScFences::Synchronise;
        let panel = Panel::<location_clocks::Rc20, write_log::Rc20>::new(&raised, fences);
        interleave(&raised, panel)
    }
}

impl Answers {
    /// Everything in which the engines contradict each other; empty when they agree.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut require = |holds: bool, what: &str| {
            if !holds {
                found.push(what.to_owned());
            }
        };
        let Self {
            oracle,
            runs,
            verifier,
        } = self;
        for (seen, name) in runs.seen.iter().zip(MONITORS) {
            let agrees = if oracle.robust {
                let assertion = oracle.racy || seen.assertion == oracle.assertion_failed;
                !seen.weak && seen.race == oracle.racy && assertion
            } else {
                seen.weak || seen.race
            };
            require(agrees, &format!("the oracle and the {name}"));
        }
        require(!runs.differ, "the monitors at some step");
        let seen = runs.seen[0];
        let supported = |found: Option<&str>| match found {
            None => true,
            // The search also looks behind races.
            Some("weak-behaviour" | "observed-weak-behaviour") => {
                seen.weak || seen.race && !oracle.robust
            }
            Some("data-race") => seen.race,
            Some("assertion") => seen.assertion,
            Some("deadlock") => runs.deadlock,
            Some(_) => false,
        };
        let unsafe_run = seen.race || seen.assertion;
        let finds =
            |found: Option<&str>, expected: bool| supported(found) && found.is_some() == expected;
        require(
            finds(verifier.robust, seen.any()),
            "the search (robust) and the monitors",
        );
        require(
            finds(verifier.safe, unsafe_run),
            "the search (safe) and the monitors",
        );
        require(
            finds(verifier.deadlock, unsafe_run || runs.deadlock),
            "the search (deadlock) and the runs",
        );
        let observational = verifier.observational;
        require(
            supported(observational) && (observational.is_some() || !unsafe_run),
            "the search (observational) and the monitors",
        );
        let missed = observational.is_none() && oracle.observational == Some(false);
        require(
            seen.race || !missed,
            "the search (observational) and the oracle",
        );
        found
    }

    /// Whether all engines agree.
    pub fn agree(&self) -> bool {
        self.contradictions().is_empty()
    }

    /// Whether something is wrong with the program: a weak behaviour, a data race or a failed assertion.
    pub fn violation(&self) -> bool {
        self.verifier.robust.is_some()
    }

    /// Whether the search finds a violation of observational robustness that is none by the definition.
    pub fn is_overcautious(&self) -> bool {
        let weak = ["weak-behaviour", "observed-weak-behaviour"];
        let found = self.verifier.observational;
        found.is_some_and(|kind| weak.contains(&kind)) && self.oracle.observational == Some(true)
    }
}
