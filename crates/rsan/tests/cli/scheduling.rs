//! Controlled scheduling: campaigns, replay, minimisation, and what becomes of runs that fail.

use crate::common::{Run, blank_times, rsan, scratch};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder of the test's own with the program, built.
fn built(test: &str, program: &str) -> String {
    let folder = scratch(&format!("scheduling-{test}"));
    // What another build of the test left.
    let _ = std::fs::remove_dir_all(Path::new(&folder).join("rsan-out"));
    build(&folder, program);
    folder
}

fn build(folder: &str, program: &str) {
    let source = data(&format!("scheduled/{program}.c"));
    compile(
        folder,
        &["cc", "-g", "-O1", "-pthread", "-o", program, &source],
    );
}

/// Runs the command with the words of a line.
fn run_line(folder: &str, line: &str) -> Run {
    run_in(folder, &line.split(' ').collect::<Vec<_>>())
}

#[track_caller]
fn says(run: &Run, part: &str) {
    assert!(
        run.stdout.contains(part),
        "no {part:?} in {}{}",
        run.stdout,
        run.stderr
    );
}

/// The output without what a clock decides.
fn timeless(run: &Run) -> String {
    let text = blank_times(&run.stdout);
    let times = |line: &&str| !line.contains("runs_per_second") && !line.contains("\"seconds\"");
    text.lines().filter(times).collect::<Vec<_>>().join("\n")
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("a document")
}

/// The function has returned in some executions only.
#[test]
fn memory_of_a_function_that_has_returned_is_found() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("returned", "returned");
    let run = run_line(&folder, "run --exhaustive --format json -- ./returned");
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    let document = json(&run);
    let findings = document["findings"].as_array().expect("findings");
    let kinds: Vec<_> = findings.iter().filter_map(|f| f["kind"].as_str()).collect();
    assert_eq!(kinds, ["use-after-return"], "{}", run.stdout);
    let message = findings[0]["message"].as_str().expect("a message");
    assert!(
        message.ends_with("comes after the end of the function"),
        "{message}"
    );
}

#[test]
fn a_campaign_finds_what_needs_a_schedule_and_says_how_to_see_it_again() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("campaign", "seqlock");
    let campaign = "--sched pct --runs 200 -- ./seqlock";
    let first = run_line(&folder, &format!("run {campaign}"));
    assert_eq!(first.code, 1, "{}{}", first.stdout, first.stderr);
    let sentence = "Thread 2 may read 2 from `sequence` although thread 1's store at";
    says(&first, sentence);
    says(&first, "schedules: pct:depth=3, seeds 1 to 200; ");
    // The same again, whatever the number of servers.
    for jobs in ["1", "3"] {
        let again = run_line(&folder, &format!("run --jobs {jobs} {campaign}"));
        assert_eq!(timeless(&again), timeless(&first));
        let line = format!("run --format json --jobs {jobs} {campaign}");
        let document = json(&run_line(&folder, &line));
        let stats = &document["stats"]["schedules"];
        assert_eq!(stats["strategy"], "pct:depth=3");
        assert_eq!(
            document["findings"][0]["recorded"]["file"],
            "rsan-out/violation-1.sched"
        );
    }
    let last = first.stdout.lines().rev();
    let commands = last.filter_map(|line| line.trim_start().strip_prefix("= Replay: rsan "));
    for command in commands {
        let mut words: Vec<_> = command.split(' ').collect();
        words.splice(1..1, ["--runs", "100"]);
        let replayed = run_in(&folder, &words);
        assert_eq!(replayed.code, 1, "{}", replayed.stderr);
        says(&replayed, "; reproduced in 100 of 100 runs\n");
    }
    // Also in another build of the same source.
    build(&folder, "seqlock");
    let replayed = run_line(
        &folder,
        "run --replay rsan-out/violation-1.sched -- ./seqlock",
    );
    assert!(
        replayed.stdout.contains("\n./seqlock: ") && replayed.stdout.contains("; reproduced\n"),
        "{}",
        replayed.stdout
    );
}

#[test]
fn every_strategy_finds_a_violation_of_one_switch() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("scheduling-strategies");
    let source = data("scheduled/sb.c");
    for strategy in ["random", "pct:depth=2", "pos"] {
        let run = run_in(
            &folder,
            &["check", "-v", "--sched", strategy, "--runs", "50", &source],
        );
        assert_eq!(run.code, 1, "{strategy}: {}{}", run.stdout, run.stderr);
        let again = format!("rsan check --replay rsan-out/violation-1.sched {source}\n");
        says(&run, &again);
    }
    let halted = run_in(
        &folder,
        &[
            "check",
            "--sched",
            "random",
            "--halt-on-error",
            "--jobs",
            "2",
            &source,
        ],
    );
    says(&halted, "ended at the first finding");
    let again = run_in(
        &folder,
        &["check", "--replay", "rsan-out/violation-1.sched", &source],
    );
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    says(&again, "; reproduced\n");
}

