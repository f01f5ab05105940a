//! Values: ranges that grow, arrays, wide views.

use crate::common::{ASSERTION, WEAK, c, program, robust, safe, tpl};
use rsan_model::Model;
use rsan_verify::{Error, Options, verify};

#[test]
fn values_far_from_any_constant() {
    let holds = "{}
        P0 (atomic_int* x) { atomic_fetch_add(x, 100000); }
        P1 (atomic_int* x) { int r = atomic_fetch_add(x, 700000); int s = atomic_load(x); assert(s - r >= 700000); }";
    assert_eq!(safe_c(holds), None);
    let fails = holds.replace(">= 700000", "== 700000");
    assert_eq!(safe_c(&fails), ASSERTION);
}

fn safe_c(text: &str) -> Option<&'static str> {
    robust(&c(text), Model::C20)
}

#[test]
fn values_below_zero() {
    let text = "{ y = -3; }
        P0 (atomic_int* x) { atomic_store(x, -5); atomic_fetch_sub(x, 1000); }
        P1 (atomic_int* x, atomic_int* y) { rsan_wait(x, -1005); int r = atomic_load(y); int s = atomic_load(x); assert(r == -3 && s == -1005); }";
    assert_eq!(safe_c(text), None);
    assert_eq!(safe_c(&text.replace("s == -1005", "s == 1005")), ASSERTION);
}

#[test]
fn int_wraps_around() {
    let text = "{ x = 2147483647; }
        P0 (atomic_int* x) { atomic_fetch_add(x, 1); int r = atomic_load(x); assert(r < 0); int s = r - 1; assert(s > 0); }";
    assert_eq!(safe_c(text), None);
}

#[test]
fn tpl_wraps_at_its_maximum() {
    let text = "max_value 5; global x;
        fn p { local r; r = FADD(x, 5); r = x.load(); r = r + 1; assert(r == 0); }";
    assert_eq!(safe(&tpl(text)), None);
}

#[test]
fn a_register_can_hold_what_memory_never_does() {
    let text = "{}
        P0 (atomic_int* x) { int r = atomic_load(x); int s = (r + 1) * 123456; atomic_store(x, 1); assert(s == 123456 || s == 246912); }
        P1 (atomic_int* x) { atomic_store(x, 1); }";
    assert_eq!(safe_c(text), None);
}

#[test]
fn comparing_with_a_register_tells_all_values_apart() {
    // Store buffering with a wait for the value in a register: stale if that is the old one.
    let waits_for = |value| {
        format!(
            "init v={value}: ld.rlx r0 v; st.rel x 5; ld.acq r1 y ‖ st.rel y 1; ld.rlx r0 v; wait.acq x r0"
        )
    };
    assert_eq!(robust(&program(&waits_for(0)), Model::Rc20), WEAK);
    assert_eq!(robust(&program(&waits_for(5)), Model::Rc20), None);
    assert_eq!(robust(&program(&waits_for(-70)), Model::Rc20), None);
}

#[test]
fn elements_chosen_at_run_time() {
    let text = "{ a[3] = {0, 0, 0}; }
        P0 (atomic_int* a, atomic_int* i) { int r = atomic_load(i); atomic_store(&a[r], 1); int s = atomic_load(&a[2 - r]); }
        P1 (atomic_int* a, atomic_int* i) { atomic_store(i, 2); }";
    assert_eq!(robust(&c(text), Model::C20), None);
    let sb = "{ a[2] = {0, 0}; }
        P0 (atomic_int* a, atomic_int* i) { int r = atomic_load_explicit(i, memory_order_relaxed);
            atomic_store_explicit(&a[r], 1, memory_order_release); int s = atomic_load_explicit(&a[1 - r], memory_order_acquire); }
        P1 (atomic_int* a, atomic_int* i) {
            atomic_store_explicit(&a[1], 1, memory_order_release); int s = atomic_load_explicit(&a[0], memory_order_acquire); }";
    assert_eq!(robust(&c(sb), Model::C20), WEAK);
    let same = sb.replace("{ a[2] = {0, 0}; }", "{ a[2] = {0, 0}; i = 1; }");
    assert_eq!(robust(&c(&same), Model::C20), None, "both write a[1]");
}

/// Store buffering, fenced or not, beside code that is never executed but makes every view this many bits wide.
fn beside_padding(bits: usize, fence: &str) -> String {
    let values: Vec<String> = (1..bits).map(|v| v.to_string()).collect();
    let values = values.join(" ");
    format!(
        "beq r0 0 2; st.rlx p 1; wait.rlx p {values} ‖ st.rel x 1; {fence} ld.acq r0 y ‖ st.rel y 1; {fence} ld.acq r0 x"
    )
}

#[test]
fn views_of_many_bits() {
    for bits in [
        10, 61, 62, 63, 64, 65, 100, 126, 127, 128, 200, 254, 255, 256, 600, 1022,
    ] {
        for model in [Model::Ra, Model::Rc20, Model::C20] {
            let open = program(&beside_padding(bits, ""));
            assert_eq!(robust(&open, model), WEAK, "{bits} bits, {model}");
            let fenced = program(&beside_padding(bits, "fence.sc;"));
            assert_eq!(robust(&fenced, model), None, "{bits} bits, {model}");
        }
    }
}

#[test]
fn more_bits_than_there_are() {
    for bits in [1023, 1100, 5000] {
        let program = program(&beside_padding(bits, ""));
        let answer = verify(&program, &Options::new(Model::Rc20), &mut |_| {});
        let Err(Error::TooLarge(why)) = answer else {
            panic!("{bits}: {answer:?}");
        };
        assert!(why.contains("1024"), "{why}");
    }
}

#[test]
fn a_range_that_grows_too_wide() {
    // The value compared with is computed, so every value counts, and there are too many of them.
    let text = "fadd.rlx r0 x 5000; st.rlx x r0 ‖ ld.rlx r0 x; wait.rlx x r0";
    let answer = verify(&program(text), &Options::new(Model::Rc20), &mut |_| {});
    assert!(matches!(answer, Err(Error::TooLarge(_))), "{answer:?}");
}
