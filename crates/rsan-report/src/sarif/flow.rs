//! How a finding comes about, as code flows: the stacks of its accesses, the schedule of a run, and the cycle that
//! sequential consistency forbids.

use super::STEPS;
use super::log::{CodeFlow, FlowLocation, Location, Message, ThreadFlow};
use super::places::Files;
use crate::document::{Access, Document, Event, Execution, Finding, Place, Role, StepKind, Thread};

/// All of them, at most [`STEPS`] locations altogether.
pub(super) fn code_flows(
    document: &Document,
    finding: &Finding,
    files: &mut Files,
) -> Vec<CodeFlow> {
    let mut flows = Vec::new();
    flows.extend(accesses(document, finding, files));
    if let Some(execution) = &finding.execution {
        flows.extend(schedule(document, execution, files));
        flows.extend(cycle(document, execution, files));
    }
    let mut room = STEPS;
    for flow in &mut flows {
        for thread in &mut flow.thread_flows {
            // What is nearest to the finding stands last.
            let excess = thread.locations.len().saturating_sub(room);
            thread.locations.drain(..excess);
            room -= thread.locations.len();
        }
        flow.thread_flows
            .retain(|thread| !thread.locations.is_empty());
    }
    flows.retain(|flow| !flow.thread_flows.is_empty());
    flows
}

/// The stacks of the accesses, each from the outermost frame to the access.
fn accesses(document: &Document, finding: &Finding, files: &mut Files) -> Option<CodeFlow> {
    let thread_flows: Vec<_> = finding
        .accesses
        .iter()
        .map(|access| stack(document, access, files))
        .filter(|flow| !flow.locations.is_empty())
        .collect();
    flow("the accesses, with their stacks", thread_flows)
}

fn stack(document: &Document, access: &Access, files: &mut Files) -> ThreadFlow {
    let frames: Vec<_> = access
        .stack
        .iter()
        .rev()
        .filter_map(|frame| Some((frame, files.frame(document, frame)?)))
        .collect();
    let last = frames.len().saturating_sub(1);
    let location = |(level, (frame, location)): (usize, (&crate::document::Frame, Location))| {
        let (location, importance) = match (level == last, &frame.library) {
            (true, _) => (location.saying(what(access)), "essential"),
            (false, Some(_)) => (location, "unimportant"),
            (false, None) => (location, "important"),
        };
        FlowLocation {
            location,
            nesting_level: Some(level),
            execution_order: None,
            importance,
        }
    };
    ThreadFlow {
        id: format!("{}: {}", role(access.role), access.subject()),
        locations: frames.into_iter().enumerate().map(location).collect(),
    }
}

/// What an access is to its finding.
fn role(role: Role) -> &'static str {
    match role {
        Role::Access => "access",
        Role::Earlier => "earlier",
        Role::Missed => "missed",
        Role::Stale => "stale",
        Role::Waiting => "waiting",
        Role::Lock => "lock",
    }
}

/// The operation in words.
fn what(access: &Access) -> String {
    let mut text = access.operation.clone();
    for part in [&access.order, &access.value, &access.lock]
        .into_iter()
        .flatten()
    {
        text = format!("{text}, {part}");
    }
    if let Some(other) = &access.waits_for {
        text = format!("{text}, waits for {other}");
    }
    text
}

/// The steps of a run; their numbers tell how threads take turns.
fn schedule(document: &Document, execution: &Execution, files: &mut Files) -> Option<CodeFlow> {
    let mut threads: Vec<(&Thread, Vec<FlowLocation>)> = Vec::new();
    for (number, step) in execution.schedule.iter().enumerate() {
        let event = step
            .event
            .and_then(|event| execution.events.get(event as usize));
        let place = event.and_then(|event| place(document, event));
        let Some(place) = place.or_else(|| in_subject(document, step.line, step.column)) else {
            continue;
        };
        let operation = match step.kind {
            StepKind::Access => step.operation.clone(),
            StepKind::Flush => format!("{} (reaches memory)", step.operation),
        };
        let location = FlowLocation {
            location: files.location(document, &place).saying(operation),
            nesting_level: None,
            execution_order: Some(number + 1),
            importance: "important",
        };
        match threads
            .iter_mut()
            .find(|(thread, _)| **thread == step.thread)
        {
            Some((_, locations)) => locations.push(location),
            None => threads.push((&step.thread, vec![location])),
        }
    }
    let thread_flow = |(thread, locations): (&Thread, _)| ThreadFlow {
        id: thread.to_string(),
        locations,
    };
    let flows = threads.into_iter().map(thread_flow).collect();
    flow("the run that leads to it", flows)
}

/// The events of the cycle, each with the edge to the next one.
fn cycle(document: &Document, execution: &Execution, files: &mut Files) -> Option<CodeFlow> {
    let mut locations = Vec::new();
    for step in &execution.cycle {
        let Some(event) = execution.events.get(step.event as usize) else {
            continue;
        };
        let Some(place) = place(document, event) else {
            continue;
        };
        let who = match &event.thread {
            Some(thread) => format!("{thread}: "),
            None => String::new(),
        };
        let text = format!("{who}{}, then {}", event.operation, step.edge.name());
        locations.push(FlowLocation {
            location: files.location(document, &place).saying(text),
            nesting_level: None,
            execution_order: None,
            importance: "essential",
        });
    }
    let id = "cycle".to_owned();
    let threads = match locations.is_empty() {
        true => Vec::new(),
        false => vec![ThreadFlow { id, locations }],
    };
    flow("the cycle that sequential consistency forbids", threads)
}

/// Where an event is: in the subject, or on its stack.
fn place(document: &Document, event: &Event) -> Option<Place> {
    let frame = crate::document::place_of(&event.stack);
    let on_stack = frame.and_then(crate::document::Frame::place);
    on_stack.or_else(|| in_subject(document, event.line, event.column))
}

fn in_subject(document: &Document, line: Option<u32>, column: Option<u32>) -> Option<Place> {
    Some(Place {
        file: document.subject.clone(),
        line: Some(line?),
        column,
        end_line: None,
        end_column: None,
    })
}

/// A flow, unless it is empty.
fn flow(message: &str, thread_flows: Vec<ThreadFlow>) -> Option<CodeFlow> {
    let text = message.to_owned();
    let message = Message { text };
    (!thread_flows.is_empty()).then_some(CodeFlow {
        message,
        thread_flows,
    })
}
