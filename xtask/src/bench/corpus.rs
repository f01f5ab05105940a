//! The corpus, as far as benchmarks need it.

use crate::steps::root;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Manifest {
    program: Vec<Program>,
}

/// A row of `litmus/corpus.toml`.
#[derive(Deserialize)]
pub(crate) struct Program {
    /// Path below `litmus/`.
    pub(crate) file: String,
    robust: BTreeMap<String, String>,
    observational: BTreeMap<String, String>,
    size: String,
}

impl Program {
    /// Whether it is one of those that the peer's authors measured, or large.
    pub(crate) fn is_measured(&self) -> bool {
        self.file.starts_with("rocker-tables/") || !self.is_small()
    }

    /// Whether it must be answered at once.
    pub(crate) fn is_small(&self) -> bool {
        self.size == "small"
    }

    /// The expected verdict of a property under a model.
    pub(crate) fn expected(&self, model: &str, property: &str) -> Option<&str> {
        let verdicts = match property {
            "robust" => &self.robust,
            _ => &self.observational,
        };
        verdicts.get(model).map(String::as_str)
    }
}

/// All rows.
pub(crate) fn programs() -> Result<Vec<Program>, String> {
    let path = root().join("litmus/corpus.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let manifest: Manifest =
        toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(manifest.program)
}
