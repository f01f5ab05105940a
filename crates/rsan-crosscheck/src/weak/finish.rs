//! The end of an execution.

use super::execute::{Explorer, Run};
use super::outcome::orders;
use super::{Memory, Name, Outcome};
use rsan_axioms::Stop;
use rsan_model::{Instr, Value};

impl Explorer<'_> {
    /// All threads have stopped, or wait: an outcome for each order of writes after which those that wait can't go on.
    pub(super) fn complete<M: Memory>(&mut self, run: &Run<M>) {
        let source = |name: Name| match name {
            Name(0, _) => None,
            Name(t, i) => run.state.events[t as usize - 1][i as usize].1,
        };
        let whole = !self.mode.summary;
        let locations = run.locations.iter();
        let orders: Vec<_> = locations
            .map(|at| orders(&run.memory, *at, &source, whole))
            .collect();
        let mut picked = vec![0; orders.len()];
        loop {
            let chosen: Vec<_> = orders
                .iter()
                .zip(&picked)
                .map(|(all, i)| &all[*i])
                .collect();
            self.outcome(run, &chosen);
            let more = |l: &usize| picked[*l] + 1 < orders[*l].len();
            let Some(l) = (0..orders.len()).find(more) else {
                return;
            };
            picked[l] += 1;
            picked[..l].fill(0);
        }
    }

    /// An outcome with these orders of writes, unless somebody could go on after the last ones.
    fn outcome<M: Memory>(&mut self, run: &Run<M>, orders: &[&(Vec<Name>, Value)]) {
        let mut stops = Vec::new();
        for t in 0..self.program.threads.len() {
            stops.push(match run.state.stops[t] {
                Some(stop) => stop,
                None if self.could_pass(run, t, orders) => return,
                None => Stop::Blocked(run.state.pcs[t]),
            });
        }
        self.found.outcomes.insert(Outcome {
            events: run.state.events.clone(),
            writes: orders.iter().map(|(order, _)| order.clone()).collect(),
            memory: orders.iter().map(|(_, value)| *value).collect(),
            registers: run.state.registers.clone(),
            stops,
        });
    }

    /// Whether a thread that waits could go on if it saw the last writes.
    fn could_pass<M: Memory>(
        &self,
        run: &Run<M>,
        t: usize,
        orders: &[&(Vec<Name>, Value)],
    ) -> bool {
        let registers = &run.state.registers[t];
        let instr = self.instr(run, t);
        let Some(place) = instr.place() else {
            return false;
        };
        let loc = place.resolve(registers).expect("it was evaluated before");
        let last = orders[loc.index()].1;
        match instr {
            Instr::Wait { values, .. } => values.iter().any(|e| self.eval(e, registers) == last),
            Instr::Bcas { expected, .. } => self.eval(expected, registers) == last,
            _ => unreachable!("{instr:?} does not wait"),
        }
    }
}
