//! The executions of a document in DOT, the language of Graphviz.
//!
//! One cluster per thread, program order in light grey, `rf` green, `mo` blue, `fr` red; the events and edges of
//! the cycle are bold. `mo` and `fr` are drawn as their immediate edges: the rest follows from them.

use crate::document::{Document, Edge, Execution, Finding};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The graphs of all findings; a comment when there is none to show, which is an empty DOT file.
pub fn dot(document: &Document) -> String {
    let findings = document.findings.iter();
    let graphs = findings.filter_map(|finding| {
        let execution = finding.execution.as_ref()?;
        Some(digraph(document, finding, execution))
    });
    let graphs: String = graphs.collect();
    match graphs.is_empty() {
        true => format!(
            "// {}: {}, no graph to show\n",
            one_line(&document.subject),
            document.verdict.name()
        ),
        false => graphs,
    }
}

fn digraph(document: &Document, finding: &Finding, execution: &Execution) -> String {
    let subject = &document.subject;
    let title = format!("{subject}: {}", finding.headline(Some(document.model)));
    let mut out = format!("digraph {} {{\n", quote(subject));
    let _ = writeln!(out, "  label={}; labelloc=t;", quote(&title));
    out.push_str("  rankdir=TB; fontname=\"sans-serif\"; newrank=true;\n");
    out.push_str("  node [shape=box, style=rounded, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    nodes(&mut out, execution);
    edges(&mut out, execution);
    out.push_str("}\n");
    out
}

fn nodes(out: &mut String, execution: &Execution) {
    let shown = initial_writes_to_show(execution);
    let events = || execution.events.iter().zip(0..);
    let initial =
        events().filter(|(event, number)| event.thread.is_none() && shown.contains(number));
    let initial: Vec<u32> = initial.map(|(_, number)| number).collect();
    if !initial.is_empty() {
        out.push_str("  {\n    rank=min;\n");
        initial
            .into_iter()
            .for_each(|number| node(out, execution, number));
        out.push_str("  }\n");
    }
    for (cluster, thread) in execution.threads().into_iter().enumerate() {
        let _ = writeln!(
            out,
            "  subgraph cluster_{cluster} {{\n    label={}; color=gray; style=rounded;",
            quote(&thread.to_string())
        );
        for (event, number) in events() {
            if event.thread.as_ref() == Some(thread) {
                node(out, execution, number);
            }
        }
        out.push_str("  }\n");
    }
}

/// Initial writes that somebody reads or overwrites; the others are clutter.
fn initial_writes_to_show(execution: &Execution) -> BTreeSet<u32> {
    let read = execution.rf.iter().map(|(write, _)| *write);
    let overwritten = execution.mo.iter().filter(|order| order.writes.len() > 1);
    read.chain(overwritten.map(|order| order.writes[0]))
        .collect()
}

fn node(out: &mut String, execution: &Execution, number: u32) {
    let event = &execution.events[number as usize];
    let letter = execution.letter(number);
    let mut label = event.operation.clone();
    if let Some(letter) = &letter {
        label = format!("{letter}: {label}");
    }
    if let Some(at) = event.position() {
        label = format!("{label}\n{at}");
    }
    let mut attributes = format!("label={}", quote(&label));
    if letter.is_some() {
        attributes.push_str(", penwidth=2.5");
    }
    if event.thread.is_none() {
        attributes.push_str(", style=\"rounded,dashed\"");
    }
    let _ = writeln!(out, "    e{number} [{attributes}];");
}

/// The colour of an edge.
fn color(edge: Edge, bold: bool) -> &'static str {
    match edge {
        Edge::Po if bold => "black",
        Edge::Po => "gray70",
        Edge::Asw | Edge::Sw => "gray40",
        Edge::Rf => "forestgreen",
        Edge::Mo => "royalblue",
        Edge::Fr => "firebrick",
        Edge::Sc => "darkorchid",
    }
}

fn edges(out: &mut String, execution: &Execution) {
    // Sorted by source, target and kind, so that the text depends on the graph alone.
    let plain = execution.immediate_edges().into_iter();
    let plain = plain.map(|edge| (edge, false));
    let bold = execution.cycle_edges().map(|edge| (edge, true));
    let all: BTreeMap<(u32, u32, Edge), bool> = plain.chain(bold).collect();
    for ((from, to, edge), bold) in all {
        let color = color(edge, bold);
        let mut attributes = format!("color={color}, fontcolor={color}");
        let location = execution.events[to as usize].location.as_deref();
        let label = edge_label(edge, bold, location.unwrap_or_default());
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
        let _ = writeln!(out, "  e{from} -> e{to} [{attributes}];");
    }
}

fn edge_label(edge: Edge, bold: bool, location: &str) -> String {
    match edge {
        Edge::Rf | Edge::Mo | Edge::Fr => format!("{} {location}", edge.name()),
        Edge::Po if !bold => String::new(),
        Edge::Po | Edge::Asw | Edge::Sw | Edge::Sc => edge.name().to_owned(),
    }
}

/// A DOT string.
fn quote(text: &str) -> String {
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
