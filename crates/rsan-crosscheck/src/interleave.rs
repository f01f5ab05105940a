//! All sequentially consistent runs of a loop-free program, with a monitor beside each.

use rsan_clocks::{Access, AccessKind, Effect, Monitor, RaceMonitor};
use rsan_model::{
    CasStrength, Expr, Instr, LocId, LocKind, Pc, Program, RegId, Start, ThreadId, Value,
};
use std::collections::HashSet;

/// A monitor that can be copied at every branching of the runs.
pub trait Monitored: Monitor + RaceMonitor + Clone {}
impl<M: Monitor + RaceMonitor + Clone> Monitored for M {}

/// What some run showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// An access can be weak.
    pub weak: bool,
    /// A data race.
    pub race: bool,
    /// An assertion failed.
    pub assertion: bool,
}

impl Seen {
    /// Whether anything is wrong.
    pub fn any(self) -> bool {
        self.weak || self.race || self.assertion
    }
}

#[derive(Clone)]
struct Run<M> {
    pcs: Vec<usize>,
    started: Vec<bool>,
    stuck: Vec<bool>,
    regs: Vec<Vec<Value>>,
    memory: Vec<Value>,
    monitor: M,
    /// The execution graph: what each thread read from, and the writes and fences in order.
    trace: Vec<Vec<u16>>,
    order: Vec<Vec<u16>>,
}

struct Explorer<'p> {
    program: &'p Program,
    seen: Seen,
    graphs: HashSet<Vec<u16>>,
}

/// Runs the program in every sequentially consistent way. Runs with the same execution graph are followed once.
pub fn interleave<M: Monitored>(program: &Program, monitor: M) -> Seen {
    let threads = program.threads.len();
    let run = Run {
        pcs: vec![0; threads],
        started: program
            .threads
            .iter()
            .map(|t| t.start == Start::Initial)
            .collect(),
        stuck: vec![false; threads],
        regs: program
            .threads
            .iter()
            .map(|t| t.initial_registers())
            .collect(),
        memory: program.locations.iter().map(|l| l.init).collect(),
        monitor,
        trace: vec![Vec::new(); threads],
        order: vec![Vec::new(); program.locations.len() + 1],
    };
    let mut explorer = Explorer {
        program,
        seen: Seen::default(),
        graphs: HashSet::new(),
    };
    explorer.explore(run);
    explorer.seen
}

