//! What cargo says about a package, or a workspace.

use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workspace.
#[derive(Deserialize, Debug)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    pub(super) workspace_root: PathBuf,
    pub(super) target_directory: PathBuf,
}

/// A package of it.
#[derive(Deserialize, Debug)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    targets: Vec<Target>,
}

/// Something that cargo builds.
#[derive(Deserialize, Debug)]
struct Target {
    src_path: PathBuf,
    #[serde(default)]
    doctest: bool,
}

impl Metadata {
    /// Asks cargo, with those of the user's words that matter.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn ask(cargo: &OsString, words: &[OsString]) -> Result<Self, String> {
        let output = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .args(shared(words))
            // Where rustup was when it had no such toolchain is of no use to anybody.
            .env("RUST_LIB_BACKTRACE", "0")
            .output()
            .map_err(|error| format!("{}: {error}", cargo.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(said.strip_prefix("error: ").unwrap_or(&said).to_owned());
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
    }

    /// The name of a package.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        let package = self.packages.iter().find(|package| package.id == id)?;
        Some(&package.name)
    }

    /// What answers are about.
    pub(super) fn subject(&self) -> String {
        match self.packages.as_slice() {
            [only] => only.name.clone(),
            _ => {
                let name = self.workspace_root.file_name();
                let name = name.unwrap_or("workspace".as_ref());
                name.to_string_lossy().into_owned()
            }
        }
    }

    /// Whether one of these packages has doc tests, as far as its comments tell.
    pub(super) fn has_doc_tests(&self, names: &[&str]) -> bool {
        let packages = self.packages.iter();
        let mut wanted = packages.filter(|package| names.contains(&&*package.name));
        wanted.any(|package| {
            let mut tested = package.targets.iter().filter(|target| target.doctest);
            tested.any(|target| target.src_path.parent().is_some_and(|f| has_examples(f, 0)))
        })
    }
}

/// Folders below which sources are not looked for.
const DEPTH: usize = 8;

/// Whether a source in a folder has a block of code in its documentation.
fn has_examples(folder: &Path, depth: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return depth < DEPTH && has_examples(&path, depth + 1);
        }
        let is_source = path.extension().is_some_and(|e| e == "rs");
        is_source && fs::read_to_string(&path).is_ok_and(|text| text.lines().any(is_example))
    })
}

fn is_example(line: &str) -> bool {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
    comment.is_some_and(|text| text.trim_start().starts_with("```"))
}

/// The words of a command of cargo that `metadata` takes, too.
fn shared(words: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 2] = ["--manifest-path", "--config"];
    const ALONE: [&str; 3] = ["--locked", "--offline", "--frozen"];
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if ALONE.contains(&&*text) || (WITH_VALUE.contains(&name) && name != text) {
            kept.push(word.clone());
        } else if WITH_VALUE.contains(&&*text) {
            kept.push(word.clone());
            kept.extend(words.next().cloned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_the_package_are_shared() {
        let words = "-p a --manifest-path x --release --config=k=1 --offline y";
        let words: Vec<_> = words.split(' ').map(OsString::from).collect();
        let shared = shared(&words).join(" ".as_ref());
        assert_eq!(shared, "--manifest-path x --config=k=1 --offline");
    }

    #[test]
    fn blocks_in_comments_are_examples() {
        assert!(is_example("    /// ```no_run"));
        assert!(is_example("//! ```"));
        assert!(!is_example("// ```"));
        assert!(!is_example("/// text"));
    }
}
