//! Operations that wait: calls that say so to the sanitizer, or loops.

use super::frame::Extra;
use super::syntax::Language;
use super::{Function, Untranslatable};
use rsan_model::{Instr, ReadOrd};

impl Function<'_, '_> {
    /// A wait or a blocking compare-and-swap as a call.
    pub(super) fn annotated(&mut self, instr: &Instr, pc: u32) -> Result<(), Untranslatable> {
        let (writer, language) = (self.writer(), self.context.language);
        match instr {
            Instr::Wait {
                dst,
                place,
                values,
                ord,
            } => {
                let (address, ord) = (self.address(place)?, language.order(ord));
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
                        let several = match language {
                            Language::C => several,
                            Language::Rust => format!("&[{several}]"),
                        };
                        let seen = format!("rsan_wait_any({address}, {ord}, {several})");
                        match dst {
                            Some(_) => self.assign(*dst, &seen, pc),
                            None => self.line(&language.dropped(&seen), pc),
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
                let (address, ord) = (self.address(place)?, language.order(ord));
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
    pub(super) fn wait(&mut self, instr: &Instr, pc: u32) -> Result<(), Untranslatable> {
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
        let language = self.context.language;
        let condition = match &*values {
            [] if language == Language::Rust => "true".to_owned(),
            [] => "1".to_owned(),
            [only] if dst.is_none() => format!("{load} != {only}"),
            [first, others @ ..] => {
                self.extras.insert(Extra::Seen);
                let others: String = others
                    .iter()
                    .map(|value| format!(" && seen != {value}"))
                    .collect();
                match language {
                    Language::C => format!("(seen = {load}) != {first}{others}"),
                    Language::Rust => format!("{{ seen = {load}; seen != {first}{others} }}"),
                }
            }
        };
        self.line(&language.as_long_as(&condition), pc);
        self.wait_on(pc);
        self.line("}", pc);
        if dst.is_some() && !values.is_empty() {
            self.assign(*dst, "seen", pc);
        }
        Ok(())
    }

    /// A blocking compare-and-swap as a loop.
    pub(super) fn blocking_swap(&mut self, instr: &Instr, pc: u32) -> Result<(), Untranslatable> {
        let Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } = instr
        else {
            unreachable!("a blocking compare-and-swap");
        };
        let (writer, language) = (self.writer(), self.context.language);
        let (expected, new) = (writer.value(expected)?, writer.value(new)?);
        let (ord, relaxed) = (language.order(ord), language.order(ReadOrd::Relaxed));
        let place = self.place(place)?;
        if language == Language::Rust {
            let swap = format!("{place}.compare_exchange({expected}, {new}, {ord}, {relaxed})");
            self.line(&format!("while {swap}.is_err() {{"), pc);
            self.wait_on(pc);
            self.line("}", pc);
            return Ok(());
        }
        self.extras.insert(Extra::Expected);
        self.line(&format!("expected = {expected};"), pc);
        let operands = ["&expected", &new, &ord, &relaxed];
        let swap = language.atomic("compare_exchange_strong", &place, &operands);
        self.line(&format!("while (!{swap}) {{"), pc);
        self.wait_on(pc);
        self.line(&format!("  expected = {expected};"), pc);
        self.line("}", pc);
        Ok(())
    }

    /// The body of a loop that waits. Under a schedule, trying again is a step of its own.
    fn wait_on(&mut self, pc: u32) {
        self.depth += 1;
        if self.context.options.scheduled {
            self.line(&format!("step({});", self.id.0), pc);
        }
        self.line(
            match self.context.language {
                Language::C => "sched_yield();",
                Language::Rust => "thread::yield_now();",
            },
            pc,
        );
        self.depth -= 1;
    }
}
