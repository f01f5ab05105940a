//! What instructions become, and what is refused.

use super::parse;
use rsan_model::machine::{
    Acquire, Fence, Kinds, Machine, Op, Program, Strength, Thread, address, location_at,
};
use rsan_model::{Atom, Expr, LocId, Observable, Prop, Quantifier, RegId, Source, ThreadId};

fn read(text: &str) -> Program {
    let source = Source::new("test.litmus", text);
    parse(&source).unwrap_or_else(|d| panic!("{}", d.render(&source, false)))
}

/// The only thread of a test with this code.
fn thread(arch: &str, state: &str, code: &str) -> Thread {
    let rows: String = code.lines().map(|line| format!("{line} ;\n")).collect();
    let program = read(&format!(
        "{arch} t\n{{ {state} }}\nP0 ;\n{rows}exists (true)\n"
    ));
    program.threads[0].clone()
}

/// The message for a test with this code, and the text that it points to.
fn refusal(arch: &str, code: &str) -> (String, String) {
    let text = format!("{arch} t\n{{ }}\nP0 ;\n{code} ;\nexists (true)\n");
    let source = Source::new("test.litmus", &*text);
    let diagnostics = parse(&source).expect_err("refused");
    let first = diagnostics.first();
    let place = &text[first.span.start as usize..first.span.end as usize];
    (first.message.clone(), place.to_owned())
}

fn register(thread: &Thread, name: &str) -> RegId {
    let found = thread.registers.iter().position(|r| r.name == name);
    RegId::new(found.unwrap_or_else(|| panic!("no register {name}")))
}

/// Runs a thread that does not access memory; the final value of a register.
fn result(arch: &str, state: &str, code: &str, name: &str) -> i32 {
    let thread = thread(arch, state, code);
    let mut values: Vec<i32> = thread.registers.iter().map(|r| r.init).collect();
    let mut at = 0;
    while let Some(op) = thread.code.get(at) {
        at += 1;
        match op {
            Op::Assign { dst, value } => {
                values[dst.index()] = value.eval(&values).expect("a value") as i32;
            }
            Op::Branch { condition, target } => {
                if condition.eval(&values).expect("a value") != 0 {
                    at = *target;
                }
            }
            Op::Jump { target } => at = *target,
            other => panic!("{other:?}"),
        }
    }
    values[register(&thread, name).index()]
}

#[test]
fn a_test_has_a_header_a_state_a_table_and_a_condition() {
    let program = read(
        "AArch64 MP+dmb.sy+addr\n\"DMB.SYdWW Rfe DpAddrdR Fre\"\nGenerator=ours\nOrig=a b = c\n\
         {\n int x=0; uint64_t y; 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; 1:X9=0xffffffff;\n int* p = &x; [q]=-3;\n}\n\
         (* a comment *)\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X1] ;\n STR W0,[X1] | EOR W2,W0,W0 ;\n\
         DMB SY | LDR W4,[X3,W2,SXTW] ;\n MOV W2,#1 | ;\n STR W2,[X3] ;\n\
         locations [x; 0:X1;]\nexists (1:X0=1 /\\ 1:X4=0 /\\ p=x)\n",
    );
    assert_eq!(program.name, "MP+dmb.sy+addr");
    assert_eq!(program.machine, Machine::Armv8);
    let names: Vec<_> = program.locations.iter().map(|l| &*l.name).collect();
    assert_eq!(names, ["x", "y", "p", "q"]);
    assert_eq!(program.locations[2].init, address(LocId(0)));
    assert_eq!(program.locations[3].init, -3);
    assert_eq!(program.threads[0].code.len(), 5);
    assert_eq!(program.threads[1].origins, [0, 1, 2]);
    let [_, reader] = &program.threads[..] else {
        panic!("two threads")
    };
    let base = &reader.registers[register(reader, "X1").index()];
    assert_eq!(location_at(base.init, 4), Some(LocId(1)));
    assert_eq!(reader.registers[register(reader, "X9").index()].init, -1);
    assert_eq!(program.observed.len(), 2);
    let condition = program.condition.expect("a condition");
    assert_eq!(condition.quantifier, Quantifier::Exists);
    let mut mentioned = Vec::new();
    condition
        .prop
        .for_each_observable(&mut |o| mentioned.push(o));
    let x4 = Observable::Reg(ThreadId(1), register(reader, "X4"));
    assert!(mentioned.contains(&x4));
}

