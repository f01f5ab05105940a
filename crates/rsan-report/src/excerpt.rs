//! Lines of the user's source with a mark under the part that matters.
//!
//! ```text
//!   --> sb.litmus:11:12
//!    |
//! 11 |   int r0 = atomic_load_explicit(x, memory_order_acquire);
//!    |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ P1 may read the stale value 0 here
//!    |
//!   ::: sb.litmus:5:3
//!    |
//!  5 |   atomic_store_explicit(x, 1, memory_order_release);
//!    |   ------------------------------------------------- although P0 wrote 1 here before
//! ```

use crate::document::Place;
use crate::printable::name;
use crate::style::{Role, Style};
use std::fmt::Write;

/// A place in a source and what to say about it.
pub(crate) struct Mark<'a> {
    /// Where.
    pub(crate) place: &'a Place,
    /// The line that stands there, if it is known.
    pub(crate) line: Option<&'a str>,
    /// What about it.
    pub(crate) label: String,
}

/// The width of the line numbers.
pub(crate) fn width(marks: &[Mark<'_>]) -> usize {
    let digits = |mark: &Mark<'_>| mark.place.line.map_or(1, |line| line.to_string().len());
    marks.iter().map(digits).max().unwrap_or(1)
}

/// Shows the marks one below the other; the first is the main one and gets carets.
pub(crate) fn excerpt(marks: &[Mark<'_>], style: Style) -> String {
    let width = width(marks);
    let mut out = String::new();
    for (i, mark) in marks.iter().enumerate() {
        one(&mut out, mark, i == 0, width, style);
    }
    out
}

/// How much of a line is shown before and after the start of the mark, in columns.
const CONTEXT: usize = 100;

fn one(out: &mut String, mark: &Mark<'_>, main: bool, width: usize, style: Style) {
    let arrow = style.paint(Role::Faint, if main { "-->" } else { ":::" });
    let bar = style.paint(Role::Faint, "|");
    let role = if main { Role::Bad } else { Role::Other };
    let pad = " ".repeat(width);
    let place = mark.place.file_line_column();
    if !main {
        let _ = writeln!(out, "{pad} {bar}");
    }
    let place = name(&place);
    let (Some(raw), Some(line)) = (mark.line, mark.place.line) else {
        let label = style.paint(role, &mark.label);
        let _ = writeln!(out, "{pad}{arrow} {place}: {label}");
        return;
    };
    let number = style.paint(Role::Faint, &format!("{line:>width$}"));
    let (text, indent, length) = shown(raw, mark.place);
    let sign = if main { "^" } else { "-" }.repeat(length);
    let note = style.paint(role, &format!("{sign} {}", mark.label));
    let _ = writeln!(
        out,
        "{pad}{arrow} {place}\n{pad} {bar}\n{number} {bar} {text}\n{pad} {bar} {indent}{note}",
        indent = " ".repeat(indent),
    );
}

/// The columns of a line, from 0, that are marked: to the end of the place or of its first line; the word if the end is not known;
/// all but the blanks if the column is not.
fn marked(raw: &str, place: &Place) -> (usize, usize) {
    let length = raw.trim_end().chars().count();
    let Some(column) = place.column else {
        let blanks = raw.chars().take_while(|c| c.is_whitespace()).count();
        return (blanks.min(length), length);
    };
    let start = (column as usize).saturating_sub(1);
    let end = match (place.end_line, place.end_column) {
        (Some(line), Some(end)) if Some(line) == place.line => end as usize - 1,
        (Some(_), Some(_)) => length,
        _ => {
            let word = |c: &char| c.is_alphanumeric() || *c == '_';
            start + raw.chars().skip(start).take_while(word).count()
        }
    };
    (start, end)
}

/// The part of the line to show, where the underline starts in it, and how long it is: at least one.
fn shown(raw: &str, place: &Place) -> (String, usize, usize) {
    let (start, end) = marked(raw, place);
    let from = start.saturating_sub(CONTEXT);
    let part = |from: usize, to: usize| {
        let wanted = raw.chars().skip(from).take(to.saturating_sub(from));
        printable(&wanted.collect::<String>())
    };
    let to = start + CONTEXT;
    let mut text = part(from, to).trim_end().to_owned();
    let mut indent = part(from, start).chars().count();
    let length = part(start, end.min(to)).chars().count().max(1);
    if from > 0 {
        text.insert_str(0, "...");
        indent += 3;
    }
    if raw.chars().nth(to).is_some() {
        text.push_str("...");
    }
    (text, indent, length)
}

/// Tabs as four spaces, so that what stands below a character is below it; other control characters as `?`, so
/// that a source cannot steer the terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place;
    use rsan_model::{Source, Span};

    fn show(text: &str, spans: &[(usize, usize)]) -> String {
        let source = Source::new("a.tpl", text);
        let places = spans.iter().map(|&(start, end)| {
            let span = Span::new(start, end);
            place(Some(&source), Some(span)).expect("there is a source")
        });
        let places: Vec<_> = places.collect();
        let mark = |place| Mark {
            place,
            line: place.line.map(|line| source.line(line as usize)),
            label: "here".to_owned(),
        };
        let marks: Vec<_> = places.iter().map(mark).collect();
        excerpt(&marks, Style::Plain)
    }

    #[test]
    fn the_mark_stands_below_its_text() {
        assert_eq!(
            show("fn P {\n  x.store(1);\n}\n", &[(9, 19), (0, 4)]),
            concat!(
                " --> a.tpl:2:3\n",
                "  |\n",
                "2 |   x.store(1);\n",
                "  |   ^^^^^^^^^^ here\n",
                "  |\n",
                " ::: a.tpl:1:1\n",
                "  |\n",
                "1 | fn P {\n",
                "  | ---- here\n",
            )
        );
    }

    #[test]
    fn tabs_long_spans_and_wild_offsets_are_harmless() {
        assert!(
            show("\tx = 1;\n\ty = 2;", &[(1, 15)]).contains("1 |     x = 1;\n  |     ^^^^^^ here")
        );
        assert!(show("é\u{1b}[31m;", &[(0, 2)]).contains("1 | é?[31m;\n  | ^ here"));
        assert!(show("x", &[(40, 90)]).contains("1:2"));
        assert!(show("", &[(0, 0)]).contains("1:1"));
        assert!(show(&"x".repeat(100_000), &[(50_000, 99_000)]).len() < 600);
    }

    #[test]
    fn a_column_without_an_end_marks_a_word_and_a_line_alone_all_of_it() {
        let mut place = Place {
            file: "a.c".to_owned(),
            line: Some(7),
            column: Some(3),
            end_line: None,
            end_column: None,
        };
        let show = |place: &Place| {
            let (line, label) = (Some("  count += 1;"), "here".to_owned());
            excerpt(&[Mark { place, line, label }], Style::Plain)
        };
        assert!(show(&place).ends_with("7 |   count += 1;\n  |   ^^^^^ here\n"));
        place.column = None;
        assert!(show(&place).ends_with("7 |   count += 1;\n  |   ^^^^^^^^^^^ here\n"));
        place.line = Some(70);
        let unknown = excerpt(
            &[Mark {
                place: &place,
                line: None,
                label: "here".to_owned(),
            }],
            Style::Plain,
        );
        assert_eq!(unknown, "  --> a.c:70: here\n");
    }
}
