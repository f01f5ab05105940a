//! Threads that create and join others, and many equal ones.

use crate::common::{RACE, WEAK, fault, outcome, program, robust, safe};
use rsan_model::{Fault, Model, Verdict};
use rsan_verify::{Options, Property};

#[test]
fn a_new_thread_knows_what_its_parent_knew() {
    assert_eq!(safe(&program("nst d 1; spawn 1 ‖ nld r0 d")), None);
    assert_eq!(safe(&program("spawn 1; nst d 1 ‖ nld r0 d")), RACE);
    let seen = "st.rlx x 1; spawn 1 ‖ ld.rlx r0 x ‖ ld.rlx r0 x";
    assert_eq!(robust(&program(seen), Model::Rc20), None);
}

#[test]
fn a_join_knows_what_the_thread_knew() {
    assert_eq!(safe(&program("spawn 1; join 1; nld r0 d ‖ nst d 1")), None);
    assert_eq!(safe(&program("spawn 1; nld r0 d ‖ nst d 1")), RACE);
    let sibling = "spawn 1; spawn 2; join 1; nld r0 d ‖ st.rlx x 1 ‖ nst d 1";
    assert_eq!(safe(&program(sibling)), RACE);
    let both = "spawn 1; spawn 2; join 1; join 2; nld r0 d ‖ st.rlx x 1 ‖ nst d 1";
    assert_eq!(safe(&program(both)), None);
}

#[test]
fn buffering_in_new_threads() {
    for model in [Model::Ra, Model::Rc20, Model::C20] {
        let sb = "spawn 1; st.rel x 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x";
        assert_eq!(robust(&program(sb), model), WEAK, "{model}");
        let after = "spawn 1; st.rel x 1; join 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x";
        assert_eq!(robust(&program(after), model), None, "{model}");
        let before = "st.rel x 1; spawn 1; ld.acq r0 y ‖ st.rel y 1; ld.acq r0 x";
        assert_eq!(robust(&program(before), model), None, "{model}");
    }
}

#[test]
fn equal_threads_count_once() {
    let threads = |n: usize| program(&vec!["fadd.rlx r0 x 1"; n].join(" ‖ "));
    for n in [2, 5, 16, 17, 20, 40] {
        let outcome = outcome(&threads(n), &Options::new(Model::Rc20));
        assert_eq!(outcome.verdict, Verdict::Robust);
        assert_eq!(outcome.stats.states, n as u64 + 1, "{n} threads");
        assert_eq!(outcome.stats.depth, n as u32);
    }
}

#[test]
fn equal_threads_that_only_races_tell_apart() {
    let twice = "fadd.rlx r0 x 1; bne r0 0 1; nst d 1; fadd.rlx r0 y 1; nld r0 d";
    for n in 2..6 {
        let program = program(&vec![twice; n].join(" ‖ "));
        let Some(Fault::Race { .. }) = fault(&program, Model::Rc20, Property::Safe) else {
            panic!("{n} threads race");
        };
    }
}

#[test]
fn many_equal_threads_race_and_buffer() {
    let racing = vec!["fadd.rlx r0 x 1; bne r0 17 1; nst d 1; bne r0 18 1; nst d 2"; 20];
    assert_eq!(safe(&program(&racing.join(" ‖ "))), RACE);
    let mut lonely = racing.clone();
    lonely.truncate(18);
    assert_eq!(safe(&program(&lonely.join(" ‖ "))), None);
    let mut buffering = vec!["fadd.rlx r0 z 1"; 18];
    buffering.push("st.rel x 1; ld.acq r0 y");
    buffering.push("st.rel y 1; ld.acq r0 x");
    assert_eq!(robust(&program(&buffering.join(" ‖ ")), Model::Rc20), WEAK);
}
