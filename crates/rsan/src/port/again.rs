//! Whether a diff does what it should: the changed sources are compiled and analysed again.

use super::build::{NotBuilt, Part, build, part};
use super::code::{NoAnswer, ask, module_of, read};
use super::diff::Changed;
use super::limits::Limits;
use crate::args::PortArgs;
use crate::input;
use crate::sanitizer::scratch::Scratch;
use rsan_report::Style;
use serde_json::json;
use std::fs;
use std::path::Path;

/// How a program is read again.
pub(super) enum Again<'a> {
    /// From these files, if they are sources.
    Files(&'a [String]),
    /// From the text of a test.
    Test,
}

/// What may still be swapped in a program that was changed.
pub(super) enum Left {
    /// Nothing.
    Nothing,
    /// So many pairs.
    Pairs(usize),
    /// The changed sources are no program.
    NotCompiled,
    /// There are no sources to compile.
    Unchecked,
}

impl Again<'_> {
    /// Reads the program again, with changes.
    pub(super) fn left(
        &self,
        args: &PortArgs,
        changed: &Changed,
        limits: &mut Limits<'_>,
    ) -> Result<Left, NoAnswer> {
        if changed.files.is_empty() {
            return Ok(Left::Unchecked);
        }
        let scratch = Scratch::new().map_err(NoAnswer::Undecided)?;
        let new = |number: usize, extension: &str| {
            let name = format!("{number}.{extension}");
            scratch.path().join(name).display().to_string()
        };
        let mut copies = Vec::new();
        for (number, (file, text)) in changed.files.iter().enumerate() {
            let extension = Path::new(file).extension().and_then(|e| e.to_str());
            let copy = new(number, extension.unwrap_or("c"));
            let written = fs::write(&copy, text);
            written.map_err(|error| NoAnswer::Undecided(format!("{copy}: {error}")))?;
            copies.push((file.as_str(), copy));
        }
        match self {
            Self::Test => of_test(args, &copies, limits),
            Self::Files(files) => of_files(args, files, &copies, scratch.path(), limits),
        }
    }
}

fn of_test(
    args: &PortArgs,
    copies: &[(&str, String)],
    limits: &mut Limits<'_>,
) -> Result<Left, NoAnswer> {
    let [(_, copy)] = copies else {
        return Ok(Left::Unchecked);
    };
    let module = input::read(copy, Style::Plain).and_then(|input| module_of(&input));
    match module {
        Ok(module) => {
            let answer = ask(args, copy, &module, &Again::Test, limits)?;
            Ok(left(answer.warnings.len()))
        }
        Err(_) => Ok(Left::NotCompiled),
    }
}

fn of_files(
    args: &PortArgs,
    files: &[String],
    copies: &[(&str, String)],
    folder: &Path,
    limits: &mut Limits<'_>,
) -> Result<Left, NoAnswer> {
    if files.iter().any(|file| part(file) == Some(Part::Ir)) {
        return Ok(Left::Unchecked);
    }
    // clang reads the copies under the names of the files, headers included; rustc is given them.
    let overlay = folder.join("overlay.yaml");
    let roots = copies.iter().map(|(file, copy)| {
        let path = fs::canonicalize(file).unwrap_or_default();
        json!({ "type": "file", "name": path, "external-contents": copy })
    });
    let text = json!({ "version": 0, "roots": roots.collect::<Vec<_>>() }).to_string();
    let written = fs::write(&overlay, text);
    written.map_err(|error| NoAnswer::Undecided(format!("{}: {error}", overlay.display())))?;
    let files = files.iter().map(|file| match part(file) {
        Some(Part::Rust) => {
            let copy = copies.iter().find(|(name, _)| name == file);
            copy.map_or_else(|| file.clone(), |(_, copy)| copy.clone())
        }
        _ => fs::canonicalize(file).map_or_else(|_| file.clone(), |p| p.display().to_string()),
    });
    let files: Vec<String> = files.collect();
    let built = match build(&files, args, Some(&overlay), limits) {
        Ok(built) => built,
        Err(NotBuilt::Bad(_)) => return Ok(Left::NotCompiled),
        Err(other) => return Err(other.into()),
    };
    let module = read(&built, "the changed program", limits)?;
    let answer = ask(
        args,
        "the changed program",
        &module,
        &Again::Files(&files),
        limits,
    )?;
    Ok(left(answer.warnings.len()))
}

fn left(pairs: usize) -> Left {
    match pairs {
        0 => Left::Nothing,
        _ => Left::Pairs(pairs),
    }
}
