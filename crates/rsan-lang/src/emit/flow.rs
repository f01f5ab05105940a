//! Control flow: `if`, `while`, `do` and `for` where the flat code looks like them, `goto` elsewhere. Rust has no `goto`: a thread
//! that would need one is written as its flat code instead (`flat`).
//!
//! A block of flat code is written in its order, and what follows a block follows it in the flat code too. So a
//! structured statement means what the branches and jumps that it replaces mean, wherever else control comes from.

use super::syntax::Language;
use super::{Function, Untranslatable};
use rsan_model::{Expr, Instr, Pc, Thread};

/// A place that `goto` goes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Label {
    /// Before an instruction.
    At(u32),
    /// The end of the body of the loop that begins with the instruction.
    Next(u32),
}

/// How a loop is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `for (;;)`; the last instruction jumps back.
    Forever,
    /// `while (..)`: the first instruction branches out of it too.
    While,
    /// `do { } while (..)`: the last instruction branches back.
    Do,
}

/// A loop that is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    kind: Kind,
    head: u32,
    /// The instruction that closes it.
    last: u32,
}

/// Of each instruction, and of the end, those that control comes to it from, in their order.
pub(super) fn sources(thread: &Thread) -> Vec<Vec<u32>> {
    let mut sources = vec![Vec::new(); thread.code.len() + 1];
    for pc in 0..thread.code.len() as u32 {
        for to in thread.instr(Pc(pc)).successors(Pc(pc)) {
            let known: &mut Vec<u32> = &mut sources[to.0 as usize];
            if known.last() != Some(&pc) {
                known.push(pc);
            }
        }
    }
    sources
}

impl Function<'_, '_> {
    pub(super) fn at(&self, pc: u32) -> &Instr {
        self.thread.instr(Pc(pc))
    }

    pub(super) fn len(&self) -> u32 {
        self.thread.code.len() as u32
    }

    /// Writes the whole thread.
    pub(super) fn body(&mut self) -> Result<(), Untranslatable> {
        let end = Label::At(self.len());
        let around = self.context.language == Language::Rust && self.labels.contains(&end);
        if self.needs_goto {
            self.flat()?;
        } else if around {
            self.text.push_str("    'body: {\n");
            self.depth += 1;
            self.block(0, self.len())?;
            self.depth -= 1;
            self.text.push_str("    }\n");
        } else {
            self.block(0, self.len())?;
        }
        self.label(end);
        self.epilogue();
        Ok(())
    }

    /// Writes the instructions from `pc` to `end`.
    fn block(&mut self, mut pc: u32, end: u32) -> Result<(), Untranslatable> {
        while pc < end {
            let open = self.loops.iter().any(|l| l.head == pc);
            pc = match self.loop_at(pc, end).filter(|_| !open) {
                Some(found) => self.looped(found)?,
                None => self.single(pc, end)?,
            };
        }
        Ok(())
    }

    /// The loop that begins at `head` and ends before `end`.
    fn loop_at(&self, head: u32, end: u32) -> Option<Loop> {
        let sources = &self.sources[head as usize];
        let before_end = sources.partition_point(|pc| *pc < end);
        let last = *sources[..before_end].last().filter(|last| **last >= head)?;
        let kind = match (self.at(last), self.at(head)) {
            (
                Instr::Jump(_),
                Instr::Branch {
                    then, otherwise, ..
                },
            ) if then.0 == head + 1 && otherwise.0 == last + 1 && head != last => Kind::While,
            (Instr::Jump(_), _) => Kind::Forever,
            (
                Instr::Branch {
                    then, otherwise, ..
                },
                _,
            ) => {
                let pair = (then.0, otherwise.0);
                if pair != (head, last + 1) && pair != (last + 1, head) {
                    return None;
                }
                Kind::Do
            }
            _ => return None,
        };
        Some(Loop { kind, head, last })
    }

