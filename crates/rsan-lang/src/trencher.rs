//! Trencher's automata: threads of control states and transitions over a memory of integers.
//!
//! ```text
//! thread NAME
//! initial STATE
//! transition FROM TO INSTRUCTION
//! end
//! ```
//!
//! A line is a list of words; `#` outside a thread, or at the beginning of a line, starts a comment. Expressions are in prefix
//! form. Values are 32 bits wide. Names of threads and states are any words; a register is a word that is neither a
//! number nor an operator.

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::limits;
use crate::lower::too_many;
use rsan_model::automata::{Automata, Automaton, ControlState, Op, StateId, Transition};
use rsan_model::{BinOp, Domain, Expr, RegId, Source, Span, UnOp, Value};

/// Reads automata.
///
/// # Errors
/// Everything that is wrong with the text: the first error of each line.
pub fn parse_automata(source: &Source) -> std::result::Result<Automata, Diagnostics> {
    crate::check_size(source)?;
    let mut reader = Reader::default();
    let mut errors = Vec::new();
    let mut offset = 0;
    for line in source.text.split_inclusive('\n') {
        if let Err(error) = reader.line(&mut Words { line, offset }) {
            errors.push(error);
        }
        offset += line.len();
        if errors.len() >= limits::ERRORS {
            break;
        }
    }
    if errors.is_empty()
        && let Err(error) = reader.finish(offset)
    {
        errors.push(error);
    }
    let automata = Automata {
        name: crate::stem(&source.name).to_owned(),
        source: Some(source.clone()),
        domain: Domain::Int32,
        threads: reader.threads,
        memory: Vec::new(),
        names: Vec::new(),
    };
    Diagnostics::check(errors, automata)
}

/// Whether a text begins as automata do: comments, and then a thread.
pub fn looks_like_automata(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.split_whitespace().next() == Some("thread"))
}

/// The words of a line that are left.
struct Words<'a> {
    line: &'a str,
    offset: usize,
}

/// A word and where it stands.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    span: Span,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Word<'a>> {
        let rest = self.line.trim_start();
        let start = self.offset + (self.line.len() - rest.len());
        let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
        if len == 0 {
            return None;
        }
        let (text, after) = rest.split_at(len);
        self.line = after;
        self.offset = start + len;
        let span = Span::new(start, start + len);
        Some(Word { text, span })
    }

    /// Just after the last word that was taken.
    fn here(&self) -> Span {
        Span::new(self.offset, self.offset)
    }

    fn expect(&mut self, what: &str) -> Result<Word<'a>> {
        self.next()
            .ok_or_else(|| Diagnostic::new(self.here(), format!("expected {what}")))
    }

    fn end(&mut self) -> Result<()> {
        match self.next() {
            None => Ok(()),
            Some(word) if word.text.starts_with('#') => Ok(()),
            Some(word) => Err(Diagnostic::new(
                word.span,
                format!("`{}` is too much here", word.text),
            )),
        }
    }
}

#[derive(Default)]
struct Reader {
    threads: Vec<Automaton>,
    /// The thread that is being read, and where it began; the flag says whether `initial` was there.
    open: Option<(Automaton, Span, bool)>,
}

impl Reader {
    fn line(&mut self, words: &mut Words<'_>) -> Result<()> {
        let Some(word) = words.next() else {
            return Ok(());
        };
        match (word.text, &mut self.open) {
            (text, _) if text.starts_with('#') => Ok(()),
            ("thread", None) => self.begin(word, words),
            ("thread", Some((thread, ..))) => Err(Diagnostic::new(
                word.span,
                format!("thread `{}` has no `end`", thread.name),
            )),
            ("initial", Some((thread, _, seen))) => {
                let name = words.expect("a control state")?;
                if std::mem::replace(seen, true) {
                    let message = "this thread has an initial state already";
                    return Err(Diagnostic::new(word.span, message));
                }
                thread.initial = state(thread, name)?;
                words.end()
            }
            ("transition", Some((thread, ..))) => transition(thread, word, words),
            ("end", Some(_)) => {
                words.end()?;
                self.end(word)
            }
            ("initial" | "transition" | "end", None) => Err(Diagnostic::new(
                word.span,
                format!("`{}` outside a thread", word.text),
            )),
            (text, _) => Err(Diagnostic::new(word.span, format!("unknown line `{text}`"))
                .with_help("lines begin with `thread`, `initial`, `transition`, `end` or `#`")),
        }
    }

    fn begin(&mut self, word: Word<'_>, words: &mut Words<'_>) -> Result<()> {
        let name = words.expect("the name of a thread")?;
        if self.threads.len() == limits::THREADS {
            return Err(too_many(word.span, "threads", limits::THREADS));
        }
        if self.threads.iter().any(|t| t.name == name.text) {
            let message = format!("there are two threads `{}`", name.text);
            return Err(Diagnostic::new(name.span, message));
        }
        let thread = Automaton {
            name: name.text.to_owned(),
            states: Vec::new(),
            initial: StateId(0),
            registers: Vec::new(),
            transitions: Vec::new(),
        };
        self.open = Some((thread, word.span, false));
        words.end()
    }

