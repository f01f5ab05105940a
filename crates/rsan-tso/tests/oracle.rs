//! Robustness against TSO on random programs, against the enumeration of all TSO-consistent graphs.

use rsan_crosscheck::compare_tso;
use rsan_lang::Format;
use rsan_model::Source;
use rsan_tso::{FenceSet, Limits, Translated, Verdict, robustness};

#[test]
fn the_search_agrees_with_the_oracle_on_random_programs() {
    let count = std::env::var("RSAN_PROGRAMS").map_or(3000, |n| n.parse().expect("a number"));
    let tally = compare_tso(0..count, 2);
    eprintln!("{tally:?}");
    assert_eq!(tally.disagreement, None);
    assert!(
        tally.not_robust * 30 > count,
        "enough programs are not robust"
    );
}

/// Locations are not values: more of them than there are values do not fall together.
#[test]
fn addresses_do_not_wrap_as_values_do() {
    let text = "max_value 1;\nglobal x, a, y;\n\
                fn p0 { local r; x.store(1, rel); r = y.load(acq); }\n\
                fn p1 { local r; y.store(1, rel); r = x.load(acq); }\n";
    let source = Source::new("sb.tpl", text);
    let program = rsan_lang::parse(&source, Format::Tpl)
        .unwrap_or_else(|errors| panic!("{}", errors.render(&source, false)));
    let automata = Translated::from(&program).automata;
    let outcome = robustness(&automata, &FenceSet::default(), &Limits::default());
    assert!(matches!(outcome.verdict, Verdict::Violation(_)));
}
