//! C expressions: their trees, and how they are read.
//!
//! Names are looked up when a tree is lowered ([`super::lower`]), not here.

use super::Parser;
use crate::cursor::Name;
use crate::diagnostic::{Diagnostic, Result};
use crate::lexer::Kind;
use crate::limits;
use rsan_model::{BinOp, Span, UnOp};

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Ast<'a> {
    /// What it is.
    pub(super) node: Node<'a>,
    /// Where.
    pub(super) span: Span,
    /// Longest way down to a leaf.
    height: u32,
}

/// A subexpression.
pub(super) type Sub<'a> = Box<Ast<'a>>;

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// A literal.
    Int(i64),
    /// A local variable or a parameter.
    Name(&'a str),
    /// An operator that works on values.
    Unary(UnOp, Sub<'a>),
    /// `*e`
    Deref(Sub<'a>),
    /// `&e`
    AddressOf(Sub<'a>),
    /// `e[i]`
    Index(Sub<'a>, Sub<'a>),
    /// An operator that evaluates both sides.
    Binary(BinOp, Sub<'a>, Sub<'a>),
    /// `&&`
    And(Sub<'a>, Sub<'a>),
    /// `||`
    Or(Sub<'a>, Sub<'a>),
    /// `c ? t : e`
    Conditional(Sub<'a>, Sub<'a>, Sub<'a>),
    /// `l = r`, `l += r`, ...
    Assign(Option<BinOp>, Sub<'a>, Sub<'a>),
    /// `++l`, `l--`, ...
    Step {
        /// `Add` or `Sub`.
        op: BinOp,
        /// Whether the value is the new one.
        prefix: bool,
        /// What is changed.
        target: Sub<'a>,
    },
    /// `f(a, b)`
    Call(Name<'a>, Vec<Ast<'a>>),
    /// `a, b`
    Comma(Sub<'a>, Sub<'a>),
}

impl<'a> Ast<'a> {
    fn new(node: Node<'a>, span: Span) -> Result<Self> {
        let height = 1 + match &node {
            Node::Int(_) | Node::Name(_) => 0,
            Node::Unary(_, e)
            | Node::Deref(e)
            | Node::AddressOf(e)
            | Node::Step { target: e, .. } => e.height,
            Node::Index(l, r)
            | Node::Binary(_, l, r)
            | Node::And(l, r)
            | Node::Or(l, r)
            | Node::Assign(_, l, r)
            | Node::Comma(l, r) => l.height.max(r.height),
            Node::Conditional(c, t, e) => c.height.max(t.height).max(e.height),
            Node::Call(_, args) => args.iter().map(|a| a.height).max().unwrap_or(0),
        };
        if height > limits::HEIGHT {
            return Err(Diagnostic::new(
                span,
                format!("this expression has more than {} levels", limits::HEIGHT),
            )
            .with_help("split it into several statements"));
        }
        Ok(Self { node, span, height })
    }

    /// Whether its value is a plain function of local variables: no access, no assignment, no call.
    pub(super) fn is_pure(&self) -> bool {
        match &self.node {
            Node::Int(_) | Node::Name(_) => true,
            Node::Unary(_, e) => e.is_pure(),
            Node::Binary(_, l, r) | Node::And(l, r) | Node::Or(l, r) => l.is_pure() && r.is_pure(),
            Node::Conditional(c, t, e) => c.is_pure() && t.is_pure() && e.is_pure(),
            // An element of a local array is pure as well, but that takes a look at the declarations; taking
            // it for an access only costs a branch.
            Node::Index(..)
            | Node::Deref(_)
            | Node::AddressOf(_)
            | Node::Assign(..)
            | Node::Step { .. }
            | Node::Call(..)
            | Node::Comma(..) => false,
        }
    }
}

/// The binary operators from loosest to tightest, `&&` and `||` apart.
const LEVELS: &[&[(&str, BinOp)]] = &[
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
    &[("<<", BinOp::Shl), (">>", BinOp::Shr)],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("/", BinOp::Div), ("%", BinOp::Rem)],
];

const ASSIGNMENTS: &[(&str, Option<BinOp>)] = &[
    ("=", None),
    ("+=", Some(BinOp::Add)),
    ("-=", Some(BinOp::Sub)),
    ("*=", Some(BinOp::Mul)),
    ("/=", Some(BinOp::Div)),
    ("%=", Some(BinOp::Rem)),
    ("&=", Some(BinOp::BitAnd)),
    ("|=", Some(BinOp::BitOr)),
    ("^=", Some(BinOp::BitXor)),
    ("<<=", Some(BinOp::Shl)),
    (">>=", Some(BinOp::Shr)),
];

impl<'a> Parser<'a> {
    /// A full expression.
    pub(super) fn expression(&mut self) -> Result<Ast<'a>> {
        let mut left = self.assignment()?;
        while self.cur.eat(",") {
            let right = self.assignment()?;
            let span = left.span.to(right.span);
            left = Ast::new(Node::Comma(left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    /// An expression without a comma at its top.
    pub(super) fn assignment(&mut self) -> Result<Ast<'a>> {
        self.cur.enter()?;
        let left = self.conditional()?;
        let op = ASSIGNMENTS.iter().find(|(text, _)| self.cur.at(text));
        let result = match op {
            Some((_, op)) => {
                self.cur.bump();
                let right = self.assignment()?;
                let span = left.span.to(right.span);
                Ast::new(Node::Assign(*op, left.into(), right.into()), span)?
            }
            None => left,
        };
        self.cur.leave();
        Ok(result)
    }

    fn conditional(&mut self) -> Result<Ast<'a>> {
        let condition = self.logical_or()?;
        if !self.cur.eat("?") {
            return Ok(condition);
        }
        let then = self.assignment()?;
        self.cur.expect(":")?;
        self.cur.enter()?;
        let otherwise = self.conditional()?;
        self.cur.leave();
        let span = condition.span.to(otherwise.span);
        Ast::new(
            Node::Conditional(condition.into(), then.into(), otherwise.into()),
            span,
        )
    }

    fn logical_or(&mut self) -> Result<Ast<'a>> {
        let mut left = self.logical_and()?;
        while self.cur.eat("||") {
            let right = self.logical_and()?;
            let span = left.span.to(right.span);
            left = Ast::new(Node::Or(left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    fn logical_and(&mut self) -> Result<Ast<'a>> {
        let mut left = self.binary(0)?;
        while self.cur.eat("&&") {
            let right = self.binary(0)?;
            let span = left.span.to(right.span);
            left = Ast::new(Node::And(left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    fn binary(&mut self, level: usize) -> Result<Ast<'a>> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some((_, op)) = operators.iter().find(|(text, _)| self.cur.at(text)) {
            self.cur.bump();
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left = Ast::new(Node::Binary(*op, left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Ast<'a>> {
        let start = self.cur.here();
        let prefix = ["++", "--", "+", "-", "!", "~", "*", "&"]
            .into_iter()
            .find(|text| self.cur.at(text));
        if let Some(text) = prefix {
            self.cur.bump();
            let operand = self.operand()?;
            let span = start.to(operand.span);
            match text {
                "+" => Ok(Ast { span, ..operand }),
                "-" => negate(operand, span),
                "!" => Ast::new(Node::Unary(UnOp::Not, operand.into()), span),
                "~" => Ast::new(Node::Unary(UnOp::BitNot, operand.into()), span),
                "*" => Ast::new(Node::Deref(operand.into()), span),
                "&" => Ast::new(Node::AddressOf(operand.into()), span),
                sign => step(sign, true, operand, span),
            }
        } else if self.cur.at("(") && self.at_type(1) {
            self.cast()
        } else {
            self.postfix()
        }
    }

    /// What a prefix operator applies to.
    fn operand(&mut self) -> Result<Ast<'a>> {
        self.cur.enter()?;
        let operand = self.unary()?;
        self.cur.leave();
        Ok(operand)
    }

    /// `(int) e`, which is `e`; `(bool) e`, which is `e != 0`; `(void) e`.
    fn cast(&mut self) -> Result<Ast<'a>> {
        let start = self.cur.expect("(")?;
        let boolean = if self.cur.eat_word("void") {
            false
        } else {
            self.type_specifier()?.boolean
        };
        if self.cur.at("*") {
            return Err(self.no_pointers(self.cur.here()));
        }
        self.cur.expect(")")?;
        let operand = self.operand()?;
        let span = start.to(operand.span);
        if boolean {
            let zero = Ast::new(Node::Int(0), span)?;
            Ast::new(Node::Binary(BinOp::Ne, operand.into(), zero.into()), span)
        } else {
            Ok(Ast { span, ..operand })
        }
    }

    fn postfix(&mut self) -> Result<Ast<'a>> {
        let mut e = self.primary()?;
        loop {
            if self.cur.eat("[") {
                let index = self.expression()?;
                let span = e.span.to(self.cur.expect("]")?);
                e = Ast::new(Node::Index(e.into(), index.into()), span)?;
            } else if self.cur.at("++") || self.cur.at("--") {
                let token = self.cur.bump();
                let span = e.span.to(token.span);
                e = step(self.cur.slice(token.span), false, e, span)?;
            } else if self.cur.at(".") || self.cur.at("->") {
                return Err(Diagnostic::new(
                    self.cur.here(),
                    "structures are not supported: values are integers",
                ));
            } else {
                return Ok(e);
            }
        }
    }

    fn primary(&mut self) -> Result<Ast<'a>> {
        let token = self.cur.peek();
        match token.kind {
            Kind::Int(n) => {
                self.cur.bump();
                Ast::new(Node::Int(n), token.span)
            }
            Kind::Word => {
                let name = self.cur.name("an expression")?;
                if self.cur.at("(") {
                    return self.call(name);
                }
                if self.cur.at("{") {
                    return Err(self.no_kernel_operations(name));
                }
                let node = match name.text {
                    "true" => Node::Int(1),
                    "false" => Node::Int(0),
                    text => Node::Name(text),
                };
                Ast::new(node, token.span)
            }
            Kind::Punct("(") => {
                self.cur.bump();
                let inner = self.expression()?;
                let close = self.cur.expect(")")?;
                Ok(Ast {
                    span: token.span.to(close),
                    ..inner
                })
            }
            _ => Err(self.cur.unexpected("an expression")),
        }
    }

    fn call(&mut self, name: Name<'a>) -> Result<Ast<'a>> {
        self.cur.expect("(")?;
        let mut arguments = Vec::new();
        while !self.cur.at(")") {
            arguments.push(self.assignment()?);
            if !self.cur.eat(",") {
                break;
            }
        }
        let close = self.cur.expect(")")?;
        Ast::new(Node::Call(name, arguments), name.span.to(close))
    }
}

fn negate<'a>(operand: Ast<'a>, span: Span) -> Result<Ast<'a>> {
    match operand.node {
        Node::Int(n) => Ast::new(Node::Int(-n), span),
        _ => Ast::new(Node::Unary(UnOp::Neg, operand.into()), span),
    }
}

fn step<'a>(text: &str, prefix: bool, target: Ast<'a>, span: Span) -> Result<Ast<'a>> {
    let op = if text == "++" { BinOp::Add } else { BinOp::Sub };
    let target = target.into();
    Ast::new(Node::Step { op, prefix, target }, span)
}
