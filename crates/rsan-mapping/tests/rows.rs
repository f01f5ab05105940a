//! What single instructions become: the published tables, row by row.

use rsan_lang::mini;
use rsan_mapping::{Target, assertions, compile};
use rsan_model::machine::{Acquire, Fence, Kinds, Op, Program, Strength, location_at};
use rsan_model::{BinOp, Domain, Expr, Instr, LocId, Observable, Place, RegId, Source, ThreadId};

fn parse(text: &str) -> rsan_model::Program {
    mini::parse(&Source::new("test.mini", text)).expect("a program")
}

/// The operations that matter for order, in a short notation: `F` is the strongest fence, `ld.a` an acquire load.
fn order(program: &Program) -> String {
    let ops = program.threads[0].code.iter().filter_map(|op| {
        Some(match op {
            Op::Load {
                strength,
                exclusive,
                ..
            } => format!(
                "ld{}{}",
                if *exclusive { "x" } else { "" },
                suffix(*strength)
            ),
            Op::Store { strength, .. } => format!("st{}", suffix(*strength)),
            Op::StoreExclusive { strength, .. } => format!("stx{}", suffix(*strength)),
            Op::Update { read, write, .. } => {
                format!("rmw{}{}", suffix(*read), suffix(*write))
            }
            Op::Fence(fence) => name(*fence).to_owned(),
            Op::Branch { .. } => "b".to_owned(),
            Op::Await(_) => "loop".to_owned(),
            Op::Assign { .. } | Op::Jump { .. } | Op::Choose { .. } => return None,
        })
    });
    ops.collect::<Vec<_>>().join(" ")
}

fn suffix(strength: Strength) -> String {
    let acquire = match strength.acquire {
        Acquire::No => "",
        Acquire::Pc => ".pc",
        Acquire::Sc => ".a",
    };
    format!("{acquire}{}", if strength.release { ".l" } else { "" })
}

fn name(fence: Fence) -> &'static str {
    match fence {
        Fence::Mfence => "mfence",
        Fence::Dmb(Kinds::All) => "dmb",
        Fence::Dmb(Kinds::Reads) => "dmb.ld",
        Fence::Riscv {
            before: Kinds::Reads,
            after: Kinds::All,
        } => "r,rw",
        Fence::Riscv {
            before: Kinds::All,
            after: Kinds::Writes,
        } => "rw,w",
        Fence::Riscv {
            before: Kinds::All,
            after: Kinds::All,
        } => "rw,rw",
        Fence::RiscvTso => "tso",
        Fence::Sync => "sync",
        Fence::Lwsync => "lwsync",
        Fence::Isync => "isync",
        other => panic!("no table has {other:?}"),
    }
}

const ROWS: [&str; 14] = [
    "ld.rlx r0 x",
    "ld.acq r0 x",
    "ld.sc r0 x",
    "st.rlx x 1",
    "st.rel x 1",
    "st.sc x 1",
    "fadd.rlx r0 x 1",
    "fadd.acq r0 x 1",
    "fadd.rel r0 x 1",
    "fadd.sc r0 x 1",
    "fence.acq",
    "fence.rel",
    "fence.ar",
    "fence.sc",
];

