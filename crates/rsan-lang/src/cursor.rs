//! A position in a list of tokens, with the questions that recursive-descent parsers ask.

use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::{Dialect, Kind, Token, lex};
use crate::limits;
use rsan_model::Span;

/// A name in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Where.
    pub(crate) span: Span,
}

/// The parser's place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    pos: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    /// At the first token of `text` after byte `start`.
    ///
    /// # Errors
    /// When the text cannot be cut into tokens.
    pub(crate) fn new(text: &'a str, start: usize, dialect: Dialect) -> Result<Self> {
        Ok(Self {
            text,
            tokens: lex(text, start, dialect)?,
            pos: 0,
            depth: 0,
        })
    }

    /// The token that comes next.
    pub(crate) fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// The token that comes after `n` more.
    pub(crate) fn peek_at(&self, n: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.pos + n).min(last)]
    }

    /// Takes the next token.
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.peek();
        self.pos = (self.pos + 1).min(self.tokens.len() - 1);
        token
    }

    /// Where the next token stands.
    pub(crate) fn here(&self) -> Span {
        self.peek().span
    }

    /// From `start` to the end of the token taken last.
    pub(crate) fn since(&self, start: Span) -> Span {
        match self.pos.checked_sub(1) {
            Some(last) => start.to(self.tokens[last].span),
            None => start,
        }
    }

    /// Whether no blank stands between the token taken last and the next one.
    pub(crate) fn touches_last(&self) -> bool {
        let last = self.pos.checked_sub(1);
        last.is_some_and(|last| self.tokens[last].span.end == self.here().start)
    }

    /// The text under a span.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Whether the end of the text is reached.
    pub(crate) fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    /// Whether the next token is this punctuation.
    pub(crate) fn at(&self, punct: &str) -> bool {
        self.at_nth(0, punct)
    }

    /// Whether the token after `n` more is this punctuation.
    pub(crate) fn at_nth(&self, n: usize, punct: &str) -> bool {
        matches!(self.peek_at(n).kind, Kind::Punct(p) if p == punct)
    }

    /// Whether the next token is this word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    /// The next token, when it is a word.
    pub(crate) fn word(&self) -> Option<&'a str> {
        self.word_at(0)
    }

    /// The token after `n` more, when it is a word.
    pub(crate) fn word_at(&self, n: usize) -> Option<&'a str> {
        let token = self.peek_at(n);
        (token.kind == Kind::Word).then(|| self.slice(token.span))
    }

    /// Takes this punctuation if it comes next.
    pub(crate) fn eat(&mut self, punct: &str) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    /// Takes this word if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes this punctuation.
    ///
    /// # Errors
    /// When something else comes next.
    pub(crate) fn expect(&mut self, punct: &str) -> Result<Span> {
        if self.at(punct) {
            return Ok(self.bump().span);
        }
        let mut error = self.unexpected(&format!("`{punct}`"));
        if let Some(last) = self.pos.checked_sub(1) {
            // What is missing at the end of a line is shown there, and not on a later one.
            let last = self.tokens[last].span.end as usize;
            if self.text[last..self.here().start as usize].contains('\n') {
                error.span = Span::new(last, last);
            }
        }
        Err(error)
    }

    /// Takes a name; `what` describes it in the error.
    ///
    /// # Errors
    /// When something else comes next.
    pub(crate) fn name(&mut self, what: &str) -> Result<Name<'a>> {
        match self.word() {
            Some(text) => Ok(Name {
                text,
                span: self.bump().span,
            }),
            None => Err(self.unexpected(what)),
        }
    }

    /// Takes a number, with an optional minus sign, that fits in 32 bits.
    ///
    /// # Errors
    /// When something else comes next, or it does not fit.
    pub(crate) fn int32(&mut self, what: &str) -> Result<i32> {
        let start = self.here();
        let negative = self.eat("-");
        let Kind::Int(n) = self.peek().kind else {
            return Err(self.unexpected(what));
        };
        self.bump();
        let n = if negative { -n } else { n };
        i32::try_from(n)
            .map_err(|_| Diagnostic::new(self.since(start), "this number does not fit in 32 bits"))
    }

    /// The error for a token that does not belong here.
    pub(crate) fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", shorten(self.slice(token.span))),
        };
        Diagnostic::new(token.span, format!("expected {expected}, found {found}"))
    }

    /// Goes one level of nesting deeper; pair it with [`Cursor::leave`].
    ///
    /// # Errors
    /// When the nesting gets too deep.
    pub(crate) fn enter(&mut self) -> Result<()> {
        if self.depth == limits::NESTING {
            return Err(Diagnostic::new(
                self.here(),
                format!("nested more than {} levels deep", limits::NESTING),
            ));
        }
        self.depth += 1;
        Ok(())
    }

    /// Comes back from one level of nesting.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// A token as it is shown in a message.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((i, _)) => format!("{}...", &text[..i]),
        None => text.to_owned(),
    }
}
