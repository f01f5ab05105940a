//! Programs in TPL as their authors published them, where the user has them.

use rsan_lang::{ExpectedVerdicts, Property, expected_verdicts};
use rsan_model::Model;
use std::fs;
use std::path::{Path, PathBuf};

/// A published program.
pub(crate) struct Published {
    /// Path below the folder.
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// What its authors say.
    verdicts: ExpectedVerdicts,
}

impl Published {
    /// What its authors say, in our words; `None` when they say nothing.
    pub(crate) fn expected(&self, model: &str, property: &str) -> Option<&'static str> {
        let property = match property {
            "robust" => Property::Robust,
            _ => Property::Observational,
        };
        let model: Model = model.parse().ok()?;
        let holds = self.verdicts.get(property, model)?;
        Some(if holds { "robust" } else { "violation" })
    }
}

/// All programs in TPL below a folder, by name.
pub(crate) fn programs(folder: &Path) -> Result<Vec<Published>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let cannot = |e| format!("cannot read {}: {e}", next.display());
        for entry in fs::read_dir(&next).map_err(cannot)? {
            let file = entry.map_err(cannot)?.path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            if file.extension().is_none_or(|e| e != "tpl") {
                continue;
            }
            // What is no text is no program.
            if let Ok(text) = fs::read_to_string(&file) {
                let name = file.strip_prefix(folder).unwrap_or(&file);
                found.push(Published {
                    name: name.display().to_string(),
                    verdicts: expected_verdicts(&text),
                    file,
                });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