const TABLES: [(&str, [&str; 14]); 10] = [
    (
        "sc",
        [
            "ld", "ld", "ld", "st", "st", "st", "rmw", "rmw", "rmw", "rmw", "", "", "", "",
        ],
    ),
    (
        "x86",
        [
            "ld", "ld", "ld", "st", "st", "rmw", "rmw", "rmw", "rmw", "rmw", "", "", "", "mfence",
        ],
    ),
    (
        "x86+mfence",
        [
            "ld",
            "ld",
            "ld",
            "st",
            "st",
            "st mfence",
            "rmw",
            "rmw",
            "rmw",
            "rmw",
            "",
            "",
            "",
            "mfence",
        ],
    ),
    (
        "armv8",
        [
            "ld",
            "ld.a",
            "ld.a",
            "st",
            "st.l",
            "st.l",
            "ldx stx loop",
            "ldx.a stx loop",
            "ldx stx.l loop",
            "ldx.a stx.l loop",
            "dmb.ld",
            "dmb",
            "dmb",
            "dmb",
        ],
    ),
    (
        "armv8+rcpc+lse",
        [
            "ld", "ld.pc", "ld.a", "st", "st.l", "st.l", "rmw", "rmw.a", "rmw.l", "rmw.a.l",
            "dmb.ld", "dmb", "dmb", "dmb",
        ],
    ),
    (
        "armv7",
        [
            "ld",
            "ld dmb",
            "ld dmb",
            "st",
            "dmb st",
            "dmb st dmb",
            "ldx stx loop",
            "ldx stx loop dmb",
            "dmb ldx stx loop",
            "dmb ldx stx loop dmb",
            "dmb",
            "dmb",
            "dmb",
            "dmb",
        ],
    ),
    (
        "riscv",
        [
            "ld",
            "ld r,rw",
            "rw,rw ld r,rw",
            "st",
            "rw,w st",
            "rw,w st",
            "rmw",
            "rmw.a.a",
            "rmw.l.l",
            "rmw.a.l.a.l",
            "r,rw",
            "rw,w",
            "tso",
            "rw,rw",
        ],
    ),
    (
        "power",
        [
            "ld",
            "ld b isync",
            "sync ld b isync",
            "st",
            "lwsync st",
            "sync st",
            "ldx stx loop",
            "ldx stx loop b isync",
            "lwsync ldx stx loop",
            "sync ldx stx loop b isync",
            "lwsync",
            "lwsync",
            "lwsync",
            "sync",
        ],
    ),
    (
        "power+trailing",
        [
            "ld",
            "ld b isync",
            "ld sync",
            "st",
            "lwsync st",
            "lwsync st sync",
            "ldx stx loop",
            "ldx stx loop b isync",
            "lwsync ldx stx loop",
            "lwsync ldx stx loop sync",
            "lwsync",
            "lwsync",
            "lwsync",
            "sync",
        ],
    ),
    (
        "power+lwsync",
        [
            "ld",
            "ld lwsync",
            "sync ld lwsync",
            "st",
            "lwsync st",
            "sync st",
            "ldx stx loop",
            "ldx stx loop lwsync",
            "lwsync ldx stx loop",
            "sync ldx stx loop lwsync",
            "lwsync",
            "lwsync",
            "lwsync",
            "sync",
        ],
    ),
];

#[test]
fn the_tables_are_the_published_ones() {
    for (target, expected) in TABLES {
        let target: Target = target.parse().expect("a target");
        for (row, expected) in ROWS.into_iter().zip(expected) {
            let compiled = compile(&parse(row), &target).expect("a program");
            assert_eq!(order(&compiled), expected, "{row} for {target}");
        }
    }
}

#[test]
fn compare_and_swap_has_the_orders_of_success_and_failure() {
    let rows = [
        ("armv8", "scas.rlx.rlx r0 x 0 1", "ldx b stx loop"),
        ("armv8", "wcas.rlx.rlx r0 x 0 1", "ldx b stx b"),
        ("armv8", "scas.rel.acq r0 x 0 1", "ldx.a b stx.l loop"),
        ("armv7", "scas.ar.acq r0 x 0 1", "dmb ldx b stx loop dmb"),
        ("riscv", "scas.sc.sc r0 x 0 1", "ldx.a.l b stx.l loop"),
        ("x86", "wcas.sc.sc r0 x 0 1", "rmw"),
        ("power", "bcas.acq x 0 1", "ldx loop stx loop b isync"),
    ];
    for (target, row, expected) in rows {
        let target: Target = target.parse().expect("a target");
        let compiled = compile(&parse(row), &target).expect("a program");
        assert_eq!(order(&compiled), expected, "{row} for {target}");
    }
}

#[test]
fn a_relaxed_failure_skips_the_fence_of_success() {
    let target: Target = "armv7".parse().expect("a target");
    let compiled = compile(&parse("scas.acq.rlx r0 x 0 1"), &target).expect("a program");
    let code = &compiled.threads[0].code;
    let fence = code.iter().position(|op| matches!(op, Op::Fence(_)));
    let failure = code.iter().find_map(|op| match op {
        Op::Branch { target, .. } => Some(*target),
        _ => None,
    });
    assert!(failure > fence, "{code:?}");
}

