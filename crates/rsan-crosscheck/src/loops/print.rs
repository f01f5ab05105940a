//! Programs with loops as C: many in one file, of which the first argument names one.
//!
//! Values that plain loads read are used, for otherwise the compiler leaves the load out; and what is used is not known to be the
//! same afterwards, for otherwise it leaves out a store of what was just read. For the same reason variables are not `static`.

use super::{Form, Looping};
use rsan_model::{BinOp, Expr, Instr, LocKind, Place, Program, RegId, RmwOp, Thread};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const PRELUDE: &str = "\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define acq_rel memory_order_acq_rel
#define acquire memory_order_acquire
#define relaxed memory_order_relaxed
#define release memory_order_release
#define seq_cst memory_order_seq_cst
#define used(value) __asm__ volatile(\"\" : \"+r\"(value))

";

/// The file.
pub(super) fn print(programs: &[Looping]) -> String {
    let mut text = PRELUDE.to_owned();
    let most = programs.iter().map(|p| p.program.threads.len()).max();
    for (number, looping) in programs.iter().enumerate() {
        let name = |name: &str| match programs.len() {
            1 => name.to_owned(),
            _ => format!("{name}_{number}"),
        };
        let printer = Printer {
            looping,
            name: &name,
        };
        printer.program(&mut text);
    }
    let _ = writeln!(
        text,
        "static void *(*const programs[][{}])(void *) = {{",
        most.unwrap_or(0).max(1)
    );
    for (number, looping) in programs.iter().enumerate() {
        let threads = looping
            .program
            .threads
            .iter()
            .map(|t| match programs.len() {
                1 => t.name.clone(),
                _ => format!("{}_{number}", t.name),
            });
        let threads: Vec<String> = threads.collect();
        let _ = writeln!(text, "  {{{}}},", threads.join(", "));
    }
    let most = most.unwrap_or(0).max(1);
    let _ = write!(
        text,
        "}};

int main(int count, char **arguments) {{
  pthread_t threads[{most}];
  int program = count > 1 ? atoi(arguments[1]) : 0;
  for (int t = 0; t < {most} && programs[program][t]; t++) pthread_create(&threads[t], 0, programs[program][t], 0);
  for (int t = 0; t < {most} && programs[program][t]; t++) pthread_join(threads[t], 0);
}}
"
    );
    text
}

impl Looping {
    /// The program as a C file of its own.
    pub fn in_c(&self) -> String {
        print(std::slice::from_ref(self))
    }
}

struct Printer<'a> {
    looping: &'a Looping,
    /// The name of something in the file.
    name: &'a dyn Fn(&str) -> String,
}

