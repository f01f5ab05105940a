//! Instructions as they are written: a mnemonic and its operands, the same for all assemblers.

use crate::cursor::Cursor;
use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::Kind;
use rsan_model::Span;

/// An instruction in its cell of the table.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// In capitals, suffixes included: `LDR`, `B.EQ`, `LR.W.AQ`, `STWCX.`, `BNE-`.
    pub(super) mnemonic: String,
    /// Where the mnemonic stands.
    pub(super) name_span: Span,
    /// Where all of it stands.
    pub(super) span: Span,
    /// What follows, separated by commas.
    pub(super) operands: Vec<Operand>,
}

/// An operand and its place.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// What it is.
    pub(super) kind: Shape,
    /// Where.
    pub(super) span: Span,
}

/// The forms of operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A register, a label, a symbol, a condition; `%` of registers included.
    Word(String),
    /// `#1`, `$1` or `1`.
    Number(i64),
    /// `$x`: the address of a symbol.
    AddressOf(String),
    /// `LSL #2`
    Shift(String, i64),
    /// `[X1,W2,SXTW]`; with `!` behind, the address is kept in the register.
    Brackets {
        /// What stands inside.
        parts: Vec<(Shape, Span)>,
        /// Whether `!` follows.
        write_back: bool,
    },
    /// `0(r2)`, `(x)`
    Parens {
        /// What stands before the bracket.
        offset: i64,
        /// What stands inside.
        inside: String,
    },
}

/// Whether the cell ends here.
pub(super) fn at_cell_end(cur: &Cursor<'_>) -> bool {
    cur.at("|") || cur.at(";") || cur.at_end()
}

/// Reads the instruction of a cell that is not empty.
pub(super) fn instruction(cur: &mut Cursor<'_>) -> Result<Instruction> {
    let start = cur.here();
    let mnemonic = mnemonic(cur)?;
    let name_span = cur.since(start);
    let mut operands = Vec::new();
    while !at_cell_end(cur) {
        if !operands.is_empty() {
            cur.expect(",")?;
        }
        let start = cur.here();
        let kind = operand(cur)?;
        operands.push(Operand {
            kind,
            span: cur.since(start),
        });
    }
    Ok(Instruction {
        mnemonic,
        name_span,
        span: cur.since(start),
        operands,
    })
}

/// A word and what is written behind it without a blank: `.aq`, `.`, `-`, `+`.
fn mnemonic(cur: &mut Cursor<'_>) -> Result<String> {
    let mut name = cur.name("an instruction")?.text.to_owned();
    if name.eq_ignore_ascii_case("lock") {
        let of = cur.name("the instruction that is locked")?.text;
        name = format!("{name} {of}");
    }
    while cur.touches_last() && (cur.at(".") || cur.at("-") || cur.at("+")) {
        let mark = cur.bump().span;
        name.push_str(cur.slice(mark));
        if cur.touches_last()
            && let Some(word) = cur.word()
        {
            name.push_str(word);
            cur.bump();
        }
    }
    Ok(name.to_ascii_uppercase())
}

fn operand(cur: &mut Cursor<'_>) -> Result<Shape> {
    if cur.at("[") {
        return brackets(cur);
    }
    if cur.at("(") {
        return parens(cur, 0);
    }
    if cur.eat("$") {
        if let Some(symbol) = cur.word() {
            cur.bump();
            return Ok(Shape::AddressOf(symbol.to_owned()));
        }
        return number(cur).map(Shape::Number);
    }
    if at_number(cur) {
        let n = number(cur)?;
        return if cur.at("(") {
            parens(cur, n)
        } else {
            Ok(Shape::Number(n))
        };
    }
    let word = word(cur)?;
    if cur.at("(") {
        // `x(%rip)` is how compilers write the location `x`.
        cur.bump();
        let base = self::word(cur)?;
        cur.expect(")")?;
        if !base.eq_ignore_ascii_case("%rip") {
            return Err(Diagnostic::new(
                cur.since(cur.here()),
                "a location is `(x)` or `x(%rip)`",
            ));
        }
        return Ok(Shape::Parens {
            offset: 0,
            inside: word,
        });
    }
    if at_number(cur) {
        return Ok(Shape::Shift(word.to_ascii_uppercase(), number(cur)?));
    }
    Ok(Shape::Word(word))
}