#[test]
fn an_index_is_an_address_dependency_and_stays_in_its_array() {
    let mut program = parse("ld.rlx r0 x; ld.rlx r1 y; ld.rlx r2 z");
    let element = |index| Place::Element {
        base: LocId(1),
        len: 2,
        index,
    };
    let Instr::Load { place, .. } = &mut program.threads[0].code[1] else {
        panic!("a load");
    };
    *place = element(Expr::Reg(RegId(0)));
    let compiled = compile(&program, &"armv8".parse().expect("a target")).expect("a program");
    let Op::Load { address, .. } = &compiled.threads[0].code[1] else {
        panic!("a load");
    };
    let mut mentioned = Vec::new();
    address.for_each_reg(&mut |r| mentioned.push(r));
    assert!(mentioned.contains(&RegId(0)));
    let at = |index| {
        let address = address.eval(&[index, 0, 0]).expect("an address");
        location_at(address as i32, 3)
    };
    assert_eq!(
        [-1, 0, 1, 2].map(at),
        [None, Some(LocId(1)), Some(LocId(2)), None]
    );
}

#[test]
fn values_of_a_small_domain_wrap() {
    let mut program = parse("st.rlx x -1");
    program.domain = Domain::Modulo(4);
    let compiled = compile(&program, &"x86".parse().expect("a target")).expect("a program");
    let Op::Store { value, .. } = &compiled.threads[0].code[0] else {
        panic!("a store");
    };
    assert_eq!(value.eval(&[]), Ok(3));
}

#[test]
fn origins_are_the_instructions_and_targets_follow_them() {
    let program = parse("ld.acq r0 x; bne r0 0 1; st.rel y 1; st.rlx z 1");
    let compiled = compile(&program, &"armv7".parse().expect("a target")).expect("a program");
    let thread = &compiled.threads[0];
    assert_eq!(thread.origins, [0, 0, 1, 2, 2, 3]);
    assert!(matches!(thread.code[2], Op::Branch { target: 5, .. }));
}

#[test]
fn what_no_source_names_is_not_observed() {
    let program = parse("fadd.rlx r0 x 1; spawn 1; join 1 || fadd.rlx r0 x 1");
    let compiled = compile(&program, &"armv8".parse().expect("a target")).expect("a program");
    let r0 = |t| Observable::Reg(ThreadId(t), RegId(0));
    assert_eq!(compiled.observed, [r0(0), r0(1), Observable::Loc(LocId(0))]);
    let names: Vec<&str> = compiled.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["x", "<start of P1>", "<end of P1>"]);
}

#[test]
fn spawns_and_joins_release_and_acquire() {
    let program = parse("spawn 1; join 1 || st.rlx x 1");
    let compiled = compile(&program, &"armv8".parse().expect("a target")).expect("a program");
    assert_eq!(order(&compiled), "st.l ld.a loop");
    let child = &compiled.threads[1];
    assert_eq!(child.origins, [1, 1, 0, 2]);
    let twice = parse("spawn 1; spawn 1 || st.rlx x 1");
    let error = compile(&twice, &"armv8".parse().expect("a target")).expect_err("spawned twice");
    assert_eq!(
        error.to_string(),
        "T0@1: spawning a thread at several places has no translation"
    );
}

#[test]
fn a_failed_assertion_is_told_by_a_register() {
    let mut program = parse("ld.rlx r0 x; st.rlx y 1");
    let zero = Expr::Binary(BinOp::Eq, Expr::Reg(RegId(0)).into(), Expr::Const(0).into());
    program.threads[0].code.insert(1, Instr::Assert(zero));
    program.threads[0].spans.insert(1, Default::default());
    let compiled = compile(&program, &"power".parse().expect("a target")).expect("a program");
    let [(thread, pc, register)] = assertions(&program, &compiled)[..] else {
        panic!("one assertion");
    };
    assert_eq!((thread, pc.0), (ThreadId(0), 1));
    let code = &compiled.threads[0].code;
    assert!(matches!(code[2], Op::Assign { dst, .. } if dst == register));
    assert_eq!(code[3], Op::Jump { target: code.len() });
}
