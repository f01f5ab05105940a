//! What a reader says about a text that it does not accept.

use rsan_model::{Source, Span};
use std::fmt;

/// One thing that is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The offending part of the text.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    /// The same with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why a text was refused: at least one [`Diagnostic`], in the order in which they were found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics(Vec<Diagnostic>);

/// What the functions of a reader return; the first syntax error ends the reading.
pub(crate) type Result<T> = std::result::Result<T, Diagnostic>;

impl Diagnostics {
    /// The diagnostics as an error, or `value` when there are none.
    pub(crate) fn check<T>(found: Vec<Diagnostic>, value: T) -> std::result::Result<T, Self> {
        if found.is_empty() {
            Ok(value)
        } else {
            Err(Self(found))
        }
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// The first one.
    pub fn first(&self) -> &Diagnostic {
        &self.0[0]
    }

    /// All of them as text for a person: message, place, the source line with the span underlined, advice.
    pub fn render(&self, source: &Source, color: bool) -> String {
        let mut out = String::new();
        for diagnostic in &self.0 {
            render_one(&mut out, diagnostic, source, color);
        }
        out
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    /// The messages alone, without places; [`Diagnostics::render`] has those.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// How much of a source line is shown on each side of the start of the span.
const CONTEXT: usize = 80;

fn render_one(out: &mut String, diagnostic: &Diagnostic, source: &Source, color: bool) {
    let (red, bold, blue, reset) = if color {
        ("\x1b[1;31m", "\x1b[1m", "\x1b[1;34m", "\x1b[0m")
    } else {
        ("", "", "", "")
    };
    let (line, column) = source.line_column(diagnostic.span.start);
    let number = line.to_string();
    let margin = " ".repeat(number.len() + 1);
    let (shown, indent, width) = excerpt(source, diagnostic.span, line, column);
    let advice = match &diagnostic.help {
        Some(help) => format!(" {help}"),
        None => String::new(),
    };
    out.push_str(&format!(
        "{red}error{reset}{bold}: {message}{reset}\n\
         {margin}{blue}-->{reset} {name}:{line}:{column}\n\
         {margin} {blue}|{reset}\n\
         {blue} {number} |{reset} {shown}\n\
         {margin} {blue}|{reset} {pad}{red}{carets}{advice}{reset}\n",
        message = diagnostic.message,
        name = source.name,
        pad = " ".repeat(indent),
        carets = "^".repeat(width),
    ));
}

/// The part of the line that is shown, how far the underline is indented in it, and how wide it is.
/// Tabs and other control characters become single spaces, so that the underline stays in place.
fn excerpt(source: &Source, span: Span, line: usize, column: usize) -> (String, usize, usize) {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let text: Vec<char> = source.line(line).chars().map(printable).collect();
    let start = column - 1;
    let (end_line, end_column) = source.line_column(span.end);
    let end = if end_line == line {
        end_column - 1
    } else {
        text.len()
    };
    let from = start.saturating_sub(CONTEXT);
    let to = text.len().min(start + CONTEXT);
    let mut shown: String = text[from.min(to)..to].iter().collect();
    let mut indent = start - from;
    if from > 0 {
        shown.insert_str(0, "...");
        indent += 3;
    }
    if to < text.len() {
        shown.push_str("...");
    }
    let width = end.min(to.max(start + 1)).saturating_sub(start).max(1);
    (shown, indent, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, start: usize, end: usize) -> String {
        let diagnostic = Diagnostic::new(Span::new(start, end), "bad").with_help("do better");
        Diagnostics::from(diagnostic).render(&Source::new("a.c", text), false)
    }

    #[test]
    fn the_span_is_underlined_in_its_line() {
        assert_eq!(
            render("one\n\ttwo three\n", 9, 14),
            "error: bad\n  --> a.c:2:6\n   |\n 2 |  two three\n   |      ^^^^^ do better\n"
        );
    }

    #[test]
    fn a_span_over_several_lines_is_underlined_to_the_end_of_the_first() {
        let text = render("abc\ndef\n", 1, 6);
        assert!(text.ends_with(" 1 | abc\n   |  ^^ do better\n"), "{text}");
    }

    #[test]
    fn the_end_of_the_text_is_a_place() {
        let text = render("abc", 3, 3);
        assert!(text.ends_with(" 1 | abc\n   |    ^ do better\n"), "{text}");
    }

    #[test]
    fn long_lines_are_cut() {
        let text = render(&"x".repeat(100_000), 50_000, 99_000);
        assert!(text.len() < 600, "{} bytes", text.len());
    }

    #[test]
    fn colours_come_only_on_request() {
        let diagnostics = Diagnostics::from(Diagnostic::new(Span::new(0, 1), "bad"));
        let source = Source::new("a.c", "x");
        assert!(!diagnostics.render(&source, false).contains('\x1b'));
        assert!(diagnostics.render(&source, true).contains("\x1b[1;31m"));
    }
}
