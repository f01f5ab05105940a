//! The lines of the user's sources that findings name, so that a document is complete without the files.

use super::symbols::{Folders, find_standard};
use crate::files;
use rsan_report::document::{Excerpt, Finding, Frame, Place, place_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that a document has lines of, at most.
const FILES: usize = 100;

/// The lines around the places of the findings. What cannot be read is left out.
pub(crate) fn excerpts<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Excerpt> {
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut standard = BTreeSet::new();
    for finding in findings {
        let stacks = finding.accesses.iter().map(|access| &access.stack);
        let frames = stacks.filter_map(|stack| place_of(stack));
        let theirs = frames.filter(|frame| frame.is_of_standard());
        standard.extend(theirs.filter_map(|frame| frame.file.clone()));
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
    let folders = Folders::default();
    let files = wanted.into_iter().take(FILES);
    files
        .flat_map(|(file, lines)| {
            let path = match standard.contains(&file) {
                true => find_standard(&file),
                false => Some(folders.find(&file)),
            };
            path.map_or_else(Vec::new, |path| of_file(&file, &path, &lines))
        })
        .collect()
}

fn of_file(file: &str, path: &Path, lines: &BTreeSet<u32>) -> Vec<Excerpt> {
    let Ok(bytes) = files::read(path, files::TEXT) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    let ranges = Excerpt::around(lines.iter().copied(), all.len() as u32);
    Excerpt::of(file, &all, &ranges)
}
