//! `rsan report`, baselines, and the schema of documents.

use crate::common::{Run, blessing, root, rsan, run, scratch, tests_dir};
use crate::sanitizer::{compile, data, gcc_is_missing, run_in};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// A folder of the test's own.
fn folder(test: &str) -> String {
    let folder = scratch(&format!("report-{test}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &str, name: &str, text: &str) -> String {
    let path = Path::new(folder).join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// What `rsan` prints on standard input.
fn piped(args: &[&str], input: &str) -> Run {
    let mut command = rsan(&tests_dir().join("data"));
    command.args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("rsan starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends").into()
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr))
}

/// Fails unless the text is a document, or an array of them, by the published schema.
#[track_caller]
fn assert_valid(run: &Run) {
    let path = root().join("docs/schema/rsan-2.json");
    let schema = std::fs::read_to_string(path).expect("the schema");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let documents = match json(run) {
        Value::Array(all) => all,
        one => vec![one],
    };
    assert!(!documents.is_empty());
    for document in documents {
        let errors = validator.iter_errors(&document);
        let errors: Vec<_> = errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
    }
}

#[test]
fn the_schema_is_that_of_the_types() {
    let run = run(&["report", "--schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let path = root().join("docs/schema/rsan-2.json");
    if blessing() {
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(&path, &run.stdout).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == run.stdout, "RSAN_BLESS=1 rewrites {path:?}");
    let schema: Value = json(&run);
    assert!(jsonschema::meta::is_valid(&schema));
    // It is a schema that can refuse.
    let refused = serde_json::json!({ "schema": "rsan/1", "findings": [] });
    assert!(!jsonschema::is_valid(&schema, &refused));
}

#[test]
fn documents_of_programs_that_are_read_are_valid() {
    let commands = [
        "verify --format json sb.litmus sb-fenced.litmus race.litmus trap.litmus",
        "verify --format json assert.tpl 2+2w.litmus",
        "verify --format json --memory-limit 1 sb-fenced.litmus",
        "verify --format json --deadlock deadlock.tpl",
        "verify --format json --property observational observed.litmus sb.litmus",
        "verify --format json --property safe sb.litmus",
        "verify --format json --model rc20 iriw.tpl",
        "verify --format json --model ra rmw.tpl",
        "verify --format json --model tso sb.litmus sb-fenced.litmus assert.tpl",
        "verify --format json --model tso --property trf sb.litmus",
        "verify --format json --model tso --parametric sb.litmus",
        "fence --format json --model tso sb.litmus",
        "fence --format json --model rc20 --target riscv sb.litmus",
        "fence --format json sb-fenced.litmus race.litmus",
        "litmus --format json --unroll 2 sb.litmus loop.litmus race.litmus sb-fenced.litmus",
        "litmus --format json --model ra rmw.tpl",
        "check --format json sb.litmus",
    ];
    for command in commands {
        let words: Vec<_> = command.split(' ').collect();
        let run = run(&words);
        assert_ne!(run.code, 2, "{command}: {}", run.stderr);
        assert_valid(&run);
        // What is read again is what was written, and ends in the same way.
        let again = piped(&["report", "--format", "json", "-"], &run.stdout);
        assert_eq!((again.code, again.stderr.as_str()), (run.code, ""));
        assert_eq!(json(&again), json(&run), "{command}");
    }
}

#[test]
fn documents_of_programs_that_are_run_are_valid() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("runs");
    for program in [
        "race.c",
        "weak.c",
        "freed.c",
        "destroyed.c",
        "fails.c",
        "clean.cc",
    ] {
        let run = run_in(
            &folder,
            &["check", "--runs=1", "--format=json", &data(program)],
        );
        assert_ne!(run.code, 2, "{program}: {}", run.stderr);
        assert_valid(&run);
        let again = piped(&["report", "--format", "json", "-"], &run.stdout);
        assert_eq!(again.code, run.code, "{program}");
        assert_eq!(json(&again), json(&run), "{program}");
    }
    let source = data("scheduled/returned.c");
    compile(
        &folder,
        &["cc", "-g", "-O1", "-pthread", "-o", "returned", &source],
    );
    let lines = [
        "run --format json -- ./returned",
        "run --format json --sched random --runs 20 -- ./returned",
        "run --format json --exhaustive -- ./returned",
    ];
    let mut replays = 0;
    for line in lines {
        let run = run_in(&folder, &line.split(' ').collect::<Vec<_>>());
        assert_ne!(run.code, 2, "{line}: {}", run.stderr);
        assert_valid(&run);
        let schedule = json(&run)["findings"][0]["recorded"]["file"].clone();
        if let Some(file) = schedule.as_str() {
            let args = ["run", "--format=json", "--replay", file, "--", "./returned"];
            let replayed = run_in(&folder, &args);
            assert_valid(&replayed);
            replays += 1;
        }
    }
    assert!(replays > 0);
}

#[test]
fn answers_are_shown_again_in_every_form() {
    let folder = folder("forms");
    let answer = run(&[
        "verify",
        "--format",
        "json",
        "sb.litmus",
        "sb-fenced.litmus",
    ]);
    let file = write(&folder, "answer.json", &answer.stdout);
    for (form, start) in [
        ("text", "error: "),
        ("json", "[\n"),
        ("sarif", "{\n  \"$schema\": "),
        ("junit", "<?xml "),
        ("dot", "digraph "),
    ] {
        let shown = run(&["report", "--format", form, &file]);
        assert_eq!((shown.code, shown.stderr.as_str()), (1, ""), "{form}");
        assert!(shown.stdout.starts_with(start), "{form}: {}", shown.stdout);
        // The command itself says the same, times aside: its own are in the answer already.
        let out = Path::new(&folder).join(form);
        let out = out.to_str().expect("UTF-8");
        let written = run(&["report", "--format", form, "-o", out, &file]);
        assert_eq!((written.code, written.stdout.as_str()), (1, ""), "{form}");
        let text = std::fs::read_to_string(out).expect("the file is written");
        assert_eq!(text, shown.stdout, "{form}");
    }
    let direct = run(&["verify", "--format", "sarif", "sb.litmus"]);
    assert_eq!(direct.code, 1);
    let result = &json(&direct)["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "weak-behaviour");
    assert!(result["codeFlows"][0]["threadFlows"][1].is_object());
    let direct = run(&["check", "--format", "junit", "sb-fenced.litmus"]);
    assert_eq!(direct.code, 0);
    assert!(
        direct.stdout.contains("failures=\"0\""),
        "{}",
        direct.stdout
    );
}

#[test]
fn answers_about_the_same_subject_are_one() {
    let folder = folder("merged");
    let answer = run(&["verify", "--format", "json", "sb.litmus"]);
    let file = write(&folder, "answer.json", &answer.stdout);
    let other = run(&["verify", "--format", "json", "race.litmus"]);
    let other = write(&folder, "other.json", &other.stdout);
    let merged = run(&["report", "--format", "json", &file, &other, &file]);
    assert_eq!((merged.code, merged.stderr.as_str()), (1, ""));
    let all = json(&merged);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
    assert_eq!(all[0]["findings"].as_array().map(Vec::len), Some(1));
    let states = |document: &Value| document["stats"]["states"].as_u64();
    let once = states(&json(&answer)).expect("states");
    assert_eq!(states(&all[0]), Some(2 * once));
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let folder = folder("unread");
    let answer = run(&["verify", "--format", "json", "sb-fenced.litmus"]);
    let old = answer.stdout.replace("rsan/2", "rsan/1");
    let wrong = answer.stdout.replace("\"robust\"", "\"rubost\"");
    let cases = [
        ("cut.json", &answer.stdout[..30], ":3:6: EOF"),
        (
            "old.json",
            &old,
            ": the schema is rsan/1, and this rsan reads rsan/2: run the command",
        ),
        (
            "wrong.json",
            &wrong,
            ":5:21: unknown variant `rubost`, expected",
        ),
        ("none.json", "", ": there is no document"),
        ("text.json", "P0 | P1", ":1:1: expected value"),
        ("latin1.json", "", ""),
    ];
    for (name, text, message) in cases {
        let file = write(&folder, name, text);
        if name == "latin1.json" {
            std::fs::write(&file, b"\"\xe4\"").expect("a file");
        }
        for args in [["report", &file], ["report", "-"]] {
            let (run, shown) = match args[1] {
                "-" if name == "latin1.json" => continue,
                "-" => (piped(&args, text), "<stdin>"),
                _ => (run(&args), file.as_str()),
            };
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}");
            let start = format!("error: {shown}{message}");
            assert!(run.stderr.starts_with(&start), "{start}\n{}", run.stderr);
        }
    }
    // The others are shown all the same.
    let good = write(&folder, "good.json", &answer.stdout);
    let missing = run(&["report", "missing.json", &good]);
    assert_eq!(missing.code, 2);
    assert!(missing.stdout.contains("robust against c20"));
    assert!(missing.stderr.starts_with("error: missing.json: "));
    assert_eq!(run(&["report"]).code, 2);
}

/// The text of store buffering with other lines before it.
fn moved(folder: &str, above: &str) -> String {
    let text = std::fs::read_to_string(tests_dir().join("data/sb.litmus")).expect("a program");
    let (first, rest) = text.split_once('\n').expect("lines");
    write(folder, "sb.litmus", &format!("{first}\n{above}{rest}"));
    "sb.litmus".to_owned()
}

#[test]
fn only_what_the_baseline_does_not_have_counts() {
    let folder = folder("baseline");
    for form in ["json", "sarif"] {
        let file = moved(&folder, "");
        let before = run_in(&folder, &["verify", "--format", form, "-o", "known", &file]);
        assert_eq!(before.code, 1);
        moved(&folder, "\n\n");
        let now = run_in(&folder, &["verify", "--baseline", "known", &file]);
        assert_eq!((now.code, now.stderr.as_str()), (0, ""), "{}", now.stdout);
        let start = "sb.litmus: no new finding; 1 finding known from the baseline; explored ";
        assert!(now.stdout.starts_with(start), "{}", now.stdout);
        let args = ["verify", "--baseline", "known", "--format", "json", &file];
        let now = run_in(&folder, &args);
        assert_valid(&now);
        let document = json(&now);
        assert_eq!(document["verdict"], "no-finding");
        assert_eq!(document["stats"]["known"], 1);
        assert_eq!(document["findings"][0]["known"], true);
        // Another program has findings of its own.
        let other = data("race.litmus");
        let new = run_in(&folder, &["verify", "--baseline", "known", &file, &other]);
        assert_eq!(new.code, 1, "{}", new.stdout);
        assert!(
            new.stdout.contains("race.litmus: data race"),
            "{}",
            new.stdout
        );
    }
    let unread = run_in(&folder, &["verify", "--baseline", "missing", "sb.litmus"]);
    assert_eq!((unread.code, unread.stdout.as_str()), (2, ""));
    assert!(
        unread.stderr.starts_with("error: missing: "),
        "{}",
        unread.stderr
    );
}

/// The text of a program with a race, whose header is in the folder.
fn racing(folder: &str) -> String {
    let text = |name: &str| std::fs::read_to_string(data(name)).expect("a program");
    write(folder, "pinned.h", &text("pinned.h"));
    text("race.c")
}

#[test]
fn a_baseline_of_runs_survives_lines_above() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("baseline-runs");
    let text = racing(&folder);
    write(&folder, "race.c", &text);
    let known = [
        "check",
        "--runs=1",
        "--format=sarif",
        "-o",
        "known.sarif",
        "race.c",
    ];
    assert_eq!(run_in(&folder, &known).code, 1);
    write(&folder, "race.c", &format!("/* one\n   two */\n\n{text}"));
    let args = ["check", "--runs=1", "--baseline", "known.sarif", "race.c"];
    let now = run_in(&folder, &args);
    assert_eq!((now.code, now.stderr.as_str()), (0, ""), "{}", now.stdout);
    let part = "race.c: no finding in 1 run; 1 finding known from the baseline";
    assert!(now.stdout.contains(part), "{}", now.stdout);
    // The same by way of a document.
    let found = run_in(&folder, &["check", "--runs=1", "--format=json", "race.c"]);
    let file = write(&folder, "found.json", &found.stdout);
    let args = [
        "report",
        "--baseline",
        "known.sarif",
        "--format=sarif",
        &file,
    ];
    let shown = run_in(&folder, &args);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let result = &json(&shown)["runs"][0]["results"][0];
    assert_eq!(result["baselineState"], "unchanged");
    assert_eq!(run_in(&folder, &["report", &file]).code, 1);
}

#[test]
fn a_known_finding_does_not_hide_that_the_program_failed() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("baseline-failed");
    let text = racing(&folder);
    let failing = text.replace("return 0;", "return 3;");
    assert_ne!(text, failing);
    write(&folder, "race.c", &failing);
    let known = [
        "check",
        "--runs=1",
        "--format=json",
        "-o",
        "known.json",
        "race.c",
    ];
    assert_eq!(run_in(&folder, &known).code, 1);
    let args = ["check", "--runs=1", "--baseline", "known.json", "race.c"];
    let now = run_in(&folder, &args);
    assert_eq!(now.code, 4, "{}{}", now.stdout, now.stderr);
}
