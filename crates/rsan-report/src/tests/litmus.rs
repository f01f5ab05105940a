//! Final states of `litmus`.

use super::*;
use crate::{Answer, Details, Final, Litmus, Style, litmus_document, text};
use rsan_model::{Atom, Condition, Observable, Prop, Quantifier, Reason};

const OBSERVED: [Observable; 2] = [
    Observable::Reg(ThreadId(0), RegId(0)),
    Observable::Reg(ThreadId(1), RegId(0)),
];

fn is(i: usize, value: Value) -> Prop {
    Prop::Atom(Atom::Is(OBSERVED[i], value))
}

fn test(quantifier: Quantifier) -> Program {
    let mut program = store_buffering();
    program.condition = Some(Condition {
        quantifier,
        prop: Prop::And(is(0, 0).into(), is(1, 0).into()),
    });
    program
}

fn finals(states: &[(i32, i32)]) -> Vec<Final> {
    states
        .iter()
        .map(|&(a, b)| Final {
            values: vec![a, b],
            executions: 1,
        })
        .collect()
}

fn litmus<'a>(program: &'a Program, finals: &'a [Final]) -> Litmus<'a> {
    Litmus {
        subject: "sb.litmus",
        program,
        model: rsan_model::Model::C20.into(),
        arch: None,
        observables: &OBSERVED,
        finals,
        incomplete: None,
        blocked: 0,
        failed: 0,
        data_race: false,
        failed_asserts: &[],
        elapsed: Duration::from_millis(2),
    }
}

fn shown(litmus: &Litmus<'_>) -> String {
    text(&litmus_document(litmus), Style::Plain, Details::Short)
}

const ALL: [(i32, i32); 4] = [(0, 0), (0, 1), (1, 0), (1, 1)];

#[test]
fn states_and_condition_look_like_herd() {
    let program = test(Quantifier::Exists);
    let finals = finals(&ALL);
    assert_eq!(
        shown(&litmus(&program, &finals)),
        r"Test SB Allowed
States 4
1 *>0:r0=0; 1:r0=0;
1 :>0:r0=0; 1:r0=1;
1 :>0:r0=1; 1:r0=0;
1 :>0:r0=1; 1:r0=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:r0=0 /\ 1:r0=0)
Observation SB Sometimes 1 3
Time SB 0.00
"
    );
}

#[test]
fn the_three_quantifiers_are_answered() {
    let (all, strong) = (finals(&ALL), finals(&ALL[1..]));
    let answer = |quantifier, finals: &[Final]| litmus(&test(quantifier), finals).answer();
    assert_eq!(answer(Quantifier::Exists, &all), Answer::Holds);
    assert_eq!(answer(Quantifier::Exists, &strong), Answer::Fails);
    assert_eq!(answer(Quantifier::NotExists, &all), Answer::Fails);
    assert_eq!(answer(Quantifier::NotExists, &strong), Answer::Holds);
    assert_eq!(answer(Quantifier::Forall, &all), Answer::Fails);
    assert_eq!(
        answer(Quantifier::Forall, &finals(&ALL[..1])),
        Answer::Holds
    );
    let program = test(Quantifier::NotExists);
    let text = shown(&litmus(&program, &strong));
    assert!(text.contains("Test SB Forbidden"));
    assert!(text.contains("Positive: 3 Negative: 0"));
    assert!(text.contains("Observation SB Never 0 3"));
}

#[test]
fn missing_executions_leave_open_what_no_state_settles() {
    let reason = Reason::LoopBound(4);
    let (all, strong) = (finals(&ALL), finals(&ALL[1..]));
    let exists = test(Quantifier::Exists);
    let cut = |finals| Litmus {
        incomplete: Some(&reason),
        ..litmus(&exists, finals)
    };
    assert_eq!(cut(&all).answer(), Answer::Holds);
    let text = shown(&cut(&all));
    assert!(text.contains(
        "cut off after 4 iterations: states may be missing, but the condition is already decided"
    ));
    assert_eq!(cut(&strong).answer(), Answer::Undecided);
    assert!(shown(&cut(&strong)).contains("\nUnknown\n"));
}

#[test]
fn a_data_race_leaves_the_program_without_meaning() {
    let strong = finals(&ALL[1..]);
    let program = test(Quantifier::NotExists);
    let racy = Litmus {
        data_race: true,
        ..litmus(&program, &strong)
    };
    assert_eq!(racy.answer(), Answer::Undecided);
    assert!(shown(&racy).contains("\nUndef\n"));
    let machine = Litmus {
        model: rsan_model::Model::Tso.into(),
        ..racy
    };
    assert_eq!(machine.answer(), Answer::Holds);
}

#[test]
fn assertions_take_the_place_of_a_missing_condition() {
    let (program, all) = (store_buffering(), finals(&ALL));
    let quiet = litmus(&program, &all);
    assert_eq!(quiet.answer(), Answer::Holds);
    let failing = Litmus {
        failed_asserts: &[(ThreadId(0), Pc(1))],
        blocked: 2,
        failed: 1,
        ..quiet
    };
    assert_eq!(failing.answer(), Answer::Fails);
    let text = shown(&failing);
    assert!(text.starts_with("Test SB\nStates 4\n1 :>"));
    assert!(text.contains("Note the assertion of P0 at sb.litmus:5:12 fails in some execution\n"));
    assert!(text.contains("Note 2 executions without a final state: a thread waits for ever\n"));
    assert!(text.contains("Note 1 execution without a final state: a thread stops"));
}

#[test]
fn brackets_stand_only_where_they_are_needed() {
    let program = store_buffering();
    let or = Prop::Or(is(0, 1).into(), is(1, 1).into());
    let not = Prop::Not(Prop::Atom(Atom::Same(OBSERVED[0], Observable::Loc(X))).into());
    let condition = Condition {
        quantifier: Quantifier::Forall,
        prop: Prop::And(or.into(), Prop::And(not.into(), Prop::True.into()).into()),
    };
    assert_eq!(
        crate::condition(&program, &condition),
        r"forall ((0:r0=1 \/ 1:r0=1) /\ ~(0:r0=x) /\ true)"
    );
}

#[test]
fn json_carries_states_and_condition() {
    let program = test(Quantifier::NotExists);
    let finals = finals(&ALL);
    let value = serde_json::to_value(litmus_document(&litmus(&program, &finals)));
    let value = value.expect("a JSON value");
    assert_eq!(value["verdict"], "violation");
    assert_eq!(value["findings"][0]["kind"], "condition");
    assert_eq!(value["litmus"]["condition"]["holds"], false);
    assert_eq!(value["litmus"]["condition"]["observation"], "Sometimes");
    assert_eq!(value["litmus"]["states"][0]["values"]["0:r0"], 0);
    assert_eq!(value["litmus"]["states"][0]["satisfies"], true);
    assert_eq!(value["stats"]["executions"], 4);
}

#[test]
fn a_condition_that_holds_is_no_proof_of_robustness() {
    let program = test(Quantifier::Exists);
    let finals = finals(&ALL);
    let value = serde_json::to_value(litmus_document(&litmus(&program, &finals)));
    assert_eq!(value.expect("a JSON value")["verdict"], "no-finding");
}
