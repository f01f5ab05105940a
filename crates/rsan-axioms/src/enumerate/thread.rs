//! One thread of an execution under construction: registers, position, and the operation it is about to do.

use super::Stop;
use rsan_model::{
    CasStrength, Domain, EvalError, Expr, FenceOrd, Instr, Label, LocId, Pc, ReadOrd, RegId, RmwOp,
    RmwOrd, Start, Thread, ThreadId, Value,
};
use std::collections::BTreeMap;

/// The next operation of a thread, with all its operands evaluated.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Begin,
    End,
    Spawn(ThreadId),
    Join(ThreadId),
    Fence(FenceOrd),
    Choose(Vec<Pc>),
    Write { loc: LocId, label: Label },
    Read { loc: LocId, read: Read },
}

/// An operation that reads; what it does next depends on the value.
#[derive(Clone, Debug)]
pub(super) enum Read {
    Plain {
        dst: RegId,
    },
    Load {
        dst: RegId,
        ord: ReadOrd,
    },
    Rmw {
        dst: Option<RegId>,
        op: RmwOp,
        operand: i64,
        ord: RmwOrd,
    },
    Cas {
        dst: Option<RegId>,
        success: Option<RegId>,
        expected: Value,
        new: Value,
        ord: RmwOrd,
        fail: ReadOrd,
        strength: CasStrength,
    },
    Wait {
        dst: Option<RegId>,
        values: Vec<Value>,
        ord: ReadOrd,
    },
    Bcas {
        expected: Value,
        new: Value,
        ord: RmwOrd,
    },
}

/// What a reading operation can do with the value it sees.
pub(super) struct Response {
    /// The event.
    pub(super) label: Label,
    /// The registers it sets.
    pub(super) sets: Vec<(RegId, Value)>,
    /// Whether it is a compare-and-swap that fails.
    pub(super) failed_cas: bool,
}

impl Read {
    /// Whether it may have no event at all, for want of the right value.
    pub(super) fn may_block(&self) -> bool {
        matches!(self, Self::Wait { .. } | Self::Bcas { .. })
    }

    /// The ways to go on when the write that is seen holds `value`; none when it has to block.
    pub(super) fn responses(&self, loc: LocId, value: Value, domain: Domain) -> Vec<Response> {
        let respond = |label, dst: Option<RegId>| Response {
            label,
            sets: dst.map(|r| (r, value)).into_iter().collect(),
            failed_cas: false,
        };
        let read = |ord| Label::Read { loc, value, ord };
        let rmw = |written, ord| Label::Rmw {
            loc,
            read: value,
            written,
            ord,
        };
        match self {
            Self::Plain { dst } => vec![respond(Label::PlainRead { loc, value }, Some(*dst))],
            Self::Load { dst, ord } => vec![respond(read(*ord), Some(*dst))],
            Self::Rmw {
                dst,
                op,
                operand,
                ord,
            } => {
                let written = domain.wrap(op.apply(value, *operand));
                vec![respond(rmw(written, *ord), *dst)]
            }
            Self::Cas {
                dst,
                success,
                expected,
                new,
                ord,
                fail,
                strength,
            } => {
                let found = value == *expected;
                let mut responses = Vec::new();
                if found {
                    let mut response = respond(rmw(*new, *ord), *dst);
                    response.sets.extend(success.map(|r| (r, 1)));
                    responses.push(response);
                }
                if !found || *strength == CasStrength::Weak {
                    let mut response = respond(read(*fail), *dst);
                    response.sets.extend(success.map(|r| (r, 0)));
                    response.failed_cas = true;
                    responses.push(response);
                }
                responses
            }
            Self::Wait { dst, values, ord } if values.contains(&value) => {
                vec![respond(read(*ord), *dst)]
            }
            Self::Bcas { expected, new, ord } if *expected == value => {
                vec![respond(rmw(*new, *ord), None)]
            }
            Self::Wait { .. } | Self::Bcas { .. } => Vec::new(),
        }
    }
}

/// Where a thread stands.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// Not spawned yet.
    Unborn,
    /// About to do this.
    Ready(Op),
    /// Done, for one reason or another.
    Stopped(Stop),
    /// Stopped by [`crate::Limits::unroll`].
    Cut,
}

/// One thread of an execution under construction.
#[derive(Clone, Debug)]
pub(super) struct ThreadState {
    pub(super) pc: Pc,
    pub(super) registers: Vec<Value>,
    pub(super) phase: Phase,
    /// For a pending read: it was decided that it reads none of the events before this one.
    pub(super) passed_over: Option<usize>,
    backward_jumps: BTreeMap<Pc, u32>,
}

/// What running needs to know besides the thread's own state.
#[derive(Clone, Copy)]
pub(super) struct Code<'p> {
    pub(super) thread: &'p Thread,
    pub(super) domain: Domain,
    pub(super) unroll: u32,
}

impl ThreadState {
    /// The thread before its first step.
    pub(super) fn new(code: Code<'_>) -> Self {
        let mut state = Self {
            pc: Pc(0),
            registers: code.thread.initial_registers(),
            phase: Phase::Unborn,
            passed_over: None,
            backward_jumps: BTreeMap::new(),
        };
        if code.thread.start == Start::Initial {
            state.run(code);
        }
        state
    }

    /// Goes on behind the pending operation, up to the next one.
    pub(super) fn finish_op(&mut self, code: Code<'_>) {
        match self.phase {
            Phase::Ready(Op::End) => self.phase = Phase::Stopped(Stop::Ended),
            Phase::Ready(Op::Begin) => self.run(code),
            _ => {
                self.pc = Pc(self.pc.0 + 1);
                self.run(code);
            }
        }
        self.passed_over = None;
    }

