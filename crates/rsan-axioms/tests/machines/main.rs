//! The machines on classic tests.
//!
//! In `allowed` a letter stands for each machine: `x` x86, `8` ARMv8, `r` RISC-V, `7` ARMv7, `p` Power. SC forbids all but those that
//! are marked with `s`. Where the verdicts come from (docs/theory/validation.md, V14):
//!
//! - The shapes with two threads, more threads and one location, and their names, are those of Herding cats (2014) and of the tutorial of
//!   Maranget, Sarkar and Sewell (2012). Of the plain ones, with the same fence, dependency or none in each thread, 129 verdicts were
//!   looked up by name in the published expectations of the verifier Dartagnan: 45 for ARMv8, 39 for RISC-V, 36 for Power, 9 for x86. All
//!   are the same. The others of these machines are not looked up one by one: the models agree with all expectations that were run.
//! - ARMv7 has no published expectations that were run. 35 of its verdicts are the published ones of Power with `sync` for
//!   `dmb`, which the two models of Herding cats do not tell apart; the others are only what follows from that paper's axioms.
//! - `Z6.3+full+light+addr` on Power follows from the published `Z6.3+sync+lwsync+lwsync`, which is allowed although `lwsync` orders
//!   the last thread's reads at least as much.
//! - Atomic instructions and picks are tests of our own. They say what the manuals' definitions come to; nobody published them
//!   in this form.

mod notation;
mod semantics;

use notation::program;
use rsan_axioms::Limits;
use rsan_axioms::machine::outcomes;
use rsan_model::machine::Machine;

/// Name, program, condition, machines that allow it.
type Row = (&'static str, &'static str, &'static str, &'static str);

const LETTERS: [(char, Machine); 6] = [
    ('s', Machine::Sc),
    ('x', Machine::X86),
    ('8', Machine::Armv8),
    ('r', Machine::Riscv),
    ('7', Machine::Armv7),
    ('p', Machine::Power),
];

