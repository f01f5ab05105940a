//! The checks, and many programs.

use super::cycle::Cycle;
use super::random::random_shape;
use super::shape::{Barrier, Dependency, Item, Shape};
use crate::{Random, on_all_cores};
use rsan_axioms::machine::outcomes;
use rsan_axioms::{FinalState, Limits};
use rsan_lang::mini;
use rsan_model::machine::{Acquire, Machine};
use rsan_model::{Condition, Model, Quantifier, Source};
use std::collections::BTreeSet;
use std::ops::Range;

/// What came of many programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MachineTally {
    /// Random programs.
    pub programs: u64,
    /// Their final states, on all machines together.
    pub states: u64,
    /// Inclusions that were checked, and equalities.
    pub inclusions: u64,
    /// Programs with states on the weaker side that the stronger one does not have.
    pub strict: u64,
    /// Critical cycles.
    pub cycles: u64,
    /// Verdicts on them that the table predicts, of machines that allow the cycle and of those that do not.
    pub predicted: [u64; 2],
    /// The first thing that must not be: the seed, and what.
    pub disagreement: Option<(u64, String)>,
}

/// One random program and one critical cycle for each seed.
pub fn compare_machines(seeds: Range<u64>) -> MachineTally {
    const CHUNK: u64 = 64;
    let mut tally = MachineTally::default();
    let starts: Vec<u64> = seeds.clone().step_by(CHUNK as usize).collect();
    let chunks = on_all_cores(&starts, |&start| {
        let mut tally = MachineTally::default();
        for seed in start..(start + CHUNK).min(seeds.end) {
            if let Err(what) = one(seed, &mut tally) {
                tally.disagreement = Some((seed, what));
                break;
            }
        }
        tally
    });
    for chunk in chunks {
        tally.programs += chunk.programs;
        tally.states += chunk.states;
        tally.inclusions += chunk.inclusions;
        tally.strict += chunk.strict;
        tally.cycles += chunk.cycles;
        tally.predicted[0] += chunk.predicted[0];
        tally.predicted[1] += chunk.predicted[1];
        tally.disagreement = tally.disagreement.or(chunk.disagreement);
    }
    tally
}

fn one(seed: u64, tally: &mut MachineTally) -> Result<(), String> {
    let mut random = Random::new(seed);
    let shape = random_shape(&mut random);
    tally.programs += 1;
    match disagreement(&shape, &mut random, tally) {
        None => {}
        Some(what) => return Err(format!("{shape}: {what}")),
    }
    let cycle = Cycle::random(&mut random);
    tally.cycles += 1;
    match cycle_disagreement(&cycle, tally) {
        None => Ok(()),
        Some(what) => Err(format!("{}: {what}", cycle.program().0)),
    }
}

type States = BTreeSet<FinalState>;

