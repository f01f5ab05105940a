//! Every rule is broken once, and some test notices.

use super::explore::compare_everywhere;
use super::forms::{Demand, UNPRUNED, Variant, queries};
use super::handmade::{PROGRAMS, SEQUENCES, run_sequence};
use super::litmus;
use super::long_runs::{EXACT, FORCED, Shape, long_run};
use super::program::Program;
use super::random_programs::random_program;
use crate::mutation::{Mutant, Part};
use crate::write_log::Options;
use rsan_model::Model;

/// Which test notices that the subject differs from the reference, if one does.
fn noticed_by_programs(reference: Variant, subject: Variant) -> Option<String> {
    let subjects = [(Demand::Equal, subject)];
    let differs = |program: &Program| compare_everywhere(program, reference, &subjects).is_err();
    for (name, text) in PROGRAMS {
        if differs(&Program::parse(text)) {
            return Some(format!("hand-made program {name}"));
        }
    }
    let seed = (0..15).find(|&seed| differs(&random_program(seed)))?;
    Some(format!("random program {seed}"))
}

fn noticed_by_runs(
    count: u64,
    shape: Shape,
    reference: Variant,
    demand: Demand,
    subject: Variant,
) -> Option<u64> {
    let subjects = [(demand, subject)];
    let queries = queries();
    (0..count).find(|&seed| long_run(seed, shape, reference, &subjects, &queries).is_err())
}

fn log_mutant_noticed(mutant: Option<Mutant>) -> Option<String> {
    let reference = Variant::clocks(Model::C20);
    let broken = |options| Variant {
        mutant,
        ..Variant::log(Model::C20, options)
    };
    let exact = broken(Options::default());
    let forced = broken(Options {
        slots: Some(3),
        ..Options::default()
    });
    for (name, steps) in SEQUENCES {
        let subjects = [(Demand::Equal, exact), (Demand::NoFalseAlarm, forced)];
        if run_sequence(steps, reference, &subjects).is_err() {
            return Some(format!("hand-made sequence {name}"));
        }
    }
    noticed_by_programs(reference, exact)
        .or_else(|| {
            let seed = noticed_by_runs(20, EXACT, reference, Demand::Equal, exact)?;
            Some(format!("long run {seed}"))
        })
        .or_else(|| {
            let seed = noticed_by_runs(20, FORCED, reference, Demand::NoFalseAlarm, forced)?;
            Some(format!("long run {seed} with forced reuse"))
        })
}

fn rc20_mutant_noticed(mutant: Option<Mutant>) -> Option<String> {
    let broken = Variant {
        mutant,
        ..Variant::clocks(Model::Rc20)
    };
    let subjects = [(Demand::Equal, broken)];
    let reference = Variant::log(Model::Rc20, UNPRUNED);
    let differs = |text| compare_everywhere(&Program::parse(text), reference, &subjects).is_err();
    let name = litmus::rc20_rows().find_map(|[name, _, text]| differs(text).then_some(name))?;
    Some(format!("litmus {name}"))
}

fn c20_mutant_noticed(mutant: Option<Mutant>) -> Option<String> {
    let broken = Variant {
        mutant,
        ..Variant::clocks(Model::C20)
    };
    noticed_by_programs(Variant::declared(Model::C20), broken)
}

/// Breaks the rules of one part, one after the other.
fn all_noticed(part: Part, notice: fn(Option<Mutant>) -> Option<String>) {
    assert_eq!(notice(None), None, "there is nothing to notice");
    let mut missed = Vec::new();
    for &mutant in Mutant::ALL.iter().filter(|mutant| mutant.part() == part) {
        match notice(Some(mutant)) {
            Some(test) => println!("{mutant:?}: {test}"),
            None => missed.push(mutant),
        }
    }
    assert!(missed.is_empty(), "nobody notices {missed:?}");
}

#[test]
fn every_broken_rule_of_the_write_log_is_noticed() {
    all_noticed(Part::WriteLog, log_mutant_noticed);
}

#[test]
fn every_broken_rule_of_the_rc20_clocks_is_noticed() {
    all_noticed(Part::Rc20Clocks, rc20_mutant_noticed);
}

#[test]
fn every_broken_rule_of_the_c20_clocks_is_noticed() {
    all_noticed(Part::C20Clocks, c20_mutant_noticed);
}
