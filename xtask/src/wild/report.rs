//! The results as a table, in Markdown for docs/case-studies.md, and in detail.

use super::execute::{Compared, Row};
use super::manifest::Verdict;
use std::fmt::Write;

/// All verdicts, with their name in tables.
const VERDICTS: [(Verdict, &str); 4] = [
    (Verdict::Bug, "bug"),
    (Verdict::Formal, "formal"),
    (Verdict::Benign, "benign"),
    (Verdict::Wait, "wait"),
];

/// A row for each run.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | version | CPU (s): ours / TSan | memory (MiB): ours / TSan | findings | TSan's warnings |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows {
        let version = &row.version;
        let (time, memory, warnings) = figures(row);
        let findings = findings(row);
        let name = format!("{}/{}", row.case, row.run);
        let _ = writeln!(
            text,
            "| {name} | {version} | {time} | {memory} | {findings} | {warnings} |"
        );
    }
    text
}

fn figures(row: &Row) -> (String, String, String) {
    let Some(Compared {
        ours,
        theirs,
        warnings,
    }) = &row.compared
    else {
        return Default::default();
    };
    let ratio = |a: f64, b: f64| format!("{a:.1} / {b:.1} = {:.2}", a / b.max(f64::MIN_POSITIVE));
    let time = if row.fixed_time {
        "fixed".to_owned()
    } else {
        ratio(ours.cpu, theirs.cpu)
    };
    (
        time,
        ratio(ours.memory, theirs.memory),
        warnings.to_string(),
    )
}

fn findings(row: &Row) -> String {
    if let Some(failure) = &row.failure {
        return format!("**failed**: {failure}");
    }
    let mut parts: Vec<String> = VERDICTS
        .into_iter()
        .map(|(verdict, name)| (row.findings.of(verdict), name))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if !row.findings.unknown.is_empty() {
        parts.push(format!("**{} not judged**", row.findings.unknown.len()));
    }
    if parts.is_empty() {
        "none".to_owned()
    } else {
        parts.join(", ")
    }
}

/// What was found, with reasons.
pub(crate) fn details(row: &Row) -> String {
    let mut text = format!(
        "{}/{}: {} findings\n",
        row.case,
        row.run,
        row.findings.count()
    );
    if let Some(failure) = &row.failure {
        let _ = writeln!(text, "  failed: {failure}");
    }
    for (verdict, name) in VERDICTS {
        for (why, count) in row.findings.known.get(&verdict).into_iter().flatten() {
            let _ = writeln!(text, "  {count} {name}: {why}");
        }
    }
    for line in &row.findings.unknown {
        let _ = writeln!(text, "  not judged: {line}");
    }
    text
}

/// The beginning of a long command, on one line.
pub(crate) fn shortened(command: &str) -> String {
    let line = command.replace("\\n", " ");
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
