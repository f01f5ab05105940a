//! Many random programs, on several cores.
//!
//! Every program is made from its own seed, so the outcome does not depend on the number of cores, and a single
//! program can be made again. Of several disagreements the first in the order of the work is reported.

use crate::{Answers, Profile, Random, compare, generate, shrink};
use rsan_axioms::Limits;
use rsan_model::{Model, Program};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The models that all engines know.
pub const MODELS: [Model; 3] = [Model::Ra, Model::Rc20, Model::C20];

/// Seeds that are worked on at a time.
const BATCH: u64 = 20;

/// What to compare the engines on.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// These models.
    pub models: Vec<Model>,
    /// These profiles, where they make sense for the model.
    pub profiles: Vec<Profile>,
    /// The first seed, for each model and profile.
    pub seed: u64,
    /// Number of programs, spread evenly.
    pub programs: u64,
    /// Number of threads to use.
    pub jobs: usize,
}

/// How many programs were compared, and what they are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All engines agreed.
    pub programs: u64,
    /// Of these, with something wrong: weak behaviour, race or failed assertion.
    pub violations: u64,
    /// Of these, observationally robust and safe all the same.
    pub unobserved: u64,
    /// Of these, where the search refutes observational robustness although the definition holds.
    pub overcautious: u64,
    /// Too large for the oracle.
    pub skipped: u64,
}

/// A program on which the engines disagree, shrunk.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The seed of the program as it was generated.
    pub seed: u64,
    /// How it was generated.
    pub profile: Profile,
    /// Under which model.
    pub model: Model,
    /// The shrunk program.
    pub program: Program,
    /// What the engines say about it.
    pub found: Found,
}

/// What came of asking all engines about a program.
#[derive(Clone, Debug)]
pub enum Found {
    /// They answered.
    Answers(Answers),
    /// One of them panicked.
    Panic(String),
    /// The program is too large for the oracle.
    TooLarge,
}

impl Found {
    /// Asks all engines.
    fn of(program: &Program, model: Model) -> Self {
        let limits = Limits {
            max_graphs: 60_000,
            ..Limits::default()
        };
        match std::panic::catch_unwind(|| compare(program, model, &limits)) {
            Ok(Some(answers)) => Self::Answers(answers),
            Ok(None) => Self::TooLarge,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
                Self::Panic(text.unwrap_or_default())
            }
        }
    }

    fn is_wrong(&self) -> bool {
        match self {
            Self::Answers(answers) => !answers.agree(),
            Self::Panic(_) => true,
            Self::TooLarge => false,
        }
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Report {
    /// One row for each model and profile.
    pub rows: Vec<(Model, Profile, Tally)>,
    /// The first disagreement; the work stopped there.
    pub disagreement: Option<Box<Disagreement>>,
}

/// Some seeds of one model and profile.
#[derive(Clone, Copy)]
struct Batch {
    row: usize,
    first: u64,
    count: u64,
}

impl Campaign {
    /// Compares the engines.
    pub fn run(&self) -> Report {
        let mut rows: Vec<(Model, Profile, Tally)> = Vec::new();
        for &model in &self.models {
            let profiles = Profile::of(model)
                .iter()
                .filter(|p| self.profiles.contains(p));
            rows.extend(profiles.map(|&p| (model, p, Tally::default())));
        }
        let batches = self.batches(rows.len() as u64);
        let next = AtomicUsize::new(0);
        let results = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(batch) = batches.get(index) else {
                            return;
                        };
                        let (model, profile, _) = rows[batch.row];
                        let result = crosscheck(model, profile, batch.first, batch.count);
                        if result.is_err() {
                            next.fetch_add(batches.len(), Ordering::Relaxed);
                        }
                        let mut results = results.lock().expect("no thread panicked");
                        results.insert(index, result);
                    }
                });
            }
        });
        let mut disagreement = None;
        for (index, result) in results.into_inner().expect("no thread panicked") {
            match result {
                Ok(tally) => rows[batches[index].row].2.add(tally),
                Err(found) => {
                    disagreement = Some(found);
                    break;
                }
            }
        }
        Report { rows, disagreement }
    }

    /// The seeds of all rows, such that all rows make progress together.
    fn batches(&self, rows: u64) -> Vec<Batch> {
        let mut batches = Vec::new();
        for row in 0..rows {
            let count = self.programs / rows + u64::from(row < self.programs % rows);
            for done in (0..count).step_by(BATCH as usize) {
                batches.push(Batch {
                    row: row as usize,
                    first: self.seed + done,
                    count: BATCH.min(count - done),
                });
            }
        }
        batches.sort_by_key(|batch| (batch.first, batch.row));
        batches
    }
}

