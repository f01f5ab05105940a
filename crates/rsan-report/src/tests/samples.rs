//! Documents as commands write them, made by hand.

use crate::Judgement;
use crate::document::{
    Access, Change, Command, CycleEdge, Document, Edge, Event, Excerpt, Execution, Finding, Fix,
    Frame, Kind, Place, Recorded, Related, Role, Severity, Stale, Step, StepKind, Thread,
};
use rsan_model::Model;

pub(super) fn place(file: &str, line: u32, column: u32) -> Place {
    Place {
        file: file.to_owned(),
        line: Some(line),
        column: Some(column),
        end_line: None,
        end_column: None,
    }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some(file.to_owned()),
        line: Some(line),
        column: Some(5),
        module: Some("queue".to_owned()),
        offset: Some("0x1234".to_owned()),
        library: None,
    }
}

fn access(role: Role, thread: u32, operation: &str, stack: Vec<Frame>) -> Access {
    Access {
        role,
        thread: Some(Thread::of_run(thread)),
        name: None,
        operation: operation.to_owned(),
        order: None,
        value: Some("1".to_owned()),
        stack,
        created: None,
        waits_for: None,
        held_by: None,
        lock: None,
        held: None,
        slept: None,
    }
}

/// The source of [`race`], with `above` lines inserted before it.
fn source(above: u32) -> Excerpt {
    let lines = ["void put(int v) {", "    buffer[tail] = v;", "}"];
    let get = ["int get() {", "    return   buffer[head];", "}"];
    Excerpt {
        file: "src/queue.c".to_owned(),
        first: 10 + above,
        lines: lines.into_iter().chain(get).map(str::to_owned).collect(),
    }
}

/// A race between two threads, as `check` shows it; `above` lines were inserted before its source.
pub(super) fn race(above: u32) -> Document {
    let write = frame("put", "src/queue.c", 11 + above);
    let read = frame("get", "src/queue.c", 14 + above);
    let library = Frame {
        library: Some("libstdc++".to_owned()),
        ..frame(
            "std::thread::_Invoker<int>::operator[](int)",
            "/usr/include/c++/14/bits/std_thread.h",
            292,
        )
    };
    let main = frame("main", "src/main program.c", 40);
    let mut finding = Finding::new(
        Kind::DataRace,
        Severity::Error,
        "data race on `buffer[0]`".to_owned(),
    );
    finding.thread = Some(Thread::Number(2));
    finding.location = read.place();
    finding.related = vec![Related {
        message: "the write of thread 1".to_owned(),
        location: place("src/queue.c", 11 + above, 5),
    }];
    finding.because = vec!["nothing orders them".to_owned()];
    finding.fix = Some(Fix {
        message: "make the store of `tail` release".to_owned(),
        checked: None,
        changes: Vec::new(),
    });
    finding.runs = Some(3);
    finding.accesses = vec![
        access(Role::Access, 2, "read", vec![read, library.clone()]),
        access(Role::Earlier, 1, "write", vec![write, library, main]),
    ];
    finding.recorded = Some(Recorded {
        seed: Some(1),
        file: "rsan-1.schedule".to_owned(),
        command: "rsan check --replay rsan-1.schedule src/queue.c".to_owned(),
    });
    let mut document = Document::new(
        Command::Check,
        "src/queue.c",
        Judgement::Violation,
        Model::C20,
    );
    document.findings.push(finding);
    document.stats.runs = Some(10);
    document.stats.seconds = 1.5;
    document.sources.push(source(above));
    document
}

fn event(thread: u32, line: u32, operation: &str) -> Event {
    Event {
        thread: Some(Thread::Name(format!("P{thread}"))),
        line: Some(line),
        column: Some(3),
        operation: operation.to_owned(),
        location: Some("x".to_owned()),
        read: None,
        written: None,
        order: None,
        stack: Vec::new(),
    }
}

/// Store buffering, as `verify` shows it.
pub(super) fn weak() -> Document {
    let events = vec![
        event(0, 4, "store x = 1 (release)"),
        event(0, 5, "load y = 0 (acquire)"),
        event(1, 8, "store y = 1 (release)"),
        event(1, 9, "load x = 0 (acquire)"),
    ];
    let step = |event: u32| Step {
        thread: events[event as usize].thread.clone().expect("a thread"),
        kind: StepKind::Access,
        event: Some(event),
        operation: events[event as usize].operation.clone(),
        line: events[event as usize].line,
        column: Some(3),
    };
    let edge = |event, edge| CycleEdge { event, edge };
    let execution = Execution {
        schedule: vec![step(0), step(1), step(2), step(3)],
        cycle: vec![
            edge(2, Edge::Po),
            edge(3, Edge::Fr),
            edge(0, Edge::Po),
            edge(1, Edge::Fr),
        ],
        stale: Some(Stale {
            access: 3,
            missed: 0,
            write: None,
            value: Some(0),
        }),
        events,
        ..Execution::default()
    };
    let mut finding = Finding::new(
        Kind::WeakBehaviour,
        Severity::Warning,
        "Thread P1 may read 0 from `x`".to_owned(),
    );
    finding.thread = Some(Thread::Name("P1".to_owned()));
    finding.location = Some(Place {
        end_line: Some(9),
        end_column: Some(57),
        ..place("sb.litmus", 9, 12)
    });
    finding.execution = Some(execution);
    finding.fix = Some(Fix {
        message: "make the load seq_cst".to_owned(),
        checked: None,
        changes: vec![Change::Order {
            event: 3,
            from: "acquire".to_owned(),
            to: "seq_cst".to_owned(),
            location: Some(place("sb.litmus", 9, 12)),
        }],
    });
    let mut document = Document::new(
        Command::Verify,
        "sb.litmus",
        Judgement::Violation,
        Model::C20,
    );
    document.findings.push(finding);
    document.sources.push(Excerpt {
        file: "sb.litmus".to_owned(),
        first: 1,
        lines: super::SB.lines().map(str::to_owned).collect(),
    });
    document
}

/// A search that reached a limit.
pub(super) fn undecided() -> Document {
    let mut document = Document::new(
        Command::Verify,
        "big.litmus",
        Judgement::Unknown,
        Model::C20,
    );
    document.notes = vec!["the limit of 100 states was reached".to_owned()];
    document
}

/// A proof.
pub(super) fn robust() -> Document {
    Document::new(Command::Verify, "mp.litmus", Judgement::Robust, Model::C20)
}
