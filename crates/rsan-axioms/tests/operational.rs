//! The axioms of SC and TSO against machines: interleavings, and threads with FIFO store buffers.
//!
//! The machines are written from the operational definitions (Owens, Sarkar and Sewell, TPHOLs 2009) and share
//! nothing with the axioms; on random programs both must reach the same final states.

mod common;

use common::program;
use common::random::{MIX, Profile, Rng, SC_MIX, text};
use rsan_axioms::{FinalState, Limits, outcomes};
use rsan_model::{CasStrength, Expr, Instr, Model, Observable, Pc, Place, Program, Value};
use std::collections::{BTreeSet, HashSet};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    memory: Vec<Value>,
    threads: Vec<Cpu>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Cpu {
    pc: usize,
    registers: Vec<Value>,
    /// Stores that the memory does not have yet, the oldest first.
    buffer: Vec<(usize, Value)>,
}

impl Machine {
    fn new(program: &Program) -> Self {
        let cpu = |t: &rsan_model::Thread| Cpu {
            pc: 0,
            registers: t.initial_registers(),
            buffer: Vec::new(),
        };
        Self {
            memory: program.locations.iter().map(|l| l.init).collect(),
            threads: program.threads.iter().map(cpu).collect(),
        }
    }

    /// All states after one step.
    fn steps(&self, program: &Program, buffered: bool) -> Vec<Self> {
        (0..self.threads.len())
            .flat_map(|t| {
                let mut next = self.instruction(t, program, buffered);
                next.extend(self.flush(t));
                next
            })
            .collect()
    }

    /// The memory takes the oldest store of a buffer.
    fn flush(&self, t: usize) -> Option<Self> {
        let mut next = self.clone();
        let (loc, value) = *next.threads[t].buffer.first()?;
        next.threads[t].buffer.remove(0);
        next.memory[loc] = value;
        Some(next)
    }

    /// What the thread sees: its own newest store, or the memory.
    fn load(&self, t: usize, loc: usize) -> Value {
        let mine = self.threads[t].buffer.iter().rev();
        let newest = mine.into_iter().find(|(l, _)| *l == loc);
        newest.map_or(self.memory[loc], |(_, v)| *v)
    }

    fn instruction(&self, t: usize, program: &Program, buffered: bool) -> Vec<Self> {
        let cpu = &self.threads[t];
        let Some(instr) = program.threads[t].code.get(cpu.pc) else {
            return Vec::new();
        };
        let value = |e: &Expr| e.eval(&cpu.registers).expect("no traps") as Value;
        let location = |place: &Place| place.resolve(&cpu.registers).expect("no arrays").index();
        let drained = cpu.buffer.is_empty();
        let mut next = self.clone();
        next.threads[t].pc += 1;
        match instr {
            Instr::Load { dst, place, .. } => {
                next.threads[t].registers[dst.index()] = self.load(t, location(place));
            }
            Instr::Wait { place, values, .. } => {
                let seen = self.load(t, location(place));
                if !values.iter().any(|v| value(v) == seen) {
                    return Vec::new();
                }
            }
            Instr::Store {
                place,
                value: v,
                ord,
            } => {
                let (loc, v) = (location(place), value(v));
                if buffered && !ord.is_sc() {
                    next.threads[t].buffer.push((loc, v));
                } else if drained {
                    next.memory[loc] = v;
                } else {
                    return Vec::new();
                }
            }
            Instr::Fence(ord) if ord.is_sc() && !drained => return Vec::new(),
            Instr::Fence(_) => {}
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                let Pc(to) = if value(cond) != 0 { *then } else { *otherwise };
                next.threads[t].pc = to as usize;
            }
            locked if drained => return next.locked(t, locked, &value, &location),
            _ => return Vec::new(),
        }
        vec![next]
    }

    /// Instructions that read and write the memory in one step, with an empty buffer.
    fn locked(
        mut self,
        t: usize,
        instr: &Instr,
        value: &dyn Fn(&Expr) -> Value,
        location: &dyn Fn(&Place) -> usize,
    ) -> Vec<Self> {
        let loc = location(instr.place().expect("an access"));
        let seen = self.memory[loc];
        match instr {
            Instr::Rmw {
                dst, op, operand, ..
            } => {
                self.memory[loc] = op.apply(seen, value(operand).into()) as Value;
                dst.iter()
                    .for_each(|r| self.threads[t].registers[r.index()] = seen);
                vec![self]
            }
            Instr::Bcas { expected, new, .. } => {
                self.memory[loc] = value(new);
                if value(expected) == seen {
                    vec![self]
                } else {
                    Vec::new()
                }
            }
            Instr::Cas {
                dst,
                expected,
                new,
                strength,
                ..
            } => {
                dst.iter()
                    .for_each(|r| self.threads[t].registers[r.index()] = seen);
                let failed = self.clone();
                self.memory[loc] = value(new);
                match (value(expected) == seen, strength) {
                    (false, _) => vec![failed],
                    (true, CasStrength::Strong) => vec![self],
                    (true, CasStrength::Weak) => vec![self, failed],
                }
            }
            other => panic!("not in the random programs: {other:?}"),
        }
    }

    fn has_ended(&self, program: &Program) -> bool {
        let mut threads = self.threads.iter().zip(&program.threads);
        threads.all(|(cpu, code)| cpu.pc >= code.code.len() && cpu.buffer.is_empty())
    }
}

