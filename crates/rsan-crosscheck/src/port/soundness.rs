//! The static analysis of `rsan-ir` against enumeration, on random sets of thread functions.
//!
//! - Wherever the analysis says that a set is robust, no program with up to three instances of its functions has an execution on
//!   the weaker machine that the stronger one forbids.
//! - After a repair the analysis has no warning, and enumeration finds no such execution: none of the repaired functions on the weaker
//!   machine that the functions as they were do not have on the stronger one.
//! - Of sets without branches it is counted how many warnings enumeration confirms, and how many changes of a repair are
//!   needed: without the change, or with a weaker one, there is such an execution again.

use super::repaired::{insert_fences, weaker, with_orders};
use super::sets::{instance, instances, is_straight, set};
use crate::Random;
use rsan_axioms::Limits;
use rsan_axioms::port::{Verdict, robust};
use rsan_ir::module::Module;
use rsan_ir::port::{Costs, Means, Placed, Question};
use rsan_ir::{analyse, apply, from_program, repair};
use rsan_lang::mini;
use rsan_mapping::{PowerSync, Target, compile};
use rsan_model::machine::Machine::{self, Armv7, Armv8, Power, Riscv, Sc, X86};
use rsan_model::{Program, Reason};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{AddAssign, Range};

/// The pairs of machines, the stronger one first.
pub const PAIRS: [(Machine, Machine); 11] = [
    (Sc, X86),
    (Sc, Armv8),
    (Sc, Armv7),
    (Sc, Riscv),
    (Sc, Power),
    (X86, Armv8),
    (X86, Armv7),
    (X86, Riscv),
    (X86, Power),
    (Armv8, Armv7),
    (Armv8, Power),
];

/// How often an enumeration asks whether to go on before it is too large: about a second.
const PATIENCE: u32 = 1_000;

/// What came of comparing the analysis with enumeration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortTally {
    /// Sets of functions.
    pub sets: u64,
    /// Sets times pairs of machines that the analysis finds robust.
    pub robust: u64,
    /// Sets times pairs that it warns of.
    pub warned: u64,
    /// Repairs that were checked.
    pub repairs: u64,
    /// Sets without branches that it warns of, for each pair.
    pub straight: BTreeMap<(Machine, Machine), Straight>,
    /// Programs that were enumerated.
    pub programs: u64,
    /// Of these, those that were too large: they have no say.
    pub too_large: u64,
    /// The first difference: the seed, and what was found.
    pub difference: Option<(u64, String)>,
}

/// Sets without branches that the analysis warns of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Straight {
    /// All of them.
    pub sets: u64,
    /// Those where enumeration finds an execution that the stronger machine forbids.
    pub confirmed: u64,
    /// Changes of their repairs that were left out or made weaker.
    pub dropped: u64,
    /// Of these, those without which there is a forbidden execution again.
    pub needed: u64,
}

impl AddAssign for Straight {
    fn add_assign(&mut self, other: Self) {
        self.sets += other.sets;
        self.confirmed += other.confirmed;
        self.dropped += other.dropped;
        self.needed += other.needed;
    }
}

impl AddAssign for PortTally {
    fn add_assign(&mut self, other: Self) {
        self.sets += other.sets;
        self.robust += other.robust;
        self.warned += other.warned;
        self.repairs += other.repairs;
        for (pair, straight) in other.straight {
            *self.straight.entry(pair).or_default() += straight;
        }
        self.programs += other.programs;
        self.too_large += other.too_large;
        if self.difference.is_none() {
            self.difference = other.difference;
        }
    }
}

/// Compares the analysis with enumeration on the sets with these seeds.
pub fn compare_port(seeds: Range<u64>) -> PortTally {
    let seeds: Vec<u64> = seeds.collect();
    let tallies = crate::on_all_cores(&seeds, |&seed| of_seed(seed));
    let mut total = PortTally::default();
    tallies.into_iter().for_each(|tally| total += tally);
    total
}

fn of_seed(seed: u64) -> PortTally {
    let set = set(seed);
    let mut tally = PortTally {
        sets: 1,
        ..PortTally::default()
    };
    let mut random = Random::new(!seed);
    let instances = instances(&set, &mut random);
    let mut targets = BTreeMap::new();
    let mut known = Known::default();
    for (m, k) in PAIRS {
        let mut pick = |machine| {
            // The analysis takes the fences of seq_cst accesses on Power to be where compilers have them.
            let leading = |t: &Target| t.power_sync == PowerSync::Leading;
            let variants = Target::variants(machine).into_iter().filter(leading);
            let variants: Vec<Target> = variants.collect();
            *targets
                .entry(machine)
                .or_insert_with(|| random.pick(&variants))
        };
        let (m, k) = (pick(m), pick(k));
        let mut case = Case::new(&set, (m, k), &instances, &mut known);
        if let Err(message) = case.compare(&mut tally) {
            let text = mini::print(&set).unwrap_or_else(|_| crate::listing(&set));
            tally.difference = Some((seed, format!("{m} to {k}: {message}\n{text}")));
            break;
        }
    }
    tally
}

/// A set of functions, and the targets it moves from and to.
struct Case<'p> {
    set: &'p Program,
    module: Module,
    question: Question,
    from: Target,
    to: Target,
    instances: &'p [Vec<usize>],
    known: &'p mut Known,
}

/// What is known about the programs of a set on a machine.
#[derive(Default)]
struct Known {
    /// Unchanged, they only do what SC does: nothing stronger forbids that.
    sc: BTreeSet<(Machine, Vec<usize>)>,
    /// Too large, with whatever changes.
    too_large: BTreeSet<(Machine, Vec<usize>)>,
}

