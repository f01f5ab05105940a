//! The lines of the user's sources that findings name, so that a document is complete without the files.

use crate::files;
use rsan_report::document::{Excerpt, Finding, Frame, Place, place_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that a document has lines of, at most.
const FILES: usize = 100;

/// The lines around the places of the findings. What cannot be read is left out.
pub(crate) fn excerpts<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Excerpt> {
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for finding in findings {
        let events = finding
            .execution
            .iter()
            .flat_map(|execution| &execution.events);
        let events = events.filter_map(|event| place_of(&event.stack));
        let events = events.filter_map(Frame::place);
        let places = finding.places().into_iter().cloned();
        for Place { file, line, .. } in places.chain(events) {
            wanted.entry(file).or_default().extend(line);
        }
    }
    let files = wanted.into_iter().take(FILES);
    files
        .flat_map(|(file, lines)| of_file(&file, &lines))
        .collect()
}

fn of_file(file: &str, lines: &BTreeSet<u32>) -> Vec<Excerpt> {
    let Ok(bytes) = files::read(Path::new(file), files::TEXT) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    let ranges = Excerpt::around(lines.iter().copied(), all.len() as u32);
    Excerpt::of(file, &all, &ranges)
}
