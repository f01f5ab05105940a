//! `rsan explore`: what weak executions show, how it is told, kept, replayed and made smaller.

use crate::common::{Run, blank_times, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::path::Path;

/// A folder of the test's own with the program, built.
fn built(test: &str) -> String {
    let folder = scratch(&format!("explore-{test}"));
    let _ = std::fs::remove_dir_all(Path::new(&folder).join("rsan-out"));
    let words = ["cc", "--rsan-as-written", "-g", "-pthread", "-o", "cases"];
    compile(&folder, &[&words[..], &[&data("explore/cases.c")]].concat());
    folder
}

fn line(folder: &str, line: &str) -> Run {
    run_in(folder, &line.split(' ').collect::<Vec<_>>())
}

#[track_caller]
fn says(run: &Run, part: &str) {
    let (stdout, stderr) = (&run.stdout, &run.stderr);
    assert!(stdout.contains(part), "no {part:?} in {stdout}{stderr}");
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("a document")
}

fn timeless(run: &Run) -> String {
    blank_times(&run.stdout)
}

/// The kinds of the findings.
fn kinds(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().expect("findings");
    let kinds = findings.iter().map(|finding| finding["kind"].as_str());
    kinds.map(|kind| kind.expect("a kind")).collect()
}

fn schedule(folder: &str, name: &str) -> String {
    let file = Path::new(folder).join("rsan-out").join(name);
    std::fs::read_to_string(file).expect("a schedule")
}

const MISSED: &str = "thread 2 reads the initial value 0 of `data` at ";

#[test]
fn a_stale_read_is_told_and_the_run_is_made_again() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("message");
    let campaign = "--strategy random --runs 300 -- ./cases message";
    let first = line(&folder, &format!("explore {campaign}"));
    assert_eq!(first.code, 1, "{}{}", first.stdout, first.stderr);
    says(&first, &MISSED.replace("thread", "Thread"));
    says(&first, "error: assertion fails at ");
    says(&first, "fails in thread 2");
    says(&first, "The assertion `load(&data) == 42` fails");
    says(&first, "although thread 1 has stored 42 at ");
    says(
        &first,
        "Only with weak memory: this execution is not sequentially consistent",
    );
    says(
        &first,
        "Replay: rsan explore --replay rsan-out/weak-1.sched -- ./cases message",
    );
    // The same again, whatever the number of servers.
    for jobs in ["1", "3"] {
        let again = line(&folder, &format!("explore --jobs {jobs} {campaign}"));
        assert_eq!(timeless(&again), timeless(&first));
    }
    let kept = schedule(&folder, "weak-1.sched");
    assert!(kept.contains("@memory weak\n"), "{kept}");
    assert_eq!(
        kept.matches('<').count(),
        1,
        "one stale read is enough: {kept}"
    );
    for command in ["explore", "run"] {
        let replay = "--runs 100 --replay rsan-out/weak-1.sched -- ./cases message";
        let replayed = line(&folder, &format!("{command} {replay}"));
        assert_eq!(replayed.code, 1, "{}", replayed.stderr);
        says(&replayed, "; reproduced in 100 of 100 runs\n");
        says(&replayed, &MISSED.replace("thread", "Thread"));
    }
}

#[test]
fn the_cycle_is_part_of_the_answer() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("cycle");
    let campaign = "explore --format json --strategy random --runs 300 -- ./cases";
    let run = line(&folder, campaign);
    let document = json(&run);
    assert_eq!((run.code, kinds(&document)), (1, vec!["failure"]));
    let finding = &document["findings"][0];
    assert_eq!(finding["message"], "the program ends with exit status 3");
    assert_eq!(finding["severity"], "error");
    let execution = &finding["execution"];
    let edges = execution["cycle"].as_array().expect("a cycle").iter();
    let edges: Vec<_> = edges.filter_map(|edge| edge["edge"].as_str()).collect();
    assert_eq!(edges, ["po", "fr", "po", "fr"], "{execution}");
    assert!(execution["stale"]["access"].is_number(), "{execution}");
    assert_eq!(document["command"], "explore");
    assert_eq!(document["stats"]["failures"], 0);
}

#[test]
fn crashes_are_findings() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("pointer");
    let run = line(
        &folder,
        "explore --strategy random --runs 300 --format json -- ./cases pointer",
    );
    let document = json(&run);
    assert_eq!(
        (run.code, kinds(&document)),
        (1, vec!["crash"]),
        "{}",
        run.stdout
    );
    let because = document["findings"][0]["because"].to_string();
    assert!(
        because.contains("reads the initial value 0 of `pointer`"),
        "{because}"
    );
}