impl Explorer<'_> {
    fn explore<M: Monitored>(&mut self, run: Run<M>) {
        let mut key = Vec::new();
        for part in run.trace.iter().chain(&run.order) {
            key.extend_from_slice(part);
            key.push(u16::MAX);
        }
        key.extend(run.pcs.iter().map(|&pc| pc as u16));
        if !self.graphs.insert(key) {
            return;
        }
        for t in 0..run.pcs.len() {
            if run.started[t] && !run.stuck[t] {
                self.step(&run, ThreadId::new(t));
            }
        }
    }

    fn step<M: Monitored>(&mut self, run: &Run<M>, t: ThreadId) {
        let code = &self.program.threads[t.index()];
        let pc = run.pcs[t.index()];
        if pc >= code.code.len() {
            return;
        }
        let instr = code.instr(Pc::new(pc));
        let eval = |e: &Expr| {
            let value = e.eval(&run.regs[t.index()]);
            self.program
                .domain
                .wrap(value.expect("random programs do not trap"))
        };
        let mut next = run.clone();
        next.pcs[t.index()] = pc + 1;
        match instr {
            Instr::Fence(ord) => {
                next.monitor.fence(t, *ord);
                next.trace[t.index()].push(u16::MAX - 1);
                if ord.is_sc() {
                    next.order[self.program.locations.len()].push(t.0 as u16);
                }
            }
            Instr::Branch {
                cond,
                then,
                otherwise,
            } => {
                next.pcs[t.index()] = if eval(cond) != 0 {
                    then.index()
                } else {
                    otherwise.index()
                }
            }
            Instr::Assert(e) => {
                if eval(e) == 0 {
                    self.seen.assertion = true;
                    return;
                }
            }
            Instr::Spawn(child) => {
                next.started[child.index()] = true;
                next.monitor.spawn(t, *child);
            }
            Instr::Join(child) => {
                if run.pcs[child.index()] < self.program.threads[child.index()].code.len() {
                    return;
                }
                next.monitor.exit(*child);
                next.monitor.join(t, *child);
            }
            Instr::PlainLoad { .. } | Instr::PlainStore { .. } => {
                if !self.plain(&mut next, t, instr) {
                    return;
                }
            }
            _ => return self.access(run, t, instr),
        }
        self.explore(next);
    }

    /// A plain access; false when it races, which ends the run.
    fn plain<M: Monitored>(&mut self, run: &mut Run<M>, t: ThreadId, instr: &Instr) -> bool {
        let loc = location(instr, &run.regs[t.index()]);
        let kind = match instr {
            Instr::PlainLoad { dst, .. } => {
                let value = run.memory[loc.index()];
                run.regs[t.index()][dst.index()] = value;
                run.trace[t.index()].push(run.order[loc.index()].len() as u16);
                AccessKind::PlainRead
            }
            Instr::PlainStore { value, .. } => {
                let value = value
                    .eval(&run.regs[t.index()])
                    .expect("random programs do not trap");
                let value = self.program.domain.wrap(value);
                if self.program.locations[loc.index()].kind == LocKind::Atomic {
                    run.monitor.plain_write(t, loc, value);
                }
                run.memory[loc.index()] = value;
                run.trace[t.index()].push(u16::MAX - 2);
                run.order[loc.index()].push(t.0 as u16);
                AccessKind::PlainWrite
            }
            _ => unreachable!("a plain access"),
        };
        if run.monitor.race(t, loc, kind).is_some() {
            self.seen.race = true;
            return false;
        }
        true
    }

    fn access<M: Monitored>(&mut self, run: &Run<M>, t: ThreadId, instr: &Instr) {
        let regs = &run.regs[t.index()];
        let loc = location(instr, regs);
        let old = run.memory[loc.index()];
        let eval = |e: &Expr| {
            let value = e.eval(regs).expect("random programs do not trap");
            self.program.domain.wrap(value)
        };
        let values: Vec<Value>;
        let read = |ord| Some(Effect::Read(ord));
        // What it is about to do, what it then does, and what else a weak compare-and-swap can do.
        let (access, effect, other) = match instr {
            Instr::Load { ord, .. } => (Access::Load(*ord), read(*ord), None),
            Instr::Store { value, ord, .. } => {
                let value = eval(value);
                (
                    Access::Store(*ord),
                    Some(Effect::Write { value, ord: *ord }),
                    None,
                )
            }
            Instr::Rmw {
                op, operand, ord, ..
            } => {
                let value = op.apply(old, i64::from(eval(operand)));
                let value = self.program.domain.wrap(value);
                (
                    Access::Rmw(*ord),
                    Some(Effect::Rmw { value, ord: *ord }),
                    None,
                )
            }
            Instr::Cas {
                expected,
                new,
                ord,
                fail,
                strength,
                ..
            } => {
                let access = Access::Cas {
                    expected: eval(expected),
                    ord: *ord,
                    fail: *fail,
                    strength: *strength,
                };
                let value = eval(new);
                let success = Effect::Rmw { value, ord: *ord };
                match (old == eval(expected), strength) {
                    (false, _) => (access, read(*fail), None),
                    (true, CasStrength::Strong) => (access, Some(success), None),
                    (true, CasStrength::Weak) => (access, Some(success), read(*fail)),
                }
            }
            Instr::Wait {
                values: vs, ord, ..
            } => {
                values = vs.iter().map(eval).collect();
                let passes = values.contains(&old);
                let access = Access::Wait {
                    values: &values,
                    ord: *ord,
                };
                (access, read(*ord).filter(|_| passes), None)
            }
            Instr::Bcas {
                expected, new, ord, ..
            } => {
                let access = Access::Bcas {
                    expected: eval(expected),
                    ord: *ord,
                };
                let value = eval(new);
                let effect = Effect::Rmw { value, ord: *ord };
                (access, Some(effect).filter(|_| old == eval(expected)), None)
            }
            _ => unreachable!("an atomic access"),
        };
        if run.monitor.check(t, loc, &access).is_some() {
            self.seen.weak = true;
        }
        for effect in effect.into_iter().chain(other) {
            self.apply(run.clone(), t, loc, instr, effect, old);
        }
    }

    fn apply<M: Monitored>(
        &mut self,
        mut run: Run<M>,
        t: ThreadId,
        loc: LocId,
        instr: &Instr,
        effect: Effect,
        old: Value,
    ) {
        run.pcs[t.index()] += 1;
        run.monitor.apply(t, loc, effect);
        let read_from = run.order[loc.index()].len() as u16;
        run.trace[t.index()].push(if effect.reads() {
            read_from
        } else {
            u16::MAX - 2
        });
        run.trace[t.index()].push(u16::from(effect.is_rmw()));
        if let Some(value) = effect.value_written() {
            run.memory[loc.index()] = value;
            run.order[loc.index()].push(t.0 as u16);
        }
        if run.monitor.race(t, loc, effect.access_kind()).is_some() {
            self.seen.race = true;
            return;
        }
        let mut set = |r: &Option<RegId>, value: Value| {
            if let Some(r) = r {
                run.regs[t.index()][r.index()] = value;
            }
        };
        match instr {
            Instr::Load { dst, .. } => set(&Some(*dst), old),
            Instr::Rmw { dst, .. } | Instr::Wait { dst, .. } => set(dst, old),
            Instr::Cas { dst, success, .. } => {
                set(dst, old);
                set(success, Value::from(effect.is_rmw()));
            }
            _ => {}
        }
        self.explore(run);
    }
}

fn location(instr: &Instr, regs: &[Value]) -> LocId {
    let place = instr.place().expect("an access has a place");
    place.resolve(regs).expect("random programs do not trap")
}
