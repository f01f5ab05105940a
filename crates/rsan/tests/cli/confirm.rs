//! `--confirm`: which stale values hurt, and a run that shows it. `--fail-on`: what that means for the exit status. Needs gcc.

use crate::common::{Run, root, rsan, scratch};
use crate::sanitizer::{data, gcc_is_missing};
use serde_json::Value;
use std::path::PathBuf;

/// A folder of the test's own with copies of sources.
fn folder(test: &str, sources: &[PathBuf]) -> String {
    let folder = scratch(&format!("confirm-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for source in sources {
        let name = source.file_name().expect("a name");
        std::fs::copy(source, PathBuf::from(&folder).join(name)).expect("a source");
    }
    folder
}

fn own(name: &str) -> PathBuf {
    data(&format!("confirm/{name}")).into()
}

fn example(name: &str) -> PathBuf {
    root().join("examples").join(name)
}

fn run_line(folder: &str, line: &str) -> Run {
    let mut command = rsan(folder.as_ref());
    command.env("RSAN_CC", "gcc").args(line.split(' '));
    command.output().expect("rsan starts").into()
}

fn findings(run: &Run) -> Vec<Value> {
    let document: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr));
    document["findings"].as_array().expect("findings").clone()
}

/// The text of the line that a finding is about.
fn line(folder: &str, file: &str, finding: &Value) -> String {
    let number = finding["location"]["line"].as_u64().expect("a line") as usize;
    let text = std::fs::read_to_string(PathBuf::from(folder).join(file)).expect("the source");
    text.lines().nth(number - 1).expect("the line").to_owned()
}

/// The arguments of a command that a report names.
fn arguments(command: &Value) -> String {
    let command = command.as_str().expect("a command");
    command.strip_prefix("rsan ").expect("ours").to_owned()
}

#[test]
fn a_stale_flag_that_lets_both_in_is_harmful() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("dekker", &[example("dekker.c")]);
    let line = "check --exhaustive --confirm --format json dekker.c";
    let run = run_line(&folder, line);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let found = findings(&run);
    let [finding] = &found[..] else {
        panic!("one finding: {found:#?}");
    };
    assert_eq!(finding["severity"], "error");
    let harm = &finding["harm"];
    assert_eq!(
        (&harm["kind"], &harm["effect"]),
        (&"harmful".into(), &"exit-status".into())
    );
    assert!(harm["runs"].as_u64() > Some(0), "{harm:#}");
    // The run can be made again, every time.
    let again = run_line(
        &folder,
        &format!("{} --runs 20", arguments(&harm["recorded"]["command"])),
    );
    assert!(
        again.stdout.contains("reproduced in 20 of 20 runs"),
        "{}{}",
        again.stdout,
        again.stderr
    );
    // The same campaign says the same.
    assert_eq!(findings(&run_line(&folder, line)), found);
    let text = run_line(&folder, "check --exhaustive --confirm dekker.c").stdout;
    assert!(
        text.starts_with("error: not robust at dekker.c:16"),
        "{text}"
    );
    assert!(
        text.contains("= harmful: the program ends with exit status 1, in "),
        "{text}"
    );
    assert!(
        text.contains("= Replay of the harm: rsan check --replay rsan-out/harm-1.sched"),
        "{text}"
    );
    assert!(
        text.contains("; confirmed beside 1,000 sequentially consistent runs: 1 harmful"),
        "{text}"
    );
}

#[test]
fn stale_hints_and_statistics_do_no_harm() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("meant", &[own("hint.c"), own("statistics.c")]);
    for file in ["hint.c", "statistics.c"] {
        let line = format!("check --exhaustive --confirm=100 --format json {file}");
        let run = run_line(&folder, &line);
        let found = findings(&run);
        assert!(!found.is_empty());
        for finding in found {
            assert_eq!(finding["severity"], "warning", "{finding:#}");
            assert_eq!(finding["harm"]["kind"], "not-seen", "{finding:#}");
            assert!(
                finding["harm"]["continuations"].as_u64() > Some(10),
                "{finding:#}"
            );
        }
        assert_eq!(run.code, 1);
        let line = format!("check --exhaustive --confirm=20 --fail-on error {file}");
        let run = run_line(&folder, &line);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            run.stdout.contains(" below --fail-on error"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains("= No harm seen in "), "{}", run.stdout);
    }
}

#[test]
fn only_the_stale_value_that_hurts_is_to_blame() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("two", &[own("two.c")]);
    let run = run_line(&folder, "check --exhaustive --confirm --format json two.c");
    let found = findings(&run);
    let harmful = |finding: &&Value| finding["harm"]["kind"] == "harmful";
    assert!(found.iter().any(|finding| harmful(&finding)), "{found:#?}");
    // Harmful ones stand first.
    let mut rest = found.iter().skip_while(harmful);
    assert!(!rest.any(|finding| harmful(&finding)));
    for finding in &found {
        let is_flag = line(&folder, "two.c", finding).contains("wants[");
        assert_eq!(harmful(&finding), is_flag, "{finding:#}");
    }
}

#[test]
fn a_program_under_plain_runs_is_confirmed_too() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("plain", &[example("dekker.c")]);
    let built = run_line(&folder, "cc -g -pthread -o dekker dekker.c");
    assert_eq!(built.code, 0, "{}", built.stderr);
    // The first run makes the report; which thread is first does not matter.
    let run = run_line(
        &folder,
        "run --sched random --runs 20 --confirm --format json -- ./dekker",
    );
    let found = findings(&run);
    assert_eq!(found[0]["harm"]["kind"], "harmful", "{found:#?}");
    let line = arguments(&found[0]["harm"]["recorded"]["command"]);
    assert!(
        line.starts_with("run --replay rsan-out/harm-1.sched"),
        "{line}"
    );
    let again = run_line(&folder, &line);
    assert!(again.stdout.contains("reproduced"), "{}", again.stdout);
}

#[test]
fn severities_below_the_bar_do_not_fail() {
    let folder = folder("bar", &[]);
    let document = |severity: &str| {
        format!(
            r#"{{"schema":"rsan/2","command":"run","subject":"a.out","verdict":"violation","model":"c20",
            "findings":[{{"kind":"weak-behaviour","severity":"{severity}","property":"robustness","message":"stale",
            "thread":null,"location":null}}],"stats":{{"runs":3,"seconds":0.0}}}}"#
        )
    };
    let cases = [
        ("note", [0, 0, 1]),
        ("warning", [0, 1, 1]),
        ("error", [1, 1, 1]),
    ];
    for (severity, codes) in cases {
        let file = format!("{severity}.json");
        let path = PathBuf::from(&folder).join(&file);
        std::fs::write(path, document(severity)).expect("a file");
        for (bar, code) in ["error", "warning", "note"].into_iter().zip(codes) {
            let run = run_line(&folder, &format!("report --fail-on {bar} {file}"));
            assert_eq!(
                run.code, code,
                "{severity} {bar}: {}{}",
                run.stdout, run.stderr
            );
            let below = format!("1 finding in 3 runs: 1 {severity} below --fail-on {bar}\n");
            assert_eq!(run.stdout.contains(&below), code == 0, "{}", run.stdout);
            let junit = run_line(
                &folder,
                &format!("report --format junit --fail-on {bar} {file}"),
            );
            let fails = junit.stdout.contains("failures=\"1\"");
            assert_eq!(fails, code == 1, "{}", junit.stdout);
        }
    }
    let wrong = run_line(&folder, "report --fail-on fatal note.json");
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("there are error, warning and note"),
        "{}",
        wrong.stderr
    );
}