    /// Writes a loop; returns where the code goes on.
    fn looped(&mut self, found: Loop) -> Result<u32, Untranslatable> {
        let Loop { kind, head, last } = found;
        self.label(Label::At(head));
        let endless = self.is_endless(head, last);
        let bounded = endless && kind != Kind::Do;
        let language = self.context.language;
        let opening = match (kind, self.at(head), language) {
            (_, _, Language::C) if bounded => {
                "for (int round = 0; round < ROUNDS; round++) {".to_owned()
            }
            (_, _, Language::Rust) if bounded => "for _ in 0..ROUNDS {".to_owned(),
            (Kind::Forever, _, Language::C) => "for (;;) {".to_owned(),
            (Kind::While, Instr::Branch { cond, .. }, _) => {
                language.as_long_as(&self.writer().condition(cond)?)
            }
            (_, _, Language::C) => "do {".to_owned(),
            (_, _, Language::Rust) => "loop {".to_owned(),
        };
        let named = language == Language::Rust && self.labels.contains(&Label::Next(head));
        let opening = match named {
            true => format!("'loop_{head}: {opening}"),
            false => opening,
        };
        if bounded {
            self.need_rounds();
        }
        self.line(&opening, head);
        self.loops.push(found);
        self.depth += 1;
        let start = if kind == Kind::While { head + 1 } else { head };
        self.block(start, last)?;
        self.label(Label::At(last));
        self.label(Label::Next(head));
        let closing = match self.at(last).clone() {
            Instr::Branch { cond, then, .. } if kind == Kind::Do => {
                let again = then.0 == head;
                match language {
                    Language::C => format!("}} while ({});", self.condition(&cond, again)?),
                    Language::Rust => {
                        let left = self.condition(&cond, !again)?;
                        self.line(&language.when(&left), last);
                        self.line("    break;", last);
                        self.line("}", last);
                        "}".to_owned()
                    }
                }
            }
            _ => "}".to_owned(),
        };
        self.loops.pop();
        self.depth -= 1;
        self.line(&closing, last);
        if bounded && last + 1 < self.len() {
            self.jump(self.len(), last);
        }
        Ok(last + 1)
    }

    /// The condition, or its contrary.
    pub(super) fn condition(&self, cond: &Expr, as_is: bool) -> Result<String, Untranslatable> {
        let condition = self.writer().condition(cond)?;
        Ok(if as_is {
            condition
        } else {
            format!("!({condition})")
        })
    }

