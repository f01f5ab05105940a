//! C programs, compiled with the installed compilers, linked with the library and run; the first line of each says
//! what is to be found. A program also checks itself and exits with 0 if it computed what it should.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{
    CLANGS, FOUND, announced, compile, compile_object, compilers, is_installed, kinds, library_dir,
    link, programs, run, work_dir,
};

fn check(compiler: &str, name: &str) {
    let expected = announced(name, "// findings: ").expect("the first line says what to find");
    let program = compile("findings", compiler, name);
    let (output, lines) = run(&program, "");
    let found = kinds(&lines);
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
    let names = programs();
    assert!(names.len() > 20);
    for compiler in compilers() {
        for name in &names {
            check(compiler, name);
        }
    }
}

/// One program for each part of the interface.
const EVERY_COMPILER: &[&str] = &[
    "bytes.c",
    "c11_threads.c",
    "deque_fences.c",
    "orders.c",
    "plain_race.c",
    "sb_release_acquire.c",
    "standard.cc",
    "strings.c",
    "wide_values.c",
];

#[test]
fn every_installed_compiler_will_do() {
    for compiler in CLANGS.iter().filter(|clang| is_installed(clang)) {
        for name in EVERY_COMPILER {
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

/// Old writes are there as long as somebody can use them, and no longer.
#[test]
fn logs_that_are_kept_whole_are_exact_and_short() {
    for compiler in compilers().into_iter().take(1) {
        let old = |options: &str| {
            let (_, lines) = run(&compile("whole", compiler, "old_write.c"), options);
            assert_eq!(lines.len(), 1, "{options}");
            lines[0].contains(r#""operation":"initial value""#)
        };
        assert_eq!((old("log_cap=0"), old("log_cap=8")), (true, false));
        let (output, lines) = run(&compile("whole", compiler, "long_log.c"), "log_cap=0");
        assert_eq!((output.status.code(), lines), (Some(0), Vec::new()));
    }
}

/// Epochs that begin anew in another slot, near the end of a generation, of the last but one, or of all: what is found is what is found from 0 on.
#[test]
fn findings_do_not_depend_on_where_epochs_begin() {
    const STARTS: [u32; 5] = [
        4_190_000,
        4_286_578_680,
        4_290_772_900,
        4_290_772_990,
        4_294_967_290,
    ];
    for compiler in compilers().into_iter().take(1) {
        for name in [
            "sb_relaxed.c",
            "mp_relaxed.c",
            "mutex_counter.c",
            "copy_race.c",
            "free_race.c",
            "long_log.c",
            "old_write.c",
        ] {
            let program = compile("epochs", compiler, name);
            let found = |options: &str| {
                let (output, lines) = run(&program, options);
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(!errors.contains(COUNTED), "{name} {options}: {errors}");
                (output.status.code(), kinds(&lines))
            };
            let expected = found("");
            for start in STARTS {
                let options = format!("first_epoch={start}");
                assert_eq!(found(&options), expected, "{name} {options}");
            }
        }
    }
}

const COUNTED: &str = "has made more writes and fences than can be counted";

/// Where there is no other slot, nothing is invented, and it is said once.
#[test]
fn the_end_of_the_epochs_is_said_once() {
    for compiler in compilers().into_iter().take(1) {
        let said = |program: &Path, options: &str| {
            let (output, lines) = run(program, options);
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            (errors.matches(COUNTED).count(), kinds(&lines))
        };
        let program = compile("epochs-end", compiler, "sb_relaxed.c");
        assert_eq!(said(&program, "").0, 0);
        assert_eq!(said(&program, "first_epoch=4294967295").0, 1);
        let program = compile("epochs-end", compiler, "mutex_counter.c");
        let none = || "none".to_owned();
        assert_eq!(said(&program, "first_epoch=4294967295"), (1, none()));
    }
}

/// Optimised, the call that says that a file is instrumented comes from the loader.
#[test]
fn calls_of_optimised_programs_are_seen() {
    for compiler in compilers() {
        for name in ["copy_race.c", "free_race.c"] {
            let program = work_dir("optimised", compiler).join(name);
            let object = program.with_extension("o");
            compile_object(compiler, name, &object, &["-fsanitize=thread", "-O2"]);
            link(compiler, &[&object], &program, &[]);
            let (_, lines) = run(&program, "");
            assert_eq!(kinds(&lines), "race", "{name} by {compiler}");
        }
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

#[test]
fn functions_left_by_jumps_are_off_the_stack() {
    for compiler in compilers() {
        let program = compile("jumps", compiler, "jumps.c");
        let (_, lines) = run(&program, "");
        let (_, access) = lines[0].split_once("\"access\":").expect("an access");
        let (_, stack) = access.split_once("\"stack\":[").expect("its stack");
        let stack = stack.split(']').next().expect("the stack ends");
        // The innermost function and the thread's.
        assert_eq!(stack.matches("\"module\"").count(), 2, "{stack}");
    }
}

/// Parts of TSan's interface that are not there: Java, what a program defines for TSan to call, and what only
/// TSan's own tests use.
const MISSING: &[&str] = &[
    "__tsan_java_",
    "__tsan_symbolize_external",
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
