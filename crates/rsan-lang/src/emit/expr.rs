//! Expressions. The model computes in 64 bits and wraps at the end; C's `int` must not overflow. Each
//! expression has a range of values, and only where it exceeds a type is the wider type, or wrapping, written.

use super::harness::Helper;
use super::names::Table;
use super::syntax::{Language, Type, strip};
use super::{Context, Untranslatable};
use rsan_model::{BinOp, Domain, Expr, RegId, UnOp};

/// The values that an expression can have: from, to.
type Range = (i128, i128);

const INT: Range = (i32::MIN as i128, i32::MAX as i128);
const LONG: Range = (i64::MIN as i128, i64::MAX as i128);

fn within(inner: Range, outer: Range) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// The smallest range of a two's complement number that contains both.
fn bits(l: Range, r: Range) -> Range {
    let all = (l.0.min(r.0), l.1.max(r.1));
    let fits = |k: &u32| within(all, (-(1 << k), (1 << k) - 1));
    let k = (0..64).find(fits).unwrap_or(63);
    let low = if all.0 >= 0 { 0 } else { -(1 << k) };
    (low, (1 << k) - 1)
}

/// Writes the expressions of one thread.
pub(super) struct Writer<'a, 'p> {
    pub(super) context: &'a Context<'p>,
    pub(super) registers: &'a Table,
}

/// Text that can be an operand of anything, its values and its type.
struct Piece {
    text: String,
    range: Range,
    kind: Type,
}

impl Piece {
    fn truth(text: String) -> Self {
        Self {
            text,
            range: (0, 1),
            kind: Type::Bool,
        }
    }

    fn long(text: String, range: Range) -> Self {
        Self {
            text,
            range,
            kind: Type::Long,
        }
    }
}

impl Writer<'_, '_> {
    fn language(&self) -> Language {
        self.context.language
    }

    fn domain(&self) -> Range {
        match self.context.program.domain {
            Domain::Int32 => INT,
            Domain::Modulo(modulus) => (0, i128::from(modulus) - 1),
        }
    }

    /// The value as it is put into a register or a location.
    pub(super) fn value(&self, e: &Expr) -> Result<String, Untranslatable> {
        if let Expr::Const(n) = e {
            return Ok(self.context.program.domain.wrap(*n).to_string());
        }
        let Piece { text, range, kind } = self.write(e)?;
        let (text, kind) = self.language().number(text, kind);
        Ok(if within(range, self.domain()) {
            match (self.language(), kind) {
                (Language::Rust, Type::Long) => self.language().cut(&text),
                _ => strip(&text).to_owned(),
            }
        } else if self.context.modulus().is_some() {
            let text = self.language().long(text, kind);
            format!("{}({})", self.context.need(Helper::Wrap), strip(&text))
        } else {
            self.language().cut(&text)
        })
    }

    /// The value as an operand.
    pub(super) fn operand(&self, e: &Expr) -> Result<String, Untranslatable> {
        let text = self.value(e)?;
        let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        Ok(if simple { text } else { format!("({text})") })
    }

    /// The expression as a condition.
    pub(super) fn condition(&self, e: &Expr) -> Result<String, Untranslatable> {
        let Piece { text, kind, .. } = self.write(e)?;
        Ok(strip(&self.language().truth(text, kind)).to_owned())
    }

    /// The expression, whatever its type.
    pub(super) fn any(&self, e: &Expr) -> Result<String, Untranslatable> {
        Ok(strip(&self.write(e)?.text).to_owned())
    }

    /// An index below `len`.
    pub(super) fn index(&self, e: &Expr, len: u32) -> Result<String, Untranslatable> {
        let Piece { text, range, kind } = self.write(e)?;
        let safe = within(range, (0, i128::from(len) - 1));
        match (self.language(), safe) {
            (Language::C, true) => return Ok(strip(&text).to_owned()),
            (Language::Rust, true) if matches!(e, Expr::Const(_)) => return Ok(text),
            (Language::Rust, true) => return Ok(format!("{text} as usize")),
            (_, false) => {}
        }
        let element = self.context.need(Helper::Element);
        let text = self.language().long(text, kind);
        Ok(format!("{element}({}, {len})", strip(&text)))
    }

    /// Element `index` of the `len` registers from `base`.
    fn local_element(&self, base: RegId, len: u32, index: &Expr) -> Result<String, Untranslatable> {
        let index = self.index(index, len)?;
        self.context
            .array_element(self.registers, base.index(), len, index)
    }

