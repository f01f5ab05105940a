//! The drawing of an execution as SVG: threads as columns, time from top to bottom, the cycle in its own colour.
//!
//! Every event and edge has a title, so that orders and values are read without a script. Kinds of edges differ in
//! their labels and strokes, not only in colour.

use super::graph::{Graph, Row};
use super::layout::{self, Area, HEADER, Layout};
use super::markup::Text;
use super::route::{self, Curve};
use super::{event_place, words_of_edge};
use crate::document::{Edge, Event};
use std::fmt::Write;

/// More edges than this have no label unless they are on the cycle.
const FEW_EDGES: usize = 16;

/// How far a drawing shrinks where there is little space, before it scrolls.
const SMALLEST: f64 = 0.72;

/// The drawing. `id` is unique on the page.
pub(super) fn svg(out: &mut String, graph: &Graph<'_>, id: &str) {
    let layout = Layout::new(graph);
    let (width, height) = (layout.width.ceil(), layout.height.ceil());
    let _ = writeln!(
        out,
        "<svg class=\"graph\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" style=\"min-width:{}px\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>",
        (width * SMALLEST).floor(),
        Text(title(graph)),
        Text(description(graph)),
    );
    lanes(out, graph, &layout);
    let few = graph.lines.len() <= FEW_EDGES;
    for curve in &layout.curves {
        edge(out, graph, curve);
    }
    for &value in &graph.initial {
        if let Some(area) = layout.boxes.get(&value) {
            event(out, graph, value, *area, None);
        }
    }
    for (row, area) in graph.rows.iter().zip(&layout.rows) {
        match *row {
            Row::Event(number, step) => event(out, graph, number, *area, step),
            Row::Flush(number, step) => flush(out, graph, number, *area, step),
            Row::Gap(count) => gap(out, count, *area),
        }
    }
    for curve in &layout.curves {
        let labelled = curve.line.edge != Edge::Po && few;
        if curve.line.on_cycle || labelled {
            label(out, curve);
        }
    }
    out.push_str("</svg>\n");
}