impl Printer<'_> {
    fn source(&self) -> &Program {
        &self.looping.program
    }

    fn program(&self, text: &mut String) {
        for location in &self.source().locations {
            let kind = match location.kind {
                LocKind::Atomic => "atomic_int",
                LocKind::Plain => "int",
            };
            let (name, init) = ((self.name)(&location.name), location.init);
            let _ = writeln!(text, "{kind} {name} = {init};");
        }
        for (t, thread) in self.source().threads.iter().enumerate() {
            self.thread(text, thread, &self.looping.forms[t]);
        }
        text.push('\n');
    }

    fn thread(&self, text: &mut String, thread: &Thread, forms: &[Form]) {
        let name = (self.name)(&thread.name);
        let _ = writeln!(text, "static void *{name}(void *argument) {{");
        let registers = thread.registers.iter().enumerate();
        let registers = registers.map(|(r, register)| format!(", r{r} = {}", register.init));
        let registers: String = registers.collect();
        let _ = writeln!(text, "  int seen = 0{registers};");
        let targets = targets(thread, forms);
        for (at, (instr, &form)) in thread.code.iter().zip(forms).enumerate() {
            if targets.contains(&at) {
                let _ = writeln!(text, "at_{at}:;");
            }
            let line = self.instr(thread, at, instr, form);
            let _ = writeln!(text, "  {line}");
        }
        if targets.contains(&thread.code.len()) {
            let _ = writeln!(text, "at_{}:;", thread.code.len());
        }
        text.push_str("  (void)seen;\n  return argument;\n}\n");
    }

    fn address(&self, place: &Place) -> String {
        let Place::Loc(loc) = place else {
            unreachable!("random programs have no arrays");
        };
        format!(
            "&{}",
            (self.name)(&self.source().locations[loc.index()].name)
        )
    }

    fn plain(&self, place: &Place) -> String {
        self.address(place)[1..].to_owned()
    }

    fn instr(&self, thread: &Thread, at: usize, instr: &Instr, form: Form) -> String {
        match instr {
            Instr::Load { dst, place, ord } => {
                let address = self.address(place);
                format!("r{} = atomic_load_explicit({address}, {ord});", dst.0)
            }
            Instr::Store { place, value, ord } => {
                let (address, value) = (self.address(place), expr(value));
                format!("atomic_store_explicit({address}, {value}, {ord});")
            }
            Instr::Rmw {
                dst,
                place,
                op,
                operand,
                ord,
            } => {
                let (address, operand) = (self.address(place), expr(operand));
                let name = match op {
                    RmwOp::Exchange => "exchange",
                    RmwOp::Add => "fetch_add",
                    RmwOp::Sub => "fetch_sub",
                    RmwOp::And => "fetch_and",
                    RmwOp::Or => "fetch_or",
                    RmwOp::Xor => "fetch_xor",
                };
                let into = assign(*dst);
                format!("{into}atomic_{name}_explicit({address}, {operand}, {ord});")
            }
            Instr::Cas { .. } => self.swap(instr),
            Instr::Wait { .. } => self.wait(instr, form),
            Instr::Bcas { .. } => self.blocking_swap(instr, form),
            Instr::PlainLoad { dst, place } => {
                let (r, name) = (dst.0, self.plain(place));
                format!("r{r} = {name}; used(r{r});")
            }
            Instr::PlainStore { place, value } => {
                format!("{} = {};", self.plain(place), expr(value))
            }
            Instr::Fence(ord) => format!("atomic_thread_fence({ord});"),
            Instr::Branch { cond, then, .. } => {
                format!("if ({}) goto at_{};", expr(cond), then.0)
            }
            Instr::Assume(cond) => again(thread, at, cond, form),
            Instr::Halt => "return argument;".to_owned(),
            _ => unreachable!("random programs in C have no {instr:?}"),
        }
    }

    fn swap(&self, instr: &Instr) -> String {
        match instr {
            Instr::Cas {
                dst,
                success,
                place,
                expected,
                new,
                ord,
                fail,
                strength,
            } => {
                let (strength, address) = (strength.name(), self.address(place));
                let (expected, new) = (expr(expected), expr(new));
                let swap = format!(
                    "atomic_compare_exchange_{strength}_explicit({address}, &expected, {new}, {ord}, {fail});"
                );
                let into = assign(*success);
                let value = dst.map(|r| format!(" r{} = expected;", r.0));
                let value = value.unwrap_or_default();
                format!("{{ int expected = {expected}; {into}{swap}{value} }}")
            }
            _ => unreachable!("a compare-and-swap"),
        }
    }

    /// What a loop does in each failed spin iteration.
    fn body(&self, form: Form) -> String {
        match form {
            Form::Pause => " __builtin_ia32_pause();".to_owned(),
            Form::Yield => " sched_yield();".to_owned(),
            Form::Reread(loc, ord) => {
                let address = self.address(&Place::Loc(loc));
                format!(" (void)atomic_load_explicit({address}, {ord});")
            }
            _ => ";".to_owned(),
        }
    }

    fn wait(&self, instr: &Instr, form: Form) -> String {
        let Instr::Wait {
            dst,
            place,
            values,
            ord,
        } = instr
        else {
            unreachable!("a wait");
        };
        let load = format!("atomic_load_explicit({}, {ord})", self.address(place));
        let others: Vec<String> = values
            .iter()
            .map(|v| format!("seen != {}", expr(v)))
            .collect();
        let others = others.join(" && ");
        let kept = dst
            .map(|r| format!(" r{} = seen;", r.0))
            .unwrap_or_default();
        match (form, &**values) {
            (Form::Kept, _) => format!("do {{ seen = {load}; }} while ({others});{kept}"),
            (_, [only]) if dst.is_none() => {
                format!("while ({load} != {}){}", expr(only), self.body(form))
            }
            _ => format!("while (seen = {load}, {others}){}{kept}", self.body(form)),
        }
    }

    fn blocking_swap(&self, instr: &Instr, form: Form) -> String {
        let Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } = instr
        else {
            unreachable!("a blocking compare-and-swap");
        };
        let (address, expected, new) = (self.address(place), expr(expected), expr(new));
        let body = self.body(form);
        match form {
            Form::Exchange => {
                format!("while (atomic_exchange_explicit({address}, 1, {ord}) == 1);")
            }
            Form::Kept => format!(
                "do {{ seen = {expected}; }} while (!atomic_compare_exchange_weak_explicit({address}, &seen, {new}, {ord}, relaxed));"
            ),
            _ => format!(
                "while (seen = {expected}, !atomic_compare_exchange_strong_explicit({address}, &seen, {new}, {ord}, relaxed)){body}"
            ),
        }
    }
}

/// The instructions that others go to.
fn targets(thread: &Thread, forms: &[Form]) -> BTreeSet<usize> {
    let branches = thread.code.iter().filter_map(|instr| match instr {
        Instr::Branch { then, .. } => Some(then.index()),
        _ => None,
    });
    let rounds = forms.iter().filter_map(|form| match form {
        Form::Back(to) => Some(*to),
        Form::Carry(to) => Some(to + 1),
        _ => None,
    });
    branches.chain(rounds).collect()
}

/// The end of a round.
fn again(thread: &Thread, at: usize, cond: &Expr, form: Form) -> String {
    let cond = expr(cond);
    match form {
        Form::Carry(to) => {
            let (
                Instr::Load { dst: into, .. },
                Instr::Cas {
                    dst: Some(from), ..
                },
            ) = (&thread.code[to], &thread.code[at - 1])
            else {
                unreachable!("a load and a compare-and-swap of its value");
            };
            let next = to + 1;
            format!(
                "if (!({cond})) {{ r{} = r{}; goto at_{next}; }}",
                into.0, from.0
            )
        }
        Form::Back(to) => format!("if (!({cond})) goto at_{to};"),
        _ => unreachable!("an assumption ends a round"),
    }
}

fn assign(dst: Option<RegId>) -> String {
    dst.map_or_else(|| "(void)".to_owned(), |r| format!("r{} = ", r.0))
}

fn expr(expr_: &Expr) -> String {
    match expr_ {
        Expr::Const(n) => n.to_string(),
        Expr::Reg(r) => format!("r{}", r.0),
        Expr::Binary(op, left, right) => {
            let op = match op {
                BinOp::Add => "+",
                BinOp::Eq => "==",
                BinOp::Ne => "!=",
                BinOp::And => "&&",
                _ => unreachable!("random programs in C have no {op:?}"),
            };
            format!("({} {op} {})", expr(left), expr(right))
        }
        _ => unreachable!("random programs in C have no {expr_:?}"),
    }
}
