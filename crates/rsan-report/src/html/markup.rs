//! Text in markup: nothing that a document says can end an element, start a script or turn text around.

use crate::printable::printable;
use crate::style::Style;
use std::fmt::{self, Display, Write};

/// Text that is escaped when it is written, for elements and for attributes in double quotes.
pub(super) struct Text<T>(pub(super) T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escape(f), "{}", self.0)
    }
}

/// A writer that escapes what goes through it.
struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let shown = printable(text, Style::Plain);
        shown.chars().try_for_each(|c| match c {
            '&' => self.0.write_str("&amp;"),
            '<' => self.0.write_str("&lt;"),
            '>' => self.0.write_str("&gt;"),
            '"' => self.0.write_str("&quot;"),
            '\'' => self.0.write_str("&#39;"),
            '\t' => self.0.write_str("    "),
            c => self.0.write_char(c),
        })
    }
}

/// Text of which a part in backquotes is code: the only markup that messages have.
pub(super) struct Prose<'a>(pub(super) &'a str);

impl Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once('`') {
            let Some((code, after)) = after.split_once('`') else {
                break;
            };
            write!(f, "{}<code>{}</code>", Text(before), Text(code))?;
            rest = after;
        }
        write!(f, "{}", Text(rest))
    }
}

/// A sentence with a capital letter and a full stop.
pub(super) struct Sentence<'a>(pub(super) &'a str);

impl Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.trim().trim_end_matches('.');
        let mut chars = text.chars();
        match chars.next() {
            Some(first) if first.is_lowercase() && !text.starts_with("x86") => {
                let capital: String = first.to_uppercase().collect();
                write!(f, "{capital}{}.", Prose(chars.as_str()))
            }
            Some(_) => write!(f, "{}.", Prose(text)),
            None => Ok(()),
        }
    }
}

/// The first characters of a text, with an ellipsis if there are more.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
            kept + "…"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_only_text() {
        let hostile = "</script><img src=x onerror=\"f('x')\">&\u{1b}[31m\0\u{202e}\t\u{85}";
        assert_eq!(
            Text(hostile).to_string(),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;f(&#39;x&#39;)&quot;&gt;&amp;\\x1b[31m\\x00\\u{202e}    \\u{85}"
        );
    }

    #[test]
    fn messages_have_code_and_end_with_a_full_stop() {
        assert_eq!(
            Sentence("may read `a<b` and `c").to_string(),
            "May read <code>a&lt;b</code> and `c."
        );
        assert_eq!(Sentence("Done.").to_string(), "Done.");
        assert_eq!(Sentence("").to_string(), "");
    }

    #[test]
    fn long_text_is_shortened_by_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}