#[test]
fn an_expression_mentions_every_register_that_the_instruction_reads() {
    let thread = thread(
        "AArch64",
        "",
        "EOR W2,W0,W0\nADD X3,X2,W1,SXTW\nSTR W3,[X4,W2,SXTW]",
    );
    let read = |e: &Expr| {
        let mut names = Vec::new();
        e.for_each_reg(&mut |r| names.push(thread.registers[r.index()].name.clone()));
        names
    };
    let [
        Op::Assign { value: xor, .. },
        Op::Assign { value: sum, .. },
        store,
    ] = &thread.code[..]
    else {
        panic!("{:?}", thread.code)
    };
    assert_eq!(read(xor), ["W0", "W0"]);
    assert_eq!(read(sum), ["W2", "W1"]);
    let Op::Store { address, value, .. } = store else {
        panic!("{store:?}")
    };
    assert_eq!(read(address), ["X4", "W2"]);
    assert_eq!(read(value), ["X3"]);
}

#[test]
fn arithmetic_and_flags_of_every_architecture_compute() {
    let cases = [
        (
            "AArch64",
            "0:X1=5; 0:X2=7;",
            "SUBS W0,W1,W2\nCSET W3,LT",
            "W3",
            1,
        ),
        (
            "AArch64",
            "0:X1=-1; 0:X2=1;",
            "CMP W1,W2\nCSET W3,HI",
            "W3",
            1,
        ),
        (
            "AArch64",
            "0:X1=0x7fffffff;",
            "ADDS W0,W1,#1\nCSET W3,VS",
            "W3",
            1,
        ),
        ("AArch64", "0:X1=6;", "LSL W3,W1,#2", "W3", 24),
        (
            "AArch64",
            "0:X1=6;",
            "MOV W3,#1\nTBZ W1,#0,L\nMOV W3,#2\nL: NOP",
            "W3",
            1,
        ),
        (
            "AArch64",
            "0:X1=3; 0:X2=4;",
            "CMP W1,#3\nCSINC W3,W1,W2,NE",
            "W3",
            5,
        ),
        (
            "AArch64",
            "",
            "MOVZ W3,#2,LSL #16\nMOVK W3,#3",
            "W3",
            0x2_0003,
        ),
        (
            "ARM",
            "0:R1=5;",
            "CMP R1,#5\nMOVEQ R3,#2\nMOVNE R3,#3",
            "R3",
            2,
        ),
        (
            "ARM",
            "0:R1=5;",
            "SUBS R3,R1,#5\nBEQ L\nMOV R3,#9\nL: NOP",
            "R3",
            0,
        ),
        (
            "X86",
            "0:EAX=3;",
            "ADD EAX,$4\nCMP EAX,$7\nJNE L\nMOV EBX,$1\nL: NOP",
            "EBX",
            1,
        ),
        (
            "X86",
            "0:EAX=-1;",
            "CMP EAX,$1\nJB L\nMOV EBX,$1\nL: NOP",
            "EBX",
            1,
        ),
        (
            "X86_64",
            "0:rax=3;",
            "subl $4,%eax\njl L\nmovl $1,%ebx\nL: nop\nincl %eax",
            "eax",
            0,
        ),
        (
            "RISCV",
            "0:x5=6;",
            "xori x7,x5,3\nslt x8,x5,x7\nadd x7,x7,x8",
            "x7",
            5,
        ),
        (
            "RISCV",
            "0:a0=-1;",
            "li a1,1\nbltu a0,a1,L\nli a1,7\nL: nop",
            "a1",
            7,
        ),
        (
            "PPC",
            "0:r1=4;",
            "cmpwi r1,5\nblt L\nli r3,1\nL: addi r3,r3,2",
            "r3",
            2,
        ),
        (
            "PPC",
            "0:r1=4; 0:r0=9;",
            "addi r3,r0,1\nadd r3,r3,r1",
            "r3",
            5,
        ),
    ];
    for (arch, state, code, name, expected) in cases {
        let found = result(arch, state, code, name);
        assert_eq!(found, expected, "{arch}: {code}");
    }
}

