//! A bounded, deterministic fuzz run of each reader: mutated programs never make it panic, and every error has a
//! place inside the text.

use rsan_lang::{Format, fuzz_assembly, fuzz_one};
use rsan_random::Random;

const CASES: u32 = 7_000;

const C_SEEDS: &[&str] = &[
    "C MP+rel\n\"doc\"\nKey=value\n(* c *)\n{ [x]=0; int a[2]={1,2}; 1:r0=3; atomic_int y; }\n\
     P0 (atomic_int* x, volatile int* d, int* a) {\n  *d = 1; a[1] += 2;\n  atomic_store_explicit(x, 1, memory_order_release);\n}\n\
     P1 (atomic_int* x, int* d) {\n  int r0 = atomic_load_explicit(x, memory_order_acquire), r1;\n  if (r0 == 1 && *d) { r1 = *d; } else r1 = -1;\n}\n\
     locations [x; 1:r1;]\nexists (1:r0=1 /\\ ~(1:r1=1) \\/ x=2 => a[1]!=3)",
    "C loops\n{}\nP0 (atomic_int* x, atomic_int b[3]) {\n  int e = 0; bool ok; int t[3] = {1, 2};\n\
       while (atomic_load(x) != 1 || e < 3) { e++; if (e == 2) continue; else break; }\n\
       do { ok = atomic_compare_exchange_weak_explicit(x, &e, e + 1, memory_order_acq_rel, memory_order_relaxed); } while (!ok);\n\
       for (int i = 0; i < 3; ++i) { atomic_fetch_add(&b[i], t[i] << 1); t[i] = e ? i : *b; }\n\
       atomic_thread_fence(memory_order_seq_cst); assert(e >= 0); assume(ok);\n\
       rsan_wait(x, 1, 2, memory_order_acquire); rsan_bcas(x, 1, 0); return; }\nforall (0:e=1)",
];

const TPL_SEEDS: &[&str] = &[
    "// ROBUSTNESS egr: robust: ra. not: rlx.\nmax_value 5;\nglobal x, y=3;\nna d=1;\ntrack x: 0,1;\ntrack y: all;\n\
     fn one {\n  local r, s;\n  L: r = x.load(acq);\n  if (r & 1 == 1) goto L;\n  while (r < 3) { r = r + 1; }\n\
       if (r) { x.store(r * 2, rel); } else { skip; }\n  d.nastore(s[0]);\n  goto end;\n  end: s = d.naload();\n}\n\
     fn two {\n  local a;\n  a = CAS(x, 0, 1, acq, rel);\n  a = FADD(y, -1);\n  a = exchange(y, 2, rlx, rlx);\n\
       BCAS(x, a, 1);\n  a = wait(x, 1, 2, acq);\n  lock(y); unlock(y);\n  fence; fence(acq_rel);\n\
       oneof( { a = 1; } { skip; } );\n  assert(a != !a);\n  assume(true || false);\n  verify(a);\n}\n",
];

const MINI_SEEDS: &[&str] = &[
    "init x=1 y=-2: st.rel x 1; ld.acq r0 y; bne r0 0 1; fadd.ar _ x 1 || scas.ar.acq r1 x 0 r0; wait.acq y 1 2; nst d 1; spawn 2; join 2 ‖ nld r0 d; bcas.sc x 0 1; fence.acqrel",
];

const ASSEMBLY_SEEDS: &[&str] = &[
    "AArch64 a\n\"doc\"\nKey=value\n{ x=1; uint64_t 0:X1=x; int* p=&y; 1:X%s=y; }\nP0 | P1 ;\nL: LDAR W0,[X1] | CMP W2,#-1 ;\n\
     CBNZ W0,L | CSEL X3,X4,XZR,NE ;\nSTR W0,[X1,W2,SXTW #2] | CASAL W0,W1,[X%s] ;\nDMB ISHLD | LDR W1,[X1],#4 ;\n\
     locations [x; 0:X1;]\nfilter (x=1)\nexists (0:X0=1 /\\ ~(1:X3=x) \\/ [y]=0x10)",
    "X86_64 b\n{ 0:rsi=x; }\nP0 | P1 ;\nlock cmpxchgl %ebx,(%rsi) | movq $y,%rax ;\njne E | xchgl %eax,(x) ;\n\
     E: addl $3,x(%rip) | mfence ;\n~exists (0:rax=0 \\/ x=2)",
    "RISCV c\n{ 0:x6=x; }\nP0 ;\nlr.w.aq.rl x5,0(x6) ;\nsc.w x7,x5,(x6) ;\nbne x7,x0,L ;\namoadd.w.rl x0,x5,(x6) ;\n\
     fence rw,w ;\nL: ori x5,x5,-1 ;\nforall (0:x5=1)",
    "PPC d\n{ 0:r2=x; }\nP0 ;\nL: lwarx r1,r0,r2 ;\nstwcx. r3,r0,r2 ;\nbne- L ;\ncmpwi cr1,r1,0 ;\nbeq cr1,L ;\nsync ;\n\
     addi r3,r1,-2 ;\nexists (x=1)",
    "ARM e\n{ %x0=x; }\nP0 ;\nLDREX R0,[%x0] ;\nMOVEQ R1,#1 ;\nSTREX R2,R1,[%x0] ;\nSUBS R3,R2,R1,LSL #2 ;\nBNE L ;\nL: DMB ;\nexists (0:R3=0)",
];

