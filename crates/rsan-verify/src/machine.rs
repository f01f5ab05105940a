//! The program under sequential consistency, one visible step at a time.
//!
//! A *visible* instruction is one that another thread can notice ([`crate::facts`]). A transition of the search is: a
//! thread at rest executes one visible instruction and then everything invisible up to its next rest, which is
//! a visible instruction, a non-deterministic choice, or its end. A choice is resolved only when the thread moves
//! on, so a thread that has not chosen yet is one state, not several.
//!
//! Running invisible instructions early (or, after a choice, late) keeps every verdict: local computation, fences and
//! plain accesses commute with whatever other threads do, except where two plain accesses race, and then they
//! are unordered by happens-before in either order.

mod invisible;
mod visible;

use crate::facts::Facts;
use crate::forgetting::Forgetting;
use crate::layout::Layout;
use crate::monitor::Weakness;
use crate::mutation::Mutant;
use crate::options::Property;
use crate::state::{HALTED, STUCK, State, UNBORN};
use rsan_clocks::AccessKind;
use rsan_model::{EvalError, Expr, Instr, LocId, Pc, Place, Program, RegId, ThreadId, Value};

/// Steps that a thread may take without touching shared memory before the search gives up.
const LOCAL_STEPS: u32 = 1 << 22;

/// Why a transition could not be completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) thread: ThreadId,
    pub(crate) pc: Pc,
}

/// What went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    /// The access at `pc` can go behind the last write of its location, in this way.
    Weak(Weakness),
    /// The instruction at `pc` uses this register, whose value weak memory might have made different.
    Observed(RegId),
    /// The access at `pc` races with the last one of this thread and kind.
    Race(ThreadId, AccessKind),
    Assertion,
    Trap(EvalError),
    /// A local loop of more than [`LOCAL_STEPS`] steps.
    LocalLoop,
    /// A location that was taken for a counter or a clock is none, or a value that was only moved may begin again.
    NoCounter,
}

/// An executed instruction, for replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Executed {
    pub(crate) thread: ThreadId,
    pub(crate) pc: Pc,
    pub(crate) how: How,
}

/// How an instruction was executed, where that is not clear from the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Normally,
    /// A weak compare-and-swap that failed spuriously.
    Spuriously,
    /// A load that may have seen an older write (observational robustness).
    Stale,
}

/// How a thread stands after a search for its next steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mobility {
    /// It ended, or will never do anything.
    Ended,
    /// It can move, whatever it chooses.
    Free,
    /// It may wait at this instruction.
    Blocked(Pc),
}

impl Mobility {
    /// After one way to go on, and another.
    fn and(self, other: Self) -> Self {
        if other == Self::Free { self } else { other }
    }
}

/// A program with its monitor.
#[derive(Debug)]
pub(crate) struct Machine<'a, const W: usize> {
    pub(crate) program: &'a Program,
    pub(crate) facts: &'a Facts,
    pub(crate) layout: Layout<W>,
    pub(crate) property: Property,
    /// What is forgotten of every state; then failures need not be real.
    pub(crate) forgetting: Option<&'a Forgetting>,
    /// First register of each thread.
    bases: Vec<usize>,
}

/// Scratch space of one worker.
#[derive(Debug)]
pub(crate) struct Scratch<const W: usize> {
    choice: State<W>,
    next: State<W>,
    /// What the transition that is being made has executed; kept only when `recording`.
    pub(crate) log: Vec<Executed>,
    pub(crate) recording: bool,
}

impl<const W: usize> Scratch<W> {
    pub(crate) fn new(state: &State<W>) -> Self {
        Self {
            choice: state.clone(),
            next: state.clone(),
            log: Vec::new(),
            recording: false,
        }
    }
}

impl<'a, const W: usize> Machine<'a, W> {
    pub(crate) fn new(
        program: &'a Program,
        facts: &'a Facts,
        layout: Layout<W>,
        property: Property,
        forgetting: Option<&'a Forgetting>,
    ) -> Self {
        let mut base = 0;
        let bases = program.threads.iter().map(|t| {
            base += t.registers.len();
            base - t.registers.len()
        });
        Self {
            program,
            facts,
            layout,
            property,
            forgetting,
            bases: bases.collect(),
        }
    }

    /// The initial state, each thread at its first rest.
    pub(crate) fn initial(&self, log: &mut Vec<Executed>) -> Result<State<W>, Failure> {
        let mut s = State::initial(self.program, self.layout.initial_slots());
        for t in (0..s.pcs.len()).map(ThreadId::new) {
            if s.pcs[t.index()] == 0 {
                self.run(&mut s, t, log, true)?;
            }
        }
        Ok(s)
    }

