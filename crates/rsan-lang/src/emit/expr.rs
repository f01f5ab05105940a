//! Expressions. The model computes in 64 bits and wraps at the end; C's `int` must not overflow. Each
//! expression has a range of values, and only where it exceeds a type is the wider type, or wrapping, written.

use super::harness::Helper;
use super::names::Table;
use super::{Context, NotC};
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

impl Writer<'_, '_> {
    fn domain(&self) -> Range {
        match self.context.program.domain {
            Domain::Int32 => INT,
            Domain::Modulo(modulus) => (0, i128::from(modulus) - 1),
        }
    }

    /// The value as it is put into a register or a location.
    pub(super) fn value(&self, e: &Expr) -> Result<String, NotC> {
        if let Expr::Const(n) = e {
            return Ok(self.context.program.domain.wrap(*n).to_string());
        }
        let (text, range) = self.write(e)?;
        Ok(if within(range, self.domain()) {
            strip(&text).to_owned()
        } else if self.context.modulus().is_some() {
            format!("{}({})", self.context.need(Helper::Wrap), strip(&text))
        } else {
            format!("(int){text}")
        })
    }

    /// The value as an operand.
    pub(super) fn operand(&self, e: &Expr) -> Result<String, NotC> {
        let text = self.value(e)?;
        let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        Ok(if simple { text } else { format!("({text})") })
    }

    /// The expression as a condition.
    pub(super) fn condition(&self, e: &Expr) -> Result<String, NotC> {
        Ok(strip(&self.write(e)?.0).to_owned())
    }

    /// An index below `len`.
    pub(super) fn index(&self, e: &Expr, len: u32) -> Result<String, NotC> {
        let (text, range) = self.write(e)?;
        if within(range, (0, i128::from(len) - 1)) {
            return Ok(strip(&text).to_owned());
        }
        let element = self.context.need(Helper::Element);
        Ok(format!("{element}({}, {len})", strip(&text)))
    }

    /// Element `index` of the `len` registers from `base`.
    fn local_element(&self, base: RegId, len: u32, index: &Expr) -> Result<String, NotC> {
        array_element(self.registers, base.index(), len, self.index(index, len)?)
    }

    /// Text that can be an operand of anything, and its values.
    fn write(&self, e: &Expr) -> Result<(String, Range), NotC> {
        Ok(match e {
            Expr::Const(n) => (constant(*n), (i128::from(*n), i128::from(*n))),
            Expr::Reg(r) => (self.registers.element(r.index()), self.domain()),
            Expr::Element { base, len, index } => {
                (self.local_element(*base, *len, index)?, self.domain())
            }
            Expr::Unary(op, e) => self.unary(*op, e)?,
            Expr::Binary(op, l, r) => self.binary(*op, l, r)?,
            Expr::If(c, t, o) => {
                let ((c, _), (t, tr), (o, or)) = (self.write(c)?, self.write(t)?, self.write(o)?);
                let range = (tr.0.min(or.0), tr.1.max(or.1));
                (format!("({c} ? {t} : {o})"), range)
            }
        })
    }

    fn unary(&self, op: UnOp, e: &Expr) -> Result<(String, Range), NotC> {
        let (text, (low, high)) = self.write(e)?;
        Ok(match op {
            UnOp::Neg => {
                return Ok(self.arithmetic(
                    Helper::Subtract,
                    " - ",
                    ("0".to_owned(), (0, 0)),
                    (text, (low, high)),
                    (-high, -low),
                ));
            }
            UnOp::Not => (format!("(!{text})"), (0, 1)),
            UnOp::BitNot => (format!("(~{text})"), (-1 - high, -1 - low)),
        })
    }

    fn binary(&self, op: BinOp, l: &Expr, r: &Expr) -> Result<(String, Range), NotC> {
        let traps = can_trap(r);
        let (l, r) = (self.write(l)?, self.write(r)?);
        let ((ll, lh), (rl, rh)) = (l.1, r.1);
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
                    let name = self.context.need(helper);
                    let text = format!("{name}({}, {})", strip(&l.0), strip(&r.0));
                    return Ok((text, bits(range, range)));
                }
                self.arithmetic(helper, sign, l, r, range)
            }
            BinOp::BitAnd => {
                let range = if ll >= 0 && rl >= 0 {
                    (0, lh.min(rh))
                } else {
                    bits(l.1, r.1)
                };
                (format!("({} & {})", l.0, r.0), range)
            }
            BinOp::BitOr => (format!("({} | {})", l.0, r.0), bits(l.1, r.1)),
            BinOp::BitXor => (format!("({} ^ {})", l.0, r.0), bits(l.1, r.1)),
            BinOp::Shl | BinOp::Shr => {
                let helper = if op == BinOp::Shl {
                    Helper::ShiftLeft
                } else {
                    Helper::ShiftRight
                };
                let name = self.context.need(helper);
                let text = format!("{name}({}, {})", strip(&l.0), strip(&r.0));
                (
                    text,
                    if op == BinOp::Shl {
                        LONG
                    } else {
                        bits(l.1, (0, 0))
                    },
                )
            }
            BinOp::Eq => (format!("({} == {})", l.0, r.0), (0, 1)),
            BinOp::Ne => (format!("({} != {})", l.0, r.0), (0, 1)),
            BinOp::Lt => (format!("({} < {})", l.0, r.0), (0, 1)),
            BinOp::Le => (format!("({} <= {})", l.0, r.0), (0, 1)),
            BinOp::Gt => (format!("({} > {})", l.0, r.0), (0, 1)),
            BinOp::Ge => (format!("({} >= {})", l.0, r.0), (0, 1)),
            // Both sides are evaluated, which is noticed only if the right one traps.
            BinOp::And if traps => (format!("(({} != 0) & ({} != 0))", l.0, r.0), (0, 1)),
            BinOp::Or if traps => (format!("(({} != 0) | ({} != 0))", l.0, r.0), (0, 1)),
            BinOp::And => (format!("({} && {})", l.0, r.0), (0, 1)),
            BinOp::Or => (format!("({} || {})", l.0, r.0), (0, 1)),
        })
    }

    /// `l sign r`, in a type that holds the result.
    fn arithmetic(
        &self,
        helper: Helper,
        sign: &str,
        l: (String, Range),
        r: (String, Range),
        range: Range,
    ) -> (String, Range) {
        if within(range, INT) && within(l.1, INT) && within(r.1, INT) {
            return (format!("({}{sign}{})", l.0, r.0), range);
        }
        if within(range, LONG) {
            return (format!("((long long){}{sign}{})", l.0, r.0), range);
        }
        let name = self.context.need(helper);
        (format!("{name}({}, {})", strip(&l.0), strip(&r.0)), LONG)
    }
}

/// The element that `index` says, of `len` ones from `base`.
pub(super) fn array_element(
    table: &Table,
    base: usize,
    len: u32,
    index: String,
) -> Result<String, NotC> {
    let variable = table.variable(base);
    let elements = variable.elements();
    if variable.len.is_none() || base + len as usize > elements.end {
        let reason = format!("an element of `{}`, which is no array", variable.name);
        return Err(NotC { reason });
    }
    Ok(match base - elements.start {
        0 => format!("{}[{index}]", variable.name),
        offset => format!("{}[{offset} + {index}]", variable.name),
    })
}

fn constant(n: i64) -> String {
    if n == i64::MIN {
        return format!("({} - 1)", i64::MIN + 1);
    }
    if n < 0 {
        format!("({n})")
    } else {
        n.to_string()
    }
}

/// Without the brackets around all of it.
pub(super) fn strip(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0_i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text;
        }
    }
    inner
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
