//! The accesses of a run in DOT, the language of Graphviz, in the manner of `rsan-report`: a cluster for each thread, program order
//! grey, `rf` green, `mo` blue, `fr` red, the cycle bold.

use super::TsoInput;
use super::render::Describe;
use rsan_model::{Edge, Value};
use rsan_report::quote;
use rsan_tso::{Action, Event, Outcome, Verdict};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// The graph of an answer; a comment when there is none to show.
pub(super) fn dot(input: &TsoInput, outcome: &Outcome) -> String {
    let subject = input.subject.replace(['\n', '\r'], " ");
    let (actions, events, cycle, what) = match &outcome.verdict {
        Verdict::Robust => return format!("// {subject}: robust, no graph to show\n"),
        Verdict::Unknown(_) => return format!("// {subject}: unknown, no graph to show\n"),
        Verdict::Violation(c) => (
            &c.actions,
            &c.events,
            &c.cycle[..],
            "not robust against tso",
        ),
        Verdict::TriangularRace(r) => (&r.actions, &r.events, &[][..], "triangular race"),
        Verdict::Deadlock(d) => (&d.actions, &d.events, &[][..], "deadlock"),
        Verdict::Fault(f) => (&f.actions, &f.events, &[][..], "fails"),
    };
    let d = Describe {
        automata: &input.automata,
    };
    let mut out = format!("digraph {} {{\n", quote(&subject));
    let title = format!("{subject}: {what}");
    let _ = writeln!(out, "  label={}; labelloc=t;", quote(&title));
    out.push_str("  rankdir=TB; fontname=\"sans-serif\"; newrank=true;\n");
    out.push_str("  node [shape=box, style=rounded, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    let on_cycle: BTreeSet<usize> = cycle.iter().map(|c| c.0).collect();
    for thread in 0..input.automata.threads.len() {
        let mine = events
            .iter()
            .enumerate()
            .filter(|(_, e)| e.thread == thread);
        let mut mine = mine.peekable();
        if mine.peek().is_none() {
            continue;
        }
        let name = quote(d.thread(thread));
        let _ = writeln!(
            out,
            "  subgraph cluster_{thread} {{\n    label={name}; color=gray; style=rounded;"
        );
        for (number, event) in mine {
            let bold = if on_cycle.contains(&number) {
                ", penwidth=2"
            } else {
                ""
            };
            let label = quote(&d.operation(event));
            let _ = writeln!(out, "    e{number} [label={label}{bold}];");
        }
        out.push_str("  }\n");
    }
    edges(&mut out, &all_edges(actions, events), cycle);
    out.push_str("}\n");
    out
}

fn edges(out: &mut String, all: &BTreeSet<(usize, usize, Edge)>, cycle: &[(usize, Edge)]) {
    let next = |i: usize| cycle[(i + 1) % cycle.len()].0;
    let bold: BTreeSet<(usize, usize, Edge)> = cycle
        .iter()
        .enumerate()
        .map(|(i, (event, edge))| (*event, next(i), *edge))
        .collect();
    for edge in all.union(&bold) {
        let (from, to, kind) = *edge;
        let color = match kind {
            Edge::Po => "gray",
            Edge::Rf => "forestgreen",
            Edge::Mo => "blue",
            _ => "red",
        };
        let width = if bold.contains(edge) {
            ", penwidth=2.5"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  e{from} -> e{to} [label=\"{kind}\", color={color}, fontcolor={color}{width}];"
        );
    }
}

/// Program order, reads-from, the order of writes and from-read, each as its immediate edges.
fn all_edges(actions: &[Action], events: &[Event]) -> BTreeSet<(usize, usize, Edge)> {
    let mut all = BTreeSet::new();
    let order = order(actions, events);
    for (number, event) in events.iter().enumerate() {
        let later = events[number + 1..]
            .iter()
            .position(|e| e.thread == event.thread);
        all.extend(later.map(|after| (number, number + 1 + after, Edge::Po)));
        all.extend(event.from.map(|from| (from, number, Edge::Rf)));
        let writes = order.get(&event.address).map_or(&[][..], Vec::as_slice);
        let after = |write: usize| {
            let at = writes.iter().position(|w| *w == write)?;
            writes.get(at + 1).copied()
        };
        if event.written.is_some() {
            all.extend(after(number).map(|next| (number, next, Edge::Mo)));
        }
        if event.read.is_some() {
            let next = event.from.map_or(writes.first().copied(), after);
            let next = next.filter(|next| *next != number);
            all.extend(next.map(|next| (number, next, Edge::Fr)));
        }
    }
    all
}

/// The writes of each address in the order in which they reach memory.
fn order(actions: &[Action], events: &[Event]) -> BTreeMap<Value, Vec<usize>> {
    let mut order: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    let mut buffers: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
    for (step, action) in actions.iter().enumerate() {
        let reached = match action {
            Action::Flush { thread } => buffers.entry(*thread).or_default().pop_front(),
            Action::Step { thread, .. } => {
                let event = events.iter().position(|e| e.step == step);
                let event = event.filter(|e| events[*e].written.is_some());
                match event {
                    // An update writes at once, a store goes through the buffer.
                    Some(event) if events[event].read.is_none() => {
                        buffers.entry(*thread).or_default().push_back(event);
                        None
                    }
                    other => other,
                }
            }
        };
        if let Some(event) = reached {
            order.entry(events[event].address).or_default().push(event);
        }
    }
    order
}
