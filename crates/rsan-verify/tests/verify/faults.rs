//! Assertions, traps and races.

use crate::common::{ASSERTION, RACE, c, fault, outcome, program, robust, safe, tpl};
use rsan_model::{EvalError, Fault, Instr, Model, Pc, Program, ThreadId, Verdict};
use rsan_verify::{Options, Property};

fn trap(program: &Program) -> (ThreadId, Pc, EvalError) {
    let traps = Property::ALL.map(|property| fault(program, Model::C20, property));
    assert!(traps.iter().all(|f| *f == traps[0]), "{traps:?}");
    match traps[0] {
        Some(Fault::Trap { thread, pc, error }) => (thread, pc, error),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn division_by_zero() {
    let text = "{}
        P0 (atomic_int* x) { int r = atomic_load(x); int s = 6 / (r - 2); }
        P1 (atomic_int* x) { atomic_fetch_add(x, 1); atomic_fetch_add(x, 1); }";
    let program = c(text);
    let (thread, pc, error) = trap(&program);
    assert_eq!((thread, error), (ThreadId(0), EvalError::DivisionByZero));
    assert!(matches!(program.threads[0].instr(pc), Instr::Assign { .. }));
    assert_eq!(
        robust(&c(&text.replace("r - 2", "r - 3")), Model::C20),
        None
    );
}

#[test]
fn index_out_of_bounds() {
    let text = "{ a[2] = {0, 0}; }
        P0 (atomic_int* a, atomic_int* i) { int r = atomic_load(i); atomic_store(&a[r], 1); }
        P1 (atomic_int* i) { atomic_store(i, 2); }";
    let (thread, _, error) = trap(&c(text));
    let expected = EvalError::IndexOutOfBounds { index: 2, len: 2 };
    assert_eq!((thread, error), (ThreadId(0), expected));
    assert_eq!(robust(&c(&text.replace("i, 2", "i, 1")), Model::C20), None);
}

#[test]
fn a_trap_in_a_condition() {
    let text =
        "{} P0 (atomic_int* x) { int r = atomic_load(x); if (1 % r) { atomic_store(x, 1); } }";
    assert_eq!(trap(&c(text)).2, EvalError::DivisionByZero);
}

#[test]
fn a_trap_before_anything_visible() {
    let text = "{} P0 (atomic_int* x) { int r = 0; int s = 1 / r; atomic_store(x, s); }";
    assert_eq!(trap(&c(text)).2, EvalError::DivisionByZero);
    let outcome = outcome(&c(text), &Options::new(Model::C20));
    let Verdict::Violation(witness) = outcome.verdict else {
        panic!("a trap");
    };
    assert_eq!(witness.schedule, []);
}

#[test]
fn assertions() {
    let text = "global x; fn p { local r; r = x.load(); assert(r == 0); } fn q { x.store(1); }";
    assert_eq!(safe(&tpl(text)), ASSERTION);
    assert_eq!(robust(&tpl(text), Model::Rc20), ASSERTION);
    assert_eq!(safe(&tpl(&text.replace("r == 0", "r < 2"))), None);
}

#[test]
fn an_assumption_ends_the_thread() {
    let text = "global x, y; fn p { local r; r = x.load(); assume(r == 1); y.store(1); r = y.load(); assert(r == 2); }
        fn q { x.store(VALUE); }";
    assert_eq!(safe(&tpl(&text.replace("VALUE", "1"))), ASSERTION);
    assert_eq!(safe(&tpl(&text.replace("VALUE", "2"))), None);
}

#[test]
fn plain_and_atomic_accesses_of_one_location() {
    let published = program("nst x 1; st.rel y 1 ‖ wait.acq y 1; ld.rlx r0 x; st.rlx x 2");
    assert_eq!(robust(&published, Model::Rc20), None);
    let relaxed = program("nst x 1; st.rlx y 1 ‖ wait.acq y 1; ld.rlx r0 x");
    // Neither order of the two, nor which of the faults, matters to the user.
    assert!(robust(&relaxed, Model::Rc20).is_some());
    assert_eq!(safe(&relaxed), RACE);
    assert_eq!(safe(&program("nst x 1 ‖ ld.rlx r0 x")), RACE);
    assert_eq!(safe(&program("nld r0 x ‖ st.rlx x 1")), RACE);
    assert_eq!(safe(&program("nld r0 x ‖ ld.rlx r0 x")), None);
    // A plain store ends the release sequence and starts none.
    let overwritten = "st.rlx x 1; st.rel y 1; nst y 2 ‖ wait.rlx z 1; ld.acq r0 y";
    assert_eq!(safe(&program(overwritten)), None, "nobody writes z");
}

#[test]
fn a_stale_value_under_a_plain_store() {
    // The plain store of x is known to nobody who has not synchronised.
    let text = "nst x 1; fence.rel; st.rlx y 1 ‖ wait.rlx y 1; FENCE st.rel z 1 ‖ wait.acq z 1; ld.rlx r0 x";
    let with = program(&text.replace("FENCE", "fence.acq;"));
    assert_eq!(robust(&with, Model::Rc20), None);
    let without = program(&text.replace("FENCE", ""));
    assert_eq!(safe(&without), RACE);
}

#[test]
fn the_two_accesses_of_a_race() {
    let program = program("nst d 1; st.rlx y 1 ‖ wait.rlx y 1; nld r0 d");
    let outcome = outcome(&program, &Options::new(Model::Rc20));
    let Verdict::Violation(witness) = outcome.verdict else {
        panic!("a race");
    };
    let Fault::Race { first, second } = witness.fault else {
        panic!("{:?}", witness.fault);
    };
    let place = |e| {
        let event = witness.graph.event(e);
        (event.thread, event.pc)
    };
    assert_eq!(place(first), (Some(ThreadId(0)), Pc(0)));
    assert_eq!(place(second), (Some(ThreadId(1)), Pc(1)));
}
