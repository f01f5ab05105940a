//! Deadlocks, when they are asked for.

use crate::common::{corpus, outcome, program, tpl};
use rsan_model::{Fault, Instr, Model, Pc, Program, ThreadId, Verdict};
use rsan_verify::{Options, Property};

fn options(deadlock: bool) -> Options<'static> {
    Options {
        property: Property::Safe,
        deadlock,
        ..Options::new(Model::Rc20)
    }
}

/// Who is blocked where; `None` when nothing is wrong.
fn blocked(program: &Program) -> Option<Vec<(ThreadId, Pc)>> {
    let ignored = outcome(program, &options(false)).verdict;
    assert_eq!(ignored, Verdict::Robust, "deadlock was not asked for");
    match outcome(program, &options(true)).verdict {
        Verdict::Robust => None,
        Verdict::Violation(witness) => match witness.fault {
            Fault::Deadlock { blocked } => Some(blocked),
            fault => panic!("{fault:?}"),
        },
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

fn at(places: &[(u32, u32)]) -> Option<Vec<(ThreadId, Pc)>> {
    let places = places.iter().map(|&(t, pc)| (ThreadId(t), Pc(pc)));
    Some(places.collect())
}

const OPPOSITE: &str = "global m, n;
    fn p0 { lock(m); lock(n); unlock(n); unlock(m); }
    fn p1 { lock(n); lock(m); unlock(m); unlock(n); }";

#[test]
fn locks_taken_in_opposite_orders() {
    let program = tpl(OPPOSITE);
    assert_eq!(blocked(&program), at(&[(0, 1), (1, 1)]));
    for thread in &program.threads {
        assert!(matches!(thread.instr(Pc(1)), Instr::Bcas { .. }));
    }
}

#[test]
fn the_schedule_leads_there() {
    let Verdict::Violation(witness) = outcome(&tpl(OPPOSITE), &options(true)).verdict else {
        panic!("a deadlock");
    };
    let steps = witness.schedule.iter().map(|s| (s.thread.0, s.pc.0));
    let mut steps: Vec<_> = steps.collect();
    steps.sort_unstable();
    assert_eq!(steps, [(0, 0), (1, 0)]);
}

#[test]
fn locks_taken_in_the_same_order() {
    assert_eq!(blocked(&tpl(&corpus("locks/mutex-two.tpl"))), None);
}

#[test]
fn a_thread_that_ended_is_not_blocked() {
    let forgotten = program("bcas.acq l 0 1; st.rlx x 1 ‖ bcas.acq l 0 1; st.rlx x 2");
    assert_eq!(blocked(&forgotten).map(|b| b.len()), Some(1));
    assert_eq!(blocked(&program("st.rlx x 1 ‖ wait.rlx x 1")), None);
}

#[test]
fn every_branch_of_a_choice_waits() {
    let text = "global x, y; fn p { oneof( { wait(x, 1); } { wait(y, 1); } ); }";
    let program = tpl(text);
    let found = blocked(&program).expect("it waits for ever");
    let [(thread, pc)] = found[..] else {
        panic!("{found:?}");
    };
    let instr = program.threads[thread.index()].instr(pc);
    assert!(matches!(instr, Instr::Wait { .. }), "{instr:?}");
}

#[test]
fn one_branch_of_a_choice_waits() {
    let may_wait = "global x, y; fn p { oneof( { wait(x, 1); } { skip; } ); }";
    assert!(blocked(&tpl(may_wait)).is_some());
    let helped = format!("{may_wait} fn q {{ x.store(1); }}");
    assert_eq!(blocked(&tpl(&helped)), None);
}

#[test]
fn a_choice_that_never_waits() {
    let text = "global x, y; fn p { while (1) { oneof( { x.store(1); } { skip; } ); } }
        fn q { wait(y, 1); }";
    assert_eq!(blocked(&tpl(text)), None, "p always moves");
}

#[test]
fn an_assumption_that_fails_is_not_a_deadlock() {
    let text = "global x; fn p { local r; r = x.load(); assume(r == 1); }";
    assert_eq!(blocked(&tpl(text)), None);
    let waiting = format!("{text} fn q {{ wait(x, 1); }}");
    assert_eq!(blocked(&tpl(&waiting)), at(&[(1, 0)]));
}

#[test]
fn waiting_for_a_thread_that_does_not_end() {
    let joins = program("spawn 1; join 1 ‖ wait.rlx x 1");
    assert_eq!(blocked(&joins), at(&[(0, 1), (1, 0)]));
    assert_eq!(blocked(&program("spawn 1; join 1 ‖ st.rlx x 1")), None);
}

#[test]
fn equal_threads_keep_their_places() {
    let two = program("bcas.acq l 0 1; wait.rlx x 1 ‖ bcas.acq l 0 1; wait.rlx x 1");
    let found = blocked(&two).expect("nobody writes x");
    let mut places: Vec<u32> = found.iter().map(|(_, pc)| pc.0).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1]);
    assert_eq!((found[0].0, found[1].0), (ThreadId(0), ThreadId(1)));
}
