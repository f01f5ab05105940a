//! Is a program that is right on one machine right on a weaker one?
//!
//! *Decides*: whether every execution that the machine `to` allows is one that the machine `from` allows, for any number of
//! instances of the thread functions. No warning is a proof, unless an assumption is marked unsound. A warning may be false: values
//! are not looked at.
//!
//! *Source*: M-K robustness and its static analysis in Fency (FMCAD 2021).

use crate::alias::{Aliases, Stopped};
use crate::cycles::{Closing, Communication, OnCycles, meetings};
use crate::effects::{Changes, Effects, is_strong};
use crate::flow::{self, Doing, EventId, Graph, NodeId};
use crate::locks;
use crate::module::{Module, Order};
use crate::port::{Answer, Assumption, Counts, Question, Refusal};
use crate::races;
use crate::search::{Search, Want};
use crate::starts::Starts;
use crate::threads;
use crate::words;
use rsan_model::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs are looked at one by one if there are no more steps to take than this.
const STEPS: usize = 30_000_000;
/// More warnings help nobody.
const WARNINGS: usize = 5_000;

impl From<Stopped> for Refusal {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// A program, ready to be asked.
pub(crate) struct Prepared {
    pub(crate) graph: Graph,
    pub(crate) meets: Vec<Vec<u32>>,
    pub(crate) starts: Starts,
    pub(crate) names: words::Names,
}

/// Pairs of a program.
pub(crate) struct Pairs {
    /// By the first access, later ones that the machine `from` may order after it; empty if there were too many to look at.
    pub(crate) all: Vec<Vec<EventId>>,
    /// Those on a cycle that the machine `to` does not order.
    pub(crate) unordered: Vec<(EventId, EventId)>,
    /// Which pairs are on cycles.
    pub(crate) cycles: OnCycles,
    /// Counts of pairs, and of those on cycles.
    pub(crate) counts: (usize, usize),
    /// The search ended before all were found.
    pub(crate) cut: bool,
}

/// Whether moving from one machine to the other is a question at all.
fn is_weaker(from: Machine, to: Machine) -> bool {
    let rank = |machine: Machine| match machine {
        Machine::Sc => 0,
        Machine::X86 => 1,
        Machine::Armv8 | Machine::Riscv => 2,
        Machine::Armv7 | Machine::Power => 3,
    };
    from != to && rank(from) <= rank(to)
}

/// Builds the graph of a question.
pub(crate) fn prepare(
    module: &Module,
    question: &Question,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Prepared, Refusal> {
    if !is_weaker(question.from, question.to) {
        return Err(Refusal::NotWeaker);
    }
    let named = threads::named(module, &question.threads)?;
    let mut outside = named.clone();
    outside.extend(threads::invokers(module));
    let aliases = Aliases::new(module, &outside, go_on)?;
    let mut assumptions = Vec::new();
    let roots = threads::roots(module, &named, &aliases, &mut assumptions)?;
    let mut graph = flow::build(module, &aliases, roots, go_on)?;
    locks::refine(&mut graph, &aliases, question.to, go_on)?;
    if question.race_free {
        races::leave_out(&mut graph);
    }
    races::not_followed(module, &mut graph, question.to, question.race_free);
    graph.assumptions.extend(assumptions);
    graph.assumptions.sort();
    let meets = meetings(&graph, &module.types, go_on)?;
    let starts = Starts::new(&graph, go_on)?;
    let names = words::Names::new(module, &aliases, &graph);
    Ok(Prepared {
        graph,
        meets,
        starts,
        names,
    })
}

/// Finds the pairs of a program with some changes.
pub(crate) fn pairs(
    prepared: &Prepared,
    effects: &Effects,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Pairs, Stopped> {
    let graph = &prepared.graph;
    let communication = Communication::new(prepared);
    let mut cycles = communication.by_flow(effects, go_on)?;
    let mut sources = cycles.sources(graph);
    sources.sort_by_key(|source| is_plain(graph, *source));
    let exact = sources.len().saturating_mul(graph.nodes.len()) <= STEPS;
    let want = if exact { Want::Pairs } else { Want::Unordered };
    let mut search = Search::new(graph);
    let mut all = vec![Vec::new(); graph.events.len()];
    let mut unordered = Vec::new();
    let mut cut = false;
    for source in sources {
        for found in search.from(source, effects, want, go_on)? {
            if cycles.pair(source, found.event) {
                all[source as usize].push(found.event);
                if found.unordered {
                    unordered.push((source, found.event));
                }
            }
        }
        if !exact && unordered.len() > WARNINGS {
            cut = true;
            break;
        }
    }
    for later in &mut all {
        if !go_on() {
            return Err(Stopped);
        }
        later.sort_unstable();
        later.dedup();
    }
    let count = all.iter().map(Vec::len).sum();
    if exact {
        cycles = communication.by_pairs(&all, go_on)?;
        unordered.retain(|(first, second)| cycles.pair(*first, *second));
    }
    let on_cycles = on_cycles(&all, &cycles);
    Ok(Pairs {
        all,
        unordered,
        cycles,
        counts: (count, on_cycles),
        cut,
    })
}

/// Others see a plain access only in a data race: where not everything can be told, it comes last.
fn is_plain(graph: &Graph, event: EventId) -> bool {
    let event = &graph.events[event as usize];
    event.operation.order == Order::Plain && !event.volatile
}

fn on_cycles(all: &[Vec<EventId>], cycles: &OnCycles) -> usize {
    let later = all
        .iter()
        .enumerate()
        .flat_map(|(a, l)| l.iter().map(move |b| (a as EventId, *b)));
    later.filter(|(a, b)| cycles.pair(*a, *b)).count()
}

/// Asks which pairs the machine `to` may swap. `go_on` is asked again and again; once it says no, the answer is
/// [`Refusal::Stopped`].
pub fn analyse(
    module: &Module,
    question: &Question,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Answer, Refusal> {
    let prepared = prepare(module, question, go_on)?;
    let graph = &prepared.graph;
    let effects = Effects::new(graph, question, &Changes::new());
    let pairs = pairs(&prepared, &effects, go_on)?;
    let mut chosen = one_per_place(graph, &pairs.unordered);
    let plain = |event: EventId| usize::from(is_plain(graph, event));
    chosen.sort_by_key(|(first, second)| plain(*first) + plain(*second));
    let mut assumptions = graph.assumptions.clone();
    if pairs.cut || chosen.len() > WARNINGS {
        assumptions.push(Assumption {
            message: format!(
                "there are too many warnings to show: these are {}, and numbers of pairs and warnings are at least those given",
                chosen.len().min(WARNINGS)
            ),
            place: None,
            unsound: true,
        });
    }
    let communication = Communication::new(&prepared);
    let mut closing = Closing::new(communication, &pairs.all);
    let mut warnings = Vec::new();
    for (first, second) in chosen.into_iter().take(WARNINGS) {
        if !go_on() {
            return Err(Refusal::Stopped);
        }
        let partners = closing.partners(first, second, go_on)?;
        let cycle = words::Cycle {
            first,
            second,
            partners: &partners,
        };
        warnings.push(words::warning(&prepared, question, &cycle));
    }
    let static_places: BTreeSet<_> = graph.events.iter().map(|e| place(graph, e.node)).collect();
    let counts = Counts {
        accesses: static_places.len(),
        pairs: pairs.counts.0,
        on_cycles: pairs.counts.1,
        fences: fences(graph),
        steps: graph.nodes.len(),
    };
    let threads = graph
        .roots
        .iter()
        .map(|(root, _)| root.thread.clone())
        .collect();
    Ok(Answer {
        threads,
        warnings,
        assumptions,
        counts,
    })
}

fn place(graph: &Graph, node: NodeId) -> (u32, u32) {
    let node = &graph.nodes[node as usize];
    (node.function.0, node.number)
}

/// Of the pairs between two instructions, the one with the fewest calls.
fn one_per_place(graph: &Graph, pairs: &[(EventId, EventId)]) -> Vec<(EventId, EventId)> {
    let calls = |event: EventId| {
        let node = &graph.nodes[graph.events[event as usize].node as usize];
        graph.contexts[node.context as usize].calls.len()
    };
    let at = |event: EventId| place(graph, graph.events[event as usize].node);
    let mut best: BTreeMap<_, (usize, (EventId, EventId))> = BTreeMap::new();
    for (first, second) in pairs {
        let candidate = (calls(*first) + calls(*second), (*first, *second));
        let known = best.entry((at(*first), at(*second))).or_insert(candidate);
        *known = (*known).min(candidate);
    }
    best.into_values().map(|(_, pair)| pair).collect()
}

fn fences(graph: &Graph) -> usize {
    let strong = graph.nodes.iter().filter(|n| match &n.doing {
        Doing::Fence(operation) => is_strong(*operation),
        Doing::MachineFence(_) => true,
        Doing::Access(event) => is_strong(graph.events[*event as usize].operation),
        Doing::Nothing | Doing::Start(_) | Doing::Join(_) => false,
    });
    let places: BTreeSet<_> = strong.map(|n| (n.function.0, n.number)).collect();
    places.len()
}

#[cfg(test)]
mod tests;
