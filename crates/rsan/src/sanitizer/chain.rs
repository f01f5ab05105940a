//! The accesses that force the order of a violation, as a cycle of the execution, and what would forbid the outcome; and
//! those that would order a race if they were stronger.

use super::convert::Resolver;
use super::memory::described;
use super::repair::{self, Change as Step};
use super::shorter::Short;
use rsan_log::{Chain, Link, Operation};
use rsan_model::RmwOrd;
use rsan_report::document::{
    Change, CycleEdge, Edge, Event, Execution, Finding, Fix, Frame, Role, Stale, Thread, maker_of,
    order_in_rust, place_of,
};
use rsan_report::printable::name;

/// Adds the cycle to a finding, and the change that breaks it.
pub(super) fn explain(finding: &mut Finding, short: &Short<'_>, resolver: &mut Resolver) {
    let chain = &short.shown;
    let links = chain.links.iter();
    let events: Vec<_> = links.map(|link| event(link, resolver)).collect();
    let Some(last) = events.len().checked_sub(1) else {
        return;
    };
    // The access reads before the write that it misses, or takes effect before it.
    let back = match finding
        .accesses
        .first()
        .map(|access| access.operation.as_str())
    {
        Some("store") => Edge::Mo,
        _ => Edge::Fr,
    };
    let edges = chain.links.iter().map(|link| link.edge.map_or(back, edge));
    let cycle = edges
        .zip(0..)
        .map(|(edge, event)| CycleEdge { event, edge });
    let execution = Execution {
        cycle: cycle.collect(),
        stale: Some(Stale {
            access: last as u32,
            missed: 0,
            write: None,
            value: None,
        }),
        events,
        ..Execution::default()
    };
    if short.left_out > 0 {
        let threads = match short.left_out {
            1 => "a thread that only passes on what it acquires is".to_owned(),
            threads => format!("{threads} threads that only pass on what they acquire are"),
        };
        let sentence = format!("{threads} left out of the cycle");
        finding.because.push(sentence);
    }
    finding.fix = fix(&short.meant, &execution, resolver);
    finding.execution = Some(execution);
}

fn edge(edge: rsan_log::Edge) -> Edge {
    match edge {
        rsan_log::Edge::Po => Edge::Po,
        rsan_log::Edge::Rf => Edge::Rf,
        rsan_log::Edge::Mo => Edge::Mo,
        rsan_log::Edge::Fr => Edge::Fr,
        rsan_log::Edge::Create => Edge::Asw,
        rsan_log::Edge::Lock => Edge::Sw,
    }
}

fn event(link: &Link<'_>, resolver: &mut Resolver) -> Event {
    let address = link.address;
    let memory = link.memory.as_ref();
    let memory = memory.map(|memory| described(memory, address, resolver).0);
    let location = address.map(|address| match &memory {
        Some(memory) => memory.place(&address.to_string()),
        None => address.to_string(),
    });
    let has_order = matches!(
        link.operation,
        Operation::Load | Operation::Store | Operation::Rmw | Operation::Fence
    );
    let what = location
        .as_ref()
        .map_or(String::new(), |what| format!(" {what}"));
    let order = match has_order {
        true => format!(" ({})", link.order),
        false => String::new(),
    };
    Event {
        thread: Some(Thread::of_run(link.thread)),
        line: None,
        column: None,
        operation: format!("{}{what}{order}", link.operation),
        location,
        read: None,
        written: None,
        order: has_order.then(|| link.order.to_string()),
        stack: resolver.symbols.stack(&link.stack),
    }
}

/// Links of a chain that the oracle is asked about: its time grows with the third power of their number.
pub(super) const LONGEST: usize = 32;

/// The smallest change that makes the accesses of the chain robust, if all of them are known.
fn fix(chain: &Chain<'_>, execution: &Execution, resolver: &Resolver) -> Option<Fix> {
    if !chain.fences_known || chain.links.len() > LONGEST {
        return None;
    }
    let accesses: Vec<_> = chain.links.iter().map(access).collect();
    let steps = repair::repair(&accesses, resolver.model)?;
    let is_possible = steps
        .iter()
        .all(|step| is_possible(*step, &execution.events));
    is_possible.then(|| {
        let steps = written_once(&steps, chain, &execution.events);
        fixed(&steps, chain, &execution.events)
    })
}

/// Whether the user can make a change: the orders of Rust's standard library are not the user's.
fn is_possible(step: Step, events: &[Event]) -> bool {
    let of_standard = |event: usize| {
        let maker = events.get(event).and_then(|event| maker_of(&event.stack));
        maker.is_some_and(Frame::is_of_standard)
    };
    match step {
        Step::Fence { .. } => true,
        Step::Order { step, .. } => !of_standard(step),
    }
}

