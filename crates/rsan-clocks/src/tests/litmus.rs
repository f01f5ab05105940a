//! Known verdicts of named programs.

use super::explore::{Runs, count_runs};
use super::forms::{UNPRUNED, Variant};
use super::program::Program;
use crate::write_log::Options;
use rsan_model::Model;

/// Name, runs, program.
pub(super) fn rc20_rows() -> impl Iterator<Item = [&'static str; 3]> {
    rows(include_str!("litmus_rc20.txt"))
}

fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.splitn(3, '|').map(str::trim);
        std::array::from_fn(|_| cells.next().expect("three cells"))
    })
}

fn forms(model: Model) -> [Variant; 3] {
    let clocks = Variant::clocks(model);
    let log = Variant::log(model, Options::default());
    let slow = Options {
        fast_paths: false,
        ..UNPRUNED
    };
    [clocks, log, Variant::log(model, slow)]
}

#[test]
fn rc20_flags_the_known_number_of_runs() {
    let mut count = 0;
    for [name, expected, text] in rc20_rows() {
        let program = Program::parse(text);
        for form in forms(Model::Rc20) {
            let Runs { flagged, all } = count_runs(&program, form);
            assert_eq!(
                format!("{flagged}/{all}"),
                expected,
                "{name}: {text}, {form:?}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 135);
}

#[test]
fn c20_verdicts_of_programs_with_seq_cst() {
    let mut count = 0;
    for [name, expected, text] in rows(include_str!("litmus_c20.txt")) {
        let program = Program::parse(text);
        for form in forms(Model::C20) {
            let runs = count_runs(&program, form);
            let robust = if runs.flagged == 0 { "yes" } else { "no" };
            assert_eq!(robust, expected, "{name}: {text}, {form:?}");
        }
        count += 1;
    }
    assert_eq!(count, 22);
}

/// Without SC operations all three models are one, up to raised orders.
#[test]
fn models_agree_where_they_must() {
    for [name, _, text] in rc20_rows() {
        if text.contains("fence.sc") {
            continue;
        }
        let program = Program::parse(text);
        let rc20 = count_runs(&program, Variant::clocks(Model::Rc20));
        assert_eq!(
            count_runs(&program, Variant::clocks(Model::C20)),
            rc20,
            "{name}"
        );
        let ra = count_runs(&program, Variant::clocks(Model::Ra));
        let log = Variant::log(Model::Ra, Options::default());
        assert_eq!(count_runs(&program, log), ra, "{name}");
        assert!(
            ra.flagged <= rc20.flagged,
            "{name}: stronger orders add no violation"
        );
    }
}
