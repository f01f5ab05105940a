//! Compiling and running the programs of the tests.
#![allow(dead_code, reason = "each test uses a part of this")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The exit status when there was a finding.
pub(crate) const FOUND: i32 = 66;

pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The library that belongs to this test: beside the test's executable, or one level up, or built now.
pub(crate) fn library_dir() -> PathBuf {
    let executable = std::env::current_exe().expect("the test has a path");
    let deps = executable.parent().expect("the test is in a folder");
    let profile = deps.parent().expect("the folder is in another");
    let has_library = |dir: &Path| dir.join("librsan_runtime.so").exists();
    if let Some(dir) = [deps, profile].into_iter().find(|dir| has_library(dir)) {
        return dir.to_owned();
    }
    let target = profile.parent().expect("a profile is in the target folder");
    let built = Command::new(env!("CARGO"))
        .args(["build", "-p", "rsan-runtime", "--target-dir"])
        .arg(target)
        .status();
    assert!(built.expect("cargo runs").success());
    target.join("debug")
}

/// Clang under the names that Debian gives it.
pub(crate) const CLANGS: &[&str] = &["clang", "clang-14", "clang-15", "clang-16", "clang-19"];

/// Whether a compiler is there; says so if not.
pub(crate) fn is_installed(compiler: &str) -> bool {
    let found = Command::new(compiler).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no {compiler}");
    }
    found
}

/// gcc, and one clang.
pub(crate) fn compilers() -> Vec<&'static str> {
    let clang = CLANGS.iter().copied().find(|clang| is_installed(clang));
    let gcc = Some("gcc").filter(|gcc| is_installed(gcc));
    gcc.into_iter().chain(clang).collect()
}

pub(crate) fn success(output: &Output, what: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {errors}");
}

/// A folder of a test's own.
pub(crate) fn work_dir(test: &str, compiler: &str) -> PathBuf {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(test)
        .join(compiler);
    std::fs::create_dir_all(&work).expect("a folder for the programs");
    work
}

/// Options for every program of the tests.
pub(crate) fn standard(file: &str) -> [&'static str; 4] {
    let standard = if file.ends_with(".cc") {
        "-std=c++17"
    } else {
        "-std=gnu11"
    };
    [standard, "-g", "-O1", "-Wno-unknown-warning-option"]
}

/// Compiles a file of the tests into an object.
pub(crate) fn compile_object(compiler: &str, file: &str, object: &Path, options: &[&str]) {
    let output = Command::new(compiler)
        .args(standard(file))
        .args(options)
        .args(["-c", "-o"])
        .arg(object)
        .arg(here().join(file))
        .output();
    success(&output.expect("the compiler runs"), file);
}

/// Links objects with the library.
pub(crate) fn link(compiler: &str, objects: &[&Path], program: &Path, options: &[&str]) {
    let library = library_dir();
    let entries = Path::new(env!("CARGO_MANIFEST_DIR")).join("entries/plain.s");
    let output = Command::new(compiler)
        .args(objects)
        .arg(entries)
        .arg("-o")
        .arg(program)
        .arg(format!("-L{}", library.display()))
        // Before other libraries, in front of which it stands.
        .arg("-lrsan_runtime")
        .args(options)
        .args(["-lpthread", "-lstdc++"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output();
    let name = program.display().to_string();
    success(&output.expect("the linker runs"), &name);
}

/// Compiles a program into a folder of the test's own; returns its path.
pub(crate) fn compile(test: &str, compiler: &str, file: &str) -> PathBuf {
    let work = work_dir(test, compiler);
    let program = work.join(Path::new(file).file_stem().expect("a name"));
    let object = program.with_extension("o");
    compile_object(compiler, file, &object, &["-fsanitize=thread", "-Wno-tsan"]);
    link(compiler, &[&object], &program, &[]);
    program
}

/// The programs of the tests, in alphabetical order.
pub(crate) fn programs() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(here())
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cc"))
        .map(|path| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// What a program says about itself in a line that begins so.
pub(crate) fn announced(file: &str, what: &str) -> Option<String> {
    let source = std::fs::read_to_string(here().join(file)).expect("the program");
    let mut lines = source.lines().take_while(|line| line.starts_with("//"));
    lines.find_map(|line| line.strip_prefix(what).map(str::to_owned))
}

/// Seconds after which a program counts as hung. Programs that yield a thousand times take a minute on a busy machine.
const LIMIT: &str = "600";

/// Runs a program; returns what it did and the lines that it logged.
pub(crate) fn run(program: &Path, options: &str) -> (Output, Vec<String>) {
    let log = program.with_extension("json");
    let _ = std::fs::remove_file(&log);
    let output = Command::new("timeout")
        .arg(LIMIT)
        .arg(program)
        // Cargo's path may lead to an older library.
        .env_remove("LD_LIBRARY_PATH")
        .env("RSAN_OPTIONS", format!("log={} {options}", log.display()))
        .output()
        .expect("the program runs");
    let lines = std::fs::read_to_string(&log).unwrap_or_default();
    (output, lines.lines().map(str::to_owned).collect())
}

pub(crate) fn kind(line: &str) -> &str {
    let (_, rest) = line
        .split_once("\"kind\":\"")
        .expect("a finding has a kind");
    rest.split('"').next().expect("the kind ends")
}

/// The kinds of what was found, as programs announce them.
pub(crate) fn kinds(lines: &[String]) -> String {
    match lines {
        [] => "none".to_owned(),
        lines => lines
            .iter()
            .map(|line| kind(line))
            .collect::<Vec<_>>()
            .join(" "),
    }
}