#[rustfmt::skip]
const TWO_THREADS: &[Row] = &[
    ("SB", "w x 1; r a y ‖ w y 1; r b x", "0:a=0 1:b=0", "x8r7p"),
    ("SB+full", "w x 1; full; r a y ‖ w y 1; full; r b x", "0:a=0 1:b=0", ""),
    ("SB+full+po", "w x 1; full; r a y ‖ w y 1; r b x", "0:a=0 1:b=0", "x8r7p"),
    ("SB+light", "w x 1; light; r a y ‖ w y 1; light; r b x", "0:a=0 1:b=0", "x8rp"),
    ("SB+rel-acq", "w.rel x 1; r.acq a y ‖ w.rel y 1; r.acq b x", "0:a=0 1:b=0", "xr7p"),
    ("SB+rel-pc", "w.rel x 1; r.pc a y ‖ w.rel y 1; r.pc b x", "0:a=0 1:b=0", "x8r7p"),
    ("SB+rfi-addr", "w x 1; r a x; r b y @a ‖ w y 1; r c y; r d x @c", "0:a=1 0:b=0 1:c=1 1:d=0", "x8r7p"),
    ("MP", "w x 1; w y 1 ‖ r a y; r b x", "1:a=1 1:b=0", "8r7p"),
    ("MP+full", "w x 1; full; w y 1 ‖ r a y; full; r b x", "1:a=1 1:b=0", ""),
    ("MP+light", "w x 1; light; w y 1 ‖ r a y; light; r b x", "1:a=1 1:b=0", ""),
    ("MP+full+po", "w x 1; full; w y 1 ‖ r a y; r b x", "1:a=1 1:b=0", "8r7p"),
    ("MP+po+full", "w x 1; w y 1 ‖ r a y; full; r b x", "1:a=1 1:b=0", "8r7p"),
    ("MP+ww+addr", "w x 1; ww; w y 1 ‖ r a y; r b x @a", "1:a=1 1:b=0", ""),
    ("MP+ww+ld", "w x 1; ww; w y 1 ‖ r a y; ld; r b x", "1:a=1 1:b=0", ""),
    ("MP+full+addr", "w x 1; full; w y 1 ‖ r a y; r b x @a", "1:a=1 1:b=0", ""),
    ("MP+full+ctrl", "w x 1; full; w y 1 ‖ r a y; ctrl a; r b x", "1:a=1 1:b=0", "8r7p"),
    ("MP+full+isync", "w x 1; full; w y 1 ‖ r a y; isync; r b x", "1:a=1 1:b=0", "8r7p"),
    ("MP+full+ctrlisync", "w x 1; full; w y 1 ‖ r a y; ctrl a; isync; r b x", "1:a=1 1:b=0", "r"),
    ("MP+rel+acq", "w x 1; w.rel y 1 ‖ r.acq a y; r b x", "1:a=1 1:b=0", "7p"),
    ("MP+rel+pc", "w x 1; w.rel y 1 ‖ r.pc a y; r b x", "1:a=1 1:b=0", "7p"),
    ("MP+rel+po", "w x 1; w.rel y 1 ‖ r a y; r b x", "1:a=1 1:b=0", "8r7p"),
    ("PPOCA", "w x 1; full; w y 1 ‖ r a y; ctrl a; w z 1; r b z; r c x @b", "1:a=1 1:b=1 1:c=0", "8r7p"),
    ("PPOAA", "w x 1; full; w y 1 ‖ r a y; w z 1 @a; r b z; r c x @b", "1:a=1 1:b=1 1:c=0", ""),
    ("PPODA", "w x 1; full; w y 1 ‖ r a y; w z 1 +a; r b z; r c x @b", "1:a=1 1:b=1 1:c=0", ""),
    ("MP+full+addr-po-isync", "w x 1; full; w y 1 ‖ r a y; r b z @a; isync; r c x", "1:a=1 1:c=0", "r7p"),
    ("RSW", "w x 1; full; w y 1 ‖ r a y; r b z @a; r c z; r d x @c", "1:a=1 1:b=0 1:c=0 1:d=0", "8r7p"),
    ("MP+full+fri-rfi-ctrlisync", "w x 1; full; w y 1 ‖ r a y; w y 2; r b y; ctrl b; isync; r c x", "1:a=1 1:b=2 1:c=0 y=2", "8r7"),
    ("LB", "r a x; w y 1 ‖ r b y; w x 1", "0:a=1 1:b=1", "8r7p"),
    ("LB+full+po", "r a x; full; w y 1 ‖ r b y; w x 1", "0:a=1 1:b=1", "8r7p"),
    ("LB+data", "r a x; w y 1 +a ‖ r b y; w x 1 +b", "0:a=1 1:b=1", ""),
    ("LB+addr", "r a x; w y 1 @a ‖ r b y; w x 1 @b", "0:a=1 1:b=1", ""),
    ("LB+ctrl", "r a x; ctrl a; w y 1 ‖ r b y; ctrl b; w x 1", "0:a=1 1:b=1", ""),
    ("LB+addr-po", "r a x; r c z @a; w y 1 ‖ r b y; r d z @b; w x 1", "0:a=1 1:b=1", ""),
    ("LB+data-po", "r a x; w z 1 +a; w y 1 ‖ r b y; w u 1 +b; w x 1", "0:a=1 1:b=1", "8r7p"),
    ("LB+rel", "r a x; w.rel y 1 ‖ r b y; w.rel x 1", "0:a=1 1:b=1", "7p"),
    ("LB+acq", "r.acq a x; w y 1 ‖ r.acq b y; w x 1", "0:a=1 1:b=1", "7p"),
    ("S", "w x 2; w y 1 ‖ r a y; w x 1", "1:a=1 x=2", "8r7p"),
    ("S+full+data", "w x 2; full; w y 1 ‖ r a y; w x 1 +a", "1:a=1 x=2", ""),
    ("S+full+ctrl", "w x 2; full; w y 1 ‖ r a y; ctrl a; w x 1", "1:a=1 x=2", ""),
    ("S+light+data", "w x 2; light; w y 1 ‖ r a y; w x 1 +a", "1:a=1 x=2", ""),
    ("R", "w x 1; w y 1 ‖ w y 2; r a x", "1:a=0 y=2", "x8r7p"),
    ("R+full", "w x 1; full; w y 1 ‖ w y 2; full; r a x", "1:a=0 y=2", ""),
    ("R+light+full", "w x 1; light; w y 1 ‖ w y 2; full; r a x", "1:a=0 y=2", "p"),
    ("R+rel-acq", "w x 1; w.rel y 1 ‖ w.rel y 2; r.acq a x", "1:a=0 y=2", "xr7p"),
    ("2+2W", "w x 2; w y 1 ‖ w y 2; w x 1", "x=2 y=2", "8r7p"),
    ("2+2W+full", "w x 2; full; w y 1 ‖ w y 2; full; w x 1", "x=2 y=2", ""),
    ("2+2W+light", "w x 2; light; w y 1 ‖ w y 2; light; w x 1", "x=2 y=2", ""),
    ("2+2W+ww", "w x 2; ww; w y 1 ‖ w y 2; ww; w x 1", "x=2 y=2", ""),
];

