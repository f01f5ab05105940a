//! Programs as C, C11 with `<stdatomic.h>` and POSIX threads, or as Rust with its standard library; one function per thread.
//!
//! **What is kept**: every access, in its order and with its memory order, so a sanitizer sees the program that the
//! engines decide; values and their domain; names; places in the source, as comments.
//!
//! **Deviations**, where the languages have no such thing:
//! 1. *Blocking*: a wait or blocking compare-and-swap is a spin loop. Its failed iterations are accesses too.
//! 2. *Endless loops* are left after `ROUNDS` rounds, and a program that has not ended after `DEADLINE` seconds ends with
//!    [`BLOCKED`].
//! 3. *Choices* are taken by a random number generator whose seed is the program's first argument.
//! 4. A false *assumption* ends its thread, and a failed *assertion* or a *trap* the program (`abort`).
//! 5. *TPL's arithmetic*: no atomic instruction adds modulo `max_value + 1`. A location that is added to holds
//!    any number that is congruent to the value, and is reduced when it is read. If it is compared and swapped too, it
//!    holds the value itself, and a sum that would wrap is a trap.
//! 6. *Plain accesses* are volatile, or compilers would drop those whose value is not used.
//! 7. Weak compare-and-swaps fail spuriously when the machine likes.
//!
//! [`Options::annotated`] undoes deviation 1 for a program that is compiled with `rsan cc`: the wait or compare-and-swap is then
//! one access to the sanitizer, as in the model. Two kinds of waits remain loops: on a location that holds any congruent number
//! (deviation 5), and those for no value at all, which nothing can end.
//!
//! [`Options::scheduled`] adds a function call before every step that others can notice. With
//! `RSAN_SCHEDULE="0 1 1 0"` in the environment these steps are then made in this order. The turns are handed on by code
//! that is not instrumented, so a sanitizer does not see them and finds what it finds in such a run. With both options a
//! thread keeps its turn until its wait is over, so a schedule has no failed spin iterations.
//!
//! **Invariant**: structured statements are only another way to write the flat code (`flow`): whatever is
//! not recognised is a `goto`, also into and out of blocks, or in Rust the flat code itself (`flat`).

mod expr;
mod flat;
mod flow;
mod frame;
mod harness;
mod instr;
mod names;
mod place;
mod rust;
mod syntax;
mod wait;

use flow::Label;
use harness::{Helper, Need};
use names::Table;
use rsan_model::{
    Domain, Instr, LocId, LocKind, Observable, Place, Program, RegId, RmwOp, Start, Thread,
    ThreadId,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Write as _};
pub use syntax::Language;

/// Exit status of a translated program that is blocked, or has not ended in time.
pub const BLOCKED: i32 = 3;

/// How a program is translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The order of the steps can be given from outside.
    pub scheduled: bool,
    /// Waits and blocking compare-and-swaps are those of `rsan.h`.
    pub annotated: bool,
}

/// Why a program has no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untranslatable {
    /// The language that it should be written in.
    pub language: Language,
    /// What cannot be written.
    pub reason: String,
}

impl fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it cannot be translated to {}: {}",
            self.language, self.reason
        )
    }
}

impl std::error::Error for Untranslatable {}

/// How the values of a location are represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// As they are.
    Value,
    /// Modulo the domain's modulus (deviation 5).
    Congruent,
    /// As they are; additions are checked (deviation 5).
    Checked,
}

/// What is known of the program while it is written.
struct Context<'p> {
    language: Language,
    program: &'p Program,
    options: Options,
    locations: Table,
    threads: Vec<String>,
    shapes: Vec<Shape>,
    /// Whether a location is declared atomic.
    atomic: Vec<bool>,
    needs: RefCell<BTreeSet<Need>>,
    /// Where the lines of the source end.
    line_ends: Vec<usize>,
}

