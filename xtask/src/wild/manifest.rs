//! The table of programs, `wild/cases.toml`.

use crate::steps::root;
use serde::Deserialize;
use std::path::PathBuf;

/// The table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) case: Vec<Case>,
}

/// A program, or a library with its tests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What commands call it.
    pub(crate) name: String,
    /// What it is.
    pub(crate) what: String,
    /// Debian source packages; where each is, is in `DEBIAN_NAME` when it is built.
    #[serde(default)]
    pub(crate) debian: Vec<String>,
    /// Crates and their versions; where each is, is in `CRATE_NAME`.
    #[serde(default, rename = "crate")]
    pub(crate) crates: Vec<String>,
    /// Shell commands, with `CC` and `CXX` as a user would set them, `CC_PATH` and `CXX_PATH` for those who accept one
    /// word only, and `WILD`, the folder of our own files.
    pub(crate) build: String,
    /// What is run.
    pub(crate) run: Vec<Run>,
    /// Beginnings of the names of functions that stand for a single access; the function of an access is the first
    /// one of its stack that has no such name.
    #[serde(default)]
    pub(crate) primitives: Vec<String>,
    /// Findings that a person has looked at.
    #[serde(default)]
    pub(crate) known: Vec<Known>,
}

/// One run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) name: String,
    /// A shell command, in the folder where it was built.
    pub(crate) command: String,
    /// Another one that runs at the same time and lets the first one end: the load of a server.
    pub(crate) beside: Option<String>,
    /// Seconds after which it is ended, with a sanitizer.
    pub(crate) limit: u32,
    /// How often it is run for its findings.
    #[serde(default = "once")]
    pub(crate) runs: u32,
    /// Whether it takes the same time however fast it is.
    #[serde(default)]
    pub(crate) fixed_time: bool,
}

fn once() -> u32 {
    1
}

impl Run {
    /// Whether a filter lets it through.
    pub(crate) fn is_selected(&self, filter: Option<&str>) -> bool {
        filter.is_none_or(|text| self.name.contains(text))
    }
}

/// A group of findings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    /// `data-race` or `weak-behaviour`; both if it is left out.
    pub(crate) kind: Option<String>,
    /// What the access does and its order (`load acquire`), if the functions have others that mean something else.
    pub(crate) access: Option<String>,
    /// Names of functions: that of the access, for a race that of one of both.
    pub(crate) functions: Vec<String>,
    pub(crate) verdict: Verdict,
    /// Why, in a sentence.
    pub(crate) why: String,
}

/// What a person says of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It can do harm.
    Bug,
    /// The language says it is undefined or allowed; compilers and processors of today do no harm.
    Formal,
    /// It happens and is meant to: the program copes with it.
    Benign,
    /// Code that waits; a stale value only makes it wait longer.
    Wait,
}

impl Manifest {
    /// The programs that are named, or all.
    pub(crate) fn selected(&self, names: &[String]) -> Result<Vec<&Case>, String> {
        if names.is_empty() {
            return Ok(self.case.iter().collect());
        }
        let find = |name: &String| {
            let case = self.case.iter().find(|case| case.name == *name);
            case.ok_or_else(|| format!("there is no program {name}; --list shows all"))
        };
        names.iter().map(find).collect()
    }
}

/// The folder of our own files.
pub(crate) fn folder() -> PathBuf {
    root().join("wild")
}

/// Reads the table.
pub(crate) fn read() -> Result<Manifest, String> {
    let path = folder().join("cases.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
