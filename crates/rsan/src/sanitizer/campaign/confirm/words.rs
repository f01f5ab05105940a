//! Harm in words.

use super::super::keep;
use super::shown::{Evidence, Shown};
use crate::sanitizer::convert::{self, Resolver};
use crate::sanitizer::findings::{self, Found};
use crate::sanitizer::log::Findings;
use crate::sanitizer::verdict::described;
use rsan_model::Model;
use rsan_report::document::{Effect, Kind, Place};
use rsan_schedule::End;

/// The signal of `abort` and of assertions that fail.
const SIGABRT: i32 = 6;
/// Characters of an output that are shown.
const SHOWN: usize = 60;

/// What happens, in words and where.
pub(super) struct Words {
    pub(super) effect: Effect,
    pub(super) message: String,
    pub(super) location: Option<Place>,
}

/// What a run shows, in words.
pub(super) fn words(shown: &Shown, evidence: Option<&Evidence>, model: Model) -> Words {
    let mut resolver = Resolver::new(model);
    let found = evidence.map(|evidence| match evidence {
        Evidence::Finding(logged) => convert::finding(&logged.finding, &mut resolver),
        Evidence::Failure(said) => convert::failed(said, &mut resolver),
    });
    if let Some(found) = found {
        let effect = match found.kind {
            Kind::DataRace | Kind::DescriptorRace => Effect::Race,
            Kind::Deadlock => Effect::Deadlock,
            Kind::Assertion => Effect::Assertion,
            Kind::Crash => Effect::Crash,
            Kind::Failure => Effect::ExitStatus,
            _ => Effect::Misuse,
        };
        return Words {
            effect,
            message: match evidence {
                Some(Evidence::Failure(_)) => found.message,
                _ => found.headline(None),
            },
            location: found.location,
        };
    }
    let (effect, message) = match shown {
        Shown::Failed { status, .. } => {
            let how = described(End::Failed(*status));
            match status & 0x7f {
                0 => (Effect::ExitStatus, format!("the program ends with {how}")),
                SIGABRT => (Effect::Assertion, format!("the program ends by {how}")),
                _ => (Effect::Crash, format!("the program ends by {how}")),
            }
        }
        Shown::Hang => (Effect::Hang, "the program does not end".to_owned()),
        Shown::Output(output) => {
            let text = excerpt(output);
            (Effect::Output, format!("the program writes \"{text}\""))
        }
        Shown::Finding(_) => (Effect::Misuse, "a finding".to_owned()),
    };
    Words {
        effect,
        message,
        location: None,
    }
}

/// The same for a schedule: what a replay has to show again.
pub(super) fn shows(shown: &Shown, evidence: Option<&Evidence>) -> String {
    if let Some(Evidence::Finding(logged)) = evidence {
        let mut one = Findings::default();
        one.add(0, std::slice::from_ref(logged));
        let found = findings::findings(&one, Model::C20);
        let labels: Vec<_> = found.iter().map(Found::label).collect();
        return labels.join("; ");
    }
    match shown {
        Shown::Failed { status, .. } => End::Failed(*status).to_string(),
        Shown::Hang => End::CutOff.to_string(),
        Shown::Output(_) | Shown::Finding(_) => keep::STALE.to_owned(),
    }
}

/// The beginning of an output, on one line.
fn excerpt(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = text.trim_end().replace('\n', "\\n");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(shown: Shown) -> (Effect, String) {
        let words = words(&shown, None, Model::C20);
        (words.effect, words.message)
    }

    #[test]
    fn harm_is_told_by_what_happens() {
        let failed = |status| Shown::failure(status, None);
        let aborts = "the program ends by signal 6 (SIGABRT)".to_owned();
        assert_eq!(said(failed(6)), (Effect::Assertion, aborts));
        let crashes = "the program ends by signal 11 (SIGSEGV)".to_owned();
        assert_eq!(said(failed(11)), (Effect::Crash, crashes));
        let ends = "the program ends with exit status 3".to_owned();
        assert_eq!(said(failed(3 << 8)), (Effect::ExitStatus, ends));
        let writes = "the program writes \"a\\nb\"".to_owned();
        assert_eq!(
            said(Shown::Output(b"a\nb\n".to_vec())),
            (Effect::Output, writes)
        );
        let long = "x".repeat(SHOWN + 1);
        assert!(said(Shown::Output(long.into())).1.ends_with("x…\""));
    }
}