/// One thread while it is written.
struct Function<'c, 'p> {
    context: &'c Context<'p>,
    id: ThreadId,
    thread: &'p Thread,
    registers: Table,
    /// Where control goes by `goto`, and needs a label: instructions, and ends of loops.
    labels: BTreeSet<Label>,
    /// Of each instruction, those that control comes to it from, in their order.
    sources: Vec<Vec<u32>>,
    /// The loops around the instruction, innermost last.
    loops: Vec<flow::Loop>,
    /// Whether control goes where Rust has no statement for it.
    needs_goto: bool,
    /// Variables of the translation's own.
    extras: BTreeSet<frame::Extra>,
    text: String,
    depth: usize,
}

/// The program in C.
///
/// # Errors
/// When it has something that C cannot express.
pub fn print(program: &Program, options: Options) -> Result<String, Untranslatable> {
    let context = Context::new(program, options, Language::C)?;
    let functions = context.functions()?;
    let (main, result) = (context.main(), harness::result(&context));
    let mut text = context.title();
    text.push_str(&harness::prelude(&context));
    text.push_str(&context.declarations());
    text.push_str(&result);
    text.push_str(&harness::helpers(&context));
    text.push_str(&context.prototypes());
    text.push_str(&functions);
    text.push_str(&main);
    Ok(text)
}

/// The program in Rust, one file of any edition since 2021.
///
/// # Errors
/// When it has something that Rust cannot express.
pub fn print_rust(program: &Program, options: Options) -> Result<String, Untranslatable> {
    let context = Context::new(program, options, Language::Rust)?;
    let functions = context.functions()?;
    Ok(rust::file(&context, &functions))
}

/// Where the lines of the source end, if there is one.
fn line_ends(program: &Program) -> Vec<usize> {
    let text = program.source.as_ref().map(|source| &*source.text);
    let ends = text.unwrap_or_default().match_indices('\n');
    ends.map(|(end, _)| end).collect()
}

impl<'p> Context<'p> {
    fn new(
        program: &'p Program,
        options: Options,
        language: Language,
    ) -> Result<Self, Untranslatable> {
        let mut taken: HashSet<String> = HashSet::new();
        let locations = Table::new(
            program.locations.iter().map(|l| l.name.as_str()),
            &mut taken,
            language,
        );
        let threads = program
            .threads
            .iter()
            .map(|t| names::fresh(&t.name, &mut taken, language))
            .collect();
        let mut atomic: Vec<bool> = program
            .locations
            .iter()
            .map(|l| l.kind == LocKind::Atomic)
            .collect();
        for (_, _, instr) in program.instructions() {
            let Some(place) = instr.place() else { continue };
            for loc in place.candidates().filter(|_| instr.is_atomic_access()) {
                atomic[loc.index()] = true;
            }
        }
        for variable in locations.variables() {
            let any = atomic[variable.elements()].contains(&true);
            atomic[variable.elements()].fill(any);
        }
        Ok(Self {
            language,
            program,
            options,
            shapes: shapes(program, &locations)
                .map_err(|reason| Untranslatable { language, reason })?,
            locations,
            threads,
            atomic,
            needs: RefCell::default(),
            line_ends: line_ends(program),
        })
    }

    fn untranslatable(&self, reason: String) -> Untranslatable {
        Untranslatable {
            language: self.language,
            reason,
        }
    }

    /// The value of a number that is congruent to it.
    fn congruent(&self, text: &str) -> String {
        let wrap = self.need(Helper::Wrap);
        match self.language {
            Language::C => format!("{wrap}({text})"),
            Language::Rust => format!("{wrap}(i64::from({text} as u32))"),
        }
    }

