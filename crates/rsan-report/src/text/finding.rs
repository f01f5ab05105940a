//! A finding: severity, kind and place; the user's own source; what can happen, why, and how to fix it.

use super::{Details, counted, execution, model, sentence_case, stack};
use crate::document::{
    Access, Document, Finding, Fix, Frame, HeldLock, Kind, LockMode, Place, Role as Part, Severity,
    place_of,
};
use crate::excerpt::{Mark, excerpt, width};
use crate::number::{count, plural};
use crate::printable::name;
use crate::style::{Role, Style};
use std::fmt::Write;

/// `error: data race on `x` at ring.c:31:12`
pub(super) fn headline(document: &Document, finding: &Finding, style: Style) -> String {
    let role = match finding.severity {
        Severity::Error => Role::Bad,
        Severity::Warning => Role::Undecided,
        Severity::Note => Role::Other,
    };
    let severity = style.paint(role, finding.severity.name());
    let what = finding.headline(model(document));
    let at = finding.location.as_ref().map(Place::file_line_column);
    let at = at.map_or(String::new(), |place| match finding.in_libraries {
        true => format!(" at {}", in_package(&place)),
        false => format!(" at {place}"),
    });
    let inside = finding.accesses.first().filter(|_| finding.in_libraries);
    let inside = inside.and_then(|access| access.maker()).and_then(within);
    let inside = inside.unwrap_or_default();
    format!(
        "{severity}: {}{inside}",
        style.paint(Role::Strong, &format!("{what}{at}"))
    )
}

/// `tokio-1.54.1/src/sync/watch.rs:31:9`: a place in a package that cargo has fetched from a registry, without the folder of packages.
fn in_package(place: &str) -> &str {
    let fetched = place.split_once("/registry/src/");
    let package = fetched.and_then(|(_, rest)| rest.split_once('/'));
    package.map_or(place, |(_, package)| package)
}

/// `, in std::latch::wait of libstdc++`
fn within(frame: &Frame) -> Option<String> {
    let (function, library) = (frame.function.as_deref()?, frame.library.as_deref()?);
    let name = name(function);
    // Neither arguments nor templates say where it is.
    let name = name.split(['(', '<']).next().unwrap_or_default();
    Some(format!(", in {name} of {library}"))
}

/// All that a person is told of a finding, and where the others are that its fix mends as well.
pub(super) fn write(
    out: &mut String,
    document: &Document,
    finding: &Finding,
    mended: &[&Finding],
    style: Style,
    details: Details,
) {
    let _ = writeln!(out, "{}", headline(document, finding, style));
    let indent = sources(out, document, finding, style, details);
    let sentences = std::iter::once(&finding.message).chain(&finding.because);
    let sentences = sentences.map(|sentence| name(&sentence_case(sentence)).into_owned());
    let fix = finding.fix.as_ref();
    let fix = fix.map(|fix| fixed(document, finding, fix, style));
    let lines = sentences.chain(held(finding));
    let lines = lines.chain(harm(finding, style)).chain(fix);
    let lines = lines.chain(others(mended));
    let lines = lines.chain(runs(document, finding));
    for line in lines.chain(finding.can_happen()) {
        let _ = writeln!(out, "{indent}= {line}");
    }
    // Without a source the stacks are all there is to say where.
    if details == Details::Full || finding.location.is_none() {
        stack::accesses(out, finding, style);
    }
    if details == Details::Full {
        if let Some(memory) = &finding.memory {
            stack::memory(out, memory, finding, style);
        }
        stack::threads(out, finding, style);
    }
    if let Some(execution) = &finding.execution {
        execution::write(out, finding, execution, style, details);
    }
}

/// `fix: what to do`, or for which other finding that is said.
fn fixed(document: &Document, finding: &Finding, fix: &Fix, style: Style) -> String {
    let head = style.paint(Role::Good, "fix");
    let all = document.findings.iter();
    let before = all.take_while(|other| !std::ptr::eq(*other, finding));
    let mut same = before.filter(|other| same_fix(other, finding));
    if let Some(at) = same.find_map(|other| other.location.as_ref()) {
        return format!("{head}: the same as for {}", at.file_line_column());
    }
    let checked = fix.checked.as_ref();
    let checked = checked.map_or(String::new(), |checked| format!(" ({checked})"));
    format!("{head}: {}{checked}", name(&fix.message))
}

/// Whether the same changes of the source mend both.
pub(super) fn same_fix(one: &Finding, other: &Finding) -> bool {
    let (Some(one), Some(other)) = (&one.fix, &other.fix) else {
        return false;
    };
    one.message == other.message && !one.changes.is_empty()
}

/// Where the other findings are that a fix mends.
fn others(mended: &[&Finding]) -> Option<String> {
    let places = mended
        .iter()
        .filter_map(|finding| finding.location.as_ref());
    let places = counted(places.map(Place::file_line_column)).into_iter();
    let places = places.map(|(place, times)| match times {
        1 => place,
        times => format!("{place} ({times})"),
    });
    let places: Vec<_> = places.collect();
    let number = plural(mended.len() as u64, "more finding");
    (!mended.is_empty()).then(|| {
        let places = places.join(", ");
        format!("The same fix is for {number}, -v shows all: {places}")
    })
}

/// Whether it hurts, and the run that shows it.
fn harm(finding: &Finding, style: Style) -> Vec<String> {
    let Some(harm) = &finding.harm else {
        return Vec::new();
    };
    let sentence = harm.sentence();
    let sentence = match sentence.strip_prefix("harmful") {
        Some(rest) => format!("{}{}", style.paint(Role::Bad, "harmful"), name(rest)),
        None => name(&sentence_case(&sentence)).into_owned(),
    };
    let replay = harm.recorded();
    let replay = replay.map(|recorded| format!("Replay of the harm: {}", recorded.command));
    std::iter::once(sentence).chain(replay).collect()
}

