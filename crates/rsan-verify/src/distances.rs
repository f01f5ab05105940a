//! Numbers that are only moved and compared are kept as distances (docs/theory/finite.md, F21).
//!
//! The values of a *group* of locations and registers are copied, increased and decreased by constants, and compared
//! with each other. Adding the same number to all of them changes nothing that the program does, so a search keeps
//! them as if the smallest were always the same. Where the program compares one with something else, it may go on either way: that adds
//! behaviour, so no failure that is found this way counts; but when there is none, there is none.
//!
//! Values of a program are finite, and none of them must begin again: what bounds them from above is seen in the
//! program ([`drift`]), what bounds them from below is checked as the search goes on.

mod drift;
mod group;

use crate::facts::Facts;
use crate::mutation::{Mutant, Mutation};
use crate::state::{HALTED, STUCK, State, UNBORN};
use group::{Group, Source};
use rsan_model::{Instr, LocId, Pc, Program, ThreadId, Value};

/// The groups of a program.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    groups: Vec<Kept>,
    /// Values are below this.
    end: i64,
    pcs: Vec<Vec<AtPc>>,
    mutation: Mutation,
}

/// A group, as a search needs it.
#[derive(Clone, Debug)]
struct Kept {
    locations: Vec<usize>,
    /// Per thread and instruction: the registers of the group whose values may be used from there on.
    live: Vec<Vec<Vec<usize>>>,
    /// What the smallest value becomes.
    least: Value,
    /// What no value is far below, if any value is ever decreased.
    anchor: Option<Anchor>,
}

/// A location that must not decrease.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    location: LocId,
    initial: Value,
}

/// What is known about an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct AtPc {
    /// A branch that compares a value of a group with something else.
    open: bool,
    /// An assumption that does.
    ignored: bool,
    /// What it adds to a value of a group.
    step: Option<Step>,
}

/// The value of a register or a location, plus a constant.
#[derive(Clone, Copy, Debug)]
struct Step {
    group: usize,
    source: Source,
    by: i64,
}

impl Distances {
    /// The groups of a program, if there are any whose values change.
    pub(crate) fn new(program: &Program, facts: &Facts) -> Option<Self> {
        if program.locations.len() > 64 || facts.has_spawn || facts.has_join {
            return None;
        }
        let mut groups: Vec<Group> = Vec::new();
        for loc in (0..program.locations.len()).map(LocId::new) {
            if groups.iter().all(|g| !g.locations[loc.index()]) {
                groups.extend(
                    Group::of(program, facts, loc).filter(|g| drift::fits(program, facts, g)),
                );
            }
        }
        if groups.is_empty() {
            return None;
        }
        let at = |t: usize, pc: usize| AtPc::new(&groups, program, t, pc);
        let threads = program.threads.iter().enumerate();
        Some(Self {
            pcs: threads
                .map(|(t, thread)| (0..=thread.code.len()).map(|pc| at(t, pc)).collect())
                .collect(),
            groups: groups
                .iter()
                .map(|g| Kept::new(g, program, facts))
                .collect(),
            end: group::end(program.domain),
            mutation: facts.mutation,
        })
    }

    /// The locations whose values belong to a group, as bits.
    pub(crate) fn locations(&self) -> u64 {
        let all = self.groups.iter().flat_map(|g| &g.locations);
        all.fold(0, |set, l| set | 1 << l)
    }

    /// Whether a write takes a location back that nothing is to be far below.
    #[inline]
    pub(crate) fn refuted(&self, loc: LocId, old: Value, new: Value) -> bool {
        let mut anchors = self.groups.iter().filter_map(|g| g.anchor);
        let sinks = new < old && anchors.any(|a| a.location == loc);
        sinks && !self.mutation.breaks(Mutant::AnchorSinks)
    }

    /// Whether what the instruction computes need not be a value of the program.
    #[inline]
    pub(crate) fn leaves_range<const W: usize>(&self, s: &State<W>, t: ThreadId, pc: Pc) -> bool {
        let Some(step) = self.pcs[t.index()][pc.index()].step else {
            return false;
        };
        let value = step.by
            + i64::from(match step.source {
                Source::Register(r) => s.regs[r],
                Source::Location(l) => s.memory[l],
            });
        let lowest = match self.groups[step.group].anchor {
            Some(a) if step.by < 0 && !self.mutation.breaks(Mutant::DecreaseIgnored) => {
                i64::from(s.memory[a.location.index()]) - i64::from(a.initial)
            }
            _ => 0,
        };
        !(lowest.max(0)..self.end).contains(&value)
    }