#[test]
fn schedules_are_minimised() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("minimise", "sb");
    let found = run_line(&folder, "run --sched random --halt-on-error -- ./sb");
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    let file = "rsan-out/violation-1.sched";
    let smaller = run_line(&folder, &format!("run --replay {file} --minimize -- ./sb"));
    says(
        &smaller,
        " context switches, replay: rsan run --replay rsan-out/violation-1.min.sched -- ./sb\n",
    );
    let read =
        |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).expect("a schedule");
    let turns = |text: &str| text.lines().filter(|line| line.starts_with('T')).count();
    let (before, after) = (read(file), read("rsan-out/violation-1.min.sched"));
    assert!(
        turns(&after) <= 3 && turns(&after) <= turns(&before),
        "{before}{after}"
    );
    let again = run_line(
        &folder,
        "run --replay rsan-out/violation-1.min.sched -- ./sb",
    );
    says(&again, "; reproduced\n");
    let odd = "an 'odd' \"name\": a=1.sched";
    std::fs::write(Path::new(&folder).join(odd), after).expect("a copy");
    let again = run_in(&folder, &["run", "--replay", odd, "--", "./sb"]);
    says(&again, "; reproduced\n");
}

#[test]
fn a_deadlock_is_a_finding_with_every_stack() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("deadlock", "deadlock");
    let found = run_line(
        &folder,
        "run -v --sched pct:depth=2 --runs 100 -- ./deadlock",
    );
    assert_eq!(found.code, 1, "{}{}", found.stdout, found.stderr);
    for part in [
        "= Every thread waits\n",
        "  main thread waits for `second` (lock)\n    #0 both ",
        "    #1 main ",
        "  thread 1 waits for `first` (lock)\n    #0 both ",
        "    #1 other ",
    ] {
        says(&found, part);
    }
    let document = json(&run_line(
        &folder,
        "run --format json --replay rsan-out/violation-2.sched -- ./deadlock",
    ));
    assert_eq!(document["verdict"], "violation");
    let finding = &document["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["property"]),
        (&"deadlock".into(), &"deadlock-freedom".into())
    );
    assert_eq!(finding["accesses"][0]["waits_for"], "`second`");
    assert_eq!(document["stats"]["schedules"]["reproduced"], 1);
}

#[test]
fn runs_that_fail_are_counted_and_their_schedules_kept() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("faults", "faults");
    for (how, status, what) in [
        ("crash", 4, "signal 6 (SIGABRT)"),
        ("exit", 4, "exit status 3"),
        ("hang", 3, "reached the time limit"),
        ("spin", 3, "too many steps"),
        (
            "fork",
            3,
            "made another process, whose schedule is not ours",
        ),
        (
            "exec",
            3,
            "ended without rsan noticing, or became another program",
        ),
        ("server", 3, "ended the process that makes the runs"),
    ] {
        let out = format!("out-{how}");
        let program = format!("--timeout 2s --max-steps 1000 -- ./faults {how}");
        let run = run_line(
            &folder,
            &format!("run --sched random --runs 100 --out {out} {program}"),
        );
        assert_eq!(run.code, status, "{how}: {}{}", run.stdout, run.stderr);
        says(&run, "no finding in 100 runs; ");
        says(
            &run,
            &format!("\nfailed: {what}\n  in 1 run, first with seed 80\n"),
        );
        let again = run_line(
            &folder,
            &format!("run --replay {out}/failure-1.sched {program}"),
        );
        assert_eq!(
            again.code, status,
            "{how}: {}{}",
            again.stdout, again.stderr
        );
        says(&again, "; reproduced\n");
    }
}

