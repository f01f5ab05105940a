//! Loops without shared accesses.

use crate::common::{WEAK, c, outcome, robust, tpl};
use rsan_model::{Model, Reason, Verdict};
use rsan_verify::{Options, Stats, verify};

const BUFFERING: &str = "fn p { local r; x.store(1); FENCE r = y.load(); }
    fn q { local r; y.store(1); FENCE r = x.load(); }";

/// Store buffering beside a thread with this body, without and with fences.
fn beside(body: &str) -> [Option<&'static str>; 2] {
    ["", "fence;"].map(|fence| {
        let threads = BUFFERING.replace("FENCE", fence);
        let text = format!("max_value 5; global x, y; fn s {{ {body} }} {threads}");
        robust(&tpl(&text), Model::Rc20)
    })
}

#[test]
fn a_thread_that_never_comes_back() {
    assert_eq!(beside("while (1) { skip; }"), [WEAK, None]);
    assert_eq!(beside("L: goto L;"), [WEAK, None]);
    assert_eq!(beside("local r; while (1) { r = r + 1; }"), [WEAK, None]);
    let after_an_access = "local r; r = x.load(); x.store(r); while (1) { r = r + 1; }";
    assert_eq!(beside(after_an_access)[0], WEAK);
}

#[test]
fn a_thread_that_chooses_for_ever() {
    assert_eq!(
        beside("while (1) { oneof( { skip; } { skip; } ); }"),
        [WEAK, None]
    );
    let counting = "local r; while (1) { oneof( { r = 0; } { r = r + 1; } ); }";
    assert_eq!(beside(counting), [WEAK, None]);
}

#[test]
fn a_long_loop_that_ends() {
    let text = "{} P0 (atomic_int* x) { int i = 0; while (i < 100000) { i = i + 1; } atomic_store(x, i); assert(i == 100000); }";
    assert_eq!(robust(&c(text), Model::C20), None);
}

#[test]
fn endless_counting() {
    let text =
        "{} P0 (atomic_int* x) { int i = 0; while (i != -1) { i = i + 2; } atomic_store(x, i); }";
    let verdict = outcome(&c(text), &Options::new(Model::C20)).verdict;
    assert!(
        matches!(verdict, Verdict::Unknown(Reason::TooLarge(_))),
        "{verdict:?}"
    );
}

#[test]
fn a_loop_around_shared_accesses() {
    let text = "global x, y; fn p { local r; while (1) { x.store(1 - r); r = x.load(); } } fn q { local r; r = x.load(); }";
    let mut calls = Vec::new();
    let answer = verify(&tpl(text), &Options::new(Model::Ra), &mut |s: &Stats| {
        calls.push(*s);
    });
    assert_eq!(answer.expect("it can be verified").verdict, Verdict::Robust);
    assert!(calls.len() < 2, "a small program needs no progress report");
}
