//! The compact notation, and that printing and reading it are inverse.

use crate::interpreter::{only_end, read};
use rsan_lang::Format;
use rsan_lang::mini::{parse, print};
use rsan_model::{
    BinOp, CasStrength, Domain, Expr, FenceOrd, Instr, LocId, LocKind, Location, Pc, Place,
    Program, ReadOrd, RegId, Register, RmwOp, RmwOrd, Source, Span, Start, Thread, ThreadId,
    WriteOrd,
};
use rsan_random::Random;

fn mini(text: &str) -> Program {
    read(text, Format::Mini)
}

#[test]
fn threads_and_instructions() {
    let program =
        mini("st.rlx x 1; ld.acq r0 y ‖ fadd.ar r0 y -1; bne r0 0 1; fence.sc; ld.sc r1 x");
    assert_eq!(program.domain, Domain::Int32);
    let names: Vec<&str> = program.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
    assert_eq!(program.threads.len(), 2);
    assert_eq!(program.threads[1].name, "P1");
    assert_eq!(program.threads[1].registers.len(), 2);
    assert_eq!(
        program.threads[1].code[1],
        Instr::Branch {
            cond: Expr::Binary(BinOp::Ne, Expr::Reg(RegId(0)).into(), Expr::Const(0).into()),
            then: Pc(3),
            otherwise: Pc(2)
        }
    );
}

#[test]
fn every_instruction_has_one_spelling() {
    for text in [
        "ld.rlx r0 x",
        "ld.acq r0 x",
        "ld.sc r0 x",
        "st.rlx x 1",
        "st.rel x r0",
        "st.sc x -1",
        "xchg.rlx r0 x 1",
        "fadd.acq _ x 1",
        "fsub.rel r0 x r1",
        "fand.ar r0 x 1",
        "for.sc r0 x 1",
        "fxor.ar r0 x 1",
        "scas.ar.acq r0 x 0 1",
        "wcas.sc.rlx _ x r0 r1",
        "wait.acq x 1 2 r0",
        "bcas.acq x 0 1",
        "fence.acq",
        "fence.rel",
        "fence.acqrel",
        "fence.sc",
        "nld r0 d",
        "nst d 1",
        "beq r0 1 0",
        "bne r0 r1 1; fence.sc",
        "init x=1 d=-2: ld.rlx r0 x",
        "init y=0 x=0: ld.rlx r0 x || ld.rlx r0 y",
        "spawn 1; join 1 || st.rlx x 1",
        "st.rlx x 1 || ",
    ] {
        assert_eq!(print(&mini(text)).expect("printable"), text, "{text}");
    }
    assert_eq!(
        print(&mini("fence.ar; fadd.acqrel r0 x 1;")).expect("printable"),
        "fence.acqrel; fadd.ar r0 x 1"
    );
}

#[test]
fn kinds_and_starts_follow_from_the_instructions() {
    let program = mini("init u=3: nst d 1; nst x 1; spawn 1 || ld.rlx r0 x");
    let kinds: Vec<LocKind> = program.locations.iter().map(|l| l.kind).collect();
    assert_eq!(kinds, [LocKind::Atomic, LocKind::Plain, LocKind::Atomic]);
    assert_eq!(program.threads[0].start, Start::Initial);
    assert_eq!(program.threads[1].start, Start::Spawned);
}

#[test]
fn it_means_what_it_says() {
    let end = only_end(&mini(
        "init x=5: fsub.rlx r0 x 2; beq r0 5 1; st.rlx x 9; spawn 1; join 1; ld.rlx r1 y || st.rlx y 4",
    ));
    assert_eq!(end, ["x=3", "y=4", "0:r0=5", "0:r1=4"]);
}

#[test]
fn what_the_notation_lacks_cannot_be_printed() {
    let halt = |program: &mut Program| program.threads[0].code[0] = Instr::Halt;
    let domain = |program: &mut Program| program.domain = Domain::Modulo(3);
    let name = |program: &mut Program| program.locations[0].name = "r1".to_owned();
    let element = |program: &mut Program| program.locations[0].name = "a[0]".to_owned();
    let kind = |program: &mut Program| program.locations[0].kind = LocKind::Plain;
    let start = |program: &mut Program| program.threads[0].start = Start::Spawned;
    let threads = |program: &mut Program| program.threads.clear();
    let changes: [&dyn Fn(&mut Program); 7] =
        [&halt, &domain, &name, &element, &kind, &start, &threads];
    for change in changes {
        let mut program = mini("ld.rlx r0 x");
        change(&mut program);
        assert!(print(&program).is_err());
    }
}

/// Parts of random programs.
struct Parts(Random);

impl Parts {
    fn below(&mut self, n: u32) -> u32 {
        self.0.below(n as usize) as u32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0.pick(from)
    }

    fn register(&mut self) -> RegId {
        RegId(self.below(3))
    }

    fn maybe_register(&mut self) -> Option<RegId> {
        (self.below(3) > 0).then(|| self.register())
    }

    fn operand(&mut self) -> Expr {
        match self.below(3) {
            0 => Expr::Reg(self.register()),
            1 => Expr::Const(-i64::from(self.below(3))),
            _ => Expr::Const(self.below(1 << 31).into()),
        }
    }

