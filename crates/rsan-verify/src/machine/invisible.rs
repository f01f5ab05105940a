//! Invisible steps: local computation, fences that are thread-local, and plain accesses.

use super::{Executed, Failure, FailureKind, How, LOCAL_STEPS, Machine, failure};
use crate::monitor::WritePart;
use crate::state::{HALTED, STUCK, State};
use rsan_clocks::AccessKind;
use rsan_model::{Expr, Instr, Pc, ThreadId};

impl<const W: usize> Machine<'_, W> {
    /// Runs `t` through invisible instructions up to its next rest.
    pub(super) fn run(
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
            let facts = &self.facts.pcs[t.index()][pc.index()];
            if matches!(instr, Instr::Choose(_)) || facts.rests() {
                return Ok(());
            }
            if facts.at_once && self.has_to_wait(s, t, pc, instr)? {
                return Ok(());
            }
            if matches!(instr, Instr::Branch { .. }) && self.open_branch(s, t).is_some() {
                return self.check_uses(s, t, pc, instr);
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
            if facts.visible {
                self.act_at_once(s, t, pc, instr, log, recording)?;
                continue;
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
                if (self.forgetting).is_some_and(|f| f.miscounts(s, t, pc)) {
                    return Err(failure(FailureKind::NoCounter, t, pc));
                }
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
                let ignored = self.forgetting.is_some_and(|f| f.ignores(t, pc));
                if !ignored && !holds(s, e)? {
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
                if self.layout.locs[loc.index()].access_order.is_some() {
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
}
