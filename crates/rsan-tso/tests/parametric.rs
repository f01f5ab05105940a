//! Any number of copies, against instances with few.

use rsan_crosscheck::{Profile, Random, generate};
use rsan_model::automata::Automata;
use rsan_model::{Model, Source};
use rsan_tso::{
    AllInstances, FenceSet, Limits, Translated, Verdict, all_instances, instantiate, robustness,
};
use std::path::Path;

fn template(name: &str) -> Automata {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../automata/templates");
    let path = folder.join(name);
    let text = std::fs::read_to_string(path).expect("the template is there");
    let source = Source::new(name, &*text);
    rsan_lang::parse_automata(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

fn is_robust(automata: &Automata, copies: &[usize]) -> bool {
    let instance = instantiate(automata, copies);
    match robustness(&instance, &FenceSet::default(), &Limits::default()).verdict {
        Verdict::Robust => true,
        Verdict::Violation(_) => false,
        other => panic!("{other:?}"),
    }
}

fn smallest(automata: &Automata) -> Option<Vec<usize>> {
    match all_instances(automata, &Limits::default()).0 {
        AllInstances::Robust => None,
        AllInstances::Violation(instance) => Some(instance.copies),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_templates_are_decided_for_all_instances() {
    assert_eq!(smallest(&template("spin-lock.txt")), None);
    assert_eq!(smallest(&template("ticket-lock.txt")), None);
    assert_eq!(smallest(&template("treiber-stack.txt")), None);
    assert_eq!(smallest(&template("readers-writer-lock.txt")), None);
    assert_eq!(smallest(&template("try-lock.txt")), Some(vec![1, 1]));
}

#[test]
fn what_only_a_third_thread_breaks_is_caught() {
    let automata = template("third-breaks-it.txt");
    assert!(is_robust(&automata, &[2]));
    assert_eq!(smallest(&automata), Some(vec![3]));
}

/// Random templates: an answer for all instances agrees with all instances of up to four threads.
#[test]
fn random_templates_agree_with_their_instances() {
    let count = std::env::var("RSAN_PROGRAMS").map_or(300, |n| n.parse().expect("a number"));
    let (mut robust, mut broken) = (0, 0);
    for seed in 0..count {
        let profiles = [Profile::Mix, Profile::Fences, Profile::Values];
        let profile = profiles[seed as usize % profiles.len()];
        let program = generate(&mut Random::new(seed), profile, Model::Rc20);
        let mut automata = Translated::from(&program).automata;
        automata.threads.truncate(2);
        // Additions by any number of threads have no bound; such programs are left out.
        let limits = Limits {
            memory: Some(1 << 21),
            ..Limits::default()
        };
        let found = match all_instances(&automata, &limits).0 {
            AllInstances::Robust => None,
            AllInstances::Violation(instance) => Some(instance.copies),
            AllInstances::Fault(_) | AllInstances::Unknown(_) => continue,
        };
        let size: usize = found.iter().flatten().sum();
        for first in 0..=3 {
            for second in 0..=3 {
                let copies = [first, second];
                let few = first + second <= 4 && automata.threads.len() == 2;
                if few && (found.is_none() || first + second < size) {
                    assert!(is_robust(&automata, &copies), "seed {seed} {copies:?}");
                }
            }
        }
        robust += u64::from(found.is_none());
        broken += u64::from(found.is_some());
    }
    assert!(
        robust > count / 10 && broken > count / 50,
        "{robust} {broken}"
    );
}
