//! Limits, filters and errors of the enumeration.

use crate::notation::program;
use rsan_axioms::machine::{
    Error, consistent, executions, executions_until, outcomes, outcomes_until,
};
use rsan_axioms::{FinalState, Limits};
use rsan_model::machine::{Machine, Op, Strength};
use rsan_model::{Atom, BinOp, EvalError, Expr, LocId, Observable, Prop, Reason, RegId, ThreadId};
use std::ops::ControlFlow;

fn states(outcomes: &rsan_axioms::Outcomes) -> Vec<Vec<i32>> {
    let state = |FinalState(values): &FinalState| values.clone();
    outcomes.states.keys().map(state).collect()
}

#[test]
fn an_access_outside_of_all_locations_is_an_error_with_its_place() {
    let mut p = program("w x 1; r a x", "", Machine::Armv8);
    p.threads[0].code[1] = Op::Load {
        dst: RegId(0),
        address: Expr::Const(12),
        strength: Strength::default(),
        exclusive: false,
    };
    let error = outcomes(&p, Machine::Armv8, &Limits::default()).expect_err("no location");
    let expected = Error::NoLocation {
        thread: ThreadId(0),
        op: 1,
        address: 12,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "T0@1 accesses 0xc, where there is no location"
    );
}

#[test]
fn only_what_some_execution_does_is_an_error() {
    let reg = |r| Box::new(Expr::Reg(RegId(r)));
    let minus = |a, b| Box::new(Expr::Binary(BinOp::Sub, a, b));
    // `1 / (a - b - n)`: no execution reads `a` = 1 and then `b` = 0, but some read the other way round.
    for (n, fails) in [(1, false), (-1, true)] {
        let mut p = program("r a x; r b x ‖ w x 1", "", Machine::Power);
        let divisor = minus(minus(reg(0), reg(1)), Box::new(Expr::Const(n)));
        let thread = &mut p.threads[0];
        thread.code.push(Op::Assign {
            dst: RegId(0),
            value: Expr::Binary(BinOp::Div, Expr::Const(1).into(), divisor),
        });
        thread.spans.push(thread.spans[0]);
        thread.origins.push(2);
        let expected = Error::Eval {
            thread: ThreadId(0),
            op: 2,
            error: EvalError::DivisionByZero,
        };
        let found = outcomes(&p, Machine::Power, &Limits::default());
        assert_eq!(found.err(), fails.then_some(expected));
    }
}

#[test]
fn only_states_of_the_filter_count() {
    let mut p = program("w x 1 ‖ w x 2 ‖ r a x", "2:a=1", Machine::Armv8);
    let x = Observable::Loc(LocId(0));
    p.observed = vec![x];
    p.filter = Some(Prop::Atom(Atom::Is(x, 2)));
    let found = outcomes(&p, Machine::Armv8, &Limits::default()).expect("an answer");
    assert_eq!(states(&found), [[0, 2], [1, 2], [2, 2]]);
    let condition = found.condition.expect("a condition");
    assert_eq!((condition.witnesses, condition.negative), (1, 2));
}

#[test]
fn loops_are_cut_and_that_is_said() {
    let mut p = program("r a x ‖ w x 1", "0:a=1", Machine::Armv8);
    let thread = &mut p.threads[0];
    thread.code.push(Op::Branch {
        condition: Expr::Unary(rsan_model::UnOp::Not, Expr::Reg(RegId(0)).into()),
        target: 0,
    });
    thread.spans.push(thread.spans[0]);
    thread.origins.push(1);
    let found = outcomes(&p, Machine::Armv8, &Limits::default()).expect("an answer");
    assert_eq!(found.cut, Some(Reason::LoopBound(3)));
    assert_eq!(states(&found), [[1]]);
    // Read at once, or after one, two or three turns.
    assert_eq!(found.executions, 4);
}

#[test]
fn loops_that_only_count_run_to_their_end() {
    let mut p = program("w x 1; r a x; ctrl n", "0:n=10", Machine::Armv8);
    let thread = &mut p.threads[0];
    thread.code.pop();
    let n = Expr::Reg(RegId(1));
    let plus = Expr::Binary(BinOp::Add, n.clone().into(), Expr::Const(1).into());
    thread.code.push(Op::Assign {
        dst: RegId(1),
        value: plus,
    });
    thread.code.push(Op::Branch {
        condition: Expr::Binary(BinOp::Lt, n.into(), Expr::Const(10).into()),
        target: 2,
    });
    thread.spans = vec![thread.spans[0]; 4];
    thread.origins = vec![0, 1, 2, 3];
    let found = outcomes(&p, Machine::Armv8, &Limits::default()).expect("an answer");
    assert_eq!(found.cut, None);
    assert_eq!(states(&found), [[10]]);
}

