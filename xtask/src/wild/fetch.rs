//! Sources, from Debian and from crates.io, by their ordinary clients.
//!
//! apt gets a configuration of its own, below `target/wild/apt`, which knows the source packages of one suite and
//! nothing else; the system's is not touched.

use super::manifest::Case;
use crate::steps::{cargo, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite of the source packages.
const SUITE: &str = "bookworm";

/// What was fetched for a program.
pub(crate) struct Sources {
    /// Variables that say where.
    pub(crate) variables: Vec<(String, PathBuf)>,
    versions: Vec<String>,
}

impl Sources {
    /// The versions of all, for people.
    pub(crate) fn version(&self) -> String {
        self.versions.join(", ")
    }
}

/// Where everything is put.
pub(crate) fn work() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    root().join(target).join("wild")
}

/// Fetches what a program needs, if it is not there.
pub(crate) fn sources(case: &Case) -> Result<Sources, String> {
    let mut sources = Sources {
        variables: Vec::new(),
        versions: Vec::new(),
    };
    for package in &case.debian {
        let (folder, version) = debian(package)?;
        sources
            .variables
            .push((variable("DEBIAN", package), folder));
        sources.versions.push(format!("{package} {version}"));
    }
    for (name, folder, version) in crates(&case.name, &case.crates)? {
        sources.variables.push((variable("CRATE", &name), folder));
        sources.versions.push(format!("{name} {version}"));
    }
    Ok(sources)
}

fn variable(kind: &str, name: &str) -> String {
    let name = name
        .to_uppercase()
        .replace(|c: char| !c.is_alphanumeric(), "_");
    format!("{kind}_{name}")
}

/// A source package, unpacked and patched; where, and which version.
fn debian(package: &str) -> Result<(PathBuf, String), String> {
    let place = work().join("debian").join(package);
    let source = place.join("source");
    if !source.is_dir() {
        make(&place)?;
        let apt = apt()?;
        let mut download = Command::new("apt-get");
        download
            .args(&apt)
            .args(["--quiet", "source", "--download-only", package]);
        done(download.current_dir(&place))?;
        let description = file_with_extension(&place, "dsc")?;
        let partial = place.join("partial");
        let _ = std::fs::remove_dir_all(&partial);
        let mut unpack = Command::new("dpkg-source");
        done(
            unpack
                .args(["--no-check", "-x"])
                .arg(&description)
                .arg(&partial),
        )?;
        std::fs::rename(&partial, &source).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    let description = file_with_extension(&place, "dsc")?;
    let text = std::fs::read_to_string(&description)
        .map_err(|e| format!("{}: {e}", description.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("Version: "));
    Ok((source, version.unwrap_or("?").to_owned()))
}

/// Options that give apt a world of its own; its lists are fetched when they are not there.
fn apt() -> Result<Vec<String>, String> {
    let place = work().join("apt");
    for folder in ["lists/partial", "cache/archives/partial"] {
        make(&place.join(folder))?;
    }
    let list = place.join("sources.list");
    let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let line = format!("deb-src [signed-by={key}] http://deb.debian.org/debian {SUITE} main\n");
    std::fs::write(&list, line).map_err(|e| format!("{}: {e}", list.display()))?;
    let option = |name: &str, value: &Path| format!("-oDir::{name}={}", value.display());
    let options = vec![
        option("Etc::sourcelist", &list),
        option("Etc::sourceparts", Path::new("/dev/null")),
        option("State::lists", &place.join("lists")),
        option("Cache", &place.join("cache")),
        "-oAPT::Sandbox::User=root".to_owned(),
    ];
    let fetched = place.join("fetched");
    if !fetched.exists() {
        done(
            Command::new("apt-get")
                .args(&options)
                .args(["--quiet", "update"]),
        )?;
        std::fs::write(&fetched, "").map_err(|e| format!("{}: {e}", fetched.display()))?;
    }
    Ok(options)
}

/// Crates as dependencies of a package that exists only for that; name, folder and version of each.
fn crates(case: &str, wanted: &[String]) -> Result<Vec<(String, PathBuf, String)>, String> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let place = work().join("crates").join(case);
    make(&place.join("src"))?;
    let dependencies: String = wanted
        .iter()
        .filter_map(|text| text.split_once(' '))
        .map(|(name, version)| format!("{name} = \"{version}\"\n"))
        .collect();
    let manifest = place.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"wild\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependencies}"
    );
    for (path, text) in [
        (&manifest, text),
        (&place.join("src/lib.rs"), String::new()),
    ] {
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let mut metadata = cargo();
    metadata
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(&manifest);
    let output = metadata
        .output()
        .map_err(|e| format!("cannot run cargo: {e}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|_| errors.into_owned())?;
    wanted.iter().map(|text| package(&metadata, text)).collect()
}

fn package(metadata: &Value, wanted: &str) -> Result<(String, PathBuf, String), String> {
    let name = wanted.split(' ').next().unwrap_or(wanted);
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let package = packages.iter().find(|package| package["name"] == name);
    let text = |field: &str| package.and_then(|package| package[field].as_str());
    match (
        text("manifest_path").map(Path::new).and_then(Path::parent),
        text("version"),
    ) {
        (Some(folder), Some(version)) => {
            Ok((name.to_owned(), folder.to_owned(), version.to_owned()))
        }
        _ => Err(format!("cargo knows no crate {wanted}")),
    }
}

pub(crate) fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))
}

fn file_with_extension(folder: &Path, extension: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let found = files.find(|path| path.extension().is_some_and(|text| text == extension));
    found.ok_or_else(|| format!("{}: no .{extension} file", folder.display()))
}

/// Runs a command that must succeed.
pub(crate) fn done(command: &mut Command) -> Result<(), String> {
    eprintln!(
        "xtask: {}",
        super::report::shortened(&format!("{command:?}"))
    );
    let output = command
        .output()
        .map_err(|e| format!("cannot run {command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    Err(format!(
        "{command:?}: {}\n{}{}",
        output.status, texts[0], texts[1]
    ))
}