#[test]
fn runs_that_do_not_end_are_findings() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("endless");
    let options = "--strategy random --runs 100 --max-steps 500";
    let run = line(&folder, &format!("explore {options} -- ./cases endless"));
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    says(&run, "error: hang\n");
    says(
        &run,
        "The program has not ended after 500 steps, a sequentially consistent run ends after ",
    );
    let replay = "explore --max-steps 500 --replay rsan-out/weak-1.sched -- ./cases endless";
    says(&line(&folder, replay), "; reproduced\n");
}

#[test]
fn what_interleavings_show_is_told_apart() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("adds");
    let run = line(
        &folder,
        "explore --strategy random --runs 100 -- ./cases adds",
    );
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    says(&run, "The program ends with exit status 4");
    says(
        &run,
        "Also without weak memory: this execution is sequentially consistent",
    );
}

#[test]
fn a_program_that_fails_by_itself_has_no_finding() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("fails");
    let run = line(&folder, "explore --runs 20 -- ./cases fails");
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    says(&run, "the program failed in 20 of 20 runs: exit status 5");
    let replayed = line(
        &folder,
        "explore --replay rsan-out/failure-1.sched -- ./cases fails",
    );
    assert_eq!(replayed.code, 4, "{}", replayed.stdout);
    says(&replayed, "; reproduced");
}

#[test]
fn stale_reads_that_do_not_matter_are_left_out() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("noise");
    let run = line(
        &folder,
        "explore --strategy random --runs 400 -- ./cases noise",
    );
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert_eq!(schedule(&folder, "weak-1.sched").matches('<').count(), 1);
    // A longer one by hand.
    let noisy = "rsan schedule 1\n@memory weak\nT0: spawn\nT1: begin store*7 end\nT0: spawn\nT2: begin load<initial load<T1.2*5 load load<initial\n";
    let file = Path::new(&folder).join("noisy.sched");
    std::fs::write(&file, noisy).expect("a file");
    let replayed = line(
        &folder,
        "explore --minimize --replay noisy.sched -- ./cases noise",
    );
    assert_eq!(replayed.code, 1, "{}{}", replayed.stdout, replayed.stderr);
    says(
        &replayed,
        "minimized from 7 to 1 stale reads and from 3 to ",
    );
    let again = line(&folder, "explore --replay noisy.min.sched -- ./cases noise");
    says(&again, "; reproduced");
    // What cannot be read there is said.
    let file = Path::new(&folder).join("wrong.sched");
    std::fs::write(&file, noisy.replace("load<T1.2*5", "load<T1.9*5")).expect("a file");
    let wrong = line(&folder, "explore --replay wrong.sched -- ./cases noise");
    assert_eq!(wrong.code, 3, "{}{}", wrong.stdout, wrong.stderr);
    says(&wrong, "the run left the schedule at step 14");
}

#[test]
fn files_are_compiled() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("explore-files");
    let source = data("explore/cases.c");
    let run = run_in(
        &folder,
        &[
            "explore",
            "--runs",
            "300",
            "--halt-on-error",
            &source,
            "--",
            "message",
        ],
    );
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    says(&run, "; ended at the first finding");
    says(
        &run,
        &format!("Replay: rsan explore --replay rsan-out/weak-1.sched {source} -- message"),
    );
    let replay = [
        "check",
        "--replay",
        "rsan-out/weak-1.sched",
        &source,
        "--",
        "message",
    ];
    let replayed = run_in(&folder, &replay);
    assert_eq!(replayed.code, 1, "{}{}", replayed.stdout, replayed.stderr);
    says(&replayed, "; reproduced");
}

#[test]
fn wrong_usage_is_refused() {
    let folder = scratch("explore-usage");
    let cases = [
        (
            "explore",
            "a file to compile, or `--` and a program, is missing",
        ),
        (
            "explore a.litmus",
            "only C, C++ and Rust files are explored",
        ),
        (
            "explore -O2 -- ./cases",
            "flags of the compiler are for C and C++ files",
        ),
        (
            "explore --strategy luck -- ./cases",
            "no strategy is called `luck`",
        ),
        (
            "explore --volatile atomic -- ./cases",
            "there are relaxed, acqrel and plain",
        ),
        ("explore -- ./nothing", "there is no such program"),
        ("explore --replay none.sched -- ./cases", "none.sched: "),
    ];
    for (words, error) in cases {
        let run = line(&folder, words);
        assert_eq!(run.code, 2, "{words}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(error), "{words}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words}");
    }
}
