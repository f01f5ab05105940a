//! The execution graph of a witness in DOT, the language of Graphviz.
//!
//! One cluster per thread, program order in light grey, `rf` green, `mo` blue, `fr` red; the events and edges of
//! the cycle are bold. `mo` and `fr` are drawn as their immediate edges: the rest follows from them.

use crate::Checked;
use crate::describe::Describe;
use crate::finding::Finding;
use rsan_model::{Edge, EventId, Graph, Label, LocId, ThreadId, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The graph of a violation; for other verdicts a comment that says so, which is an empty DOT file.
pub fn dot(checked: &Checked<'_>) -> String {
    match checked.verdict {
        Verdict::Robust | Verdict::Unknown(_) => format!(
            "// {}: {}, no graph to show\n",
            one_line(checked.subject),
            checked.judgement().name()
        ),
        Verdict::Violation(witness) => {
            let finding = Finding::new(checked.program, checked.model, witness);
            digraph(checked, &finding)
        }
    }
}

fn digraph(checked: &Checked<'_>, finding: &Finding<'_>) -> String {
    let d = finding.describe;
    let graph = &finding.witness.graph;
    let title = format!("{}: {}", checked.subject, finding.headline());
    let mut out = format!("digraph {} {{\n", quote(checked.subject));
    let _ = writeln!(out, "  label={}; labelloc=t;", quote(&title));
    out.push_str("  rankdir=TB; fontname=\"sans-serif\"; newrank=true;\n");
    out.push_str("  node [shape=box, style=rounded, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    nodes(&mut out, checked, finding);
    edges(&mut out, d, graph, &finding.cycle());
    out.push_str("}\n");
    out
}

fn nodes(out: &mut String, checked: &Checked<'_>, finding: &Finding<'_>) {
    let graph = &finding.witness.graph;
    let shown = initial_writes_to_show(graph);
    out.push_str("  {\n    rank=min;\n");
    for e in graph.ids() {
        if graph.event(e).thread.is_none() && shown.contains(&e) {
            node(out, "    ", finding, e);
        }
    }
    out.push_str("  }\n");
    for (i, thread) in checked.program.threads.iter().enumerate() {
        let id = ThreadId::new(i);
        let mut events = graph
            .ids()
            .filter(|&e| graph.event(e).thread == Some(id))
            .peekable();
        if events.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            out,
            "  subgraph cluster_{i} {{\n    label={}; color=gray; style=rounded;",
            quote(&thread.name)
        );
        events.for_each(|e| node(out, "    ", finding, e));
        out.push_str("  }\n");
    }
}

/// Initial writes that somebody reads or overwrites; the others are clutter.
fn initial_writes_to_show(graph: &Graph) -> Vec<EventId> {
    let mut shown: Vec<_> = graph.ids().filter_map(|e| graph.reads_from(e)).collect();
    for loc in (0..graph.locations()).map(LocId::new) {
        if let [first, _, ..] = graph.modification_order(loc) {
            shown.push(*first);
        }
    }
    shown
}

fn node(out: &mut String, indent: &str, finding: &Finding<'_>, e: EventId) {
    let d = finding.describe;
    let mut label = d.operation(e);
    if let Some(letter) = finding.letter(e) {
        label = format!("{letter}: {label}");
    }
    if d.span_of(e).is_some() {
        label = format!("{label}\n{}", d.line_column(d.span_of(e)));
    }
    let mut attributes = format!("label={}", quote(&label));
    if finding.letter(e).is_some() {
        attributes.push_str(", penwidth=2.5");
    }
    if matches!(finding.witness.graph.label(e), Label::Init { .. }) {
        attributes.push_str(", style=\"rounded,dashed\"");
    }
    let _ = writeln!(out, "{indent}e{} [{attributes}];", e.0);
}

/// The kinds of edges in the order in which they are listed, and their colours.
const KINDS: [(Edge, &str); 6] = [
    (Edge::Po, "gray70"),
    (Edge::Asw, "gray40"),
    (Edge::Rf, "forestgreen"),
    (Edge::Mo, "royalblue"),
    (Edge::Fr, "firebrick"),
    (Edge::ScFence, "darkorchid"),
];

fn edges(out: &mut String, d: Describe<'_>, graph: &Graph, cycle: &[(EventId, Edge)]) {
    // Sorted by source, target and kind, so that the text depends on the graph alone.
    let rank = |edge: Edge| KINDS.iter().position(|&(e, _)| e == edge);
    let mut all: BTreeMap<(EventId, EventId, Option<usize>), (Edge, bool)> = BTreeMap::new();
    for (from, to, edge) in immediate(graph) {
        all.insert((from, to, rank(edge)), (edge, false));
    }
    for (i, &(from, edge)) in cycle.iter().enumerate() {
        let to = cycle[(i + 1) % cycle.len()].0;
        all.insert((from, to, rank(edge)), (edge, true));
    }
    for ((from, to, rank), (edge, bold)) in all {
        let color = match (edge, bold, rank) {
            (Edge::Po, true, _) | (_, _, None) => "black",
            (_, _, Some(i)) => KINDS[i].1,
        };
        let mut attributes = format!("color={color}, fontcolor={color}");
        let label = edge_label(edge, bold, d.location_of(to));
        if !label.is_empty() {
            let _ = write!(attributes, ", label={}", quote(&label));
        }
        attributes.push_str(if edge == Edge::Po {
            ", weight=10"
        } else {
            ", constraint=false"
        });
        if bold {
            attributes.push_str(", style=bold, penwidth=2.5");
        }
        let _ = writeln!(out, "  e{} -> e{} [{attributes}];", from.0, to.0);
    }
}

fn edge_label(edge: Edge, bold: bool, location: &str) -> String {
    match edge {
        Edge::Rf | Edge::Mo | Edge::Fr => format!("{edge} {location}"),
        Edge::Po if !bold => String::new(),
        Edge::Po | Edge::Asw | Edge::ScFence => edge.to_string(),
    }
}

/// The edges to draw whatever the cycle is.
fn immediate(graph: &Graph) -> Vec<(EventId, EventId, Edge)> {
    let mut edges = Vec::new();
    let mut last: BTreeMap<ThreadId, EventId> = BTreeMap::new();
    for e in graph.ids() {
        let previous = graph.event(e).thread.and_then(|t| last.insert(t, e));
        if let Some(previous) = previous {
            edges.push((previous, e, Edge::Po));
        }
        if let Some(write) = graph.reads_from(e) {
            edges.push((write, e, Edge::Rf));
            if let Some(next) = next_write(graph, write).filter(|&next| next != e) {
                edges.push((e, next, Edge::Fr));
            }
        }
    }
    for loc in (0..graph.locations()).map(LocId::new) {
        for pair in graph.modification_order(loc).windows(2) {
            edges.push((pair[0], pair[1], Edge::Mo));
        }
    }
    edges
}

fn next_write(graph: &Graph, write: EventId) -> Option<EventId> {
    let order = graph.modification_order(graph.label(write).loc()?);
    let position = order.iter().position(|&w| w == write)?;
    order.get(position + 1).copied()
}

/// A DOT string.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "?")
}
