//! Lines of the user's source with a mark under the part that matters.
//!
//! ```text
//!   --> sb.litmus:11:12
//!    |
//! 11 |   int r0 = atomic_load_explicit(x, memory_order_acquire);
//!    |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ P1 may read 0 here
//!    |
//!   ::: sb.litmus:5:3
//!    |
//!  5 |   atomic_store_explicit(x, 1, memory_order_release);
//!    |   ------------------------------------------------- although P0 wrote 1 here
//! ```

use crate::style::{Role, Style};
use rsan_model::{Source, Span};
use std::fmt::Write;

/// A place in the source and what to say about it.
pub(crate) struct Mark {
    /// Where.
    pub(crate) span: Span,
    /// What about it.
    pub(crate) label: String,
}

/// Shows the marks one below the other; the first is the main one and gets carets.
pub(crate) fn excerpt(source: &Source, marks: &[Mark], style: Style) -> String {
    let width = marks
        .iter()
        .map(|mark| source.line_column(mark.span.start).0.to_string().len())
        .max()
        .unwrap_or(1);
    let mut out = String::new();
    for (i, mark) in marks.iter().enumerate() {
        one(&mut out, source, mark, i == 0, width, style);
    }
    out
}

/// How much of a line is shown before and after the start of the mark, in columns.
const CONTEXT: usize = 100;

fn one(out: &mut String, source: &Source, mark: &Mark, main: bool, width: usize, style: Style) {
    let (line, column) = source.line_column(mark.span.start);
    let arrow = style.paint(Role::Faint, if main { "-->" } else { ":::" });
    let bar = style.paint(Role::Faint, "|");
    let number = style.paint(Role::Faint, &format!("{line:>width$}"));
    let role = if main { Role::Bad } else { Role::Other };
    let (text, indent, length) = shown(source, mark.span, line, column);
    let sign = if main { "^" } else { "-" }.repeat(length);
    let note = style.paint(role, &format!("{sign} {}", mark.label));
    let pad = " ".repeat(width);
    let name = &source.name;
    if !main {
        let _ = writeln!(out, "{pad} {bar}");
    }
    let _ = writeln!(
        out,
        "{pad}{arrow} {name}:{line}:{column}\n{pad} {bar}\n{number} {bar} {text}\n{pad} {bar} {indent}{note}",
        indent = " ".repeat(indent),
    );
}

/// The part of the line to show, where the underline starts in it, and how long it is: to the end of the span
/// or of its first line, and at least one.
fn shown(source: &Source, span: Span, line: usize, column: usize) -> (String, usize, usize) {
    let raw = source.line(line);
    let (end_line, end_column) = source.line_column(span.end);
    let until = if end_line == line {
        end_column - 1
    } else {
        raw.trim_end().chars().count()
    };
    let from = (column - 1).saturating_sub(CONTEXT);
    let part = |from: usize, to: usize| {
        let wanted = raw.chars().skip(from).take(to.saturating_sub(from));
        printable(&wanted.collect::<String>())
    };
    let to = column - 1 + CONTEXT;
    let mut text = part(from, to);
    let mut indent = part(from, column - 1).chars().count();
    let length = part(column - 1, until.min(to)).chars().count().max(1);
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

    fn show(text: &str, spans: &[(usize, usize)]) -> String {
        let source = Source::new("a.tpl", text);
        let marks: Vec<_> = spans
            .iter()
            .map(|&(start, end)| Mark {
                span: Span::new(start, end),
                label: "here".into(),
            })
            .collect();
        excerpt(&source, &marks, Style::Plain)
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
}
