//! Events and instructions in words, always by the names that the user gave.

use rsan_model::{
    EventId, Graph, Instr, Label, LocId, Pc, Program, RmwOp, Source, Span, ThreadId, Value,
};

/// A place in the source, as shown to people and written to machine formats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column, from 1, in characters.
    pub(crate) column: usize,
}

/// Names the parts of one program and of one of its executions.
#[derive(Clone, Copy)]
pub(crate) struct Describe<'a> {
    program: &'a Program,
    graph: &'a Graph,
}

impl<'a> Describe<'a> {
    pub(crate) fn new(program: &'a Program, graph: &'a Graph) -> Self {
        Self { program, graph }
    }

    /// The thread's name.
    pub(crate) fn thread(self, thread: ThreadId) -> &'a str {
        &self.program.threads[thread.index()].name
    }

    /// Who an event belongs to; `None` for initial writes.
    pub(crate) fn thread_of(self, e: EventId) -> Option<&'a str> {
        self.graph.event(e).thread.map(|t| self.thread(t))
    }

    /// The location's name.
    pub(crate) fn location(self, loc: LocId) -> &'a str {
        self.program.location_name(loc)
    }

    /// The name of the location that an event accesses; empty when it accesses none.
    pub(crate) fn location_of(self, e: EventId) -> &'a str {
        self.graph
            .label(e)
            .loc()
            .map_or("", |loc| self.location(loc))
    }

    /// The text the program was read from.
    pub(crate) fn source(self) -> Option<&'a Source> {
        self.program.source.as_ref()
    }

    /// Where an instruction stands; `None` when the program has no source.
    pub(crate) fn span(self, thread: ThreadId, pc: Pc) -> Option<Span> {
        span(self.program, thread, pc)
    }

    /// Where an event stands; `None` for events that no instruction makes.
    pub(crate) fn span_of(self, e: EventId) -> Option<Span> {
        let event = self.graph.event(e);
        match event.label {
            Label::Init { .. } | Label::Begin | Label::End => None,
            _ => self.span(event.thread?, event.pc),
        }
    }

    /// Line and column of a span's start.
    pub(crate) fn position(self, span: Span) -> Option<Position> {
        let (line, column) = self.source()?.line_column(span.start);
        Some(Position { line, column })
    }

    /// ` at FILE:LINE:COLUMN`, or nothing when there is no place to name.
    pub(crate) fn at(self, span: Option<Span>) -> String {
        at(self.program, span)
    }

    fn instr(self, e: EventId) -> Option<&'a Instr> {
        let event = self.graph.event(e);
        let thread = self.program.threads.get(event.thread?.index())?;
        Some(thread.instr(event.pc))
    }

    /// What kind of operation an event is: `store`, `load`, `fetch_add`, …
    pub(crate) fn verb(self, e: EventId) -> &'static str {
        match self.graph.label(e) {
            Label::Init { .. } => "initial value",
            Label::Read { .. } => match self.instr(e) {
                Some(Instr::Wait { .. }) => "wait",
                Some(Instr::Cas { .. }) => "failed cas",
                _ => "load",
            },
            Label::Write { .. } | Label::PlainWrite { .. } => "store",
            Label::PlainRead { .. } => "load",
            Label::Rmw { .. } => match self.instr(e) {
                Some(Instr::Rmw { op, .. }) => rmw_verb(*op),
                Some(Instr::Bcas { .. }) => "bcas",
                _ => "cas",
            },
            Label::Fence(_) => "fence",
            Label::Spawn(_) => "create",
            Label::Begin => "begin",
            Label::End => "end",
            Label::Join(_) => "join",
        }
    }

    /// The memory order's name; `None` for events that have none.
    pub(crate) fn order(self, e: EventId) -> Option<String> {
        match self.graph.label(e) {
            Label::Read { ord, .. } => Some(ord.to_string()),
            Label::Write { ord, .. } => Some(ord.to_string()),
            Label::Rmw { ord, .. } => Some(ord.to_string()),
            Label::Fence(ord) => Some(ord.to_string()),
            Label::PlainRead { .. } | Label::PlainWrite { .. } => Some("non-atomic".to_owned()),
            Label::Init { .. } | Label::Spawn(_) | Label::Begin | Label::End | Label::Join(_) => {
                None
            }
        }
    }

    /// The operation with its values and order: `store x = 1 (release)`.
    pub(crate) fn operation(self, e: EventId) -> String {
        let (verb, loc) = (self.verb(e), self.location_of(e));
        let what = match self.graph.label(e) {
            Label::Init { value, .. } => return format!("initial {loc} = {value}"),
            Label::Read { value, .. } | Label::PlainRead { value, .. } => {
                format!("{verb} {loc} -> {value}")
            }
            Label::Write { value, .. } | Label::PlainWrite { value, .. } => {
                format!("{verb} {loc} = {value}")
            }
            Label::Rmw { read, written, .. } => format!("{verb} {loc}: {read} -> {written}"),
            Label::Spawn(t) | Label::Join(t) => format!("{verb} {}", self.thread(t)),
            Label::Fence(_) | Label::Begin | Label::End => verb.to_owned(),
        };
        match self.order(e) {
            Some(order) => format!("{what} ({order})"),
            None => what,
        }
    }

    /// A write as the object of a sentence: `P0's store of 1 at sb.litmus:5:3`, `the initial value 0`.
    pub(crate) fn write(self, e: EventId) -> String {
        let value = self.graph.label(e).value_written().unwrap_or(0);
        match self.thread_of(e) {
            None => format!("the initial value {value}"),
            Some(thread) => format!(
                "{thread}'s {} of {value}{}",
                self.verb(e),
                self.at(self.span_of(e))
            ),
        }
    }

    /// The value an event writes, for sentences.
    pub(crate) fn written(self, e: EventId) -> Value {
        self.graph.label(e).value_written().unwrap_or(0)
    }

    /// What a thread that cannot move waits for.
    pub(crate) fn waits_for(self, thread: ThreadId, pc: Pc) -> String {
        let code = &self.program.threads[thread.index()];
        match code.instr(pc) {
            Instr::Wait { place, .. } => format!("waits for a value of {}", self.place(place)),
            Instr::Bcas { place, .. } => {
                format!("waits until its cas of {} can succeed", self.place(place))
            }
            Instr::Join(t) => format!("waits for the end of {}", self.thread(*t)),
            _ => "cannot move".to_owned(),
        }
    }

    fn place(self, place: &rsan_model::Place) -> String {
        let mut candidates = place.candidates();
        match (candidates.next(), candidates.next()) {
            (Some(only), None) => format!("`{}`", self.location(only)),
            (Some(first), Some(_)) => {
                let name = self.location(first);
                format!("an element of `{}`", name.split('[').next().unwrap_or(name))
            }
            (None, _) => "nothing".to_owned(),
        }
    }
}

/// Where an instruction stands; `None` when the program has no source.
pub(crate) fn span(program: &Program, thread: ThreadId, pc: Pc) -> Option<Span> {
    program.source.as_ref()?;
    let spans = &program.threads[thread.index()].spans;
    // Past its last instruction a thread halts: the end of its code stands for that.
    spans.get(pc.index()).or(spans.last()).copied()
}

/// ` at FILE:LINE:COLUMN`, or nothing when there is no place to name.
pub(crate) fn at(program: &Program, span: Option<Span>) -> String {
    match (&program.source, span) {
        (Some(source), Some(span)) => {
            let (line, column) = source.line_column(span.start);
            format!(" at {}:{line}:{column}", source.name)
        }
        _ => String::new(),
    }
}

fn rmw_verb(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Exchange => "exchange",
        RmwOp::Add => "fetch_add",
        RmwOp::Sub => "fetch_sub",
        RmwOp::And => "fetch_and",
        RmwOp::Or => "fetch_or",
        RmwOp::Xor => "fetch_xor",
    }
}