/// What is wrong with the final states of a program, if anything is. `random` chooses what is left out of it to see that nothing is
/// lost by that.
pub fn disagreement(
    shape: &Shape,
    random: &mut Random,
    tally: &mut MachineTally,
) -> Option<String> {
    let states = |machine| states(shape, machine);
    let [sc, x86, armv8, riscv, armv7, power] = Machine::ALL.map(states);
    for s in [&sc, &x86, &armv8, &riscv, &armv7, &power] {
        tally.states += s.len() as u64;
    }
    for (model, found) in [(Model::Sc, &sc), (Model::Tso, &x86)] {
        let expected = states_of_c(shape, model);
        if *found != expected {
            return Some(format!(
                "{model} of C has {expected:?}, the machine {found:?}"
            ));
        }
    }
    let swaps = shape.has(|i| matches!(i, Item::Swap { .. }));
    let rcsc = shape.has(is_rcsc);
    let isync = shape.has(has_isync);
    let only = |kinds: &[Barrier]| {
        !shape.has(|i| matches!(i, Item::Fence(barrier) if !kinds.contains(barrier)))
    };
    let full = only(&[Barrier::Full]);
    let no_light = only(&[Barrier::Full, Barrier::Stores]);
    let rules = [
        (true, "SC", &sc, "x86", &x86),
        (!rcsc, "x86", &x86, "ARMv8", &armv8),
        (!rcsc, "x86", &x86, "RISC-V", &riscv),
        (true, "SC", &sc, "ARMv8", &armv8),
        (true, "SC", &sc, "RISC-V", &riscv),
        (true, "SC", &sc, "ARMv7", &armv7),
        (no_light, "x86", &x86, "ARMv7", &armv7),
        (true, "x86", &x86, "Power", &power),
        (no_light, "ARMv8", &armv8, "ARMv7", &armv7),
        (full, "Power", &power, "ARMv7", &armv7),
        (!swaps, "ARMv8", &armv8, "RISC-V", &riscv),
        (!swaps && !isync && !rcsc, "RISC-V", &riscv, "ARMv8", &armv8),
    ];
    for (applies, strong, less, weak, more) in rules {
        if !applies {
            continue;
        }
        tally.inclusions += 1;
        tally.strict += u64::from(less.len() < more.len());
        if let Some(FinalState(state)) = less.difference(more).next() {
            return Some(format!("{strong} has {state:?}, {weak} has not"));
        }
    }
    if let Some(what) = saturated_disagreement(shape, (&sc, &x86), tally) {
        return Some(what);
    }
    let (weaker, what) = weakened(shape, random)?;
    for machine in Machine::ALL {
        let (before, after) = (states(machine), super::compare::states(&weaker, machine));
        tally.inclusions += 1;
        if let Some(FinalState(state)) = before.difference(&after).next() {
            return Some(format!("{machine} has {state:?}, but not {what}: {weaker}"));
        }
    }
    None
}

/// With fences everywhere a machine is a stronger one: with full fences, or with `ldar` and `stlr`, SC; with those that only let a
/// read overtake a write, x86 where writes reach all other threads at once.
fn saturated_disagreement(
    shape: &Shape,
    (sc, x86): (&States, &States),
    tally: &mut MachineTally,
) -> Option<String> {
    let swaps = shape.has(|i| matches!(i, Item::Swap { .. }));
    let rcsc = shape.has(is_rcsc);
    let full = saturated(shape, Barrier::Full);
    let light = saturated(shape, Barrier::Light);
    let ordered = all_ordered(shape);
    let mut rules = vec![(ordered, Machine::Armv8, "ldar and stlr", sc)];
    for machine in Machine::ALL {
        rules.push((full.clone(), machine, "full fences", sc));
    }
    if !swaps && !rcsc {
        rules.push((light.clone(), Machine::Armv8, "light fences", x86));
        rules.push((light, Machine::Riscv, "light fences", x86));
    }
    for (saturated, machine, what, expected) in rules {
        tally.inclusions += 1;
        let found = states(&saturated, machine);
        if found != *expected {
            return Some(format!(
                "{machine} with {what} has {found:?}, not {expected:?}"
            ));
        }
    }
    None
}

/// The program with a fence between any two accesses.
fn saturated(shape: &Shape, barrier: Barrier) -> Shape {
    let mut all = shape.clone();
    for items in &mut all.threads {
        let with_fence = |&item: &Item| [Item::Fence(barrier), item];
        *items = items.iter().flat_map(with_fence).collect();
    }
    all
}

/// The program with acquires and releases only.
fn all_ordered(shape: &Shape) -> Shape {
    let mut all = shape.clone();
    for item in all.threads.iter_mut().flatten() {
        if let Item::Read { acquire, .. } | Item::Swap { acquire, .. } = item {
            *acquire = Acquire::Sc;
        }
        if let Item::Write { release, .. } | Item::Swap { release, .. } = item {
            *release = true;
        }
    }
    all
}

fn is_rcsc(item: &Item) -> bool {
    matches!(
        item,
        Item::Read { acquire, .. } | Item::Swap { acquire, .. } if *acquire == Acquire::Sc
    )
}