/// Where the tokens of a text begin and end, roughly.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let class = |b: u8| {
        (
            b.is_ascii_alphanumeric() || b == b'_',
            b.is_ascii_whitespace(),
        )
    };
    let mut found = Vec::new();
    let mut start = 0;
    for i in 1..=text.len() {
        let same = i < text.len() && class(text[i]) == class(text[i - 1]) && class(text[i]).0;
        if !same {
            found.push((start, i));
            start = i;
        }
    }
    found
}

fn mutate(random: &mut Random, seeds: &[&str]) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let all = tokens(&text);
        if all.is_empty() {
            break;
        }
        let (start, end) = all[random.below(all.len())];
        match random.below(7) {
            0 => text[start] ^= 1 << random.below(8),
            1 => text.truncate(start),
            2 => drop(text.drain(start..end)),
            3 => {
                let token = text[start..end].to_vec();
                let copies = if random.below(50) == 0 { 300 } else { 1 };
                let repeated = token.repeat(copies);
                text.splice(end..end, repeated);
            }
            4 => {
                let (other_start, other_end) = all[random.below(all.len())];
                let token = text[other_start..other_end].to_vec();
                text.splice(start..end, token);
            }
            5 => {
                let donor = seeds[random.below(seeds.len())].as_bytes();
                let from = random.below(donor.len());
                let to = from + random.below(donor.len() - from);
                text.splice(start..start, donor[from..to].to_vec());
            }
            _ => {
                let odd: &[&[u8]] = &[
                    b"(*",
                    b"/*",
                    b"\"",
                    b"0x",
                    b"08",
                    b"2147483648",
                    b"\xff",
                    "‖".as_bytes(),
                    b"{",
                    b"}",
                    b"[",
                    b"%",
                    b"int ",
                    b"P1 (",
                    b"exists",
                ];
                let token = odd[random.below(odd.len())];
                text.splice(start..start, token.to_vec());
            }
        }
    }
    text
}

fn fuzz(format: Format, seeds: &[&str], seed: u64) {
    fuzz_with(&|data| fuzz_one(data, format), seeds, seed);
}

fn fuzz_with(check: &(dyn Fn(&[u8]) + std::panic::RefUnwindSafe), seeds: &[&str], seed: u64) {
    for text in seeds {
        check(text.as_bytes());
    }
    let mut random = Random::new(seed);
    for case in 0..CASES {
        let data = mutate(&mut random, seeds);
        let outcome = std::panic::catch_unwind(|| check(&data));
        assert!(
            outcome.is_ok(),
            "case {case}: {:?}",
            String::from_utf8_lossy(&data)
        );
    }
}

#[test]
fn mutated_c_litmus_tests() {
    fuzz(Format::CLitmus, C_SEEDS, 0x9E37_79B9_7F4A_7C15);
}

#[test]
fn mutated_tpl_programs() {
    fuzz(Format::Tpl, TPL_SEEDS, 0xD1B5_4A32_D192_ED03);
}

#[test]
fn mutated_assembly_tests() {
    fuzz_with(&fuzz_assembly, ASSEMBLY_SEEDS, 0xA076_1D64_78BD_642F);
}

#[test]
fn mutated_compact_programs() {
    fuzz(Format::Mini, MINI_SEEDS, 0x94D0_49BB_1331_11EB);
}

#[test]
fn seeds_are_accepted() {
    for (format, seeds) in [
        (Format::CLitmus, C_SEEDS),
        (Format::Tpl, TPL_SEEDS),
        (Format::Mini, MINI_SEEDS),
    ] {
        for seed in seeds {
            crate::interpreter::read(seed, format);
        }
    }
    for seed in ASSEMBLY_SEEDS {
        let source = rsan_model::Source::new("seed", *seed);
        let read = rsan_lang::parse_assembly(&source);
        assert!(
            read.is_ok(),
            "{}",
            read.expect_err("refused").render(&source, false)
        );
    }
}

#[test]
fn arbitrary_bytes() {
    let mut random = Random::new(7);
    for _ in 0..2_000 {
        let len = random.below(200);
        let data: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        for format in Format::ALL {
            fuzz_one(&data, format);
        }
        fuzz_assembly(&data);
    }
}
