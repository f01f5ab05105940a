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

use crate::facts::Facts;
use crate::layout::Layout;
use crate::monitor::{Attempt, Weakness, WritePart};
use crate::mutation::Mutant;
use crate::options::Property;
use crate::state::{HALTED, STUCK, State, UNBORN};
use rsan_clocks::AccessKind;
use rsan_model::{
    CasStrength, EvalError, Expr, Instr, LocId, Pc, Place, Program, RegId, ThreadId, Value,
};

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

/// A program with its monitor.
#[derive(Debug)]
pub(crate) struct Machine<'a, const W: usize> {
    pub(crate) program: &'a Program,
    pub(crate) facts: &'a Facts,
    pub(crate) layout: Layout<W>,
    pub(crate) property: Property,
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

/// What a visible instruction can do next.
enum Outcome {
    Read,
    Write(Value),
    SpuriousFailure,
    Blocked,
}

impl<'a, const W: usize> Machine<'a, W> {
    pub(crate) fn new(
        program: &'a Program,
        facts: &'a Facts,
        layout: Layout<W>,
        property: Property,
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
        let Instr::Choose(targets) = self.program.threads[t.index()].instr(Pc(pc)) else {
            return self.act(s, t, next, log, *recording, out);
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
            let rest = choice.pcs[t.index()];
            let at_choice = matches!(rest, HALTED | STUCK)
                || matches!(
                    self.program.threads[t.index()].instr(Pc(rest)),
                    Instr::Choose(_)
                );
            if at_choice {
                out(choice, log);
                continue;
            }
            let one = self.act(choice, t, next, log, *recording, out)?;
            if one != Mobility::Free {
                mobility = one;
            }
        }
        Ok(mobility)
    }

    /// Makes the visible step of `t`, which rests at a visible instruction.
    fn act(
        &self,
        s: &State<W>,
        t: ThreadId,
        next: &mut State<W>,
        log: &mut Vec<Executed>,
        recording: bool,
        out: &mut dyn FnMut(&mut State<W>, &[Executed]),
    ) -> Result<Mobility, Failure> {
        let pc = Pc(s.pcs[t.index()]);
        let thread = &self.program.threads[t.index()];
        let instr = thread.instr(pc);
        self.check_uses(s, t, pc, instr)?;
        let logged = log.len();
        let mut finish = |next: &mut State<W>, how: How| -> Result<(), Failure> {
            log.truncate(logged);
            if recording {
                log.push(Executed { thread: t, pc, how });
            }
            next.pcs[t.index()] = pc.0 + 1;
            self.run(next, t, log, recording)?;
            out(next, log);
            Ok(())
        };
        match instr {
            Instr::Fence(ord) => {
                next.copy_from(s);
                self.layout.fence(next, t, *ord);
                finish(next, How::Normally)?;
                return Ok(Mobility::Free);
            }
            Instr::Join(child) => {
                if s.pcs[child.index()] != HALTED {
                    return Ok(Mobility::Blocked(pc));
                }
                next.copy_from(s);
                self.layout.thread_join(next, t, *child);
                finish(next, How::Normally)?;
                return Ok(Mobility::Free);
            }
            _ => {}
        }
        let place = instr
            .place()
            .expect("only fences, joins and accesses are visible");
        let loc = self.resolve(s, t, pc, place)?;
        let stale = self.is_stale(s, t, pc, instr, loc)?;
        let (first, second) = self.outcomes(s, t, pc, instr, loc)?;
        for outcome in [Some(first), second].into_iter().flatten() {
            if matches!(outcome, Outcome::Blocked) {
                return Ok(Mobility::Blocked(pc));
            }
            next.copy_from(s);
            let how = match outcome {
                Outcome::SpuriousFailure => How::Spuriously,
                _ if stale => How::Stale,
                _ => How::Normally,
            };
            self.access(next, t, pc, instr, loc, outcome, stale)?;
            finish(next, how)?;
        }
        Ok(Mobility::Free)
    }

    /// The robustness check of a visible access. `Ok(true)` is a stale load that observational robustness lets
    /// pass for the time being.
    fn is_stale(
        &self,
        s: &State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        loc: LocId,
    ) -> Result<bool, Failure> {
        if self.property == Property::Safe {
            return Ok(false);
        }
        let value = |e: &Expr| self.value(s, t, pc, e);
        let waited;
        let attempt = match instr {
            Instr::Load { ord, .. } => Attempt::Load(*ord),
            Instr::Store { ord, .. } => Attempt::Store(*ord),
            Instr::Rmw { ord, .. } => Attempt::Rmw(*ord),
            Instr::Bcas { ord, expected, .. } => Attempt::Bcas(*ord, value(expected)?),
            Instr::Cas {
                ord,
                fail,
                expected,
                strength,
                ..
            } => Attempt::Cas {
                ord: *ord,
                fail: *fail,
                expected: value(expected)?,
                strength: *strength,
            },
            Instr::Wait { ord, values, .. } => {
                waited = values.iter().map(value).collect::<Result<Vec<_>, _>>()?;
                Attempt::Wait(*ord, &waited)
            }
            _ => return Ok(false),
        };
        match self.layout.weakness(s, t, loc, attempt) {
            None => Ok(false),
            Some(_) if self.is_unchecked(s, t, pc, instr, loc)? => Ok(false),
            Some(_)
                if self.property == Property::Observational
                    && matches!(instr, Instr::Load { .. }) =>
            {
                Ok(true)
            }
            Some(weakness) => Err(failure(FailureKind::Weak(weakness), t, pc)),
        }
    }