fn title(graph: &Graph<'_>) -> &'static str {
    if graph.execution.cycle.is_empty() {
        "Execution"
    } else {
        "Execution with a cycle that sequential consistency forbids"
    }
}

/// The drawing in words, for those who do not see it.
fn description(graph: &Graph<'_>) -> String {
    let mut words = format!(
        "{} threads as columns, events from top to bottom in the order of the run.",
        graph.threads.len()
    );
    if let Some(cycle) = super::cycle_in_letters(graph) {
        let _ = write!(words, " Cycle: {cycle}.");
    }
    words
}

fn lanes(out: &mut String, graph: &Graph<'_>, layout: &Layout) {
    for (thread, lane) in graph.threads.iter().zip(&layout.lanes) {
        let (x, _) = lane.middle();
        let _ = writeln!(
            out,
            "<rect class=\"lane\" x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
             <text class=\"thread\" x=\"{x}\" y=\"{}\">{}</text>",
            lane.x,
            lane.width,
            lane.height,
            HEADER - 11.0,
            Text(super::markup::shortened(&thread.to_string(), 26)),
        );
    }
    if let Some(area) = graph
        .initial
        .first()
        .and_then(|value| layout.boxes.get(value))
    {
        gutter(out, *area, "init");
    }
}

fn gutter(out: &mut String, area: Area, text: &str) {
    let y = area.middle().1 + 4.0;
    let _ = writeln!(
        out,
        "<text class=\"step\" x=\"30\" y=\"{y}\">{}</text>",
        Text(text)
    );
}

fn event(out: &mut String, graph: &Graph<'_>, number: u32, area: Area, step: Option<usize>) {
    let Some(event) = graph.event(number) else {
        return;
    };
    let letter = graph.letters.get(&number);
    let weak = weak_access(graph) == Some(number);
    let initial = event.thread.is_none();
    if let Some(step) = step {
        gutter(out, area, &step.to_string());
    } else if weak {
        gutter(out, area, "weak");
    }
    let mut class = String::from("event");
    for (holds, name) in [
        (letter.is_some(), " on-cycle"),
        (weak, " weak"),
        (initial, " initial"),
    ] {
        if holds {
            class.push_str(name);
        }
    }
    let _ = write!(
        out,
        "<g class=\"{class}\" data-event=\"{number}\"{}>",
        attributes(graph, number, event)
    );
    let _ = write!(
        out,
        "<title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        Text(super::event_in_words(event)),
        area.x,
        area.y,
        area.width,
        area.height,
        if initial { 14 } else { 6 },
    );
    let (operation, below) = layout::lines_of_box(graph, number);
    let left = match letter {
        Some(letter) => {
            let (_, y) = area.middle();
            let x = area.x + 17.0;
            let _ = write!(
                out,
                "<circle class=\"letter\" cx=\"{x}\" cy=\"{y}\" r=\"9.5\"/><text class=\"letter\" x=\"{x}\" y=\"{}\">{letter}</text>",
                y + 4.0,
            );
            area.x + 34.0
        }
        None => area.x + 14.0,
    };
    if below.is_empty() {
        let y = area.middle().1 + 4.0;
        let _ = write!(
            out,
            "<text class=\"op\" x=\"{left}\" y=\"{y}\">{}</text>",
            Text(operation)
        );
    } else {
        let _ = write!(
            out,
            "<text class=\"op\" x=\"{left}\" y=\"{}\">{}</text><text class=\"at\" x=\"{left}\" y=\"{}\">{}</text>",
            area.y + 18.0,
            Text(operation),
            area.y + 33.0,
            Text(below),
        );
    }
    out.push_str("</g>\n");
}

/// What the script shows beside the drawing.
fn attributes(graph: &Graph<'_>, number: u32, event: &Event) -> String {
    let mut out = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, " data-{name}=\"{}\"", Text(value));
        }
    };
    add("name", graph.letters.get(&number).cloned());
    add("operation", Some(event.operation.clone()));
    add("thread", event.thread.as_ref().map(ToString::to_string));
    add("place", event_place(event));
    add("location", event.location.clone());
    add("order", event.order.clone());
    add("read", event.read.map(|value| value.to_string()));
    add("written", event.written.map(|value| value.to_string()));
    let line = event
        .line
        .or_else(|| crate::document::place_of(&event.stack)?.line);
    add("line", line.map(|line| line.to_string()));
    out
}

fn flush(out: &mut String, graph: &Graph<'_>, number: u32, area: Area, step: usize) {
    let Some(event) = graph.event(number) else {
        return;
    };
    gutter(out, area, &step.to_string());
    let what = match (&event.location, event.written) {
        (Some(location), Some(value)) => format!("{location} = {value} reaches memory"),
        _ => "reaches memory".to_owned(),
    };
    let (x, y) = area.middle();
    let _ = writeln!(
        out,
        "<g class=\"flush\" data-flush=\"{number}\"><title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"13\"/>\
         <text class=\"at\" x=\"{x}\" y=\"{}\">{}</text></g>",
        Text(format!("the store buffer is flushed: {what}")),
        area.x,
        area.y,
        area.width,
        area.height,
        y + 4.0,
        Text(super::markup::shortened(&what, 34)),
    );
}

fn gap(out: &mut String, count: usize, area: Area) {
    let (x, y) = area.middle();
    let events = crate::number::plural(count as u64, "event");
    let _ = writeln!(
        out,
        "<text class=\"gap\" x=\"{x}\" y=\"{}\">⋯ {events} not drawn ⋯</text>",
        y + 4.0
    );
}

/// The access that is weak, or the load that overtakes a store.
fn weak_access(graph: &Graph<'_>) -> Option<u32> {
    let stale = graph.execution.stale.map(|stale| stale.access);
    stale.or(graph.execution.delay.map(|delay| delay.load))
}

