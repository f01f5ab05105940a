//! What an execution is: blocking, threads that come and go, loops, choices, failures, races, limits, conditions.

mod common;

use common::{conjunction, loc, program, reg};
use rsan_axioms::{
    Axiom, Error, FinalState, Limits, Outcomes, Stop, Summary, consistent, executions, outcomes,
    races, robustness,
};
use rsan_model::{
    BinOp, Condition, EvalError, Event, Expr, Graph, Instr, Label, LocId, Model, Observable, Pc,
    Program, Prop, Quantifier, ReadOrd, Reason, RegId, Register, RmwOrd, Start, ThreadId,
};
use std::ops::ControlFlow;

fn all(p: &Program, model: Model) -> Outcomes {
    outcomes(p, model, &Limits::default()).expect("a small program")
}

fn stops(p: &Program, model: Model, limits: &Limits) -> (Vec<Vec<Stop>>, Summary) {
    let mut stops = Vec::new();
    let summary = executions(p, model, limits, &mut |e| {
        stops.push(e.stops.to_vec());
        ControlFlow::Continue(())
    });
    (stops, summary.expect("a small program"))
}

#[test]
fn a_wait_blocks_only_when_the_last_write_is_wrong() {
    for model in Model::ALL {
        let p = program("st.rlx x 1 ‖ wait.rlx x 1");
        let result = all(&p, model);
        assert_eq!((result.executions, result.blocked), (1, 0), "{model}");
        // Here the wait may come too late.
        let p = program("st.rlx x 1; st.rlx x 0 ‖ wait.rlx x 1");
        let result = all(&p, model);
        assert_eq!((result.executions, result.blocked), (2, 1), "{model}");
        let p = program("wait.rlx x 1");
        assert_eq!(
            stops(&p, model, &Limits::default()).0,
            [[Stop::Blocked(Pc(0))]]
        );
    }
}

#[test]
fn a_lock_that_is_not_released_blocks_the_other_thread() {
    let p = program("bcas.acq m 0 1 ‖ bcas.acq m 0 1");
    for model in Model::ALL {
        let result = all(&p, model);
        assert_eq!((result.executions, result.blocked), (2, 2), "{model}");
        assert!(result.states.is_empty());
    }
    let p = program("bcas.acq m 0 1; st.rel m 0 ‖ bcas.acq m 0 1; st.rel m 0");
    let result = all(&p, Model::Rc20);
    assert_eq!((result.executions, result.blocked), (2, 0));
}

#[test]
fn compare_and_swap_fails_on_another_value_or_spuriously() {
    let strong = program("scas.rlx.rlx r0 x 0 1");
    assert_eq!(all(&strong, Model::C20).executions, 1);
    let weak = program("wcas.rlx.rlx r0 x 0 1");
    assert_eq!(all(&weak, Model::C20).executions, 2);
    let other = program("wcas.rlx.rlx r0 x 7 1");
    assert_eq!(all(&other, Model::C20).executions, 1);
}

#[test]
fn a_failed_cas_under_tso_is_a_read_behind_a_full_fence() {
    let p = program("st.rlx y 1; scas.rlx.rlx r0 x 7 1");
    let labels = |model| {
        let mut labels = Vec::new();
        executions(&p, model, &Limits::default(), &mut |e| {
            labels.extend(e.graph.ids().skip(3).map(|id| e.graph.label(id)));
            ControlFlow::Continue(())
        })
        .expect("small");
        labels
    };
    let read = Label::Read {
        loc: loc(&p, "x"),
        value: 0,
        ord: ReadOrd::Relaxed,
    };
    assert_eq!(labels(Model::C20), [read]);
    let fence = Label::Fence(rsan_model::FenceOrd::SeqCst);
    assert_eq!(labels(Model::Tso), [fence, read]);
}

/// The first thread of the text spawns the second one, at `spawn`, and joins it, at `join`.
fn forked(text: &str, spawn: usize, join: Option<usize>) -> Program {
    let mut p = program(text);
    p.threads[1].start = Start::Spawned;
    let code = &mut p.threads[0].code;
    code.insert(spawn, Instr::Spawn(ThreadId(1)));
    if let Some(join) = join {
        code.insert(join, Instr::Join(ThreadId(1)));
    }
    p
}

#[test]
fn creation_and_join_order_everything() {
    for model in Model::ALL {
        let p = forked("st.na x 1; ld.na r0 x ‖ ld.na r0 x; st.na x 2", 1, Some(2));
        let result = all(&p, model);
        assert!(!result.racy, "{model}");
        let states: Vec<&FinalState> = result.states.keys().collect();
        assert_eq!(states, [&FinalState(vec![2, 1, 2])], "{model}");
        let p = forked("st.na x 1; ld.na r0 x ‖ ld.na r0 x; st.na x 2", 1, None);
        assert!(all(&p, model).racy, "{model}");
        let p = forked("st.na x 1; ld.na r0 x ‖ ld.na r0 x; st.na x 2", 0, Some(2));
        assert!(all(&p, model).racy, "{model}");
    }
}

