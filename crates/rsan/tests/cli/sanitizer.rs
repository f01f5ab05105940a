//! C and C++ programs, compiled and run. Needs gcc; without it these tests say so and do nothing.

use crate::common::{Run, rsan, run, scratch, tests_dir};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub(crate) fn gcc_is_missing() -> bool {
    let found = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let missing = !(found("gcc") && found("g++"));
    if missing {
        eprintln!("skipped: gcc and g++ are not installed");
    }
    missing
}

/// Runs the command in a folder of the test's own.
pub(crate) fn run_in(folder: &str, args: &[&str]) -> Run {
    std::fs::create_dir_all(folder).expect("the scratch folder is writable");
    let mut command = rsan(Path::new(folder));
    command.args(args).output().expect("rsan starts").into()
}

pub(crate) fn data(name: &str) -> String {
    let path = tests_dir().join("data").join(name);
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// Runs the compiler wrapper, which must succeed.
pub(crate) fn compile(folder: &str, args: &[&str]) {
    let done = run_in(folder, args);
    assert_eq!(done.code, 0, "{args:?}\n{}", done.stderr);
}

#[test]
fn check_compiles_runs_and_reports() {
    if gcc_is_missing() {
        return;
    }
    let race = run(&["check", "-v", "--runs", "2", "race.c"]);
    assert_eq!(race.code, 1, "{}", race.stderr);
    for part in [
        "error: data race on `counter` at race.c:7:12\n",
        "#0 add race.c:7",
        "#0 main race.c:14",
        "The read of `counter` by thread 1 at race.c:7",
        "the memory is the variable `counter`",
        "thread 1 was created",
    ] {
        assert!(
            race.stdout.contains(part),
            "no {part:?} in\n{}",
            race.stdout
        );
    }
    assert_eq!(race.stderr, "");
    let weak = run(&["check", "--runs", "2", "weak.c"]);
    assert_eq!(weak.code, 1, "{}", weak.stderr);
    assert!(
        weak.stdout
            .starts_with("warning: not robust at weak.c:10:5\n")
    );
    let sentence = "Thread 1 may read 0 from `x` although the main thread's store at \
                    weak.c:17 comes first in every sequentially consistent order\n";
    assert!(weak.stdout.contains(sentence), "{}", weak.stdout);
    let end = "= Found in 2 of 2 runs
   = can happen on: x86, ARMv8 with ldapr, RISC-V, Power, ARMv7; not on: ARMv8

weak.c: 1 finding in 2 runs
";
    assert!(weak.stdout.ends_with(end), "{}", weak.stdout);
    let clean = run(&["check", "clean.cc"]);
    assert_eq!(clean.code, 0, "{}", clean.stdout);
    // How many there are depends on the time that they take.
    let (first, scheduled) = clean.stdout.split_once('\n').expect("two lines");
    assert!(first.starts_with("clean.cc: no finding in "), "{first}");
    assert!(scheduled.starts_with("schedules: "), "{scheduled}");
}

#[test]
fn check_has_the_statuses_of_the_contract() {
    if gcc_is_missing() {
        return;
    }
    let fails = run(&["check", "--runs", "1", "fails.c"]);
    assert_eq!(fails.code, 4);
    assert!(
        fails
            .stdout
            .contains("the program failed in 1 of 1 run: exit status 3")
    );
    let hangs = run(&["check", "--time-limit", "50ms", "--runs", "1", "hangs.c"]);
    assert_eq!(hangs.code, 3);
    assert!(hangs.stdout.contains("1 run reached the time limit"));
    assert_eq!(
        run(&["check", "--runs", "1", "fails.c", "sb.litmus"]).code,
        1
    );
    assert_eq!(run(&["check", "--runs", "0", "race.c"]).code, 2);
    assert_eq!(run(&["check", "--model", "ra", "race.c"]).code, 2);
    let folder = scratch("broken");
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    std::fs::write(Path::new(&folder).join("broken.c"), "int main(").expect("a file");
    let broken = run_in(&folder, &["check", "broken.c"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (2, ""));
    assert!(
        broken
            .stderr
            .contains("error: broken.c: it cannot be compiled")
    );
}

#[test]
fn the_model_is_an_option() {
    if gcc_is_missing() {
        return;
    }
    let weak = run(&["check", "--model", "rc20", "--runs", "2", "weak.c"]);
    assert_eq!(weak.code, 1, "{}", weak.stderr);
    let title = "weak.c: 1 finding in 2 runs against rc20\n";
    assert!(weak.stdout.ends_with(title), "{}", weak.stdout);
    let refused = run(&["check", "--model", "rc20", "--runs", "2", "seq_cst.c"]);
    let text = "seq_cst.c: undecided, no finding in 2 runs against rc20; the runtime had to end 2 runs: seq_cst.c:9: \
                a seq_cst load: rc20 has none; use model c20, or seq_cst fences\n";
    assert_eq!((refused.code, refused.stdout.as_str()), (3, text));
    assert_eq!(run(&["check", "--runs", "1", "seq_cst.c"]).code, 0);
    let folder = scratch("model");
    compile(&folder, &["cc", &data("seq_cst.c"), "-o", "seq_cst"]);
    let args = ["run", "--model", "rc20", "--format", "json", "--"];
    let refused = run_in(&folder, &[&args[..], &["./seq_cst"]].concat());
    assert_eq!(refused.code, 3, "{}", refused.stdout);
    let document: Value = serde_json::from_str(&refused.stdout).expect("a document");
    assert_eq!(document["model"], "rc20");
    let mut by_environment = rsan(Path::new(&folder));
    by_environment
        .args(["run", "./seq_cst"])
        .env("RSAN_OPTIONS", "model=rc20");
    let refused: Run = by_environment.output().expect("rsan starts").into();
    assert_eq!(refused.code, 3, "{}", refused.stdout);
    let other = run_in(&folder, &["run", "--model", "tso", "./seq_cst"]);
    assert_eq!(other.code, 2);
    assert!(
        other.stderr.contains("there are c20 and rc20"),
        "{}",
        other.stderr
    );
}

#[test]
fn documents_have_the_common_form() {
    if gcc_is_missing() {
        return;
    }
    let several = run(&[
        "check",
        "--format",
        "json",
        "--runs",
        "1",
        "weak.c",
        "sb.litmus",
        "clean.cc",
    ]);
    assert_eq!(several.code, 1, "{}", several.stderr);
    let documents: Value = serde_json::from_str(&several.stdout).expect("one document");
    let verdicts: Vec<_> = (0..3).map(|i| documents[i]["verdict"].as_str()).collect();
    assert_eq!(
        verdicts,
        [Some("violation"), Some("violation"), Some("no-finding")]
    );
    let weak = &documents[0];
    assert_eq!(weak["schema"], "rsan/2");
    assert_eq!(
        (&weak["command"], &weak["subject"]),
        (&"check".into(), &"weak.c".into())
    );
    assert_eq!(weak["stats"]["runs"], 1);
    let finding = &weak["findings"][0];
    assert_eq!(finding["kind"], "weak-behaviour");
    assert_eq!(
        (&finding["location"]["file"], &finding["location"]["line"]),
        (&"weak.c".into(), &10.into())
    );
    let accesses = finding["accesses"].as_array().expect("accesses");
    let roles: Vec<_> = accesses
        .iter()
        .map(|a| a["role"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(roles, ["access", "missed", "stale"]);
    assert_eq!(accesses[1]["stack"][0]["function"], "main");
    assert_eq!(accesses[1]["order"], "release");
}

#[test]
fn compiling_and_linking_may_be_two_steps_or_one() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("steps");
    compile(
        &folder,
        &["cc", "-O1", "-c", &data("race.c"), "-o", "race.o"],
    );
    compile(
        &folder,
        &["cc", "race.o", "-pthread", "-fsanitize=thread", "-o", "two"],
    );
    compile(&folder, &["cc", "-O1", &data("race.c"), "-lm", "-o", "one"]);
    compile(
        &folder,
        &["c++", "-std=c++17", "-oclean", &data("clean.cc")],
    );
    std::fs::write(
        Path::new(&folder).join("arguments"),
        format!("-o three\n'{}'", data("race.c")),
    )
    .expect("a response file");
    compile(&folder, &["cc", "@arguments"]);
    for (program, code) in [("./two", 1), ("./one", 1), ("./clean", 0), ("./three", 1)] {
        let done = run_in(&folder, &["run", "--runs", "2", "--", program]);
        assert_eq!(done.code, code, "{program}\n{}{}", done.stdout, done.stderr);
    }
    assert_eq!(run_in(&folder, &["cc", "-c", "missing.c"]).code, 1);
    assert_eq!(run_in(&folder, &["cc", "-static", "race.o"]).code, 2);
    assert_eq!(run_in(&folder, &["cc", "--version"]).code, 0);
}

#[test]
fn run_keeps_logs_and_says_what_it_cannot_check() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("run");
    compile(&folder, &["cc", &data("race.c"), "-o", "race"]);
    let done = run_in(
        &folder,
        &[
            "run", "--log", "logs", "--runs", "2", "--format", "json", "--", "./race",
        ],
    );
    let document: Value = serde_json::from_str(&done.stdout).expect("one document");
    assert_eq!((done.code, &document["verdict"]), (1, &"violation".into()));
    for log in ["logs/run-1.jsonl", "logs/run-2.jsonl"] {
        let text = std::fs::read_to_string(Path::new(&folder).join(log)).expect("a log");
        assert!(text.contains("\"kind\":\"race\""), "{text}");
    }
    let stripped = Command::new("strip")
        .arg("race")
        .current_dir(&folder)
        .status();
    if stripped.is_ok_and(|status| status.success()) {
        let done = run_in(&folder, &["run", "--", "./race"]);
        assert_eq!(done.code, 1);
        assert!(done.stdout.contains("race+0x"), "{}", done.stdout);
    }
    let plain = Command::new("gcc")
        .arg(data("fails.c"))
        .args(["-o", "plain"])
        .current_dir(&folder)
        .status();
    assert!(plain.expect("gcc starts").success());
    let done = run_in(&folder, &["run", "--", "./plain"]);
    assert!(
        done.stdout.contains("was not linked by `rsan cc`"),
        "{}",
        done.stdout
    );
    assert_eq!(done.code, 4);
    assert_eq!(run_in(&folder, &["run", "--", "./missing"]).code, 2);
    assert_eq!(run_in(&folder, &["run"]).code, 2);
}

/// Flags of the compiler, several files, and arguments of the program.
#[test]
fn check_takes_flags_and_arguments() {
    if gcc_is_missing() {
        return;
    }
    let folder = scratch("check-flags");
    let write = |name: &str, text: &str| {
        let path = Path::new(&folder).join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("include/half.h", "int half(int);\n");
    write(
        "half.c",
        "#include <half.h>\nint half(int n) { return n / TWO; }\n",
    );
    let main = "#include <half.h>\n#include <math.h>\n#include <stdlib.h>\n\
        int main(int argc, char **argv) {\n  (void)argc;\n\
        return half(atoi(argv[1])) == 21 && cos(atof(argv[2])) == 1 ? 0 : 1;\n}\n";
    write("main.c", main);
    let flags = "check --runs 1 --together -std=gnu11 -I include -DTWO=2 -l m half.c main.c";
    let run = |line: &str| run_in(&folder, &line.split(' ').collect::<Vec<_>>());
    let done = run(&format!("{flags} -- 42 0"));
    let said = "half.c main.c: no finding in 1 run\n";
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (0, said),
        "{}",
        done.stderr
    );
    assert_eq!(run(&format!("{flags} -- 40 0")).code, 4);
    let alone = run("check -Iinclude -DTWO=2 half.c");
    assert_eq!(alone.code, 2, "{}", alone.stdout);
    let omp = "int main(void) {\n  int sum = 0;\n  # pragma omp parallel for\n\
        for (int i = 0; i < 9; i++) sum += i;\n  return sum != 36;\n}\n";
    write("omp.c", omp);
    let note = "note: omp.c: `#pragma omp` has no effect without -fopenmp\n";
    let done = run("check --runs 1 omp.c");
    assert!(
        done.code == 0 && done.stderr.ends_with(note),
        "{}",
        done.stderr
    );
    let done = run("check --runs 1 -fopenmp omp.c");
    assert!(!done.stderr.contains(note), "{}", done.stderr);
    // A replay is the same command.
    let again = run(
        "check --sched random --runs 1 --together -DTWO=2 -I include half.c main.c -lm -- 40 0",
    );
    let command = "--replay rsan-out/failure-1.sched --together -DTWO=2 -I include -lm half.c main.c -- 40 0\n";
    assert!(
        again.stdout.contains(command),
        "{}{}",
        again.stdout,
        again.stderr
    );
    // What is temporary has no name in documents.
    let race = data("race.c");
    let document = run_in(
        &folder,
        &["check", "--runs", "1", "--format", "json", &race],
    );
    assert!(
        document.stdout.contains("\"module\": \"race\""),
        "{}",
        document.stdout
    );
    let temporary = std::env::temp_dir().join("rsan-");
    assert!(
        !document.stdout.contains(&*temporary.to_string_lossy()),
        "{}",
        document.stdout
    );
}
