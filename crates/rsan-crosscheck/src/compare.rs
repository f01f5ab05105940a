//! The engines, asked the same question.

use crate::interleave::{Seen, interleave};
use crate::paired::Paired;
use crate::{Profile, Random, generate, shrink};
use rsan_axioms::{Limits, robustness};
use rsan_clocks::location_clocks::{C20, LocationClocks, Rc20, Reach};
use rsan_clocks::races::ScFences;
use rsan_model::{Model, Program, Verdict};
use rsan_verify::{Options, verify};
use std::fmt;

/// Whether each engine finds something wrong: a weak behaviour, a data race or a failed assertion.
///
/// Races and weak behaviours are compared together: a program with a race may show weak behaviours only
/// because of it, and the theorem that the monitors rest on speaks of both at once (ALGORITHM.md 9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answers {
    /// Enumeration of execution graphs.
    pub oracle: bool,
    /// Location clocks over all SC runs.
    pub location_clocks: bool,
    /// The write log over all SC runs.
    pub write_log: bool,
    /// State-space search.
    pub verifier: bool,
}

impl Answers {
    /// Whether all engines say the same.
    pub fn agree(self) -> bool {
        let Self {
            oracle,
            location_clocks,
            write_log,
            verifier,
        } = self;
        oracle == location_clocks && oracle == write_log && oracle == verifier
    }
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
    pub answers: Answers,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = rsan_lang::mini::print(&self.program)
            .unwrap_or_else(|_| format!("{:?}", self.program.threads));
        write!(
            f,
            "model {}, profile {}, seed {}: {:?}\n  {text}",
            self.model,
            self.profile.name(),
            self.seed,
            self.answers
        )
    }
}

/// Asks every engine; `None` when the oracle finds the program too large.
pub fn compare(program: &Program, model: Model) -> Option<Answers> {
    let limits = Limits {
        max_graphs: 200_000,
        ..Limits::default()
    };
    let oracle = robustness(program, model, &limits).expect("random programs suit their model");
    if oracle.robust && oracle.cut.is_some() {
        return None;
    }
    let raised = program.for_model(model);
    let (location_clocks, write_log) = match model {
        Model::C20 => (
            location_clocks::<C20>(&raised, ScFences::Local),
            location_clocks::<C20>(&raised, ScFences::Local),
        ),
        _ => (
            location_clocks::<Rc20>(&raised, ScFences::Synchronise),
            location_clocks::<Rc20>(&raised, ScFences::Synchronise),
        ),
    };
    let options = Options::new(model);
    let outcome = verify(program, &options, &mut |_| {}).expect("random programs suit their model");
    Some(Answers {
        oracle: !oracle.robust || oracle.racy || oracle.assertion_failed,
        location_clocks: location_clocks.any(),
        write_log: write_log.any(),
        verifier: matches!(outcome.verdict, Verdict::Violation(_)),
    })
}

fn location_clocks<M: Reach + Clone>(program: &Program, sc_fences: ScFences) -> Seen {
    let inits = program.locations.iter().map(|l| l.init);
    let monitor = Paired::new(LocationClocks::<M>::new(inits), sc_fences);
    interleave(program, monitor)
}

/// Compares the engines on `count` programs from the seed on.
///
/// # Errors
/// The first disagreement, shrunk. Its seed, with `count` 1, makes the same program again.
pub fn crosscheck(
    model: Model,
    profile: Profile,
    seed: u64,
    count: u64,
) -> Result<Tally, Box<Disagreement>> {
    let mut tally = Tally::default();
    for seed in seed..seed + count {
        let program = generate(&mut Random::new(seed), profile, model);
        match compare(&program, model) {
            None => tally.skipped += 1,
            Some(answers) if answers.agree() => {
                tally.programs += 1;
                tally.violations += u64::from(answers.oracle);
            }
            Some(_) => {
                let disagree = |p: &Program| compare(p, model).is_some_and(|a| !a.agree());
                let program = shrink(program, &disagree);
                let answers = compare(&program, model).expect("a shrunk program is no larger");
                return Err(Box::new(Disagreement {
                    seed,
                    profile,
                    model,
                    program,
                    answers,
                }));
            }
        }
    }
    Ok(tally)
}

/// How many programs were compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// All engines agreed.
    pub programs: u64,
    /// Of these, with something wrong.
    pub violations: u64,
    /// Too large for the oracle.
    pub skipped: u64,
}
