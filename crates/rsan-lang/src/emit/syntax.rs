//! What the languages write differently: orders, accesses, numbers and truth values.

use std::fmt::{self, Display};

/// A language that programs are translated to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C11 with POSIX threads.
    C,
    /// Rust with its standard library.
    Rust,
}

impl Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C",
            Self::Rust => "Rust",
        })
    }
}

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    /// A truth value: a number in C.
    Bool,
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
}

impl Language {
    /// One step to the right.
    pub(super) fn indent(self) -> &'static str {
        match self {
            Self::C => "  ",
            Self::Rust => "    ",
        }
    }

    /// The name of a memory order.
    pub(super) fn order(self, ord: impl Display) -> String {
        let ord = ord.to_string();
        match self {
            Self::C => format!("memory_order_{ord}"),
            Self::Rust => {
                let name = match ord.as_str() {
                    "relaxed" => "Relaxed",
                    "acquire" => "Acquire",
                    "release" => "Release",
                    "acq_rel" => "AcqRel",
                    "seq_cst" => "SeqCst",
                    other => unreachable!("no order is called {other}"),
                };
                format!("Ordering::{name}")
            }
        }
    }

    /// An atomic operation on a place, with its operands.
    pub(super) fn atomic(self, operation: &str, place: &str, operands: &[&str]) -> String {
        let operands = operands.join(", ");
        match self {
            Self::C => format!("atomic_{operation}_explicit(&{place}, {operands})"),
            Self::Rust => {
                let method = if operation == "exchange" {
                    "swap"
                } else {
                    operation
                };
                format!("{place}.{method}({operands})")
            }
        }
    }

    pub(super) fn fence(self, ord: impl Display) -> String {
        let ord = self.order(ord);
        match self {
            Self::C => format!("atomic_thread_fence({ord});"),
            Self::Rust => format!("fence({ord});"),
        }
    }

    /// `if`, with what follows it up to the bracket.
    pub(super) fn when(self, condition: &str) -> String {
        match self {
            Self::C => format!("if ({condition}) {{"),
            Self::Rust => format!("if {condition} {{"),
        }
    }

    /// The same for `while`.
    pub(super) fn as_long_as(self, condition: &str) -> String {
        match self {
            Self::C => format!("while ({condition}) {{"),
            Self::Rust => format!("while {condition} {{"),
        }
    }

    /// A number that is not used.
    pub(super) fn dropped(self, value: &str) -> String {
        match self {
            Self::C => format!("(void){value};"),
            Self::Rust => format!("_ = {value};"),
        }
    }

    /// An expression as a truth value.
    pub(super) fn truth(self, text: String, kind: Type) -> String {
        match (self, kind) {
            (Self::C, _) | (Self::Rust, Type::Bool) => text,
            (Self::Rust, Type::Int | Type::Long) => format!("({text} != 0)"),
        }
    }

    /// An expression as a number.
    pub(super) fn number(self, text: String, kind: Type) -> (String, Type) {
        match (self, kind) {
            (Self::Rust, Type::Bool) => (format!("i32::from({})", strip(&text)), Type::Int),
            (_, kind) => (text, kind),
        }
    }

    /// An expression as an operand of 64 bits, where the language does not see to it itself.
    pub(super) fn long(self, text: String, kind: Type) -> String {
        let literal = strip(&text).parse::<i64>().is_ok();
        match (self, kind) {
            (Self::Rust, Type::Bool | Type::Int) if !literal => {
                format!("i64::from({})", strip(&text))
            }
            _ => text,
        }
    }

    /// An expression cut down to 32 bits.
    pub(super) fn cut(self, text: &str) -> String {
        match self {
            Self::C => format!("(int){text}"),
            Self::Rust => format!("({text} as i32)"),
        }
    }

    /// A number of up to 64 bits.
    pub(super) fn constant(self, n: i64) -> (String, Type) {
        let kind = if i32::try_from(n).is_ok() {
            Type::Int
        } else {
            Type::Long
        };
        let text = match self {
            Self::C if n == i64::MIN => return (format!("({} - 1)", i64::MIN + 1), kind),
            Self::Rust if kind == Type::Long => format!("{n}_i64"),
            _ => n.to_string(),
        };
        let text = if n < 0 { format!("({text})") } else { text };
        (text, kind)
    }

    /// One value or another.
    pub(super) fn choice(self, condition: &str, then: &str, otherwise: &str) -> String {
        match self {
            Self::C => format!("({condition} ? {then} : {otherwise})"),
            Self::Rust => format!(
                "(if {} {{ {then} }} else {{ {otherwise} }})",
                strip(condition)
            ),
        }
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