    /// Makes the smallest value of every group the same; says whether the others are values of the program then.
    pub(crate) fn simplify<const W: usize>(&self, s: &mut State<W>) -> bool {
        self.groups.iter().all(|group| group.simplify(s, self.end))
    }

    /// Whether a branch may go both ways.
    #[inline]
    pub(crate) fn is_open(&self, t: ThreadId, pc: Pc) -> bool {
        self.pcs[t.index()][pc.index()].open && !self.mutation.breaks(Mutant::ClosedComparison)
    }

    /// Whether a thread goes on whatever the assumption says.
    #[inline]
    pub(crate) fn ignores(&self, t: ThreadId, pc: Pc) -> bool {
        let ignored = self.pcs[t.index()][pc.index()].ignored;
        ignored && !self.mutation.breaks(Mutant::AssumedDistance)
    }

    /// The location that nothing is to be far below, as a bit, if the instruction decreases a value.
    pub(crate) fn asked_at(&self, t: usize, pc: usize) -> u64 {
        let step = self.pcs[t][pc].step.filter(|step| step.by < 0);
        let anchor = step.and_then(|step| self.groups[step.group].anchor);
        anchor.map_or(0, |a| 1 << a.location.index())
    }
}

impl Kept {
    fn new(group: &Group, program: &Program, facts: &Facts) -> Self {
        let locations: Vec<usize> = (0..program.locations.len())
            .filter(|&l| group.locations[l])
            .collect();
        let live = |t: usize, pc: usize| -> Vec<usize> {
            let live = facts.pcs[t][pc].live.iter();
            let own = live.filter(|r| group.registers[t][r.index()]);
            own.map(|r| group.bases[t] + r.index()).collect()
        };
        let all = |t: usize| (0..facts.pcs[t].len()).map(|pc| live(t, pc)).collect();
        // Updates follow each other, so what only they write is the likeliest not to decrease.
        let updated = |&&l: &&usize| !facts.locations[l].has_store;
        let anchor = locations.iter().find(updated).or(locations.first());
        let down = group.decrease(program);
        Self {
            live: (0..facts.pcs.len()).map(all).collect(),
            least: down as Value,
            anchor: anchor.filter(|_| down > 0).map(|&l| Anchor {
                location: LocId::new(l),
                initial: program.locations[l].init,
            }),
            locations,
        }
    }

    fn simplify<const W: usize>(&self, s: &mut State<W>, end: i64) -> bool {
        let State {
            pcs, regs, memory, ..
        } = s;
        let threads = || pcs.iter().zip(&self.live);
        let registers = || threads().flat_map(|(&pc, live)| live_at(live, pc));
        let values = registers().map(|&r| regs[r]);
        let values = values.chain(self.locations.iter().map(|&l| memory[l]));
        let (least, most) = values.fold((Value::MAX, Value::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let shift = i64::from(least) - i64::from(self.least);
        if i64::from(most) - shift >= end {
            return false;
        }
        if shift != 0 {
            let moved = |v: Value| (i64::from(v) - shift) as Value;
            registers().for_each(|&r| regs[r] = moved(regs[r]));
            for &l in &self.locations {
                memory[l] = moved(memory[l]);
            }
        }
        true
    }
}

/// The registers of a group that matter at a thread's program counter.
fn live_at(live: &[Vec<usize>], pc: u32) -> &[usize] {
    match pc {
        HALTED | STUCK | UNBORN => &[],
        pc => &live[pc as usize],
    }
}

impl AtPc {
    fn new(groups: &[Group], program: &Program, t: usize, pc: usize) -> Self {
        let mut here = Self::default();
        let thread = ThreadId::new(t);
        let instr = program.threads[t].instr(Pc::new(pc));
        for (number, group) in groups.iter().enumerate() {
            match instr {
                Instr::Branch { cond, .. } => here.open |= !group.is_unmoved(thread, cond),
                Instr::Assume(e) => here.ignored |= !group.is_unmoved(thread, e),
                _ => {}
            }
            if let Some((source, by)) = group.step(thread, instr) {
                here.step = (by != 0).then_some(Step {
                    group: number,
                    source,
                    by,
                });
            }
        }
        here
    }
}
