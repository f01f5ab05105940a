//! Programs that ThreadSanitizer is wrong about, in one way or the other: what it says of them (the line that begins
//! with `// tsan:`) is checked with the installed compilers' own runtimes. What rsan says is checked with all
//! other programs.

mod support;

use std::process::Command;
use support::{announced, compilers, here, programs, standard, success, work_dir};

/// What ThreadSanitizer says; nothing if it cannot run on this machine.
fn tsan(compiler: &str, name: &str) -> Option<&'static str> {
    let program = work_dir("tsan", compiler).join(name).with_extension("");
    let output = Command::new(compiler)
        .args(standard(name))
        .args(["-fsanitize=thread", "-Wno-tsan", "-pthread", "-o"])
        .arg(&program)
        .arg(here().join(name))
        .output();
    let output = output.expect("the compiler runs");
    // clang comes without its runtimes in some distributions.
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("cannot find") && errors.contains("tsan") {
        eprintln!("skipped: {compiler} has no ThreadSanitizer");
        return None;
    }
    success(&output, name);
    let output = Command::new("timeout")
        .arg("60")
        .arg(&program)
        .env_remove("LD_LIBRARY_PATH")
        .env("TSAN_OPTIONS", "exitcode=66")
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("FATAL: ThreadSanitizer") {
        eprintln!("skipped: ThreadSanitizer does not run here");
        return None;
    }
    let raced = errors.contains("WARNING: ThreadSanitizer: data race");
    assert_eq!(
        output.status.code(),
        Some(if raced { 66 } else { 0 }),
        "{name}\n{errors}"
    );
    Some(if raced { "race" } else { "none" })
}

#[test]
fn tsan_is_wrong_where_programs_say_so() {
    let mut wrong = 0;
    for name in programs() {
        let Some(expected) = announced(&name, "// tsan: ") else {
            continue;
        };
        let truth = announced(&name, "// findings: ").expect("what there is");
        wrong += usize::from(truth != expected);
        for compiler in compilers() {
            if let Some(said) = tsan(compiler, &name) {
                assert_eq!(said, expected, "{name} by {compiler}");
            }
        }
    }
    assert!(wrong > 10);
}