    /// Whether a test says that the access is not checked, because it is blocked.
    fn is_unchecked(
        &self,
        s: &State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        loc: LocId,
    ) -> Result<bool, Failure> {
        let broken = self.layout.breaks(Mutant::BlockedNotChecked);
        Ok(broken && matches!(self.outcomes(s, t, pc, instr, loc)?.0, Outcome::Blocked))
    }

    /// What the access can do in this state; a weak compare-and-swap can do two things.
    fn outcomes(
        &self,
        s: &State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        loc: LocId,
    ) -> Result<(Outcome, Option<Outcome>), Failure> {
        let current = s.memory[loc.index()];
        let value = |e: &Expr| self.value(s, t, pc, e);
        let one = |o| Ok((o, None));
        match instr {
            Instr::Load { .. } => one(Outcome::Read),
            Instr::Store { value: e, .. } => one(Outcome::Write(value(e)?)),
            Instr::Rmw { op, operand, .. } => {
                let operand = operand
                    .eval(self.regs(s, t))
                    .map_err(|e| failure(FailureKind::Trap(e), t, pc))?;
                let new = op.apply(current, operand);
                one(Outcome::Write(self.program.domain.wrap(new)))
            }
            Instr::Cas {
                expected,
                new,
                strength,
                ..
            } => {
                if current != value(expected)? {
                    return one(Outcome::Read);
                }
                let spurious = match strength {
                    CasStrength::Weak if !self.layout.breaks(Mutant::NeverSpurious) => {
                        Some(Outcome::SpuriousFailure)
                    }
                    _ => None,
                };
                Ok((Outcome::Write(value(new)?), spurious))
            }
            Instr::Wait { values, .. } => {
                for v in values {
                    if current == value(v)? {
                        return one(Outcome::Read);
                    }
                }
                one(Outcome::Blocked)
            }
            Instr::Bcas { expected, new, .. } => {
                if current == value(expected)? {
                    one(Outcome::Write(value(new)?))
                } else {
                    one(Outcome::Blocked)
                }
            }
            _ => unreachable!("not an atomic access"),
        }
    }