    /// Calls `out` for every successor of `s` by a step of `t`. Checks what `t` is about to do on the way.
    pub(crate) fn expand(
        &self,
        s: &State<W>,
        t: ThreadId,
        scratch: &mut Scratch<W>,
        out: &mut dyn FnMut(&mut State<W>, &[Executed]),
    ) -> Result<Mobility, Failure> {
        let pc = s.pcs[t.index()];
        if matches!(pc, HALTED | STUCK | UNBORN) {
            return Ok(Mobility::Ended);
        }
        let Scratch {
            choice,
            next,
            log,
            recording,
        } = scratch;
        log.clear();
        let targets: &[Pc] = match self.program.threads[t.index()].instr(Pc(pc)) {
            Instr::Choose(targets) => targets,
            Instr::Branch {
                then, otherwise, ..
            } => &[*then, *otherwise],
            _ => return self.act(s, t, next, log, *recording, out),
        };
        let mut mobility = Mobility::Free;
        for &target in targets {
            choice.copy_from(s);
            log.clear();
            if *recording {
                log.push(Executed {
                    thread: t,
                    pc: Pc(pc),
                    how: How::Normally,
                });
            }
            choice.pcs[t.index()] = target.0;
            self.run(choice, t, log, *recording)?;
            if let Some([then, otherwise]) = self.open_branch(choice, t) {
                let mut other = choice.clone();
                other.pcs[t.index()] = then.0;
                self.run(&mut other, t, log, *recording)?;
                let one = self.go_on(&mut other, t, next, log, *recording, out)?;
                mobility = mobility.and(one);
                choice.pcs[t.index()] = otherwise.0;
                self.run(choice, t, log, *recording)?;
            }
            let one = self.go_on(choice, t, next, log, *recording, out)?;
            mobility = mobility.and(one);
        }
        Ok(mobility)
    }

    /// The visible step of `t` after a choice, unless it ended or has to choose again.
    fn go_on(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        next: &mut State<W>,
        log: &mut Vec<Executed>,
        recording: bool,
        out: &mut dyn FnMut(&mut State<W>, &[Executed]),
    ) -> Result<Mobility, Failure> {
        let rest = s.pcs[t.index()];
        let at_choice = matches!(rest, HALTED | STUCK)
            || matches!(
                self.program.threads[t.index()].instr(Pc(rest)),
                Instr::Choose(_) | Instr::Branch { .. }
            );
        if at_choice {
            out(s, log);
            return Ok(Mobility::Free);
        }
        self.act(s, t, next, log, recording, out)
    }

    /// Where the branch at which `t` rests may go, whatever its condition says.
    fn open_branch(&self, s: &State<W>, t: ThreadId) -> Option<[Pc; 2]> {
        let pc = s.pcs[t.index()];
        let forgetting = self.forgetting?;
        if matches!(pc, HALTED | STUCK) {
            return None;
        }
        match self.program.threads[t.index()].instr(Pc(pc)) {
            Instr::Branch {
                then, otherwise, ..
            } if forgetting.is_open(s, t, Pc(pc)) => Some([*then, *otherwise]),
            _ => None,
        }
    }

    /// Checks and records an access to a location that has non-atomic accesses.
    fn race(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        pc: Pc,
        loc: LocId,
        kind: AccessKind,
    ) -> Result<(), Failure> {
        if !self.facts.locations[loc.index()].race_checked {
            return Ok(());
        }
        if let Some((other, other_kind)) = self.layout.race(s, t, loc, kind) {
            return Err(failure(FailureKind::Race(other, other_kind), t, pc));
        }
        self.layout.record(s, t, loc, kind);
        Ok(())
    }

    /// Observational robustness: using a tainted register is the violation (docs/theory/finite.md, F13).
    #[inline]
    fn check_uses(&self, s: &State<W>, t: ThreadId, pc: Pc, instr: &Instr) -> Result<(), Failure> {
        if self.property != Property::Observational || self.layout.breaks(Mutant::TaintUsable) {
            return Ok(());
        }
        let base = self.bases[t.index()];
        let mut used = None;
        instr.for_each_read_reg(&mut |r| {
            if s.tainted[base + r.index()] {
                used = Some(r);
            }
        });
        match used {
            Some(r) => Err(failure(FailureKind::Observed(r), t, pc)),
            None => Ok(()),
        }
    }

    #[inline]
    fn regs<'s>(&self, s: &'s State<W>, t: ThreadId) -> &'s [Value] {
        &s.regs[self.bases[t.index()]..]
    }

    #[inline]
    fn set(&self, s: &mut State<W>, t: ThreadId, r: RegId, value: Value, tainted: bool) {
        let r = self.bases[t.index()] + r.index();
        s.regs[r] = value;
        s.tainted[r] = tainted || s.tainted[r] && self.layout.breaks(Mutant::TaintStays);
    }

    #[inline]
    fn value(&self, s: &State<W>, t: ThreadId, pc: Pc, e: &Expr) -> Result<Value, Failure> {
        e.eval(self.regs(s, t))
            .map(|v| self.program.domain.wrap(v))
            .map_err(|e| failure(FailureKind::Trap(e), t, pc))
    }

    #[inline]
    fn resolve(&self, s: &State<W>, t: ThreadId, pc: Pc, place: &Place) -> Result<LocId, Failure> {
        place
            .resolve(self.regs(s, t))
            .map_err(|e| failure(FailureKind::Trap(e), t, pc))
    }
}

fn failure(kind: FailureKind, thread: ThreadId, pc: Pc) -> Failure {
    Failure { kind, thread, pc }
}
