//! Instructions as statements.

use super::expr::{Writer, array_element, strip};
use super::harness::{Helper, Need};
use super::{Function, NotC, Shape};
use rsan_model::{CasStrength, Expr, Instr, Place, ReadOrd, RegId, RmwOp, RmwOrd, ThreadId};
use std::fmt::{Display, Write as _};

/// A variable that the source does not have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Extra {
    /// What a compare-and-swap expects, then sees.
    Expected,
    /// What a wait sees.
    Seen,
    /// How often an endless loop went round.
    Rounds,
    /// The random number generator's.
    Dice,
    /// A thread that this one creates.
    Thread(u32),
}

/// The column of the comments with places, where statements are short enough.
const COMMENTS: usize = 76;

impl<'p> Function<'_, 'p> {
    pub(super) fn writer(&self) -> Writer<'_, 'p> {
        Writer {
            context: self.context,
            registers: &self.registers,
        }
    }

    /// Writes a line of code and where it comes from.
    pub(super) fn line(&mut self, code: &str, pc: u32) {
        let mut line = "  ".repeat(self.depth) + code;
        let span = self.thread.spans.get(pc as usize);
        let closes = code.starts_with('}') && !code.contains("while");
        if let (Some(source), Some(span)) = (&self.context.program.source, span)
            && !closes
        {
            let (number, _) = source.line_column(span.start);
            let _ = write!(
                line,
                "{:pad$}  // {number}",
                "",
                pad = COMMENTS.saturating_sub(line.len())
            );
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    pub(super) fn need_rounds(&self) {
        self.context.needs.borrow_mut().insert(Need::Rounds);
    }

    /// What a choice among `count` alternatives is made with.
    pub(super) fn choice(&mut self, count: usize) -> String {
        self.extras.insert(Extra::Dice);
        let choose = self.context.need(Helper::Choose);
        if self.context.options.scheduled {
            format!("{choose}({}, &dice, {count})", self.id.0)
        } else {
            format!("{choose}(&dice, {count})")
        }
    }

    /// Declarations of what the body uses.
    pub(super) fn variables(&self) -> String {
        let observed = self.context.observed_registers(self.id);
        let (mut read, mut written) = (observed.clone(), observed);
        for instr in &self.thread.code {
            instr.for_each_read_reg(&mut |r| read.push(r));
            instr.for_each_written_reg(&mut |r| written.push(r));
        }
        let mut text = String::new();
        for variable in self.registers.variables() {
            let has = |regs: &[RegId]| {
                regs.iter()
                    .any(|r| variable.elements().contains(&r.index()))
            };
            if !has(&read) && !has(&written) {
                continue;
            }
            let registers = &self.thread.registers[variable.elements()];
            let inits: Vec<String> = registers.iter().map(|r| r.init.to_string()).collect();
            let name = &variable.name;
            let _ = match variable.len {
                None => writeln!(text, "  int {name} = {};", inits[0]),
                Some(len) => writeln!(text, "  int {name}[{len}] = {{{}}};", inits.join(", ")),
            };
            if !has(&read) {
                let _ = writeln!(text, "  (void){name};");
            }
        }
        for extra in &self.extras {
            let _ = match extra {
                Extra::Expected => writeln!(text, "  int expected;"),
                Extra::Seen => writeln!(text, "  int seen;"),
                Extra::Rounds => writeln!(text, "  int rounds = 0;"),
                Extra::Dice => writeln!(text, "  unsigned long dice = seed + {};", self.id.0),
                Extra::Thread(t) => {
                    writeln!(text, "  pthread_t thread_{t};\n  int started_{t} = 0;")
                }
            };
        }
        text
    }

    /// Leaves the results, and ends the thread.
    pub(super) fn epilogue(&mut self) {
        for register in self.context.observed_registers(self.id) {
            let result = self.context.result_name(self.id, register);
            let value = self.registers.element(register.index());
            let _ = writeln!(self.text, "  {result} = {value};");
        }
        self.leave(self.thread.code.len() as u32);
        self.text.push_str("  return NULL;\n");
    }

    /// What a thread does at its end: the program ends when all threads have, so it waits for those that it created.
    fn leave(&mut self, pc: u32) {
        if self.context.options.scheduled {
            self.line(&format!("finish({});", self.id.0), pc);
        }
        for extra in self.extras.clone() {
            if let Extra::Thread(t) = extra {
                self.line(&format!("if (started_{t}) {{"), pc);
                self.line(&format!("  pthread_join(thread_{t}, NULL);"), pc);
                self.line("}", pc);
            }
        }
    }

    /// Ends the thread for good, in the middle.
    fn stop(&mut self, pc: u32) {
        self.context.needs.borrow_mut().insert(Need::Stopped);
        self.leave(pc);
        self.line("return STOPPED;", pc);
    }

    /// Writes an instruction that goes on with the next one.
    pub(super) fn instruction(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
        let noticed = instr.place().is_some()
            || matches!(instr, Instr::Fence(_) | Instr::Spawn(_) | Instr::Join(_));
        if noticed && self.context.options.scheduled {
            self.line(&format!("step({});", self.id.0), pc);
        }
        match instr {
            Instr::Load { dst, place, ord } => {
                let load = self.load(place, *ord)?;
                self.assign(Some(*dst), &load, pc);
            }
            Instr::Store { place, value, ord } => {
                let (address, value) = (self.address(place)?, self.writer().value(value)?);
                let ord = c_order(*ord);
                self.line(
                    &format!("atomic_store_explicit({address}, {value}, {ord});"),
                    pc,
                );
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
            Instr::Wait {
                dst,
                place,
                values,
                ord,
            } => self.wait(*dst, place, values, *ord, pc)?,
            Instr::Bcas {
                place,
                expected,
                new,
                ord,
            } => {
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
            }
            Instr::PlainLoad { dst, place } => {
                let plain = self.plain(place)?;
                let load = self.reduced(place, plain);
                self.assign(Some(*dst), &load, pc);
            }
            Instr::PlainStore { place, value } => {
                let (plain, value) = (self.plain(place)?, self.writer().value(value)?);
                self.line(&format!("{plain} = {value};"), pc);
            }
            Instr::Fence(ord) => {
                self.line(&format!("atomic_thread_fence({});", c_order(*ord)), pc);
            }
            Instr::Assign { dst, value } => {
                let value = self.writer().value(value)?;
                self.assign(Some(*dst), &value, pc);
            }
            Instr::Assert(e) => {
                self.context.need(Helper::Assert);
                let condition = self.writer().condition(e)?;
                self.line(&format!("assert({condition});"), pc);
            }
            Instr::Assume(e) => {
                let condition = self.writer().condition(e)?;
                self.line(&format!("if (!({condition})) {{"), pc);
                self.depth += 1;
                self.stop(pc);
                self.depth -= 1;
                self.line("}", pc);
            }
            Instr::Observe(e) => {
                let value = self.writer().condition(e)?;
                self.line(&format!("(void)({value});"), pc);
            }
            Instr::Spawn(child) => self.spawn(*child, pc),
            Instr::Join(child) => self.join(*child, pc)?,
            Instr::Branch { .. } | Instr::Jump(_) | Instr::Choose(_) | Instr::Halt => {
                unreachable!("control flow is written elsewhere")
            }
        }
        Ok(())
    }

    fn assign(&mut self, dst: Option<RegId>, value: &str, pc: u32) {
        let line = match dst {
            Some(r) => format!("{} = {};", self.registers.element(r.index()), strip(value)),
            None => format!("{value};"),
        };
        self.line(&line, pc);
    }

    /// The place as an lvalue.
    fn place(&self, place: &Place) -> Result<String, NotC> {
        let locations = &self.context.locations;
        match place {
            Place::Loc(loc) => Ok(locations.element(loc.index())),
            Place::Element { base, len, index } => {
                let index = self.writer().index(index, *len)?;
                array_element(locations, base.index(), *len, index)
            }
        }
    }

    fn first(&self, place: &Place) -> usize {
        match place {
            Place::Loc(loc) => loc.index(),
            Place::Element { base, .. } => base.index(),
        }
    }

    fn shape(&self, place: &Place) -> Shape {
        self.context.shapes[self.first(place)]
    }

    fn address(&self, place: &Place) -> Result<String, NotC> {
        Ok(format!("&{}", self.place(place)?))
    }

    /// The place as an lvalue of a plain access.
    fn plain(&self, place: &Place) -> Result<String, NotC> {
        let text = self.place(place)?;
        Ok(
            match (self.context.atomic[self.first(place)], self.shape(place)) {
                (false, _) => text,
                (true, Shape::Congruent) => format!("*(volatile unsigned *)&{text}"),
                (true, _) => format!("*(volatile int *)&{text}"),
            },
        )
    }

    /// A value read from a place.
    fn reduced(&self, place: &Place, text: String) -> String {
        match self.shape(place) {
            Shape::Congruent => format!("{}({text})", self.context.need(Helper::Wrap)),
            Shape::Value | Shape::Checked => text,
        }
    }

    fn load(&self, place: &Place, ord: ReadOrd) -> Result<String, NotC> {
        let load = format!(
            "atomic_load_explicit({}, {})",
            self.address(place)?,
            c_order(ord)
        );
        Ok(self.reduced(place, load))
    }

    fn update(
        &self,
        place: &Place,
        op: RmwOp,
        operand: &Expr,
        ord: RmwOrd,
        used: bool,
    ) -> Result<String, NotC> {
        let (address, ord) = (self.address(place)?, c_order(ord));
        let shape = self.shape(place);
        let value = self.writer().value(operand)?;
        let (function, value, change) = match (op, shape, self.context.modulus()) {
            (RmwOp::Exchange, _, _) => ("exchange", value, None),
            (RmwOp::Add | RmwOp::Sub, Shape::Checked, _) => {
                let (function, value, change) = self.checked(op, operand)?;
                (function, value, Some(change))
            }
            (RmwOp::Add, _, _) => ("fetch_add", value, None),
            (RmwOp::Sub, _, Some(modulus)) => {
                let operand = self.writer().operand(operand)?;
                ("fetch_add", format!("{modulus} - {operand}"), None)
            }
            (RmwOp::Sub, _, None) => ("fetch_sub", value, None),
            (RmwOp::And, _, _) => ("fetch_and", value, None),
            (RmwOp::Or, _, _) => ("fetch_or", value, None),
            (RmwOp::Xor, _, _) => ("fetch_xor", value, None),
        };
        let update = format!("atomic_{function}_explicit({address}, {value}, {ord})");
        Ok(match change {
            Some(change) => format!("{}({update}, {change})", self.context.need(Helper::Counted)),
            None if used => self.reduced(place, update),
            None => update,
        })
    }

    /// An addition or subtraction that must not wrap.
    fn checked(&self, op: RmwOp, operand: &Expr) -> Result<(&'static str, String, String), NotC> {
        let negative = operand.as_const().filter(|n| *n < 0);
        let adds = (op == RmwOp::Add) != negative.is_some();
        let value = match negative {
            Some(n) => self.writer().operand(&Expr::Const(n.wrapping_neg()))?,
            None => self.writer().operand(operand)?,
        };
        let (function, sign) = if adds {
            ("fetch_add", "")
        } else {
            ("fetch_sub", "-")
        };
        let change = format!("{sign}{value}");
        Ok((function, value, change))
    }

    fn compare_and_swap(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
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
        self.extras.insert(Extra::Expected);
        let address = self.address(place)?;
        let writer = self.writer();
        let (expected, new) = (writer.value(expected)?, writer.value(new)?);
        let strength = match strength {
            CasStrength::Strong => "strong",
            CasStrength::Weak => "weak",
        };
        // The strongest order of a failure that C11 allows.
        if *fail > ord.read() {
            self.context.needs.borrow_mut().insert(Need::StrongFailure);
        }
        let (ord, fail) = (c_order(*ord), c_order(*fail));
        self.line(&format!("expected = {expected};"), pc);
        let swap = format!(
            "atomic_compare_exchange_{strength}_explicit({address}, &expected, {new}, {ord}, {fail})"
        );
        self.assign(*success, &swap, pc);
        if dst.is_some() {
            self.assign(*dst, "expected", pc);
        }
        Ok(())
    }

    /// A wait or a blocking compare-and-swap as a call.
    fn annotated(&mut self, instr: &Instr, pc: u32) -> Result<(), NotC> {
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

    fn wait(
        &mut self,
        dst: Option<RegId>,
        place: &Place,
        values: &[Expr],
        ord: ReadOrd,
        pc: u32,
    ) -> Result<(), NotC> {
        let load = self.load(place, ord)?;
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
            self.assign(dst, "seen", pc);
        }
        Ok(())
    }

    /// The body of a loop that waits. Under a schedule, trying again is a step of its own.
    fn wait_on(&mut self, pc: u32) {
        if self.context.options.scheduled {
            self.line(&format!("  step({});", self.id.0), pc);
        }
        self.line("  sched_yield();", pc);
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

    fn join(&mut self, child: ThreadId, pc: u32) -> Result<(), NotC> {
        let t = child.0;
        if !self.thread.code.contains(&Instr::Spawn(child)) {
            let reason = format!(
                "`{}` joins a thread that it does not create",
                self.thread.name
            );
            return Err(NotC { reason });
        }
        self.context.need(Helper::Join);
        for condition in [format!("!started_{t}"), format!("!joined(thread_{t})")] {
            self.line(&format!("if ({condition}) {{"), pc);
            self.depth += 1;
            self.stop(pc);
            self.depth -= 1;
            self.line("}", pc);
            if condition.starts_with("!started") {
                self.line(&format!("started_{t} = 0;"), pc);
            }
        }
        Ok(())
    }
}

/// How C calls an order.
fn c_order(ord: impl Display) -> String {
    format!("memory_order_{ord}")
}
