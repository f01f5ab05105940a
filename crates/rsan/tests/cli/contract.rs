//! What scripts rely on: exit statuses, where things are printed, and that nothing depends on luck.

use crate::common::{Run, blank_times, rsan, run, scratch, tests_dir};
use std::io::Write;
use std::process::{Command, Stdio};

fn code(args: &[&str]) -> i32 {
    run(args).code
}

/// Bad input: status 2, nothing on standard output, and a message that has all of `parts`.
fn refused(args: &[&str], parts: &[&str]) {
    let run = run(args);
    assert_eq!(run.code, 2, "{args:?}\n{}", run.stderr);
    assert_eq!(run.stdout, "", "{args:?}");
    for part in parts {
        assert!(
            run.stderr.contains(part),
            "{args:?}: no {part:?} in\n{}",
            run.stderr
        );
    }
}

#[test]
fn statuses_of_single_inputs() {
    assert_eq!(code(&["verify", "sb-fenced.litmus"]), 0);
    assert_eq!(code(&["verify", "sb.litmus"]), 1);
    assert_eq!(
        code(&["verify", "--memory-limit", "1", "sb-fenced.litmus"]),
        3
    );
    assert_eq!(
        code(&["verify", "--time-limit", "0s", "sb-fenced.litmus"]),
        3
    );
    assert_eq!(code(&["check", "sb.litmus"]), 1);
    assert_eq!(code(&["check", "rmw.tpl"]), code(&["verify", "rmw.tpl"]));
    assert_eq!(code(&["litmus", "sb.litmus"]), 0);
    assert_eq!(code(&["litmus", "--model", "sc", "sb.litmus"]), 1);
    assert_eq!(code(&["litmus", "--unroll", "2", "loop.litmus"]), 3);
}

#[test]
fn of_several_inputs_the_most_severe_status_counts() {
    assert_eq!(code(&["verify", "sb-fenced.litmus", "sb.litmus"]), 1);
    assert_eq!(code(&["verify", "missing.litmus", "sb.litmus"]), 2);
    assert_eq!(
        code(&["litmus", "sb.litmus", "loop.litmus", "--unroll=2"]),
        3
    );
    assert_eq!(
        code(&[
            "litmus",
            "loop.litmus",
            "sb.litmus",
            "--unroll=2",
            "--model=sc"
        ]),
        1
    );
}

