//! `rsan port` of a litmus test: all its executions on both machines.

use super::document::empty;
use super::limits::Limits;
use crate::args::PortArgs;
use crate::input::{Input, failure};
use crate::session::Reply;
use crate::terminal;
use rsan_axioms::machine::{Candidate, Event, Kind as EventKind};
use rsan_axioms::port::{Verdict, Witness, robust};
use rsan_mapping::{Target, Unsupported, compile};
use rsan_model::machine::{self, Machine};
use rsan_model::{Edge, Pc, Program, Reason};
use rsan_report::document::{
    CycleEdge, Execution, Finding, Kind, Method, ModificationOrder, Related, Severity, Thread,
};
use rsan_report::{
    Document, Judgement, complaint,
    document::{self},
    excerpt, place,
};

/// Answers one test.
///
/// # Errors
/// The complete message for the user.
pub(super) fn answer(
    args: &PortArgs,
    input: &Input,
    limits: &mut Limits<'_>,
) -> Result<Reply, String> {
    let program = &input.program;
    let [on_m, on_k] = [args.from, args.to].map(|machine| compile(program, &target(args, machine)));
    let on_m = on_m.map_err(|error| unsupported(input, &error))?;
    let on_k = on_k.map_err(|error| unsupported(input, &error))?;
    let bounds = rsan_axioms::Limits {
        unroll: args.unroll,
        ..rsan_axioms::Limits::default()
    };
    let mut halt = |memory| limits.over(memory);
    let answer = robust(&on_k, args.to, &on_m, args.from, &bounds, &mut halt);
    let (verdict, executions) = match answer {
        Ok(answer) => (answer.verdict, Some(answer.executions)),
        Err(error) => (Verdict::Cut(Reason::TooLarge(error.to_string())), None),
    };
    let judgement = match &verdict {
        Verdict::Robust => Judgement::Robust,
        Verdict::Violation(_) => Judgement::Violation,
        Verdict::Cut(_) => Judgement::Unknown,
    };
    let mut document = empty(args, &input.subject, judgement, Method::Exact);
    document.stats.executions = executions;
    document.stats.seconds = limits.elapsed().as_secs_f64();
    match &verdict {
        Verdict::Robust => {}
        Verdict::Cut(reason) => document.notes.push(reason.to_string()),
        Verdict::Violation(witness) => violation(&mut document, args, program, &on_k, witness),
    }
    Ok(Reply {
        status: judgement.into(),
        document,
        interrupted: verdict == Verdict::Cut(Reason::Interrupted),
    })
}

fn target(args: &PortArgs, machine: Machine) -> Target {
    Target {
        rcpc: args.rcpc,
        // The program is the same one on both machines, and so is what its weak operations may do.
        spurious: true,
        ..Target::new(machine)
    }
}

fn unsupported(input: &Input, error: &Unsupported) -> String {
    let span = input.program.threads[error.thread.index()].span(error.pc);
    match &input.program.source {
        Some(source) => {
            let style = terminal::stderr_style();
            complaint(source, span, &error.to_string(), "here", style)
        }
        None => failure(&input.subject, error),
    }
}

/// The execution that the weaker machine has and the stronger one does not.
fn violation(
    document: &mut Document,
    args: &PortArgs,
    program: &Program,
    compiled: &machine::Program,
    witness: &Witness,
) {
    let shown = Shown {
        program,
        compiled,
        execution: &witness.execution,
    };
    let (from, to) = (args.from.title(), args.to.title());
    let message = format!("{to} allows this execution, and {from} forbids it");
    let mut finding = Finding::new(Kind::Reordering, Severity::Warning, message);
    let swapped = witness.cycle.iter().enumerate();
    let mut swapped = swapped.filter(|(_, (_, edge))| *edge == Edge::Po);
    if let Some((index, (first, _))) = swapped.next() {
        let (second, _) = witness.cycle[(index + 1) % witness.cycle.len()];
        let [first, second] =
            [*first, second].map(|event| &witness.execution.events[event.index()]);
        let names = [first, second].map(|event| shown.location(event).unwrap_or_default());
        finding.object = Some(format!("`{}` and `{}`", names[0], names[1]));
        finding.thread = shown.thread(first);
        finding.location = shown.place(first);
        finding.label = Some("this access".to_owned());
        finding
            .related
            .extend(shown.place(second).map(|location| Related {
                message: "and this one may be seen in the other order".to_owned(),
                location,
            }));
    }
    finding.execution = Some(shown.whole(&witness.cycle));
    document.findings.push(finding);
    document.sources = excerpt(program.source.as_ref(), &document.findings);
}

