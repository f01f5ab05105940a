//! Random small programs, explored in full: all forms agree in every state.

use super::explore::{compare_everywhere, compare_everywhere_about};
use super::forms::{Demand, Kind, Variant, queries_without_sc};
use super::program::{Op, Operand, Program, single};
use super::repetitions;
use crate::Access;
use crate::write_log::Options;
use rsan_model::{CasStrength, FenceOrd, LocId, Model, ReadOrd, RmwOrd, ThreadId, WriteOrd};
use rsan_random::Random;

/// What random programs are made of; numbers are percentages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    /// Accesses that are seq_cst.
    pub(super) sc: usize,
    /// Instructions that are fences.
    pub(super) fences: usize,
    /// Fences that are seq_cst.
    pub(super) sc_fences: usize,
    /// Accesses that depend on values (wait, compare-and-swap).
    pub(super) values: usize,
    /// Programs whose threads are created by the first one.
    pub(super) fork: usize,
    /// Instructions that are not atomic.
    pub(super) plain: usize,
}

pub(super) const PROFILES: [Profile; 7] = [
    profile(50, 12, 70, 20, 0, 0),
    profile(30, 20, 60, 10, 60, 0),
    profile(60, 0, 0, 10, 30, 0),
    profile(0, 35, 60, 10, 30, 0),
    profile(0, 10, 20, 20, 0, 0),
    profile(40, 10, 50, 60, 0, 0),
    profile(30, 20, 50, 10, 60, 35),
];

const fn profile(
    sc: usize,
    fences: usize,
    sc_fences: usize,
    values: usize,
    fork: usize,
    plain: usize,
) -> Profile {
    Profile {
        sc,
        fences,
        sc_fences,
        values,
        fork,
        plain,
    }
}

impl Profile {
    pub(super) fn read_ord(&self, random: &mut Random) -> ReadOrd {
        if random.chance(self.sc) {
            ReadOrd::SeqCst
        } else {
            random.pick(&[ReadOrd::Relaxed, ReadOrd::Acquire])
        }
    }

    pub(super) fn write_ord(&self, random: &mut Random) -> WriteOrd {
        if random.chance(self.sc) {
            WriteOrd::SeqCst
        } else {
            random.pick(&[WriteOrd::Relaxed, WriteOrd::Release])
        }
    }

    pub(super) fn rmw_ord(&self, random: &mut Random) -> RmwOrd {
        if random.chance(self.sc) {
            RmwOrd::SeqCst
        } else {
            random.pick(&[
                RmwOrd::Relaxed,
                RmwOrd::Acquire,
                RmwOrd::Release,
                RmwOrd::AcqRel,
            ])
        }
    }

    pub(super) fn fence_ord(&self, random: &mut Random) -> FenceOrd {
        if random.chance(self.sc_fences) {
            FenceOrd::SeqCst
        } else {
            random.pick(&[FenceOrd::Acquire, FenceOrd::Release, FenceOrd::AcqRel])
        }
    }

    /// An access, and what it writes.
    pub(super) fn access(&self, random: &mut Random) -> (Access<'static>, Operand) {
        let value = random.below(3) as i32;
        let operand = if random.chance(30) {
            Operand::Add(random.below(2) as i32)
        } else {
            Operand::Value(random.below(3) as i32)
        };
        if random.chance(self.values) {
            let access = match random.below(4) {
                0 => Access::Wait {
                    values: single(value),
                    ord: self.read_ord(random),
                },
                1 => Access::Bcas {
                    expected: value,
                    ord: self.rmw_ord(random),
                },
                _ => Access::Cas {
                    expected: value,
                    ord: self.rmw_ord(random),
                    fail: self.read_ord(random),
                    strength: random.pick(&[CasStrength::Strong, CasStrength::Weak]),
                },
            };
            return (access, operand);
        }
        match random.below(5) {
            0 | 1 => (Access::Load(self.read_ord(random)), Operand::Value(0)),
            2 | 3 => (
                Access::Store(self.write_ord(random)),
                Operand::Value(random.between(1, 2) as i32),
            ),
            _ => (Access::Rmw(self.rmw_ord(random)), operand),
        }
    }

    fn op(&self, random: &mut Random, locations: usize) -> Op {
        let loc = LocId::new(random.below(locations));
        if random.chance(self.fences) {
            return Op::Fence(self.fence_ord(random));
        }
        if random.chance(self.plain) {
            let write = random.chance(50);
            return if random.chance(70) {
                let loc = LocId::new(locations);
                Op::Plain { loc, write }
            } else {
                Op::Init { loc, value: 1 }
            };
        }
        let (access, operand) = self.access(random);
        Op::Access {
            loc,
            access,
            operand,
            dst: 0,
        }
    }
}

