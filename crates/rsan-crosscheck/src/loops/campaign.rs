//! Many random programs with loops, compiled many at a time and explored one by one.
//!
//! A program is made from its seed, which also says its profile, so what is reported can be made again.

use super::{Answer, Difference, Expected, Level, Looping, Tool};
use crate::Profile;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What to explore.
#[derive(Clone, Debug)]
pub struct LoopCampaign {
    /// The command, and how it is called.
    pub tool: Tool,
    /// These profiles, in turn.
    pub profiles: Vec<Profile>,
    /// Optimisation levels, one for each file in turn.
    pub levels: Vec<Level>,
    /// The first seed.
    pub seed: u64,
    /// Number of programs.
    pub programs: u64,
    /// No file is begun after this time.
    pub until: Option<Instant>,
    /// Programs in a file.
    pub batch: u64,
    /// Number of threads to use.
    pub jobs: usize,
    /// How many differences of each kind are made smaller.
    pub shrink: usize,
}

/// How many programs were explored, and what they are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoopTally {
    /// Explored, and small enough for the oracle.
    pub programs: u64,
    /// Of these, with a data race.
    pub races: u64,
    /// Of these, with a weak behaviour and no race.
    pub weak: u64,
    /// Of these, with a deadlock and neither.
    pub deadlocks: u64,
    /// Explorations without an answer.
    pub undecided: u64,
    /// Answers that differ because of failed spin iterations.
    pub in_vain: u64,
    /// Answers that differ because of stale loads that a failed compare-and-swap corrects.
    pub corrected: u64,
    /// Other answers that differ.
    pub differences: u64,
    /// Too large for the oracle.
    pub too_large: u64,
    /// Executions that were explored.
    pub executions: u64,
    /// Runs in excess.
    pub excess: u64,
}

/// A program with an answer that is not as expected.
#[derive(Clone, Debug)]
pub struct Odd {
    /// Its seed.
    pub seed: u64,
    /// How it was generated.
    pub profile: Profile,
    /// How it was compiled.
    pub level: Level,
    /// What is wrong.
    pub difference: Difference,
    /// The program, perhaps made smaller.
    pub looping: Looping,
    /// What was to be found, or how the engines contradict each other.
    pub expected: Result<Expected, String>,
    /// What was found, or why there is no answer.
    pub answer: Result<Answer, String>,
}

/// What came of one program.
#[derive(Clone, Debug)]
pub enum Checked {
    /// The answer is as expected.
    Same(Expected, Answer),
    /// Neither a finding nor a proof.
    Undecided(Answer),
    /// Too large for the oracle.
    TooLarge,
    /// The answer is another one.
    Odd(Box<Odd>),
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct LoopReport {
    /// By the name of a profile.
    pub rows: BTreeMap<&'static str, LoopTally>,
    /// All answers that are not as expected, by seed.
    pub odd: Vec<Odd>,
    /// Why explorations had no answer, and how often.
    pub reasons: BTreeMap<String, u64>,
}

impl LoopCampaign {
    /// Explores the programs; `progress` is told what there is after every file.
    ///
    /// # Panics
    /// When a file cannot be compiled.
    pub fn run(&self, progress: &(dyn Fn(&LoopReport) + Sync)) -> LoopReport {
        let files = self.programs.div_ceil(self.batch) as usize;
        let next = AtomicUsize::new(0);
        let report = Mutex::new(LoopReport::default());
        std::thread::scope(|scope| {
            for job in 0..self.jobs.max(1) {
                let (next, report) = (&next, &report);
                scope.spawn(move || {
                    loop {
                        let file = next.fetch_add(1, Ordering::Relaxed);
                        let late = self.until.is_some_and(|until| Instant::now() > until);
                        if file >= files || late {
                            return;
                        }
                        let all = self.file(job, file as u64);
                        let mut report = report.lock().expect("no thread panicked");
                        for (profile, checked) in all {
                            report.count(profile, checked);
                        }
                        progress(&report);
                    }
                });
            }
        });
        let mut report = report.into_inner().expect("no thread panicked");
        report.odd.sort_by_key(|odd| odd.seed);
        self.shrink_some(&mut report);
        report
    }

    /// The profile of a seed.
    fn profile(&self, seed: u64) -> Profile {
        self.profiles[(seed % self.profiles.len() as u64) as usize]
    }

    /// Explores the programs of a file.
    fn file(&self, job: usize, file: u64) -> Vec<(Profile, Checked)> {
        let level = self.levels[(file % self.levels.len() as u64) as usize];
        let first = self.seed + file * self.batch;
        let end = (first + self.batch).min(self.seed + self.programs);
        let programs: Vec<Looping> = (first..end)
            .map(|seed| Looping::generate(seed, self.profile(seed)))
            .collect();
        let name = format!("job-{job}");
        let built = self.tool.build(&name, &programs, level);
        let built = built.unwrap_or_else(|why| panic!("seeds from {first}: {why}"));
        let explored = (first..end).zip(programs).enumerate();
        let checked = explored.map(|(number, (seed, looping))| {
            let profile = self.profile(seed);
            let answer = || self.tool.explore(&built, number);
            (profile, check(seed, profile, level, looping, &answer))
        });
        checked.collect()
    }

    /// Makes the first programs of each difference smaller.
    fn shrink_some(&self, report: &mut LoopReport) {
        let mut done: BTreeMap<Difference, usize> = BTreeMap::new();
        for odd in &mut report.odd {
            let done = done.entry(odd.difference).or_default();
            if *done < self.shrink {
                *done += 1;
                self.shrink(odd);
            }
        }
    }

