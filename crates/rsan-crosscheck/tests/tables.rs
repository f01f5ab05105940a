//! Every row of the litmus tables has the verdict that is written there, by every engine.

use rsan_axioms::{Limits, consistent, robustness};
use rsan_crosscheck::tables::{Row, rows};
use rsan_crosscheck::{MODELS, compare};
use rsan_model::Model;

/// Checks one verdict of the oracle, and that a witness is what it claims to be.
fn check_oracle(row: &Row, model: Model, expected: bool) -> Option<String> {
    let name = row.name;
    let answer = robustness(&row.program(), model, &Limits::default())
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(answer.cut, None, "{name}");
    if let Some(witness) = &answer.witness {
        assert_eq!(consistent(model, witness), Ok(()), "{name}");
    }
    (answer.robust != expected).then(|| format!("{name} under {model}: robust = {}", answer.robust))
}

fn assert_none(mismatches: Vec<String>) {
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}

#[test]
fn the_oracle_gives_the_documented_verdicts() {
    let mut wrong = Vec::new();
    for row in rows(true) {
        let verdicts = row.robust.iter();
        wrong.extend(verdicts.filter_map(|&(model, robust)| check_oracle(&row, model, robust)));
    }
    assert_none(wrong);
}

#[test]
fn everything_is_robust_against_sc() {
    let wrong = rows(true).filter_map(|row| check_oracle(&row, Model::Sc, true));
    assert_none(wrong.collect());
}

#[test]
fn all_engines_give_the_same_verdicts() {
    let mut wrong = Vec::new();
    for row in rows(true) {
        let program = row.program();
        let has_sc_accesses = program.instructions().any(|(_, _, i)| i.is_sc_access());
        for model in MODELS {
            if has_sc_accesses && !model.has_sc_accesses() {
                continue;
            }
            let answers = compare(&program, model, &Limits::default()).expect("a small program");
            let contradictions = answers.contradictions();
            if !contradictions.is_empty() {
                wrong.push(format!("{} under {model}: {contradictions:?}", row.name));
            }
        }
    }
    assert_none(wrong);
}

/// The page (docs/theory/litmus.md, N1 and N2) shows these rows, in this order, and no others.
#[test]
fn the_page_shows_the_rows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/theory/litmus.md");
    let page = std::fs::read_to_string(path).expect("a readable page");
    let shown = page.lines().filter(|line| line.contains('‖'));
    let word = |robust: &(Model, bool)| if robust.1 { "yes" } else { "**no**" };
    let expected = rows(true).map(|row| {
        let verdicts: Vec<&str> = row.robust.iter().map(word).collect();
        format!(
            "| {} | `{}` | {} |",
            row.name,
            row.text,
            verdicts.join(" | ")
        )
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn the_names_are_different() {
    let mut names: Vec<&str> = rows(true).map(|row| row.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), count > 150), (count, true));
}