    fn instr(&mut self, pc: u32, len: u32, locations: u32, threads: u32) -> Instr {
        let place = Place::Loc(LocId(self.below(locations)));
        match self.below(12) {
            0 => Instr::Load {
                dst: self.register(),
                place,
                ord: self.pick(&ReadOrd::ALL),
            },
            1 => Instr::Store {
                place,
                value: self.operand(),
                ord: self.pick(&WriteOrd::ALL),
            },
            2 => Instr::Rmw {
                dst: self.maybe_register(),
                place,
                op: self.pick(&[
                    RmwOp::Exchange,
                    RmwOp::Add,
                    RmwOp::Sub,
                    RmwOp::And,
                    RmwOp::Or,
                    RmwOp::Xor,
                ]),
                operand: self.operand(),
                ord: self.pick(&RmwOrd::ALL),
            },
            3 => Instr::Cas {
                dst: self.maybe_register(),
                success: None,
                place,
                expected: self.operand(),
                new: self.operand(),
                ord: self.pick(&RmwOrd::ALL),
                fail: self.pick(&ReadOrd::ALL),
                strength: self.pick(&[CasStrength::Strong, CasStrength::Weak]),
            },
            4 => Instr::Wait {
                dst: None,
                place,
                values: (0..=self.below(3)).map(|_| self.operand()).collect(),
                ord: self.pick(&ReadOrd::ALL),
            },
            5 => Instr::Bcas {
                place,
                expected: self.operand(),
                new: self.operand(),
                ord: self.pick(&RmwOrd::ALL),
            },
            6 => Instr::PlainLoad {
                dst: self.register(),
                place,
            },
            7 => Instr::PlainStore {
                place,
                value: self.operand(),
            },
            8 => Instr::Fence(self.pick(&FenceOrd::ALL)),
            9 if threads > 1 => Instr::Spawn(ThreadId(1 + self.below(threads - 1))),
            10 if threads > 1 => Instr::Join(ThreadId(1 + self.below(threads - 1))),
            _ => Instr::Branch {
                cond: Expr::Binary(
                    self.pick(&[BinOp::Eq, BinOp::Ne]),
                    Expr::Reg(self.register()).into(),
                    self.operand().into(),
                ),
                then: Pc(pc + 1 + self.below(len - pc)),
                otherwise: Pc(pc + 1),
            },
        }
    }

    fn program(&mut self) -> Program {
        let mut program = Program::new("random", Domain::Int32);
        let locations = 1 + self.below(4);
        let threads = 1 + self.below(4);
        program.locations = (0..locations)
            .map(|i| Location {
                name: ["x", "y", "init", "wait"][i as usize].to_owned(),
                kind: LocKind::Atomic,
                init: self.pick(&[0, 0, 0, -1, 7, i32::MIN, i32::MAX]),
            })
            .collect();
        for t in 0..threads {
            let len = self.below(6);
            // Threads other than the first spawn and join nothing: nobody may name itself.
            let visible = if t == 0 { threads } else { 1 };
            let code: Vec<Instr> = (0..len)
                .map(|pc| self.instr(pc, len, locations, visible))
                .collect();
            program.threads.push(Thread {
                name: format!("P{t}"),
                start: Start::Initial,
                registers: Vec::new(),
                spans: vec![Span::default(); code.len()],
                code,
            });
        }
        settle(&mut program);
        program
    }
}

/// Gives a random program the registers, kinds and starts that follow from its instructions.
fn settle(program: &mut Program) {
    let instrs: Vec<(usize, Instr)> = program
        .instructions()
        .map(|(t, _, instr)| (t.index(), instr.clone()))
        .collect();
    for (t, instr) in &instrs {
        let mut highest = 0;
        let mut count = |r: RegId| highest = highest.max(r.0 + 1);
        instr.for_each_read_reg(&mut count);
        instr.for_each_written_reg(&mut count);
        let registers = &mut program.threads[*t].registers;
        for r in registers.len()..highest as usize {
            registers.push(Register {
                name: format!("r{r}"),
                init: 0,
            });
        }
        match instr {
            Instr::Spawn(child) => program.threads[child.index()].start = Start::Spawned,
            _ => continue,
        }
    }
    for (l, location) in program.locations.iter_mut().enumerate() {
        let accesses: Vec<&Instr> = instrs
            .iter()
            .map(|(_, instr)| instr)
            .filter(|i| i.place() == Some(&Place::Loc(LocId::new(l))))
            .collect();
        if !accesses.is_empty() && !accesses.iter().any(|i| i.is_atomic_access()) {
            location.kind = LocKind::Plain;
        }
    }
    let started: Vec<bool> = program
        .threads
        .iter()
        .map(|t| t.start == Start::Spawned)
        .collect();
    for instr in &mut program.threads[0].code {
        if let Instr::Join(child) = instr
            && !started[child.index()]
        {
            *instr = Instr::Fence(FenceOrd::SeqCst);
        }
    }
}

#[test]
fn printing_and_reading_are_inverse() {
    let mut random = Parts(Random::new(1));
    for _ in 0..3_000 {
        let program = random.program();
        let text = print(&program).expect("printable");
        let source = Source::new("random", text.as_str());
        let mut again = parse(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
        assert_eq!(print(&again).expect("printable"), text);
        again.source = None;
        for thread in &mut again.threads {
            thread.spans.fill(Span::default());
        }
        assert_eq!(again, program, "{text}");
    }
}
