//! Flat code as it is, for threads that would need a `goto` in a language that has none: a loop around a `match` of what comes next.

use super::frame::Extra;
use super::{Function, Untranslatable};
use rsan_model::{Instr, Pc};
use std::collections::BTreeSet;

impl Function<'_, '_> {
    /// Where blocks begin: at targets, and after what does not go on with the next instruction only.
    fn leaders(&self) -> BTreeSet<u32> {
        let mut leaders = BTreeSet::from([0]);
        for pc in 0..self.len() {
            let targets = self.at(pc).successors(Pc(pc));
            if targets != [Pc(pc + 1)] {
                leaders.insert(pc + 1);
                leaders.extend(targets.iter().map(|to| to.0));
            }
        }
        leaders.remove(&self.len());
        leaders
    }

    /// Writes the instructions as a loop.
    pub(super) fn flat(&mut self) -> Result<(), Untranslatable> {
        let leaders: Vec<u32> = self.leaders().into_iter().collect();
        self.text
            .push_str("    let mut next = 0;\n    'body: loop {\n        match next {\n");
        self.depth += 2;
        for (i, start) in leaders.iter().enumerate() {
            let end = leaders.get(i + 1).copied().unwrap_or(self.len());
            self.line(&format!("{start} => {{"), *start);
            self.depth += 1;
            for pc in *start..end {
                self.flat_instruction(pc, end)?;
            }
            self.depth -= 1;
            self.line("}", end - 1);
        }
        self.depth -= 2;
        self.text
            .push_str("            _ => break,\n        }\n    }\n");
        Ok(())
    }

    /// Writes an instruction of the block that ends before `end`.
    fn flat_instruction(&mut self, pc: u32, end: u32) -> Result<(), Untranslatable> {
        let instr = self.at(pc).clone();
        let targets = instr.successors(Pc(pc));
        let back = targets.iter().map(|to| to.0).min();
        if back.is_some_and(|to| to <= pc && self.is_endless(to, pc)) {
            self.need_rounds();
            self.extras.insert(Extra::Rounds);
            self.line("rounds += 1;", pc);
            self.line("if rounds >= ROUNDS {", pc);
            self.line("    break 'body;", pc);
            self.line("}", pc);
        }
        match &instr {
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                let condition = self.condition(cond, true)?;
                let next = format!("if {condition} {{ {} }} else {{ {} }}", then.0, otherwise.0);
                self.line(&format!("next = {next};"), pc);
            }
            Instr::Jump(to) => self.line(&format!("next = {};", to.0), pc),
            Instr::Choose(targets) => {
                let choice = self.choice(targets.len());
                let all: Vec<String> = targets.iter().map(|to| to.0.to_string()).collect();
                let next = format!("[{}][{choice} as usize]", all.join(", "));
                self.line(&format!("next = {next};"), pc);
            }
            Instr::Halt => self.line("break 'body;", pc),
            _ => {
                self.instruction(&instr, pc)?;
                if pc + 1 == end {
                    self.line(&format!("next = {end};"), pc);
                }
            }
        }
        Ok(())
    }
}
