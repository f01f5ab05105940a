//! Fixes as changes of text, where the text is known: another order is, if its line names the old one once. Where a fence
//! may stand depends on the statements around, so it is left to the message.

use super::log::{ArtifactChange, Fix, Message, Region, Replacement, Text};
use super::places::Files;
use crate::document::{Change, Document, Finding, order_in_rust};
use std::collections::BTreeMap;

/// The fix of a finding, if all its changes are known as text.
pub(super) fn fixes(document: &Document, finding: &Finding, files: &mut Files) -> Vec<Fix> {
    let Some(fix) = &finding.fix else {
        return Vec::new();
    };
    let edits: Option<Vec<_>> = fix.changes.iter().map(|c| edit(document, c)).collect();
    let mut by_file: BTreeMap<String, Vec<Replacement>> = BTreeMap::new();
    for (file, replacement) in edits.unwrap_or_default() {
        by_file.entry(file).or_default().push(replacement);
    }
    if by_file.is_empty() {
        return Vec::new();
    }
    let change = |(file, replacements): (String, _)| ArtifactChange {
        artifact_location: files.uri(&file),
        replacements,
    };
    vec![Fix {
        description: Text::plain(fix.message.clone()),
        artifact_changes: by_file.into_iter().map(change).collect(),
    }]
}

fn edit(document: &Document, change: &Change) -> Option<(String, Replacement)> {
    match change {
        Change::Fence { .. } => None,
        Change::Order {
            from, to, location, ..
        } => {
            let place = location.as_ref()?;
            let (line, text) = (place.line?, document.line(place)?);
            let (from, to) = match place.is_of_rust() {
                true => (order_in_rust(from), order_in_rust(to)),
                false => (from.clone(), to.clone()),
            };
            let start = match place.is_of_rust() {
                true => only_word(text, &from),
                false => only(text, &from),
            }?;
            let column = |bytes: usize| text[..bytes].chars().count() as u32 + 1;
            let deleted_region = Region {
                start_line: line,
                start_column: Some(column(start)),
                end_line: Some(line),
                end_column: Some(column(start + from.len())),
                snippet: None,
            };
            let inserted_content = Message { text: to };
            let replacement = Replacement {
                deleted_region,
                inserted_content,
            };
            Some((place.file.clone(), replacement))
        }
    }
}

/// Where the only `memory_order_ORDER`, or `memory_order::ORDER`, of a line names its order.
fn only(line: &str, order: &str) -> Option<usize> {
    let prefixes = ["memory_order_", "memory_order::"];
    let mut found = prefixes.iter().flat_map(|prefix| {
        let starts = line.match_indices(prefix).map(|(at, _)| at + prefix.len());
        starts.filter(|start| {
            let rest = line[*start..].strip_prefix(order);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Where a word stands in a line that has it once.
fn only_word(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = line.match_indices(word).map(|(at, _)| at).filter(|at| {
        !line[..*at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{only, only_word};

    #[test]
    fn an_order_of_rust_is_a_word() {
        let line = "X.store(1, Ordering::Relaxed); // not RelaxedOrder";
        assert_eq!(only_word(line, "Relaxed"), Some(21));
        let twice = "X.compare_exchange(0, 1, Relaxed, Relaxed)";
        assert_eq!(only_word(twice, "Relaxed"), None);
    }

    #[test]
    fn an_order_is_found_where_it_stands_once() {
        let line = "x.store(1, std::memory_order_release);";
        assert_eq!(only(line, "release"), Some(29));
        assert_eq!(
            only("x.load(std::memory_order::relaxed)", "relaxed"),
            Some(26)
        );
        assert_eq!(only(line, "acquire"), None);
        // `acq` is no order of this line, but the start of one.
        assert_eq!(only("x.load(memory_order_acquire)", "acq"), None);
        let twice = "f(x.load(memory_order_relaxed), y.load(memory_order_relaxed))";
        assert_eq!(only(twice, "relaxed"), None);
        assert_eq!(only("x.load()", "seq_cst"), None);
    }
}