    /// Takes one way of a pending choice.
    pub(super) fn choose(&mut self, to: Pc, code: Code<'_>) {
        match self.jump(to, code) {
            None => self.run(code),
            Some(phase) => self.phase = phase,
        }
    }

    /// Runs local instructions until the next operation.
    fn run(&mut self, code: Code<'_>) {
        self.phase = loop {
            match self.local_step(code) {
                Ok(None) => {}
                Ok(Some(phase)) => break phase,
                Err(error) => break Phase::Stopped(Stop::Trap(self.pc, error)),
            }
        };
    }

    /// One local instruction; the phase when there is no further one.
    fn local_step(&mut self, code: Code<'_>) -> Result<Option<Phase>, EvalError> {
        match code.thread.instr(self.pc) {
            Instr::Assign { dst, value } => {
                self.registers[dst.index()] = code.domain.wrap(value.eval(&self.registers)?);
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                let taken = cond.eval(&self.registers)? != 0;
                return Ok(self.jump(if taken { *then } else { *otherwise }, code));
            }
            Instr::Jump(to) => return Ok(self.jump(*to, code)),
            Instr::Assert(e) if e.eval(&self.registers)? == 0 => {
                return Ok(Some(Phase::Stopped(Stop::Assertion(self.pc))));
            }
            Instr::Assume(e) if e.eval(&self.registers)? == 0 => {
                return Ok(Some(Phase::Stopped(Stop::Assumption(self.pc))));
            }
            Instr::Observe(e) => {
                e.eval(&self.registers)?;
            }
            Instr::Assert(_) | Instr::Assume(_) => {}
            Instr::Halt => {
                return Ok(Some(match code.thread.start {
                    Start::Initial => Phase::Stopped(Stop::Ended),
                    Start::Spawned => Phase::Ready(Op::End),
                }));
            }
            operation => return Ok(Some(Phase::Ready(self.evaluate(operation, code.domain)?))),
        }
        self.pc = Pc(self.pc.0 + 1);
        Ok(None)
    }

    /// Sets the position; a backward jump too many is a reason to stop.
    fn jump(&mut self, to: Pc, code: Code<'_>) -> Option<Phase> {
        if to <= self.pc {
            let count = self.backward_jumps.entry(self.pc).or_default();
            if *count == code.unroll {
                return Some(Phase::Cut);
            }
            *count += 1;
        }
        self.pc = to;
        None
    }

    /// The operation of a non-local instruction.
    fn evaluate(&self, instr: &Instr, domain: Domain) -> Result<Op, EvalError> {
        let regs = &self.registers;
        Ok(match instr {
            Instr::Store { place, value, ord } => {
                let (loc, ord) = (place.resolve(regs)?, *ord);
                let value = domain.wrap(value.eval(regs)?);
                let label = Label::Write { loc, value, ord };
                Op::Write { loc, label }
            }
            Instr::PlainStore { place, value } => {
                let loc = place.resolve(regs)?;
                let value = domain.wrap(value.eval(regs)?);
                let label = Label::PlainWrite { loc, value };
                Op::Write { loc, label }
            }
            Instr::Load { place, .. }
            | Instr::PlainLoad { place, .. }
            | Instr::Rmw { place, .. }
            | Instr::Cas { place, .. }
            | Instr::Wait { place, .. }
            | Instr::Bcas { place, .. } => Op::Read {
                loc: place.resolve(regs)?,
                read: self.evaluate_read(instr, domain)?,
            },
            Instr::Fence(ord) => Op::Fence(*ord),
            Instr::Choose(targets) => Op::Choose(targets.clone()),
            Instr::Spawn(t) => Op::Spawn(*t),
            Instr::Join(t) => Op::Join(*t),
            Instr::Assign { .. }
            | Instr::Branch { .. }
            | Instr::Jump(_)
            | Instr::Assert(_)
            | Instr::Assume(_)
            | Instr::Observe(_)
            | Instr::Halt => unreachable!("{instr:?} is a local step"),
        })
    }

    /// The reading operation of an instruction that reads.
    fn evaluate_read(&self, instr: &Instr, domain: Domain) -> Result<Read, EvalError> {
        let regs = &self.registers;
        let value = |e: &Expr| Ok::<_, EvalError>(domain.wrap(e.eval(regs)?));
        Ok(match *instr {
            Instr::PlainLoad { dst, .. } => Read::Plain { dst },
            Instr::Load { dst, ord, .. } => Read::Load { dst, ord },
            Instr::Rmw {
                dst,
                op,
                ref operand,
                ord,
                ..
            } => Read::Rmw {
                dst,
                op,
                operand: operand.eval(regs)?,
                ord,
            },
            Instr::Cas {
                dst,
                success,
                ref expected,
                ref new,
                ord,
                fail,
                strength,
                ..
            } => Read::Cas {
                dst,
                success,
                expected: value(expected)?,
                new: value(new)?,
                ord,
                fail,
                strength,
            },
            Instr::Wait {
                dst,
                ref values,
                ord,
                ..
            } => Read::Wait {
                dst,
                values: values.iter().map(value).collect::<Result<_, _>>()?,
                ord,
            },
            Instr::Bcas {
                ref expected,
                ref new,
                ord,
                ..
            } => Read::Bcas {
                expected: value(expected)?,
                new: value(new)?,
                ord,
            },
            _ => unreachable!("{instr:?} does not read"),
        })
    }
}
