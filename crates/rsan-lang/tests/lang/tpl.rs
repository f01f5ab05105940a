//! TPL programs.

use crate::interpreter::{End, ends, only_end, read};
use rsan_lang::Format;
use rsan_model::{
    CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Pc, Place, Program, ReadOrd, RegId,
    RmwOp, RmwOrd, Track, WriteOrd,
};

fn tpl(text: &str) -> Program {
    read(text, Format::Tpl)
}

/// The program of one thread with the globals `x` and `y`, the non-atomic `d` and the locals `r` and `s`.
fn body(text: &str) -> Program {
    tpl(&format!(
        "max_value 9; global x, y; na d; fn f {{ local r, s; {text} }}"
    ))
}

fn code(text: &str) -> Vec<Instr> {
    body(text).threads[0].code.clone()
}

/// The final value of the local `r`.
fn result(text: &str) -> i32 {
    let end = only_end(&body(text));
    let value = end.iter().find_map(|v| v.strip_prefix("0:r="));
    value.expect("a local r").parse().expect("a number")
}

const X: Place = Place::Loc(LocId(0));
const D: Place = Place::Loc(LocId(2));
const R: RegId = RegId(0);

#[test]
fn declarations() {
    let program = tpl("// comment\nmax_value 6;\nglobal a, b=5;\nna d = 2, e;\n\
        track a: 0, 3;\ntrack b: all;\ntrack a: 1, 3;\n\
        fn one { local r; skip; }\nfn two { skip; }");
    assert_eq!(program.name, "test");
    assert_eq!(program.domain, Domain::Modulo(7));
    let locations: Vec<(&str, LocKind, i32)> = program
        .locations
        .iter()
        .map(|l| (l.name.as_str(), l.kind, l.init))
        .collect();
    assert_eq!(
        locations,
        [
            ("a", LocKind::Atomic, 0),
            ("b", LocKind::Atomic, 5),
            ("d", LocKind::Plain, 2),
            ("e", LocKind::Plain, 0)
        ]
    );
    assert_eq!(
        program.tracked,
        [
            (LocId(0), Track::Values(vec![0, 1, 3])),
            (LocId(1), Track::All)
        ]
    );
    let threads: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(threads, ["one", "two"]);
    assert_eq!(tpl("global x; fn f { skip; }").domain, Domain::Modulo(256));
}

#[test]
fn loads_and_stores() {
    let load = |ord| Instr::Load {
        dst: R,
        place: X,
        ord,
    };
    assert_eq!(
        code("r = x.load(); r = x.load(rlx); r = x.load(acq);"),
        [ReadOrd::Relaxed, ReadOrd::Relaxed, ReadOrd::Acquire].map(load)
    );
    let store = |ord| Instr::Store {
        place: X,
        value: Expr::Const(1),
        ord,
    };
    assert_eq!(
        code("x.store(1); x.store(1, rlx); x.store(1, rel);"),
        [WriteOrd::Relaxed, WriteOrd::Relaxed, WriteOrd::Release].map(store)
    );
    assert_eq!(
        code("r = d.naload(); d.nastore(r);"),
        [
            Instr::PlainLoad { dst: R, place: D },
            Instr::PlainStore {
                place: D,
                value: Expr::Reg(R)
            }
        ]
    );
}

#[test]
fn read_modify_writes() {
    let rmw = |dst, op, ord| Instr::Rmw {
        dst,
        place: X,
        op,
        operand: Expr::Const(-1),
        ord,
    };
    assert_eq!(
        code("FADD(x, -1); r = FADD(x, -1, acq, rel); r = exchange(x, -1, rlx, rel);"),
        [
            rmw(None, RmwOp::Add, RmwOrd::Relaxed),
            rmw(Some(R), RmwOp::Add, RmwOrd::AcqRel),
            rmw(Some(R), RmwOp::Exchange, RmwOrd::Release)
        ]
    );
    let cas = |dst, ord, fail| Instr::Cas {
        dst,
        success: None,
        place: X,
        expected: Expr::Const(0),
        new: Expr::Reg(R),
        ord,
        fail,
        strength: CasStrength::Strong,
    };
    assert_eq!(
        code("CAS(x, 0, r); r = CAS(x, 0, r, acq, rlx);"),
        [
            cas(None, RmwOrd::Relaxed, ReadOrd::Relaxed),
            cas(Some(R), RmwOrd::Acquire, ReadOrd::Acquire)
        ]
    );
}