    /// Writes what stands at `pc` and is not a loop; returns where the code goes on.
    fn single(&mut self, pc: u32, end: u32) -> Result<u32, Untranslatable> {
        // The label of a loop's first instruction stands before the loop.
        if !self.loops.iter().any(|l| l.head == pc) {
            self.label(Label::At(pc));
        }
        let instr = self.at(pc).clone();
        match instr {
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                return self.branch(&cond, then.0, otherwise.0, pc, end);
            }
            Instr::Jump(to) => self.jump(to.0, pc),
            Instr::Halt => self.jump(self.len(), pc),
            Instr::Choose(targets) => self.choose(&targets, pc),
            _ => self.instruction(&instr, pc)?,
        }
        Ok(pc + 1)
    }

    fn branch(
        &mut self,
        cond: &Expr,
        then: u32,
        otherwise: u32,
        pc: u32,
        end: u32,
    ) -> Result<u32, Untranslatable> {
        let skips = |to: u32| pc < to && to <= end;
        let (positive, target) = match (then, otherwise) {
            (t, o) if t == pc + 1 && skips(o) => (true, o),
            (t, o) if o == pc + 1 && skips(t) => (false, t),
            (t, o) => {
                let positive = o == pc + 1 || t != pc + 1;
                let condition = self.condition(cond, positive)?;
                self.line(&self.context.language.when(&condition), pc);
                self.depth += 1;
                self.jump(if positive { t } else { o }, pc);
                self.depth -= 1;
                self.line("}", pc);
                if positive && o != pc + 1 {
                    self.jump(o, pc);
                }
                return Ok(pc + 1);
            }
        };
        let condition = self.condition(cond, positive)?;
        self.line(&self.context.language.when(&condition), pc);
        self.depth += 1;
        let before = target - 1;
        let otherwise_until = match self.at(before) {
            Instr::Jump(to) if before > pc && target < to.0 && to.0 <= end => Some(to.0),
            _ => None,
        };
        self.block(
            pc + 1,
            if otherwise_until.is_some() {
                before
            } else {
                target
            },
        )?;
        if let Some(until) = otherwise_until {
            self.label(Label::At(before));
            self.depth -= 1;
            self.line("} else {", before);
            self.depth += 1;
            self.block(target, until)?;
        }
        self.depth -= 1;
        self.line("}", pc);
        Ok(otherwise_until.unwrap_or(target))
    }

    fn choose(&mut self, targets: &[Pc], pc: u32) {
        let choice = self.choice(targets.len());
        if self.context.language == Language::Rust {
            self.needs_goto = true;
            return;
        }
        self.line(&format!("switch ({choice}) {{"), pc);
        for (i, to) in targets.iter().enumerate() {
            self.labels.insert(Label::At(to.0));
            let case = if i + 1 == targets.len() {
                "default".to_owned()
            } else {
                format!("case {i}")
            };
            self.line(&format!("{case}: goto label_{};", to.0), pc);
        }
        self.line("}", pc);
    }

    /// Writes a jump from `pc` in Rust, where names of loops can do.
    fn leave_or_repeat(&mut self, to: u32, pc: u32) {
        let innermost = self.loops.len().wrapping_sub(1);
        let mut found = None;
        for (i, l) in self.loops.iter().enumerate().rev() {
            // What goes round in a `do` for ever is counted, which the flat code does.
            let counted = || l.kind == Kind::Do && self.is_endless(to, pc);
            let word = match to {
                _ if to == l.last + 1 => "break",
                _ if to == l.head && !counted() => "continue",
                _ => continue,
            };
            found = Some((word, l.head, i == innermost));
            break;
        }
        match found {
            Some((word, _, true)) => self.line(&format!("{word};"), pc),
            Some((word, head, false)) => {
                self.labels.insert(Label::Next(head));
                self.line(&format!("{word} 'loop_{head};"), pc);
            }
            None if to == self.len() => {
                self.labels.insert(Label::At(to));
                self.line("break 'body;", pc);
            }
            // Control falls through.
            None if to == pc + 1 => {}
            None => self.needs_goto = true,
        }
    }

    /// Writes a jump from `pc`.
    fn jump(&mut self, to: u32, pc: u32) {
        if self.context.language == Language::Rust {
            return self.leave_or_repeat(to, pc);
        }
        if let Some(inner) = self.loops.last() {
            if to == inner.last + 1 {
                return self.line("break;", pc);
            }
            if to == inner.head && inner.kind != Kind::Do {
                return self.line("continue;", pc);
            }
        }
        let around = |l: &&Loop| l.head == to && l.kind != Kind::Do;
        if self.loops.iter().rev().any(|l| around(&l)) {
            self.labels.insert(Label::Next(to));
            return self.line(&format!("goto next_{to};"), pc);
        }
        self.labels.insert(Label::At(to));
        if to <= pc && self.is_endless(to, pc) {
            self.need_rounds();
            self.extras.insert(super::frame::Extra::Rounds);
            self.line("if (++rounds >= ROUNDS) {", pc);
            self.depth += 1;
            self.labels.insert(Label::At(self.len()));
            self.line(&format!("goto label_{};", self.len()), pc);
            self.depth -= 1;
            self.line("}", pc);
        }
        self.line(&format!("goto label_{to};"), pc);
    }

    /// Whether control never leaves the instructions from `first` to `last`.
    pub(super) fn is_endless(&self, first: u32, last: u32) -> bool {
        (first..=last).all(|pc| {
            let instr = self.at(pc);
            let inside = |to: &Pc| (first..=last).contains(&to.0);
            match instr {
                Instr::Halt => false,
                Instr::Branch {
                    cond,
                    then,
                    otherwise,
                } => match cond.as_const() {
                    Some(0) => inside(otherwise),
                    Some(_) => inside(then),
                    None => inside(then) && inside(otherwise),
                },
                _ if pc == last && !matches!(instr, Instr::Jump(_) | Instr::Choose(_)) => false,
                _ => instr.successors(Pc(pc)).iter().all(inside),
            }
        })
    }

    /// Writes a label, if something goes there.
    fn label(&mut self, label: Label) {
        if !self.labels.contains(&label) || self.context.language == Language::Rust {
            return;
        }
        let name = match label {
            Label::At(pc) => format!("label_{pc}:;"),
            Label::Next(pc) => format!("next_{pc}:;"),
        };
        let indent = "  ".repeat(self.depth.saturating_sub(1));
        self.text.push_str(&format!("{indent}{name}\n"));
    }
}
