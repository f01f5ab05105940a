//! The corpus with waits and blocking compare-and-swaps of `rsan.h`: to the sanitizer each is one access, as in the model.

use crate::build::schedule;
use crate::corpus::{self, Entry, check_all, extended};
use crate::{LENGTH, compare, workshop};
use rsan_crosscheck::{Blocking, POLL, Random, Run};
use rsan_lang::emit::{self, Options};

const ANNOTATED: Options = Options {
    scheduled: false,
    annotated: true,
};

/// Whether a program has such an instruction.
pub(crate) fn is_annotated(entry: &Entry) -> bool {
    let text = emit::print(&entry.program, ANNOTATED);
    text.is_ok_and(|text| text.contains("#include <rsan.h>"))
}

fn entries() -> Vec<Entry> {
    corpus::entries().into_iter().filter(is_annotated).collect()
}

/// Those that are robust have no finding, also where a loop that looks in vain would be half of a store buffering.
#[test]
fn free_runs_of_annotated_programs_are_clean() {
    let Some(workshop) = workshop("annotated-free") else {
        return;
    };
    let runs = if extended() { 20 } else { 3 };
    let mut entries = entries();
    entries.retain(|entry| entry.robust);
    let (alarms, _) = check_all(&entries, |entry| {
        (crate::alarms(&workshop, entry, ANNOTATED, runs), 0)
    });
    println!("{} robust programs, {runs} runs each", entries.len());
    assert!(entries.len() > 30);
    corpus::assert_none(&alarms);
}

/// A run in which nobody looks in vain.
fn without_polls<'p>(program: &'p rsan_model::Program, seed: u64) -> Run<'p> {
    let mut random = Random::new(seed);
    let mut run = Run::new(program, Blocking::Whole, LENGTH, |_, possible| {
        let ready = possible.iter().filter(|step| step.way != POLL).count();
        // The steps in vain stand last; if there are no others, the run is cut here.
        if ready == 0 { 0 } else { random.below(ready) }
    });
    let end = run.steps.iter().position(|step| step.way == POLL);
    run.steps.truncate(end.unwrap_or(run.steps.len()));
    run.again(program, Blocking::Whole)
}

#[test]
fn scheduled_runs_of_annotated_programs_find_what_the_monitor_finds() {
    let Some(workshop) = workshop("annotated-scheduled") else {
        return;
    };
    let options = Options {
        scheduled: true,
        ..ANNOTATED
    };
    let seeds = if extended() { 50 } else { 4 };
    let (wrong, found) = check_all(&entries(), |entry| {
        let program = corpus::with_everything_observed(&entry.program);
        let built = match workshop.build(&entry.name, &program, options) {
            Ok(built) => built,
            Err(message) => return (vec![message], 0),
        };
        let (mut wrong, mut found) = (Vec::new(), 0);
        for seed in 0..seeds {
            let run = without_polls(&program, seed);
            found += usize::from(!run.findings.is_empty());
            let done = built.run_scheduled(&run, "probes=0");
            let what = compare::differences(&program, &run, &done);
            if !what.is_empty() {
                let (file, steps) = (&entry.file, schedule(&run));
                let what = what.join("; ");
                wrong.push(format!("{file} RSAN_SCHEDULE=\"{steps}\": {what}"));
            }
        }
        (wrong, found)
    });
    println!("{found} runs with findings");
    assert!(found > 0);
    corpus::assert_none(&wrong);
}
