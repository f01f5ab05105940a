//! Programs in Rust, compiled by the compiler that builds this: its instrumentation is still unstable.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{FOUND, kinds, library_dir, run, success, work_dir};

/// The version whose options these are.
const KNOWN: &str = "rustc 1.95.";

/// Compiles a program of `tests/rust`; none if this is another version of the compiler that has other options.
fn compile(name: &str) -> Option<PathBuf> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let library = library_dir();
    let program = work_dir("rust", "rustc").join(name).with_extension("");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust");
    let output = Command::new(&rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["--edition", "2024", "-g", "-O", "-Zsanitizer=thread"])
        .args([
            "-Zexternal-clangrt",
            "-Cunsafe-allow-abi-mismatch=sanitizer",
            // The standard library is not instrumented: as a library of its own it is left alone.
            "-Cprefer-dynamic",
            "-Crpath",
        ])
        .arg(format!(
            "-Zpre-link-args=-L{0} -Wl,--no-as-needed -lrsan_runtime -Wl,-rpath,{0}",
            library.display()
        ))
        .arg("-o")
        .arg(&program)
        .arg(path.join(name))
        .output()
        .expect("the compiler runs");
    let version = Command::new(&rustc).arg("--version").output();
    let version = version.expect("the compiler runs").stdout;
    if !output.status.success() && !version.starts_with(KNOWN.as_bytes()) {
        eprintln!("skipped: the options are those of {KNOWN}");
        return None;
    }
    success(&output, name);
    Some(program)
}

#[test]
fn what_a_rust_program_does_right_is_no_finding() {
    if let Some(program) = compile("ordered.rs") {
        let (output, lines) = run(&program, "");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(kinds(&lines), "none", "{errors}");
        assert_eq!(output.status.code(), Some(0), "{errors}");
    }
}

#[test]
fn what_a_rust_program_does_wrong_is_found() {
    if let Some(program) = compile("wrong.rs") {
        let (output, lines) = run(&program, "");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(kinds(&lines), "violation race", "{errors}");
        assert_eq!(output.status.code(), Some(FOUND), "{errors}");
    }
}
