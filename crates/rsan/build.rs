//! Builds the sanitizer's shared library, which the command carries with it.
//!
//! The library is a crate of this workspace, built by a cargo of its own into a folder of its own, so its profile does
//! not depend on how the command is built. On platforms that the library does not support it is an empty file.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The one platform of the library.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What programs may include.
const HEADER: &str = "include/rsan.h";

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
        "rsan-schedule",
        "rsan-suppressions",
        "rsan-model",
    ] {
        for part in ["src", "Cargo.toml"] {
            let path = crates.join(name).join(part);
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={HEADER}");
    let out = PathBuf::from(variable("OUT_DIR"));
    let library = if variable("TARGET") == TARGET {
        let built = build(
            &crates.join("rsan-runtime/Cargo.toml"),
            &out.join("runtime"),
        );
        std::fs::read(&built).unwrap_or_else(|e| panic!("{}: {e}", built.display()))
    } else {
        Vec::new()
    };
    let file = out.join("librsan_runtime.so");
    std::fs::write(&file, &library).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    println!("cargo:rustc-env=RSAN_RUNTIME={}", file.display());
    let header = std::fs::read(HEADER).unwrap_or_else(|e| panic!("{HEADER}: {e}"));
    let hash = fnv(&[library, header].concat());
    println!("cargo:rustc-env=RSAN_RUNTIME_HASH={hash:016x}");
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
