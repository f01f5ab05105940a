//! The lines of a litmus test before its initial state: `C NAME`, then documentation and `Key=value` lines.

use crate::diagnostic::{Diagnostic, Result};
use rsan_model::Span;

/// What the header says.
#[derive(Debug)]
pub(crate) struct Header {
    /// The test's name.
    pub(crate) name: String,
    /// Where the initial state begins.
    pub(crate) end: usize,
}

/// The first word of a test, which names its language, and the byte where it begins.
pub(crate) fn language(text: &str) -> Option<(usize, &str)> {
    let start = skip_blank(text, 0).ok()?;
    let line = line_at(text, start);
    let (word, _) = line.split_once([' ', '\t'])?;
    Some((start, word))
}

/// Reads the header of a C test.
///
/// # Errors
/// When there is none, or something in it is not understood.
pub(crate) fn read_c(text: &str) -> Result<Header> {
    match language(text) {
        Some((_, "C")) => read(text),
        _ => {
            let start = skip_blank(text, 0)?;
            let line = line_at(text, start);
            let len = line.find(char::is_whitespace).unwrap_or(line.len());
            Err(Diagnostic::new(
                Span::new(start, start + len),
                "expected the header of a C litmus test",
            )
            .with_help("the first line is `C` and the test's name"))
        }
    }
}

/// Reads the header of a test whose language is known.
///
/// # Errors
/// When something in it is not understood.
pub(crate) fn read(text: &str) -> Result<Header> {
    let start = skip_blank(text, 0)?;
    let line = line_at(text, start);
    let word = line.find([' ', '\t']).unwrap_or(line.len());
    let name = &line[word..];
    let stop = ["(*", "/*", "//", "{", "\""]
        .iter()
        .filter_map(|mark| name.find(mark))
        .min()
        .unwrap_or(name.len());
    let pos = start + word + stop;
    let name = name[..stop].trim();
    if name.is_empty() {
        return Err(Diagnostic::new(
            Span::new(start, start + word),
            "this test has no name",
        ));
    }
    let end = skip_metadata(text, pos)?;
    Ok(Header {
        name: name.to_owned(),
        end,
    })
}
/// From `pos` to the `{` of the initial state.
fn skip_metadata(text: &str, mut pos: usize) -> Result<usize> {
    loop {
        pos = skip_blank(text, pos)?;
        let rest = &text[pos..];
        if rest.starts_with('{') || rest.is_empty() {
            return Ok(pos);
        }
        if let Some(inner) = rest.strip_prefix('"') {
            match inner.find('"') {
                Some(len) => pos += len + 2,
                None => {
                    return Err(Diagnostic::new(
                        Span::new(pos, pos + 1),
                        "this string does not end",
                    ));
                }
            }
            continue;
        }
        let line = line_at(text, pos);
        let is_key = |key: &str| {
            !key.is_empty()
                && key
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        match line.split_once('=') {
            Some((key, _)) if is_key(key.trim_end()) => pos += line.len(),
            _ => {
                let len = line.trim_end().len();
                return Err(Diagnostic::new(
                    Span::new(pos, pos + len),
                    "expected the initial state `{ ... }`, a \"string\" or a `Key=value` line",
                ));
            }
        }
    }
}

fn line_at(text: &str, pos: usize) -> &str {
    text[pos..].lines().next().unwrap_or("")
}

/// Skips blanks and comments.
fn skip_blank(text: &str, mut pos: usize) -> Result<usize> {
    loop {
        let rest = &text[pos..];
        let trimmed = rest.trim_start();
        pos += rest.len() - trimmed.len();
        let close = match trimmed.get(..2) {
            Some("(*") => "*)",
            Some("/*") => "*/",
            Some("//") => "\n",
            _ => return Ok(pos),
        };
        match trimmed[2..].find(close) {
            Some(len) => pos += 2 + len + close.len(),
            None if close == "\n" => return Ok(text.len()),
            None => {
                return Err(Diagnostic::new(
                    Span::new(pos, pos + 2),
                    "this comment does not end",
                ));
            }
        }
    }
}
