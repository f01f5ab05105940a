//! C litmus tests: declarations, accesses and final conditions.

use crate::interpreter::{End, ends, only_end, read};
use rsan_lang::Format;
use rsan_model::{
    Atom, CasStrength, Expr, FenceOrd, Instr, LocId, LocKind, Observable, Place, Program, Prop,
    Quantifier, ReadOrd, RegId, RmwOp, RmwOrd, ThreadId, WriteOrd,
};

fn c(text: &str) -> Program {
    read(text, Format::CLitmus)
}

/// The program of one process with the parameters `x`, `y` (atomic), `d` (plain) and `a` (an atomic array of 3).
fn body(text: &str) -> Program {
    let parameters = "atomic_int* x, atomic_int* y, int* d, atomic_int a[3]";
    c(&format!("C t\n{{}}\nP0 ({parameters}) {{ {text} }}"))
}

fn code(text: &str) -> Vec<Instr> {
    body(text).threads[0].code.clone()
}

const X: Place = Place::Loc(LocId(0));
const D: Place = Place::Loc(LocId(2));

#[test]
fn a_whole_test_is_read() {
    let program = c("C MP+rel+acq\n\
        \"a documentation line\"\n\
        Cycle=Rfe PodRR Fre PodWW\n\
        (* comment *)\n\
        { [x]=0; y=0; 1:r1=7; }\n\
        P0 (atomic_int* x, volatile int* d) {\n\
          *d = 1; // plain\n\
          atomic_store_explicit(x, 1, memory_order_release);\n\
        }\n\
        P1 (atomic_int* x, int* d) {\n\
          int r0 = atomic_load_explicit(x, memory_order_acquire);\n\
          int r1;\n\
          if (r0 == 1) { r1 = *d; }\n\
        }\n\
        locations [y; 1:r1;]\n\
        exists (1:r0=1 /\\ ~(1:r1=1))");
    assert_eq!(program.name, "MP+rel+acq");
    let names: Vec<&str> = program.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "d"]);
    assert_eq!(program.locations[0].kind, LocKind::Atomic);
    assert_eq!(program.locations[2].kind, LocKind::Plain);
    assert_eq!(program.threads[1].registers[1].name, "r1");
    assert_eq!(program.threads[1].registers[1].init, 7);
    let r = |n| Observable::Reg(ThreadId(1), RegId(n));
    assert_eq!(program.observed, [Observable::Loc(LocId(1)), r(1)]);
    let condition = program.condition.as_ref().expect("a condition");
    assert_eq!(condition.quantifier, Quantifier::Exists);
    assert_eq!(
        condition.prop,
        Prop::And(
            Prop::Atom(Atom::Is(r(0), 1)).into(),
            Prop::Not(Prop::Atom(Atom::Is(r(1), 1)).into()).into()
        )
    );
    let source = program.source.as_ref().expect("a source");
    let span = program.threads[0].spans[1];
    assert_eq!(
        source.slice(span),
        "atomic_store_explicit(x, 1, memory_order_release)"
    );
}

#[test]
fn initial_states_come_in_several_forms() {
    let program = c("C t\n\
        { x = 1; [y]=-2; int z=3; atomic_int w; _Atomic int v = 0x10; int a[3]={1,2,3}; int b[2]; 0:r0=4; P0:r1=5 }\n\
        P0 (atomic_int* x, int* a) { int r0; int r1; int s = a[2]; }");
    let values: Vec<(&str, i32)> = program
        .locations
        .iter()
        .map(|l| (l.name.as_str(), l.init))
        .collect();
    assert_eq!(
        values,
        [
            ("x", 1),
            ("y", -2),
            ("z", 3),
            ("w", 0),
            ("v", 16),
            ("a[0]", 1),
            ("a[1]", 2),
            ("a[2]", 3),
            ("b[0]", 0),
            ("b[1]", 0)
        ]
    );
    assert_eq!(program.locations[3].kind, LocKind::Atomic);
    assert_eq!(program.locations[4].kind, LocKind::Atomic);
    assert!(only_end(&program).ends_with(&["0:r0=4".into(), "0:r1=5".into(), "0:s=3".into()]));
}

#[test]
fn a_location_is_atomic_when_anyone_says_or_treats_it_so() {
    let program = c("C t\n{}\n\
        P0 (int* x, int* y, int* z) { *x = 1; atomic_store(y, 1); *z = 1; }\n\
        P1 (atomic_int* x) { }");
    let kinds: Vec<LocKind> = program.locations.iter().map(|l| l.kind).collect();
    assert_eq!(kinds, [LocKind::Atomic, LocKind::Atomic, LocKind::Plain]);
}