/// An execution, and the program that it is of.
struct Shown<'a> {
    program: &'a Program,
    compiled: &'a machine::Program,
    execution: &'a Candidate,
}

impl Shown<'_> {
    fn thread(&self, event: &Event) -> Option<Thread> {
        let thread = self.program.threads.get(event.thread?.index())?;
        Some(Thread::Name(thread.name.clone()))
    }

    fn location(&self, event: &Event) -> Option<String> {
        let location = &self.compiled.locations[event.loc()?.index()];
        Some(location.name.clone())
    }

    /// Where the instruction of the test is that an event comes from.
    fn place(&self, event: &Event) -> Option<document::Place> {
        let thread = self.program.threads.get(event.thread?.index())?;
        let pc = Pc::new(event.origin as usize);
        let known = pc.index() < thread.code.len();
        let span = known.then(|| thread.span(pc))?;
        place(self.program.source.as_ref(), Some(span))
    }

    fn event(&self, event: &Event) -> document::Event {
        let at = self.place(event);
        let location = self.location(event);
        let name = location.clone().unwrap_or_default();
        let (operation, read, written) = match event.kind {
            EventKind::Read(access) => {
                let value = access.value;
                (format!("load {name} = {value}"), Some(value), None)
            }
            EventKind::Write(access) => {
                let value = access.value;
                (format!("store {name} = {value}"), None, Some(value))
            }
            EventKind::Fence(_) => ("fence".to_owned(), None, None),
        };
        document::Event {
            thread: self.thread(event),
            line: at.as_ref().and_then(|place| place.line),
            column: at.as_ref().and_then(|place| place.column),
            operation,
            location,
            read,
            written,
            order: None,
            stack: Vec::new(),
        }
    }

    /// The execution as documents have it.
    fn whole(&self, cycle: &[(rsan_model::EventId, Edge)]) -> Execution {
        let execution = self.execution;
        let number = |event: rsan_model::EventId| event.index() as u32;
        let rf = execution.rf.pairs();
        Execution {
            events: execution.events.iter().map(|e| self.event(e)).collect(),
            rf: rf
                .map(|(write, read)| (number(write), number(read)))
                .collect(),
            mo: self.modification_orders(),
            cycle: cycle
                .iter()
                .map(|(event, edge)| CycleEdge {
                    event: number(*event),
                    edge: (*edge).into(),
                })
                .collect(),
            ..Execution::default()
        }
    }

    fn modification_orders(&self) -> Vec<ModificationOrder> {
        let events = &self.execution.events;
        let locations = self.compiled.locations.iter().enumerate();
        let orders = locations.map(|(index, location)| {
            let of_location = |event: &Event| {
                let here = event.loc().is_some_and(|loc| loc.index() == index);
                event.is_write() && here
            };
            let mut writes: Vec<u32> = (0..events.len() as u32)
                .filter(|number| of_location(&events[*number as usize]))
                .collect();
            let before = |event: u32| {
                let pairs = self.execution.co.pairs();
                pairs.filter(|(_, to)| to.index() as u32 == event).count()
            };
            writes.sort_by_key(|event| before(*event));
            ModificationOrder {
                location: location.name.clone(),
                writes,
            }
        });
        orders.filter(|order| order.writes.len() > 1).collect()
    }
}
