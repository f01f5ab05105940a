//! Long random runs: threads come and go, slots and locations are reused, logs are pruned.

use super::forms::{Demand, Variant, queries};
use super::machine::{Event, Machine};
use super::random_programs::Profile;
use super::repetitions;
use crate::write_log::Options;
use crate::{Access, AccessKind};
use rsan_model::{LocId, Model, ThreadId};
use rsan_random::Random;

/// Locations that are never atomic.
const PLAIN_LOCATIONS: usize = 2;

/// Percentages of steps that are not accesses or fences.
#[derive(Clone, Copy, Debug)]
struct Rates {
    fork: usize,
    exit: usize,
    forget: usize,
    sweep: usize,
}

/// What a run consisted of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    steps: u64,
    accesses: u64,
    flagged: u64,
    forks: u64,
    exact_reuses: u64,
    forced_reuses: u64,
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.accesses += other.accesses;
        self.flagged += other.flagged;
        self.forks += other.forks;
        self.exact_reuses += other.exact_reuses;
        self.forced_reuses += other.forced_reuses;
    }
}

struct Run<'q> {
    random: Random,
    machine: Machine,
    profile: Profile,
    rates: Rates,
    steps: u64,
    /// Whether logs are pruned at random moments.
    prune: bool,
    /// Steps at the start in which everything is seq_cst.
    sc_phase: u64,
    atomics: usize,
    most_threads: usize,
    live: Vec<ThreadId>,
    /// Ended, not joined yet.
    ended: Vec<ThreadId>,
    next: u32,
    queries: &'q [Access<'static>],
    summary: Summary,
}

impl Run<'_> {
    fn step(&mut self) -> Result<(), String> {
        self.summary.steps += 1;
        let thread = self.random.pick(&self.live);
        let roll = self.random.below(1000);
        let Rates {
            fork, exit, forget, ..
        } = self.rates;
        if roll < fork {
            return self.fork_or_join(thread);
        }
        if roll < fork + exit {
            return self.exit(thread);
        }
        if roll < fork + exit + forget {
            let loc = LocId::new(self.random.below(self.atomics));
            let value = self.random.below(3) as i32;
            return self.machine.tell(Event::Forget(loc, value));
        }
        if self.random.chance(self.profile.plain) {
            return self.plain(thread);
        }
        let sc_only = self.summary.steps < self.sc_phase;
        if !sc_only && self.random.chance(self.profile.fences) {
            let ord = self.profile.fence_ord(&mut self.random);
            return self.machine.tell(Event::Fence(thread, ord));
        }
        let profile = Profile {
            sc: if sc_only { 100 } else { self.profile.sc },
            ..self.profile
        };
        self.access(thread, profile)
    }

    fn access(&mut self, thread: ThreadId, profile: Profile) -> Result<(), String> {
        let loc = LocId::new(self.random.below(self.atomics));
        let (access, operand) = profile.access(&mut self.random);
        self.summary.accesses += 1;
        let flagged = self.machine.compare_access(thread, loc, &access)?;
        self.summary.flagged += u64::from(flagged);
        let all = self.machine.outcomes(loc, &access, operand);
        if all.is_empty() {
            return Ok(());
        }
        let (effect, _) = self.random.pick(&all);
        self.machine.tell(Event::Access(thread, loc, effect))
    }

    fn plain(&mut self, thread: ThreadId) -> Result<(), String> {
        if self.random.chance(10) {
            let loc = LocId::new(self.random.below(self.atomics));
            return self.machine.tell(Event::Init(thread, loc, 1));
        }
        let loc = LocId::new(self.atomics + self.random.below(PLAIN_LOCATIONS));
        let kinds = [AccessKind::PlainRead, AccessKind::PlainWrite];
        let kind = self.random.pick(&kinds);
        self.machine.tell(Event::Plain(thread, loc, kind))
    }

    fn fork_or_join(&mut self, thread: ThreadId) -> Result<(), String> {
        if !self.ended.is_empty() && self.random.chance(40) {
            let index = self.random.below(self.ended.len());
            let child = self.ended.swap_remove(index);
            return self.machine.tell(Event::Join(thread, child));
        }
        if self.live.len() >= self.most_threads {
            return Ok(());
        }
        let child = ThreadId(self.next);
        self.next += 1;
        self.live.push(child);
        self.summary.forks += 1;
        self.machine.tell(Event::Spawn(thread, child))
    }

    fn exit(&mut self, thread: ThreadId) -> Result<(), String> {
        if self.live.len() < 2 {
            return Ok(());
        }
        self.live.retain(|&other| other != thread);
        self.ended.push(thread);
        self.machine.tell(Event::Exit(thread))
    }

    fn sweep(&mut self) -> Result<(), String> {
        if self.prune && self.random.chance(self.rates.sweep) {
            let loc = LocId::new(self.random.below(self.atomics));
            for (_, subject) in &mut self.machine.subjects {
                subject.prune(loc);
            }
        }
        if self.random.chance(self.rates.sweep) {
            self.machine.compare(&self.live, self.queries)?;
        }
        Ok(())
    }
}