/// A word, with `%` before it or inside it: `%eax`, `X%P0_x`.
fn word(cur: &mut Cursor<'_>) -> Result<String> {
    let mut text = String::new();
    if let Some(word) = cur.word() {
        cur.bump();
        text.push_str(word);
        if !(cur.at("%") && cur.touches_last()) {
            return Ok(text);
        }
    }
    if cur.eat("%") {
        text.push('%');
        text.push_str(cur.name("a register")?.text);
        return Ok(text);
    }
    Err(cur.unexpected("a register, a number or a place in memory"))
}

fn at_number(cur: &Cursor<'_>) -> bool {
    let sign = usize::from(cur.at("#") || cur.at("-") || cur.at("+"));
    let second = usize::from(sign == 1 && (cur.at_nth(1, "-") || cur.at_nth(1, "+")));
    matches!(cur.peek_at(sign + second).kind, Kind::Int(_))
}

fn number(cur: &mut Cursor<'_>) -> Result<i64> {
    cur.eat("#");
    let negative = cur.eat("-");
    if !negative {
        cur.eat("+");
    }
    let Kind::Int(n) = cur.peek().kind else {
        return Err(cur.unexpected("a number"));
    };
    cur.bump();
    Ok(if negative { -n } else { n })
}

fn parens(cur: &mut Cursor<'_>, offset: i64) -> Result<Shape> {
    cur.expect("(")?;
    let inside = word(cur)?;
    cur.expect(")")?;
    Ok(Shape::Parens { offset, inside })
}

fn brackets(cur: &mut Cursor<'_>) -> Result<Shape> {
    cur.expect("[")?;
    let mut parts = Vec::new();
    while !cur.at("]") {
        if !parts.is_empty() && !cur.at("#") {
            cur.expect(",")?;
        }
        let start = cur.here();
        let part = if at_number(cur) {
            Shape::Number(number(cur)?)
        } else {
            let word = word(cur)?;
            if at_number(cur) {
                Shape::Shift(word.to_ascii_uppercase(), number(cur)?)
            } else {
                Shape::Word(word)
            }
        };
        parts.push((part, cur.since(start)));
    }
    cur.expect("]")?;
    let write_back = cur.eat("!");
    Ok(Shape::Brackets { parts, write_back })
}

impl Instruction {
    /// The refusal of an instruction that is not known.
    pub(super) fn unknown(&self) -> Diagnostic {
        let name = &self.mnemonic;
        Diagnostic::new(self.name_span, format!("unknown instruction `{name}`"))
    }

    /// The refusal of an instruction that is known, but not in this form.
    pub(super) fn unsupported(&self, why: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span, why)
    }

    /// The refusal of accesses that are not of a whole location.
    pub(super) fn mixed_size(&self) -> Diagnostic {
        self.unsupported(format!(
            "`{}` does not access a whole location",
            self.mnemonic
        ))
        .with_help("accesses of 32 and 64 bits are supported")
    }

    /// The operand in this place.
    pub(super) fn operand(&self, n: usize) -> Result<&Operand> {
        self.operands.get(n).ok_or_else(|| {
            let name = &self.mnemonic;
            Diagnostic::new(self.span, format!("`{name}` has too few operands"))
        })
    }

    /// Checks that no operand is left over.
    pub(super) fn at_most(&self, n: usize) -> Result<()> {
        match self.operands.get(n) {
            None => Ok(()),
            Some(extra) => Err(Diagnostic::new(
                extra.span,
                format!("`{}` has too many operands", self.mnemonic),
            )),
        }
    }
}

impl Operand {
    /// The error for an operand that is something else.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        Diagnostic::new(self.span, format!("expected {what}"))
    }

    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            Shape::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The number, which must fit in 32 bits.
    pub(super) fn number(&self) -> Result<i64> {
        match &self.kind {
            Shape::Number(n) => fits(*n, self.span),
            _ => Err(self.expected("a number")),
        }
    }
}

/// A number that registers can hold, as a signed one.
pub(super) fn fits(n: i64, span: Span) -> Result<i64> {
    if i32::try_from(n).is_ok() || u32::try_from(n).is_ok() {
        Ok(i64::from(n as i32))
    } else {
        Err(Diagnostic::new(span, "this number does not fit in 32 bits"))
    }
}
