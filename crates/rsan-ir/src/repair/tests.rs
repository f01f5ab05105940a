use super::{apply, repair};
use crate::analyse;
use crate::module::{Change, Order};
use crate::port::{Costs, Means, Repair};
use crate::testing::{module, question};
use rsan_model::machine::Machine::{self, Armv7, Armv8, Power, Riscv, Sc, X86};

fn repaired(text: &str, from: Machine, to: Machine, means: Means, costs: &Costs) -> Repair {
    let m = module(text);
    let asked = question(&m, from, to);
    let answer = analyse(&m, &asked, &mut || true).expect("it has threads");
    let repair = repair(&m, &asked, &answer, means, costs, &mut || true).expect("nobody stops it");
    let fixed = apply(&m, &repair);
    let answer = analyse(&fixed, &asked, &mut || true).expect("it has threads");
    assert_eq!(
        answer.warnings,
        [],
        "{from} to {to} with {repair:?}: {text}"
    );
    repair
}

const SB: &str = "fn t0\nW x\nR y\nfn t1\nW y\nR x";
const MP: &str = "fn t0\nW x\nW y\nfn t1\nR y\nR x";

#[test]
fn one_fence_per_thread() {
    for to in [X86, Armv8, Armv7, Riscv, Power] {
        let repair = repaired(SB, Sc, to, Means::Fences, &Costs::unit());
        assert_eq!((repair.changes.len(), repair.naive), (2, 2));
        assert!(repair.exact);
    }
}

#[test]
fn stronger_accesses_are_cheaper_on_armv8() {
    let repair = repaired(MP, X86, Armv8, Means::FencesAndOrders, &Costs::of(Armv8));
    let changes: Vec<&Change> = repair.changes.iter().map(|c| &c.change).collect();
    assert_eq!(
        changes,
        [
            &Change::Order(Order::Release),
            &Change::Order(Order::Acquire)
        ]
    );
    // A release and an acquire together order a store before a load.
    let repair = repaired(SB, Sc, Armv8, Means::FencesAndOrders, &Costs::of(Armv8));
    assert!(
        repair
            .changes
            .iter()
            .all(|c| matches!(c.change, Change::Order(_))),
        "{repair:?}"
    );
    assert!(repair.cost < 4.0 * 10.0);
}

#[test]
fn one_fence_serves_several_pairs() {
    let text = "fn t0\nW a\nW b\nW c\nR d\nR e\nfn t1\nW d\nW e\nR a\nR b\nR c";
    let repair = repaired(text, Sc, X86, Means::Fences, &Costs::unit());
    assert_eq!(repair.changes.len(), 2);
    assert!(repair.naive >= 2);
}

#[test]
fn outside_the_loop_is_cheaper() {
    let text = "fn t0\nW x\nl:\nR y\ngoto l end\nend:\nret\nfn t1\nW y\nR x";
    let repair = repaired(text, Sc, X86, Means::Fences, &Costs::of(X86));
    assert_eq!(repair.changes.len(), 2);
    assert_eq!(repair.cost, 20.0);
}

#[test]
fn random_modules_are_repaired() {
    let mut random = Random(7);
    for _ in 0..300 {
        let text = random_text(&mut random);
        for (from, to) in [
            (Sc, X86),
            (Sc, Armv8),
            (X86, Armv8),
            (X86, Armv7),
            (Armv8, Armv7),
            (X86, Riscv),
            (Sc, Power),
        ] {
            let fences = repaired(&text, from, to, Means::Fences, &Costs::unit());
            assert!(
                fences.changes.len() <= fences.naive,
                "{from} to {to} {fences:?}: {text}"
            );
            let all = repaired(&text, from, to, Means::FencesAndOrders, &Costs::unit());
            assert!(all.cost <= fences.cost, "{from} to {to}: {text}");
        }
    }
}

/// A few numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

fn random_text(random: &mut Random) -> String {
    let mut text = String::new();
    for thread in 0..1 + random.below(2) {
        text += &format!("fn t{thread}\n");
        for step in 0..2 + random.below(5) {
            let location = random.pick(&["x", "y", "z"]);
            let line = match random.below(12) {
                0..4 => format!("R {location} {}", random.pick(&["rlx", "acq", "sc", "na"])),
                4..8 => format!("W {location} {}", random.pick(&["rlx", "rel", "sc", "na"])),
                8 => format!("U {location} {}", random.pick(&["rlx", "ar", "sc"])),
                9 => format!(
                    "C {location} {}\nif a{step} b{step}\na{step}:\nW y\nb{step}:",
                    random.pick(&["rlx", "sc"])
                ),
                10 => format!("F {}", random.pick(&["acq", "rel", "sc"])),
                _ => format!("l{step}:\nR {location}\ngoto l{step} m{step}\nm{step}:"),
            };
            text += &format!("{line}\n");
        }
        text += "R x na\n";
    }
    text
}
