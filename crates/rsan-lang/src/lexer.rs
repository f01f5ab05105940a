//! From text to tokens, for every reader.
//!
//! The languages differ in their punctuation and comments ([`Dialect`]); names and numbers are the same.

use crate::diagnostic::{Diagnostic, Result};
use rsan_model::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A name or keyword: letters, digits and `_`, not beginning with a digit.
    Word,
    /// A non-negative number.
    Int(i64),
    /// Punctuation, one of the dialect's.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where.
    pub(crate) span: Span,
}

/// Which comments a language has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comments {
    /// `//` to the end of the line.
    Line,
    /// `//`, `/* */`, and herd's `(* *)`. Inside a function body `(*` may also begin an expression, so there it
    /// opens a comment only when `*)` comes before the next `;`, `{` or `}`.
    Litmus,
}

/// What distinguishes the languages for the lexer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The punctuation, no element a prefix of a later one.
    pub(crate) puncts: &'static [&'static str],
    /// The comments.
    pub(crate) comments: Comments,
    /// Whether a leading 0 makes a number octal, as in C.
    pub(crate) octal: bool,
}

/// The tokens of `text` from byte `start`, with [`Kind::End`] as the last one.
///
/// # Errors
/// A character outside the language, a malformed number, a comment that does not end.
pub(crate) fn lex(text: &str, start: usize, dialect: Dialect) -> Result<Vec<Token>> {
    let mut lexer = Lexer {
        text,
        pos: start,
        dialect,
        braces: 0,
        groups: 0,
        tokens: Vec::new(),
    };
    while lexer.skip_blank()? {
        lexer.token()?;
    }
    let end = Span::new(text.len(), text.len());
    lexer.push(Kind::End, end);
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    pos: usize,
    dialect: Dialect,
    /// Depth of braces.
    braces: u32,
    /// Number of outermost brace pairs that were opened; the first is a litmus test's initial state.
    groups: u32,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.pos..]
    }

    fn push(&mut self, kind: Kind, span: Span) {
        self.tokens.push(Token { kind, span });
    }

    /// Skips blanks and comments; false at the end of the text.
    fn skip_blank(&mut self) -> Result<bool> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.pos += rest.len() - trimmed.len();
            let rest = self.rest();
            if rest.is_empty() {
                return Ok(false);
            }
            if rest.starts_with("//") {
                self.pos += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(close) = self.comment_end() {
                match self.text[self.pos + 2..].find(close) {
                    Some(i) => self.pos += i + 4,
                    None => {
                        let span = Span::new(self.pos, self.pos + 2);
                        return Err(Diagnostic::new(span, "this comment does not end")
                            .with_help(format!("`{close}` is missing")));
                    }
                }
            } else {
                return Ok(true);
            }
        }
    }

    /// What closes the block comment that begins here, if one does.
    fn comment_end(&self) -> Option<&'static str> {
        let rest = self.rest();
        match self.dialect.comments {
            Comments::Litmus if rest.starts_with("/*") => Some("*/"),
            Comments::Litmus if rest.starts_with("(*") => {
                let in_body = self.braces > 0 && self.groups > 1;
                let opens = !in_body || {
                    let inner = &rest[2..];
                    let statement = inner.find([';', '{', '}']).unwrap_or(inner.len());
                    inner[..statement].contains("*)")
                };
                opens.then_some("*)")
            }
            Comments::Litmus | Comments::Line => None,
        }
    }

    fn token(&mut self) -> Result<()> {
        let start = self.pos;
        let rest = self.rest();
        let first = rest.chars().next().expect("not at the end");
        if first.is_ascii_digit() {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let len = word_len(rest);
            self.pos += len;
            self.push(Kind::Word, Span::new(start, start + len));
            return Ok(());
        }
        let punct = self.dialect.puncts.iter().find(|p| rest.starts_with(**p));
        let Some(punct) = punct else {
            let span = Span::new(start, start + first.len_utf8());
            return Err(Diagnostic::new(
                span,
                format!("unexpected character `{}`", first.escape_debug()),
            ));
        };
        match *punct {
            "{" => {
                self.groups += u32::from(self.braces == 0);
                self.braces += 1;
            }
            "}" => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.pos += punct.len();
        self.push(Kind::Punct(punct), Span::new(start, self.pos));
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let start = self.pos;
        let len = word_len(self.rest());
        let word = &self.rest()[..len];
        let span = Span::new(start, start + len);
        let (digits, radix) = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None if self.dialect.octal && word.len() > 1 && word.starts_with('0') => {
                (&word[1..], 8)
            }
            None => (word, 10),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(Diagnostic::new(span, format!("`{word}` is not a number")));
        }
        let value = i64::from_str_radix(digits, radix)
            .map_err(|_| Diagnostic::new(span, "this number does not fit in 32 bits"))?;
        self.pos += len;
        self.push(Kind::Int(value), span);
        Ok(())
    }
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALECT: Dialect = Dialect {
        puncts: &["==", "=", "(", ")", "{", "}", "*", ";"],
        comments: Comments::Litmus,
        octal: true,
    };

    fn kinds(text: &str) -> Vec<Kind> {
        let tokens = lex(text, 0, DIALECT).expect("lexes");
        tokens.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_words_and_the_longest_punctuation() {
        assert_eq!(
            kinds("a1 == 0x1F 010 = 0"),
            [
                Kind::Word,
                Kind::Punct("=="),
                Kind::Int(31),
                Kind::Int(8),
                Kind::Punct("="),
                Kind::Int(0),
                Kind::End
            ]
        );
    }

    #[test]
    fn comments_of_all_kinds_are_skipped() {
        assert_eq!(kinds("// a\n/* b\n */ (* c *)"), [Kind::End]);
    }

    #[test]
    fn in_a_body_a_parenthesis_and_a_star_can_be_an_expression() {
        let init = "{ (* no; comment *) }";
        assert_eq!(kinds(init).len(), 3);
        let body = format!("{init} {{ (*d); (* yes *) }}");
        assert_eq!(kinds(&body).len(), 2 + 1 + 5 + 2);
    }

    #[test]
    fn what_is_not_a_token_is_an_error_with_its_place() {
        for (text, start, end) in [
            ("a §", 2, 4),
            ("12ab", 0, 4),
            ("x /* y", 2, 4),
            ("089", 0, 3),
        ] {
            let error = lex(text, 0, DIALECT).expect_err("refused");
            assert_eq!(error.span, Span::new(start, end), "{text}");
        }
    }
}