#[test]
fn a_bad_input_does_not_hide_the_others() {
    let run = run(&["verify", "sb-fenced.litmus", "syntax.litmus", "sb.litmus"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stdout
            .starts_with("sb-fenced.litmus: robust against c20")
    );
    assert!(
        run.stdout
            .contains("\nsb.litmus: not robust against c20; explored ")
    );
    assert!(run.stderr.contains("syntax.litmus:4:"));
}

#[test]
fn wrong_usage_is_refused() {
    refused(&[], &["Usage: rsan"]);
    refused(&["frobnicate"], &["frobnicate"]);
    refused(&["verify"], &["FILE"]);
    refused(
        &["verify", "--property", "trf", "sb.litmus"],
        &["--model tso"],
    );
    refused(
        &[
            "verify",
            "--model",
            "rc20",
            "../../../../automata/peterson.txt",
        ],
        &["automata have no memory orders", "against tso only"],
    );
    refused(
        &[
            "verify",
            "--model",
            "tso",
            "--deadlock",
            "--parametric",
            "../../../../automata/peterson.txt",
        ],
        &["--deadlock"],
    );
    refused(
        &["fence", "-o", "x.litmus", "sb.litmus", "mp.litmus"],
        &["--output takes one program"],
    );
    refused(
        &[
            "fence",
            "--model",
            "ra",
            "../../../../automata/peterson.txt",
        ],
        &["no memory orders"],
    );
    refused(
        &["fence", "--model", "rc11", "sb.litmus"],
        &["no repairs against rc11"],
    );
    refused(
        &["fence", "--model", "rc20", "--target", "vax", "sb.litmus"],
        &["unknown target `vax`"],
    );
    refused(
        &["fence", "--model", "tso", "--target", "x86", "sb.litmus"],
        &["--target is for ra, rc20 and c20"],
    );
    refused(
        &[
            "fence",
            "--cost",
            "../../Cargo.toml",
            "../../../../automata/peterson.txt",
        ],
        &["Cargo.toml", "expected"],
    );
    refused(
        &["verify", "--model", "sc", "sb.litmus"],
        &["--property safe"],
    );
    refused(
        &["verify", "--model", "arm", "sb.litmus"],
        &["unknown model `arm`"],
    );
    refused(
        &["verify", "--format", "pdf", "sb.litmus"],
        &["there are text, json, html, sarif, junit and dot"],
    );
    refused(
        &["verify", "--memory-limit", "lots", "sb.litmus"],
        &["lots"],
    );
    refused(&["litmus", "--unroll", "-1", "sb.litmus"], &["-1"]);
}

#[test]
fn bad_inputs_are_refused_with_their_name_and_place() {
    for command in ["verify", "litmus", "check"] {
        refused(&[command, "missing.litmus"], &["missing.litmus"]);
        refused(&[command, "empty.litmus"], &["empty.litmus", "empty"]);
        refused(
            &[command, "latin1.litmus"],
            &["latin1.litmus:3:4", "not UTF-8"],
        );
        refused(
            &[command, "syntax.litmus"],
            &["syntax.litmus:4:", "atomic_stare"],
        );
    }
    for command in ["verify", "litmus"] {
        refused(&[command, "."], &[".", "directory"]);
    }
    let sc = ["--model", "rc20", "sb-sc.litmus"];
    refused(
        &[&["verify"], &sc[..]].concat(),
        &["sb-sc.litmus:4:3", "--model c20"],
    );
    refused(
        &[&["litmus"], &sc[..]].concat(),
        &["sb-sc.litmus:4:3", "--model c20"],
    );
}

#[test]
fn check_says_what_it_cannot_do_yet() {
    refused(&["check", "main.c"], &["main.c", "No such file"]);
    refused(&["check", "main.rs"], &["main.rs", "No such file"]);
    refused(&["check", "dekker.txt"], &["dekker.txt", "No such file"]);
    refused(
        &["check", "notes.md"],
        &["notes.md", "unknown kind of file"],
    );
}

#[test]
fn nothing_is_written_for_bad_input() {
    let file = scratch("untouched.dot");
    std::fs::write(&file, "before").expect("the scratch folder is writable");
    refused(&["verify", "--dot", &file, "missing.litmus"], &[]);
    let after = std::fs::read_to_string(&file).expect("the file is still there");
    assert_eq!(after, "before");
    let run = run(&["verify", "--dot", "no/such/folder/g.dot", "sb.litmus"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no/such/folder/g.dot"));
}

#[test]
fn pipes_get_neither_colour_nor_progress() {
    let run = run(&["verify", "sb.litmus"]);
    assert!(!run.stdout.contains('\x1b'));
    assert_eq!(run.stderr, "");
}

#[test]
fn the_same_question_gets_the_same_answer() {
    for file in ["sb.litmus", "2+2w.litmus", "race.litmus", "iriw.tpl"] {
        let one = run(&["verify", "--format", "json", "--jobs", "1", file]);
        for jobs in ["1", "2", "3"] {
            let again = run(&["verify", "--format", "json", "--jobs", jobs, file]);
            assert_eq!(
                blank_times(&one.stdout),
                blank_times(&again.stdout),
                "{file} --jobs {jobs}"
            );
        }
    }
}

#[test]
fn json_is_one_document_or_one_array() {
    let one: serde_json::Value = parse(&run(&["verify", "--format=json", "sb.litmus"]));
    assert_eq!(one["schema"], "rsan/2");
    assert_eq!(one["command"], "verify");
    assert_eq!(one["verdict"], "violation");
    let two = parse(&run(&[
        "check",
        "--format=json",
        "sb.litmus",
        "sb-fenced.litmus",
    ]));
    let subjects: Vec<_> = two
        .as_array()
        .expect("an array")
        .iter()
        .map(|d| &d["subject"])
        .collect();
    assert_eq!(subjects, ["sb.litmus", "sb-fenced.litmus"]);
    assert_eq!(two[1]["verdict"], "robust");
    assert_eq!(two[1]["command"], "check");
    let left = parse(&run(&[
        "verify",
        "--format=json",
        "missing.litmus",
        "sb.litmus",
    ]));
    assert_eq!(left.as_array().map(Vec::len), Some(1));
}

fn parse(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).expect("standard output is JSON")
}

#[test]
fn standard_input_is_an_input() {
    let text = std::fs::read_to_string(tests_dir().join("data/sb.litmus")).expect("the test data");
    let run = with_stdin(&["verify", "-"], text.as_bytes());
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .starts_with("error: not robust against c20 at <stdin>:5:12\n")
    );
    assert_eq!(with_stdin(&["check", "-"], text.as_bytes()).code, 1);
    assert_eq!(with_stdin(&["litmus", "-"], b"").code, 2);
    assert_eq!(with_stdin(&["verify", "-"], &vec![b' '; 20 << 20]).code, 2);
}

pub(crate) fn with_stdin(args: &[&str], text: &[u8]) -> Run {
    let mut child = piped(args);
    let mut stdin = child.stdin.take().expect("a pipe");
    // The command may refuse, and close the pipe, before it has read everything.
    let _ = stdin.write_all(text);
    drop(stdin);
    child.wait_with_output().expect("rsan ends").into()
}

fn piped(args: &[&str]) -> std::process::Child {
    rsan(&tests_dir().join("data"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("rsan starts")
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let text = std::fs::read(tests_dir().join("data/sb.litmus")).expect("the test data");
    for format in ["text", "json"] {
        let mut child = piped(&["verify", "--format", format, "-"]);
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&text).expect("rsan reads");
        drop(stdin);
        let run: Run = child.wait_with_output().expect("rsan ends").into();
        assert_eq!(run.code, 1);
        assert_eq!(run.stderr, "");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_what_it_explored() {
    // More than a pipe holds, so once it is written the command is reading, and its handler is in place.
    let padding = "// padding\n".repeat(20_000);
    let text = std::fs::read(tests_dir().join("data/large.tpl")).expect("the test data");
    let mut child = piped(&["verify", "-", "sb.litmus"]);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(padding.as_bytes()).expect("rsan reads");
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill starts");
    assert!(sent.success());
    stdin.write_all(&text).expect("rsan reads");
    drop(stdin);
    let run: Run = child.wait_with_output().expect("rsan ends").into();
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stdout
            .starts_with("<stdin>: unknown: interrupted\n  explored ")
    );
    assert!(!run.stdout.contains("sb.litmus"));
    assert!(
        run.stderr
            .contains("interrupted: 1 of the inputs not looked at")
    );
}

#[test]
fn translations_go_to_a_file_or_to_standard_output() {
    for (command, name) in [
        ("emit-c", "sb-translated.c"),
        ("emit-rust", "sb-translated.rs"),
    ] {
        let printed = run(&[command, "sb.litmus"]);
        assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
        let file = scratch(name);
        let written = run(&[command, "-o", &file, "sb.litmus"]);
        assert_eq!((written.code, written.stdout.as_str()), (0, ""));
        let text = std::fs::read_to_string(&file).expect("the file was written");
        assert_eq!(text, printed.stdout);
        refused(&[command, "missing.litmus"], &["missing.litmus"]);
        refused(&[command, "syntax.litmus"], &["syntax.litmus"]);
        let folder = scratch("");
        refused(&[command, "-o", &folder, "sb.litmus"], &["error: "]);
    }
}

/// Fences as statements and within conditions, orders of loads, stores and compare-and-swaps, in both languages.
#[test]
fn repaired_programs_are_written_and_verify() {
    for (model, file) in [
        ("ra", "locks/peterson-ra.litmus"),
        ("rc20", "basic/mp-rlx.litmus"),
        ("rc20", "locks/dekker-rlx-endless.tpl"),
        ("rc20", "locks/clh-2-rlx-swap.tpl"),
        ("c20", "locks/dekker-relaxed.litmus"),
        ("c20", "kernels/double-checked-rlx.litmus"),
    ] {
        let input = format!("../../../../litmus/{file}");
        let output = scratch(&format!("repaired-{}", file.replace('/', "-")));
        assert_eq!(code(&["verify", "--model", model, &input]), 1, "{file}");
        let args = ["fence", "--model", model, "--output", &output, &input];
        let fence = run(&args);
        assert_eq!(fence.code, 0, "{file}: {}{}", fence.stdout, fence.stderr);
        assert_eq!(code(&["verify", "--model", model, &output]), 0, "{file}");
        let again = run(&["fence", "--model", model, &output]);
        assert!(again.stdout.contains("without any change"), "{file}");
    }
}

#[test]
fn weights_move_a_repair() {
    let weights = scratch("weights.json");
    let fence = |text: &str| {
        std::fs::write(&weights, text).expect("the weights can be written");
        let cost = ["--model", "c20", "--cost", &weights, "sb.litmus"];
        run(&[&["fence"], &cost[..]].concat())
    };
    let plain = fence("{}");
    assert!(
        plain.stdout.contains("4 changes of cost 2"),
        "{}",
        plain.stdout
    );
    let heavy = fence(r#"{"P0": {"5": 20}}"#);
    assert!(!heavy.stdout.contains("cost 2 "), "{}", heavy.stdout);
    assert_eq!(heavy.code, 0);
    for wrong in [
        r#"{"P0": {"1": 2}}"#,
        r#"{"P9": {"5": 2}}"#,
        r#"{"P0": {"5": 99999}}"#,
    ] {
        assert_eq!(fence(wrong).code, 2, "{wrong}");
    }
}
