//! All sequentially consistent runs of a loop-free program, with a panel of monitors beside each.

mod attempt;

use crate::Panel;
use crate::panel::PerMonitor;
pub(crate) use attempt::Attempt;
use rsan_clocks::location_clocks::Reach;
use rsan_clocks::write_log::LogModel;
use rsan_clocks::{AccessKind, Effect, Observer};
use rsan_model::{Expr, Instr, LocId, LocKind, Pc, Program, Start, ThreadId, Value};
use std::collections::HashSet;

/// What a monitor found in some run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// An access can be weak.
    pub weak: bool,
    /// A data race. The run ends there.
    pub race: bool,
    /// An assertion failed. The thread ends there, the others go on.
    pub assertion: bool,
}

impl Seen {
    /// Whether anything is wrong.
    pub fn any(self) -> bool {
        self.weak || self.race || self.assertion
    }
}

/// What all runs together showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Runs {
    /// By monitor, in the order of [`crate::MONITORS`].
    pub seen: PerMonitor<Seen>,
    /// The monitors did not give the same answer, in every detail, at some step.
    pub differ: bool,
    /// Some run ended with a thread that waits for ever.
    pub deadlock: bool,
}

/// A run up to some step, without the monitors.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// Where each thread is; `None` when it does not run: not spawned yet, ended, or stopped.
    pcs: Vec<Option<Pc>>,
    ended: Vec<bool>,
    regs: Vec<Vec<Value>>,
    memory: Vec<Value>,
    /// The execution graph: what the events of each thread are and read from, and in which order the writes of each
    /// location, and the SC fences, came.
    trace: Vec<Vec<u16>>,
    order: Vec<Vec<u16>>,
}

/// A run up to some step.
struct Run<L, W> {
    state: State,
    panel: Panel<L, W>,
}

struct Explorer<'p> {
    program: &'p Program,
    runs: Runs,
    explored: HashSet<State>,
}

/// Marks in [`State::trace`]; reads are marked by the number of writes before them.
const WRITE: u16 = u16::MAX;
const FENCE: u16 = u16::MAX - 1;
const SPAWN_OR_JOIN: u16 = u16::MAX - 2;

/// Whether a thread moved.
enum Moved {
    /// It did, or the run ended with a race.
    Yes,
    /// It waits.
    Blocked,
    /// It does not run.
    No,
}

/// Runs the program, which has no loops and does not trap, in every sequentially consistent way. Runs with the same
/// execution graph are followed once: the monitors know no more than that.
pub fn interleave<L, W>(program: &Program, mut panel: Panel<L, W>) -> Runs
where
    L: Reach + Clone,
    W: LogModel + Clone,
{
    let threads = &program.threads;
    let mut state = State {
        pcs: threads
            .iter()
            .map(|t| (t.start == Start::Initial).then_some(Pc(0)))
            .collect(),
        ended: vec![false; threads.len()],
        regs: threads.iter().map(|t| t.initial_registers()).collect(),
        memory: program.locations.iter().map(|l| l.init).collect(),
        trace: vec![Vec::new(); threads.len()],
        order: vec![Vec::new(); program.locations.len() + 1],
    };
    let mut explorer = Explorer {
        program,
        runs: Runs::default(),
        explored: HashSet::new(),
    };
    for t in (0..threads.len()).map(ThreadId::new) {
        explorer.local_steps(&mut state, t);
        if state.ended[t.index()] {
            panel.exit(t);
        }
    }
    explorer.explore(&Run { state, panel });
    explorer.runs
}

