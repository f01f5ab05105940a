//! Reports of hand-built programs and witnesses: no engine is needed to see how an answer looks.

mod fingerprint;
mod harm;
mod junit;
mod libraries;
mod litmus;
mod machines;
mod mended;
mod reread;
mod samples;
mod sarif;
mod verify;

use crate::{Checked, Claim, Command, Effort};
use rsan_model::{
    Domain, Event, EventId, Expr, Graph, Instr, Label, LocId, LocKind, Location, Pc, Place,
    Program, ReadOrd, RegId, Register, Source, Span, Start, Step, Thread, ThreadId, Value, Verdict,
    Witness, WriteOrd,
};
use std::time::Duration;

const SB: &str = "\
C SB
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int r0 = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r0=0 /\\ 1:r0=0)
";

/// The span of the `n`-th occurrence of `text` in [`SB`].
fn span(text: &str, n: usize) -> Span {
    let start = SB.match_indices(text).nth(n).expect("text occurs").0;
    Span::new(start, start + text.len())
}

fn location(name: &str, kind: LocKind) -> Location {
    Location {
        name: name.into(),
        kind,
        init: 0,
    }
}

fn store(loc: LocId) -> Instr {
    Instr::Store {
        place: Place::Loc(loc),
        value: Expr::Const(1),
        ord: WriteOrd::Release,
    }
}

fn load(loc: LocId) -> Instr {
    Instr::Load {
        dst: RegId(0),
        place: Place::Loc(loc),
        ord: ReadOrd::Acquire,
    }
}

const X: LocId = LocId(0);
const Y: LocId = LocId(1);

/// Store buffering with the text of [`SB`].
fn store_buffering() -> Program {
    let mut program = Program::new("SB", Domain::Int32);
    program.source = Some(Source::new("sb.litmus", SB));
    program.locations = vec![
        location("x", LocKind::Atomic),
        location("y", LocKind::Atomic),
    ];
    let thread = |name: &str, own, other, spans| Thread {
        name: name.into(),
        start: Start::Initial,
        registers: vec![Register {
            name: "r0".into(),
            init: 0,
        }],
        code: vec![store(own), load(other)],
        spans,
    };
    program.threads = vec![
        thread(
            "P0",
            X,
            Y,
            vec![
                span("atomic_store_explicit(x, 1, memory_order_release)", 0),
                span("atomic_load_explicit(y, memory_order_acquire)", 0),
            ],
        ),
        thread(
            "P1",
            Y,
            X,
            vec![
                span("atomic_store_explicit(y, 1, memory_order_release)", 0),
                span("atomic_load_explicit(x, memory_order_acquire)", 0),
            ],
        ),
    ];
    program
}

fn push(graph: &mut Graph, thread: u32, pc: u32, label: Label) -> EventId {
    graph.push(Event {
        thread: Some(ThreadId(thread)),
        pc: Pc(pc),
        label,
    })
}

fn write(graph: &mut Graph, thread: u32, pc: u32, loc: LocId, value: Value) -> EventId {
    let ord = WriteOrd::Release;
    let e = push(graph, thread, pc, Label::Write { loc, value, ord });
    let position = graph.modification_order(loc).len();
    graph.insert_mo(e, loc, position);
    e
}

fn read(graph: &mut Graph, thread: u32, pc: u32, from: EventId) -> EventId {
    let label = graph.label(from);
    let (Some(loc), Some(value)) = (label.loc(), label.value_written()) else {
        panic!("reads see writes");
    };
    let ord = ReadOrd::Acquire;
    let e = push(graph, thread, pc, Label::Read { loc, value, ord });
    graph.set_rf(e, from);
    e
}

/// The steps of every event that belongs to a thread, in order.
fn steps(graph: &Graph, until: EventId) -> Vec<Step> {
    graph
        .ids()
        .filter(|&e| e < until)
        .filter_map(|event| {
            let e = graph.event(event);
            Some(Step {
                thread: e.thread?,
                pc: e.pc,
                event,
            })
        })
        .collect()
}

fn checked<'a>(program: &'a Program, claim: Claim, verdict: &'a Verdict) -> Checked<'a> {
    Checked {
        command: Command::Verify,
        subject: "sb.litmus",
        program,
        model: rsan_model::Model::C20,
        claim,
        verdict,
        effort: Effort {
            states: 1_234,
            transitions: 2_345,
            depth: 31,
            memory: 4096,
            elapsed: Duration::from_millis(12),
        },
    }
}

fn violation(witness: Witness) -> Verdict {
    Verdict::Violation(Box::new(witness))
}