/// How long runs are, and whether threads come and go all the time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) steps: (usize, usize),
    pub(super) busy_forks: bool,
    pub(super) most_threads: usize,
}

pub(super) const EXACT: Shape = Shape {
    steps: (60, 700),
    busy_forks: false,
    most_threads: 6,
};

pub(super) const FORCED: Shape = Shape {
    steps: (60, 500),
    busy_forks: true,
    most_threads: 4,
};

impl<'q> Run<'q> {
    /// A run that has not begun, with everything chosen from the seed.
    fn new(
        seed: u64,
        shape: Shape,
        reference: Variant,
        subjects: &[(Demand, Variant)],
        queries: &'q [Access<'static>],
    ) -> Self {
        let mut random = Random::new(seed);
        let atomics = random.between(2, 7);
        let steps = random.between(shape.steps.0, shape.steps.1);
        let profile = Profile {
            sc: random.pick(&[0, 5, 25, 50, 90, 100]),
            fences: random.pick(&[0, 2, 5, 15]),
            sc_fences: random.pick(&[0, 30, 100]),
            values: random.pick(&[0, 10, 40]),
            fork: 0,
            plain: random.pick(&[0, 10]),
        };
        let (fork, exit) = if shape.busy_forks {
            random.pick(&[(60, 60), (150, 120)])
        } else {
            random.pick(&[(0, 0), (10, 5), (40, 30)])
        };
        let rates = Rates {
            fork,
            exit,
            forget: random.pick(&[0, 2, 10]),
            sweep: random.pick(&[5, 10, 20]),
        };
        let sc_phase = if random.chance(40) {
            random.below(steps)
        } else {
            0
        };
        let most_threads = random.between(2, shape.most_threads);
        let first = random.between(1, most_threads);
        Self {
            prune: random.chance(50),
            random,
            machine: Machine::new(atomics + PLAIN_LOCATIONS, reference, subjects),
            profile,
            rates,
            steps: steps as u64,
            sc_phase: sc_phase as u64,
            atomics,
            most_threads,
            next: first as u32,
            live: (0..first).map(ThreadId::new).collect(),
            ended: Vec::new(),
            queries,
            summary: Summary::default(),
        }
    }

    fn run(&mut self, mutated: bool) -> Result<(), String> {
        for thread in self.live.clone() {
            self.machine.tell(Event::Start(thread))?;
        }
        for _ in 0..self.steps {
            self.step()?;
            self.sweep()?;
            if !mutated {
                self.machine.assert_invariants();
            }
        }
        for (_, subject) in &self.machine.subjects {
            let (exact, forced) = subject.reuses();
            self.summary.exact_reuses += exact;
            self.summary.forced_reuses += forced;
        }
        Ok(())
    }
}

