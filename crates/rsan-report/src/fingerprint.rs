//! When two findings are the same: in several runs, in several documents, before and after a change of the source.
//!
//! A finding is known by its kind and by the *sites* of its decisive accesses: the file, the function and the text of the source line,
//! blanks left out. Line numbers do not count, so a finding is still the same when lines are inserted above it. The two accesses of a
//! race, the threads of a deadlock and the locks of an inversion have no order: each of them may come first in a run. Findings of one
//! document that are equal so far are numbered.

use crate::document::{Access, Document, Finding, Frame, Place, Role, place_of};
use std::collections::BTreeMap;
use std::fmt;

/// The key of our fingerprints in SARIF. Its number changes when fingerprints change.
pub const FINGERPRINT_KEY: &str = "rsanFinding/v1";

/// What a finding is known by: `HASH:ORDINAL`, as it stands in SARIF.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// A fingerprint that was printed before.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As it stands in SARIF.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The fingerprints of a document's findings, in their order.
pub fn fingerprints(document: &Document) -> Vec<Fingerprint> {
    let mut seen = BTreeMap::new();
    let number = |finding| {
        let hash = hash(&identity(document, finding));
        let ordinal = seen.entry(hash).or_insert(0_u32);
        *ordinal += 1;
        Fingerprint(format!("{hash:016x}:{ordinal}"))
    };
    document.findings.iter().map(number).collect()
}

/// What is hashed: the kind and the sites, one in a line.
fn identity(document: &Document, finding: &Finding) -> String {
    let mut sites: Vec<String> = if finding.accesses.is_empty() {
        places(document, finding)
    } else {
        let decisive = finding.accesses.iter().filter(|access| decides(access));
        decisive.map(|access| site(document, access)).collect()
    };
    if finding.kind.is_unordered() {
        sites.sort();
    }
    sites.insert(0, finding.kind.name().to_owned());
    sites.join("\n")
}

/// The older write that a stale load may return is not decisive: there may be several, and which one is shown is chance.
fn decides(access: &Access) -> bool {
    match access.role {
        Role::Access | Role::Earlier | Role::Missed | Role::Waiting | Role::Lock => true,
        Role::Stale => false,
    }
}

/// The sites of a finding of a program that was not run: its place and the related ones.
fn places(document: &Document, finding: &Finding) -> Vec<String> {
    let thread = finding.thread.as_ref().map(ToString::to_string);
    let Some(location) = &finding.location else {
        return vec![format!(
            "{}\t{}",
            document.subject,
            thread.unwrap_or_default()
        )];
    };
    let first = at(document, location, thread.as_deref());
    let related = finding.related.iter();
    let others = related.map(|other| at(document, &other.location, None));
    [first].into_iter().chain(others).collect()
}

/// The site of an access: where the user would look for it.
fn site(document: &Document, access: &Access) -> String {
    let Some(frame) = place_of(&access.stack) else {
        return access.stack.first().map_or(String::new(), unknown_source);
    };
    match frame.place() {
        Some(place) => at(document, &place, frame.function.as_deref()),
        None => unknown_source(frame),
    }
}

/// A site without debug information: the function, or else the address in its file.
fn unknown_source(frame: &Frame) -> String {
    let module = frame.module.as_deref().unwrap_or_default();
    let name = frame.function.as_deref().or(frame.offset.as_deref());
    format!("{module}\t{}", name.unwrap_or_default())
}

/// A place by what stands there, or by its number where the source is not known.
fn at(document: &Document, place: &Place, function: Option<&str>) -> String {
    let text = document.line(place);
    let line = match (text, place.line) {
        (Some(text), _) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        (None, Some(number)) => number.to_string(),
        (None, None) => String::new(),
    };
    let function = function.unwrap_or_default();
    format!("{}\t{function}\t{line}", place.file)
}

/// FNV-1a with 64 bits: short, and the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