#[test]
fn loads_and_stores_of_every_order() {
    for (name, ord) in [
        ("memory_order_relaxed", ReadOrd::Relaxed),
        ("memory_order_consume", ReadOrd::Acquire),
        ("acquire", ReadOrd::Acquire),
        ("seq_cst", ReadOrd::SeqCst),
    ] {
        let dst = RegId(0);
        assert_eq!(
            code(&format!("int r = atomic_load_explicit(x, {name});")),
            [Instr::Load { dst, place: X, ord }]
        );
    }
    for (name, ord) in [
        ("relaxed", WriteOrd::Relaxed),
        ("memory_order_release", WriteOrd::Release),
        ("memory_order_seq_cst", WriteOrd::SeqCst),
    ] {
        let value = Expr::Const(-3);
        assert_eq!(
            code(&format!("atomic_store_explicit(x, -3, {name});")),
            [Instr::Store {
                place: X,
                value,
                ord
            }]
        );
    }
    assert!(
        code("atomic_store(x, 1); int r = atomic_load(x);")
            .iter()
            .all(Instr::is_sc_access)
    );
}

#[test]
fn read_modify_writes() {
    for (name, op) in [
        ("exchange", RmwOp::Exchange),
        ("fetch_add", RmwOp::Add),
        ("fetch_sub", RmwOp::Sub),
        ("fetch_and", RmwOp::And),
        ("fetch_or", RmwOp::Or),
        ("fetch_xor", RmwOp::Xor),
    ] {
        let rmw = |dst, ord| Instr::Rmw {
            dst,
            place: X,
            op,
            operand: Expr::Const(2),
            ord,
        };
        assert_eq!(
            code(&format!("int r = atomic_{name}_explicit(x, 2, acq_rel);")),
            [rmw(Some(RegId(0)), RmwOrd::AcqRel)]
        );
        assert_eq!(
            code(&format!("atomic_{name}(x, 2);")),
            [rmw(None, RmwOrd::SeqCst)]
        );
    }
}

#[test]
fn fences_and_initialisation() {
    assert_eq!(
        code(
            "atomic_thread_fence(memory_order_acq_rel); atomic_thread_fence(memory_order_relaxed);"
        ),
        [Instr::Fence(FenceOrd::AcqRel)]
    );
    let value = Expr::Const(1);
    assert_eq!(
        code("atomic_init(x, 1);"),
        [Instr::PlainStore { place: X, value }]
    );
}

#[test]
fn a_failed_compare_exchange_stores_what_it_read_in_the_local() {
    let cas = |success, strength| Instr::Cas {
        dst: Some(RegId(0)),
        success,
        place: X,
        expected: Expr::Reg(RegId(0)),
        new: Expr::Const(2),
        ord: RmwOrd::AcqRel,
        fail: ReadOrd::Acquire,
        strength,
    };
    assert_eq!(
        code("int e; atomic_compare_exchange_weak_explicit(x, &e, 2, acq_rel, acquire);"),
        [cas(None, CasStrength::Weak)]
    );
    assert_eq!(
        code(
            "int e; int ok = atomic_compare_exchange_strong_explicit(x, &e, 2, acq_rel, acquire);"
        ),
        [cas(Some(RegId(1)), CasStrength::Strong)]
    );
    let end = only_end(&body(
        "int e = 5; bool ok = atomic_compare_exchange_strong(x, &e, 2); \
         bool again = atomic_compare_exchange_strong(x, &e, 3);",
    ));
    assert!(end.contains(&"x=3".into()), "{end:?}");
    assert!(end.ends_with(&["0:e=0".into(), "0:ok=0".into(), "0:again=1".into()]));
}

#[test]
fn the_result_of_a_compare_exchange_may_go_into_its_own_expected_variable() {
    let end = only_end(&body(
        "int e = 5; e = atomic_compare_exchange_strong(x, &e, 2);",
    ));
    assert!(end.ends_with(&["0:e=0".into()]), "{end:?}");
    let end = only_end(&body(
        "int e = 0; e = atomic_compare_exchange_strong(x, &e, 2);",
    ));
    assert!(end.ends_with(&["0:e=1".into()]), "{end:?}");
}

#[test]
fn the_expected_value_may_stand_in_shared_memory_an_array_or_nowhere() {
    let shared = "*d = 4; int r = atomic_compare_exchange_strong(x, d, 2);";
    let end = only_end(&body(shared));
    assert!(
        end.contains(&"d=0".into()) && end.ends_with(&["0:r=0".into()]),
        "{end:?}"
    );
    let twice = format!("{shared} r = atomic_compare_exchange_strong(x, d, 2);");
    let end = only_end(&body(&twice));
    assert!(
        end.contains(&"x=2".into()) && end.contains(&"d=0".into()),
        "{end:?}"
    );
    let end = only_end(&body(
        "int e[2] = {7, 7}; int i = 1; atomic_compare_exchange_strong(x, &e[i], 2);",
    ));
    assert!(
        end.contains(&"0:e[0]=7".into()) && end.contains(&"0:e[1]=0".into()),
        "{end:?}"
    );
    let end = only_end(&body("int r = atomic_compare_exchange_strong(x, 0, 2);"));
    assert!(
        end.contains(&"x=2".into()) && end.ends_with(&["0:r=1".into()]),
        "{end:?}"
    );
}

