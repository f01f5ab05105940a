//! A sequentially consistent interpreter that explores every interleaving: what the readers' output means.

use rsan_lang::{Format, parse};
use rsan_model::{
    CasStrength, Expr, Instr, LocId, Pc, Program, RegId, RmwOp, Source, Start, ThreadId, Value,
};
use std::collections::{BTreeSet, HashSet};

/// How a run ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum End {
    /// Every thread ended or is blocked; the final values, as `name=value`, registers as `0:name=value`.
    Final(Vec<String>),
    /// An assertion failed.
    AssertionFailed,
    /// An expression had no value.
    Trap,
}

/// Reads a text that must be accepted.
pub(crate) fn read(text: &str, format: Format) -> Program {
    let source = Source::new("test", text);
    parse(&source, format).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<Value>,
    threads: Vec<ThreadState>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ThreadState {
    pc: Pc,
    registers: Vec<Value>,
    running: bool,
    /// Whether it ran to its end.
    ended: bool,
}

/// Every way in which a program can end.
pub(crate) fn ends(program: &Program) -> BTreeSet<End> {
    let initial = State {
        memory: program.locations.iter().map(|l| l.init).collect(),
        threads: program
            .threads
            .iter()
            .map(|t| ThreadState {
                pc: Pc(0),
                registers: t.initial_registers(),
                running: t.start == Start::Initial,
                ended: false,
            })
            .collect(),
    };
    let mut seen = HashSet::from([initial.clone()]);
    let mut todo = vec![initial];
    let mut ends = BTreeSet::new();
    while let Some(state) = todo.pop() {
        assert!(seen.len() < 200_000, "the test program is too large");
        let mut moved = false;
        for t in 0..program.threads.len() {
            match step(program, &state, ThreadId::new(t)) {
                Ok(next) => {
                    moved |= !next.is_empty();
                    todo.extend(next.into_iter().filter(|s| seen.insert(s.clone())));
                }
                Err(end) => {
                    moved = true;
                    ends.insert(end);
                }
            }
        }
        if !moved {
            ends.insert(End::Final(describe(program, &state)));
        }
    }
    ends
}

/// The final values when there is only one way to end, temporaries left out.
pub(crate) fn only_end(program: &Program) -> Vec<String> {
    let ends = ends(program);
    assert_eq!(ends.len(), 1, "{ends:?}");
    match ends.into_iter().next() {
        Some(End::Final(values)) => values,
        other => panic!("{other:?}"),
    }
}

fn describe(program: &Program, state: &State) -> Vec<String> {
    let memory = program
        .locations
        .iter()
        .zip(&state.memory)
        .map(|(location, value)| format!("{}={value}", location.name));
    let registers = program
        .threads
        .iter()
        .zip(&state.threads)
        .enumerate()
        .flat_map(|(t, (thread, state))| {
            thread
                .registers
                .iter()
                .zip(&state.registers)
                .filter(|(register, _)| !register.name.contains('%'))
                .map(move |(register, value)| format!("{t}:{}={value}", register.name))
        });
    memory.chain(registers).collect()
}

/// The states after one step of a thread; none when it is blocked or has ended.
fn step(program: &Program, state: &State, t: ThreadId) -> Result<Vec<State>, End> {
    let me = &state.threads[t.index()];
    if !me.running {
        return Ok(vec![]);
    }
    let eval = |e: &Expr| e.eval(&me.registers).map_err(|_| End::Trap);
    let wrap = |n: i64| program.domain.wrap(n);
    let instr = program.threads[t.index()].instr(me.pc);
    let loc = match instr.place() {
        Some(place) => Some(place.resolve(&me.registers).map_err(|_| End::Trap)?),
        None => None,
    };
    let held = loc.map_or(0, |l| state.memory[l.index()]);
    let mut next = state.clone();
    next.threads[t.index()].pc = Pc(me.pc.0 + 1);
    let set = |s: &mut State, r: Option<RegId>, v: Value| {
        if let Some(r) = r {
            s.threads[t.index()].registers[r.index()] = v;
        }
    };
    let put = |s: &mut State, l: Option<LocId>, v: i64| {
        s.memory[l.expect("an access").index()] = wrap(v);
    };
    match instr {
        Instr::Load { dst, .. } | Instr::PlainLoad { dst, .. } => set(&mut next, Some(*dst), held),
        Instr::Store { value, .. } | Instr::PlainStore { value, .. } => {
            put(&mut next, loc, eval(value)?);
        }
        Instr::Rmw {
            dst, op, operand, ..
        } => {
            let operand = eval(operand)?;
            put(&mut next, loc, RmwOp::apply(*op, held, operand));
            set(&mut next, *dst, held);
        }
        Instr::Cas {
            dst,
            success,
            expected,
            new,
            strength,
            ..
        } => {
            let (hit, new) = (held == wrap(eval(expected)?), eval(new)?);
            let mut failed = next.clone();
            set(&mut failed, *dst, held);
            set(&mut failed, *success, 0);
            set(&mut next, *dst, held);
            set(&mut next, *success, 1);
            if hit {
                put(&mut next, loc, new);
            }
            return Ok(match (hit, strength) {
                (true, CasStrength::Strong) => vec![next],
                (true, CasStrength::Weak) => vec![next, failed],
                (false, _) => vec![failed],
            });
        }
        Instr::Wait { dst, values, .. } => {
            let mut holds = false;
            for value in values {
                holds |= held == wrap(eval(value)?);
            }
            if !holds {
                return Ok(vec![]);
            }
            set(&mut next, *dst, held);
        }
        Instr::Bcas { expected, new, .. } => {
            if held != wrap(eval(expected)?) {
                return Ok(vec![]);
            }
            put(&mut next, loc, eval(new)?);
        }
        Instr::Assign { dst, value } => set(&mut next, Some(*dst), wrap(eval(value)?)),
        Instr::Branch {
            cond,
            then,
            otherwise,
        } => {
            let to = if eval(cond)? != 0 { then } else { otherwise };
            next.threads[t.index()].pc = *to;
        }
        Instr::Jump(to) => next.threads[t.index()].pc = *to,
        Instr::Choose(to) => {
            return Ok(to
                .iter()
                .map(|pc| {
                    let mut chosen = next.clone();
                    chosen.threads[t.index()].pc = *pc;
                    chosen
                })
                .collect());
        }
        Instr::Assert(e) if eval(e)? == 0 => return Err(End::AssertionFailed),
        Instr::Assume(e) if eval(e)? == 0 => next.threads[t.index()].running = false,
        Instr::Assert(_) | Instr::Assume(_) | Instr::Observe(_) | Instr::Fence(_) => {}
        Instr::Spawn(child) => next.threads[child.index()].running = true,
        Instr::Join(child) => {
            if !state.threads[child.index()].ended {
                return Ok(vec![]);
            }
        }
        Instr::Halt => {
            next.threads[t.index()].running = false;
            next.threads[t.index()].ended = true;
        }
    }
    Ok(vec![next])
}
