//! `cargo xtask package`: what a release would publish, and the command built of that alone.
//!
//! The packages are unpacked in an empty folder outside the repository, as a workspace in which they stand for those of the
//! registry. Crates of others are those that Cargo has.

use crate::steps::{cargo, root};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A program of the repository with a finding, which the built command must find.
const PROGRAM: &str = "examples/dekker.c";

/// Makes the packages, builds the command, and lets it check a program.
pub(crate) fn run() -> ExitCode {
    let folder = std::env::temp_dir().join(format!("rsan-package-{}", std::process::id()));
    let result = build(&folder);
    match result {
        Ok(()) => {
            // What was built is worth nothing to anybody.
            let _ = std::fs::remove_dir_all(&folder);
            eprintln!("xtask: the packages are in target/package");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("xtask: {message}; see {}", folder.display());
            ExitCode::FAILURE
        }
    }
}

/// A package that is published.
struct Package {
    name: String,
    version: String,
}

impl Package {
    /// Its folder, and its file but for the end.
    fn title(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

fn build(folder: &Path) -> Result<(), String> {
    let packages = published()?;
    let mut make = cargo();
    make.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    for package in &packages {
        make.args(["--package", &package.name]);
    }
    succeed(&mut make)?;
    let parts = folder.join("parts");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&parts).map_err(failed)?;
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"parts/*\"]\n\n[patch.crates-io]\n".to_owned();
    for package in &packages {
        let (name, title) = (&package.name, package.title());
        let file = root().join(format!("target/package/{title}.crate"));
        let size = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        eprintln!("xtask: {title}: {} KiB", size.div_ceil(1024));
        succeed(
            Command::new("tar")
                .arg("-xzf")
                .arg(&file)
                .current_dir(&parts),
        )?;
        let _ = writeln!(manifest, "{name} = {{ path = \"parts/{title}\" }}");
    }
    std::fs::write(folder.join("Cargo.toml"), manifest).map_err(failed)?;
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(failed)?;
    succeed(
        cargo()
            .args(["build", "--offline", "--package", "rsan", "--target-dir"])
            .arg(folder.join("target"))
            .current_dir(folder),
    )?;
    check(&folder.join("target/debug/rsan"), &folder.join("cache"))
}

/// The packages that the manifests do not keep from being published.
fn published() -> Result<Vec<Package>, String> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish = false` is a list of no registries.
    let packages = packages.filter(|package| package["publish"].is_null());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(packages
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
        })
        .collect())
}

/// Lets the command check a program, with a cache of its own.
fn check(command: &Path, cache: &Path) -> Result<(), String> {
    let output = Command::new(command)
        .args(["check", "--exhaustive"])
        .arg(root().join(PROGRAM))
        .env("XDG_CACHE_HOME", cache)
        .current_dir(cache.parent().unwrap_or(cache))
        .output()
        .map_err(|error| format!("{}: {error}", command.display()))?;
    if output.status.code() == Some(1) {
        eprintln!("xtask: the command finds what is wrong with {PROGRAM}");
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("rsan check {PROGRAM}: {}\n{said}", output.status))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    eprintln!("xtask: {command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