#[test]
fn blocking_operations_and_locks() {
    let bcas = |ord| Instr::Bcas {
        place: X,
        expected: Expr::Const(0),
        new: Expr::Const(1),
        ord,
    };
    assert_eq!(
        code("BCAS(x, 0, 1); BCAS(x, 0, 1, rlx, rel); lock(x); unlock(x);"),
        [
            bcas(RmwOrd::Relaxed),
            bcas(RmwOrd::Release),
            bcas(RmwOrd::Acquire),
            Instr::Store {
                place: X,
                value: Expr::Const(0),
                ord: WriteOrd::Release
            }
        ]
    );
    let tracked = body("lock(y);").tracked;
    assert_eq!(tracked, [(LocId(1), Track::Values(vec![0]))]);
    assert!(body("unlock(y);").tracked.is_empty());
    let wait = |dst, values: &[i64], ord| Instr::Wait {
        dst,
        place: X,
        values: values.iter().map(|v| Expr::Const(*v)).collect(),
        ord,
    };
    assert_eq!(
        code("wait(x, 1); r = wait(x, 1, 2); wait(x, 1, acq); r = wait(x, 1, 2, rlx);"),
        [
            wait(None, &[1], ReadOrd::Relaxed),
            wait(Some(R), &[1, 2], ReadOrd::Relaxed),
            wait(None, &[1], ReadOrd::Acquire),
            wait(Some(R), &[1, 2], ReadOrd::Relaxed)
        ]
    );
}

#[test]
fn fences() {
    assert_eq!(
        code("fence; fence(upd); fence(seq_cst); fence(acq); fence(rel); fence(acq_rel);"),
        [
            FenceOrd::SeqCst,
            FenceOrd::SeqCst,
            FenceOrd::SeqCst,
            FenceOrd::Acquire,
            FenceOrd::Release,
            FenceOrd::AcqRel
        ]
        .map(Instr::Fence)
    );
}

#[test]
fn expressions() {
    for (text, value) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 & 2 == 2", 0),
        ("3 & 1 == 1", 1),
        ("7 - 2 - 1", 4),
        ("-1", 9),
        ("9 + 1", 0),
        ("- -1", 1),
        ("!3 + 1", 1),
        ("6 | 1 ^ 3", 6),
        ("true + true", 2),
        ("false || 3 && 2", 1),
        ("7 % 4 / 2", 1),
        ("1 < 2 != false", 1),
        ("s[0] + 3", 3),
        ("+4", 4),
    ] {
        assert_eq!(result(&format!("r = {text};")), value, "{text}");
    }
    assert!(ends(&body("r = s[1];")).contains(&End::Trap));
    assert!(ends(&body("r = 1 / s;")).contains(&End::Trap));
}

#[test]
fn conditions_count_modulo_the_number_of_values() {
    assert_eq!(result("if (9 + 1) { r = 1; }"), 0);
    assert_eq!(result("s = 5; if (s + s) { r = 1; }"), 0);
    assert_eq!(result("s = 5; if (s + s + 1) { r = 1; }"), 1);
    assert_eq!(result("s = 5; if (s - 6) { r = 1; }"), 1);
}

#[test]
fn control_flow() {
    assert_eq!(result("if (s) { r = 1; } else { r = 2; }"), 2);
    assert_eq!(result("while (r < 5) { r = r + 2; }"), 6);
    assert_eq!(result("L: r = r + 1; if (r < 4) goto L; skip;"), 4);
    assert_eq!(result("goto end; r = 1; end: skip;"), 0);
    assert_eq!(
        result("while (true) { r = r + 1; if (r == 3) goto out; } out: r = r * 2;"),
        6
    );
    assert_eq!(
        result("goto in; while (r < 3) { r = 7; in: r = r + 1; } end:"),
        7 + 1
    );
    assert_eq!(result("assume(r == 1); r = 2;"), 0);
    assert!(ends(&body("assert(r == 1);")).contains(&End::AssertionFailed));
}

#[test]
fn non_deterministic_choice() {
    let program = body("oneof( { r = 1; } { r = 2; } {} ); s = r;");
    let ends = ends(&program);
    let values: Vec<String> = ends
        .iter()
        .map(|end| match end {
            End::Final(values) => values[3..].join(" "),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(values, ["0:r=0 0:s=0", "0:r=1 0:s=1", "0:r=2 0:s=2"]);
    assert!(matches!(&program.threads[0].code[0], Instr::Choose(to) if to.len() == 3));
}

#[test]
fn verify_observes() {
    assert_eq!(code("verify(r);"), [Instr::Observe(Expr::Reg(R))]);
}

#[test]
fn loops_are_tight() {
    let store = Instr::Store {
        place: X,
        value: Expr::Const(1),
        ord: WriteOrd::Relaxed,
    };
    assert_eq!(
        code("while (true) { x.store(1); }"),
        [store, Instr::Jump(Pc(0))]
    );
}

#[test]
fn spans_cover_statements() {
    let program = body("x.store(1, rel); if (r == 1) { r = CAS(x, 0, 1); }");
    let source = program.source.as_ref().expect("a source");
    let texts: Vec<&str> = program.threads[0]
        .spans
        .iter()
        .map(|s| source.slice(*s))
        .collect();
    assert_eq!(texts, ["x.store(1, rel);", "r == 1", "r = CAS(x, 0, 1);"]);
}
