//! From structured control flow to the flat code of [`rsan_model::Thread`]: labels, registers, limits.
//!
//! While a thread is being built the [`Pc`]s of its jumps hold label numbers; [`Builder::finish`] replaces them
//! by the places where the labels were bound.

use crate::diagnostic::{Diagnostic, Result};
use crate::limits;
use rsan_model::{Expr, Instr, Pc, RegId, Register, Span, Start, Thread, Value};

/// A place in the code that jumps can name before it exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(Pc);

/// A non-deterministic choice whose alternatives are still being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Choice(usize);

/// The code of one thread in the making.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    registers: Vec<Register>,
    code: Vec<Instr>,
    spans: Vec<Span>,
    /// Where each label is bound.
    targets: Vec<Option<Pc>>,
    /// Registers made by [`Builder::temp`], and how many of them are in use.
    temps: Vec<RegId>,
    temps_used: usize,
}

impl Builder {
    /// A new register, or `len` consecutive ones.
    ///
    /// # Errors
    /// When the thread gets too many; `span` is where the last one is declared.
    pub(crate) fn registers(
        &mut self,
        names: impl ExactSizeIterator<Item = String>,
        span: Span,
    ) -> Result<RegId> {
        let first = self.registers.len();
        if names.len() > limits::REGISTERS - first {
            return Err(too_many(span, "local variables", limits::REGISTERS));
        }
        self.registers
            .extend(names.map(|name| Register { name, init: 0 }));
        Ok(RegId::new(first))
    }

    /// A new register.
    ///
    /// # Errors
    /// When the thread gets too many.
    pub(crate) fn register(&mut self, name: impl Into<String>, span: Span) -> Result<RegId> {
        self.registers(std::iter::once(name.into()), span)
    }

    /// Gives a register its initial value.
    pub(crate) fn set_initial(&mut self, register: RegId, value: Value) {
        self.registers[register.index()].init = value;
    }

    /// The register of this name.
    pub(crate) fn find_register(&self, name: &str) -> Option<RegId> {
        let found = self.registers.iter().position(|r| r.name == name);
        found.map(RegId::new)
    }

    /// Whether there is no room for another instruction or register.
    pub(crate) fn is_full(&self) -> bool {
        self.code.len() == limits::INSTRUCTIONS || self.registers.len() == limits::REGISTERS
    }

    /// A register for an intermediate result, with a name that no source can spell. It is the reader's until
    /// the next [`Builder::release_temps`].
    ///
    /// # Errors
    /// When the thread gets too many registers.
    pub(crate) fn temp(&mut self, span: Span) -> Result<RegId> {
        if self.temps_used == self.temps.len() {
            let name = format!("%{}", self.temps.len() + 1);
            let register = self.register(name, span)?;
            self.temps.push(register);
        }
        self.temps_used += 1;
        Ok(self.temps[self.temps_used - 1])
    }

    /// Ends the life of all temporaries: at the end of each full expression.
    pub(crate) fn release_temps(&mut self) {
        self.temps_used = 0;
    }

    /// A label that is not bound yet.
    pub(crate) fn label(&mut self) -> Label {
        self.targets.push(None);
        Label(Pc::new(self.targets.len() - 1))
    }

    /// A label for the next instruction.
    pub(crate) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Makes `label` the place of the next instruction.
    pub(crate) fn bind(&mut self, label: Label) {
        self.targets[label.0.index()] = Some(Pc::new(self.code.len()));
    }

    /// Appends an instruction without targets.
    ///
    /// # Errors
    /// When the thread gets too long.
    pub(crate) fn emit(&mut self, instr: Instr, span: Span) -> Result<()> {
        if self.code.len() == limits::INSTRUCTIONS {
            return Err(too_many(
                span,
                "instructions in a thread",
                limits::INSTRUCTIONS,
            ));
        }
        self.code.push(instr);
        self.spans.push(span);
        Ok(())
    }

    /// `dst = value`
    ///
    /// # Errors
    /// When the thread gets too long.
    pub(crate) fn assign(&mut self, dst: RegId, value: Expr, span: Span) -> Result<()> {
        self.emit(Instr::Assign { dst, value }, span)
    }

    /// Goes to `to`.
    ///
    /// # Errors
    /// When the thread gets too long.
    pub(crate) fn jump(&mut self, to: Label, span: Span) -> Result<()> {
        self.emit(Instr::Jump(to.0), span)
    }

    /// Goes to `then` when `cond` is not 0, else to `otherwise`.
    ///
    /// # Errors
    /// When the thread gets too long.
    pub(crate) fn branch(
        &mut self,
        cond: Expr,
        then: Label,
        otherwise: Label,
        span: Span,
    ) -> Result<()> {
        match cond.as_const() {
            Some(0) => self.jump(otherwise, span),
            Some(_) => self.jump(then, span),
            None => self.emit(
                Instr::Branch {
                    cond,
                    then: then.0,
                    otherwise: otherwise.0,
                },
                span,
            ),
        }
    }