/// The same changes, where an operation of the source that is to have several orders gets one that is as strong as all of them: two
/// threads may execute it, one of which should release and the other acquire.
fn written_once(steps: &[Step], chain: &Chain<'_>, events: &[Event]) -> Vec<Step> {
    let source = |event: usize| {
        let stack = &events[event].stack;
        let place = place_of(stack)?;
        // A line alone may have several operations, and so may a function that is called there.
        place.place().filter(|place| place.column.is_some())?;
        let inside = stack.iter().position(|frame| frame == place)?;
        Some((chain.links[event].operation, &stack[..=inside]))
    };
    let strong = |step: &Step| match *step {
        Step::Fence { .. } => *step,
        Step::Order { step: event, to } => {
            let here = source(event);
            let same = steps.iter().filter_map(|other| match *other {
                Step::Order { step, to } if here.is_some() && source(step) == here => Some(to),
                _ => None,
            });
            Step::Order {
                step: event,
                to: same.fold(to, stronger),
            }
        }
    };
    steps.iter().map(strong).collect()
}

/// The weakest order that is as strong as two others, neither of which is relaxed.
fn stronger(one: &'static str, other: &'static str) -> &'static str {
    match (one, other) {
        _ if one == other => one,
        ("seq_cst", _) | (_, "seq_cst") => "seq_cst",
        _ => "acq_rel",
    }
}

/// Adds to a race the accesses through which the later side knows of the earlier one, which of them are too weak to order
/// the two, and the change that makes them strong enough.
pub(super) fn order_race(finding: &mut Finding, chain: &Chain<'_>, resolver: &mut Resolver) {
    let way = chain.links.iter();
    let way: Vec<_> = way.map(|link| (access(link), link.edge)).collect();
    let Some(steps) = repair::order_race(&way) else {
        return;
    };
    let links = chain.links.iter();
    let mut events: Vec<_> = links.map(|link| event(link, resolver)).collect();
    if !steps.iter().all(|step| is_possible(*step, &events)) {
        return;
    }
    // The log does not say again where the two sides are.
    let ends = [(Role::Earlier, 0), (Role::Access, events.len() - 1)];
    for (role, end) in ends {
        let side = finding.accesses.iter().find(|access| access.role == role);
        if let Some(side) = side.filter(|_| events[end].stack.is_empty()) {
            events[end].stack = side.stack.clone();
            let what = events[end].location.as_deref().unwrap_or_default();
            events[end].operation = format!("{} {what}", side.operation);
        }
    }
    let steps = written_once(&steps, chain, &events);
    let sentences = steps
        .iter()
        .filter_map(|step| too_weak(*step, chain, &events));
    let mut sentences: Vec<_> = sentences.collect();
    sentences.dedup();
    finding.because.push(sentences.join(", and "));
    finding.fix = Some(fixed(&steps, chain, &events));
    let reads = chain.links.iter().zip(0..);
    let reads = reads.filter(|(link, _)| link.edge == Some(rsan_log::Edge::Rf));
    finding.execution = Some(Execution {
        rf: reads.map(|(_, write)| (write, write + 1)).collect(),
        events,
        ..Execution::default()
    });
}

/// ``the relaxed store of `tail` at ring.c:20 does not release``
fn too_weak(step: Step, chain: &Chain<'_>, events: &[Event]) -> Option<String> {
    let Step::Order { step, to } = step else {
        return None;
    };
    let link = &chain.links[step];
    let lacks = |half: &str, has: fn(RmwOrd) -> bool| {
        [half, "acq_rel", "seq_cst"].contains(&to) && !has(link.order)
    };
    let verb = match (
        lacks("acquire", RmwOrd::acquires),
        lacks("release", RmwOrd::releases),
    ) {
        (true, true) => "neither acquires nor releases",
        (true, false) => "does not acquire",
        _ => "does not release",
    };
    // Addresses differ from run to run.
    let named = events[step].location.as_ref();
    let named = named.filter(|location| location.starts_with('`'));
    let of = named.map_or(String::new(), |location| format!(" of {location}"));
    let (order, operation) = (link.order, link.operation);
    let at = At::new(&events[step]);
    let order = at.language().order(&order.to_string());
    let at = places(&[at]);
    Some(format!("the {order} {operation}{of} at {at} {verb}"))
}

fn access(link: &Link<'_>) -> repair::Access {
    repair::Access {
        thread: link.thread,
        operation: link.operation,
        order: link.order,
        address: link.address,
    }
}

/// Changes of the accesses of a chain as a fix.
fn fixed(steps: &[Step], chain: &Chain<'_>, events: &[Event]) -> Fix {
    let place = |event: usize| place_of(&events[event].stack).and_then(Frame::place);
    let change = |step: &Step| match *step {
        Step::Fence { after } => Change::Fence {
            order: "seq_cst".to_owned(),
            after: after as u32,
            before: after as u32 + 1,
            location: place(after),
        },
        Step::Order { step, to } => Change::Order {
            event: step as u32,
            from: chain.links[step].order.to_string(),
            to: to.to_owned(),
            location: place(step),
        },
    };
    Fix {
        message: message(steps, chain, &|event| At::new(&events[event])),
        checked: Some("cheapest change; checked for these accesses".to_owned()),
        changes: steps.iter().map(change).collect(),
    }
}

