//! Expressions over the registers of one thread.

use crate::RegId;
use std::fmt;

/// A value of a register or location, already wrapped into the program's [`Domain`].
pub type Value = i32;

/// How results wrap when they are put into a register or a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Domain {
    /// C's `int`: 32 bits, two's complement.
    Int32,
    /// TPL: `0..modulus`, arithmetic modulo `modulus`.
    Modulo(u32),
}

impl Domain {
    /// The value that stands for `n` in this domain.
    pub fn wrap(self, n: i64) -> Value {
        match self {
            Self::Int32 => n as i32,
            Self::Modulo(m) => n.rem_euclid(i64::from(m)) as i32,
        }
    }
}

/// A binary operator; comparisons and logical operators give 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, towards zero
    Div,
    /// `%`, with the sign of the dividend
    Rem,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`, arithmetic
    Shr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`; both sides are evaluated, which cannot be seen because expressions have no effects
    And,
    /// `||`
    Or,
}

/// A unary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// `-`
    Neg,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// An expression without side effects: constants, registers and operators.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A literal.
    Const(i64),
    /// The value of a register.
    Reg(RegId),
    /// Element `index` of a local array that occupies `len` registers from `base`.
    Element {
        /// Its first register.
        base: RegId,
        /// Number of elements.
        len: u32,
        /// Which one.
        index: Box<Expr>,
    },
    /// A unary operator applied.
    Unary(UnOp, Box<Expr>),
    /// A binary operator applied.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EvalError {
    /// `/` or `%` by zero.
    DivisionByZero,
    /// An array index outside `0..len`.
    IndexOutOfBounds {
        /// The index.
        index: i64,
        /// The array's length.
        len: u32,
    },
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::IndexOutOfBounds { index, len } => {
                write!(f, "index {index} is outside an array of {len} elements")
            }
        }
    }
}

impl std::error::Error for EvalError {}

impl Expr {
    /// Evaluates with the given register file, in 64 bits; the caller wraps the result ([`Domain::wrap`]).
    ///
    /// # Errors
    /// Division by zero and array indices out of bounds.
    pub fn eval(&self, regs: &[Value]) -> Result<i64, EvalError> {
        Ok(match self {
            Self::Const(n) => *n,
            Self::Reg(r) => i64::from(regs[r.index()]),
            Self::Element { base, len, index } => {
                let index = index.eval(regs)?;
                let offset = checked_index(index, *len)?;
                i64::from(regs[base.index() + offset])
            }
            Self::Unary(op, e) => {
                let n = e.eval(regs)?;
                match op {
                    UnOp::Neg => n.wrapping_neg(),
                    UnOp::Not => i64::from(n == 0),
                    UnOp::BitNot => !n,
                }
            }
            Self::Binary(op, l, r) => apply(*op, l.eval(regs)?, r.eval(regs)?)?,
            Self::If(c, t, o) => {
                if c.eval(regs)? != 0 {
                    t.eval(regs)?
                } else {
                    o.eval(regs)?
                }
            }
        })
    }

    /// The value, when no register occurs in it and it has one.
    pub fn as_const(&self) -> Option<i64> {
        let mut has_register = false;
        self.for_each_reg(&mut |_| has_register = true);
        if has_register {
            None
        } else {
            self.eval(&[]).ok()
        }
    }

    /// Calls `f` for every register that the value may depend on.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(RegId)) {
        match self {
            Self::Const(_) => {}
            Self::Reg(r) => f(*r),
            Self::Element { base, len, index } => {
                (base.0..base.0 + len).for_each(|r| f(RegId(r)));
                index.for_each_reg(f);
            }
            Self::Unary(_, e) => e.for_each_reg(f),
            Self::Binary(_, l, r) => {
                l.for_each_reg(f);
                r.for_each_reg(f);
            }
            Self::If(c, t, o) => {
                c.for_each_reg(f);
                t.for_each_reg(f);
                o.for_each_reg(f);
            }
        }
    }
}

/// `index` as an offset into an array of `len` elements.
///
/// # Errors
/// When it is outside.
pub(crate) fn checked_index(index: i64, len: u32) -> Result<usize, EvalError> {
    if (0..i64::from(len)).contains(&index) {
        Ok(index as usize)
    } else {
        Err(EvalError::IndexOutOfBounds { index, len })
    }
}

fn apply(op: BinOp, l: i64, r: i64) -> Result<i64, EvalError> {
    Ok(match op {
        BinOp::Add => l.wrapping_add(r),
        BinOp::Sub => l.wrapping_sub(r),
        BinOp::Mul => l.wrapping_mul(r),
        BinOp::Div | BinOp::Rem if r == 0 => return Err(EvalError::DivisionByZero),
        BinOp::Div => l.wrapping_div(r),
        BinOp::Rem => l.wrapping_rem(r),
        BinOp::BitAnd => l & r,
        BinOp::BitOr => l | r,
        BinOp::BitXor => l ^ r,
        BinOp::Shl => l.wrapping_shl(r as u32),
        BinOp::Shr => l.wrapping_shr(r as u32),
        BinOp::Eq => i64::from(l == r),
        BinOp::Ne => i64::from(l != r),
        BinOp::Lt => i64::from(l < r),
        BinOp::Le => i64::from(l <= r),
        BinOp::Gt => i64::from(l > r),
        BinOp::Ge => i64::from(l >= r),
        BinOp::And => i64::from(l != 0 && r != 0),
        BinOp::Or => i64::from(l != 0 || r != 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modulo_domains_wrap_negative_results() {
        assert_eq!(Domain::Modulo(3).wrap(-4), 2);
        assert_eq!(Domain::Modulo(256).wrap(256), 0);
        assert_eq!(Domain::Int32.wrap(-4), -4);
    }

    #[test]
    fn division_by_zero_and_wild_indices_are_errors() {
        let div = Expr::Binary(BinOp::Div, Expr::Const(1).into(), Expr::Const(0).into());
        assert_eq!(div.eval(&[]), Err(EvalError::DivisionByZero));
        let element = Expr::Element {
            base: RegId(0),
            len: 2,
            index: Expr::Const(2).into(),
        };
        assert!(matches!(
            element.eval(&[1, 2]),
            Err(EvalError::IndexOutOfBounds { index: 2, len: 2 })
        ));
    }
}