    /// Executes an atomic access.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call site, all of it the access"
    )]
    fn access(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        loc: LocId,
        outcome: Outcome,
        stale: bool,
    ) -> Result<(), Failure> {
        let old = s.memory[loc.index()];
        if let Outcome::Write(new) = outcome {
            let (read, write) = match instr {
                Instr::Store { ord, .. } => (None, *ord),
                Instr::Rmw { ord, .. } | Instr::Cas { ord, .. } | Instr::Bcas { ord, .. } => {
                    (Some(ord.read()), ord.write())
                }
                _ => unreachable!("only these write"),
            };
            if let Some(read) = read {
                self.layout.receive(s, t, loc, read);
            }
            self.race(s, t, pc, loc, AccessKind::AtomicWrite)?;
            let part = WritePart {
                old,
                releases: write.releases(),
                sc: write.is_sc(),
                plain: false,
            };
            self.layout.write(s, t, loc, part, read);
            s.memory[loc.index()] = new;
        } else {
            let ord = match instr {
                Instr::Load { ord, .. } | Instr::Wait { ord, .. } => *ord,
                Instr::Cas { fail, .. } => *fail,
                _ => unreachable!("only these read"),
            };
            if stale && !self.layout.breaks(Mutant::StaleLoadLearns) {
                // The weak views do not learn from a read that may have seen something else.
                if !self.layout.breaks(Mutant::StaleLoadNotOrdered) {
                    self.layout.read_order(s, t, loc);
                }
            } else {
                self.layout.receive(s, t, loc, ord);
                self.race(s, t, pc, loc, AccessKind::AtomicRead)?;
                self.layout.read(s, t, loc, ord);
            }
        }
        match instr {
            Instr::Load { dst, .. } => self.set(s, t, *dst, old, stale),
            Instr::Rmw { dst, .. } | Instr::Wait { dst, .. } => {
                if let Some(dst) = dst {
                    self.set(s, t, *dst, old, false);
                }
            }
            Instr::Cas { dst, success, .. } => {
                if let Some(dst) = dst {
                    self.set(s, t, *dst, old, false);
                }
                if let Some(success) = success {
                    let won = matches!(outcome, Outcome::Write(_));
                    self.set(s, t, *success, Value::from(won), false);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs `t` through invisible instructions up to its next rest.
    fn run(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        log: &mut Vec<Executed>,
        recording: bool,
    ) -> Result<(), Failure> {
        let thread = &self.program.threads[t.index()];
        let mut steps = 0_u32;
        let mut earlier: Option<State<W>> = None;
        loop {
            let pc = Pc(s.pcs[t.index()]);
            let instr = thread.instr(pc);
            if matches!(instr, Instr::Choose(_)) || self.facts.pcs[t.index()][pc.index()].visible {
                return Ok(());
            }
            if matches!(instr, Instr::Halt) {
                s.pcs[t.index()] = HALTED;
                return Ok(());
            }
            steps += 1;
            if steps >= 64 && steps.is_power_of_two() {
                // Brent's cycle detection: a loop without effect never gets anywhere.
                if steps >= LOCAL_STEPS {
                    return Err(failure(FailureKind::LocalLoop, t, pc));
                }
                earlier = Some(s.clone());
            } else if earlier
                .as_ref()
                .is_some_and(|e| e.pcs[t.index()] == pc.0 && e == s)
            {
                s.pcs[t.index()] = STUCK;
                return Ok(());
            }
            let logged = log.len();
            if recording {
                log.push(Executed {
                    thread: t,
                    pc,
                    how: How::Normally,
                });
            }
            let done = self
                .check_uses(s, t, pc, instr)
                .and_then(|()| self.invisible(s, t, pc, instr, log, recording));
            if let Err(failure) = done {
                // The log ends before the instruction that failed.
                if failure.thread == t {
                    log.truncate(logged);
                }
                return Err(failure);
            }
            if s.pcs[t.index()] == STUCK {
                return Ok(());
            }
        }
    }

    /// Executes one invisible instruction and moves the program counter.
    fn invisible(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        log: &mut Vec<Executed>,
        recording: bool,
    ) -> Result<(), Failure> {
        let holds = |s: &State<W>, e: &Expr| {
            e.eval(self.regs(s, t))
                .map(|v| v != 0)
                .map_err(|e| failure(FailureKind::Trap(e), t, pc))
        };
        let mut next = pc.0 + 1;
        match instr {
            Instr::Assign { dst, value } => {
                let value = self.value(s, t, pc, value)?;
                self.set(s, t, *dst, value, false);
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => next = if holds(s, cond)? { then.0 } else { otherwise.0 },
            Instr::Jump(to) => next = to.0,
            Instr::Assert(e) => {
                if !holds(s, e)? {
                    return Err(failure(FailureKind::Assertion, t, pc));
                }
            }
            Instr::Assume(e) => {
                if !holds(s, e)? {
                    next = STUCK;
                }
            }
            Instr::Observe(e) => {
                holds(s, e)?;
            }
            Instr::Fence(ord) => self.layout.fence(s, t, *ord),
            Instr::Load { dst, place, .. } => {
                let loc = self.resolve(s, t, pc, place)?;
                self.race(s, t, pc, loc, AccessKind::AtomicRead)?;
                let value = s.memory[loc.index()];
                self.set(s, t, *dst, value, false);
            }
            Instr::PlainLoad { dst, place } => {
                let loc = self.resolve(s, t, pc, place)?;
                self.race(s, t, pc, loc, AccessKind::PlainRead)?;
                let value = s.memory[loc.index()];
                self.set(s, t, *dst, value, false);
            }
            Instr::PlainStore { place, value } => {
                let loc = self.resolve(s, t, pc, place)?;
                let value = self.value(s, t, pc, value)?;
                self.race(s, t, pc, loc, AccessKind::PlainWrite)?;
                if self.layout.locations[loc.index()].order.is_some() {
                    // An atomic location that is initialised: a write without a message, unchecked.
                    let part = WritePart {
                        old: s.memory[loc.index()],
                        releases: false,
                        sc: false,
                        plain: true,
                    };
                    self.layout.write(s, t, loc, part, None);
                }
                s.memory[loc.index()] = value;
            }
            Instr::Spawn(child) => {
                s.pcs[child.index()] = 0;
                self.layout.spawn(s, t, *child);
                self.run(s, *child, log, recording)?;
            }
            Instr::Store { .. }
            | Instr::Rmw { .. }
            | Instr::Cas { .. }
            | Instr::Wait { .. }
            | Instr::Bcas { .. }
            | Instr::Choose(_)
            | Instr::Join(_)
            | Instr::Halt => unreachable!("visible, or handled by the caller"),
        }
        s.pcs[t.index()] = next;
        Ok(())
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

    /// Observational robustness: using a tainted register is the violation.
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