#[test]
fn a_thread_that_is_never_spawned_has_no_events() {
    let mut p = program("ld.rlx r0 x; bne r0 1 1; st.rlx y 0 ‖ st.rlx x 1");
    p.threads[1].start = Start::Spawned;
    p.threads[0].code[2] = Instr::Spawn(ThreadId(1));
    let (stops, _) = stops(&p, Model::C20, &Limits::default());
    assert_eq!(stops, [[Stop::Ended, Stop::NotStarted]]);
    let result = all(&p, Model::C20);
    assert_eq!(result.states.len(), 1);
}

#[test]
fn a_join_of_a_thread_that_does_not_end_blocks() {
    let p = forked("st.rlx x 1 ‖ wait.rlx x 7", 0, Some(1));
    let (stops, _) = stops(&p, Model::C20, &Limits::default());
    assert_eq!(stops, [[Stop::Blocked(Pc(1)), Stop::Blocked(Pc(0))]]);
}

/// `[F_rel];po;[W]` is about one thread: a fence does not cover the stores of a thread created after it.
#[test]
fn a_release_fence_does_not_reach_into_a_created_thread() {
    let mut p = forked(
        "st.rlx x 1; fence.rel ‖ st.rlx y 1 ‖ ld.acq r0 y; ld.rlx r1 x",
        2,
        None,
    );
    p.condition = Some(Condition {
        quantifier: Quantifier::Exists,
        prop: conjunction(&p, "2:r0=1 & 2:r1=0"),
    });
    for (model, allowed) in [
        (Model::Sc, false),
        (Model::Tso, false),
        (Model::Ra, false),
        (Model::Rc20, true),
        (Model::C20, true),
        (Model::Rc11, true),
    ] {
        let condition = all(&p, model).condition.expect("a condition");
        assert_eq!(condition.holds, allowed, "{model}");
    }
}

#[test]
fn spawning_twice_is_refused() {
    let mut p = forked("st.rlx x 1 ‖ st.rlx x 2", 0, None);
    p.threads[0].code.push(Instr::Spawn(ThreadId(1)));
    let error = outcomes(&p, Model::C20, &Limits::default());
    let expected = Error::BadSpawn {
        thread: ThreadId(0),
        pc: Pc(2),
    };
    assert_eq!(error, Err(expected));
}

/// `do r0 = x while r0 == 0`
fn spin() -> Program {
    let mut p = program("ld.rlx r0 x; bne r0 0 0 ‖ st.rlx x 1");
    p.threads[0].code[1] = Instr::Branch {
        cond: Expr::Binary(BinOp::Eq, Expr::Reg(RegId(0)).into(), Expr::Const(0).into()),
        then: Pc(0),
        otherwise: Pc(2),
    };
    p
}

#[test]
fn loops_are_unrolled_as_often_as_allowed_and_the_cut_is_reported() {
    for unroll in 0..4 {
        let limits = Limits {
            unroll,
            ..Limits::default()
        };
        let result = outcomes(&spin(), Model::C20, &limits).expect("small");
        assert_eq!(result.executions, u64::from(unroll) + 1);
        assert_eq!(result.cut, Some(Reason::LoopBound(unroll)));
    }
}

#[test]
fn equal_choices_make_one_execution() {
    let mut p = program("st.rlx x 1; st.rlx x 1");
    p.threads[0].code[0] = Instr::Choose(vec![Pc(1), Pc(1), Pc(2)]);
    let result = all(&p, Model::C20);
    assert_eq!(result.executions, 2);
    assert_eq!(result.states.len(), 2);
}

#[test]
fn assertions_assumptions_and_traps_end_a_thread() {
    let register = |r| Expr::Reg(RegId(r));
    for (instr, stop) in [
        (Instr::Assert(register(0)), Stop::Assertion(Pc(1))),
        (Instr::Assume(register(0)), Stop::Assumption(Pc(1))),
        (
            Instr::Observe(Expr::Binary(
                BinOp::Div,
                Expr::Const(1).into(),
                register(0).into(),
            )),
            Stop::Trap(Pc(1), EvalError::DivisionByZero),
        ),
    ] {
        let mut p = program("ld.rlx r0 x ‖ st.rlx x 1");
        p.threads[0].code.push(instr);
        let (mut stops, _) = stops(&p, Model::Rc20, &Limits::default());
        stops.sort_by_key(|s| s[0] == stop);
        assert_eq!(stops, [[Stop::Ended, Stop::Ended], [stop, Stop::Ended]]);
        let result = all(&p, Model::Rc20);
        let fails = matches!(stop, Stop::Assertion(_));
        assert_eq!(result.failed_asserts.contains(&(ThreadId(0), Pc(1))), fails);
        assert_eq!(result.states.len(), 1, "only where all threads ended");
        let answer = robustness(&p, Model::Rc20, &Limits::default()).expect("small");
        assert_eq!(answer.assertion_failed, fails);
        assert!(answer.robust);
    }
}