/// Compares the engines on `count` programs from the seed on.
fn crosscheck(
    model: Model,
    profile: Profile,
    seed: u64,
    count: u64,
) -> Result<Tally, Box<Disagreement>> {
    let mut tally = Tally::default();
    for seed in seed..seed + count {
        let program = generate(&mut Random::new(seed), profile, model);
        let found = Found::of(&program, model);
        if found.is_wrong() {
            let program = shrink(program, &|p| Found::of(p, model).is_wrong());
            return Err(Box::new(Disagreement {
                seed,
                profile,
                model,
                found: Found::of(&program, model),
                program,
            }));
        }
        match found {
            Found::Answers(answers) => tally.count(&answers),
            Found::TooLarge | Found::Panic(_) => tally.skipped += 1,
        }
    }
    Ok(tally)
}

impl Tally {
    fn count(&mut self, answers: &Answers) {
        self.programs += 1;
        if answers.violation() {
            self.violations += 1;
            self.unobserved += u64::from(answers.verifier.observational.is_none());
            self.overcautious += u64::from(answers.is_overcautious());
        }
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.violations += other.violations;
        self.unobserved += other.unobserved;
        self.overcautious += other.overcautious;
        self.skipped += other.skipped;
    }
}

impl Report {
    /// All rows together.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.rows.iter().for_each(|(_, _, tally)| total.add(*tally));
        total
    }
}

impl fmt::Display for Report {
    /// A table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, model: &str, profile: &str, tally: &Tally| {
            writeln!(
                f,
                "{model:<6} {profile:<10} {:>9} {:>11} {:>11} {:>13} {:>8}",
                tally.programs,
                tally.violations,
                tally.unobserved,
                tally.overcautious,
                tally.skipped
            )
        };
        writeln!(
            f,
            "model  profile     programs  violations  unobserved  overcautious  skipped"
        )?;
        for (model, profile, tally) in &self.rows {
            line(f, model.name(), profile.name(), tally)?;
        }
        line(f, "all", "", &self.total())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "too large"),
            Self::Panic(text) => write!(f, "an engine panicked: {text}"),
            Self::Answers(answers) => {
                let Answers {
                    oracle,
                    runs,
                    verifier,
                } = answers;
                let contradictions = answers.contradictions().join("; ");
                writeln!(
                    f,
                    "these disagree: {contradictions}\n{oracle:?}\n{verifier:?}"
                )?;
                for (seen, name) in runs.seen.iter().zip(crate::MONITORS) {
                    writeln!(f, "{name}: {seen:?}")?;
                }
                write!(f, "deadlock in some run: {}", runs.deadlock)
            }
        }
    }
}

/// A program that has no compact notation, one instruction per line.
pub(crate) fn listing(program: &Program) -> String {
    let threads = program.threads.iter().map(|thread| {
        let code = thread.code.iter().map(|instr| format!("\n    {instr:?}"));
        format!("{}:{}", thread.name, code.collect::<String>())
    });
    threads.collect::<Vec<_>>().join("\n  ")
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            profile,
            model,
            program,
            found,
        } = self;
        let profile = profile.name();
        let text = rsan_lang::mini::print(program).unwrap_or_else(|_| listing(program));
        writeln!(f, "model {model}, profile {profile}, seed {seed}: {found}")?;
        writeln!(f, "shrunk program:\n  {text}")?;
        write!(
            f,
            "to reproduce: cargo xtask crosscheck --model {model} --profile {profile} --seed {seed} --programs 1"
        )
    }
}
