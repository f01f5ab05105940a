//! Random programs in the compact notation, from a seed.

use rsan_schedule::Random;

/// A small generator: the same seed gives the same programs everywhere.
pub(crate) struct Rng(Random);

impl Rng {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.0.bits() % n as u64) as usize
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What a random program is made of.
#[derive(Clone, Copy)]
pub(crate) struct Profile {
    /// Operations to pick from, in the compact notation without operands; repeat one to make it likelier.
    pub(crate) ops: &'static [&'static str],
    /// Locations to pick from.
    pub(crate) locations: &'static [&'static str],
    /// Most threads.
    pub(crate) threads: usize,
    /// Most instructions of the program.
    pub(crate) instructions: usize,
}

/// Everything but seq_cst accesses.
pub(crate) const MIX: Profile = Profile {
    ops: &[
        "ld.rlx",
        "ld.acq",
        "ld.rlx",
        "ld.acq",
        "st.rlx",
        "st.rel",
        "st.rlx",
        "st.rel",
        "fadd.rlx",
        "fadd.acq",
        "fadd.rel",
        "fadd.ar",
        "xchg.ar",
        "wcas.ar.acq",
        "scas.rel.rlx",
        "scas.ar.acq",
        "wait.rlx",
        "wait.acq",
        "bcas.ar",
        "fence.acq",
        "fence.rel",
        "fence.acqrel",
        "fence.sc",
        "fence.sc",
        "bne",
    ],
    locations: &["x", "y", "z"],
    threads: 3,
    instructions: 9,
};

/// With seq_cst accesses.
pub(crate) const SC_MIX: Profile = Profile {
    ops: &[
        "ld.rlx",
        "ld.acq",
        "ld.sc",
        "ld.sc",
        "ld.sc",
        "st.rlx",
        "st.rel",
        "st.sc",
        "st.sc",
        "st.sc",
        "fadd.rlx",
        "fadd.sc",
        "xchg.sc",
        "scas.sc.rlx",
        "scas.ar.acq",
        "wcas.sc.sc",
        "wait.sc",
        "fence.acqrel",
        "fence.sc",
        "bne",
    ],
    locations: &["x", "y"],
    threads: 3,
    instructions: 8,
};

/// Operations that always make exactly one event.
pub(crate) const STRAIGHT: Profile = Profile {
    ops: &[
        "ld.rlx",
        "ld.acq",
        "ld.rlx",
        "ld.acq",
        "st.rlx",
        "st.rel",
        "st.rlx",
        "fadd.rlx",
        "fadd.ar",
        "xchg.rel",
        "fence.acq",
        "fence.rel",
        "fence.sc",
        "fence.sc",
    ],
    locations: &["x", "y"],
    threads: 3,
    instructions: 6,
};

/// Non-atomic accesses among the others.
pub(crate) const PLAIN: Profile = Profile {
    ops: &[
        "ld.na",
        "st.na",
        "ld.na",
        "st.na",
        "ld.rlx",
        "ld.acq",
        "st.rlx",
        "st.rel",
        "fadd.ar",
        "fence.acqrel",
        "wait.acq",
        "bne",
    ],
    locations: &["x", "y"],
    threads: 3,
    instructions: 7,
};

/// A random program, as text.
pub(crate) fn text(rng: &mut Rng, profile: &Profile) -> String {
    let threads = 2 + rng.below(profile.threads - 1);
    let longest = profile.instructions / threads;
    let threads: Vec<String> = (0..threads)
        .map(|_| {
            let length = 1 + rng.below(longest + 1);
            let ops: Vec<String> = (0..length)
                .map(|i| instr(rng, profile, length - i))
                .collect();
            ops.join("; ")
        })
        .collect();
    threads.join(" ‖ ")
}

fn instr(rng: &mut Rng, profile: &Profile, left: usize) -> String {
    let op = *rng.pick(profile.ops);
    let x = *rng.pick(profile.locations);
    let r = rng.below(2);
    let (v, w) = (rng.below(3), rng.below(3));
    match op.split('.').next().unwrap_or(op) {
        "ld" => format!("{op} r{r} {x}"),
        "st" => format!("{op} {x} {v}"),
        "fadd" | "xchg" => format!("{op} r{r} {x} {v}"),
        "scas" | "wcas" => format!("{op} r{r} {x} {v} {w}"),
        "wait" => format!("{op} {x} {v}"),
        "bcas" => format!("{op} {x} {v} {w}"),
        "fence" => op.to_owned(),
        "bne" => format!("{op} r{r} {v} {}", rng.below(left)),
        other => panic!("unknown operation {other}"),
    }
}
