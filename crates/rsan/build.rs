//! Builds the sanitizer's shared library, and the object that is linked with programs, which the command carries with it.
//!
//! The library's sources are those of other crates of the repository. The folder `runtime` has links to them, so that a package of
//! this crate has copies, and needs nothing else. A cargo of its own builds them, as a workspace that is made here, in a folder of
//! its own: how the command is built makes no difference to the library. On platforms that the library does not support both
//! files are empty.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The one platform of the library.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What programs may include.
const HEADER: &str = "include/rsan.h";

/// What they are linked with, beside the library.
const ENTRIES: &str = "runtime/rsan-runtime/entries/plain.s";

/// The library's own crate, and those that it consists of.
const LIBRARY: &str = "rsan-runtime";
const CRATES: &[&str] = &[
    LIBRARY,
    "rsan-clocks",
    "rsan-weak",
    "rsan-log",
    "rsan-schedule",
    "rsan-suppressions",
    "rsan-random",
    "rsan-model",
];

/// How the library is built, whatever the profile of the command.
const PROFILE: &str = "[profile.release]\ncodegen-units = 4\nstrip = \"debuginfo\"\n";

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
    for file in ["build.rs", HEADER, ENTRIES] {
        println!("cargo:rerun-if-changed={file}");
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let [library, entries] = if variable("TARGET") == TARGET {
        [build(&out.join("runtime")), assemble(&out)].map(|file| read(&file))
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

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Writes a file, unless it is as it should be: what is older than the results is not built again.
fn write(file: &Path, contents: &str) {
    let folder = file.parent().expect("files are in folders");
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        if std::fs::read(file).is_ok_and(|there| there == contents.as_bytes()) {
            return Ok(());
        }
        std::fs::write(file, contents)
    });
    written.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// Builds the object; returns its path. The compiler of Rust is an assembler that is there.
fn assemble(out: &Path) -> PathBuf {
    let text = Path::new(&variable("CARGO_MANIFEST_DIR")).join(ENTRIES);
    let (source, object) = (out.join("entries.rs"), out.join("entries.o"));
    let program = format!(
        "#![no_std]\n#![allow(bad_asm_style)]\ncore::arch::global_asm!(include_str!({text:?}), options(raw, att_syntax));\n"
    );
    write(&source, &program);
    let status = Command::new(variable("RUSTC"))
        .args(["--crate-type=lib", "--emit=obj", "--target", TARGET])
        .args(["-Ccodegen-units=1", "-Cpanic=abort", "-o"])
        .args([&object, &source])
        .status()
        .expect("rustc starts");
    assert!(status.success(), "the entries could not be assembled");
    object
}

/// Builds the library in a folder; returns its path.
fn build(folder: &Path) -> PathBuf {
    let manifest = workspace(folder);
    let results = folder.join("target");
    let cargo = |subcommand| {
        let mut cargo = Command::new(variable("CARGO"));
        cargo
            .args([subcommand, "--target", TARGET, "--manifest-path"])
            .arg(&manifest)
            .env("CARGO_TARGET_DIR", &results)
            // The user's own folder for intermediate results may be one that the outer cargo holds the lock of.
            .env("CARGO_BUILD_BUILD_DIR", &results);
        for name in NOT_INHERITED {
            cargo.env_remove(name);
        }
        cargo
    };
    // The command depends on the same few crates of others, so they are there, perhaps in versions that the lock file does not
    // have: those are taken, and no network is asked.
    let there = cargo("fetch")
        .arg("--offline")
        .stderr(Stdio::null())
        .status()
        .expect("cargo starts")
        .success();
    let status = cargo("build")
        .args(["--release", "--lib", "--package", LIBRARY])
        .args(there.then_some("--offline"))
        .status()
        .expect("cargo starts");
    assert!(
        status.success(),
        "the sanitizer's library could not be built"
    );
    results
        .join(TARGET)
        .join("release")
        .join("librsan_runtime.so")
}

/// Makes the workspace of the library in a folder; returns its manifest.
fn workspace(folder: &Path) -> PathBuf {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    for name in CRATES {
        let manifest = package.join("runtime").join(name).join("manifest.toml");
        let source = package.join("runtime").join(name).join("src");
        // In the repository these are links, and compilers should name the files that people edit.
        let source = source.canonicalize().unwrap_or(source);
        for path in [&manifest, &source] {
            println!("cargo:rerun-if-changed={}", path.display());
        }
        let text = member(name, &source, &text(&manifest));
        write(&folder.join(name).join("Cargo.toml"), &text);
    }
    // A package has a lock file of its own, and in the repository it is that of the workspace.
    let locks = ["Cargo.lock", "../../Cargo.lock"].map(|name| package.join(name));
    if let Some(lock) = locks.iter().find(|lock| lock.is_file()) {
        println!("cargo:rerun-if-changed={}", lock.display());
        write(&folder.join("Cargo.lock"), &text(lock));
    }
    let manifest = folder.join("Cargo.toml");
    let root = format!("[workspace]\nresolver = \"3\"\nmembers = {CRATES:?}\n\n{PROFILE}");
    write(&manifest, &root);
    manifest
}

/// The manifest of a crate of the library: that of the repository without what only the repository needs.
fn member(name: &str, source: &Path, original: &str) -> String {
    let kind = if name == LIBRARY { "cdylib" } else { "rlib" };
    let root = source.join("lib.rs");
    let [version, oldest] = ["CARGO_PKG_VERSION", "CARGO_PKG_RUST_VERSION"].map(variable);
    let mut text = format!(
        "[package]\nname = {name:?}\nversion = {version:?}\nrust-version = {oldest:?}\nedition = \"2024\"\n\n\
         [lib]\npath = {root:?}\ncrate-type = [{kind:?}]\n\n[dependencies]\n"
    );
    let dependencies = original
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter(|line| !line.contains("optional = true"));
    for line in dependencies {
        let _ = match line.strip_suffix(".workspace = true") {
            Some(other) => writeln!(text, "{other} = {{ path = \"../{other}\" }}"),
            None => writeln!(text, "{line}"),
        };
    }
    text
}

/// FNV-1a, to tell versions of the library apart.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
