//! M-K robustness of compiled programs, by enumeration.

use rsan_axioms::Limits;
use rsan_axioms::machine::Kind;
use rsan_axioms::port::{Answer, Verdict, robust};
use rsan_lang::mini;
use rsan_mapping::{Target, compile};
use rsan_model::machine::{self, Machine};
use rsan_model::{Edge, Expr, Instr, Pc, Program, Reason, RegId, Source};

use Machine::{Armv7, Armv8, Power, Riscv, Sc, X86};

/// The pairs of machines that are compared: a stronger one, and the weaker ones.
const PAIRS: [(Machine, &[Machine]); 3] = [
    (Sc, &[X86, Armv8, Armv7, Riscv, Power]),
    (X86, &[Armv8, Armv7, Riscv, Power]),
    (Armv8, &[Armv7, Power]),
];

fn pairs() -> impl Iterator<Item = (Machine, Machine)> {
    PAIRS
        .into_iter()
        .flat_map(|(m, weaker)| weaker.iter().map(move |k| (m, *k)))
}

fn parse(text: &str) -> Program {
    mini::parse(&Source::new("test.mini", text)).expect("a program")
}

fn compiled(program: &Program, machine: Machine) -> machine::Program {
    let target = Target {
        spurious: true,
        ..Target::new(machine)
    };
    compile(program, &target).expect("a program")
}

fn ask(program: &Program, m: Machine, k: Machine) -> Answer {
    let (on_m, on_k) = (compiled(program, m), compiled(program, k));
    robust(&on_k, k, &on_m, m, &Limits::default(), &mut |_| None).expect("an answer")
}

fn is_robust(text: &str, m: Machine, k: Machine) -> bool {
    match ask(&parse(text), m, k).verdict {
        Verdict::Robust => true,
        Verdict::Violation(_) => false,
        Verdict::Cut(reason) => panic!("{text}: {reason}"),
    }
}

#[test]
fn classic_tests_are_robust_where_they_are() {
    type Expected = fn(Machine, Machine) -> bool;
    let everywhere: Expected = |_, _| true;
    let not_from_sc: Expected = |m, _| m != Sc;
    let tests: [(&str, Expected); 9] = [
        (
            "st.rlx x 1; ld.rlx r0 y || st.rlx y 1; ld.rlx r0 x",
            not_from_sc,
        ),
        ("st.sc x 1; ld.sc r0 y || st.sc y 1; ld.sc r0 x", everywhere),
        (
            "st.rlx d 1; st.rlx f 1 || ld.rlx r0 f; ld.rlx r1 d",
            |m, k| k == X86 || m == Armv8,
        ),
        (
            "st.rlx d 1; st.rel f 1 || ld.acq r0 f; ld.rlx r1 d",
            everywhere,
        ),
        (
            "ld.rlx r0 x; st.rlx y 1 || ld.rlx r0 y; st.rlx x 1",
            |m, k| k == X86 || m == Armv8,
        ),
        // Exclusives on ARMv8, one locked instruction on x86.
        (
            "fadd.rlx r1 x 1; ld.rlx r0 y || fadd.rlx r1 y 1; ld.rlx r0 x",
            |m, k| k == X86 || m == Armv8,
        ),
        ("wcas.rlx.rlx r0 x 0 1 || wcas.rlx.rlx r0 x 0 2", everywhere),
        ("st.sc x 1 || st.sc x 2; ld.sc r0 x", everywhere),
        (
            "ld.rlx r0 x; ld.rlx r1 x || st.rlx x 1; st.rlx x 2",
            everywhere,
        ),
    ];
    for (text, expected) in tests {
        for (m, k) in pairs() {
            assert_eq!(is_robust(text, m, k), expected(m, k), "{m}-{k}: {text}");
        }
    }
}

#[test]
fn the_witness_has_the_cycle() {
    let program = parse("st.rlx d 1; st.rlx f 1 || ld.rlx r0 f; ld.rlx r1 d");
    for m in [Sc, X86] {
        let Verdict::Violation(witness) = ask(&program, m, Armv8).verdict else {
            panic!("a violation");
        };
        let edges: Vec<Edge> = witness.cycle.iter().map(|(_, edge)| *edge).collect();
        let mut sorted = edges.clone();
        sorted.sort();
        assert_eq!(sorted, [Edge::Po, Edge::Po, Edge::Rf, Edge::Fr]);
        let accesses = witness.cycle.iter().all(|(event, _)| {
            !matches!(witness.execution.events[event.index()].kind, Kind::Fence(_))
        });
        assert!(accesses);
    }
}

#[test]
fn what_a_thread_did_before_it_waits_for_ever_counts() {
    // Nobody writes z: no execution ends.
    let text = "st.rlx x 1; ld.rlx r0 y; wait.rlx z 1 || st.rlx y 1; ld.rlx r0 x; wait.rlx z 1";
    assert!(!is_robust(text, Sc, X86));
    // A wait sees what it waits for in the end, so it is no weak read.
    let text = "st.rlx x 1; wait.rlx y 1 || st.rlx y 1; wait.rlx x 1";
    assert!(is_robust(text, Sc, X86));
    let text = "bcas.acq l 0 1; st.rlx x 1; st.rel l 0 || bcas.acq l 0 1; ld.rlx r0 x; st.rel l 0";
    for (m, k) in pairs() {
        assert!(is_robust(text, m, k), "{m}-{k}");
    }
}

#[test]
fn spawned_threads_and_joins_are_ordered() {
    let text = "st.rlx x 1; spawn 1; join 1; ld.rlx r0 y || ld.rlx r0 x; st.rlx y 1";
    for (m, k) in pairs() {
        assert!(is_robust(text, m, k), "{m}-{k}");
    }
}

/// The program whose first thread begins again after its last instruction if its first register is 0.
fn looping(text: &str) -> Program {
    let mut program = parse(text);
    let thread = &mut program.threads[0];
    thread.code.push(Instr::Branch {
        cond: Expr::Reg(RegId(0)),
        then: Pc::new(thread.code.len() + 1),
        otherwise: Pc(0),
    });
    thread.spans.push(Default::default());
    program
}

#[test]
fn loops_are_cut_unless_there_is_a_violation_before() {
    let robust = looping("ld.acq r0 f; ld.rlx r1 d || st.rlx d 1; st.rel f 1");
    assert_eq!(
        ask(&robust, Sc, Armv8).verdict,
        Verdict::Cut(Reason::LoopBound(3))
    );
    assert_eq!(
        ask(&robust, X86, Armv8).verdict,
        Verdict::Cut(Reason::LoopBound(3))
    );
    let wrong = looping("ld.rlx r0 f; ld.rlx r1 d || st.rlx d 1; st.rel f 1");
    assert!(matches!(
        ask(&wrong, X86, Armv8).verdict,
        Verdict::Violation(_)
    ));
}

#[test]
fn a_reason_to_halt_ends_the_search() {
    let thread = "st.rlx x 1; ld.rlx r0 y; st.rlx y 1; ld.rlx r1 x";
    let program = parse(&[thread; 4].join(" || "));
    let (on_m, on_k) = (compiled(&program, Armv8), compiled(&program, Armv7));
    let mut halt = |_| Some(Reason::TimeLimit);
    let answer = robust(&on_k, Armv7, &on_m, Armv8, &Limits::default(), &mut halt);
    assert_eq!(
        answer.expect("an answer").verdict,
        Verdict::Cut(Reason::TimeLimit)
    );
}
