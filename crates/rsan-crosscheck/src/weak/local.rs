//! Local instructions of threads, between their accesses.

use super::Memory;
use super::execute::{Explorer, Run, State};
use rsan_axioms::Stop;
use rsan_model::{EvalError, Expr, Instr, Pc, Value};

impl Explorer<'_> {
    /// Runs local instructions of a thread.
    pub(super) fn local_steps<M: Memory>(&mut self, run: &mut Run<M>, t: usize) {
        let before = run.state.stops[t];
        while run.state.stops[t].is_none() {
            match self.local_step(&mut run.state, t) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => run.state.stops[t] = Some(Stop::Trap(run.state.pcs[t], error)),
            }
        }
        if before.is_none() && run.state.stops[t] == Some(Stop::Ended) {
            run.slots
                .retire(run.threads[t].as_ref().expect("it has run"));
        }
    }

    /// One local instruction; whether there was one.
    fn local_step(&self, state: &mut State, t: usize) -> Result<bool, EvalError> {
        let (registers, pc) = (&mut state.registers[t], &mut state.pcs[t]);
        let mut to = Pc(pc.0 + 1);
        match self.program.threads[t].instr(*pc) {
            Instr::Assign { dst, value } => {
                registers[dst.index()] = self.program.domain.wrap(value.eval(registers)?);
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                to = if cond.eval(registers)? != 0 {
                    *then
                } else {
                    *otherwise
                };
            }
            Instr::Jump(target) => to = *target,
            Instr::Assert(e) if e.eval(registers)? == 0 => {
                state.stops[t] = Some(Stop::Assertion(*pc))
            }
            Instr::Assume(e) if e.eval(registers)? == 0 => {
                state.stops[t] = Some(Stop::Assumption(*pc))
            }
            Instr::Observe(e) => drop(e.eval(registers)?),
            Instr::Assert(_) | Instr::Assume(_) => {}
            Instr::Halt => state.stops[t] = Some(Stop::Ended),
            instr => {
                evaluate(instr, registers)?;
                return Ok(false);
            }
        }
        if state.stops[t].is_none() {
            *pc = to;
        }
        Ok(true)
    }
}

/// Everything that an instruction computes before its access.
fn evaluate(instr: &Instr, registers: &[Value]) -> Result<(), EvalError> {
    if let Some(place) = instr.place() {
        place.resolve(registers)?;
    }
    let operands: Vec<&Expr> = match instr {
        Instr::Store { value, .. } => vec![value],
        Instr::Rmw { operand, .. } => vec![operand],
        Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => vec![expected, new],
        Instr::Wait { values, .. } => values.iter().collect(),
        _ => Vec::new(),
    };
    operands
        .into_iter()
        .try_for_each(|e| e.eval(registers).map(drop))
}