#[rustfmt::skip]
const MORE_THREADS: &[Row] = &[
    ("IRIW", "w x 1 ‖ w y 1 ‖ r a x; r b y ‖ r c y; r d x", "2:a=1 2:b=0 3:c=1 3:d=0", "8r7p"),
    ("IRIW+addr", "w x 1 ‖ w y 1 ‖ r a x; r b y @a ‖ r c y; r d x @c", "2:a=1 2:b=0 3:c=1 3:d=0", "7p"),
    ("IRIW+light", "w x 1 ‖ w y 1 ‖ r a x; light; r b y ‖ r c y; light; r d x", "2:a=1 2:b=0 3:c=1 3:d=0", "p"),
    ("IRIW+full", "w x 1 ‖ w y 1 ‖ r a x; full; r b y ‖ r c y; full; r d x", "2:a=1 2:b=0 3:c=1 3:d=0", ""),
    ("IRIW+acq", "w x 1 ‖ w y 1 ‖ r.acq a x; r b y ‖ r.acq c y; r d x", "2:a=1 2:b=0 3:c=1 3:d=0", "7p"),
    ("WRC", "w x 1 ‖ r a x; w y 1 ‖ r b y; r c x", "1:a=1 2:b=1 2:c=0", "8r7p"),
    ("WRC+addr", "w x 1 ‖ r a x; w y 1 @a ‖ r b y; r c x @b", "1:a=1 2:b=1 2:c=0", "7p"),
    ("WRC+light+addr", "w x 1 ‖ r a x; light; w y 1 ‖ r b y; r c x @b", "1:a=1 2:b=1 2:c=0", ""),
    ("WRC+full+addr", "w x 1 ‖ r a x; full; w y 1 ‖ r b y; r c x @b", "1:a=1 2:b=1 2:c=0", ""),
    ("ISA2", "w x 1; w y 1 ‖ r a y; w z 1 ‖ r b z; r c x", "1:a=1 2:b=1 2:c=0", "8r7p"),
    ("ISA2+full+addr+addr", "w x 1; full; w y 1 ‖ r a y; w z 1 @a ‖ r b z; r c x @b", "1:a=1 2:b=1 2:c=0", ""),
    ("ISA2+light+data+addr", "w x 1; light; w y 1 ‖ r a y; w z 1 +a ‖ r b z; r c x @b", "1:a=1 2:b=1 2:c=0", ""),
    ("RWC", "w x 1 ‖ r a x; r b y ‖ w y 1; r c x", "1:a=1 1:b=0 2:c=0", "x8r7p"),
    ("RWC+full", "w x 1 ‖ r a x; full; r b y ‖ w y 1; full; r c x", "1:a=1 1:b=0 2:c=0", ""),
    ("RWC+addr+full", "w x 1 ‖ r a x; r b y @a ‖ w y 1; full; r c x", "1:a=1 1:b=0 2:c=0", "7p"),
    ("RWC+light+full", "w x 1 ‖ r a x; light; r b y ‖ w y 1; full; r c x", "1:a=1 1:b=0 2:c=0", "p"),
    ("W+RWC", "w x 1; w y 1 ‖ r a y; r b z ‖ w z 1; r c x", "1:a=1 1:b=0 2:c=0", "x8r7p"),
    ("W+RWC+light+addr+full", "w x 1; light; w y 1 ‖ r a y; r b z @a ‖ w z 1; full; r c x", "1:a=1 1:b=0 2:c=0", "p"),
    ("W+RWC+full", "w x 1; full; w y 1 ‖ r a y; full; r b z ‖ w z 1; full; r c x", "1:a=1 1:b=0 2:c=0", ""),
    ("WRW+2W", "w x 2 ‖ r a x; w y 1 ‖ w y 2; w x 1", "1:a=2 x=2 y=2", "8r7p"),
    ("WRW+2W+data+light", "w x 2 ‖ r a x; w y 1 +a ‖ w y 2; light; w x 1", "1:a=2 x=2 y=2", "7p"),
    ("WRR+2W+full", "w x 2 ‖ r a x; full; r b y ‖ w y 1; full; w x 1", "1:a=2 1:b=0 x=2", ""),
    ("3.2W", "w x 2; w y 1 ‖ w y 2; w z 1 ‖ w z 2; w x 1", "x=2 y=2 z=2", "8r7p"),
    ("3.2W+light", "w x 2; light; w y 1 ‖ w y 2; light; w z 1 ‖ w z 2; light; w x 1", "x=2 y=2 z=2", ""),
    ("3.SB", "w x 1; r a y ‖ w y 1; r b z ‖ w z 1; r c x", "0:a=0 1:b=0 2:c=0", "x8r7p"),
    ("3.LB+data", "r a x; w y 1 +a ‖ r b y; w z 1 +b ‖ r c z; w x 1 +c", "0:a=1 1:b=1 2:c=1", ""),
    ("Z6.3", "w x 1; w y 1 ‖ w y 2; w z 1 ‖ r a z; r b x", "y=2 2:a=1 2:b=0", "8r7p"),
    ("Z6.3+light+light+addr", "w x 1; light; w y 1 ‖ w y 2; light; w z 1 ‖ r a z; r b x @a", "y=2 2:a=1 2:b=0", "p"),
    ("Z6.3+full+light+addr", "w x 1; full; w y 1 ‖ w y 2; light; w z 1 ‖ r a z; r b x @a", "y=2 2:a=1 2:b=0", "p"),
    ("Z6.3+full+full+addr", "w x 1; full; w y 1 ‖ w y 2; full; w z 1 ‖ r a z; r b x @a", "y=2 2:a=1 2:b=0", ""),
];