/// A program with at most about a thousand interleavings.
pub(super) fn random_program(seed: u64) -> Program {
    random_program_of(seed, None)
}

/// The same, of a given profile.
fn random_program_of(seed: u64, profile: Option<Profile>) -> Program {
    let mut random = Random::new(seed);
    let any = PROFILES[random.below(PROFILES.len())];
    let profile = profile.unwrap_or(any);
    let shapes: [&[usize]; 6] = [
        &[4, 4],
        &[5, 3],
        &[3, 2, 2],
        &[2, 2, 3],
        &[1, 2, 2, 1],
        &[3, 3, 1],
    ];
    let shape = random.pick(&shapes);
    let locations = random.between(2, 3);
    let mut threads = Vec::new();
    for &length in shape {
        let code: Vec<Op> = (0..length)
            .map(|_| profile.op(&mut random, locations))
            .collect();
        threads.push(code);
    }
    if random.chance(profile.fork) {
        let child = random.between(1, threads.len() - 1);
        let id = ThreadId::new(child);
        let at = random.below(2);
        threads[0].insert(at, Op::Spawn(id));
        if random.chance(60) {
            let at = random.between(at + 1, threads[0].len());
            threads[0].insert(at, Op::Join(id));
        }
    }
    Program {
        text: format!("seed {seed}: {threads:?}"),
        threads,
    }
}

fn compare_random_programs(model: Model, count: u64) {
    let mut subjects: Vec<_> = Variant::exact_logs(model)
        .into_iter()
        .map(|variant| (Demand::Equal, variant))
        .collect();
    let capped = Options {
        cap: Some(2),
        ..Options::default()
    };
    subjects.push((Demand::CappedAt2OrMore, Variant::log(model, capped)));
    let mut states = 0;
    for seed in 0..repetitions(count) {
        let program = random_program(seed);
        let compared = compare_everywhere(&program, Variant::clocks(model), &subjects);
        states += compared.unwrap_or_else(|difference| panic!("{difference}"));
    }
    println!("{model}: {states} states");
}

#[test]
fn forms_agree_on_random_programs_under_c20() {
    compare_random_programs(Model::C20, 80);
}

#[test]
fn forms_agree_on_random_programs_under_rc20() {
    compare_random_programs(Model::Rc20, 40);
}

/// What the sanitizer does for RC20: a program without seq_cst accesses under C20's rules, but for the fences.
#[test]
fn rc20_is_c20_with_other_fences_where_no_access_is_seq_cst() {
    let variant = Variant {
        kind: Kind::LogByC20,
        ..Variant::clocks(Model::Rc20)
    };
    let queries = queries_without_sc();
    let mut states = 0;
    for seed in 0..repetitions(40) {
        let profile = Profile {
            sc: 0,
            fences: 25,
            ..PROFILES[seed as usize % PROFILES.len()]
        };
        let program = random_program_of(3_000_000 + seed, Some(profile));
        let subjects = [(Demand::Equal, variant)];
        let reference = Variant::clocks(Model::Rc20);
        let compared = compare_everywhere_about(&queries, &program, reference, &subjects);
        states += compared.unwrap_or_else(|difference| panic!("{difference}"));
    }
    println!("{states} states");
}

/// All stale writes that a log lists are those of the definitions, and no others.
#[test]
fn logs_list_the_stale_writes_of_the_definitions() {
    for model in [Model::C20, Model::Rc20] {
        let subjects: Vec<_> = Variant::exact_logs(model)
            .into_iter()
            .map(|variant| (Demand::Equal, variant))
            .collect();
        for seed in 0..repetitions(10) {
            let program = random_program(2_000_000 + seed);
            let compared = compare_everywhere(&program, Variant::declared(model), &subjects);
            compared.unwrap_or_else(|difference| panic!("{model}: {difference}"));
        }
    }
}

/// Bounds and races are what the definitions say.
#[test]
fn clocks_and_logs_agree_with_the_definitions() {
    for model in [Model::C20, Model::Rc20] {
        let subjects = [
            (Demand::Equal, Variant::declared(model)),
            (Demand::Equal, Variant::log(model, Options::default())),
        ];
        let mut states = 0;
        for seed in 0..repetitions(25) {
            let program = random_program(1_000_000 + seed);
            let compared = compare_everywhere(&program, Variant::clocks(model), &subjects);
            states += compared.unwrap_or_else(|difference| panic!("{model}: {difference}"));
        }
        println!("{model}: {states} states");
    }
}