#[test]
fn a_program_that_does_something_else_leaves_the_schedule() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("divergence", "faults");
    let kept = run_line(
        &folder,
        "run --sched random --seed 80 --runs 1 -- ./faults exit",
    );
    assert_eq!(kept.code, 4, "{}{}", kept.stdout, kept.stderr);
    let file = Path::new(&folder).join("rsan-out/failure-1.sched");
    let text = std::fs::read_to_string(&file).expect("the schedule");
    std::fs::write(&file, text.replace("T0: spawn", "T0: fence")).expect("a writable file");
    let left = run_line(&folder, "run --replay rsan-out/failure-1.sched -- ./faults");
    assert_eq!(left.code, 3, "{}{}", left.stdout, left.stderr);
    let sentence =
        "the run left the schedule at step 1: T0 should do fence there, but T0 did spawn\n";
    says(&left, sentence);
    std::fs::write(&file, text).expect("a writable file");
    let other = run_line(&folder, "run --replay rsan-out/failure-1.sched -- ./faults");
    assert_eq!(other.code, 3, "{}{}", other.stdout, other.stderr);
    says(&other, "did not show what was recorded");
}

#[test]
fn a_campaign_can_end_when_nothing_new_comes() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("saturation", "sb");
    let run = run_line(
        &folder,
        "run --sched random --until-saturated --runs 100000 -- ./sb",
    );
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    says(&run, "; hardly anything new is to be expected\n");
    let run = run_line(
        &folder,
        "run --sched random --until-saturated --runs 5 -- ./sb",
    );
    says(&run, "; more runs would show more\n");
}

#[test]
fn what_is_wrong_is_said() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("wrong", "sb");
    std::fs::write(
        Path::new(&folder).join("bad.sched"),
        "rsan schedule 1\nT0: jump\n",
    )
    .expect("a writable folder");
    for (line, message) in [
        ("run --sched luck -- ./sb", "no strategy is called `luck`"),
        (
            "run --sched random -- ./nothing",
            "./nothing: there is no such program",
        ),
        (
            "run --replay nothing.sched -- ./sb",
            "nothing.sched: No such file",
        ),
        ("run --replay bad.sched -- ./sb", "bad.sched:"),
        ("run --minimize -- ./sb", "--replay"),
    ] {
        let run = run_line(&folder, line);
        assert_eq!(run.code, 2, "{line}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_program_without_the_runtime_is_not_taken_for_a_clean_one() {
    for strategy in ["pct", "pos"] {
        let run = run_line(
            &scratch("scheduling-unseen"),
            &format!("run --sched {strategy} -- true"),
        );
        assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
        says(
            &run,
            "no finding in 0 runs; no process ran with rsan's library",
        );
    }
}

#[test]
fn an_interrupted_campaign_says_what_it_found() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("scheduling-interrupt");
    std::fs::create_dir_all(&folder).expect("a writable folder");
    let source = "#include <stdio.h>\nint main(void) { puts(\"a run\"); return fflush(stdout); }\n";
    std::fs::write(Path::new(&folder).join("prints.c"), source).expect("a writable folder");
    compile(&folder, &["cc", "-o", "prints", "prints.c"]);
    let mut command = rsan(Path::new(&folder));
    let line = "run --sched random --runs 100000000 --output -- ./prints";
    command
        .args(line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("rsan starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first = lines.next().expect("a run").expect("UTF-8");
    assert_eq!(first, "a run");
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("kill starts").success());
    let rest: Vec<_> = lines.map(|line| line.expect("UTF-8")).collect();
    let said = rest.iter().find(|line| line.starts_with("./prints: "));
    let said = said.expect("an answer");
    assert!(
        said.contains("undecided, no finding in ") && said.ends_with("; interrupted"),
        "{said}"
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
}

/// Rounds of loops that wait in vain are no part of an execution, and hide nothing.
#[test]
fn loops_that_wait_are_explored() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-loops", "loops");
    for (program, code, answer) in [
        ("peterson", 0, "explored: all 4 executions"),
        ("ticket", 0, "explored: all 6 executions"),
        ("exchange", 0, "explored: all 6 executions"),
        ("compare", 0, "explored: all 1 execution,"),
        ("hidden", 1, "Thread 2 may read 0 from `data`"),
        ("stuck", 1, "error: deadlock at "),
        ("list", 0, "explored: all 3 executions\n"),
        (
            "mixed",
            3,
            "had atomic accesses of several sizes that overlap",
        ),
    ] {
        let explored = run_line(&folder, &format!("run --exhaustive -- ./loops {program}"));
        let (stdout, stderr) = (&explored.stdout, &explored.stderr);
        assert_eq!(explored.code, code, "{program}: {stdout}{stderr}");
        says(&explored, answer);
    }
}

/// What others write on the stack of a thread that waits is not the thread's state.
#[test]
fn words_on_stacks_are_memory() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-stacks", "stacks");
    for (program, answer) in [
        ("queue", "explored: all 66 executions"),
        ("requests", "explored: all 4 executions"),
    ] {
        let explored = run_line(&folder, &format!("run --exhaustive -- ./stacks {program}"));
        let (stdout, stderr) = (&explored.stdout, &explored.stderr);
        assert_eq!(explored.code, 0, "{program}: {stdout}{stderr}");
        says(&explored, answer);
    }
}

