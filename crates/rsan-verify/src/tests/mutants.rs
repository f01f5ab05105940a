//! Every rule is broken once, and a comparison with the oracle, or with the search as it should be, notices.

use super::{Case, decide, distances, handmade, random_cases};
use crate::Property;
use crate::mutation::{Mutant, Mutation};
use rsan_axioms::{Limits, robustness};
use rsan_crosscheck::tables::rows;
use rsan_model::Model;
use std::sync::LazyLock;

/// How a broken rule shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    /// Is the program robust and free of faults, as the oracle says?
    Robust,
    /// Is it observationally robust, as without the broken rule?
    Observational,
    /// Is it robust, as a search that keeps all numbers says?
    Distances,
}

fn question(mutant: Mutant) -> Question {
    match mutant {
        Mutant::StaleLoadLearns
        | Mutant::StaleLoadNotOrdered
        | Mutant::TaintUsable
        | Mutant::TaintStays
        | Mutant::TaintDropped => Question::Observational,
        Mutant::DriftIgnored
        | Mutant::DecreaseIgnored
        | Mutant::AnchorSinks
        | Mutant::ClosedComparison
        | Mutant::AssumedDistance
        | Mutant::LateIsNear => Question::Distances,
        _ => Question::Robust,
    }
}

/// A program with what is known about it.
struct Known {
    case: Case,
    /// By the oracle: not robust, or racy, or an assertion fails.
    faulty: bool,
    /// By a search for observational robustness: the kind of fault.
    observed: Option<&'static str>,
}

impl Known {
    fn new(case: Case) -> Option<Self> {
        let limits = Limits {
            max_graphs: 20_000,
            ..Limits::default()
        };
        let oracle = robustness(&case.program, case.model, &limits).expect("it suits the model");
        if oracle.robust && oracle.cut.is_some() {
            return None;
        }
        let (observed, _) = decide(&case, Property::Observational, Mutation::default());
        Some(Self {
            case,
            faulty: !oracle.robust || oracle.racy || oracle.assertion_failed,
            observed,
        })
    }

    fn notices(&self, question: Question, mutation: Mutation) -> bool {
        match question {
            Question::Robust => {
                let (fault, _) = decide(&self.case, Property::Robust, mutation);
                fault.is_some() != self.faulty
            }
            Question::Observational => {
                let (fault, _) = decide(&self.case, Property::Observational, mutation);
                fault != self.observed
            }
            Question::Distances => {
                let apart = Mutation {
                    one_by_one: true,
                    ..mutation
                };
                let (fault, _) = decide(&self.case, Property::Robust, apart);
                fault.is_some() != self.faulty
            }
        }
    }
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let tables = [Model::Rc20, Model::C20].into_iter().flat_map(|model| {
        rows(model.has_sc_accesses()).map(move |row| Case {
            name: format!("litmus {} {model}", row.name),
            model,
            program: row.program(),
        })
    });
    let cases = handmade::cases().chain(tables).chain(random_cases(1..40));
    cases.filter_map(Known::new).collect()
});

/// Programs with numbers that are only moved and compared, and what a search says that keeps them.
static MOVED: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let exact = Mutation {
        all_at_once: true,
        ..Mutation::default()
    };
    let known = |case: Case| Known {
        faulty: decide(&case, Property::Robust, exact).0.is_some(),
        observed: None,
        case,
    };
    let cases = distances::handmade().into_iter();
    cases
        .chain(distances::all_cases(0..40))
        .map(known)
        .collect()
});

fn notice(question: Question, mutation: Mutation) -> Option<&'static str> {
    let known = match question {
        Question::Distances => &MOVED,
        Question::Robust | Question::Observational => &KNOWN,
    };
    let first = known
        .iter()
        .find(|known| known.notices(question, mutation))?;
    Some(&first.case.name)
}

#[test]
fn every_broken_rule_is_noticed() {
    for question in [
        Question::Robust,
        Question::Observational,
        Question::Distances,
    ] {
        let noticed = notice(question, Mutation::default());
        assert_eq!(noticed, None, "there is nothing to notice: {question:?}");
    }
    let mut missed = Vec::new();
    for &mutant in Mutant::ALL {
        match notice(question(mutant), Mutation::new(mutant)) {
            Some(name) => println!("{mutant:?}: {name}"),
            None => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "nobody notices {missed:?}");
}
