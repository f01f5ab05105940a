//! A finding: what, where, why, how to fix it, and how it comes about.

use super::graph::Graph;
use super::markup::{Prose, Sentence, Text};
use super::source::{self, Sources};
use super::{access, cycle_in_letters, event_place, schedule, svg};
use crate::document::{Document, Execution, Finding, Harm, Severity};
use crate::number::plural;
use crate::text::model;
use std::fmt::Write;

/// A sign for a severity that does not need its colour.
pub(super) fn sign(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "✕",
        Severity::Warning => "▲",
        Severity::Note => "●",
    }
}

/// A badge with the severity.
pub(super) fn badge(out: &mut String, severity: Severity) {
    let name = severity.name();
    let _ = write!(
        out,
        "<span class=\"badge {name}\"><span aria-hidden=\"true\">{}</span> {name}</span>",
        sign(severity)
    );
}

/// The whole finding.
pub(super) fn article(
    out: &mut String,
    document: &Document,
    finding: &Finding,
    sources: &Sources<'_>,
    id: &str,
) {
    let _ = writeln!(
        out,
        "<article class=\"finding {}\" id=\"{id}\" aria-labelledby=\"{id}-heading\" tabindex=\"-1\">\n<header><h3 id=\"{id}-heading\">",
        finding.severity.name(),
    );
    badge(out, finding.severity);
    if finding.known {
        out.push_str(" <span class=\"badge\">known</span>");
    }
    if finding.harm.as_ref().is_some_and(Harm::is_harmful) {
        out.push_str(" <span class=\"badge error\">harmful</span>");
    }
    let what = finding.headline(model(document));
    let _ = write!(out, " <span>{}</span>", Prose(&what));
    if let Some(place) = &finding.location {
        let _ = write!(
            out,
            " <code class=\"place\">{}</code>",
            Text(place.file_line_column())
        );
    }
    let _ = writeln!(
        out,
        "</h3></header>\n<p class=\"message\">{}</p>",
        Sentence(&finding.message)
    );
    for reason in &finding.because {
        let _ = writeln!(out, "<p class=\"because\">{}</p>", Sentence(reason));
    }
    harm(out, finding);
    fix(out, finding);
    if let Some(machines) = finding.can_happen() {
        let _ = writeln!(out, "<p class=\"machines\">{}</p>", Sentence(&machines));
    }
    source::excerpts(out, finding, sources);
    if let Some(execution) = &finding.execution {
        drawing(out, execution, id);
    }
    more(out, finding);
    out.push_str("</article>\n");
}

/// Whether it hurts, and the run that shows it.
fn harm(out: &mut String, finding: &Finding) {
    let Some(harm) = &finding.harm else { return };
    let class = if harm.is_harmful() { " harmful" } else { "" };
    let _ = write!(
        out,
        "<p class=\"harm{class}\">{}",
        Sentence(&harm.sentence())
    );
    if let Some(recorded) = harm.recorded() {
        let _ = write!(out, " Again: <code>{}</code>", Text(&recorded.command));
    }
    out.push_str("</p>\n");
}

fn fix(out: &mut String, finding: &Finding) {
    let Some(fix) = &finding.fix else { return };
    let _ = write!(
        out,
        "<p class=\"fix\"><strong>Fix:</strong> {}",
        Prose(fix.message.trim_end_matches('.'))
    );
    if let Some(checked) = &fix.checked {
        let _ = write!(out, " <span class=\"muted\">({})</span>", Prose(checked));
    }
    out.push_str("</p>\n");
}

/// The execution: the drawing, its legend, the cycle in words and the schedule.
pub(super) fn drawing(out: &mut String, execution: &Execution, id: &str) {
    let Some(graph) = Graph::new(execution) else {
        return;
    };
    out.push_str("<figure class=\"execution\"><figcaption><h4>Execution</h4>");
    svg::legend(out, &graph);
    out.push_str(
        "</figcaption>\n<div class=\"stage\">\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Drawing of the execution\">\n",
    );
    svg::svg(out, &graph, id);
    out.push_str("</div>\n</div>\n");
    cycle(out, &graph);
    schedule::steps(out, &graph);
    out.push_str("</figure>\n");
}

fn cycle(out: &mut String, graph: &Graph<'_>) {
    let Some(words) = cycle_in_letters(graph) else {
        return;
    };
    let _ = writeln!(
        out,
        "<details class=\"cycle\"><summary>Cycle <code>{}</code></summary><div class=\"scroll\" tabindex=\"0\" role=\"group\" \
         aria-label=\"Events of the cycle\"><table><thead><tr><th scope=\"col\">event</th><th scope=\"col\">thread</th>\
         <th scope=\"col\">at</th><th scope=\"col\">operation</th></tr></thead><tbody>",
        Text(words)
    );
    for (event, letter) in by_letter(graph) {
        let Some(event) = graph.event(event) else {
            continue;
        };
        let thread = event.thread.as_ref().map(ToString::to_string);
        let _ = writeln!(
            out,
            "<tr><td>{letter}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
            Text(thread.unwrap_or_default()),
            Text(event_place(event).unwrap_or_default()),
            Text(&event.operation),
        );
    }
    out.push_str("</tbody></table></div></details>\n");
}

/// The events of the cycle, as they are named.
fn by_letter<'g>(graph: &'g Graph<'_>) -> Vec<(u32, &'g str)> {
    let mut events: Vec<(u32, &str)> = graph
        .letters
        .iter()
        .map(|(&event, letter)| (event, letter.as_str()))
        .collect();
    events.sort_by_key(|&(_, letter)| (letter.len(), letter));
    events
}

/// What is needed less often.
fn more(out: &mut String, finding: &Finding) {
    let known = !finding.accesses.is_empty()
        || finding.memory.is_some()
        || finding.recorded.is_some()
        || finding.process.is_some();
    if !known && finding.runs.is_none() && finding.tests.is_empty() {
        return;
    }
    if known {
        // Without a drawing this is what explains the finding.
        let open = if finding.execution.is_none() {
            " open"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "<details class=\"accesses\"{open}><summary>Accesses, stacks and locks</summary>"
        );
        access::cards(out, finding);
        if let Some(process) = &finding.process {
            let command = process.command.as_deref().unwrap_or("an unknown command");
            let _ = writeln!(
                out,
                "<p>Found in process {}: <code>{}</code></p>",
                process.pid,
                Text(command)
            );
        }
        out.push_str("</details>\n");
    }
    if let Some(recorded) = &finding.recorded {
        let _ = writeln!(
            out,
            "<p class=\"replay\">Again: <code>{}</code></p>",
            Text(&recorded.command)
        );
    }
    if let Some(runs) = finding.runs {
        let _ = writeln!(
            out,
            "<p class=\"muted\">Found in {}.</p>",
            plural(runs, "run")
        );
    }
    if !finding.tests.is_empty() {
        let tests = finding.tests.join(", ");
        let _ = writeln!(
            out,
            "<p class=\"tests\">Shown by <code>{}</code></p>",
            Text(tests)
        );
    }
}
