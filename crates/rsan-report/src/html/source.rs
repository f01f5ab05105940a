//! Excerpts of sources, with what matters marked and explained.

use super::markup::Text;
use crate::document::{Document, Excerpt, Finding, Place, Role};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines that are shown before and after a place.
const AROUND: u32 = 4;
/// Lines of a place that are shown, at most.
const LONGEST: u32 = 12;
/// Columns of a line that are shown, at most.
const WIDEST: usize = 240;

/// The lines of a document's sources.
pub(super) struct Sources<'a>(BTreeMap<&'a str, Vec<&'a Excerpt>>);

impl<'a> Sources<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        let mut files: BTreeMap<&str, Vec<&Excerpt>> = BTreeMap::new();
        for excerpt in &document.sources {
            files.entry(&excerpt.file).or_default().push(excerpt);
        }
        Self(files)
    }

    fn line(&self, file: &str, line: u32) -> Option<&'a str> {
        let excerpts = self.0.get(file)?;
        excerpts.iter().find_map(|excerpt| excerpt.line(line))
    }
}

/// A place and what to say about it.
struct Mark {
    place: Place,
    label: Option<String>,
}

/// The excerpts of a finding, side by side, the main one first.
pub(super) fn excerpts(out: &mut String, finding: &Finding, sources: &Sources<'_>) {
    let marks = marks(finding);
    if marks.is_empty() {
        return;
    }
    out.push_str("<div class=\"sources\">\n");
    for (i, mark) in marks.iter().enumerate() {
        figure(out, mark, i == 0, sources);
    }
    out.push_str("</div>\n");
}

/// The places that a finding names, or those of its accesses.
fn marks(finding: &Finding) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    if let Some(place) = &finding.location {
        marks.push(Mark {
            place: place.clone(),
            label: finding.label.clone(),
        });
    }
    for related in &finding.related {
        marks.push(Mark {
            place: related.location.clone(),
            label: Some(related.message.clone()),
        });
    }
    if finding.related.is_empty() {
        let others = finding
            .accesses
            .iter()
            .filter(|access| access.role != Role::Access);
        for access in others {
            let Some(place) = access.place() else {
                continue;
            };
            let label = format!("{} by {}", access.operation, access.subject());
            marks.push(Mark {
                place,
                label: Some(label),
            });
        }
    }
    marks
}

fn figure(out: &mut String, mark: &Mark, main: bool, sources: &Sources<'_>) {
    let class = if main { "source main" } else { "source" };
    let _ = writeln!(
        out,
        "<figure class=\"{class}\"><figcaption><code>{}</code></figcaption>",
        Text(mark.place.file_line_column())
    );
    if !lines(out, mark, sources) {
        let label = mark.label.as_deref().unwrap_or("the source is not here");
        let _ = writeln!(out, "<p class=\"say\">{}</p>", Text(label));
    }
    out.push_str("</figure>\n");
}

/// The lines around a place, if that line is known.
fn lines(out: &mut String, mark: &Mark, sources: &Sources<'_>) -> bool {
    let place = &mark.place;
    let Some(first) = place.line else {
        return false;
    };
    if sources.line(&place.file, first).is_none() {
        return false;
    }
    let last = place.end_line.unwrap_or(first);
    let last = last.clamp(first, first.saturating_add(LONGEST));
    let known = |line: &u32| sources.line(&place.file, *line).is_some();
    let before = (1..first).rev().take(AROUND as usize).take_while(known);
    let start = before.last().unwrap_or(first);
    // The scrolling area can be reached with the keyboard.
    let _ = write!(
        out,
        "<pre tabindex=\"0\" role=\"group\" aria-label=\"{}\">",
        Text(place.file_line())
    );
    for number in start..=last.saturating_add(AROUND) {
        let Some(text) = sources.line(&place.file, number) else {
            break;
        };
        let marked = (first..=last).contains(&number);
        let class = if marked { "line marked" } else { "line" };
        let _ = write!(
            out,
            "<span class=\"{class}\" data-line=\"{number}\"><span class=\"number\">{number:>5}</span> "
        );
        if marked {
            marked_text(out, text, number, place);
        } else {
            let _ = write!(out, "{}", Text(part(text, 0, WIDEST)));
        }
        out.push_str("\n</span>");
        if number == last
            && let Some(label) = &mark.label
        {
            let _ = write!(
                out,
                "<span class=\"say\">{}{}\n</span>",
                " ".repeat(6 + indentation(text)),
                Text(label)
            );
        }
    }
    out.push_str("</pre>\n");
    true
}

/// A line of a place: the part of it between its columns is marked, the rest is not.
fn marked_text(out: &mut String, text: &str, number: u32, place: &Place) {
    let length = text.chars().count();
    let from = match place.column {
        Some(column) if place.line == Some(number) => (column.max(1) - 1) as usize,
        _ => indentation_in_characters(text),
    };
    let to = match place.end_column {
        Some(column) if place.end_line == Some(number) => (column.max(1) - 1) as usize,
        _ => text.trim_end().chars().count(),
    };
    let from = from.min(length);
    let to = to.clamp(from, length);
    let left = from.saturating_sub(WIDEST / 2);
    let right = (left + WIDEST).min(length);
    let to = to.min(right);
    let dots = |cut: bool| if cut { "…" } else { "" };
    let _ = write!(
        out,
        "{}{}<mark>{}</mark>{}{}",
        dots(left > 0),
        Text(part(text, left, from)),
        Text(part(text, from, to)),
        Text(part(text, to, right)),
        dots(right < length),
    );
}

/// The characters of a text from one position up to another one.
fn part(text: &str, from: usize, to: usize) -> String {
    let wanted = text.chars().skip(from).take(to.saturating_sub(from));
    wanted.collect()
}

fn indentation_in_characters(text: &str) -> usize {
    text.chars().take_while(|c| c.is_whitespace()).count()
}

/// In columns, as tabs are shown.
fn indentation(text: &str) -> usize {
    let blanks = text.chars().take_while(|c| c.is_whitespace());
    let columns: usize = blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum();
    columns.min(WIDEST / 4)
}
