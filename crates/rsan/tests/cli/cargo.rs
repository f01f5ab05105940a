//! `cargo rsan`: packages without dependencies, built, tested and run.

use crate::common::{Run, rsan, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// A package of its own in a folder of this name, with more in its manifest.
fn package(name: &str, more: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(scratch(&format!("cargo-{name}")));
    // Built by an earlier run of the tests, perhaps by another version.
    let _ = fs::remove_dir_all(&folder);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n{more}"
    );
    for (file, text) in [("Cargo.toml", &*manifest)].iter().chain(files) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }
    folder
}

/// `rsan cargo`, in a folder.
fn cargo(folder: &Path, words: &[&str]) -> Run {
    let mut command = rsan(folder);
    // Those of the cargo that runs these tests.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME" {
            command.env_remove(&name);
        }
    }
    let output = command.arg("cargo").args(words).output();
    output.expect("rsan starts").into()
}

const LIBRARY: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::{Acquire, Release}};
    use std::thread;

    static X: AtomicUsize = AtomicUsize::new(0);
    static Y: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn buffers_stores() {
        let a = thread::spawn(|| { X.store(1, Release); Y.load(Acquire) });
        let b = thread::spawn(|| { Y.store(1, Release); X.load(Acquire) });
        a.join().unwrap();
        b.join().unwrap();
    }

    #[test]
    fn fails() {
        println!("what it printed");
        panic!("as it should not");
    }

    #[test]
    #[should_panic]
    fn panics_as_it_should() {
        panic!();
    }

    #[test]
    #[ignore]
    fn is_ignored() {
        panic!();
    }

    #[test]
    fn passes() {
        assert_eq!(std::env::current_dir().unwrap(), std::path::Path::new(env!("CARGO_MANIFEST_DIR")));
        assert_eq!(std::env::var("CARGO_PKG_NAME").unwrap(), env!("CARGO_PKG_NAME"));
    }
}
"#;

#[test]
fn findings_and_failures_of_tests_are_told_apart() {
    let folder = package("kinds", "", &[("src/lib.rs", LIBRARY)]);
    let run = cargo(&folder, &["test", "--format", "text"]);
    let (out, said) = (&run.stdout, &run.stderr);
    assert_eq!(run.code, 1, "{out}{said}");
    for line in [
        "test tests::buffers_stores ... ",
        "test tests::fails ... FAILED\n",
        "test tests::is_ignored ... ignored\n",
        "test tests::panics_as_it_should ... ok\n",
        "test tests::passes ... ok\n",
        "5 tests: 2 ok, 1 failed, 1 with findings, 1 ignored",
        "of tests::buffers_stores",
        "what it printed",
        "as it should not",
        "not robust at src/lib.rs:",
    ] {
        assert!(out.contains(line), "no {line:?} in\n{out}{said}");
    }
    // How many of the two loads are seen to be weak is a matter of the machine's schedule, too.
    let line = out
        .lines()
        .find(|line| line.starts_with("test tests::buffers_stores"));
    assert!(line.is_some_and(|line| line.contains(" finding")), "{out}");
    // The command that is printed works as printed.
    let replay = out
        .lines()
        .find_map(|line| line.split_once("Replay: cargo rsan "));
    let (_, replay) = replay.expect("a schedule");
    let again = cargo(&folder, &replay.split(' ').collect::<Vec<_>>());
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("reproduced"), "{}", again.stdout);
}

#[test]
fn tests_are_chosen_as_cargo_chooses_them() {
    let folder = package("choice", "", &[("src/lib.rs", LIBRARY)]);
    let one = cargo(&folder, &["test", "pass", "--runs", "1"]);
    assert_eq!(one.code, 0, "{}{}", one.stdout, one.stderr);
    assert!(one.stdout.contains("1 test: 1 ok"), "{}", one.stdout);
    let failing = ["test", "--lib", "--runs=1", "--format=json"];
    let failing = [&failing[..], &["--", "--exact", "tests::fails"]].concat();
    let failing = cargo(&folder, &failing);
    assert_eq!(failing.code, 4, "{}{}", failing.stdout, failing.stderr);
    let document: serde_json::Value = serde_json::from_str(&failing.stdout).expect("JSON");
    let test = &document["tests"][0];
    assert_eq!(test["name"], "tests::fails");
    assert_eq!(test["outcome"], "failed");
    assert!(
        test["output"]
            .as_str()
            .is_some_and(|o| o.contains("what it printed"))
    );
    let ignored = ["test", "--runs=1", "--format=junit", "--", "--ignored"];
    let ignored = cargo(&folder, &ignored);
    assert_eq!(ignored.code, 4, "{}{}", ignored.stdout, ignored.stderr);
    let case = "name=\"tests::is_ignored\" time=\"0\"><failure type=\"test\"";
    assert!(ignored.stdout.contains(case), "{}", ignored.stdout);
    let list = cargo(&folder, &["test", "--", "--list", "--skip", "tests::pass"]);
    assert_eq!(list.code, 0, "{}", list.stderr);
    assert!(
        list.stdout.contains("tests::fails: test"),
        "{}",
        list.stdout
    );
    assert!(!list.stdout.contains("tests::passes"), "{}", list.stdout);
}