#[rustfmt::skip]
const ONE_LOCATION: &[Row] = &[
    ("CoRR", "w x 1 ‖ r a x; r b x", "1:a=1 1:b=0", ""),
    ("CoWW", "w x 1; w x 2", "x=1", ""),
    ("CoRW1", "r a x; w x 1", "0:a=1", ""),
    ("CoRW2", "r a x; w x 1 ‖ w x 2", "0:a=2 x=2", ""),
    ("CoWR", "w x 1; r a x ‖ w x 2", "0:a=2 x=1", ""),
    ("CoWR seen", "w x 1; r a x ‖ w x 2", "0:a=2 x=2", "sx8r7p"),
];

// Our own.
#[rustfmt::skip]
const ATOMIC: &[Row] = &[
    ("two increments", "add a x 1 ‖ add b x 1", "x=1", ""),
    ("two increments in turn", "add a x 1 ‖ add b x 1", "0:a=0 1:b=1 x=2", "sx8r7p"),
    ("two exclusives", "lx a x; sx x 1 ‖ lx b x; sx x 2", "0:a=0 1:b=0", ""),
    ("a store between exclusives", "lx a x; sx x 1 ‖ w x 2", "0:a=0 x=1", ""),
    ("a store after exclusives", "lx a x; sx x 1 ‖ w x 2", "0:a=0 x=2", "sx8r7p"),
    ("an own store between exclusives", "lx a x; w x 2; sx x 1", "0:a=0 x=1", "sx8r7p"),
    ("a store into exclusives", "w x 2 ‖ lx a x; sx x 3 ‖ r b x; r c x; r d x", "1:a=0 2:b=0 2:c=2 2:d=3", ""),
    ("an exclusive of another location", "lx a x; try s y 1", "0:s=0", ""),
    ("an exclusive may fail", "lx a x; try s x 1", "0:s=1 x=0", "sx8r7p"),
    ("SB+locked", "w x 1; add a z 1; r b y ‖ w y 1; add c z 1; r d x", "0:b=0 1:d=0", "8r7p"),
    ("SB+failed cas", "w x 1; cas a z 1 2; r b y ‖ w y 1; cas c z 1 2; r d x", "0:b=0 1:d=0", "8r7p"),
    ("SB+amo", "swap a x 1; r b y ‖ swap c y 1; r d x", "0:b=0 1:d=0", "8r7p"),
    ("SB+amo.acq.rel", "swap.acq.rel a x 1; r b y ‖ swap.acq.rel c y 1; r d x", "0:b=0 1:d=0", "7p"),
    ("SB+amo.acq", "swap.acq a x 1; r b y ‖ swap.acq c y 1; r d x", "0:b=0 1:d=0", "87p"),
    ("SB+swap.rel-lx.acq", "swap.rel a x 1; lx.acq b y ‖ swap.rel c y 1; lx.acq d x", "0:b=0 1:d=0", "7p"),
    ("SB+amo-light", "swap a x 1; light; r b y ‖ swap c y 1; light; r d x", "0:b=0 1:d=0", "8p"),
    ("MP+full+data-amo-addr", "w x 1; full; w y 1 ‖ r a y; swap b z 1 +a; r c x @b", "1:a=1 1:c=0", "87p"),
    ("SB+exclusive.acq.rel", "lx.acq a x; sx.rel x 1; r b y ‖ lx.acq c y; sx.rel y 1; r d x", "0:b=0 1:d=0", "x8r7p"),
    ("MP+rel+ld of a quiet add", "w x 1; w.rel y 1 ‖ quiet y 1; ld; r a x", "1:a=0 y=2", "87p"),
    ("MP+rel+ld of an add", "w x 1; w.rel y 1 ‖ add b y 1; ld; r a x", "1:a=0 1:b=1", "7p"),
    ("MP+full+amo-rfi-addr", "w x 1; full; w y 1 ‖ swap a y 2; r b y; r c x @b", "1:a=1 1:b=2 1:c=0", "87p"),
    ("MP+full+amo-rfi-acq", "w x 1; full; w y 1 ‖ swap a y 2; r.acq b y; r c x", "1:a=1 1:b=2 1:c=0", "7p"),
];