/// The end of the program comes last, and shows what it would show earlier.
#[test]
fn a_program_that_ends_before_its_threads_is_explored() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-ends", "ends");
    for (program, code, answer) in [
        ("strong", 0, "explored: all 3 executions"),
        ("weak", 1, "explored: all 3 executions"),
        ("waiting", 0, "explored: all 2 executions"),
        ("failing", 4, "failed: exit status 5\n"),
        ("handler", 0, "explored: all 2 executions"),
    ] {
        let explored = run_line(&folder, &format!("run --exhaustive -- ./ends {program}"));
        let (stdout, stderr) = (&explored.stdout, &explored.stderr);
        assert_eq!(explored.code, code, "{program}: {stdout}{stderr}");
        says(&explored, answer);
        if code == 1 {
            let again = "run --replay rsan-out/violation-1.sched -- ./ends weak";
            says(&run_line(&folder, again), "; reproduced\n");
        }
    }
}

/// Who comes first to a barrier makes no difference, unless more come than it is for. Who is told that it is the one does, to those who look at it.
#[test]
fn arrivals_at_barriers_commute() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-barriers", "barriers");
    for (program, code, answer) in [
        ("meet", 0, "explored: all 1 execution\n"),
        ("choose", 0, "explored: all 3 executions\n"),
        ("orders", 0, "explored: all 1 execution\n"),
        ("behind", 1, "explored: all 3 executions\n"),
        ("crowd", 1, "error: deadlock at "),
    ] {
        let explored = run_line(
            &folder,
            &format!("run --exhaustive -- ./barriers {program}"),
        );
        let (stdout, stderr) = (&explored.stdout, &explored.stderr);
        assert_eq!(explored.code, code, "{program}: {stdout}{stderr}");
        says(&explored, answer);
        if program == "behind" {
            let again = "run --replay rsan-out/violation-1.sched -- ./barriers behind";
            says(&run_line(&folder, again), "; reproduced\n");
        }
    }
}

/// The thread that waits in private is the only one that would run.
#[test]
fn a_private_function_may_wait_for_what_is_seen() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("private", "private");
    for strategy in ["random", "pct"] {
        let line = format!("run --sched {strategy} --runs 100 -- ./private");
        let run = run_line(&folder, &line);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(!run.stdout.contains("limit"), "{}", run.stdout);
    }
}

/// A thread may make as many steps as it likes before another one begins. Of the six orders of three priorities, four show
/// the failure.
#[test]
fn pct_does_not_interrupt_long_turns() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("late", "late");
    let line = "run --sched pct:depth=1 --runs 30 -- ./late";
    let drawn = run_line(&folder, line);
    assert_eq!(drawn.code, 4, "{}{}", drawn.stdout, drawn.stderr);
    says(
        &drawn,
        "failed: signal 6 (SIGABRT)\n  in 21 runs, first with seed 1\n",
    );
}

/// Which step a run did otherwise is said, and how to see it again.
#[test]
fn a_run_that_leaves_its_plan_is_kept() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-varies", "varies");
    let _ = std::fs::remove_file(Path::new(&folder).join("runs"));
    let varied = run_line(&folder, "run --exhaustive --jobs 1 -- ./varies");
    assert_eq!(varied.code, 3, "{}{}", varied.stdout, varied.stderr);
    says(&varied, "1 run did something else than before (after ");
    says(
        &varied,
        "T1 should go on with store, but is about to do load, at ",
    );
    says(&varied, "scheduled/varies.c:12)");
    let again = "rsan run --replay rsan-out/failure-1.sched -- ./varies";
    let failed =
        format!("\nfailed: did something else than before\n  in 1 run\n  Replay: {again}\n");
    says(&varied, &failed);
    let replayed = run_line(&folder, again.trim_start_matches("rsan "));
    says(&replayed, "; reproduced\n");
}

/// Schedules that are drawn come to the same executions, and to no others.
#[test]
fn what_is_explored_is_what_can_be_drawn() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-drawn", "loops");
    build(&folder, "conditions");
    for program in [
        "loops peterson",
        "loops ticket",
        "loops exchange",
        "conditions queue",
    ] {
        let explored = run_line(&folder, &format!("run --exhaustive -- ./{program}"));
        let drawn = run_line(
            &folder,
            &format!("run --sched random --runs 200 -- ./{program}"),
        );
        let executions = drawn.stdout.split("; ").nth(1);
        let executions = executions.and_then(|text| text.split(' ').next());
        let executions = executions.expect("the answer says how many");
        says(&explored, &format!("explored: all {executions} executions"));
    }
}

