//! Builds the sanitizer's shared library, and the object that is linked with programs, which the command carries with it.
//!
//! The library is a crate of this workspace, built by a cargo of its own into a folder of its own, so its profile does
//! not depend on how the command is built. On platforms that the library does not support they are empty files.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The one platform of the library.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What programs may include.
const HEADER: &str = "include/rsan.h";

/// What they are linked with, beside the library.
const ENTRIES: &str = "../rsan-runtime/entries/plain.s";

/// What the outer cargo, or clippy, says to its own compilers.
const NOT_INHERITED: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "CLIPPY_ARGS",
    "CARGO_BUILD_TARGET",
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

fn main() {
    let crates = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    for name in [
        "rsan-runtime",
        "rsan-clocks",
        "rsan-weak",
        "rsan-log",
        "rsan-schedule",
        "rsan-suppressions",
        "rsan-random",
        "rsan-model",
    ] {
        for part in ["src", "Cargo.toml"] {
            let path = crates.join(name).join(part);
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={HEADER}");
    println!("cargo:rerun-if-changed={ENTRIES}");
    let out = PathBuf::from(variable("OUT_DIR"));
    let [library, entries] = if variable("TARGET") == TARGET {
        let manifest = crates.join("rsan-runtime/Cargo.toml");
        [build(&manifest, &out.join("runtime")), assemble(&out)].map(|file| read(&file))
    } else {
        [Vec::new(), Vec::new()]
    };
    for (name, variable, contents) in [
        ("librsan_runtime.so", "RSAN_RUNTIME", &library),
        ("plain.o", "RSAN_ENTRIES", &entries),
    ] {
        let file = out.join(name);
        std::fs::write(&file, contents).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        println!("cargo:rustc-env={variable}={}", file.display());
    }
    let hash = fnv(&[library, entries, read(Path::new(HEADER))].concat());
    println!("cargo:rustc-env=RSAN_RUNTIME_HASH={hash:016x}");
}

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Builds the object; returns its path. The compiler of Rust is an assembler that is there.
fn assemble(out: &Path) -> PathBuf {
    let text = Path::new(&variable("CARGO_MANIFEST_DIR")).join(ENTRIES);
    let (source, object) = (out.join("entries.rs"), out.join("entries.o"));
    let program = format!(
        "#![no_std]\n#![allow(bad_asm_style)]\ncore::arch::global_asm!(include_str!({text:?}), options(raw, att_syntax));\n"
    );
    std::fs::write(&source, program).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let status = Command::new(variable("RUSTC"))
        .args(["--crate-type=lib", "--emit=obj", "--target", TARGET])
        .args(["-Ccodegen-units=1", "-Cpanic=abort", "-o"])
        .args([&object, &source])
        .status()
        .expect("rustc starts");
    assert!(status.success(), "the entries could not be assembled");
    object
}

/// Builds the library; returns its path.
fn build(manifest: &Path, target_dir: &Path) -> PathBuf {
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .args(["build", "--release", "--lib", "--target", TARGET])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target_dir)
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    for name in NOT_INHERITED {
        cargo.env_remove(name);
    }
    let status = cargo.status().expect("cargo starts");
    assert!(
        status.success(),
        "the sanitizer's library could not be built"
    );
    target_dir
        .join(TARGET)
        .join("release")
        .join("librsan_runtime.so")
}

/// FNV-1a, to tell versions of the library apart.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
