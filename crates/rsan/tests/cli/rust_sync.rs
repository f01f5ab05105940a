//! Every type of Rust's standard library that synchronises, used rightly (`tests/rust-sync`): no finding, however it is run.

use crate::common::{Run, rsan, scratch, tests_dir};
use std::fs;
use std::path::{Path, PathBuf};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("it can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(&from, &to).expect("it can be copied")),
        }
    }
}

/// A copy of the package for a test.
fn package(test: &str) -> PathBuf {
    let folder = PathBuf::from(scratch(&format!("rust-sync-{test}")));
    let _ = fs::remove_dir_all(&folder);
    copy(&tests_dir().join("rust-sync"), &folder);
    folder
}

/// Runs its tests.
fn cargo(folder: &Path, toolchain: Option<&str>, rounds: usize, words: &[&str]) -> Run {
    let mut command = rsan(folder);
    // Those of the cargo that runs these tests.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME" {
            command.env_remove(&name);
        }
    }
    if let Some(toolchain) = toolchain {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    command.env("RUST_SYNC_ROUNDS", rounds.to_string());
    let output = command.args(["cargo", "test"]).args(words).output();
    output.expect("rsan starts").into()
}

fn assert_clean(run: &Run) {
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("FAILED"), "{}", run.stdout);
}

#[test]
fn the_synchronisation_of_the_standard_library_is_understood() {
    let folder = package("quick");
    let tests = [
        "--test", "locks", "--test", "channels", "--test", "threads", "--test", "counts",
    ];
    assert_clean(&cargo(
        &folder,
        None,
        20,
        &[&tests[..], &["--runs", "1"]].concat(),
    ));
    let scheduled = ["--sched", "random", "--runs", "2"];
    assert_clean(&cargo(&folder, None, 3, &[&tests[..], &scheduled].concat()));
    // Thousands of threads, one after the other and a few at a time.
    let threads = ["--test", "threads", "--runs", "1", "--"];
    let names = ["one_after_the_other", "scopes", "handles_that_are_dropped"];
    assert_clean(&cargo(
        &folder,
        None,
        3000,
        &[&threads[..], &names].concat(),
    ));
}

/// Toolchains that are tried where they are installed.
const TOOLCHAINS: [&str; 4] = ["1.88", "stable", "beta", "nightly"];

#[test]
fn so_it_is_with_every_toolchain() {
    if std::env::var_os("RSAN_EXTENDED").is_none() {
        return;
    }
    for toolchain in TOOLCHAINS {
        let version = std::process::Command::new("rustc")
            .arg("--version")
            .env("RUSTUP_TOOLCHAIN", toolchain)
            .output();
        if !version.is_ok_and(|version| version.status.success()) {
            continue;
        }
        let unstable = match toolchain {
            "nightly" => &["--features", "mpmc"][..],
            _ => &[],
        };
        for profile in [&[][..], &["--release"]] {
            let folder = package("all");
            let built = [profile, unstable].concat();
            let words = [&built[..], &["--runs", "3"]].concat();
            assert_clean(&cargo(&folder, Some(toolchain), 5000, &words));
            for strategy in ["random", "pct", "pos"] {
                let words = [&built[..], &["--sched", strategy, "--runs", "50"]].concat();
                assert_clean(&cargo(&folder, Some(toolchain), 5, &words));
            }
        }
    }
}