fn final_states(
    program: &Program,
    buffered: bool,
    observables: &[Observable],
) -> BTreeSet<FinalState> {
    let mut seen = HashSet::from([Machine::new(program)]);
    let mut todo: Vec<Machine> = seen.iter().cloned().collect();
    let mut states = BTreeSet::new();
    while let Some(machine) = todo.pop() {
        if machine.has_ended(program) {
            let value = |o: &Observable| match o {
                Observable::Reg(t, r) => machine.threads[t.index()].registers[r.index()],
                Observable::Loc(l) => machine.memory[l.index()],
            };
            states.insert(FinalState(observables.iter().map(value).collect()));
        }
        for next in machine.steps(program, buffered) {
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    states
}

/// Compares on random programs; the number of those that TSO makes different.
fn compare(seed: u64, programs: usize, profile: &Profile) -> u32 {
    let mut rng = Rng::new(seed);
    let mut weak = 0;
    for _ in 0..programs {
        let p = program(&text(&mut rng, profile));
        let axiomatic = |model| outcomes(&p, model, &Limits::default()).expect("small");
        let (sc, tso) = (axiomatic(Model::Sc), axiomatic(Model::Tso));
        let keys = |o: &rsan_axioms::Outcomes| o.states.keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(
            keys(&sc),
            final_states(&p, false, &sc.observables),
            "sc: {}",
            p.name
        );
        assert_eq!(
            keys(&tso),
            final_states(&p, true, &sc.observables),
            "tso: {}",
            p.name
        );
        weak += u32::from(keys(&sc) != keys(&tso));
    }
    weak
}

/// Mostly stores and loads, so that buffers matter.
const BUFFERS: Profile = Profile {
    ops: &[
        "ld.rlx",
        "ld.rlx",
        "ld.rlx",
        "ld.acq",
        "ld.sc",
        "st.rlx",
        "st.rlx",
        "st.rlx",
        "st.rel",
        "st.sc",
        "scas.rlx.rlx",
        "fadd.rlx",
        "fence.sc",
        "fence.acqrel",
    ],
    locations: &["x", "y"],
    threads: 3,
    instructions: 8,
};

#[test]
fn axioms_and_machines_agree_on_store_buffering() {
    let weak = compare(21, 3_000, &BUFFERS);
    assert!(weak > 40, "only {weak} programs show store buffering");
}

#[test]
fn axioms_and_machines_agree_on_all_operations() {
    compare(22, 500, &MIX);
    compare(23, 500, &SC_MIX);
}