#[test]
fn accesses_have_the_order_of_their_instruction() {
    let code = "LDAR W0,[X1]\nLDAPR W0,[X1]\nLDAXR W0,[X1]\nSTLR W0,[X1]\nSTLXR W2,W0,[X1]";
    let thread = thread("AArch64", "0:X1=x;", code);
    let acquire = |op: &Op| match op {
        Op::Load {
            strength,
            exclusive,
            ..
        } => (strength.acquire, *exclusive),
        other => panic!("{other:?}"),
    };
    assert_eq!(acquire(&thread.code[0]), (Acquire::Sc, false));
    assert_eq!(acquire(&thread.code[1]), (Acquire::Pc, false));
    assert_eq!(acquire(&thread.code[2]), (Acquire::Sc, true));
    assert!(matches!(&thread.code[3], Op::Store { strength, .. } if strength.release));
    let Op::StoreExclusive {
        status,
        on_success,
        strength,
        ..
    } = &thread.code[4]
    else {
        panic!("an exclusive store")
    };
    assert_eq!((*status, *on_success), (Some(register(&thread, "W2")), 0));
    assert!(strength.release);
}

#[test]
fn atomic_instructions_are_one_update_and_say_whether_they_return() {
    let update = |arch, code| match &thread(arch, "0:X1=x;", code).code[0] {
        Op::Update {
            returns,
            read,
            write,
            condition,
            ..
        } => (*returns, *read, *write, condition.is_some()),
        other => panic!("{other:?}"),
    };
    let plain = Strength::default();
    let acquire = Strength {
        acquire: Acquire::Sc,
        release: false,
    };
    let release = Strength {
        acquire: Acquire::No,
        release: true,
    };
    let both = Strength {
        acquire: Acquire::Sc,
        release: true,
    };
    let arm = |code| update("AArch64", code);
    assert_eq!(arm("LDADDAL W2,W3,[X1]"), (true, acquire, release, false));
    assert_eq!(arm("LDADDA W2,WZR,[X1]"), (false, plain, plain, false));
    assert_eq!(arm("STADDL W2,[X1]"), (false, plain, release, false));
    assert_eq!(arm("SWP W2,W3,[X1]"), (true, plain, plain, false));
    assert_eq!(arm("CASA W2,W3,[X1]"), (true, acquire, plain, true));
    assert_eq!(arm("LDSMAX W2,W3,[X1]"), (true, plain, plain, false));
    let riscv = thread(
        "RISCV",
        "0:x6=x;",
        "amoadd.w.aq.rl x5,x7,(x6)\namoswap.w.rl x0,x7,(x6)",
    );
    let Op::Update { read, write, .. } = &riscv.code[0] else {
        panic!("an update")
    };
    assert_eq!((*read, *write), (both, both));
    assert!(matches!(&riscv.code[2], Op::Update { returns: false, read, .. } if *read == release));
    let x86 = thread("X86", "", "XCHG [x],EAX\nLOCK INC [x]\nINC [x]");
    let updates = x86.code.iter().filter(|op| matches!(op, Op::Update { .. }));
    assert_eq!(updates.count(), 2);
    assert!(x86.code.iter().any(|op| matches!(op, Op::Load { .. })));
}

