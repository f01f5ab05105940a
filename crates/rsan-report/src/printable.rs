//! Text for terminals. Names of files, functions and threads, and what messages quote, may come from anybody: a control
//! character in them could change what the reader of a report sees. They are shown as escapes.

use crate::style::Style;
use std::borrow::Cow;

/// What colours look like, as [`Style::Color`] has them.
const COLOURS: &[&str] = &[
    "\x1b[0m",
    "\x1b[1m",
    "\x1b[2m",
    "\x1b[4m",
    "\x1b[31m",
    "\x1b[32m",
    "\x1b[33m",
    "\x1b[34m",
    "\x1b[35m",
    "\x1b[36m",
    "\x1b[1;31m",
    "\x1b[1;32m",
    "\x1b[1;33m",
    "\x1b[1;34m",
    "\x1b[1;35m",
    "\x1b[1;36m",
];

/// A text with nothing in it that a terminal obeys but ends of lines, tabs and, if the style has them, colours.
pub fn printable(text: &str, style: Style) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = COLOURS.iter().find(|colour| rest.starts_with(**colour));
        if let Some(colour) = colour.filter(|_| style == Style::Color) {
            shown.push_str(colour);
            rest = &rest[colour.len()..];
            continue;
        }
        push(&mut shown, c, is_control(c));
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(shown)
}

/// The same of a name, which stands in one line.
pub fn name(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| is_control(c) || c == '\n' || c == '\t';
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut shown, c, hidden(c));
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, c: char, hidden: bool) {
    match (hidden, c) {
        (false, c) => shown.push(c),
        (true, '\n' | '\t' | '\r') => shown.extend(c.escape_default()),
        (true, c) if c.is_ascii() => shown.push_str(&format!("\\x{:02x}", c as u32)),
        (true, c) => shown.extend(c.escape_unicode()),
    }
}

/// Control characters but ends of lines and tabs, and those that change the direction of text or cannot be seen.
fn is_control(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_shown_as_escapes() {
        let plain = |text| printable(text, Style::Plain).into_owned();
        assert_eq!(plain("a\tb\nüß"), "a\tb\nüß");
        assert_eq!(plain("\x1b]0;x\x07\x7f\r"), "\\x1b]0;x\\x07\\x7f\\r");
        assert_eq!(plain("\u{9b}2J\u{202e}"), "\\u{9b}2J\\u{202e}");
        assert_eq!(plain("\x1b[1mx\x1b[0m"), "\\x1b[1mx\\x1b[0m");
    }

    #[test]
    fn colours_stay_where_there_are_colours() {
        let colour = |text| printable(text, Style::Color).into_owned();
        assert_eq!(colour("\x1b[1;31mx\x1b[0m"), "\x1b[1;31mx\x1b[0m");
        assert_eq!(colour("\x1b[8mx\x1b[2J"), "\\x1b[8mx\\x1b[2J");
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(name("a\nno finding\t"), "a\\nno finding\\t");
        assert_eq!(name("a b"), "a b");
    }
}
