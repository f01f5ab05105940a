//! Operations that wait: calls of `rsan.h`, or loops.

use super::frame::Extra;
use super::place::c_order;
use super::{Function, NotC};
use rsan_model::{Instr, ReadOrd};

impl Function<'_, '_> {
    /// A wait or a blocking compare-and-swap as a call.
    pub(super) fn annotated(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
        let writer = self.writer();
        match instr {
            Instr::Wait {
                dst,
                place,
                values,
                ord,
            } => {
                let (address, ord) = (self.address(place)?, c_order(*ord));
                let values: Vec<String> = values
                    .iter()
                    .map(|v| writer.operand(v))
                    .collect::<Result<_, _>>()?;
                match &*values {
                    [only] => {
                        self.line(&format!("rsan_wait({address}, {only}, {ord});"), pc);
                        if dst.is_some() {
                            self.assign(*dst, only, pc);
                        }
                    }
                    several => {
                        let several = several.join(", ");
                        let seen = format!("rsan_wait_any({address}, {ord}, {several})");
                        match dst {
                            Some(_) => self.assign(*dst, &seen, pc),
                            None => self.line(&format!("(void){seen};"), pc),
                        }
                    }
                }
            }
            Instr::Bcas {
                place,
                expected,
                new,
                ord,
            } => {
                let (address, ord) = (self.address(place)?, c_order(*ord));
                let (expected, new) = (writer.value(expected)?, writer.value(new)?);
                self.line(
                    &format!("rsan_bcas({address}, {expected}, {new}, {ord});"),
                    pc,
                );
            }
            _ => unreachable!("nothing else has a function of its own"),
        }
        Ok(())
    }

    /// A wait as a loop.
    pub(super) fn wait(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
        let Instr::Wait {
            dst,
            place,
            values,
            ord,
        } = instr
        else {
            unreachable!("a wait");
        };
        let load = self.load(place, *ord)?;
        let writer = self.writer();
        let values: Vec<String> = values
            .iter()
            .map(|v| writer.operand(v))
            .collect::<Result<_, _>>()?;
        let condition = match &*values {
            [] => "1".to_owned(),
            [only] if dst.is_none() => format!("{load} != {only}"),
            [first, others @ ..] => {
                self.extras.insert(Extra::Seen);
                let others: String = others
                    .iter()
                    .map(|value| format!(" && seen != {value}"))
                    .collect();
                format!("(seen = {load}) != {first}{others}")
            }
        };
        self.line(&format!("while ({condition}) {{"), pc);
        self.wait_on(pc);
        self.line("}", pc);
        if dst.is_some() && !values.is_empty() {
            self.assign(*dst, "seen", pc);
        }
        Ok(())
    }

    /// A blocking compare-and-swap as a loop.
    pub(super) fn blocking_swap(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
        let Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } = instr
        else {
            unreachable!("a blocking compare-and-swap");
        };
        self.extras.insert(Extra::Expected);
        let address = self.address(place)?;
        let writer = self.writer();
        let (expected, new) = (writer.value(expected)?, writer.value(new)?);
        let ord = c_order(*ord);
        let relaxed = c_order(ReadOrd::Relaxed);
        self.line(&format!("expected = {expected};"), pc);
        self.line(
            &format!("while (!atomic_compare_exchange_strong_explicit({address}, &expected, {new}, {ord}, {relaxed})) {{"),
            pc,
        );
        self.wait_on(pc);
        self.line(&format!("  expected = {expected};"), pc);
        self.line("}", pc);
        Ok(())
    }

    /// The body of a loop that waits. Under a schedule, trying again is a step of its own.
    fn wait_on(&mut self, pc: u32) {
        if self.context.options.scheduled {
            self.line(&format!("  step({});", self.id.0), pc);
        }
        self.line("  sched_yield();", pc);
    }
}