    fn end(&mut self, word: Word<'_>) -> Result<()> {
        let Some((thread, _, initial)) = self.open.take() else {
            return Ok(());
        };
        if !initial {
            let message = format!("thread `{}` has no initial state", thread.name);
            return Err(Diagnostic::new(word.span, message));
        }
        self.threads.push(thread);
        Ok(())
    }

    fn finish(&self, len: usize) -> Result<()> {
        if let Some((thread, span, _)) = &self.open {
            let message = format!("thread `{}` has no `end`", thread.name);
            return Err(Diagnostic::new(*span, message));
        }
        if self.threads.is_empty() {
            let message = "there is no thread in this text";
            return Err(Diagnostic::new(Span::new(len, len), message));
        }
        Ok(())
    }
}

fn state(thread: &mut Automaton, name: Word<'_>) -> Result<StateId> {
    let known = thread.states.iter().position(|s| s.name == name.text);
    let index = match known {
        Some(index) => index,
        None if thread.states.len() == limits::INSTRUCTIONS => {
            return Err(too_many(name.span, "control states", limits::INSTRUCTIONS));
        }
        None => {
            thread.states.push(ControlState {
                name: name.text.to_owned(),
                fenceable: true,
            });
            thread.states.len() - 1
        }
    };
    Ok(StateId(index as u32))
}

fn transition(thread: &mut Automaton, first: Word<'_>, words: &mut Words<'_>) -> Result<()> {
    let from = words.expect("the control state that it leaves")?;
    let from = state(thread, from)?;
    let to = words.expect("the control state that it enters")?;
    let to = state(thread, to)?;
    let op = instruction(thread, words)?;
    let span = first.span.to(words.here());
    words.end()?;
    if thread.transitions.len() == limits::INSTRUCTIONS {
        return Err(too_many(first.span, "transitions", limits::INSTRUCTIONS));
    }
    thread.transitions.push(Transition { from, to, op, span });
    Ok(())
}

fn instruction(thread: &mut Automaton, words: &mut Words<'_>) -> Result<Op> {
    let word = words.expect("an instruction")?;
    Ok(match word.text {
        "read" => Op::Read {
            reg: register(thread, words)?,
            addr: expression(thread, words, 0)?,
            accept: None,
        },
        "write" => Op::Write {
            value: expression(thread, words, 0)?,
            addr: expression(thread, words, 0)?,
        },
        "local" => Op::Assign {
            reg: register(thread, words)?,
            value: expression(thread, words, 0)?,
        },
        "check" => Op::Check(expression(thread, words, 0)?),
        "mfence" => Op::Fence,
        "lock" => Op::Lock,
        "unlock" => Op::Unlock,
        "noop" => Op::Noop,
        text => {
            let known = "read, write, mfence, lock, unlock, local, check and noop";
            return Err(
                Diagnostic::new(word.span, format!("unknown instruction `{text}`"))
                    .with_help(format!("there are {known}")),
            );
        }
    })
}

fn register(thread: &mut Automaton, words: &mut Words<'_>) -> Result<RegId> {
    let word = words.expect("a register")?;
    if is_number(word.text) || binary(word.text).is_some() || word.text == "!" {
        let message = format!("expected a register, not `{}`", word.text);
        return Err(Diagnostic::new(word.span, message));
    }
    named(thread, word)
}

fn named(thread: &mut Automaton, word: Word<'_>) -> Result<RegId> {
    let known = thread.registers.iter().position(|r| r.0 == word.text);
    let index = match known {
        Some(index) => index,
        None if thread.registers.len() == limits::REGISTERS => {
            return Err(too_many(word.span, "registers", limits::REGISTERS));
        }
        None => {
            thread.registers.push((word.text.to_owned(), 0));
            thread.registers.len() - 1
        }
    };
    Ok(RegId::new(index))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn expression(thread: &mut Automaton, words: &mut Words<'_>, depth: u32) -> Result<Expr> {
    let word = words.expect("an expression")?;
    if depth == limits::NESTING {
        return Err(Diagnostic::new(word.span, "this expression is too deep"));
    }
    if word.text == "!" {
        let operand = expression(thread, words, depth + 1)?;
        return Ok(Expr::Unary(UnOp::Not, Box::new(operand)));
    }
    if let Some(op) = binary(word.text) {
        let left = expression(thread, words, depth + 1)?;
        let right = expression(thread, words, depth + 1)?;
        return Ok(Expr::Binary(op, Box::new(left), Box::new(right)));
    }
    if is_number(word.text) {
        let value: Value = word.text.parse().map_err(|_| {
            let message = format!("`{}` is not an integer of 32 bits", word.text);
            Diagnostic::new(word.span, message)
        })?;
        return Ok(Expr::Const(value.into()));
    }
    named(thread, word).map(Expr::Reg)
}

fn binary(text: &str) -> Option<BinOp> {
    Some(match text {
        "==" => BinOp::Eq,
        "!=" => BinOp::Ne,
        "<" => BinOp::Lt,
        "<=" => BinOp::Le,
        ">" => BinOp::Gt,
        ">=" => BinOp::Ge,
        "&&" => BinOp::And,
        "||" => BinOp::Or,
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "*" => BinOp::Mul,
        "&" => BinOp::BitAnd,
        _ => return None,
    })
}