#[test]
fn limits_are_reported() {
    let p = program("st.rlx x 1; st.rlx x 2 ‖ ld.rlx r0 x; ld.rlx r1 x");
    let few = Limits {
        max_graphs: 5,
        ..Limits::default()
    };
    let answer = robustness(&p, Model::C20, &few).expect("small");
    assert!(matches!(answer.cut, Some(Reason::TooLarge(_))));
    let short = Limits {
        max_events: 4,
        ..Limits::default()
    };
    let error = robustness(&p, Model::C20, &short);
    assert_eq!(error, Err(Error::TooLarge { max_events: 4 }));
}

#[test]
fn seq_cst_accesses_are_refused_where_they_have_no_meaning() {
    let p = program("st.rlx x 1 ‖ st.rlx y 1; scas.ar.sc r0 x 0 1");
    for model in Model::ALL {
        let refused = matches!(
            outcomes(&p, model, &Limits::default()),
            Err(Error::ScAccess {
                thread: ThreadId(1),
                pc: Pc(1)
            })
        );
        assert_eq!(refused, !model.has_sc_accesses(), "{model}");
    }
}

/// docs/theory/races.md, D5: SC fences synchronise with each other through `f`, and in C++20 they do not.
#[test]
fn fences_prevent_this_race_only_through_the_reserved_location() {
    let p = program(
        "st.na n 1; fence.sc; ld.rlx r0 x; bne r0 0 1; st.rlx z 1 ‖ st.rlx x 1; fence.sc; wait.rlx z 1; st.na n 2",
    );
    for (model, racy) in [
        (Model::Rc20, false),
        (Model::Ra, false),
        (Model::C20, true),
        (Model::Rc11, true),
    ] {
        assert_eq!(all(&p, model).racy, racy, "{model}");
        let answer = robustness(&p, model, &Limits::default()).expect("small");
        assert_eq!(answer.racy, racy, "{model}");
    }
}

#[test]
fn races_need_a_write_and_a_plain_access() {
    let racy = |text| all(&program(text), Model::C20).racy;
    assert!(racy("st.na x 1 ‖ st.na x 1"));
    assert!(racy("st.na x 1 ‖ ld.rlx r0 x"));
    assert!(racy("st.rlx x 1 ‖ ld.na r0 x"));
    assert!(!racy("ld.na r0 x ‖ ld.na r0 x"));
    assert!(!racy("st.rlx x 1 ‖ st.rlx x 1"));
    assert!(!racy("st.na x 1 ‖ st.na y 1"));
    assert!(racy("st.na x 1; st.rlx y 1 ‖ wait.acq y 1; st.na x 2"));
    assert!(!racy("st.na x 1; st.rel y 1 ‖ wait.acq y 1; st.na x 2"));
}

#[test]
fn conditions_are_quantified_as_in_herd() {
    let mut p = program("st.rlx x 1 ‖ ld.rlx r0 x");
    let some = conjunction(&p, "1:r0=1");
    let every = conjunction(&p, "x=1");
    let none = conjunction(&p, "1:r0=7");
    let mut evaluate = |quantifier, prop: &Prop| {
        p.condition = Some(Condition {
            quantifier,
            prop: prop.clone(),
        });
        let result = all(&p, Model::Sc).condition.expect("a condition");
        (result.holds, result.witnesses, result.negative)
    };
    for (prop, witnesses, [exists, not_exists, forall]) in [
        (&some, 1, [true, false, false]),
        (&every, 2, [true, false, true]),
        (&none, 0, [false, true, false]),
    ] {
        let counts = |holds| (holds, witnesses, 2 - witnesses);
        assert_eq!(evaluate(Quantifier::Exists, prop), counts(exists));
        assert_eq!(evaluate(Quantifier::NotExists, prop), counts(not_exists));
        assert_eq!(evaluate(Quantifier::Forall, prop), counts(forall));
    }
}