#[test]
fn a_select_is_a_choice() {
    let selected = thread("AArch64", "", "CMP W0,#1\nCSEL W1,W2,W3,EQ");
    assert!(matches!(
        &selected.code[1],
        Op::Assign {
            value: Expr::If(..),
            ..
        }
    ));
}

#[test]
fn a_compare_and_swap_writes_its_register_or_leaves_it_alone() {
    let swapped = thread("AArch64", "0:X4=x;", "CAS W3,W2,[X4]");
    let [
        Op::Update { dst: old, .. },
        Op::Choose { targets },
        Op::Assign { dst, value },
        Op::Jump { target: 5 },
        Op::Assign {
            dst: same_dst,
            value: Expr::If(_, kept, read),
        },
    ] = &swapped.code[..]
    else {
        panic!("{:?}", swapped.code)
    };
    assert_eq!(targets, &[2, 4]);
    assert_eq!((dst, value), (same_dst, &Expr::Reg(*old)));
    assert_eq!((&**kept, &**read), (&Expr::Reg(*dst), &Expr::Reg(*old)));
}

#[test]
fn fences_of_every_architecture() {
    let fences = |arch, code| -> Vec<Fence> {
        let fence = |op: &Op| match op {
            Op::Fence(fence) => *fence,
            other => panic!("{other:?}"),
        };
        thread(arch, "", code).code.iter().map(fence).collect()
    };
    assert_eq!(
        fences("AArch64", "DMB SY\nDMB ISHLD\nDMB ST\nISB"),
        [
            Fence::Dmb(Kinds::All),
            Fence::Dmb(Kinds::Reads),
            Fence::Dmb(Kinds::Writes),
            Fence::Isb
        ]
    );
    assert_eq!(
        fences("ARM", "DMB\nISB"),
        [Fence::Dmb(Kinds::All), Fence::Isb]
    );
    assert_eq!(fences("X86", "MFENCE\nLFENCE\nSFENCE"), [Fence::Mfence]);
    let fence = |before, after| Fence::Riscv { before, after };
    assert_eq!(
        fences(
            "RISCV",
            "fence rw,w\nfence r,iorw\nfence io,io\nfence\nfence.tso\nfence.i"
        ),
        [
            fence(Kinds::All, Kinds::Writes),
            fence(Kinds::Reads, Kinds::All),
            fence(Kinds::None, Kinds::None),
            fence(Kinds::All, Kinds::All),
            Fence::RiscvTso,
            Fence::RiscvI,
        ]
    );
    assert_eq!(
        fences("PPC", "sync\nlwsync\neieio\nisync"),
        [Fence::Sync, Fence::Lwsync, Fence::Eieio, Fence::Isync]
    );
}

#[test]
fn branches_go_to_labels_and_conditional_stores_set_flags() {
    let thread = thread(
        "PPC",
        "0:r2=x;",
        "L:\nlwarx r1,r0,r2\nstwcx. r3,r0,r2\nbne- L\nb E\nli r4,1\nE:",
    );
    let Op::StoreExclusive {
        status, on_success, ..
    } = &thread.code[1]
    else {
        panic!("{:?}", thread.code)
    };
    let Op::Branch { condition, target } = &thread.code[2] else {
        panic!("{:?}", thread.code)
    };
    assert_eq!((*target, *on_success), (0, 1));
    let mut values = vec![0; thread.registers.len()];
    for (flag, taken) in [(0, 1), (1, 0)] {
        values[status.expect("a flag").index()] = flag;
        assert_eq!(condition.eval(&values), Ok(taken));
    }
    assert_eq!(
        thread.code[3],
        Op::Jump {
            target: thread.code.len()
        }
    );
}

