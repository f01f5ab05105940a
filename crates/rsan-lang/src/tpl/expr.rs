//! Expressions over the locals of a thread, with C's precedence.

use super::Parser;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::Kind;
use crate::limits;
use rsan_model::{BinOp, Expr, RegId, Span, UnOp};

/// An expression and its height.
struct Tree {
    expr: Expr,
    height: u32,
}

/// The binary operators from loosest to tightest.
const LEVELS: &[&[(&str, BinOp)]] = &[
    &[("||", BinOp::Or)],
    &[("&&", BinOp::And)],
    &[("|", BinOp::BitOr)],
    &[("^", BinOp::BitXor)],
    &[("&", BinOp::BitAnd)],
    &[("==", BinOp::Eq), ("!=", BinOp::Ne)],
    &[
        ("<=", BinOp::Le),
        (">=", BinOp::Ge),
        ("<", BinOp::Lt),
        (">", BinOp::Gt),
    ],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("/", BinOp::Div), ("%", BinOp::Rem)],
];

impl<'a> Parser<'a> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        Ok(self.binary(0)?.expr)
    }

    /// An expression that is tested: as everywhere, its value counts modulo the number of values.
    pub(super) fn tested(&mut self) -> Result<Expr> {
        let e = self.expression()?;
        let in_range = match &e {
            Expr::Reg(_) | Expr::Element { .. } | Expr::Unary(UnOp::Not, _) => true,
            Expr::Const(n) => (0..i64::from(self.modulus)).contains(n),
            Expr::Binary(op, ..) => matches!(
                op,
                BinOp::Eq
                    | BinOp::Ne
                    | BinOp::Lt
                    | BinOp::Le
                    | BinOp::Gt
                    | BinOp::Ge
                    | BinOp::And
                    | BinOp::Or
            ),
            Expr::Unary(UnOp::Neg | UnOp::BitNot, _) | Expr::If(..) => false,
        };
        Ok(if in_range {
            e
        } else {
            let modulus = Expr::Const(self.modulus.into());
            Expr::Binary(BinOp::Rem, e.into(), modulus.into())
        })
    }

    fn binary(&mut self, level: usize) -> Result<Tree> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let start = self.cur.here();
        let mut left = self.binary(level + 1)?;
        while let Some((_, op)) = operators.iter().find(|(text, _)| self.cur.at(text)) {
            self.cur.bump();
            let right = self.binary(level + 1)?;
            let height = left.height.max(right.height);
            let expr = Expr::Binary(*op, left.expr.into(), right.expr.into());
            left = taller(expr, height, self.cur.since(start))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Tree> {
        let start = self.cur.here();
        let op = ["-", "+", "!"].into_iter().find(|text| self.cur.at(text));
        let Some(op) = op else {
            return self.postfix();
        };
        self.cur.bump();
        self.cur.enter()?;
        let operand = self.unary()?;
        self.cur.leave();
        let expr = match (op, operand.expr) {
            ("-", Expr::Const(n)) => Expr::Const(-n),
            ("-", e) => Expr::Unary(UnOp::Neg, e.into()),
            ("!", e) => Expr::Unary(UnOp::Not, e.into()),
            (_, e) => e,
        };
        taller(expr, operand.height, self.cur.since(start))
    }

    /// A primary, possibly with `[e]` after a local's name.
    fn postfix(&mut self) -> Result<Tree> {
        let start = self.cur.here();
        let e = self.primary()?;
        if !self.cur.at("[") {
            return Ok(e);
        }
        let Expr::Reg(base) = e.expr else {
            return Err(Diagnostic::new(
                self.cur.since(start),
                "only a local variable can be indexed",
            ));
        };
        self.cur.bump();
        self.cur.enter()?;
        let index = self.binary(0)?;
        self.cur.leave();
        self.cur.expect("]")?;
        let expr = Expr::Element {
            base,
            len: 1,
            index: index.expr.into(),
        };
        taller(expr, index.height, self.cur.since(start))
    }

    fn primary(&mut self) -> Result<Tree> {
        let token = self.cur.peek();
        let expr = match token.kind {
            Kind::Int(n) if i32::try_from(n).is_ok() => {
                self.cur.bump();
                Expr::Const(n)
            }
            Kind::Int(_) => {
                return Err(Diagnostic::new(
                    token.span,
                    "this number does not fit in 32 bits",
                ));
            }
            Kind::Word => {
                let name = self.cur.name("an expression")?;
                match name.text {
                    "true" => Expr::Const(1),
                    "false" => Expr::Const(0),
                    _ => Expr::Reg(self.local(name)?),
                }
            }
            Kind::Punct("(") => {
                self.cur.bump();
                self.cur.enter()?;
                let inner = self.binary(0)?;
                self.cur.leave();
                self.cur.expect(")")?;
                return Ok(inner);
            }
            _ => return Err(self.cur.unexpected("an expression")),
        };
        Ok(Tree { expr, height: 1 })
    }

    /// The local of that name; an unknown one is reported, and the answer is then of no use.
    pub(super) fn local(&mut self, name: Name<'a>) -> Result<RegId> {
        if let Some(register) = self.body.locals.get(name.text) {
            return Ok(*register);
        }
        let error = if self.globals.contains_key(name.text) {
            Diagnostic::new(
                name.span,
                format!("`{}` is global: only locals can be used here", name.text),
            )
            .with_help(format!("read it first: `r = {}.load();`", name.text))
        } else {
            Diagnostic::new(name.span, format!("there is no local `{}`", name.text))
        };
        self.report(error)?;
        Ok(RegId(0))
    }
}

fn taller(expr: Expr, height: u32, span: Span) -> Result<Tree> {
    if height == limits::HEIGHT {
        return Err(Diagnostic::new(
            span,
            format!("this expression has more than {} levels", limits::HEIGHT),
        ));
    }
    Ok(Tree {
        expr,
        height: height + 1,
    })
}
