//! Instructions as statements.

use super::frame::Extra;
use super::harness::{Helper, Need};
use super::syntax::{Language, strip};
use super::{Function, Untranslatable};
use rsan_model::{Instr, RegId, ThreadId};

impl Function<'_, '_> {
    /// Writes an instruction that goes on with the next one.
    pub(super) fn instruction(&mut self, instr: &Instr, pc: u32) -> Result<(), Untranslatable> {
        let noticed = instr.place().is_some()
            || matches!(instr, Instr::Fence(_) | Instr::Spawn(_) | Instr::Join(_));
        if noticed && self.context.options.scheduled {
            self.line(&format!("step({});", self.id.0), pc);
        }
        let language = self.context.language;
        match instr {
            Instr::Load { dst, place, ord } => {
                let load = self.load(place, *ord)?;
                self.assign(Some(*dst), &load, pc);
            }
            Instr::Store { place, value, ord } => {
                let (place, value) = (self.place(place)?, self.writer().value(value)?);
                let store = language.atomic("store", &place, &[&value, &language.order(ord)]);
                self.line(&format!("{store};"), pc);
            }
            Instr::Rmw {
                dst,
                place,
                op,
                operand,
                ord,
            } => {
                let update = self.update(place, *op, operand, *ord, dst.is_some())?;
                self.assign(*dst, &update, pc);
            }
            Instr::Cas { .. } => self.compare_and_swap(instr, pc)?,
            Instr::Wait { .. } | Instr::Bcas { .. } if self.context.is_annotated(instr) => {
                self.annotated(instr, pc)?;
            }
            Instr::Wait { .. } => self.wait(instr, pc)?,
            Instr::Bcas { .. } => self.blocking_swap(instr, pc)?,
            Instr::PlainLoad { dst, place } => {
                let load = self.plain_load(place)?;
                self.assign(Some(*dst), &load, pc);
            }
            Instr::PlainStore { place, value } => {
                let value = self.writer().value(value)?;
                let store = self.plain_store(place, &value)?;
                self.line(&store, pc);
            }
            Instr::Fence(ord) => {
                self.line(&language.fence(ord), pc);
            }
            Instr::Assign { dst, value } => {
                let value = self.writer().value(value)?;
                self.assign(Some(*dst), &value, pc);
            }
            Instr::Assert(e) => {
                self.context.need(Helper::Assert);
                let condition = self.writer().condition(e)?;
                let assertion = match language {
                    Language::C => format!("assert({condition});"),
                    Language::Rust => format!("check({condition}, {condition:?});"),
                };
                self.line(&assertion, pc);
            }
            Instr::Assume(e) => {
                let condition = self.writer().condition(e)?;
                self.stop_when(&format!("!({condition})"), pc);
            }
            Instr::Observe(e) => {
                let value = self.writer().any(e)?;
                self.line(&language.dropped(&format!("({value})")), pc);
            }
            Instr::Spawn(child) => match language {
                Language::C => self.spawn(*child, pc),
                Language::Rust => self.spawn_rust(*child, pc),
            },
            Instr::Join(child) => self.join(*child, pc)?,
            Instr::Branch { .. } | Instr::Jump(_) | Instr::Choose(_) | Instr::Halt => {
                unreachable!("control flow is written elsewhere")
            }
        }
        Ok(())
    }

    pub(super) fn assign(&mut self, dst: Option<RegId>, value: &str, pc: u32) {
        let line = match dst {
            Some(r) => format!("{} = {};", self.registers.element(r.index()), strip(value)),
            None => format!("{value};"),
        };
        self.line(&line, pc);
    }

    fn compare_and_swap(&mut self, instr: &Instr, pc: u32) -> Result<(), Untranslatable> {
        let Instr::Cas {
            dst,
            success,
            place,
            expected,
            new,
            ord,
            fail,
            strength,
        } = instr
        else {
            unreachable!("a compare-and-swap");
        };
        let (writer, language) = (self.writer(), self.context.language);
        let (expected, new) = (writer.value(expected)?, writer.value(new)?);
        let (place, strong_failure) = (self.place(place)?, *fail > ord.read());
        let (ord, fail) = (language.order(ord), language.order(fail));
        if language == Language::Rust {
            let operands = [expected.as_str(), &new, &ord, &fail];
            self.compare_exchange((*success, *dst), &place, *strength, &operands, pc);
            return Ok(());
        }
        self.extras.insert(Extra::Expected);
        // The strongest order of a failure that C11 allows.
        if strong_failure {
            self.context.needs.borrow_mut().insert(Need::StrongFailure);
        }
        self.line(&format!("expected = {expected};"), pc);
        let operation = format!("compare_exchange_{}", strength.name());
        let swap = language.atomic(&operation, &place, &["&expected", &new, &ord, &fail]);
        self.assign(*success, &swap, pc);
        if dst.is_some() {
            self.assign(*dst, "expected", pc);
        }
        Ok(())
    }

    fn spawn(&mut self, child: ThreadId, pc: u32) {
        let t = child.0;
        self.extras.insert(Extra::Thread(t));
        let name = &self.context.threads[child.index()];
        let create = format!("if (pthread_create(&thread_{t}, NULL, {name}, NULL) != 0) {{");
        self.line(&create, pc);
        self.line("  abort();", pc);
        self.line("}", pc);
        self.line(&format!("started_{t} = 1;"), pc);
    }

    fn join(&mut self, child: ThreadId, pc: u32) -> Result<(), Untranslatable> {
        let t = child.0;
        if !self.thread.code.contains(&Instr::Spawn(child)) {
            let reason = format!(
                "`{}` joins a thread that it does not create",
                self.thread.name
            );
            return Err(self.context.untranslatable(reason));
        }
        self.context.need(Helper::Join);
        match self.context.language {
            Language::C => {
                self.stop_when(&format!("!started_{t}"), pc);
                self.line(&format!("started_{t} = 0;"), pc);
                self.stop_when(&format!("!joined(thread_{t})"), pc);
            }
            Language::Rust => self.stop_when(&format!("!joined(&mut thread_{t})"), pc),
        }
        Ok(())
    }
}