/// One run from a seed; an error is a difference.
pub(super) fn long_run(
    seed: u64,
    shape: Shape,
    reference: Variant,
    subjects: &[(Demand, Variant)],
    queries: &[Access<'static>],
) -> Result<Summary, String> {
    let mut run = Run::new(seed, shape, reference, subjects, queries);
    let mutated = subjects.iter().any(|(_, variant)| variant.mutant.is_some());
    match run.run(mutated) {
        Ok(()) => Ok(run.summary),
        Err(difference) => Err(format!("seed {seed}: {difference}")),
    }
}

fn run_all(
    name: &str,
    count: u64,
    shape: Shape,
    model: Model,
    subjects: &[(Demand, Variant)],
) -> Summary {
    let queries = queries();
    let mut total = Summary::default();
    for seed in 0..repetitions(count) {
        match long_run(seed, shape, Variant::clocks(model), subjects, &queries) {
            Ok(summary) => total.add(summary),
            Err(difference) => panic!("{name}, {difference}"),
        }
    }
    println!("{name}: {total:?}");
    total
}

fn exact_and_capped(model: Model) -> Vec<(Demand, Variant)> {
    let exact = Variant::exact_logs(model).into_iter();
    let mut subjects: Vec<_> = exact.map(|variant| (Demand::Equal, variant)).collect();
    for cap in [2, 8] {
        let options = Options {
            cap: Some(cap),
            ..Options::default()
        };
        subjects.push((Demand::CappedAt2OrMore, Variant::log(model, options)));
    }
    subjects
}

#[test]
fn forms_agree_in_long_runs_under_c20() {
    let model = Model::C20;
    let total = run_all("c20", 60, EXACT, model, &exact_and_capped(model));
    assert!(total.flagged > 100 && total.exact_reuses > 100, "{total:?}");
}

#[test]
fn forms_agree_in_long_runs_under_rc20() {
    let model = Model::Rc20;
    let total = run_all("rc20", 30, EXACT, model, &exact_and_capped(model));
    assert!(total.flagged > 100 && total.exact_reuses > 50, "{total:?}");
}

#[test]
fn forced_slot_reuse_raises_no_false_alarm() {
    for model in [Model::C20, Model::Rc20] {
        let subjects: Vec<_> = [(None, 2), (None, 4), (Some(8), 3)]
            .into_iter()
            .map(|(cap, slots)| {
                let options = Options {
                    cap,
                    slots: Some(slots),
                    ..Options::default()
                };
                (Demand::NoFalseAlarm, Variant::log(model, options))
            })
            .collect();
        let total = run_all("forced reuse", 40, FORCED, model, &subjects);
        assert!(total.forced_reuses > 100, "{total:?}");
    }
}

/// Epochs that overflow into the next generation, into the last one, and that have nowhere left to go.
#[test]
fn overflow_of_epochs_raises_no_false_alarm() {
    let first_epochs = [0x3f_ffe0, 0xffbf_ffe0, 0xffff_ffe0];
    for model in [Model::C20, Model::Rc20] {
        let mut subjects = Vec::new();
        for first_epoch in first_epochs {
            for slots in [None, Some(3)] {
                let options = Options {
                    slots,
                    ..Options::default()
                };
                let mut variant = Variant::log(model, options);
                variant.kind = super::forms::Kind::Log {
                    options,
                    first_epoch,
                    last_epoch: None,
                };
                subjects.push((Demand::NoFalseAlarm, variant));
            }
        }
        run_all("overflow", 15, FORCED, model, &subjects);
        run_all("overflow", 10, EXACT, model, &subjects);
    }
}

/// Threads that have come to the end of their epochs go on in other slots: nothing is lost and nothing is invented. Short ends, so that it happens
/// all the time, and one after a start near the end of all epochs.
#[test]
fn threads_go_on_in_other_slots() {
    for (model, runs) in [(Model::C20, 30), (Model::Rc20, 15)] {
        let mut subjects = Vec::new();
        for (first_epoch, last_epoch) in [(0, 3), (0, 20), (0xffbf_ff00, 0xffbf_ffe0)] {
            for fast_paths in [true, false] {
                let options = Options {
                    fast_paths,
                    saturation: fast_paths,
                    ..Options::default()
                };
                let mut variant = Variant::log(model, options);
                variant.kind = super::forms::Kind::Log {
                    options,
                    first_epoch,
                    last_epoch: Some(last_epoch),
                };
                subjects.push((Demand::Equal, variant));
            }
        }
        let total = run_all("other slots", runs, EXACT, model, &subjects);
        assert!(total.flagged > 50, "{total:?}");
    }
}
