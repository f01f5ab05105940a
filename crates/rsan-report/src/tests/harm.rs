//! Whether a finding hurts, in every form of a document.

use super::samples::{race, weak};
use crate::document::{Document, Effect, Harm, Recorded, Severity};
use crate::{Details, Style, html, json, junit, merge, read, sarif, text};

fn harmful() -> Harm {
    Harm::Harmful {
        effect: Effect::Assertion,
        message: "the program aborts".to_owned(),
        location: None,
        runs: 3,
        continuations: 7,
        recorded: Some(Recorded {
            seed: None,
            file: "out/harm-1.sched".to_owned(),
            command: "rsan check --replay out/harm-1.sched a.c".to_owned(),
        }),
    }
}

/// A document with a stale value about which this is known.
fn with(harm: Harm) -> Document {
    let mut document = weak();
    document.findings[0].severity = Severity::Warning;
    document.findings[0].set_harm(harm);
    document
}

const SAID: &str = "armful: the program aborts, in 3 of 7 weak continuations";

#[test]
fn every_form_says_it() {
    let document = with(harmful());
    assert_eq!(document.findings[0].severity, Severity::Error);
    let shown = text(&document, Style::Plain, Details::Short);
    assert!(shown.contains(&format!("= h{SAID}\n")), "{shown}");
    let replay = "= Replay of the harm: rsan check --replay out/harm-1.sched a.c\n";
    assert!(shown.contains(replay), "{shown}");
    let documents = [document];
    let page = html(&documents);
    assert!(page.contains(&format!("H{SAID}.")), "{page}");
    assert!(page.contains("<span class=\"badge error\">harmful</span>"));
    let log = sarif(&documents);
    assert!(log.contains(&format!("H{SAID}.")), "{log}");
    assert!(log.contains("\"effect\": \"assertion\""), "{log}");
    assert!(junit(&documents).contains(SAID));
    let again = read(&json(&documents, false)).expect("a document");
    assert_eq!(again, documents);
}

#[test]
fn what_is_not_seen_to_hurt_stays_a_warning() {
    for harm in [
        Harm::NotSeen { continuations: 9 },
        Harm::NotReached { runs: 9 },
    ] {
        let document = with(harm.clone());
        assert_eq!(document.findings[0].severity, Severity::Warning);
        let shown = text(&document, Style::Plain, Details::Short);
        let said = crate::text::sentence_case(&harm.sentence());
        assert!(shown.contains(&format!("= {said}\n")), "{shown}");
        let again = read(&json(std::slice::from_ref(&document), false)).expect("a document");
        assert_eq!(again, [document]);
    }
}

#[test]
fn harm_comes_first_and_survives_merging() {
    let mut both = with(Harm::NotSeen { continuations: 9 });
    let mut error = race(0).findings.remove(0);
    error.severity = Severity::Error;
    both.findings.push(error);
    let merged = merge(vec![both, with(harmful())]);
    let [merged] = &merged[..] else {
        panic!("one subject");
    };
    let harms: Vec<_> = merged.findings.iter().map(|f| f.harm.clone()).collect();
    assert_eq!(harms, [Some(harmful()), None]);
}