// Our own.
#[rustfmt::skip]
const PICK: &[Row] = &[
    ("MP+full+pick-addr", "w x 1; full; w y 1 ‖ r a y; pick b a c; r d x @b", "1:a=1 1:d=0", "8"),
    ("LB+pick-data", "r a x; pick b a c; w y 1 +b ‖ r d y; full; w x 1", "0:a=1 1:d=1", ""),
    ("LB+pick-addr-po", "r a x; pick b a c; r e z @b; w y 1 ‖ r d y; full; w x 1", "0:a=1 1:d=1", ""),
    ("LB+pick-data-rfi-acq-po", "r a x; pick b a c; w z 1 +b; r.acq e z; w y 1 ‖ r d y; full; w x 1", "0:a=1 1:d=1", "7p"),
    ("MP+full+pick-ctrl-isync", "w x 1; full; w y 1 ‖ r a y; pick b a c; ctrl b; isync; r d x", "1:a=1 1:d=0", "r"),
];

fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (name, text, condition, allowed) in rows {
        for (letter, machine) in LETTERS {
            let outcomes = outcomes(
                &program(text, condition, machine),
                machine,
                &Limits::default(),
            );
            let outcomes = outcomes.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(outcomes.cut, None, "{name}");
            let holds = outcomes.condition.expect("a condition").holds;
            if holds != allowed.contains(letter) {
                let verdict = if holds { "allows" } else { "forbids" };
                wrong.push(format!("{} {verdict} {name}", machine.title()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_threads() {
    check(TWO_THREADS);
}

#[test]
fn more_threads() {
    check(MORE_THREADS);
}

#[test]
fn one_location() {
    check(ONE_LOCATION);
}

#[test]
fn atomic_instructions() {
    check(ATOMIC);
}

#[test]
fn pick_dependencies() {
    check(PICK);
}