#[test]
fn plain_accesses() {
    let dst = RegId(0);
    assert_eq!(code("int r = *d;"), [Instr::PlainLoad { dst, place: D }]);
    let end = only_end(&body(
        "*d = 3; *d += 4; ++*d; int r = (*d)++; int s = d[0];",
    ));
    assert!(end.contains(&"d=9".into()), "{end:?}");
    assert!(end.ends_with(&["0:r=8".into(), "0:s=9".into()]), "{end:?}");
}

#[test]
fn blocking_operations() {
    let values = vec![Expr::Const(1)];
    assert_eq!(
        code("rsan_wait(x, 1); int r = rsan_wait(x, 1, 2, memory_order_relaxed);"),
        [
            Instr::Wait {
                dst: None,
                place: X,
                values,
                ord: ReadOrd::Acquire
            },
            Instr::Wait {
                dst: Some(RegId(0)),
                place: X,
                values: vec![Expr::Const(1), Expr::Const(2)],
                ord: ReadOrd::Relaxed
            }
        ]
    );
    let bcas = |ord| Instr::Bcas {
        place: X,
        expected: Expr::Const(0),
        new: Expr::Const(1),
        ord,
    };
    assert_eq!(
        code("rsan_bcas(x, 0, 1); rsan_bcas(x, 0, 1, memory_order_acquire);"),
        [bcas(RmwOrd::AcqRel), bcas(RmwOrd::Acquire)]
    );
}

#[test]
fn shared_arrays() {
    let element = |n: u32| Place::Loc(LocId(3 + n));
    let dst = RegId(0);
    let ord = ReadOrd::SeqCst;
    for form in ["&a[1]", "a + 1", "a[1]"] {
        let text = format!("int r = atomic_load({form});");
        let place = element(1);
        assert_eq!(code(&text), [Instr::Load { dst, place, ord }], "{form}");
    }
    let end = only_end(&body(
        "for (int i = 0; i < 3; i++) { atomic_store(&a[i], i * i); } atomic_fetch_add(a, 7);",
    ));
    assert!(end[3..6] == ["a[0]=7", "a[1]=1", "a[2]=4"], "{end:?}");
    let program = body("int i = 3; atomic_store(&a[i], 1);");
    assert_eq!(ends(&program).into_iter().collect::<Vec<_>>(), [End::Trap]);
}

#[test]
fn final_conditions() {
    let condition = |text: &str| {
        let program = c(&format!(
            "C t\n{{}}\nP0 (atomic_int* x, int a[2]) {{ int r; int s[2]; }}\n{text}"
        ));
        program.condition.expect("a condition")
    };
    let r = Observable::Reg(ThreadId(0), RegId(0));
    let x = Observable::Loc(LocId(0));
    let is = |o, v| Prop::Atom(Atom::Is(o, v));
    assert_eq!(condition("exists x=1").prop, is(x, 1));
    assert_eq!(condition("exists ([x]=-1)").prop, is(x, -1));
    assert_eq!(condition("exists (P0:r = 2)").prop, is(r, 2));
    assert_eq!(condition("exists (0: r == 2)").prop, is(r, 2));
    let a1 = Observable::Loc(LocId(2));
    assert_eq!(condition("exists a[1]=1").prop, is(a1, 1));
    let s1 = Observable::Reg(ThreadId(0), RegId(2));
    assert_eq!(condition("exists 0:s[1]=1").prop, is(s1, 1));
    assert_eq!(condition("exists 0:r=x").prop, Prop::Atom(Atom::Same(r, x)));
    assert_eq!(condition("~exists x!=1").prop, Prop::Not(is(x, 1).into()));
    assert_eq!(condition("~exists x=1").quantifier, Quantifier::NotExists);
    assert_eq!(condition("forall (true)").quantifier, Quantifier::Forall);
    assert_eq!(
        condition("forall not x=1 /\\ x=2 \\/ false").prop,
        Prop::Or(
            Prop::And(Prop::Not(is(x, 1).into()).into(), is(x, 2).into()).into(),
            Prop::False.into()
        )
    );
    assert_eq!(
        condition("forall x=1 => x=2").prop,
        Prop::Or(Prop::Not(is(x, 1).into()).into(), is(x, 2).into())
    );
}

#[test]
fn long_conditions_do_not_make_deep_trees() {
    let atoms = vec!["x=1"; 100_000].join(" /\\ ");
    let program = c(&format!(
        "C t\n{{}}\nP0 (atomic_int* x) {{ }}\nexists ({atoms})"
    ));
    let prop = program.condition.expect("a condition").prop;
    assert!(prop.holds(&|_| 1));
    assert!(!prop.holds(&|_| 0));
}