    /// Goes to one of several places, which [`Builder::add_choice`] adds.
    ///
    /// # Errors
    /// When the thread gets too long.
    pub(crate) fn choose(&mut self, span: Span) -> Result<Choice> {
        self.emit(Instr::Choose(Vec::new()), span)?;
        Ok(Choice(self.code.len() - 1))
    }

    /// Makes the next instruction one of those where a choice can go.
    pub(crate) fn add_choice(&mut self, choice: Choice) {
        let label = self.here();
        if let Instr::Choose(to) = &mut self.code[choice.0] {
            to.push(label.0);
        }
    }

    /// The thread without its code, for a program that is not going to be used.
    pub(crate) fn abandon(self, name: impl Into<String>) -> Thread {
        let empty = Self {
            registers: self.registers,
            ..Self::default()
        };
        empty.finish(name)
    }

    /// The finished thread.
    ///
    /// # Panics
    /// When a label was used and never bound: the readers report those first.
    pub(crate) fn finish(mut self, name: impl Into<String>) -> Thread {
        let resolve = |pc: &mut Pc| {
            *pc = self.targets[pc.index()].expect("every label that is used is bound");
        };
        for instr in &mut self.code {
            match instr {
                Instr::Branch {
                    then, otherwise, ..
                } => {
                    resolve(then);
                    resolve(otherwise);
                }
                Instr::Jump(to) => resolve(to),
                Instr::Choose(to) => to.iter_mut().for_each(resolve),
                _ => {}
            }
        }
        let (code, spans) = without_idle_jumps(self.code, self.spans);
        Thread {
            name: name.into(),
            start: Start::Initial,
            registers: self.registers,
            code,
            spans,
        }
    }
}

/// How far a chain of jumps is followed.
const HOPS: usize = 64;

/// Drops jumps to the very next instruction, and lets jumps to jumps go where those go.
fn without_idle_jumps(mut code: Vec<Instr>, spans: Vec<Span>) -> (Vec<Instr>, Vec<Span>) {
    let idle: Vec<bool> = (0..)
        .zip(&code)
        .map(|(pc, instr)| *instr == Instr::Jump(Pc(pc + 1)))
        .collect();
    let mut kept = 0;
    let mut new_pc: Vec<u32> = Vec::with_capacity(code.len() + 1);
    for &drop in &idle {
        new_pc.push(kept);
        kept += u32::from(!drop);
    }
    new_pc.push(kept);
    let jumps: Vec<Option<Pc>> = code
        .iter()
        .map(|instr| match instr {
            Instr::Jump(to) => Some(*to),
            _ => None,
        })
        .collect();
    let redirect = |pc: &mut Pc| {
        let mut to = *pc;
        // Any place on the way will do, so a cycle of jumps (an empty endless loop) does no harm.
        for _ in 0..HOPS {
            match jumps.get(to.index()) {
                Some(Some(next)) => to = *next,
                _ => break,
            }
        }
        *pc = Pc(new_pc[to.index()]);
    };
    for instr in &mut code {
        match instr {
            Instr::Branch {
                then, otherwise, ..
            } => {
                redirect(then);
                redirect(otherwise);
            }
            Instr::Jump(to) => redirect(to),
            Instr::Choose(to) => to.iter_mut().for_each(redirect),
            _ => {}
        }
    }
    let keep = |(_, drop): &(_, &bool)| !**drop;
    (
        code.into_iter()
            .zip(&idle)
            .filter(keep)
            .map(|(i, _)| i)
            .collect(),
        spans
            .into_iter()
            .zip(&idle)
            .filter(|(_, drop)| !**drop)
            .map(|(s, _)| s)
            .collect(),
    )
}

/// The error for more of something than is accepted.
pub(crate) fn too_many(span: Span, what: &str, limit: usize) -> Diagnostic {
    Diagnostic::new(
        span,
        format!("too many {what}: at most {limit} are accepted"),
    )
}

/// Whether evaluating the expression can fail (division by zero, index out of bounds).
pub(crate) fn may_fail(e: &Expr) -> bool {
    use rsan_model::BinOp;
    match e {
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Element { .. } => true,
        Expr::Unary(_, e) => may_fail(e),
        Expr::Binary(BinOp::Div | BinOp::Rem, l, r) => {
            r.as_const().is_none_or(|n| n == 0) || may_fail(l)
        }
        Expr::Binary(_, l, r) => may_fail(l) || may_fail(r),
        Expr::If(c, t, o) => may_fail(c) || may_fail(t) || may_fail(o),
    }
}
