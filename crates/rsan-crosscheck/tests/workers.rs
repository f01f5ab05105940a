//! The search gives the same answer, witness included, with any number of workers.

mod common;

use common::{assert_none, files, has_sc_accesses, read};
use rsan_crosscheck::{MODELS, Profile, Random, generate};
use rsan_model::{Model, Program};
use rsan_verify::{Options, Outcome, Property, verify};
use std::path::Path;

fn outcome(program: &Program, model: Model, property: Property, workers: usize) -> Outcome {
    let options = Options {
        property,
        workers,
        ..Options::new(model)
    };
    verify(program, &options, &mut |_| {}).expect("the program suits the model")
}

fn difference(program: &Program, model: Model, property: Property) -> Option<String> {
    let one = outcome(program, model, property, 1);
    let three = outcome(program, model, property, 3);
    let same = one.verdict == three.verdict && one.stats.states == three.stats.states;
    (!same).then(|| {
        let name = &program.name;
        format!("{name} {model} {property}: {one:#?} and, with three workers, {three:#?}")
    })
}

#[test]
fn random_programs_have_one_answer() {
    let mut wrong = Vec::new();
    for model in MODELS {
        for &profile in Profile::of(model) {
            for seed in 1..=15 {
                let program = generate(&mut Random::new(seed), profile, model);
                wrong.extend(difference(&program, model, Property::Robust));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn larger_programs_have_one_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus/locks");
    let mut wrong = Vec::new();
    for path in files(&folder) {
        let (program, _) = read(&path);
        if !has_sc_accesses(&program) {
            wrong.extend(difference(&program, Model::Rc20, Property::Observational));
        }
        wrong.extend(difference(&program, Model::C20, Property::Robust));
    }
    assert_none(&wrong);
}