/// Whoever waits may be the one that wakes up; what time may end is not explored.
#[test]
fn condition_variables_are_explored() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive-conditions", "conditions");
    for (program, code, answer) in [
        ("queue", 0, "./conditions: robust, no finding"),
        ("choice", 1, "error: deadlock at "),
        ("timed", 3, "waited for a limited time"),
        ("futex", 0, "explored: all 12 executions"),
    ] {
        let line = format!("run --exhaustive -- ./conditions {program}");
        let explored = run_line(&folder, &line);
        let (stdout, stderr) = (&explored.stdout, &explored.stderr);
        assert_eq!(explored.code, code, "{program}: {stdout}{stderr}");
        says(&explored, answer);
    }
}

#[test]
fn every_execution_is_explored() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("exhaustive", "faults");
    let robust = run_line(&folder, "run --exhaustive -- ./faults");
    let expected = "./faults: robust, no finding in 3 runs\nexplored: all 3 executions\n";
    assert_eq!((robust.code, robust.stdout.as_str()), (0, expected));
    let failing = run_line(&folder, "run --exhaustive -- ./faults crash");
    assert_eq!(failing.code, 4, "{}{}", failing.stdout, failing.stderr);
    says(&failing, "not all executions were explored: 1 run failed");
    let source = data("scheduled/sb.c");
    let violated = run_in(&folder, &["check", "--exhaustive", &source]);
    assert_eq!(violated.code, 1, "{}{}", violated.stdout, violated.stderr);
    says(&violated, "\nexplored: all 3 executions\n");
    build(&folder, "deadlock");
    let stuck = run_line(&folder, "run --exhaustive -- ./deadlock");
    assert_eq!(stuck.code, 1, "{}{}", stuck.stdout, stuck.stderr);
    let again = run_line(
        &folder,
        "run --replay rsan-out/violation-1-deadlock.sched -- ./deadlock",
    );
    says(&again, "; reproduced\n");
}

#[test]
fn an_exploration_can_be_bounded_and_gone_on_with() {
    if gcc_is_missing() {
        return;
    }
    let folder = built("checkpoint", "seqlock");
    let _ = std::fs::remove_file(Path::new(&folder).join("saved.json"));
    let whole = run_line(&folder, "run --exhaustive --jobs 1 -- ./seqlock");
    assert_eq!(whole.code, 1, "{}{}", whole.stdout, whole.stderr);
    // The same, whatever the number of servers.
    let again = run_line(&folder, "run --exhaustive --jobs 3 -- ./seqlock");
    assert_eq!(again.stdout, whole.stdout);
    let explored = |run: &Run| {
        let line = run
            .stdout
            .lines()
            .find(|line| line.starts_with("explored: "));
        let line = line.expect("a line about it");
        // Runs in excess are left out: what an exploration has learnt of failed rounds is not saved, so there may be more of them.
        line.split(", and ").next().unwrap_or(line).to_owned()
    };
    let saved = "run --exhaustive --checkpoint saved.json";
    for (bound, line) in [("5", " in 5 runs"), ("50", " in 50 runs")] {
        let part = run_line(
            &folder,
            &format!("{saved} --max-executions {bound} -- ./seqlock"),
        );
        assert_eq!(part.code, 1, "{}{}", part.stdout, part.stderr);
        says(&part, line);
        says(&part, "not all executions were explored: ");
    }
    let rest = run_line(&folder, &format!("{saved} -- ./seqlock"));
    assert_eq!(explored(&rest), explored(&whole));
    let bounded = run_line(&folder, "run --exhaustive --max-preemptions 0 -- ./seqlock");
    says(&bounded, "the bound on preemptions left some out");
    let other = run_line(
        &folder,
        &format!("{saved} --max-preemptions 1 -- ./seqlock"),
    );
    let message = "error: saved.json: began without --max-preemptions, which cannot be changed\n";
    assert_eq!((other.code, other.stderr.as_str()), (2, message));
    std::fs::write(Path::new(&folder).join("bad.json"), "{}").expect("a writable folder");
    let bad = run_line(
        &folder,
        "run --exhaustive --checkpoint bad.json -- ./seqlock",
    );
    assert_eq!(
        (bad.code, bad.stderr.as_str()),
        (2, "error: bad.json: not a checkpoint\n")
    );
}
