//! C programs, compiled with the installed compilers, linked with the library and run; the first line of each says
//! what is to be found. A program also checks itself and exits with 0 if it computed what it should.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The exit status when there was a finding.
const FOUND: i32 = 66;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The library that belongs to this test: beside the test's executable, or one level up, or built now.
fn library_dir() -> PathBuf {
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
const CLANGS: &[&str] = &["clang", "clang-14", "clang-15", "clang-16", "clang-19"];

fn compilers() -> Vec<&'static str> {
    let installed = |name: &&str| {
        let found = Command::new(name).arg("--version").output().is_ok();
        if !found {
            eprintln!("skipped: no {name}");
        }
        found
    };
    ["gcc", "clang", "clang-14"]
        .into_iter()
        .filter(installed)
        .take(2)
        .collect()
}

fn success(output: &Output, what: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {errors}");
}

/// Compiles a program into a folder of the test's own; returns its path.
fn compile(test: &str, compiler: &str, file: &str) -> PathBuf {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(test)
        .join(compiler);
    std::fs::create_dir_all(&work).expect("a folder for the programs");
    let program = work.join(Path::new(file).file_stem().expect("a name"));
    let object = program.with_extension("o");
    let standard = if file.ends_with(".cc") {
        "-std=c++17"
    } else {
        "-std=gnu11"
    };
    let output = Command::new(compiler)
        .args([standard, "-g", "-O1", "-fsanitize=thread", "-c", "-o"])
        .arg(&object)
        .arg(here().join(file))
        .output();
    success(&output.expect("the compiler runs"), file);
    let library = library_dir();
    let output = Command::new(compiler)
        .arg(&object)
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", library.display()))
        .args(["-lrsan_runtime", "-lpthread", "-lstdc++"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output();
    success(&output.expect("the linker runs"), file);
    program
}

/// Runs a program; returns what it did and the lines that it logged.
fn run(program: &Path, options: &str) -> (Output, Vec<String>) {
    let log = program.with_extension("json");
    let _ = std::fs::remove_file(&log);
    let output = Command::new("timeout")
        .arg("60")
        .arg(program)
        // Cargo's path may lead to an older library.
        .env_remove("LD_LIBRARY_PATH")
        .env("RSAN_OPTIONS", format!("log={} {options}", log.display()))
        .output()
        .expect("the program runs");
    let lines = std::fs::read_to_string(&log).unwrap_or_default();
    (output, lines.lines().map(str::to_owned).collect())
}

fn kind(line: &str) -> &str {
    let (_, rest) = line
        .split_once("\"kind\":\"")
        .expect("a finding has a kind");
    rest.split('"').next().expect("the kind ends")
}

fn check(compiler: &str, name: &str) {
    let source = std::fs::read_to_string(here().join(name)).expect("the program");
    let first = source.lines().next().unwrap_or_default();
    let expected = first
        .strip_prefix("// findings: ")
        .expect("the first line says what to find");
    let program = compile("findings", compiler, name);
    let (output, lines) = run(&program, "");
    let found: Vec<_> = lines.iter().map(|line| kind(line)).collect();
    let found = if found.is_empty() {
        "none".to_owned()
    } else {
        found.join(" ")
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        found, expected,
        "{name} by {compiler}: {:?}\n{errors}",
        output.status
    );
    let by_itself = found == "none" || ["fork.c", "exec.c"].contains(&name);
    let status = if by_itself { 0 } else { FOUND };
    assert_eq!(
        output.status.code(),
        Some(status),
        "{name} by {compiler}\n{errors}"
    );
}

#[test]
fn programs_have_the_findings_that_they_announce() {
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
    assert!(names.len() > 20);
    for compiler in compilers() {
        for name in &names {
            check(compiler, name);
        }
    }
}

#[test]
fn options_change_status_and_output() {
    for compiler in compilers().into_iter().take(1) {
        let program = compile("options", compiler, "sb_relaxed.c");
        let (output, lines) = run(&program, "exitcode=7:summary=0");
        assert_eq!((output.status.code(), lines.len()), (Some(7), 1));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("T2: load (relaxed)") && errors.contains("T1: store (relaxed) of 1")
        );
        assert!(!errors.contains("1 finding"));
        let (output, lines) = run(&program, "robustness=0");
        assert_eq!((output.status.code(), lines.len()), (Some(0), 0));
        let (output, lines) = run(&program, "log_cap=0 nonsense=1");
        assert_eq!((output.status.code(), lines.len()), (Some(FOUND), 1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("unknown name in 'nonsense=1'"));
    }
}

#[test]
fn a_logged_frame_is_an_address_in_the_program() {
    for compiler in compilers().into_iter().take(1) {
        let program = compile("frames", compiler, "mp_relaxed.c");
        let (_, lines) = run(&program, "");
        let module = format!(
            "\"stack\":[{{\"module\":\"{}\",\"offset\":\"",
            program.display()
        );
        let (_, rest) = lines[0]
            .split_once(&module)
            .expect("a frame in the program");
        let offset = rest.split('"').next().expect("the offset ends");
        let output = Command::new("addr2line")
            .arg("-e")
            .arg(&program)
            .arg(offset)
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: no addr2line");
            return;
        };
        let place = String::from_utf8_lossy(&output.stdout);
        assert!(place.contains("mp_relaxed.c:"), "{place}");
    }
}

/// Parts of TSan's interface that are not there: Java, what a program defines for TSan to call, and what only
/// TSan's own tests use.
const MISSING: &[&str] = &[
    "__tsan_java_",
    "__tsan_default_",
    "__tsan_symbolize_external",
    "__tsan_testonly_",
    "__tsan_test_only_",
];

fn exported(library: &Path) -> Option<Vec<String>> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    // A versioned name ends with its version.
    Some(
        names
            .map(|name| name.split('@').next().unwrap_or(name).to_owned())
            .collect(),
    )
}

/// The runtime libraries of the installed compilers.
fn installed_runtimes() -> Vec<PathBuf> {
    let ask = |compiler: &&str, name: &str| {
        let output = Command::new(compiler)
            .arg(format!("-print-file-name={name}"))
            .output()
            .ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_absolute().then_some(path)
    };
    let gcc = ask(&"gcc", "libtsan.so");
    let clang = CLANGS
        .iter()
        .filter_map(|clang| ask(clang, "libclang_rt.tsan-x86_64.so"));
    gcc.into_iter().chain(clang).collect()
}

#[test]
fn the_interface_of_the_installed_runtimes_is_there_except_for_what_is_listed() {
    let Some(ours) = exported(&library_dir().join("librsan_runtime.so")) else {
        eprintln!("skipped: no nm");
        return;
    };
    let interface = |name: &&String| {
        ["__tsan_", "Annotate", "WTFAnnotate"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    for library in installed_runtimes() {
        let theirs = exported(&library).expect("nm runs");
        for name in theirs.iter().filter(interface) {
            let missing = MISSING.iter().any(|part| name.contains(part));
            assert_eq!(ours.contains(name), !missing, "{name}");
        }
    }
}