const HANGS: &str = r#"
use std::time::Duration;

#[test]
fn aborts() {
    std::process::abort();
}

#[test]
fn hangs() {
    loop {
        std::thread::park_timeout(Duration::from_secs(1000));
    }
}

#[test]
fn passes() {}
"#;

const PLAIN: &str = r#"
fn main() {
    assert_eq!(std::env::args().nth(1).as_deref(), Some("word"));
    println!("no harness");
}
"#;

#[test]
fn tests_that_hang_or_abort_do_not_keep_others_from_running() {
    let more = "\n[[test]]\nname = \"plain\"\nharness = false\n";
    let files = [
        ("src/lib.rs", ""),
        ("tests/hangs.rs", HANGS),
        ("tests/plain.rs", PLAIN),
    ];
    let folder = package("hangs", more, &files);
    let words = ["test", "--timeout", "1s", "--runs", "1", "word"];
    let words = [&words[..], &["--test", "plain", "--", "--nocapture"]].concat();
    let plain = cargo(&folder, &words);
    assert_eq!(plain.code, 0, "{}{}", plain.stdout, plain.stderr);
    assert!(
        plain.stdout.contains("test plain ... ok"),
        "{}",
        plain.stdout
    );
    assert!(plain.stdout.contains("no harness"), "{}", plain.stdout);
    let words = ["test", "--timeout", "1s", "--runs", "1", "--test", "hangs"];
    let run = cargo(&folder, &words);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    for line in [
        "test hangs::aborts ... FAILED\n",
        "test hangs::hangs ... FAILED (time limit)\n",
        "test hangs::passes ... ok\n",
        "signal 6 (SIGABRT)",
        "reached the time limit",
        "3 tests: 1 ok, 2 failed",
    ] {
        assert!(run.stdout.contains(line), "no {line:?} in\n{}", run.stdout);
    }
}

/// By itself it always passes. Where time is simulated, it goes on by less than the test sleeps.
const TIMED: &str = "
#[test]
fn sleeps() {
    let before = std::time::Instant::now();
    let sleeper = std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_millis(20)));
    sleeper.join().unwrap();
    assert!(before.elapsed().as_millis() >= 20);
}
";

#[test]
fn tests_that_rely_on_time_do_not_fail_where_it_is_simulated() {
    let folder = package("timed", "", &[("src/lib.rs", TIMED)]);
    let run = cargo(&folder, &["test"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("test sleeps ... ok\n"),
        "{}",
        run.stdout
    );
    // Whoever asks for schedules is told how they end.
    let words = ["test", "--sched", "random", "--runs", "3"];
    assert_eq!(cargo(&folder, &words).code, 4);
}

#[test]
fn programs_are_built_run_and_removed() {
    let program = "fn main() { let n = std::env::args().nth(1).unwrap(); println!(\"n is {n}\"); }";
    let files = [("src/lib.rs", ""), ("examples/number.rs", program)];
    let folder = package("program", "", &files);
    let run = cargo(&folder, &["run", "--example", "number", "--", "--runs"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("n is --runs\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("no finding in 1 run\n"),
        "{}",
        run.stdout
    );
    let failing = cargo(&folder, &["run", "--runs", "2", "--example", "number"]);
    assert_eq!(failing.code, 4, "{}{}", failing.stdout, failing.stderr);
    assert_eq!(cargo(&folder, &["build", "--example", "number"]).code, 0);
    assert!(folder.join("target/rsan").is_dir());
    assert_eq!(cargo(&folder, &["clean"]).code, 0);
    assert!(!folder.join("target/rsan").exists());
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = package(
        "wrong",
        "",
        &[("src/lib.rs", "fn wrong() -> u8 { \"text\" }")],
    );
    let refused = |words: &[&str], why: &str| {
        let run = cargo(&folder, words);
        assert_eq!(run.code, 2, "{words:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
    };
    refused(&["test"], "mismatched types");
    refused(&["build"], "mismatched types");
    refused(&["run"], "a bin target must be available");
    refused(&["test", "--doc"], "doc tests are not run");
    refused(
        &["test", "--target", "wasm32-wasip1"],
        "the sanitizer is for",
    );
    refused(
        &["test", "--manifest-path", "no/Cargo.toml"],
        "no/Cargo.toml",
    );
    refused(&["test", "--runs", "many"], "many");
    refused(&["test", "--no-such-option"], "--no-such-option");
    refused(&["bench"], "bench");
    refused(&["nextest"], "cargo rsan nextest run");
}