#[test]
fn observables_are_what_the_program_mentions_or_else_what_it_names() {
    let mut p = program("ld.rlx r0 x ‖ st.rlx x 1");
    p.threads[0].registers.push(Register {
        name: "%1".to_owned(),
        init: 0,
    });
    let r0 = Observable::Reg(ThreadId(0), reg(&p, 0, "r0"));
    let x = Observable::Loc(loc(&p, "x"));
    assert_eq!(all(&p, Model::Sc).observables, [r0, x]);
    p.observed = vec![x];
    assert_eq!(all(&p, Model::Sc).observables, [x]);
    p.condition = Some(Condition {
        quantifier: Quantifier::Exists,
        prop: conjunction(&p, "0:r0=1"),
    });
    let result = all(&p, Model::Sc);
    assert_eq!(result.observables, [r0, x]);
    let states: Vec<_> = result.states.into_iter().collect();
    let expected = [(FinalState(vec![0, 1]), 1), (FinalState(vec![1, 1]), 1)];
    assert_eq!(states, expected);
}

/// `mo ; rf` is a cycle without a happens-before edge when an RMW is a single event.
#[test]
fn an_rmw_does_not_read_a_later_write() {
    let x = LocId(0);
    let mut graph = Graph::initial([0]);
    let mut rmw = |t, read, written| {
        graph.push(Event {
            thread: Some(ThreadId(t)),
            pc: Pc(0),
            label: Label::Rmw {
                loc: x,
                read,
                written,
                ord: RmwOrd::Relaxed,
            },
        })
    };
    let (a, b) = (rmw(0, 2, 1), rmw(1, 1, 2));
    graph.insert_mo(a, x, 1);
    graph.insert_mo(b, x, 2);
    graph.set_rf(b, a);
    graph.set_rf(a, b);
    assert_eq!(consistent(Model::Rc20, &graph), Err(Axiom::NoThinAir));
    graph.set_rf(a, a);
    assert!(consistent(Model::C20, &graph).is_err());
    graph.set_rf(a, rsan_model::EventId(0));
    assert_eq!(consistent(Model::C20, &graph), Ok(()));
    assert_eq!(races(Model::C20, &graph), []);
}

#[test]
fn violated_axioms_have_names() {
    let p = program("st.rlx x 1; ld.rlx r0 y ‖ st.rlx y 1; ld.rlx r0 x");
    let answer = robustness(&p, Model::Tso, &Limits::default()).expect("small");
    let witness = answer.witness.expect("store buffering");
    let axiom = consistent(Model::Sc, &witness).expect_err("not SC");
    assert_eq!(axiom, Axiom::SequentialConsistency);
    assert_eq!(
        axiom.to_string(),
        "sequential consistency: po ∪ asw ∪ rf ∪ mo ∪ fr is acyclic"
    );
}

/// Under TSO a spawn drains the store buffer and a join does not.
#[test]
fn tso_treats_spawn_as_locked_and_join_as_a_load() {
    let text = "st.rlx x 1; ld.rlx r0 y ‖ st.rlx z 1 ‖ st.rlx y 1; fence.sc; ld.rlx r0 x";
    let store_buffering = |spawn, join| {
        let mut p = forked(text, spawn, Some(join));
        p.condition = Some(Condition {
            quantifier: Quantifier::Exists,
            prop: conjunction(&p, "0:r0=0 & 2:r0=0"),
        });
        all(&p, Model::Tso).condition.expect("a condition").holds
    };
    assert!(!store_buffering(1, 2), "store, spawn, join, load");
    assert!(store_buffering(0, 2), "spawn, store, join, load");
}

/// The order of SC fences is that of their ids, and `f`'s `rf` is part of `po ∪ rf`.
#[test]
fn rc20_reads_the_order_of_fences_off_their_ids() {
    let x = LocId(0);
    let mut graph = Graph::initial([0]);
    let fence = Label::Fence(rsan_model::FenceOrd::SeqCst);
    let (value, ord) = (1, rsan_model::WriteOrd::Relaxed);
    let write = Label::Write { loc: x, value, ord };
    let ord = ReadOrd::Relaxed;
    let read = Label::Read { loc: x, value, ord };
    let events = [(1, read), (1, fence), (0, fence), (0, write)];
    let [r, _, _, w] = events.map(|(t, label)| {
        graph.push(Event {
            thread: Some(ThreadId(t)),
            pc: Pc(0),
            label,
        })
    });
    graph.insert_mo(w, x, 1);
    graph.set_rf(r, w);
    assert_eq!(consistent(Model::Rc20, &graph), Err(Axiom::NoThinAir));
    for model in [Model::Sc, Model::Tso, Model::C20, Model::Rc11] {
        assert_eq!(consistent(model, &graph), Ok(()), "{model}");
    }
}