    fn write(&self, e: &Expr) -> Result<Piece, Untranslatable> {
        let value = |text| Piece {
            text,
            range: self.domain(),
            kind: Type::Int,
        };
        Ok(match e {
            Expr::Const(n) => {
                let (text, kind) = self.language().constant(*n);
                let range = (i128::from(*n), i128::from(*n));
                Piece { text, range, kind }
            }
            Expr::Reg(r) => value(self.registers.element(r.index())),
            Expr::Element { base, len, index } => value(self.local_element(*base, *len, index)?),
            Expr::Unary(op, e) => self.unary(*op, e)?,
            Expr::Binary(op, l, r) => self.binary(*op, l, r)?,
            Expr::If(c, t, o) => {
                let (t, o) = (self.write(t)?, self.write(o)?);
                let range = (t.range.0.min(o.range.0), t.range.1.max(o.range.1));
                let c = self.write(c)?;
                let c = self.language().truth(c.text, c.kind);
                let (t, o, kind) = self.alike(t, o);
                Piece {
                    text: self.language().choice(&c, &t, &o),
                    range,
                    kind,
                }
            }
        })
    }

    /// Two operands as numbers of one type.
    fn alike(&self, l: Piece, r: Piece) -> (String, String, Type) {
        let language = self.language();
        let (l, r) = (
            language.number(l.text, l.kind),
            language.number(r.text, r.kind),
        );
        if l.1 != Type::Long && r.1 != Type::Long {
            return (l.0, r.0, Type::Int);
        }
        (language.long(l.0, l.1), language.long(r.0, r.1), Type::Long)
    }

    fn unary(&self, op: UnOp, e: &Expr) -> Result<Piece, Untranslatable> {
        let piece = self.write(e)?;
        let (low, high) = piece.range;
        Ok(match op {
            UnOp::Neg => {
                let zero = Piece {
                    text: "0".to_owned(),
                    range: (0, 0),
                    kind: Type::Int,
                };
                self.arithmetic(Helper::Subtract, " - ", zero, piece, (-high, -low))
            }
            UnOp::Not => {
                let text = self.language().truth(piece.text, piece.kind);
                Piece::truth(format!("(!{text})"))
            }
            UnOp::BitNot => {
                let (text, kind) = self.language().number(piece.text, piece.kind);
                let sign = match self.language() {
                    Language::C => "~",
                    Language::Rust => "!",
                };
                Piece {
                    text: format!("({sign}{text})"),
                    range: (-1 - high, -1 - low),
                    kind,
                }
            }
        })
    }

    /// Two operands with a sign between them.
    fn pair(&self, l: Piece, sign: &str, r: Piece, range: Range) -> Piece {
        let bits = [" & ", " | ", " ^ "].contains(&sign);
        if bits && l.kind == Type::Bool && r.kind == Type::Bool {
            return Piece::truth(format!("({}{sign}{})", l.text, r.text));
        }
        let (l, r, kind) = self.alike(l, r);
        Piece {
            text: format!("({l}{sign}{r})"),
            range,
            kind,
        }
    }

    fn comparison(&self, l: Piece, sign: &str, r: Piece) -> Piece {
        let compared = self.pair(l, sign, r, (0, 1));
        Piece::truth(compared.text)
    }

    /// Two truth values with a sign between them.
    fn both(&self, l: Piece, sign: &str, r: Piece) -> Piece {
        let language = self.language();
        let (l, r) = (
            language.truth(l.text, l.kind),
            language.truth(r.text, r.kind),
        );
        Piece::truth(format!("({l}{sign}{r})"))
    }

    /// The same, with both sides evaluated, which is noticed only if the right one traps.
    fn eager(&self, l: Piece, sign: &str, r: Piece) -> Piece {
        match self.language() {
            Language::C => Piece::truth(format!("(({} != 0){sign}({} != 0))", l.text, r.text)),
            Language::Rust => self.both(l, sign, r),
        }
    }

    /// A function of the translation's own, for numbers of 64 bits.
    fn call(&self, helper: Helper, l: Piece, r: Piece, range: Range) -> Piece {
        let (name, language) = (self.context.need(helper), self.language());
        let (l, r) = (language.long(l.text, l.kind), language.long(r.text, r.kind));
        Piece::long(format!("{name}({}, {})", strip(&l), strip(&r)), range)
    }