#[test]
fn a_store_that_may_fail_for_ever_is_cut() {
    let mut p = program("lx a x; try s x 1", "0:s=0", Machine::Armv8);
    let thread = &mut p.threads[0];
    thread.code.push(Op::Branch {
        condition: Expr::Reg(RegId(1)),
        target: 0,
    });
    thread.spans = vec![thread.spans[0]; 3];
    thread.origins = vec![0, 1, 2];
    let found = outcomes(&p, Machine::Armv8, &Limits::default()).expect("an answer");
    assert_eq!(found.cut, Some(Reason::LoopBound(3)));
    assert_eq!(states(&found), [[0]]);
    assert_eq!(found.executions, 4);
}

#[test]
fn what_is_waited_for_holds() {
    let mut p = program("r a x; r b x ‖ w x 1; w x 2", "0:b=2", Machine::Power);
    let thread = &mut p.threads[0];
    thread.code.insert(1, Op::Await(Expr::Reg(RegId(0))));
    thread.spans.push(thread.spans[0]);
    thread.origins = vec![0, 0, 1];
    let found = outcomes(&p, Machine::Power, &Limits::default()).expect("an answer");
    assert_eq!(states(&found), [[1], [2]]);
    assert_eq!(found.executions, 3);
}

#[test]
fn ways_that_do_the_same_count_once() {
    let mut p = program("w x 1", "x=1", Machine::X86);
    let thread = &mut p.threads[0];
    thread.code.insert(
        0,
        Op::Choose {
            targets: vec![1, 1, 2],
        },
    );
    thread.spans.push(thread.spans[0]);
    thread.origins = vec![0, 1];
    let found = outcomes(&p, Machine::X86, &Limits::default()).expect("an answer");
    assert_eq!(found.executions, 2);
}

#[test]
fn a_way_that_is_cut_leaves_the_others() {
    let mut p = program("add a x 1; w y 1", "y=1", Machine::X86);
    let thread = &mut p.threads[0];
    // Once more, or on: the first way is cut after three turns, the second one never.
    thread.code.insert(
        1,
        Op::Choose {
            targets: vec![0, 2],
        },
    );
    thread.spans.push(thread.spans[0]);
    thread.origins = vec![0, 1, 2];
    p.observed = vec![Observable::Loc(LocId(0))];
    let found = outcomes(&p, Machine::X86, &Limits::default()).expect("an answer");
    assert_eq!(found.cut, Some(Reason::LoopBound(3)));
    assert_eq!(states(&found), [[1, 1], [2, 1], [3, 1], [4, 1]]);
}

#[test]
fn limits_of_executions_and_events_hold() {
    let text = "w x 1; r a y ‖ w y 1; r b x";
    let p = program(text, "0:a=0", Machine::X86);
    let limits = Limits {
        max_graphs: 3,
        ..Limits::default()
    };
    let found = outcomes(&p, Machine::X86, &limits).expect("an answer");
    assert_eq!(found.executions, 3);
    assert!(matches!(found.cut, Some(Reason::TooLarge(_))));
    let limits = Limits {
        max_events: 5,
        ..Limits::default()
    };
    let error = outcomes(&p, Machine::X86, &limits).expect_err("six events");
    assert_eq!(error, Error::TooLarge { max_events: 5 });
}

#[test]
fn whoever_asks_is_obeyed() {
    let text = "add a x 1; add b x 1; add c x 1 ‖ add a x 1; add b x 1; add c x 1 ‖ add a x 1; add b x 1; add c x 1";
    let p = program(text, "0:a=0", Machine::Power);
    let mut asked = 0;
    let halt = &mut |_| {
        asked += 1;
        (asked == 5).then_some(Reason::Interrupted)
    };
    let found = outcomes_until(&p, Machine::Power, &Limits::default(), halt).expect("an answer");
    assert_eq!(found.cut, Some(Reason::Interrupted));
    let mut seen = 0;
    let visit = &mut |_: &_| {
        seen += 1;
        ControlFlow::Break(())
    };
    let p = program("w x 1", "x=1", Machine::Power);
    let summary = executions_until(&p, Machine::Power, &Limits::default(), &mut |_| None, visit);
    assert!(summary.expect("an answer").stopped);
    assert_eq!(seen, 1);
}

#[test]
fn executions_are_consistent_and_different() {
    let text = "w x 1; full; r a y; r c x @a ‖ w y 1; add b x 1 ‖ r d x; ctrl d; w y 2";
    for machine in Machine::ALL {
        let p = program(text, "", machine);
        let mut all = Vec::new();
        let visit = &mut |c: &rsan_axioms::machine::Candidate| {
            assert_eq!(consistent(machine, c), Ok(()));
            let key = (c.events.clone(), c.rf.clone(), c.co.clone());
            assert!(!all.contains(&key), "each one once");
            all.push(key);
            ControlFlow::Continue(())
        };
        let summary = executions(&p, machine, &Limits::default(), visit).expect("an answer");
        assert_eq!(summary.executions, all.len() as u64);
        assert!(!summary.stopped);
    }
}