    fn need(&self, helper: Helper) -> &'static str {
        self.needs.borrow_mut().insert(Need::Helper(helper));
        helper.name()
    }

    fn needs(&self, need: Need) -> bool {
        self.needs.borrow().contains(&need)
    }

    /// Whether the program can run for long.
    fn can_last(&self) -> bool {
        self.options.scheduled
            || self.program.instructions().any(|(_, pc, instr)| {
                matches!(instr, Instr::Wait { .. } | Instr::Bcas { .. })
                    || instr.successors(pc).iter().any(|to| *to <= pc)
            })
    }

    /// Whether an instruction is written with a function of `rsan.h`.
    fn is_annotated(&self, instr: &Instr) -> bool {
        let congruent = |place: &Place| {
            let mut candidates = place.candidates();
            candidates.any(|loc| self.shapes[loc.index()] == Shape::Congruent)
        };
        self.options.annotated
            && match instr {
                Instr::Wait { place, values, .. } => !values.is_empty() && !congruent(place),
                Instr::Bcas { .. } => true,
                _ => false,
            }
    }

    fn title(&self) -> String {
        let from = match &self.program.source {
            Some(source) => format!(" from {}", source.name.replace(['\n', '\r'], " ")),
            None => String::new(),
        };
        let name = self.program.name.replace(['\n', '\r'], " ");
        let numbers = if self.program.source.is_some() {
            " Numbers at the end of lines are lines there."
        } else {
            ""
        };
        format!("// {name}, translated by rsan{from}.{numbers}\n\n")
    }

    fn modulus(&self) -> Option<u32> {
        match self.program.domain {
            Domain::Int32 => None,
            Domain::Modulo(modulus) => Some(modulus),
        }
    }

    /// The registers whose final values are of interest.
    fn observed_registers(&self, thread: ThreadId) -> Vec<RegId> {
        let all = self.observed();
        let mut registers: Vec<RegId> = all
            .into_iter()
            .filter_map(|o| match o {
                Observable::Reg(t, r) if t == thread => Some(r),
                _ => None,
            })
            .collect();
        registers.sort();
        registers.dedup();
        registers
    }

    fn observed(&self) -> Vec<Observable> {
        let mut all = self.program.observed.clone();
        if let Some(condition) = &self.program.condition {
            condition.prop.for_each_observable(&mut |o| all.push(o));
        }
        all
    }

    /// The global that receives the final value of a register.
    fn result_name(&self, thread: ThreadId, register: RegId) -> String {
        format!("final_{}_{}", thread.0, register.0)
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for variable in self.locations.variables() {
            let first = variable.elements().start;
            let kind = match (self.atomic[first], self.shapes[first]) {
                (false, _) => "volatile int",
                (true, Shape::Congruent) => "atomic_uint",
                (true, _) => "atomic_int",
            };
            let inits: Vec<String> = self.program.locations[variable.elements()]
                .iter()
                .map(|l| l.init.to_string())
                .collect();
            let name = &variable.name;
            // A sanitizer that remembers a few accesses of each word remembers more of each variable then.
            let aligned = if self.options.scheduled {
                "_Alignas(8) "
            } else {
                ""
            };
            let _ = write!(text, "static {aligned}{kind} {name}");
            let _ = match variable.len {
                None => writeln!(text, " = {};", inits[0]),
                Some(len) => writeln!(text, "[{len}] = {{{}}};", inits.join(", ")),
            };
        }
        for t in (0..self.program.threads.len()).map(ThreadId::new) {
            for register in self.observed_registers(t) {
                let name = &self.program.threads[t.index()].registers[register.index()].name;
                let result = self.result_name(t, register);
                let _ = writeln!(text, "static int {result};  // {}:{name}", t.0);
            }
        }
        text.push('\n');
        text
    }

    fn spawned(&self) -> impl Iterator<Item = ThreadId> {
        let threads = self.program.threads.iter().enumerate();
        threads
            .filter(|(_, thread)| thread.start == Start::Spawned)
            .map(|(t, _)| ThreadId::new(t))
    }

    /// Functions that others start before they are defined.
    fn prototypes(&self) -> String {
        let lines: Vec<String> = self
            .spawned()
            .map(|t| format!("static void *{}(void *unused);\n", self.threads[t.index()]))
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        lines.concat() + "\n"
    }

    fn functions(&self) -> Result<String, Untranslatable> {
        let threads = (0..self.threads.len()).map(ThreadId::new);
        threads.map(|t| self.function(t)).collect()
    }

    fn function(&self, id: ThreadId) -> Result<String, Untranslatable> {
        let thread = &self.program.threads[id.index()];
        let mut taken: HashSet<String> = self.locations.names().collect();
        taken.extend(self.threads.iter().cloned());
        let mut function = Function {
            context: self,
            id,
            thread,
            registers: Table::new(
                thread.registers.iter().map(|r| r.name.as_str()),
                &mut taken,
                self.language,
            ),
            labels: BTreeSet::new(),
            sources: flow::sources(thread),
            loops: Vec::new(),
            needs_goto: false,
            extras: BTreeSet::new(),
            text: String::new(),
            depth: 1,
        };
        // The first pass finds out which labels are needed.
        function.body()?;
        function.text.clear();
        function.body()?;
        let name = &self.threads[id.index()];
        let head = match self.language {
            Language::C => format!("static void *{name}(void *unused) {{\n  (void)unused;\n"),
            Language::Rust => rust::head(self, id),
        };
        Ok(head + &function.variables() + &function.text + "}\n\n")
    }

    fn main(&self) -> String {
        let seeded = self.needs(Need::Helper(Helper::Choose));
        let mut text = String::from(if seeded {
            "int main(int argc, char **argv) {\n  seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;\n"
        } else {
            "int main(void) {\n"
        });
        if self.can_last() {
            text.push_str("  signal(SIGALRM, too_late);\n  alarm(DEADLINE);\n");
        }
        if self.options.scheduled {
            text.push_str("  read_schedule();\n");
        }
        let names: Vec<&str> = self
            .program
            .threads
            .iter()
            .zip(&self.threads)
            .filter(|(thread, _)| thread.start == Start::Initial)
            .map(|(_, name)| name.as_str())
            .collect();
        let count = names.len();
        if count > 0 {
            let _ = write!(
                text,
                "  void *(*functions[])(void *) = {{{}}};\n  pthread_t threads[{count}];\n  \
                 for (int i = 0; i < {count}; i++)\n    \
                 if (pthread_create(&threads[i], NULL, functions[i], NULL) != 0)\n      abort();\n  \
                 for (int i = 0; i < {count}; i++)\n    pthread_join(threads[i], NULL);\n",
                names.join(", ")
            );
        }
        text.push_str("  print_result();\n  return 0;\n}\n");
        text
    }
}