    fn binary(&self, op: BinOp, l: &Expr, r: &Expr) -> Result<Piece, Untranslatable> {
        let traps = can_trap(r);
        let (l, r) = (self.write(l)?, self.write(r)?);
        let ((ll, lh), (rl, rh)) = (l.range, r.range);
        let all_bits = bits(l.range, r.range);
        Ok(match op {
            BinOp::Add => self.arithmetic(Helper::Add, " + ", l, r, (ll + rl, lh + rh)),
            BinOp::Sub => self.arithmetic(Helper::Subtract, " - ", l, r, (ll - rh, lh - rl)),
            BinOp::Mul => {
                let corners = [ll * rl, ll * rh, lh * rl, lh * rh];
                let low = corners.into_iter().min().unwrap_or(0);
                let high = corners.into_iter().max().unwrap_or(0);
                self.arithmetic(Helper::Multiply, " * ", l, r, (low, high))
            }
            // TPL's conditions wrap; where that changes nothing it is not written.
            BinOp::Rem if ll >= 0 && lh < rl => l,
            BinOp::Div | BinOp::Rem => {
                let bound = ll.abs().max(lh.abs());
                let low = if ll >= 0 && rl >= 0 { 0 } else { -bound };
                let range = (low, bound);
                let (helper, sign) = match op {
                    BinOp::Div => (Helper::Quotient, " / "),
                    _ => (Helper::Remainder, " % "),
                };
                if (rl <= 0 && 0 <= rh) || !within(range, LONG) {
                    return Ok(self.call(helper, l, r, bits(range, range)));
                }
                self.arithmetic(helper, sign, l, r, range)
            }
            BinOp::BitAnd if ll >= 0 && rl >= 0 => self.pair(l, " & ", r, (0, lh.min(rh))),
            BinOp::BitAnd => self.pair(l, " & ", r, all_bits),
            BinOp::BitOr => self.pair(l, " | ", r, all_bits),
            BinOp::BitXor => self.pair(l, " ^ ", r, all_bits),
            BinOp::Shl => self.call(Helper::ShiftLeft, l, r, LONG),
            BinOp::Shr => {
                let range = bits(l.range, (0, 0));
                self.call(Helper::ShiftRight, l, r, range)
            }
            BinOp::Eq => self.comparison(l, " == ", r),
            BinOp::Ne => self.comparison(l, " != ", r),
            BinOp::Lt => self.comparison(l, " < ", r),
            BinOp::Le => self.comparison(l, " <= ", r),
            BinOp::Gt => self.comparison(l, " > ", r),
            BinOp::Ge => self.comparison(l, " >= ", r),
            BinOp::And if traps => self.eager(l, " & ", r),
            BinOp::Or if traps => self.eager(l, " | ", r),
            BinOp::And => self.both(l, " && ", r),
            BinOp::Or => self.both(l, " || ", r),
        })
    }

    /// `l sign r`, in a type that holds the result.
    fn arithmetic(&self, helper: Helper, sign: &str, l: Piece, r: Piece, range: Range) -> Piece {
        let small = |piece: &Piece| piece.kind != Type::Long && within(piece.range, INT);
        let fits = match self.language() {
            Language::C => within(l.range, INT) && within(r.range, INT),
            Language::Rust => small(&l) && small(&r),
        };
        if within(range, INT) && fits {
            return self.pair(l, sign, r, range);
        }
        if !within(range, LONG) {
            return self.call(helper, l, r, LONG);
        }
        let text = match self.language() {
            Language::C => format!("((long long){}{sign}{})", l.text, r.text),
            Language::Rust => {
                let long = |piece: Piece| self.language().long(piece.text, piece.kind);
                format!("({}{sign}{})", long(l), long(r))
            }
        };
        Piece::long(text, range)
    }
}

impl Context<'_> {
    /// The element that `index` says, of `len` ones from `base`.
    pub(super) fn array_element(
        &self,
        table: &Table,
        base: usize,
        len: u32,
        index: String,
    ) -> Result<String, Untranslatable> {
        let variable = table.variable(base);
        let elements = variable.elements();
        if variable.len.is_none() || base + len as usize > elements.end {
            let reason = format!("an element of `{}`, which is no array", variable.name);
            return Err(self.untranslatable(reason));
        }
        Ok(match base - elements.start {
            0 => format!("{}[{index}]", variable.name),
            offset => format!("{}[{offset} + {index}]", variable.name),
        })
    }
}

/// Whether an expression can trap.
fn can_trap(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Element { .. } => true,
        Expr::Unary(_, e) => can_trap(e),
        Expr::Binary(op, l, r) => {
            matches!(op, BinOp::Div | BinOp::Rem) || can_trap(l) || can_trap(r)
        }
        Expr::If(c, t, o) => can_trap(c) || can_trap(t) || can_trap(o),
    }
}