impl Explorer<'_> {
    fn explore<L: Reach + Clone, W: LogModel + Clone>(&mut self, run: &Run<L, W>) {
        let (mut moves, mut blocked) = (false, false);
        for t in 0..run.state.pcs.len() {
            match self.step(run, ThreadId::new(t)) {
                Moved::Yes => moves = true,
                Moved::Blocked => blocked = true,
                Moved::No => {}
            }
        }
        self.runs.deadlock |= blocked && !moves;
    }

    /// Makes the next step of a thread that others can notice, in all ways in which it can go.
    fn step<L: Reach + Clone, W: LogModel + Clone>(
        &mut self,
        run: &Run<L, W>,
        t: ThreadId,
    ) -> Moved {
        let Some(pc) = run.state.pcs[t.index()] else {
            return Moved::No;
        };
        let instr = self.program.threads[t.index()].instr(pc);
        if instr.is_atomic_access() {
            return self.access(run, t, instr);
        }
        let mut next = run.state.clone();
        next.pcs[t.index()] = Some(Pc(pc.0 + 1));
        match instr {
            Instr::Choose(targets) => {
                for to in targets {
                    let mut next = run.state.clone();
                    next.pcs[t.index()] = Some(*to);
                    self.follow(run, next, t, |_, _| true);
                }
            }
            Instr::Fence(ord) => {
                next.trace[t.index()].push(FENCE);
                if ord.is_sc() {
                    next.order[self.program.locations.len()].push(t.0 as u16);
                }
                self.follow(run, next, t, |_, panel| {
                    panel.fence(t, *ord);
                    true
                });
            }
            Instr::Spawn(child) => {
                next.trace[t.index()].push(SPAWN_OR_JOIN);
                next.pcs[child.index()] = Some(Pc(0));
                self.local_steps(&mut next, *child);
                self.follow(run, next, t, |_, panel| {
                    panel.spawn(t, *child);
                    true
                });
            }
            Instr::Join(child) => {
                if !run.state.ended[child.index()] {
                    return Moved::Blocked;
                }
                next.trace[t.index()].push(SPAWN_OR_JOIN);
                self.follow(run, next, t, |_, panel| {
                    panel.join(t, *child);
                    true
                });
            }
            Instr::PlainLoad { .. } | Instr::PlainStore { .. } => self.plain(run, next, t, instr),
            _ => unreachable!("local steps were made before"),
        }
        Moved::Yes
    }

    /// Goes on after a step of `t` that led from `run` to `next`, unless that was followed before. `tell` tells the
    /// monitors of the step, and says whether the run goes on.
    fn follow<L: Reach + Clone, W: LogModel + Clone>(
        &mut self,
        run: &Run<L, W>,
        mut next: State,
        t: ThreadId,
        tell: impl FnOnce(&mut Runs, &mut Panel<L, W>) -> bool,
    ) {
        self.local_steps(&mut next, t);
        if !self.explored.insert(next.clone()) {
            return;
        }
        let mut panel = run.panel.clone();
        if !tell(&mut self.runs, &mut panel) {
            return;
        }
        for t in (0..next.ended.len()).map(ThreadId::new) {
            if next.ended[t.index()] && !run.state.ended[t.index()] {
                panel.exit(t);
            }
        }
        self.explore(&Run { state: next, panel });
    }

    /// Runs `t` up to its next step that others can notice, or to its end.
    fn local_steps(&mut self, state: &mut State, t: ThreadId) {
        while let Some(pc) = state.pcs[t.index()] {
            let eval = |e: &Expr| self.eval(e, &state.regs[t.index()]);
            let next = Some(Pc(pc.0 + 1));
            state.pcs[t.index()] = match self.program.threads[t.index()].instr(pc) {
                Instr::Assign { dst, value } => {
                    let value = eval(value);
                    state.regs[t.index()][dst.index()] = value;
                    next
                }
                Instr::Branch {
                    cond,
                    then,
                    otherwise,
                } => Some(if eval(cond) != 0 { *then } else { *otherwise }),
                Instr::Jump(to) => Some(*to),
                Instr::Assert(e) => {
                    let holds = eval(e) != 0;
                    self.runs
                        .seen
                        .iter_mut()
                        .for_each(|s| s.assertion |= !holds);
                    next.filter(|_| holds)
                }
                Instr::Assume(e) => next.filter(|_| eval(e) != 0),
                Instr::Observe(_) => next,
                Instr::Halt => {
                    state.ended[t.index()] = true;
                    None
                }
                _ => return,
            };
        }
    }

    fn plain<L: Reach + Clone, W: LogModel + Clone>(
        &mut self,
        run: &Run<L, W>,
        mut next: State,
        t: ThreadId,
        instr: &Instr,
    ) {
        let loc = location(instr, &next.regs[t.index()]);
        let writes = match instr {
            Instr::PlainLoad { dst, .. } => {
                next.regs[t.index()][dst.index()] = next.memory[loc.index()];
                next.trace[t.index()].push(next.order[loc.index()].len() as u16);
                None
            }
            Instr::PlainStore { value, .. } => {
                let value = self.eval(value, &next.regs[t.index()]);
                next.memory[loc.index()] = value;
                next.trace[t.index()].push(WRITE);
                next.order[loc.index()].push(t.0 as u16);
                Some(value)
            }
            _ => unreachable!("a plain access"),
        };
        let atomic = self.program.locations[loc.index()].kind == LocKind::Atomic;
        self.follow(run, next, t, |runs, panel| {
            let kind = match writes {
                None => AccessKind::PlainRead,
                Some(value) => {
                    if atomic {
                        panel.plain_write(t, loc, value);
                    }
                    AccessKind::PlainWrite
                }
            };
            !races(runs, panel, t, loc, kind)
        });
    }

    fn access<L: Reach + Clone, W: LogModel + Clone>(
        &mut self,
        run: &Run<L, W>,
        t: ThreadId,
        instr: &Instr,
    ) -> Moved {
        let regs = &run.state.regs[t.index()];
        let loc = location(instr, regs);
        let old = run.state.memory[loc.index()];
        let attempt = Attempt::new(instr, old, |e| self.eval(e, regs), self.program.domain);
        let violations = run.panel.check(t, loc, &attempt.access());
        self.runs.differ |= violations.iter().any(|v| *v != violations[0]);
        for (seen, violation) in self.runs.seen.iter_mut().zip(violations) {
            seen.weak |= violation.is_some();
        }
        let mut moved = Moved::Blocked;
        for effect in attempt.effects() {
            let next = after(&run.state, t, loc, instr, effect);
            self.follow(run, next, t, |runs, panel| {
                panel.apply(t, loc, effect);
                !races(runs, panel, t, loc, effect.access_kind())
            });
            moved = Moved::Yes;
        }
        moved
    }

    fn eval(&self, e: &Expr, regs: &[Value]) -> Value {
        let value = e.eval(regs).expect("the program does not trap");
        self.program.domain.wrap(value)
    }
}

