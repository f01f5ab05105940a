//! Observational robustness: the search against the definition.
//!
//! That the search is sound (what it proves holds by the definition) is part of every comparison, see `agree.rs`.
//! It is not complete: it lets a load that may be stale read the last write of its run, and treats everything else,
//! unused loads that are not stale among them, as robustness does. By the definition an unused load may be redirected
//! even when the access that goes weak is another one. The smallest such programs are here.

use rsan_axioms::Limits;
use rsan_crosscheck::{Answers, compare};
use rsan_lang::mini;
use rsan_model::{Model, Source};

fn answers(text: &str, model: Model) -> Answers {
    let program = mini::parse(&Source::new("program", text)).expect("a program");
    let answers = compare(&program, model, &Limits::default()).expect("it is small");
    assert_eq!(answers.contradictions(), Vec::<String>::new(), "{text}");
    answers
}

/// Both agree: a stale value that nobody uses is no violation, one that is used is one.
#[test]
fn the_search_agrees_with_the_definition() {
    for (text, observational) in [
        // Store buffering whose result is thrown away, overwritten, or used.
        ("st.rel x 1; ld.acq r0 y || st.rel y 1; ld.acq r0 x", true),
        (
            "st.rel x 1; ld.acq r0 y; ld.acq r0 z; st.rel z r0 || st.rel y 1; ld.acq r0 x; xchg.ar r0 z 1; st.rel z r0",
            true,
        ),
        (
            "st.rel x 1; ld.acq r0 y; st.rlx z r0 || st.rel y 1; ld.acq r0 x; st.rlx w r0",
            false,
        ),
        (
            "st.rel x 1; ld.acq r0 y; bne r0 0 1; st.rlx z 1 || st.rel y 1; ld.acq r0 x; bne r0 0 1; st.rlx z 2",
            false,
        ),
        // A weak store, RMW or wait is always one.
        ("st.rel x 1; st.rel y 2 || st.rel y 1; st.rel x 2", false),
        (
            "st.rel x 1; fadd.ar r0 y 0 || st.rel y 1; fadd.ar r0 x 0",
            false,
        ),
        (
            "st.rel x 1; wait.acq y 0 || st.rel y 1; wait.acq x 0",
            false,
        ),
        // A reader that checks afterwards, as in a seqlock.
        (
            "st.rlx s 1; fence.rel; st.rlx x 1; st.rel s 2 || ld.rlx r0 x; fence.acq; ld.rlx r1 s; bne r1 2 1; ld.rlx r2 x",
            true,
        ),
    ] {
        for model in [Model::Ra, Model::Rc20, Model::C20] {
            let answers = answers(text, model);
            let verified = answers.verifier.observational.is_none();
            assert_eq!(verified, observational, "{model} search: {text}");
            let defined = answers.oracle.observational;
            assert_eq!(defined, Some(observational), "{model} definition: {text}");
        }
    }
}

/// The definition holds, the search refutes.
#[test]
fn the_search_is_overcautious_when_the_unused_load_is_not_the_weak_access() {
    for text in [
        // Test R: the store of z goes weak, but the cycle needs the unused load of y.
        "st.rel z 1; ld.acq r0 y || st.rel y 1; st.rel z 2",
        // The same with an RMW and with a compare-and-swap.
        "st.rel x 1; ld.acq r1 y || st.rel y 1; fadd.ar r0 x 2",
        "st.rel x 0; ld.acq r1 y || st.rel y 1; scas.ar.acq r0 x 0 1",
        // The weak load is used, the load that the cycle needs is not.
        "st.rel x 1; ld.acq r0 y || st.rel y 1; ld.acq r0 x; bne r0 0 0",
        // The unused load reads from a write of another thread.
        "st.rel y 0 || ld.acq r0 y; st.rel x 0 || st.rel x 1; st.rel y 1",
    ] {
        for model in [Model::Ra, Model::Rc20, Model::C20] {
            let answers = answers(text, model);
            assert!(answers.is_overcautious(), "{model}: {text}");
        }
    }
}
