//! What only some commands answer: final states, repairs, diffs; and what the answer took.

use super::finding::drawing;
use super::markup::{Sentence, Text};
use crate::document::{Document, LitmusAnswer, RepairChange, RepairKind, Stats};
use crate::number::{bytes, count, plural};
use std::fmt::Write;

/// The final states of a litmus test.
pub(super) fn litmus(out: &mut String, document: &Document) {
    let Some(answer) = &document.litmus else {
        return;
    };
    let _ = writeln!(
        out,
        "<section class=\"litmus\"><h3>Final states of {}</h3>",
        Text(&answer.name)
    );
    if let Some(condition) = &answer.condition {
        let holds = match condition.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "is not decided",
        };
        let _ = writeln!(
            out,
            "<p><code>{}</code> {holds}: {}, {} for and {} against.</p>",
            Text(&condition.text),
            Text(condition.observation.to_lowercase()),
            plural(condition.satisfied, "execution"),
            count(condition.unsatisfied),
        );
    }
    states(out, answer);
    if answer.data_race {
        out.push_str("<p class=\"caution\">Some execution has a data race.</p>\n");
    }
    if let Some(bound) = answer.cut_at {
        let _ = writeln!(
            out,
            "<p class=\"caution\">A loop was cut after {}: there may be more states.</p>",
            plural(u64::from(bound), "iteration")
        );
    }
    out.push_str("</section>\n");
}

fn states(out: &mut String, answer: &LitmusAnswer) {
    let names = &answer.observed;
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Final states\"><table><thead><tr>");
    for name in names {
        let _ = write!(out, "<th scope=\"col\"><code>{}</code></th>", Text(name));
    }
    out.push_str(
        "<th scope=\"col\">executions</th><th scope=\"col\">condition</th></tr></thead><tbody>\n",
    );
    for state in &answer.states {
        let (class, word) = match state.satisfies {
            Some(true) => (" class=\"yes\"", "✓ satisfied"),
            Some(false) => ("", "–"),
            None => ("", ""),
        };
        let _ = write!(out, "<tr{class}>");
        for name in names {
            let _ = write!(out, "<td class=\"figure\">{}</td>", Text(state.shown(name)));
        }
        let _ = writeln!(
            out,
            "<td class=\"figure\">{}</td><td>{word}</td></tr>",
            count(state.executions)
        );
    }
    out.push_str("</tbody></table></div>\n");
}

/// The repair, what each of its changes forbids, and the diff.
pub(super) fn repair(out: &mut String, document: &Document, id: &str) {
    if let Some(repair) = &document.repair {
        let _ = write!(
            out,
            "<section class=\"repair\"><h3>Repair</h3>\n<p>{} for {}, cost {}. Each of them is needed.</p>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Changes\"><table><thead><tr><th scope=\"col\">change</th>\
             <th scope=\"col\">thread</th><th scope=\"col\">at</th><th scope=\"col\">cost</th></tr></thead><tbody>\n",
            plural(repair.changes.len() as u64, "change"),
            Text(&repair.target),
            count(repair.cost),
        );
        for change in &repair.changes {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td><code>{}</code></td><td class=\"figure\">{}</td></tr>",
                Text(words_of_change(change)),
                Text(&change.thread),
                Text(place_of_change(change)),
                count(change.cost),
            );
        }
        out.push_str("</tbody></table></div>\n");
        for (i, change) in repair.changes.iter().enumerate() {
            reason(out, change, &format!("{id}r{i}"));
        }
        out.push_str("</section>\n");
    }
    if let Some(diff) = &document.diff {
        patch(out, diff);
    }
}

fn words_of_change(change: &RepairChange) -> String {
    match (change.kind, &change.from) {
        (RepairKind::Fence, _) => format!("a {} fence before it", change.to),
        (RepairKind::Order, Some(from)) => format!("{from} → {}", change.to),
        (RepairKind::Order, None) => format!("order {}", change.to),
    }
}

fn place_of_change(change: &RepairChange) -> String {
    let place = change
        .location
        .as_ref()
        .map(|place| place.file_line_column());
    place.or_else(|| change.state.clone()).unwrap_or_default()
}

/// What goes wrong without a change.
fn reason(out: &mut String, change: &RepairChange, id: &str) {
    if change.message.is_none() && change.forbids.is_none() {
        return;
    }
    let _ = writeln!(
        out,
        "<details class=\"reason\"><summary>Without the change at <code>{}</code></summary>",
        Text(place_of_change(change))
    );
    if let Some(message) = &change.message {
        let _ = writeln!(out, "<p>{}</p>", Sentence(message));
    }
    if let Some(execution) = &change.forbids {
        drawing(out, execution, id);
    }
    out.push_str("</details>\n");
}

/// A unified diff, with its lines told apart by their first characters and by colour.
fn patch(out: &mut String, diff: &str) {
    out.push_str("<section class=\"patch\"><h3>Diff</h3>\n<pre tabindex=\"0\" role=\"group\" aria-label=\"Diff\">");
    for line in diff.lines() {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
            [b'+', ..] => "plus",
            [b'-', ..] => "minus",
            [b'@', ..] => "hunk",
            _ => "same",
        };
        let _ = write!(out, "<span class=\"{class}\">{}\n</span>", Text(line));
    }
    out.push_str("</pre></section>\n");
}

/// Figures.
pub(super) fn stats(out: &mut String, document: &Document) {
    out.push_str("<dl class=\"stats\">");
    for (name, value) in figures(&document.stats) {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Text(value));
    }
    out.push_str("</dl>\n");
}

fn figures(stats: &Stats) -> Vec<(&'static str, String)> {
    let mut figures: Vec<(&'static str, String)> = [
        ("states", stats.states),
        ("transitions", stats.transitions),
        ("states of attacks", stats.attack_states),
        ("depth", stats.depth.map(u64::from)),
        ("executions", stats.executions),
        ("runs", stats.runs),
        ("failed runs", stats.failures.filter(|&n| n > 0)),
        (
            "runs over the time limit",
            stats.timeouts.filter(|&n| n > 0),
        ),
        ("processes", stats.processes),
        ("suppressed findings", stats.suppressed.filter(|&n| n > 0)),
        (
            "findings inside the standard library, not shown",
            Some(stats.in_standard.len() as u64).filter(|&n| n > 0),
        ),
        ("known findings", stats.known.filter(|&n| n > 0)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, count(value?))))
    .collect();
    if let Some(memory) = stats.memory_bytes {
        figures.push(("memory of states", bytes(memory)));
    }
    if let Some(schedules) = &stats.schedules {
        figures.push(("strategy", schedules.strategy.clone()));
        if let Some(seed) = schedules.seed {
            figures.push(("seed", seed.to_string()));
        }
        figures.push(("different executions", count(schedules.executions)));
        if let Some(exploration) = &schedules.exploration {
            let words = if exploration.complete { "yes" } else { "no" };
            figures.push(("all executions seen", words.to_owned()));
        }
        for failed in &schedules.failures {
            figures.push(("failed", format!("{} ({})", failed.how, count(failed.runs))));
        }
    }
    figures.push(("time", format!("{:.2} s", stats.seconds)));
    figures
}