#[test]
fn symbolic_registers_belong_to_the_threads_that_name_them() {
    let program = read(
        "ARM t\n{ %x0=x; %y1=y; }\nP0 | P1 ;\nLDR R0,[%x0] | LDR R0,[%y1] ;\nexists (0:R0=0)\n",
    );
    let init = |t: usize| {
        let thread = &program.threads[t];
        let symbolic = thread.registers.iter().find(|r| r.name.starts_with('%'));
        symbolic.map(|r| location_at(r.init, 2))
    };
    assert_eq!(init(0), Some(Some(LocId(0))));
    assert_eq!(init(1), Some(Some(LocId(1))));
}

#[test]
fn values_that_are_names_are_addresses_in_states_and_conditions() {
    let program = read(
        "X86_64 t\n{ uint64_t x; 0:rsi=x; }\nP0 ;\nmovq (%rsi),%rax ;\nmovq $y,%rbx ;\n\
         filter (0:rax=0)\n~exists (0:ebx=y \\/ not (0:rax=0:rbx) /\\ [x]=2)\n",
    );
    let condition = program.condition.expect("a condition");
    assert_eq!(condition.quantifier, Quantifier::NotExists);
    assert!(program.filter.is_some());
    let Prop::Or(left, _) = &condition.prop else {
        panic!("{:?}", condition.prop)
    };
    let y = program.locations.iter().position(|l| l.name == "y");
    let Prop::Atom(Atom::Is(_, value)) = **left else {
        panic!("{left:?}")
    };
    assert_eq!(value, address(LocId::new(y.expect("y"))));
    let move_of_address = &program.threads[0].code[1];
    assert!(
        matches!(move_of_address, Op::Assign { value: Expr::Const(n), .. } if *n == i64::from(value))
    );
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let cases = [
        ("AArch64", "FOO X1,X2", "unknown instruction `FOO`", "FOO"),
        (
            "AArch64",
            "LDRB W0,[X1]",
            "`LDRB` does not access a whole location",
            "LDRB W0,[X1]",
        ),
        (
            "AArch64",
            "LDR W0,[X1,#4]",
            "`LDR` does not access a whole location",
            "LDR W0,[X1,#4]",
        ),
        (
            "AArch64",
            "ADD W1,W2",
            "`ADD` has too few operands",
            "ADD W1,W2",
        ),
        (
            "AArch64",
            "MOV W1,#0x100000000",
            "this number does not fit in 32 bits",
            "#0x100000000",
        ),
        ("AArch64", "CBZ W1,L", "P0 has no label `L`", "L"),
        (
            "AArch64",
            "LDR W40,[X1]",
            "expected a register, found `W40`",
            "W40",
        ),
        (
            "RISCV",
            "lb x5,0(x6)",
            "`LB` does not access a whole location",
            "lb x5,0(x6)",
        ),
        (
            "X86",
            "MOVNTI [x],EAX",
            "unknown instruction `MOVNTI`",
            "MOVNTI",
        ),
        (
            "PPC",
            "lwz r1,4(r2)",
            "`LWZ` does not access a whole location",
            "lwz r1,4(r2)",
        ),
        (
            "AArch64",
            "DSB ST",
            "`DSB ST` orders writes before everything that follows, which no fence here does",
            "DSB ST",
        ),
        (
            "ARM",
            "DMB FOO",
            "expected a barrier's option such as `SY`, `LD` or `ISHST`",
            "FOO",
        ),
        ("ARM", "NOP | NOP", "this row has more than 1 cells", "NOP"),
    ];
    for (arch, code, message, place) in cases {
        let found = refusal(arch, code);
        assert_eq!(
            found,
            (message.to_owned(), place.to_owned()),
            "{arch}: {code}"
        );
    }
}

#[test]
fn every_unknown_instruction_is_reported() {
    let source = Source::new("t", "PPC t\n{ }\nP0 ;\nfoo r1 ;\nbar r1 ;\nexists (true)\n");
    let diagnostics = parse(&source).expect_err("refused");
    assert_eq!(diagnostics.iter().count(), 2);
}
