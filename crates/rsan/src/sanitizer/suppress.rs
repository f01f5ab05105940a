//! Suppressions of the user's: which findings are left out, and which lines were of use; and findings inside Rust's standard library, which
//! are left out unless the user asks for them.

use super::findings::Found;
use crate::args::SanitizerArgs;
use crate::files;
use rsan_report::document::Role;
use rsan_report::number::plural;
use rsan_schedule::Settings;
use rsan_suppressions::{Frame, Subject, Suppression};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The suppressions of a file.
#[derive(Default, Debug)]
pub(crate) struct Suppressions {
    file: String,
    all: Vec<Suppression>,
    /// The lines that matched a finding.
    used: BTreeSet<usize>,
    /// Findings inside the standard library are shown.
    includes_standard: bool,
    /// Those that were left out, in words.
    in_standard: BTreeSet<String>,
}

/// The file that settings name.
fn named(settings: &Settings<'_>) -> Option<PathBuf> {
    let file = settings.get("suppressions");
    file.filter(|file| !file.is_empty()).map(PathBuf::from)
}

impl Suppressions {
    /// Those that the user wants: of the option's file, or else of the one that `RSAN_OPTIONS` or `TSAN_OPTIONS` name.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn wanted(args: &SanitizerArgs) -> Result<Self, String> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let ours = || named(&Settings::read(&variable("RSAN_OPTIONS")).0);
        let theirs = || named(&Settings::read_tsan(&variable("TSAN_OPTIONS")));
        // The runtime could apply them, too, but here more is known of a finding: lines, and inlined functions.
        let file = args.suppressions.clone().or_else(ours).or_else(theirs);
        let all = file.map(|file| Self::read(&file)).transpose()?;
        Ok(Self {
            includes_standard: args.include_std,
            ..all.unwrap_or_default()
        })
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The message for the user, with the place of everything that is wrong.
    fn read(file: &Path) -> Result<Self, String> {
        let name = file.display().to_string();
        let text =
            files::read_text(file, files::TEXT).map_err(|error| format!("{name}: {error}"))?;
        let all = rsan_suppressions::parse(&name, &text)
            .map_err(|errors| errors.replace('\n', "\nerror: "))?;
        Ok(Self {
            file: name,
            all,
            ..Self::default()
        })
    }

    /// The lines that match a finding.
    fn matching(&self, found: &Found) -> Vec<usize> {
        let subject = Subject::of_kind(found.finding.kind.name());
        let variable = found.variable();
        let stacks: Vec<Vec<_>> = found
            .stacks()
            .map(|stack| {
                let frames = stack.iter().map(|frame| Frame {
                    function: frame.function.as_deref(),
                    file: frame.file.as_deref(),
                    module: frame.module.as_deref(),
                });
                frames.collect()
            })
            .collect();
        let matching = self
            .all
            .iter()
            .filter(|s| s.matches(subject, &stacks, variable));
        matching.map(Suppression::line).collect()
    }

    /// Whether a finding is left out because it is not the user's.
    fn hides(&self, found: &Found) -> bool {
        found.in_standard && !self.includes_standard
    }

    /// Whether a finding is suppressed.
    pub(crate) fn suppresses(&self, found: &Found) -> bool {
        self.hides(found) || !self.matching(found).is_empty()
    }

    /// Takes the suppressed findings out, and returns how many they are; those inside the standard library are out, too, and not counted.
    pub(crate) fn apply(&mut self, findings: &mut Vec<Found>) -> usize {
        let before = findings.len();
        let (mut used, mut hidden) = (BTreeSet::new(), Vec::new());
        findings.retain(|found| {
            let matching = self.matching(found);
            used.extend(matching.iter().copied());
            let hides = matching.is_empty() && self.hides(found);
            hidden.extend(hides.then(|| in_words(found)));
            matching.is_empty() && !hides
        });
        let suppressed = before - findings.len() - hidden.len();
        if self.includes_standard {
            let theirs = findings.iter_mut().filter(|found| found.in_standard);
            theirs.for_each(|found| found.finding.in_libraries = false);
        }
        self.used.extend(used);
        self.in_standard.extend(hidden);
        suppressed
    }

    /// The findings inside the standard library that were left out, in words.
    pub(crate) fn in_standard(&self) -> Vec<String> {
        self.in_standard.iter().cloned().collect()
    }

    /// What there is to say about so many findings that were left out.
    pub(crate) fn notes(&self, suppressed: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if suppressed > 0 {
            let findings = plural(suppressed as u64, "finding");
            notes.push(format!("{findings} suppressed"));
        }
        let unused = self.unused();
        if !unused.is_empty() {
            notes.push(format!("nothing matched {}", unused.join(", ")));
        }
        notes
    }

    /// The places of the lines that matched nothing so far.
    fn unused(&self) -> Vec<String> {
        let unused = |s: &&Suppression| !self.used.contains(&s.line());
        let unused = self.all.iter().filter(unused);
        unused
            .map(|suppression| format!("{}:{}", self.file, suppression.line()))
            .collect()
    }
}

/// `weak-behaviour: Channel::start_recv at std/src/sync/mpmc/list.rs:291:34, …`
fn in_words(found: &Found) -> String {
    let finding = &found.finding;
    let decisive = finding.accesses.iter();
    let decisive = decisive.filter(|access| access.role != Role::Stale);
    let sites = decisive.filter_map(|access| {
        let maker = access.maker()?;
        let function = maker.function.as_deref().unwrap_or("a function");
        Some(format!("{function} at {}", maker.at()?))
    });
    let sites: Vec<_> = sites.collect();
    format!("{}: {}", finding.kind.name(), sites.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_a_file() {
        let named = |text: &str| named(&Settings::read_tsan(text));
        let file = |name: &str| Some(PathBuf::from(name));
        assert_eq!(
            named("races=1:suppressions=a/b.txt exitcode=3"),
            file("a/b.txt")
        );
        assert_eq!(named("races=1 suppressions='c d.txt' x"), file("c d.txt"));
        assert_eq!(named("history_size=7,suppressions="), None);
        assert_eq!(named(""), None);
    }
}