/// `make the loads at queue.h:31 and :44 seq_cst, and put a seq_cst fence between a.c:3 and :5`
fn message(steps: &[Step], chain: &Chain<'_>, place: &dyn Fn(usize) -> At) -> String {
    let mut fences: Vec<[At; 2]> = Vec::new();
    // What is made of which operations, and where.
    let mut orders: Vec<(Operation, &str, Vec<At>)> = Vec::new();
    for step in steps {
        match *step {
            Step::Fence { after } => fences.push([place(after), place(after + 1)]),
            Step::Order { step, to } => {
                let operation = chain.links[step].operation;
                let known = orders
                    .iter_mut()
                    .find(|(o, t, _)| (*o, *t) == (operation, to));
                match known {
                    Some((_, _, all)) => all.push(place(step)),
                    None => orders.push((operation, to, vec![place(step)])),
                }
            }
        }
    }
    let mut parts: Vec<_> = orders
        .into_iter()
        .map(|(operation, to, mut at)| {
            at.sort();
            at.dedup();
            let s = if at.len() > 1 { "s" } else { "" };
            let to = at[0].language().order(to);
            format!("make the {operation}{s} at {} {to}", places(&at))
        })
        .collect();
    fences.sort();
    fences.dedup();
    let between = fences.iter();
    let between = between.map(|ends| format!("between {}", places(ends)));
    let between: Vec<_> = between.collect();
    let language = fences.first().map(|[first, _]| first.language());
    if let Some(language) = language {
        let fences = language.fences(between.len());
        parts.push(format!("put {fences} {}", between.join(" and ")));
    }
    parts.join(", and ")
}

/// What a source is written in, as far as words depend on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Rust,
}

impl Language {
    /// A memory order, by its name in C.
    fn order(self, order: &str) -> String {
        match self {
            Self::C => order.to_owned(),
            Self::Rust => format!("`{}`", order_in_rust(order)),
        }
    }

    /// Some seq_cst fences.
    fn fences(self, number: usize) -> &'static str {
        match (self, number) {
            (Self::C, 1) => "a seq_cst fence",
            (Self::C, _) => "seq_cst fences",
            (Self::Rust, _) => "`fence(Ordering::SeqCst)`",
        }
    }
}

/// Where an event is: in a file, or if that is not known in a module. Columns are those of Rust, where a line often has several
/// accesses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Line(String, u32, Option<u32>),
    Other(String),
}

impl At {
    fn new(event: &Event) -> Self {
        let place = place_of(&event.stack).and_then(Frame::place);
        match place.map(|place| (place.line, place)) {
            Some((Some(line), place)) => {
                let column = place.column.filter(|_| place.is_of_rust());
                Self::Line(place.file, line, column)
            }
            _ => {
                let frame = event.stack.first().and_then(Frame::at);
                Self::Other(frame.unwrap_or_else(|| "an unknown place".to_owned()))
            }
        }
    }

    fn language(&self) -> Language {
        match self {
            Self::Line(file, ..) if file.ends_with(".rs") => Language::Rust,
            Self::Line(..) | Self::Other(_) => Language::C,
        }
    }
}

/// `queue.h:31, :44 and ring.h:7`
fn places(all: &[At]) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut known = None;
    for at in all {
        texts.push(match at {
            At::Line(file, line, column) => {
                let column = column.map_or(String::new(), |column| format!(":{column}"));
                let shown = match known == Some(file) {
                    true => String::new(),
                    false => name(file).into_owned(),
                };
                known = Some(file);
                format!("{shown}:{line}{column}")
            }
            At::Other(text) => text.clone(),
        });
    }
    match texts.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_with_two_orders_gets_both() {
        assert_eq!(stronger("release", "acquire"), "acq_rel");
        assert_eq!(stronger("acquire", "acquire"), "acquire");
        assert_eq!(stronger("acq_rel", "seq_cst"), "seq_cst");
    }

    #[test]
    fn words_are_those_of_the_language() {
        let at = |column| At::Line("src/lib.rs".to_owned(), 6, Some(column));
        assert!(at(1).language() == Language::Rust);
        assert_eq!(places(&[at(34), at(55)]), "src/lib.rs:6:34 and :6:55");
        let c = At::Line("a.c".to_owned(), 6, None);
        assert_eq!(places(&[c.clone(), c.clone()]), "a.c:6 and :6");
        assert_eq!(c.language().order("acq_rel"), "acq_rel");
        assert_eq!(Language::Rust.order("acq_rel"), "`AcqRel`");
    }
}
