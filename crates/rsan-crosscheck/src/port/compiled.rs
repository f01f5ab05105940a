//! Compilation is right: what a machine shows, C allows.
//!
//! Each execution of the compiled program is run again as one of the C program, with the same reads-from and modification
//! order, and must satisfy the axioms of C++20 and of RC11. Two kinds of executions are left out: those in which `po ∪ rf`
//! has a cycle, which machines show and our axioms forbid for all programs (docs/theory/model.md, M6), and those of programs with data races,
//! of which C says nothing.

use super::replay::replay;
use crate::{Profile, Random, generate, shrink};
use rsan_axioms::machine::executions;
use rsan_axioms::{Axiom, Limits, consistent, outcomes};
use rsan_lang::mini;
use rsan_mapping::{Target, compile};
use rsan_model::{Graph, Instr, Model, Program, machine};
use std::ops::{AddAssign, ControlFlow, Range};

/// The models of C that executions are checked against.
const MODELS: [Model; 2] = [Model::C20, Model::Rc11];

/// What came of comparing compiled programs with the axioms of C.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompiledTally {
    /// Programs times targets whose executions were all looked at.
    pub programs: u64,
    /// Their executions.
    pub executions: u64,
    /// Of these, those that `po ∪ rf` has a cycle in.
    pub thin_air: u64,
    /// Programs times targets that were too large, or that C gives no meaning.
    pub skipped: u64,
    /// The first execution that C forbids: seed and program.
    pub difference: Option<(u64, String)>,
}

impl AddAssign for CompiledTally {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.executions += other.executions;
        self.thin_air += other.thin_air;
        self.skipped += other.skipped;
        if self.difference.is_none() {
            self.difference = other.difference;
        }
    }
}

/// Compiles the random programs with these seeds for all targets.
pub fn compare_compiled(seeds: Range<u64>) -> CompiledTally {
    let targets = Target::all();
    let seeds: Vec<u64> = seeds.collect();
    let tallies = crate::on_all_cores(&seeds, |&seed| {
        let program = program(seed);
        let mut tally = CompiledTally::default();
        for target in &targets {
            tally += of_target(seed, &program, target);
        }
        tally
    });
    let mut total = CompiledTally::default();
    tallies.into_iter().for_each(|tally| total += tally);
    total
}

/// A random program with all orders.
fn program(seed: u64) -> Program {
    let profiles: Vec<Profile> = Profile::of(Model::C20)
        .iter()
        .copied()
        .filter(|p| *p != Profile::Spawning)
        .collect();
    let profile = profiles[seed as usize % profiles.len()];
    generate(&mut Random::new(seed), profile, Model::C20)
}

fn of_target(seed: u64, program: &Program, target: &Target) -> CompiledTally {
    let mut tally = CompiledTally::default();
    match check(program, target, &mut tally) {
        Check::Fine => tally.programs += 1,
        Check::TooLarge => tally.skipped += 1,
        Check::Forbidden(_) if is_racy(program) => tally.skipped += 1,
        Check::Forbidden(_) => {
            let wrong = |p: &Program| {
                let check = check(p, target, &mut CompiledTally::default());
                matches!(check, Check::Forbidden(_)) && !is_racy(p)
            };
            let small = shrink(program.clone(), &wrong);
            let why = match check(&small, target, &mut CompiledTally::default()) {
                Check::Forbidden(why) => why,
                Check::Fine | Check::TooLarge => String::new(),
            };
            let text = mini::print(&small).unwrap_or_else(|_| crate::listing(&small));
            tally.difference = Some((seed, format!("{target}: {text}\n{why}")));
        }
    }
    tally
}

enum Check {
    Fine,
    TooLarge,
    /// By which model, axiom, and graph.
    Forbidden(String),
}

fn check(program: &Program, target: &Target, tally: &mut CompiledTally) -> Check {
    let compiled = compile(program, target).expect("random programs spawn no threads");
    check_as(program, &compiled, tally)
}

/// Whether what a compiled program shows is what the C program may do.
fn check_as(program: &Program, compiled: &machine::Program, tally: &mut CompiledTally) -> Check {
    let limits = Limits {
        max_graphs: 20_000,
        ..Limits::default()
    };
    let mut forbidden = None;
    let summary = executions(compiled, compiled.machine, &limits, &mut |execution| {
        tally.executions += 1;
        let graph = replay(program, execution);
        match judge(&graph) {
            Ok(()) => ControlFlow::Continue(()),
            Err((_, Axiom::NoThinAir)) => {
                tally.thin_air += 1;
                ControlFlow::Continue(())
            }
            Err((model, axiom)) => {
                forbidden = Some(format!("{model}: {axiom}\n{graph:?}"));
                ControlFlow::Break(())
            }
        }
    });
    match (forbidden, summary) {
        (Some(why), _) => Check::Forbidden(why),
        (None, Ok(summary)) if summary.cut.reason(&limits).is_none() => Check::Fine,
        (None, _) => Check::TooLarge,
    }
}

fn judge(graph: &Graph) -> Result<(), (Model, Axiom)> {
    let check = |model| consistent(model, graph).map_err(|axiom| (model, axiom));
    MODELS.into_iter().try_for_each(check)
}

fn is_racy(program: &Program) -> bool {
    let plain = |i: &Instr| matches!(i, Instr::PlainLoad { .. } | Instr::PlainStore { .. });
    program.instructions().any(|(_, _, i)| plain(i))
        && outcomes(program, Model::C20, &Limits::default()).is_ok_and(|o| o.racy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_model::Source;
    use rsan_model::machine::Machine;

    fn parse(text: &str) -> Program {
        mini::parse(&Source::new("test.mini", text)).expect("a program")
    }

    /// Whether code that was compiled from the second program is right for the first one.
    fn is_right(program: &str, instead: &str, target: &Target) -> bool {
        let compiled = compile(&parse(instead), target).expect("no threads are spawned");
        let tally = &mut CompiledTally::default();
        match check_as(&parse(program), &compiled, tally) {
            Check::Fine => true,
            Check::Forbidden(_) => false,
            Check::TooLarge => panic!("a small program"),
        }
    }

    #[test]
    fn weaker_instructions_are_noticed() {
        let sb =
            |st: &str, ld: &str| format!("st.{st} x 1; ld.{ld} r0 y || st.{st} y 1; ld.{ld} r0 x");
        for target in Target::all() {
            let weak = target.machine != Machine::Sc;
            assert!(
                is_right(&sb("sc", "sc"), &sb("sc", "sc"), &target),
                "{target}"
            );
            assert_eq!(
                is_right(&sb("sc", "sc"), &sb("rlx", "rlx"), &target),
                !weak,
                "{target}"
            );
        }
        // With `ldapr`, what is right for acquire is wrong for seq_cst.
        let acquire = sb("rel", "acq");
        for (name, right) in [("armv8", true), ("armv8+rcpc", false)] {
            let target: Target = name.parse().expect("a target");
            assert_eq!(
                is_right(&sb("sc", "sc"), &acquire, &target),
                right,
                "{name}"
            );
        }
    }

    #[test]
    fn message_passing_needs_its_fences() {
        let mp = |st: &str, ld: &str| format!("nst d 1; st.{st} f 1 || wait.{ld} f 1; nld r0 d");
        for target in Target::all() {
            let weak = !matches!(target.machine, Machine::Sc | Machine::X86);
            let (right, wrong) = (mp("rel", "acq"), mp("rlx", "acq"));
            assert!(is_right(&right, &right, &target), "{target}");
            assert_eq!(is_right(&right, &wrong, &target), !weak, "{target}");
        }
    }
}
