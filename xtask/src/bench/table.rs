//! The table of programs that stands beside them: `programs.toml`.

use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads the table of a folder.
pub(crate) fn read<T: DeserializeOwned>(folder: &Path) -> Result<T, String> {
    let path = folder.join("programs.toml");
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{shown}: {e}"))
}