/// How the values of each location are represented; the same for all elements of an array.
fn shapes(program: &Program, locations: &Table) -> Result<Vec<Shape>, String> {
    let mut shapes = vec![Shape::Value; program.locations.len()];
    let Domain::Modulo(modulus) = program.domain else {
        return Ok(shapes);
    };
    let (mut added, mut compared) = (BTreeSet::new(), BTreeSet::new());
    for (_, _, instr) in program.instructions() {
        match instr {
            Instr::Rmw { place, op, .. } => match op {
                RmwOp::Add | RmwOp::Sub => added.extend(place.candidates()),
                RmwOp::Or | RmwOp::Xor if !modulus.is_power_of_two() => {
                    let reason =
                        format!("an atomic `|` or `^` of values from 0 to {}", modulus - 1);
                    return Err(reason);
                }
                RmwOp::And | RmwOp::Or | RmwOp::Xor => compared.extend(place.candidates()),
                RmwOp::Exchange => {}
            },
            Instr::Cas { place, .. } | Instr::Bcas { place, .. } => {
                compared.extend(place.candidates());
            }
            _ => {}
        }
    }
    for variable in locations.variables() {
        let has = |set: &BTreeSet<LocId>| variable.elements().any(|i| set.contains(&LocId::new(i)));
        let shape = match (has(&added), has(&compared)) {
            (false, _) => Shape::Value,
            (true, false) => Shape::Congruent,
            (true, true) => Shape::Checked,
        };
        shapes[variable.elements()].fill(shape);
    }
    Ok(shapes)
}