fn class_of(curve: &Curve) -> String {
    let cycle = if curve.line.on_cycle { " on-cycle" } else { "" };
    format!("edge {}{cycle}", curve.line.edge.name())
}

fn edge(out: &mut String, graph: &Graph<'_>, curve: &Curve) {
    let line = curve.line;
    let name = |number: u32| {
        let operation = graph.event(number).map_or("", |event| &event.operation);
        match graph.letters.get(&number) {
            Some(letter) => format!("{letter}: {operation}"),
            None => operation.to_owned(),
        }
    };
    let (from, to) = (name(line.from), name(line.to));
    let [start, one, two, end] = curve.points;
    let (end, head) = arrow(two, end, if line.on_cycle { 11.0 } else { 8.0 });
    let points = [start, one, two, end].map(|(x, y)| format!("{x:.1} {y:.1}"));
    let _ = write!(
        out,
        "<g class=\"{}\" data-from=\"{}\" data-to=\"{}\"><title>{}</title>",
        class_of(curve),
        line.from,
        line.to,
        Text(format!("{}\n{from}\n{to}", words_of_edge(line.edge))),
    );
    let path = format!("M{} C{} {} {}", points[0], points[1], points[2], points[3]);
    if line.on_cycle {
        let _ = write!(out, "<path class=\"halo\" d=\"{path}\"/>");
    }
    let _ = writeln!(
        out,
        "<path class=\"line\" d=\"{path}\"/><path class=\"head\" d=\"{head}\"/></g>"
    );
}

/// The point where the line ends and the head of its arrow begins, and the head.
fn arrow(before: (f64, f64), tip: (f64, f64), length: f64) -> ((f64, f64), String) {
    let (dx, dy) = (tip.0 - before.0, tip.1 - before.1);
    let norm = dx.hypot(dy).max(1e-6);
    let (dx, dy) = (dx / norm, dy / norm);
    let base = (tip.0 - dx * length, tip.1 - dy * length);
    let half = length * 0.45;
    let head = format!(
        "M{:.1} {:.1} L{:.1} {:.1} L{:.1} {:.1} Z",
        tip.0,
        tip.1,
        base.0 - dy * half,
        base.1 + dx * half,
        base.0 + dy * half,
        base.1 - dx * half,
    );
    (base, head)
}

fn label(out: &mut String, curve: &Curve) {
    let (x, y) = curve.label;
    let area = route::around(curve.label);
    let _ = writeln!(
        out,
        "<g class=\"{} label\" data-from=\"{}\" data-to=\"{}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"9\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
        class_of(curve),
        curve.line.from,
        curve.line.to,
        area.x,
        area.y,
        area.width,
        area.height,
        y + 4.0,
        curve.line.edge.name(),
    );
}

/// The kinds of edges in a drawing, each with a stroke to know it by.
pub(super) fn legend(out: &mut String, graph: &Graph<'_>) {
    out.push_str("<ul class=\"legend\" aria-label=\"Legend\">");
    let cycle = graph.lines.iter().any(|line| line.on_cycle);
    if cycle {
        sample(out, "on-cycle", "cycle that sequential consistency forbids");
    }
    for edge in [
        Edge::Po,
        Edge::Rf,
        Edge::Fr,
        Edge::Mo,
        Edge::Sw,
        Edge::Asw,
        Edge::Sc,
    ] {
        if graph.lines.iter().any(|line| line.edge == edge) {
            sample(
                out,
                edge.name(),
                &format!("{}: {}", edge.name(), words_of_edge(edge)),
            );
        }
    }
    out.push_str("</ul>\n");
}

fn sample(out: &mut String, class: &str, words: &str) {
    let _ = write!(
        out,
        "<li><svg width=\"34\" height=\"12\" aria-hidden=\"true\"><g class=\"edge {class}\"><path class=\"line\" d=\"M1 6 H26\"/>\
         <path class=\"head\" d=\"M34 6 L25 2 L25 10 Z\"/></g></svg>{}</li>",
        Text(words)
    );
}