impl<'p> Case<'p> {
    fn new(
        set: &'p Program,
        (from, to): (Target, Target),
        instances: &'p [Vec<usize>],
        known: &'p mut Known,
    ) -> Self {
        let question = Question {
            from: from.machine,
            to: to.machine,
            threads: set.threads.iter().map(|t| t.name.clone()).collect(),
            rcpc: to.rcpc,
            race_free: false,
        };
        Self {
            set,
            module: from_program(set).expect("random sets spawn no threads"),
            question,
            from: Target {
                spurious: true,
                ..from
            },
            to: Target {
                spurious: true,
                ..to
            },
            instances,
            known,
        }
    }

    fn straight<'t>(&self, tally: &'t mut PortTally) -> &'t mut Straight {
        let pair = (self.from.machine, self.to.machine);
        tally.straight.entry(pair).or_default()
    }

    fn warns(&self, module: &Module) -> Result<bool, String> {
        let answer = analyse(module, &self.question, &mut || true);
        let answer = answer.map_err(|refusal| refusal.to_string())?;
        match answer.assumptions.iter().find(|a| a.unsound) {
            Some(assumption) => Err(format!("unsound: {}", assumption.message)),
            None => Ok(!answer.warnings.is_empty()),
        }
    }

    fn compare(&mut self, tally: &mut PortTally) -> Result<(), String> {
        if !self.warns(&self.module)? {
            tally.robust += 1;
            return match self.violation(&[], tally) {
                None => Ok(()),
                Some(found) => Err(format!("the analysis finds it robust, but {found}")),
            };
        }
        tally.warned += 1;
        let confirmed = is_straight(self.set) && self.violation(&[], tally).is_some();
        if is_straight(self.set) {
            let straight = self.straight(tally);
            straight.sets += 1;
            straight.confirmed += u64::from(confirmed);
        }
        for means in [Means::Fences, Means::FencesAndOrders] {
            self.repair(means, confirmed, tally)
                .map_err(|message| format!("{means:?}: {message}"))?;
        }
        Ok(())
    }

    fn repair(
        &mut self,
        means: Means,
        confirmed: bool,
        tally: &mut PortTally,
    ) -> Result<(), String> {
        let costs = Costs::of(self.to.machine);
        let go_on = &mut || true;
        let answer = analyse(&self.module, &self.question, go_on);
        let answer = answer.map_err(|refusal| refusal.to_string())?;
        let repair = repair(&self.module, &self.question, &answer, means, &costs, go_on);
        let repair = repair.map_err(|refusal| refusal.to_string())?;
        let changes = &repair.changes;
        if self.warns(&apply(&self.module, &repair))? {
            return Err(format!("the analysis still warns after {changes:?}"));
        }
        tally.repairs += 1;
        if let Some(found) = self.violation(changes, tally) {
            return Err(format!("after {changes:?}\n{found}"));
        }
        if confirmed {
            for index in 0..changes.len() {
                let mut without = changes.clone();
                let dropped = without.remove(index);
                let mut needed = self.violation(&without, tally).is_some();
                if let (true, Some(change)) = (needed, weaker(&dropped.change, &self.to)) {
                    without.push(Placed { change, ..dropped });
                    needed = self.violation(&without, tally).is_some();
                }
                let straight = self.straight(tally);
                straight.dropped += 1;
                straight.needed += u64::from(needed);
            }
        }
        Ok(())
    }

    /// An execution of the changed functions on the weaker machine that the functions as they are do not have on the stronger one.
    fn violation(&mut self, changes: &[Placed], tally: &mut PortTally) -> Option<String> {
        let limits = Limits {
            unroll: 1,
            max_graphs: 5_000,
            ..Limits::default()
        };
        let changed = with_orders(self.set, changes);
        let compiled = |program: &Program, target| {
            compile(program, target).expect("random sets spawn no threads")
        };
        for functions in self.instances {
            let program = (self.to.machine, functions.clone());
            if changes.is_empty() && self.known.sc.contains(&program) {
                continue;
            }
            tally.programs += 1;
            if self.known.too_large.contains(&program) {
                tally.too_large += 1;
                continue;
            }
            let on_m = compiled(&instance(self.set, functions), &self.from);
            let mut on_k = compiled(&instance(&changed, functions), &self.to);
            insert_fences(self.set, &mut on_k, functions, changes, &self.to);
            let (m, k) = (self.from.machine, self.to.machine);
            let mut asked = 0;
            let halt = &mut |_| {
                asked += 1;
                (asked > PATIENCE).then_some(Reason::Interrupted)
            };
            let answer = robust(&on_k, k, &on_m, m, &limits, halt);
            match answer.map(|a| a.verdict) {
                Ok(Verdict::Robust) if changes.is_empty() && m == Sc => {
                    self.known.sc.insert(program);
                }
                Ok(Verdict::Robust) => {}
                Ok(Verdict::Cut(Reason::LoopBound(_))) => {}
                Ok(Verdict::Cut(_)) | Err(_) => {
                    tally.too_large += 1;
                    self.known.too_large.insert(program);
                }
                Ok(Verdict::Violation(witness)) => {
                    let events = &witness.execution.events;
                    let cycle = witness.cycle.iter().map(|(event, edge)| {
                        let event = &events[event.index()];
                        let thread = event.thread.map_or(0, |t| t.0);
                        format!("{thread}@{} {:?} -{edge}->", event.origin, event.kind)
                    });
                    let cycle: Vec<String> = cycle.collect();
                    let text = format!("threads {functions:?}: {}", cycle.join(" "));
                    return Some(text);
                }
            }
        }
        None
    }
}
