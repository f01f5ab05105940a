//! Documents as one HTML file that fetches nothing: for people who look at a finding rather than read it.
//!
//! The page is complete without its script, which adds filters, a panel with details and a way to step through a schedule. A
//! content security policy keeps it from fetching anything, whatever a document says; all text is escaped
//! (`markup.rs`). The output is a function of the documents.

mod access;
mod answer;
mod finding;
mod graph;
mod layout;
mod markup;
mod route;
mod schedule;
mod source;
mod summary;
mod svg;

#[cfg(test)]
mod tests;

use crate::document::{Document, Edge, Event};
use graph::Graph;
use markup::Text;
use source::Sources;
use std::fmt::Write;

/// What the page may do: show itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// More findings than this are laid out when they come into sight.
const MANY: usize = 40;

/// A page for all documents.
pub fn html(documents: &[Document]) -> String {
    let mut out = String::with_capacity(64 << 10);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"rsan\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the findings</a>\n",
        Text(POLICY),
        Text(summary::title(documents)),
        include_str!("html/style.css"),
    );
    summary::header(&mut out, documents);
    out.push_str("<div class=\"page\">\n");
    summary::navigation(&mut out, documents);
    let findings: usize = documents
        .iter()
        .map(|document| document.findings.len())
        .sum();
    let class = if findings > MANY {
        " class=\"many\""
    } else {
        ""
    };
    let _ = writeln!(out, "<main id=\"main\"{class} tabindex=\"-1\">");
    for (number, document) in documents.iter().enumerate() {
        one(&mut out, document, number);
    }
    let _ = write!(
        out,
        "</main>\n</div>\n<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("html/script.js")
    );
    out
}

/// One document: its answer, its findings, those in libraries apart, and what it took.
fn one(out: &mut String, document: &Document, number: usize) {
    let id = format!("d{number}");
    let _ = writeln!(
        out,
        "<section class=\"document\" id=\"{id}\" aria-labelledby=\"{id}-heading\">"
    );
    summary::heading(out, document, &id);
    answer::litmus(out, document);
    answer::repair(out, document, &id);
    let sources = Sources::new(document);
    let (libraries, own): (Vec<_>, Vec<_>) = document
        .findings
        .iter()
        .enumerate()
        .partition(|(_, finding)| finding.in_libraries);
    for (i, finding) in own {
        finding::article(out, document, finding, &sources, &finding_id(number, i));
    }
    if !libraries.is_empty() {
        let _ = writeln!(
            out,
            "<details class=\"libraries\"><summary><h3>In libraries</h3> <span class=\"muted\">{}, all accesses in code that is not \
             yours</span></summary>",
            crate::number::plural(libraries.len() as u64, "finding")
        );
        for (i, finding) in libraries {
            finding::article(out, document, finding, &sources, &finding_id(number, i));
        }
        out.push_str("</details>\n");
    }
    answer::stats(out, document);
    out.push_str("</section>\n");
}

/// The name of a finding on the page, for links.
fn finding_id(document: usize, finding: usize) -> String {
    format!("d{document}f{finding}")
}

/// What an edge is.
fn words_of_edge(edge: Edge) -> &'static str {
    match edge {
        Edge::Po => "program order",
        Edge::Asw => "thread creation or join",
        Edge::Sw => "synchronises-with",
        Edge::Rf => "reads-from",
        Edge::Mo => "modification order",
        Edge::Fr => "from-read",
        Edge::Sc => "order of seq_cst fences",
    }
}

/// Where an event is, in a few characters: the folder of a source is left out.
fn event_place(event: &Event) -> Option<String> {
    let position = event.position()?;
    if event.line.is_some() && event.column.is_none() {
        return Some(format!("line {position}"));
    }
    let name = position.rsplit('/').next();
    name.map(str::to_owned)
}

/// All that is known of an event, one fact in a line.
fn event_in_words(event: &Event) -> String {
    let mut words = match &event.thread {
        Some(thread) => format!("{thread}: {}", event.operation),
        None => event.operation.clone(),
    };
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(words, "\n{name}: {value}");
        }
    };
    add("order", event.order.clone());
    add("reads", event.read.map(|value| value.to_string()));
    add("writes", event.written.map(|value| value.to_string()));
    add("at", event_place(event));
    words
}

/// `a -po-> b -fr-> a`, with the letters of the drawing; nothing without a cycle.
fn cycle_in_letters(graph: &Graph<'_>) -> Option<String> {
    let cycle = &graph.execution.cycle;
    let letter = |event: u32| graph.letters.get(&event).cloned();
    let first = letter(cycle.first()?.event)?;
    let mut words = String::new();
    for step in cycle {
        let _ = write!(words, "{} -{}-> ", letter(step.event)?, step.edge.name());
    }
    Some(words + &first)
}
