//! What compiled litmus tests show on each target, as the literature has it.

use rsan_axioms::Limits;
use rsan_axioms::machine::outcomes;
use rsan_lang::mini;
use rsan_mapping::{Target, compile};
use rsan_model::{Atom, Observable, Prop, RegId, Source, ThreadId, Value};
use rsan_model::{Condition, Quantifier};

/// Registers of threads, and their final values.
type State = &'static [(u32, u32, Value)];

const STORE_BUFFERING: State = &[(0, 0, 0), (1, 0, 0)];
const MESSAGE_PASSING: State = &[(1, 0, 1), (1, 1, 0)];
const LOAD_BUFFERING: State = &[(0, 0, 1), (1, 0, 1)];
const IRIW: State = &[(2, 0, 1), (2, 1, 0), (3, 0, 1), (3, 1, 0)];

/// All targets by name.
const ALL: &[&str] = &[
    "sc",
    "x86",
    "x86+mfence",
    "armv8",
    "armv8+rcpc",
    "armv8+lse",
    "armv8+rcpc+lse",
    "riscv",
    "armv7",
    "power",
    "power+lwsync",
    "power+trailing",
    "power+trailing+lwsync",
];
/// All but `sc`.
const NOT_SC: &[&str] = ALL.split_at(1).1;
/// All that are weaker than x86.
const WEAK: &[&str] = ALL.split_at(3).1;
const POWER: &[&str] = &[
    "power",
    "power+lwsync",
    "power+trailing",
    "power+trailing+lwsync",
];
const NONE: &[&str] = &[];

/// Program, final state, and the targets that show it.
const TESTS: &[(&str, State, &[&str])] = &[
    (
        "st.rlx x 1; ld.rlx r0 y || st.rlx y 1; ld.rlx r0 x",
        STORE_BUFFERING,
        NOT_SC,
    ),
    (
        "st.sc x 1; ld.sc r0 y || st.sc y 1; ld.sc r0 x",
        STORE_BUFFERING,
        NONE,
    ),
    (
        "st.rlx x 1; fence.sc; ld.rlx r0 y || st.rlx y 1; fence.sc; ld.rlx r0 x",
        STORE_BUFFERING,
        NONE,
    ),
    // `stlr; ldar` is ordered, `stlr; ldapr` is not; elsewhere an acquire load waits for no store.
    (
        "st.rel x 1; ld.acq r0 y || st.rel y 1; ld.acq r0 x",
        STORE_BUFFERING,
        &[
            "x86",
            "x86+mfence",
            "armv8+rcpc",
            "armv8+rcpc+lse",
            "riscv",
            "power",
            "power+lwsync",
            "power+trailing",
            "power+trailing+lwsync",
            "armv7",
        ],
    ),
    (
        "st.rlx d 1; st.rlx f 1 || ld.rlx r0 f; ld.rlx r1 d",
        MESSAGE_PASSING,
        WEAK,
    ),
    (
        "st.rlx d 1; st.rel f 1 || ld.acq r0 f; ld.rlx r1 d",
        MESSAGE_PASSING,
        NONE,
    ),
    (
        "st.rlx d 1; st.rel f 1 || ld.rlx r0 f; ld.rlx r1 d",
        MESSAGE_PASSING,
        WEAK,
    ),
    (
        "st.rlx d 1; fence.rel; st.rlx f 1 || ld.rlx r0 f; fence.acq; ld.rlx r1 d",
        MESSAGE_PASSING,
        NONE,
    ),
    (
        "st.rlx d 1; fadd.rel r0 f 1 || fadd.acq r0 f 0; ld.rlx r1 d",
        MESSAGE_PASSING,
        NONE,
    ),
    (
        "ld.rlx r0 x; st.rlx y 1 || ld.rlx r0 y; st.rlx x 1",
        LOAD_BUFFERING,
        WEAK,
    ),
    (
        "ld.acq r0 x; st.rlx y 1 || ld.acq r0 y; st.rlx x 1",
        LOAD_BUFFERING,
        NONE,
    ),
    (
        "ld.rlx r0 x; st.rel y 1 || ld.rlx r0 y; st.rel x 1",
        LOAD_BUFFERING,
        NONE,
    ),
    (
        "ld.rlx r0 x; st.rlx y r0 || ld.rlx r0 y; st.rlx x 1",
        LOAD_BUFFERING,
        WEAK,
    ),
    // Only machines that are not multi-copy atomic.
    (
        "st.rlx x 1 || st.rlx y 1 || ld.acq r0 x; ld.rlx r1 y || ld.acq r0 y; ld.rlx r1 x",
        IRIW,
        POWER,
    ),
    (
        "st.sc x 1 || st.sc y 1 || ld.sc r0 x; ld.sc r1 y || ld.sc r0 y; ld.sc r1 x",
        IRIW,
        NONE,
    ),
    // A read-modify-write by exclusives is no fence for what follows: its store may come late.
    (
        "fadd.sc r1 x 1; ld.rlx r0 y || fadd.sc r1 y 1; ld.rlx r0 x",
        STORE_BUFFERING,
        &["armv8", "armv8+rcpc", "power", "power+lwsync"],
    ),
];

#[test]
fn compiled_litmus_tests_show_what_is_known() {
    let mut wrong = Vec::new();
    for (text, state, shown) in TESTS {
        for name in ALL {
            if shows(text, state, name) != shown.contains(name) {
                wrong.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shows(text: &str, state: State, target: &str) -> bool {
    let target: Target = target.parse().expect("a target");
    let mut program = mini::parse(&Source::new("test.mini", text)).expect("a program");
    let prop = state
        .iter()
        .map(|&(t, r, value)| {
            let register = Observable::Reg(ThreadId(t), RegId(r));
            Prop::Atom(Atom::Is(register, value))
        })
        .reduce(|a, b| Prop::And(a.into(), b.into()));
    program.condition = Some(Condition {
        quantifier: Quantifier::Exists,
        prop: prop.expect("a state"),
    });
    let compiled = compile(&program, &target).expect("a program");
    let found = outcomes(&compiled, target.machine, &Limits::default()).expect("an answer");
    assert_eq!(found.cut, None);
    found.condition.expect("a condition").holds
}
