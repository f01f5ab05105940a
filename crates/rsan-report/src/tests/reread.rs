//! Documents that are read again, merged, and compared with a baseline.

use super::samples::{race, robust, undecided, weak};
use crate::document::{Document, json};
use crate::{Baseline, Judgement, ReadError, fingerprints, merge, read, sarif};

fn refused(text: &str) -> ReadError {
    read(text).expect_err("no documents")
}

#[test]
fn documents_are_read_as_they_were_written() {
    let all = [race(0), weak(), undecided(), robust()];
    assert_eq!(read(&json(&all, true)).as_deref(), Ok(&all[..]));
    for one in &all {
        let text = json(std::slice::from_ref(one), false);
        assert_eq!(read(&text).as_deref(), Ok(std::slice::from_ref(one)));
    }
    // As `cat` joins files.
    let joined = json(&all[..1], false) + &json(&all[1..], true);
    assert_eq!(read(&joined).as_deref(), Ok(&all[..]));
}

#[test]
fn what_is_wrong_has_a_place() {
    let text = json(&[race(0)], false);
    let line = 1 + text
        .lines()
        .position(|l| l.contains("\"kind\""))
        .expect("a kind");
    let wrong = text.replacen("\"data-race\"", "\"date-race\"", 1);
    let error = refused(&wrong);
    assert_eq!(error.place.map(|place| place.0), Some(line));
    let start = "unknown variant `date-race`, expected one of `weak-behaviour`";
    assert!(error.message.starts_with(start), "{error:?}");
    assert!(!error.message.contains("at line"), "{error:?}");
    let cut = refused(&text[..text.len() / 2]);
    assert!(cut.message.starts_with("EOF while parsing"), "{cut:?}");
    assert!(cut.place.is_some());
    let syntax = refused("{\"schema\": rsan/2}");
    assert_eq!(syntax.place, Some((1, 12)));
}

#[test]
fn what_is_no_document_is_named() {
    let old = json(&[race(0)], false).replace("rsan/2", "rsan/1");
    let message =
        "the schema is rsan/1, and this rsan reads rsan/2: run the command that wrote it again";
    assert_eq!(refused(&old).message, message);
    assert_eq!(refused(&format!("[{old}]")).message, message);
    let cases = [
        (
            "{\"schema\": \"other/7\"}",
            "the schema is other/7, and this rsan reads rsan/2",
        ),
        (
            "{\"a\": 1}",
            "this is no document of rsan: it has no `schema`",
        ),
        ("3", "this is no document of rsan: it has no `schema`"),
        ("[]", "there is no document"),
        ("", "there is no document"),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text).message, message, "{text}");
    }
    let log = sarif(&[race(0)]);
    assert!(refused(&log).message.starts_with("this is SARIF"));
}

#[test]
fn equal_findings_of_a_subject_are_one() {
    let mut again = race(0);
    again.findings[0].runs = Some(4);
    again.findings.push(weak().findings[0].clone());
    let merged = merge(vec![race(0), weak(), again]);
    let [first, second] = &merged[..] else {
        panic!("two subjects");
    };
    assert_eq!(first.findings.len(), 2);
    assert_eq!(first.findings[0].runs, Some(7));
    assert_eq!(first.stats.runs, Some(20));
    assert_eq!(first.stats.seconds, 3.0);
    assert_eq!(first.sources.len(), 1);
    assert_eq!(second, &weak());
}

#[test]
fn the_fix_is_that_of_the_execution_which_is_shown() {
    let explained = weak();
    assert!(explained.findings[0].execution.is_some() && explained.findings[0].fix.is_some());
    let mut guessed = weak();
    let finding = &mut guessed.findings[0];
    finding.execution = None;
    finding.because = vec!["nobody knows".to_owned()];
    finding.fix.as_mut().expect("a fix").message = "hold a mutex".to_owned();
    let shown = |documents: Vec<Document>| {
        let finding = merge(documents).remove(0).findings.remove(0);
        (finding.because, finding.fix, finding.execution)
    };
    let both = shown(vec![guessed.clone(), explained.clone()]);
    assert_eq!(both, shown(vec![explained, guessed]));
}

#[test]
fn the_most_severe_verdict_of_a_subject_counts() {
    let verdict = |documents: &[Document]| {
        let [one] = &merge(documents.to_vec())[..] else {
            panic!("one subject");
        };
        (one.verdict, one.exit_code())
    };
    let with = |verdict, failures| {
        let mut document = robust();
        document.verdict = verdict;
        document.stats.failures = failures;
        document
    };
    let unknown = with(Judgement::Unknown, None);
    let failed = with(Judgement::Unknown, Some(1));
    let clean = with(Judgement::NoFinding, None);
    assert_eq!(verdict(&[robust(), robust()]), (Judgement::Robust, 0));
    assert_eq!(
        verdict(&[robust(), clean.clone()]),
        (Judgement::NoFinding, 0)
    );
    assert_eq!(
        verdict(&[clean.clone(), unknown.clone()]),
        (Judgement::Unknown, 3)
    );
    assert_eq!(verdict(&[failed, unknown]), (Judgement::Unknown, 4));
    let found = with(Judgement::Violation, None);
    assert_eq!(verdict(&[found, clean]), (Judgement::Violation, 1));
}

#[test]
fn only_new_findings_count() {
    // The same race after lines were inserted, and a new one.
    let mut now = race(5);
    now.findings.push(weak().findings[0].clone());
    let texts = [json(&[race(0)], false), sarif(&[race(0)])];
    for text in texts {
        let baseline = Baseline::read(&text).expect("a baseline");
        let mut document = now.clone();
        baseline.apply(&mut document);
        let known: Vec<_> = document.findings.iter().map(|f| f.known).collect();
        assert_eq!(known, [true, false]);
        assert_eq!(document.stats.known, Some(1));
        assert_eq!(document.verdict, Judgement::Violation);
        let mut same = race(9);
        baseline.apply(&mut same);
        assert_eq!((same.verdict, same.exit_code()), (Judgement::NoFinding, 0));
        // It is a baseline itself, and another one decides anew.
        assert_eq!(Baseline::of(&[same.clone()]), baseline);
        Baseline::of(&[weak()]).apply(&mut same);
        assert_eq!(
            (same.verdict, same.stats.known),
            (Judgement::Violation, Some(0))
        );
    }
    let foreign = sarif(&[race(0)]).replace("rsanFinding/v1", "other/v1");
    assert!(Baseline::read(&foreign).is_err());
    assert!(Baseline::read("{").is_err());
    let empty = Baseline::read(&sarif(&[robust()])).expect("a baseline");
    assert_eq!(empty, Baseline::default());
}

#[test]
fn a_second_equal_finding_is_new() {
    let mut two = race(0);
    two.findings.push(two.findings[0].clone());
    assert_eq!(fingerprints(&two).len(), 2);
    Baseline::of(&[race(0)]).apply(&mut two);
    assert_eq!(two.stats.known, Some(1));
    assert_eq!(two.verdict, Judgement::Violation);
}