/// The places of a finding in the user's source, each once. Returns what stands before the sentences about it.
fn sources(
    out: &mut String,
    document: &Document,
    finding: &Finding,
    style: Style,
    details: Details,
) -> String {
    let label = finding.label.as_deref().unwrap_or("here");
    let main = finding.location.iter().map(|place| (place, label));
    // Of a weak behaviour the access and the write that it misses say enough.
    let shown = match details {
        Details::Short if finding.kind == Kind::WeakBehaviour => 1,
        Details::Short | Details::Full => usize::MAX,
    };
    let related = finding.related.iter().take(shown);
    let related = related.map(|related| (&related.location, related.message.as_str()));
    let mut labels: Vec<(&Place, String)> = Vec::new();
    for (place, label) in main.chain(related) {
        // One line of the source is shown once; in Rust, one place.
        let is_same = |known: &Place| {
            let same_line = (&known.file, known.line) == (&place.file, place.line);
            same_line && (!place.is_of_rust() || known.column == place.column)
        };
        match labels.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, known)) => {
                known.push_str("; ");
                known.push_str(label);
            }
            None => labels.push((place, label.to_owned())),
        }
    }
    let mark = |(place, label)| Mark {
        place,
        line: document.line(place),
        label,
    };
    let marks: Vec<_> = labels.into_iter().map(mark).collect();
    let Some(first) = marks.first() else {
        return "  ".to_owned();
    };
    let indent = format!("{} ", " ".repeat(width(&marks)));
    let shown = excerpt(&marks, style);
    // The place of the first one stands in the headline.
    let shown = match first.line {
        Some(_) if finding.location.is_some() => {
            shown.split_once('\n').map_or("", |(_, rest)| rest)
        }
        _ => &shown,
    };
    let bar = style.paint(Role::Faint, "|");
    let _ = writeln!(out, "{shown}{indent}{bar}");
    indent
}

/// The locks of both sides of a race, on one line.
fn held(finding: &Finding) -> Option<String> {
    let kinds = [Kind::DataRace, Kind::Deadlock, Kind::LockOrderInversion];
    let known = finding
        .accesses
        .iter()
        .filter(|access| access.held.is_some());
    let mut locks = known
        .clone()
        .flat_map(|access| access.held.iter().flatten());
    let shown = kinds.contains(&finding.kind) && locks.next().is_some();
    shown.then(|| {
        let sides: Vec<_> = known.map(side).collect();
        format!("Mutexes held: {}", sides.join("; "))
    })
}

fn side(access: &Access) -> String {
    let who = access.subject();
    let locks: Vec<_> = access.held.iter().flatten().map(lock).collect();
    match locks.is_empty() {
        true => format!("none by {who}"),
        false => format!("{} by {who}", locks.join(" and ")),
    }
}

/// `` `m` (read), taken at file:line``
fn lock(held: &HeldLock) -> String {
    let mode = match held.mode {
        LockMode::Read => " (read)",
        LockMode::Write => "",
    };
    let own = place_of(&held.stack).filter(|frame| frame.library.is_none());
    let place = own.and_then(Frame::place);
    let at = place.map_or(String::new(), |place| {
        format!(" (taken at {})", place.file_line())
    });
    format!("{}{mode}{at}", held.lock)
}

/// Tests that are named for a finding.
const TESTS: usize = 5;

/// How often it was found, and how to see it again.
fn runs(document: &Document, finding: &Finding) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(process) = &finding.process {
        let command = process.command.as_deref().unwrap_or_default();
        let command = match name(command) {
            none if none.is_empty() => String::new(),
            command => format!(": {command}"),
        };
        lines.push(format!("In process {}{command}", process.pid));
    }
    let (Some(found), Some(all)) = (finding.runs, document.stats.runs) else {
        return lines;
    };
    let recorded = finding.recorded.as_ref();
    let seed = recorded.and_then(|recorded| recorded.seed);
    let seed = seed.map_or(String::new(), |seed| format!(", first with seed {seed}"));
    // Of a package, runs of other tests say nothing.
    let own = document.tests.iter();
    let own = own.filter(|test| finding.tests.contains(&test.name));
    let (all, tests) = match own.clone().next() {
        Some(_) => {
            let names = finding.tests.iter().take(TESTS).map(|test| name(test));
            let more = finding.tests.len().saturating_sub(TESTS);
            let more = (more > 0).then(|| plural(more as u64, "more test").into());
            let names: Vec<_> = names.chain(more).collect();
            let tests = format!(" of {}", names.join(", "));
            (own.map(|test| test.runs).sum(), tests)
        }
        None => (all, String::new()),
    };
    if all > 1 || recorded.is_some() {
        let (found, all) = (count(found), plural(all, "run"));
        lines.push(format!("Found in {found} of {all}{tests}{seed}"));
    }
    lines.extend(recorded.map(|recorded| format!("Replay: {}", recorded.command)));
    lines
}

/// A thread of an access, for titles.
pub(super) fn by(access: &Access) -> String {
    let who = access.who();
    who.map_or(String::new(), |who| format!(" by {who}"))
}

/// What an access is to its finding, as the beginning of a title.
pub(super) fn relation(finding: &Finding, part: Part) -> &'static str {
    match (part, finding.kind) {
        (Part::Access | Part::Waiting | Part::Lock, _) => "",
        (Part::Earlier, Kind::DataRace | Kind::DescriptorRace) => "not ordered with: ",
        (Part::Earlier, _) => "after: ",
        (Part::Missed, _) => "missed: ",
        (Part::Stale, _) => "stale value: ",
    }
}
