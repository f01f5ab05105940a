//! Visible steps: what another thread can notice, or what notices other threads.

use super::{Executed, Failure, FailureKind, How, Machine, Mobility, failure};
use crate::monitor::{Attempt, WritePart};
use crate::mutation::Mutant;
use crate::options::Property;
use crate::state::{HALTED, STUCK, State};
use rsan_clocks::AccessKind;
use rsan_model::{CasStrength, Expr, Instr, LocId, Pc, ThreadId, Value};

/// What a visible instruction can do next.
enum Outcome {
    Read,
    Write(Value),
    SpuriousFailure,
    Blocked,
}
impl<const W: usize> Machine<'_, W> {
    /// Makes the visible step of `t`, which rests at a visible instruction.
    pub(super) fn act(
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
            if self.facts.pcs[t.index()][pc.index()].takes_lock {
                self.act_under_lock(next, t, log, recording)?;
            }
            // At once, for then what the condition is about need not be stored.
            if let Some([then, otherwise]) = self.open_branch(next, t) {
                let mut other = next.clone();
                other.pcs[t.index()] = then.0;
                self.run(&mut other, t, log, recording)?;
                out(&mut other, log);
                next.pcs[t.index()] = otherwise.0;
                self.run(next, t, log, recording)?;
            }
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

    /// Executes a visible access that has one outcome and need not wait, as part of a step.
    pub(super) fn act_at_once(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
        log: &mut Vec<Executed>,
        recording: bool,
    ) -> Result<(), Failure> {
        self.check_uses(s, t, pc, instr)?;
        let place = instr.place().expect("only accesses are executed at once");
        let loc = self.resolve(s, t, pc, place)?;
        let stale = self.is_stale(s, t, pc, instr, loc)?;
        let (outcome, _) = self.outcomes(s, t, pc, instr, loc)?;
        self.access(s, t, pc, instr, loc, outcome, stale)?;
        if recording {
            let how = if stale { How::Stale } else { How::Normally };
            log.push(Executed { thread: t, pc, how });
        }
        s.pcs[t.index()] = pc.0 + 1;
        Ok(())
    }

    /// After a lock was taken: the next access is part of the same step, unless it may have to wait.
    fn act_under_lock(
        &self,
        s: &mut State<W>,
        t: ThreadId,
        log: &mut Vec<Executed>,
        recording: bool,
    ) -> Result<(), Failure> {
        let pc = Pc(s.pcs[t.index()]);
        if matches!(pc.0, HALTED | STUCK) {
            return Ok(());
        }
        let instr = self.program.threads[t.index()].instr(pc);
        if matches!(
            instr,
            Instr::Load { .. } | Instr::Store { .. } | Instr::Rmw { .. }
        ) {
            self.act_at_once(s, t, pc, instr, log, recording)?;
            self.run(s, t, log, recording)?;
        }
        Ok(())
    }

    /// Whether a visible access has to wait.
    pub(super) fn has_to_wait(
        &self,
        s: &State<W>,
        t: ThreadId,
        pc: Pc,
        instr: &Instr,
    ) -> Result<bool, Failure> {
        let Instr::Wait { place, .. } = instr else {
            return Ok(false);
        };
        let loc = self.resolve(s, t, pc, place)?;
        Ok(matches!(
            self.outcomes(s, t, pc, instr, loc)?.0,
            Outcome::Blocked
        ))
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
            if (self.forgetting).is_some_and(|f| f.refuted(loc, old, new) || f.miscounts(s, t, pc))
            {
                return Err(failure(FailureKind::NoCounter, t, pc));
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
}
