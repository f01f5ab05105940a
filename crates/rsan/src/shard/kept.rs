//! The result of a part in its folder: `result.json`, and a file with the executions that sampled runs have shown.

use super::{Asked, Shard};
use crate::files;
use rsan_report::Document;
use rsan_schedule::Fingerprint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What came of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    schema: String,
    shard: String,
    pub(crate) asked: Asked,
    /// Whether nothing is left of the part.
    pub(crate) finished: bool,
    /// Runs that were made.
    pub(crate) runs: u64,
    /// Of a part of what another one left: stands for what that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// Of an unfinished part: stands for what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<String>,
    /// Of an exploration: stands for what was dealt out to the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dealt: Option<String>,
    /// A hash of the file with executions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coverage: Option<String>,
    pub(crate) answers: Vec<Answer>,
}

/// What is said of one input, as if what was made of it were all that there is to make.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The place of the input among all.
    pub(crate) place: usize,
    pub(crate) document: Document,
}

const SCHEMA: &str = "rsan-shard/1";
const RESULT: &str = "result.json";

impl Kept {
    /// A result of a part.
    pub(crate) fn new(shard: &Shard, asked: Asked, answers: Vec<Answer>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            shard: shard.to_string(),
            asked,
            finished: true,
            runs: 0,
            from: None,
            left: None,
            dealt: None,
            coverage: None,
            answers,
        }
    }

    /// The result in a folder, if there is one.
    ///
    /// # Errors
    /// The message for the user, with the name of the file.
    pub(crate) fn read(folder: &Path, shard: &Shard) -> Result<Option<Self>, String> {
        let file = folder.join(RESULT);
        let fail = |what: &dyn std::fmt::Display| format!("{}: {what}", file.display());
        let text = match files::read_text(&file, files::RECORD) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(&error)),
        };
        let kept: Self = serde_json::from_str(&text)
            .map_err(|error| fail(&format!("not the result of a shard: {error}")))?;
        if kept.schema != SCHEMA {
            return Err(fail(&"the result of another version"));
        }
        if kept.shard != shard.to_string() {
            return Err(fail(&format!("the result of shard {}", kept.shard)));
        }
        Ok(Some(kept))
    }

    /// Writes the result, after what it refers to.
    ///
    /// # Errors
    /// The message for the user, with the name of the file.
    pub(crate) fn write(
        &mut self,
        folder: &Path,
        coverage: Option<&BTreeSet<Fingerprint>>,
    ) -> Result<(), String> {
        let fail = |file: PathBuf| move |error: io::Error| format!("{}: {error}", file.display());
        fs::create_dir_all(folder).map_err(fail(folder.to_owned()))?;
        if let Some(executions) = coverage {
            let bytes: Vec<u8> = executions.iter().flat_map(|e| e.0.to_le_bytes()).collect();
            let hash = files::checksum(&bytes);
            let file = coverage_file(folder, &hash);
            self.coverage = Some(hash);
            files::write(&file, &bytes).map_err(fail(file.clone()))?;
        }
        let file = folder.join(RESULT);
        let text = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let text = text.map_err(fail(file.clone()))?;
        files::write(&file, (text + "\n").as_bytes()).map_err(fail(file))
    }
}

/// Several processes may make the same part, and not come equally far: each result has its own file.
fn coverage_file(folder: &Path, hash: &str) -> PathBuf {
    folder.join(format!("coverage-{hash}"))
}

/// The executions that sampled runs of a part have shown; none if it is no such part.
///
/// # Errors
/// The message for the user, with the name of the file.
pub(crate) fn read_coverage(
    folder: &Path,
    kept: &Kept,
) -> Result<Option<BTreeSet<Fingerprint>>, String> {
    let Some(expected) = &kept.coverage else {
        return Ok(None);
    };
    let file = coverage_file(folder, expected);
    let name = file.display();
    let bytes = files::read(&file, files::LARGE).map_err(|error| format!("{name}: {error}"))?;
    if files::checksum(&bytes) != *expected {
        return Err(format!("{name}: damaged"));
    }
    let (all, _) = bytes.as_chunks();
    let all = all
        .iter()
        .map(|bytes| Fingerprint(u128::from_le_bytes(*bytes)));
    Ok(Some(all.collect()))
}
