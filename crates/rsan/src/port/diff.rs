//! The changes of a repair as a diff of the sources.

use super::places::Places;
use super::scan::Dialect;
use super::source::{SourceChange, rewrite};
use crate::fence::output::unified;
use crate::files;
use rsan_ir::port::Placed;
use std::collections::BTreeMap;
use std::path::Path;

/// The sources of a program with changes.
#[derive(Default)]
pub(super) struct Changed {
    /// As `diff -u` prints them, one file after the other.
    pub(super) diff: String,
    /// The files that changed, with their new text.
    pub(super) files: Vec<(String, String)>,
    /// Changes without a place in the sources, each as a sentence.
    pub(super) unplaced: Vec<String>,
}

/// Makes changes in the sources.
pub(super) fn changed(changes: &[Placed], places: &Places<'_>) -> Changed {
    let mut out = Changed::default();
    let mut by_file: BTreeMap<&str, Vec<(&Placed, SourceChange)>> = BTreeMap::new();
    for placed in changes {
        let place = places.of(placed.function, placed.number, &[]);
        let own = place.filter(|place| !places.is_library(*place));
        let file = own.and_then(|place| Some((place, places.file(place)?)));
        match file {
            Some((place, file)) => {
                let change = SourceChange {
                    line: place.line,
                    column: place.column,
                    change: placed.change.clone(),
                };
                by_file.entry(file).or_default().push((placed, change));
            }
            None => out.unplaced.push(format!(
                "the change of instruction {} of `{}` has no line",
                placed.number,
                places.title(placed.function)
            )),
        }
    }
    for (file, changes) in by_file {
        let text = match files::read_text(Path::new(file), files::TEXT) {
            Ok(text) => text,
            Err(error) => {
                out.unplaced.push(format!("{file} cannot be read: {error}"));
                continue;
            }
        };
        let wanted: Vec<_> = changes.iter().map(|(_, change)| change.clone()).collect();
        let rewritten = rewrite(&text, Dialect::of(file), &wanted);
        let unplaced = rewritten.unplaced.iter();
        out.unplaced.extend(unplaced.map(|number| {
            let line = changes[*number].1.line;
            format!("the change at {file}:{line} has no place in the text of the line")
        }));
        out.diff.push_str(&unified(file, &text, &rewritten.text));
        out.files.push((file.to_owned(), rewritten.text));
    }
    out
}