fn has_isync(item: &Item) -> bool {
    match item {
        Item::Read { source, .. } | Item::Write { source, .. } => {
            source.is_some_and(|s| s.kind == Dependency::CtrlIsync)
        }
        Item::Swap { .. } | Item::Fence(_) => false,
    }
}

/// The program with one thing less that orders; `None` when it has none.
fn weakened(shape: &Shape, random: &mut Random) -> Option<(Shape, &'static str)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (t, items) in shape.threads.iter().enumerate() {
        let orders = |item: &Item| match *item {
            Item::Read {
                acquire, source, ..
            } => acquire != Acquire::No || source.is_some(),
            Item::Write {
                release, source, ..
            } => release || source.is_some(),
            Item::Swap {
                acquire, release, ..
            } => acquire != Acquire::No || release,
            Item::Fence(_) => true,
        };
        let found = (0..items.len()).filter(|&i| orders(&items[i]));
        places.extend(found.map(|i| (t, i)));
    }
    if places.is_empty() {
        return None;
    }
    let (t, i) = random.pick(&places);
    let mut weaker = shape.clone();
    let what = match &mut weaker.threads[t][i] {
        Item::Fence(_) => {
            weaker.threads[t].remove(i);
            "without a fence"
        }
        Item::Read {
            acquire, source, ..
        } => match source.take() {
            Some(_) => "without a dependency",
            None => {
                *acquire = weaker_acquire(*acquire);
                "with a weaker acquire"
            }
        },
        Item::Write {
            release, source, ..
        } => match source.take() {
            Some(_) => "without a dependency",
            None => {
                *release = false;
                "without a release"
            }
        },
        Item::Swap {
            acquire, release, ..
        } => match std::mem::take(release) {
            true => "without a release",
            false => {
                *acquire = weaker_acquire(*acquire);
                "with a weaker acquire"
            }
        },
    };
    Some((weaker, what))
}

fn weaker_acquire(acquire: Acquire) -> Acquire {
    match acquire {
        Acquire::Sc => Acquire::Pc,
        Acquire::Pc | Acquire::No => Acquire::No,
    }
}

/// The final states on a machine.
fn states(shape: &Shape, machine: Machine) -> States {
    let found = outcomes(&shape.compile(machine), machine, &Limits::default());
    let found = found.unwrap_or_else(|e| panic!("{shape} on {machine}: {e}"));
    assert_eq!(found.cut, None, "{shape} on {machine}");
    found.states.into_keys().collect()
}

/// The final states by a model of C.
fn states_of_c(shape: &Shape, model: Model) -> States {
    let source = Source::new("shape", shape.as_c());
    let mut program = mini::parse(&source).expect("the notation of C's operations");
    program.observed = shape.observed();
    let found = rsan_axioms::outcomes(&program, model, &Limits::default());
    let found = found.unwrap_or_else(|e| panic!("{shape}: {e}"));
    found.states.into_keys().collect()
}

/// What is wrong with the verdicts on a critical cycle, if anything is.
pub fn cycle_disagreement(cycle: &Cycle, tally: &mut MachineTally) -> Option<String> {
    let shows = |cycle: &Cycle, machine| {
        let (shape, prop) = cycle.program();
        let mut program = shape.compile(machine);
        program.condition = Some(Condition {
            quantifier: Quantifier::Exists,
            prop,
        });
        let found = outcomes(&program, machine, &Limits::default());
        let found = found.unwrap_or_else(|e| panic!("{shape} on {machine}: {e}"));
        found.condition.is_some_and(|c| c.holds)
    };
    if cycle.is_ambiguous() {
        return None;
    }
    for machine in Machine::ALL {
        let found = shows(cycle, machine);
        if let Some(expected) = cycle.allowed(machine) {
            tally.predicted[usize::from(!expected)] += 1;
            if found != expected {
                let verb = if found { "allows" } else { "forbids" };
                return Some(format!("{} {verb} the cycle", machine.title()));
            }
        }
        if shows(&cycle.fenced(), machine) {
            return Some(format!("{} allows it with full fences", machine.title()));
        }
    }
    None
}
