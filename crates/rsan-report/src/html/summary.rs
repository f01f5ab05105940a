//! What is said first: the verdicts, how many findings there are, and a list of them to choose from.

use super::finding::sign;
use super::finding_id;
use super::markup::{Prose, Sentence, Text, shortened};
use crate::Judgement;
use crate::document::{Document, Finding, Kind, Severity};
use crate::number::plural;
use crate::text::promise;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Of the page.
pub(super) fn title(documents: &[Document]) -> String {
    match documents {
        [only] => format!("{}: {} · rsan", only.subject, headline(only)),
        all => format!("{} · rsan", plural(all.len() as u64, "answer")),
    }
}

/// The verdict in words.
fn headline(document: &Document) -> String {
    match document.verdict {
        Judgement::Robust => {
            let promise = promise(document);
            let repaired = document.repair.as_ref();
            match repaired.is_some_and(|repair| !repair.changes.is_empty()) {
                true => format!("{promise} once it is repaired"),
                false => promise,
            }
        }
        Judgement::NoFinding => "no finding".to_owned(),
        Judgement::Violation => match document.findings.len() {
            0 => "violation".to_owned(),
            n => plural(n as u64, "finding"),
        },
        Judgement::Unknown => "not decided".to_owned(),
    }
}

fn sign_of(verdict: Judgement) -> &'static str {
    match verdict {
        Judgement::Robust | Judgement::NoFinding => "✓",
        Judgement::Violation => "✕",
        Judgement::Unknown => "?",
    }
}

/// The top of the page.
pub(super) fn header(out: &mut String, documents: &[Document]) {
    out.push_str("<header class=\"top\"><h1>rsan</h1><p class=\"counts\">");
    if documents.len() != 1 {
        let answers = plural(documents.len() as u64, "answer");
        let _ = write!(out, "<span>{answers}</span>");
    }
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let count = all(documents)
            .filter(|(.., finding)| finding.severity == severity)
            .count();
        if count > 0 {
            let _ = write!(
                out,
                " <span class=\"count {}\"><span aria-hidden=\"true\">{}</span> {}</span>",
                severity.name(),
                sign(severity),
                plural(count as u64, severity.name())
            );
        }
    }
    out.push_str("</p></header>\n");
}

/// Every finding with the numbers of its document and its own.
fn all(documents: &[Document]) -> impl Iterator<Item = (usize, usize, &Finding)> {
    documents.iter().enumerate().flat_map(|(d, document)| {
        let findings = document.findings.iter().enumerate();
        findings.map(move |(f, finding)| (d, f, finding))
    })
}

/// The list of findings, and filters that only a script can use.
pub(super) fn navigation(out: &mut String, documents: &[Document]) {
    out.push_str("<nav aria-label=\"Findings\">\n");
    filters(out, documents);
    for (d, document) in documents.iter().enumerate() {
        let _ = writeln!(
            out,
            "<p class=\"subject\"><a href=\"#d{d}\"><span class=\"verdict {}\" aria-hidden=\"true\">{}</span> {}</a></p>",
            document.verdict.name(),
            sign_of(document.verdict),
            Text(&document.subject),
        );
        let (libraries, own): (Vec<_>, Vec<_>) = document
            .findings
            .iter()
            .enumerate()
            .partition(|(_, finding)| finding.in_libraries);
        if document.findings.is_empty() {
            continue;
        }
        out.push_str("<ol>");
        for (f, finding) in own.into_iter().chain(libraries) {
            entry(out, finding, &finding_id(d, f));
        }
        out.push_str("</ol>\n");
    }
    out.push_str("</nav>\n");
}

fn entry(out: &mut String, finding: &Finding, id: &str) {
    let severity = finding.severity.name();
    let _ = write!(
        out,
        "<li class=\"entry\" data-severity=\"{severity}\" data-kind=\"{}\" data-library=\"{}\"><a href=\"#{id}\">\
         <span class=\"sign {severity}\" title=\"{severity}\" aria-label=\"{severity}\" role=\"img\">{}</span> <span class=\"what\">{}</span>",
        finding.kind.name(),
        finding.in_libraries,
        sign(finding.severity),
        Prose(&shortened(&finding.headline(None), 60)),
    );
    if let Some(place) = &finding.location {
        let file = place.file_line();
        let name = file.rsplit('/').next().unwrap_or(&file);
        let _ = write!(
            out,
            " <span class=\"where\">{}</span>",
            Text(shortened(name, 40))
        );
    }
    if finding.in_libraries {
        out.push_str(" <span class=\"tag\">library</span>");
    }
    out.push_str("</a></li>\n");
}

/// Shown by the script, when there is something to choose from.
fn filters(out: &mut String, documents: &[Document]) {
    let kinds: BTreeSet<Kind> = all(documents).map(|(.., finding)| finding.kind).collect();
    let mut severities: BTreeMap<Severity, usize> = BTreeMap::new();
    for (.., finding) in all(documents) {
        *severities.entry(finding.severity).or_default() += 1;
    }
    if severities.values().sum::<usize>() < 2 {
        return;
    }
    out.push_str(
        "<form class=\"filters\" hidden aria-label=\"Filters\"><label class=\"text\"><span>Text</span> \
         <input type=\"search\" name=\"text\" placeholder=\"file, variable, function …\"></label>\n",
    );
    if severities.len() > 1 {
        out.push_str("<fieldset><legend>Severity</legend>");
        for severity in severities.keys().rev() {
            let name = severity.name();
            let _ = write!(
                out,
                "<label><input type=\"checkbox\" name=\"severity\" value=\"{name}\" checked> {name}</label> "
            );
        }
        out.push_str("</fieldset>\n");
    }
    if kinds.len() > 1 {
        out.push_str("<label class=\"kind\"><span>Kind</span> <select name=\"kind\"><option value=\"\">all</option>");
        for kind in kinds {
            let _ = write!(
                out,
                "<option value=\"{}\">{}</option>",
                kind.name(),
                kind.title()
            );
        }
        out.push_str("</select></label>\n");
    }
    out.push_str("<output aria-live=\"polite\"></output></form>\n");
}

/// The top of a document: its subject, its verdict and its notes.
pub(super) fn heading(out: &mut String, document: &Document, id: &str) {
    let verdict = document.verdict.name();
    let _ = writeln!(
        out,
        "<header><h2 id=\"{id}-heading\">{}</h2><p class=\"verdict {verdict}\"><span aria-hidden=\"true\">{}</span> {}</p>\
         <p class=\"muted\">{}</p></header>",
        Text(&document.subject),
        sign_of(document.verdict),
        Text(headline(document)),
        Text(format!(
            "rsan {}, memory model {}",
            document.command.name(),
            document.model
        )),
    );
    for note in &document.notes {
        let _ = writeln!(out, "<p class=\"remark\">{}</p>", Sentence(note));
    }
    let own = document.findings.iter().filter(|f| !f.in_libraries).count();
    if document.findings.len() > own && own == 0 {
        out.push_str("<p class=\"remark\">All findings are in libraries.</p>\n");
    }
}
