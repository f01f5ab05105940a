//! Which machines can show a finding: by the verifier, by the sanitizer, and by weak runs.

use crate::common::{root, rsan, scratch};
use crate::sanitizer::gcc_is_missing;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn documents(mut command: Command) -> Vec<Value> {
    let output = command.output().expect("rsan starts");
    let text = String::from_utf8_lossy(&output.stdout);
    match serde_json::from_str(&text) {
        Ok(Value::Array(all)) => all,
        Ok(one) => vec![one],
        Err(error) => panic!("{error}: {text}"),
    }
}

/// What a finding says of a machine with its usual instructions.
fn shows<'f>(finding: &'f Value, machine: &str) -> Option<&'f str> {
    let machines = finding["machines"].as_array()?.iter();
    let mut own =
        machines.filter(|known| known["machine"] == machine && known["variant"].is_null());
    own.next()?["shows"].as_str()
}

/// Of a folder of the corpus: the subject, and what verification says with these arguments.
fn verified(folder: &str, args: &[&str]) -> Vec<Value> {
    let folder = root().join("litmus").join(folder);
    let files = std::fs::read_dir(&folder).expect("a folder of the corpus");
    let files = files.map(|file| file.expect("an entry").path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension() != Some("md".as_ref()))
        .collect();
    files.sort();
    let mut command = rsan(&root());
    command
        .args(["verify", "--format", "json"])
        .args(args)
        .args(files);
    documents(command)
}

/// The verifier for TSO is another engine: what a witness is said to show on x86 must be a violation there. In these folders
/// programs are so small that the opposite holds, too.
#[test]
fn x86_shows_what_is_not_robust_against_tso() {
    let mut compared = 0;
    for folder in ["basic", "fences", "rmw", "seq_cst"] {
        let weak = verified(folder, &[]);
        let tso = verified(folder, &["--model", "tso"]);
        for (weak, tso) in weak.iter().zip(&tso) {
            assert_eq!(weak["subject"], tso["subject"]);
            let Some(shows) = shows(&weak["findings"][0], "x86") else {
                continue;
            };
            let expected = match tso["verdict"].as_str() {
                Some("violation") => "yes",
                _ => "no",
            };
            assert_eq!(shows, expected, "{}", weak["subject"]);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} programs are compared");
}

/// A violation of TSO is one of x86.
#[test]
fn tso_is_x86() {
    let mut command = rsan(&root());
    let args = ["verify", "--model", "tso", "--format", "json"];
    command.args(args).arg("litmus/basic/sb-ra.litmus");
    let [document] = &documents(command)[..] else {
        panic!("one document");
    };
    assert_eq!(shows(&document["findings"][0], "x86"), Some("yes"));
}

/// Store buffering with something between the store and the load of each thread.
fn store_buffering(between: &str) -> String {
    let thread = |name: &str, mine: &str, other: &str| {
        format!(
            "static void *{name}(void *arg) {{\n\
             atomic_store_explicit(&{mine}, 1, memory_order_relaxed);\n\
             {between}\n\
             atomic_load_explicit(&{other}, memory_order_relaxed);\n\
             return arg;\n}}\n"
        )
    };
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x, y, other;\n{}{}\
         int main(void) {{\n\
         pthread_t one, two;\n\
         pthread_create(&one, 0, first, 0);\n\
         pthread_create(&two, 0, second, 0);\n\
         pthread_join(one, 0);\n\
         pthread_join(two, 0);\n}}\n",
        thread("first", "x", "y"),
        thread("second", "y", "x"),
    )
}

fn checked(name: &str, source: &str, command: &str, args: &[&str]) -> Vec<Value> {
    let folder = scratch(name);
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let file = Path::new(&folder).join("sb.c");
    std::fs::write(file, source).expect("the scratch folder is writable");
    let mut rsan = rsan(Path::new(&folder));
    rsan.args([command, "--format", "json"])
        .args(args)
        .arg("sb.c");
    documents(rsan)
}

/// A read-modify-write is a fence on x86, and the log does not have it: nothing is claimed.
#[test]
fn an_update_that_the_log_does_not_have_leaves_x86_open() {
    if gcc_is_missing() {
        return;
    }
    let update = "atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);";
    for (between, x86) in [("", "yes"), (update, "unknown")] {
        let source = store_buffering(between);
        let name = format!("machines-{x86}");
        let documents = checked(&name, &source, "check", &["--exhaustive"]);
        let findings = documents[0]["findings"].as_array().expect("findings");
        assert!(!findings.is_empty(), "{x86}");
        for finding in findings {
            assert_eq!(shows(finding, "x86"), Some(x86), "{finding}");
            for machine in ["armv8", "armv7", "riscv", "power"] {
                assert_eq!(shows(finding, machine), Some("yes"), "{finding}");
            }
        }
    }
}

/// Of a weak run every step is known.
#[test]
fn weak_runs_say_it() {
    if gcc_is_missing() {
        return;
    }
    let update = "atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);";
    let fails = |between| {
        let source = store_buffering(between).replace(
            "static void *first",
            "#include <assert.h>\n#include <stddef.h>\nstatic int seen[2];\nstatic void *first",
        );
        let source = source.replace(
            "atomic_load_explicit(&y, memory_order_relaxed);",
            "seen[0] = atomic_load_explicit(&y, memory_order_relaxed);",
        );
        let source = source.replace(
            "atomic_load_explicit(&x, memory_order_relaxed);",
            "seen[1] = atomic_load_explicit(&x, memory_order_relaxed);",
        );
        source.replace(
            "join(two, 0);",
            "join(two, 0);\nassert(seen[0] + seen[1] > 0);",
        )
    };
    for (between, x86) in [("", "yes"), (update, "no")] {
        let name = format!("machines-weak-{x86}");
        let documents = checked(&name, &fails(between), "explore", &["--runs=100"]);
        let finding = &documents[0]["findings"][0];
        assert_eq!(finding["kind"], "assertion", "{}", documents[0]);
        assert_eq!(shows(finding, "x86"), Some(x86), "{finding}");
        assert_eq!(shows(finding, "armv8"), Some("yes"), "{finding}");
    }
}
