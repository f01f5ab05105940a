//! The corpus under the other model of the sanitizer: `model=rc20`.

use crate::build::{Built, Done, Workshop};
use crate::corpus::{self, Entry};
use crate::{witness, workshop};
use rsan_crosscheck::{Blocking, Run};
use rsan_lang::emit::Options;
use rsan_model::Model;

fn build(workshop: &Workshop, entry: &Entry, scheduled: bool) -> Built {
    let options = Options {
        scheduled,
        ..Options::default()
    };
    let built = workshop.build(&entry.name, &entry.program, options);
    built.unwrap_or_else(|message| panic!("{message}"))
}

/// Where the models differ, the schedule of the verifier's witness against one shows a finding with that one, and
/// none with the other.
#[test]
fn the_model_decides_where_the_verdicts_differ() {
    let Some(workshop) = workshop("models") else {
        return;
    };
    let entries = corpus::entries();
    let differing = entries
        .iter()
        .filter(|entry| entry.robust_rc20.is_some_and(|rc20| rc20 != entry.robust));
    let mut count = 0;
    for entry in differing {
        let built = build(&workshop, entry, true);
        let (robust, other) = match entry.robust {
            true => (Model::C20, Model::Rc20),
            false => (Model::Rc20, Model::C20),
        };
        let witness = witness(&entry.program, other).expect("it is not robust");
        let run = Run::witnessed(&entry.program, Blocking::Loop, &witness);
        let run = run.expect("the steps of a witness are possible");
        let found = |model: Model| {
            let done = built.run_scheduled(&run, &format!("model={model}"));
            assert!(done.status.success(), "{}: {}", entry.file, done.stderr);
            done.findings.len()
        };
        assert_eq!(found(robust), 0, "{} against {robust}", entry.file);
        assert_ne!(found(other), 0, "{} against {other}", entry.file);
        count += 1;
    }
    println!("{count} programs");
    assert!(count >= 3);
}

/// A program whose threads make a seq_cst access is ended with a hint.
#[test]
fn seq_cst_accesses_are_refused_under_rc20() {
    let Some(workshop) = workshop("refused") else {
        return;
    };
    let refused = |done: &Done| {
        let last = done.findings.last();
        last.is_some_and(|line| line["kind"] == "refused")
            && done.status.code() == Some(3)
            && done.stderr.contains("use model c20, or seq_cst fences")
    };
    let mut entries = corpus::entries();
    entries.retain(|entry| entry.robust_rc20.is_none());
    let (wrong, _) = corpus::check_all(&entries, |entry| {
        let done = build(&workshop, entry, false).run_with("model=rc20");
        let wrong =
            (!refused(&done)).then(|| format!("{}: {}\n{}", entry.file, done.status, done.stderr));
        (wrong.into_iter().collect(), 0)
    });
    println!("{} programs", entries.len());
    assert!(entries.len() > 20);
    corpus::assert_none(&wrong);
}