/// The state after an atomic access of `t`.
fn after(state: &State, t: ThreadId, loc: LocId, instr: &Instr, effect: Effect) -> State {
    let mut next = state.clone();
    let old = next.memory[loc.index()];
    let pc = next.pcs[t.index()].expect("it is running");
    next.pcs[t.index()] = Some(Pc(pc.0 + 1));
    let read_from = next.order[loc.index()].len() as u16;
    let trace = &mut next.trace[t.index()];
    trace.push(if effect.reads() { read_from } else { WRITE });
    trace.push(u16::from(effect.is_rmw()));
    if let Some(value) = effect.value_written() {
        next.memory[loc.index()] = value;
        next.order[loc.index()].push(t.0 as u16);
    }
    instr.for_each_written_reg(&mut |r| next.regs[t.index()][r.index()] = old);
    if let Instr::Cas {
        success: Some(r), ..
    } = instr
    {
        next.regs[t.index()][r.index()] = Value::from(effect.is_rmw());
    }
    next
}

/// Reports an access to the race detectors; true when it races.
fn races<L: Reach, W: LogModel>(
    runs: &mut Runs,
    panel: &mut Panel<L, W>,
    t: ThreadId,
    loc: LocId,
    kind: AccessKind,
) -> bool {
    let found = panel.race(t, loc, kind);
    runs.differ |= found.iter().any(|r| *r != found[0]);
    for (seen, race) in runs.seen.iter_mut().zip(found) {
        seen.race |= race.is_some();
    }
    found.iter().any(Option::is_some)
}

fn location(instr: &Instr, regs: &[Value]) -> LocId {
    let place = instr.place().expect("an access has a place");
    place.resolve(regs).expect("the program does not trap")
}