    fn shrink(&self, odd: &mut Odd) {
        let (seed, profile, level) = (odd.seed, odd.profile, odd.level);
        loop {
            let candidates = odd.looping.candidates();
            let Ok(built) = self.tool.build("smaller", &candidates, level) else {
                return;
            };
            let smaller = candidates.into_iter().enumerate().find_map(|(n, looping)| {
                let answer = || self.tool.explore(&built, n);
                match check(seed, profile, level, looping, &answer) {
                    Checked::Odd(smaller) if smaller.difference == odd.difference => Some(smaller),
                    _ => None,
                }
            });
            match smaller {
                Some(smaller) => *odd = *smaller,
                None => return,
            }
        }
    }
}

/// Compares the answer with what is expected.
fn check(
    seed: u64,
    profile: Profile,
    level: Level,
    looping: Looping,
    answer: &dyn Fn() -> Result<Answer, String>,
) -> Checked {
    let odd = |difference, looping, expected, answer| {
        Checked::Odd(Box::new(Odd {
            seed,
            profile,
            level,
            difference,
            looping,
            expected,
            answer,
        }))
    };
    let expected = match Expected::of(&looping) {
        Ok(None) => return Checked::TooLarge,
        Ok(Some(expected)) => expected,
        Err(why) => {
            return odd(Difference::Engines, looping, Err(why), Err(String::new()));
        }
    };
    let answer = match answer() {
        Ok(answer) => answer,
        Err(why) => return odd(Difference::Failed, looping, Ok(expected), Err(why)),
    };
    match expected.difference(&looping, &answer) {
        Some(difference) => odd(difference, looping, Ok(expected), Ok(answer)),
        None if answer.is_undecided() => Checked::Undecided(answer),
        None => Checked::Same(expected, answer),
    }
}

impl LoopReport {
    fn count(&mut self, profile: Profile, checked: Checked) {
        let tally = self.rows.entry(profile.name()).or_default();
        let mut add = |answer: &Answer| {
            tally.executions += answer.executions;
            tally.excess += answer.excess;
        };
        match &checked {
            Checked::Same(_, answer) | Checked::Undecided(answer) => add(answer),
            Checked::Odd(odd) => odd.answer.iter().for_each(add),
            Checked::TooLarge => {}
        }
        tally.programs += 1;
        match checked {
            Checked::Same(expected, _) => {
                tally.races += u64::from(expected.race);
                let weak = expected.weak == Some(true);
                tally.weak += u64::from(weak);
                tally.deadlocks += u64::from(!weak && expected.deadlock == Some(true));
            }
            Checked::Undecided(answer) => {
                tally.undecided += 1;
                *self.reasons.entry(answer.reason).or_default() += 1;
            }
            Checked::TooLarge => {
                tally.programs -= 1;
                tally.too_large += 1;
            }
            Checked::Odd(odd) => {
                match odd.difference {
                    Difference::InVain => tally.in_vain += 1,
                    Difference::Corrected => tally.corrected += 1,
                    _ => tally.differences += 1,
                }
                self.odd.push(*odd);
            }
        }
    }

    /// All rows together.
    pub fn total(&self) -> LoopTally {
        let mut total = LoopTally::default();
        for row in self.rows.values() {
            total.programs += row.programs;
            total.races += row.races;
            total.weak += row.weak;
            total.deadlocks += row.deadlocks;
            total.undecided += row.undecided;
            total.in_vain += row.in_vain;
            total.corrected += row.corrected;
            total.differences += row.differences;
            total.too_large += row.too_large;
            total.executions += row.executions;
            total.excess += row.excess;
        }
        total
    }

    /// How often each difference was found.
    pub fn differences(&self) -> BTreeMap<Difference, u64> {
        let mut counts = BTreeMap::new();
        for odd in &self.odd {
            *counts.entry(odd.difference).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for LoopReport {
    /// A table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "profile    programs   races    weak  deadlocks  undecided  in vain  corrected  differences  too large  executions  excess"
        )?;
        let total = self.total();
        for (name, row) in self.rows.iter().chain([(&"all", &total)]) {
            writeln!(
                f,
                "{name:<9} {:>9} {:>7} {:>7} {:>10} {:>10} {:>8} {:>10} {:>12} {:>10} {:>11} {:>7}",
                row.programs,
                row.races,
                row.weak,
                row.deadlocks,
                row.undecided,
                row.in_vain,
                row.corrected,
                row.differences,
                row.too_large,
                row.executions,
                row.excess
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, level) = (self.seed, self.level);
        writeln!(
            f,
            "{:?}, profile {}, seed {seed}, level {level}",
            self.difference,
            self.profile.name()
        )?;
        match &self.expected {
            Ok(expected) => writeln!(f, "expected: {expected:?}")?,
            Err(why) => writeln!(f, "{why}")?,
        }
        match &self.answer {
            Ok(answer) => writeln!(f, "found: {answer:?}")?,
            Err(why) => writeln!(f, "{why}")?,
        }
        let program = &self.looping.program;
        let text = rsan_lang::mini::print(program).unwrap_or_else(|_| crate::listing(program));
        writeln!(f, "program:\n  {text}\n")?;
        writeln!(f, "{}", self.looping.in_c())?;
        write!(f, "to reproduce: {}", again(self.profile, seed, level))
    }
}

/// The command that explores a program again.
pub fn again(profile: Profile, seed: u64, level: Level) -> String {
    let profile = profile.name();
    format!(
        "cargo xtask crosscheck-c --profile {profile} --seed {seed} --programs 1 --level {level}"
    )
}
