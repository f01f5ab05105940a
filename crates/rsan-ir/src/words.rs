//! Warnings in words.

use crate::alias::{ANY, Aliases, Object, Spot};
use crate::analyse::Prepared;
use crate::flow::{EventId, Graph};
use crate::module::Module;
use crate::order::Part;
use crate::port::{Question, Site, Warning};
use rsan_model::machine::Machine;

/// What the classes of a graph are called.
pub(crate) struct Names {
    classes: Vec<String>,
}

impl Names {
    /// For a graph.
    pub(crate) fn new(module: &Module, aliases: &Aliases<'_>, graph: &Graph) -> Self {
        let name = |spots: &[Spot]| match spots {
            [] => String::new(),
            [one] => spot(module, aliases, *one),
            [one, another] => {
                format!(
                    "{} or {}",
                    spot(module, aliases, *one),
                    spot(module, aliases, *another)
                )
            }
            [one, rest @ ..] => {
                format!("{} or {} others", spot(module, aliases, *one), rest.len())
            }
        };
        Self {
            classes: graph.classes.iter().map(|c| name(&c.spots)).collect(),
        }
    }
}

fn spot(module: &Module, aliases: &Aliases<'_>, (object, offset): Spot) -> String {
    let title = |f: crate::module::FunctionId| &module.functions[f.index()].title;
    let name = match aliases.object(object) {
        Object::Unknown => return "memory that is not known".into(),
        Object::Global(g) => {
            let global = &module.globals[g.index()];
            match global.title.is_empty() {
                true => format!("`{}`", global.name),
                false => format!("`{}`", global.title),
            }
        }
        Object::Function(f) => format!("`{}`", title(f)),
        Object::Frame(f, _) => format!("a variable of `{}`", title(f)),
        Object::Heap(f, _) => format!("memory allocated in `{}`", title(f)),
    };
    match offset {
        0 => name,
        ANY => format!("{name}, somewhere in it"),
        offset => format!("{name} + {offset}"),
    }
}

/// A pair and what closes its cycle.
pub(crate) struct Cycle<'a> {
    /// The first access.
    pub(crate) first: EventId,
    /// The later one.
    pub(crate) second: EventId,
    /// Pairs of other threads.
    pub(crate) partners: &'a [(EventId, EventId)],
}

/// The warning for a pair.
pub(crate) fn warning(prepared: &Prepared, question: &Question, cycle: &Cycle<'_>) -> Warning {
    let site = |event: EventId| site(prepared, event);
    let writes = |event: EventId| {
        prepared.graph.events[event as usize]
            .operation
            .part
            .writes()
    };
    let kinds = (writes(cycle.first), writes(cycle.second));
    Warning {
        first: site(cycle.first),
        second: site(cycle.second),
        partners: cycle
            .partners
            .iter()
            .map(|(a, b)| (site(*a), site(*b)))
            .collect(),
        unordered: unordered(question.to, kinds),
        ordered: ordered(question.from, kinds),
        because: because(prepared, cycle),
    }
}

fn site(prepared: &Prepared, event: EventId) -> Site {
    let graph = &prepared.graph;
    let event = &graph.events[event as usize];
    let node = &graph.nodes[event.node as usize];
    let what = match event.operation.part {
        _ if event.bulk => "copy",
        Part::Load => "load",
        Part::Store => "store",
        Part::UpdateRead { .. } | Part::UpdateWrite => "read-modify-write",
        Part::Lock => "lock",
        Part::Unlock => "unlock",
        Part::Fence => unreachable!("a fence is no access"),
    };
    Site {
        function: node.function,
        number: node.number,
        calls: graph.contexts[node.context as usize].calls.clone(),
        what,
        order: event.operation.order,
        object: prepared.names.classes[event.class as usize].clone(),
        place: event.place,
    }
}

fn noun(writes: bool) -> &'static str {
    if writes { "store" } else { "load" }
}

fn unordered(to: Machine, (first, second): (bool, bool)) -> String {
    let needed = match (to, first, second) {
        (Machine::Sc, ..) => "order",
        (Machine::X86, ..) => "mfence or locked instruction",
        (Machine::Armv8, true, false) => "dmb ish, and no stlr before an ldar,",
        (Machine::Armv8, true, true) => "dmb ish, dmb ishst or stlr",
        (Machine::Armv8, false, false) => "dmb ish, dmb ishld or acquire load",
        (Machine::Armv8, false, true) => "dmb ish, dmb ishld, acquire load or stlr",
        (Machine::Armv7, ..) => "dmb",
        (Machine::Riscv, ..) => "fence, aq or rl that orders both",
        (Machine::Power, ..) => "sync",
    };
    format!(
        "{} may perform the later {} before the earlier {}: no {needed} is between them on some path",
        to.title(),
        noun(second),
        noun(first),
    )
}

fn ordered(from: Machine, (first, second): (bool, bool)) -> String {
    match (from, first, second) {
        (Machine::Sc, ..) => "SC performs accesses in program order".into(),
        (Machine::X86, false, _) => "x86 performs a load before everything that follows it".into(),
        (Machine::X86, true, true) => "x86 performs stores in program order".into(),
        (Machine::X86, true, false) => {
            "x86 has an mfence or a locked instruction between them".into()
        }
        (machine, false, _) => format!(
            "{} performs a load before what depends on it, or what fences and orders put after it",
            machine.title()
        ),
        (machine, true, _) => {
            format!("{} may order them by what is between them", machine.title())
        }
    }
}

/// What is not exact about a cycle.
fn because(prepared: &Prepared, cycle: &Cycle<'_>) -> Vec<String> {
    let graph = &prepared.graph;
    let mut because = Vec::new();
    let partners = cycle.partners.iter().flat_map(|(a, b)| [*a, *b]);
    let mut events: Vec<EventId> = [cycle.first, cycle.second]
        .into_iter()
        .chain(partners)
        .collect();
    events.dedup();
    for event in &events {
        let class = graph.events[*event as usize].class;
        if !graph.classes[class as usize].is_exact() {
            let name = &prepared.names.classes[class as usize];
            because.push(format!(
                "an access may touch {name}: that it meets the others is not certain"
            ));
        }
    }
    let context =
        |event: &EventId| graph.nodes[graph.events[*event as usize].node as usize].context;
    if graph.indirect_calls
        && events
            .iter()
            .any(|e| !graph.contexts[context(e) as usize].calls.is_empty())
    {
        because.push("calls through pointers are taken to call whatever they may".into());
    }
    because.sort();
    because.dedup();
    because
}
