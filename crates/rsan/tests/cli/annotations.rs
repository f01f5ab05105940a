//! The crate `rsan-annotations` in a package that is built with the sanitizer.

use crate::common::{Run, root, rsan, scratch, tests_dir};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The manifest of the package, but for the path of the crate.
const MANIFEST: &str = "[package]\nname = \"annotated\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n\
     rsan = { package = \"rsan-annotations\", path = ";

/// The program of `tests/data/annotated`, built once.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(scratch("annotated"));
    std::fs::create_dir_all(folder.join("src")).expect("the scratch folder is writable");
    let annotations = root().join("crates/rsan-annotations");
    let manifest = format!("{MANIFEST}{annotations:?} }}\n");
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
    let source = tests_dir().join("data/annotated/main.rs");
    std::fs::copy(source, folder.join("src/main.rs")).expect("the program can be written");
    let mut build = rsan(&folder);
    build.args(["cargo", "build", "--offline", "--message-format=json"]);
    let built: Run = build.output().expect("rsan starts").into();
    assert_eq!(built.code, 0, "{}{}", built.stdout, built.stderr);
    let messages = built.stdout.lines();
    let messages = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.into()));
    programs.next().expect("cargo says where the program is")
});

/// Runs one part of the program in a folder, under twenty schedules.
fn scheduled(part: &str, folder: &Path, settings: &str) -> Run {
    let mut command = rsan(folder);
    command
        .args(["run", "--sched", "pct", "--runs", "20", "--jobs", "1", "--"])
        .args([PROGRAM.as_os_str(), part.as_ref()])
        .env("RSAN_OPTIONS", settings);
    command.output().expect("rsan starts").into()
}

/// Asserts the exit status of parts.
fn ends(parts: &[&str], code: i32) {
    let folder = scratch("annotated");
    for part in parts {
        let run = scheduled(part, Path::new(&folder), "");
        assert_eq!(run.code, code, "{part}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout.contains("data race"), code == 1, "{part}");
    }
}

#[test]
fn what_is_benign_is_no_finding() {
    ends(&["race"], 1);
    ends(&["benign", "guard", "address"], 0);
}

#[test]
fn waits_order_what_their_orders_say() {
    ends(&["wait", "wait-any", "lock", "pointer"], 0);
    ends(&["wait-relaxed", "lock-relaxed"], 1);
}

#[test]
fn setup_before_the_snapshot_is_done_once_per_server() {
    let setups = |name: &str, settings: &str| {
        let folder = PathBuf::from(scratch(name));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
        let run = scheduled("snapshot", &folder, settings);
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
        let text = std::fs::read_to_string(folder.join("setups")).expect("a setup");
        text.lines().count()
    };
    // One for a server of runs, and one for each way in which a finding is looked at again.
    assert!(setups("annotated-marker", "at_marker=1") < 10);
    assert!(setups("annotated-main", "") >= 20);
}
