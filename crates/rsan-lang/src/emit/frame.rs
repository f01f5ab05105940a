//! What is around the instructions of a thread's function: its lines, its variables, its end.

use super::Function;
use super::expr::Writer;
use super::harness::{Helper, Need};
use super::syntax::Language;
use rsan_model::RegId;
use std::fmt::Write as _;

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
        let mut line = self.context.language.indent().repeat(self.depth) + code;
        let span = self.thread.spans.get(pc as usize);
        let closes = code.starts_with('}') && !code.contains("while");
        if let (Some(source), Some(span)) = (&self.context.program.source, span)
            && !closes
        {
            let ends = &self.context.line_ends;
            let number = ends.partition_point(|end| *end < span.start as usize) + 1;
            debug_assert_eq!(number, source.line_column(span.start).0);
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
        let dice = match self.context.language {
            Language::C => "&dice",
            Language::Rust => "&mut dice",
        };
        if self.context.options.scheduled {
            format!("{choose}({}, {dice}, {count})", self.id.0)
        } else {
            format!("{choose}({dice}, {count})")
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
            let (name, all) = (&variable.name, inits.join(", "));
            let _ = match (self.context.language, variable.len) {
                (Language::C, None) => writeln!(text, "  int {name} = {all};"),
                (Language::C, Some(len)) => writeln!(text, "  int {name}[{len}] = {{{all}}};"),
                (Language::Rust, None) => writeln!(text, "    let mut {name}: i32 = {all};"),
                (Language::Rust, Some(len)) => {
                    writeln!(text, "    let mut {name}: [i32; {len}] = [{all}];")
                }
            };
            if !has(&read) && self.context.language == Language::C {
                let _ = writeln!(text, "  (void){name};");
            }
        }
        for extra in &self.extras {
            if self.context.language == Language::Rust {
                text.push_str(&self.extra_in_rust(*extra));
                continue;
            }
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
            let _ = match self.context.language {
                Language::C => writeln!(self.text, "  {result} = {value};"),
                Language::Rust => writeln!(self.text, "    {result}.write({value});"),
            };
        }
        self.leave(self.thread.code.len() as u32);
        match self.context.language {
            Language::C => self.text.push_str("  return NULL;\n"),
            Language::Rust => self.end_in_rust(),
        }
    }

    /// What a thread does at its end: the program ends when all threads have, so it waits for those that it created.
    fn leave(&mut self, pc: u32) {
        if self.context.options.scheduled {
            self.line(&format!("finish({});", self.id.0), pc);
        }
        for extra in self.extras.clone() {
            let Extra::Thread(t) = extra else { continue };
            if self.context.language == Language::Rust {
                self.line(&format!("if let Some(thread) = thread_{t}.take() {{"), pc);
                self.line("    let _ = thread.join();", pc);
                self.line("}", pc);
            } else {
                self.line(&format!("if (started_{t}) {{"), pc);
                self.line(&format!("  pthread_join(thread_{t}, NULL);"), pc);
                self.line("}", pc);
            }
        }
    }

    /// Ends the thread for good, in the middle, when the condition holds.
    pub(super) fn stop_when(&mut self, condition: &str, pc: u32) {
        let language = self.context.language;
        self.line(&language.when(condition), pc);
        self.depth += 1;
        self.context.needs.borrow_mut().insert(Need::Stopped);
        self.leave(pc);
        match language {
            Language::C => self.line("return STOPPED;", pc),
            Language::Rust => self.line("return false;", pc),
        }
        self.depth -= 1;
        self.line("}", pc);
    }
}
