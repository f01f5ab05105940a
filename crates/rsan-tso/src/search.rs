//! The search: all SC configurations, and from each of them all attacks.
//!
//! SC configurations are found breadth first, in batches. After each batch every thread, as attacker, continues its own
//! exploration from the new ones, for a number of states that grows with the search: the attackers take turns, side by side on several
//! cores, and none of them keeps the others waiting. Now and then some configurations are found by walks at random, since
//! the attacks of large programs may all begin far away. The answer does not depend on the number of workers.
//!
//! Fences concern nobody but the attacker in whose thread they stand. So when fences are put elsewhere the SC
//! configurations stay, and so do the attackers whose own fences are the same. What one found to be without attacks is so with
//! more fences, too.
//!
//! Of threads that are alike (`alike`), with fences at the same places, only the first one attacks: exchange the two in an attack, and it is
//! one of the other.

use crate::alike::first_alike;
use crate::attacker::{Attacker, Clean, Leave, Success, Turn};
use crate::compiled::Compiled;
use crate::fences::FenceSet;
use crate::limits::{Limits, Stats, Watch};
use crate::prefilter::Prefilter;
use crate::space::{Space, Step, plain};
use crate::steps::{FaultKind, Trouble};
use rsan_model::Reason;
use rsan_random::Random;
use std::sync::Mutex;
use std::thread::Builder;

/// How a search ends.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// Attacks succeed, of different threads; there is one.
    Attacks(Vec<Success>),
    /// The program fails under SC: after this configuration, at this transition.
    Fault {
        path: Vec<Step>,
        thread: usize,
        transition: u32,
        kind: FaultKind,
    },
    Unknown(Reason),
}

/// SC configurations of the first batch; later ones are larger.
const FIRST_BATCH: usize = 64;

/// SC configurations of a batch, at most.
const BATCH: usize = 2048;

/// States that an attacker expands in its turn, for each SC configuration of the batch.
const TURN: usize = 8;

/// SC configurations that are found before the first walk.
const BEFORE_WALKS: usize = 4 * BATCH;

/// Steps of a walk for each thread.
const WALK: usize = 64;

pub(crate) struct Search<'a> {
    compiled: &'a Compiled<'a>,
    prefilter: &'a Prefilter<'a>,
    watch: Watch<'a>,
    space: Space<'a>,
    attackers: Vec<Attacker<'a>>,
    /// By thread, the first one that is like it.
    alike: Vec<usize>,
    /// By thread, fences and where no attack begins that succeeds in spite of them.
    clean: Vec<Vec<(Vec<bool>, Clean)>>,
    /// The configurations that walks have found.
    walked: Vec<u32>,
    random: Random,
    batch: usize,
    /// The number of configurations at which the next walks are made.
    next_walks: usize,
    told: u64,
    /// What is wrong with the next configuration to be expanded.
    trouble: Option<Leave>,
}

impl<'a> Search<'a> {
    /// # Errors
    /// When the program cannot begin.
    pub(crate) fn new(
        compiled: &'a Compiled<'a>,
        prefilter: &'a Prefilter<'a>,
        limits: &'a Limits<'a>,
    ) -> Result<Self, Found> {
        let space = Space::new(compiled, plain).map_err(|leave| ended(&leave, Vec::new))?;
        let threads = 0..compiled.automata.threads.len();
        let roles = threads.map(|t| prefilter.attackable(t, &FenceSet::default()));
        let attackers = roles
            .map(|role| Attacker::new(compiled, role, Clean::default()))
            .collect();
        Ok(Self {
            compiled,
            prefilter,
            watch: Watch::new(limits),
            space,
            attackers,
            alike: first_alike(compiled.automata),
            clean: vec![Vec::new(); compiled.automata.threads.len()],
            walked: Vec::new(),
            random: Random::new(0),
            batch: FIRST_BATCH,
            next_walks: BEFORE_WALKS,
            told: 0,
            trouble: None,
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        let all = || self.attackers.iter().map(|a| &a.states);
        Stats {
            states: self.space.states.len() as u64,
            attack_states: all().map(|s| s.len() as u64).sum(),
            memory: self.space.states.memory() + all().map(|s| s.memory()).sum::<u64>(),
            elapsed: self.watch.began.elapsed(),
        }
    }

    /// From now on there are these fences.
    pub(crate) fn put(&mut self, fences: &FenceSet) {
        let watch = &self.watch;
        for (attacker, clean) in self.attackers.iter_mut().zip(&mut self.clean) {
            let role = self.prefilter.attackable(attacker.role.thread, fences);
            if role != attacker.role {
                remember(clean, &attacker.role.fenced, attacker.clean());
                attacker.forget(watch);
                let known = known(clean, &role.fenced);
                *attacker = Attacker::new(self.compiled, role, known);
            }
        }
    }

    /// By thread, whether it attacks itself.
    fn attacking(&self) -> Vec<bool> {
        let attackers = self.attackers.iter().enumerate();
        attackers
            .map(|(t, a)| !a.role.is_harmless() && self.instead(t) == t)
            .collect()
    }

    /// The thread that attacks in place of another one: the first that is like it, with fences at the same places.
    fn instead(&self, thread: usize) -> usize {
        let same = |t: &usize| {
            let (a, b) = (&self.attackers[*t].role, &self.attackers[thread].role);
            self.alike[*t] == self.alike[thread] && a.fenced == b.fenced && a.starts == b.starts
        };
        (0..thread).find(same).unwrap_or(thread)
    }

    /// The same attacks by all threads that did not attack themselves.
    fn by_all(&self, found: Vec<Success>) -> Vec<Success> {
        let threads = 0..self.attackers.len();
        let of = |success: &Success| {
            let others = threads
                .clone()
                .filter(|t| self.instead(*t) == success.attacker);
            others.map(|t| success.by(t)).collect::<Vec<Success>>()
        };
        found.iter().flat_map(of).collect()
    }

    /// Whether no attack can begin, whatever the configurations are.
    fn is_harmless(&self) -> bool {
        self.attackers.iter().all(|a| a.role.is_harmless())
    }

    /// Looks for attacks everywhere.
    pub(crate) fn run(&mut self) -> Found {
        self.explore(true)
            .unwrap_or_else(|leave| ended(&leave, || self.space.path(self.space.expanded as u32)))
    }

    /// Looks for attacks that begin in the configurations known so far, and a few more.
    pub(crate) fn glance(&mut self) -> Found {
        self.explore(false)
            .unwrap_or_else(|leave| ended(&leave, || self.space.path(self.space.expanded as u32)))
    }

    fn explore(&mut self, everywhere: bool) -> Result<Found, Leave> {
        if self.is_harmless() && (!self.compiled.may_fail || !everywhere) {
            return Ok(Found::Nothing);
        }
        loop {
            let upto = self.space.states.len().min(self.space.expanded + 1);
            let found = self.attack(upto, everywhere)?;
            if !found.is_empty() {
                return Ok(Found::Attacks(found));
            }
            let attackers = self.attackers.iter().zip(self.attacking());
            let waiting = attackers
                .into_iter()
                .any(|(a, attacks)| attacks && !a.is_done(upto));
            if self.space.is_complete() && !waiting {
                return Ok(Found::Nothing);
            }
            // The configuration in which the program fails is looked at after the attacks of those before it.
            if let (Some(trouble), false) = (&self.trouble, waiting) {
                return Err(trouble.clone());
            }
            if !everywhere {
                self.walk()?;
                let found = self.attack(upto, false)?;
                return Ok(if found.is_empty() {
                    Found::Nothing
                } else {
                    Found::Attacks(found)
                });
            }
            if self.space.expanded >= self.next_walks {
                self.next_walks = self.space.expanded * 2;
                self.walk()?;
            }
            if self.trouble.is_none() {
                self.expand()?;
            }
            self.batch = (self.batch * 2).min(BATCH);
        }
    }

    /// Expands a batch of configurations.
    fn expand(&mut self) -> Result<(), Leave> {
        self.watch.check()?;
        for _ in 0..self.batch {
            if self.space.is_complete() {
                break;
            }
            if let Err(trouble) = self.space.expand_next() {
                self.trouble = Some(trouble.into());
                break;
            }
        }
        let used = self.space.states.memory();
        self.watch.tell(used, &mut self.told);
        Ok(())
    }

    /// All attackers take a turn, with the SC configurations before `upto` and those of walks. A `deep` look goes on with what
    /// earlier ones have left.
    fn attack(&mut self, upto: usize, deep: bool) -> Result<Vec<Success>, Leave> {
        let turn = Turn {
            space: &self.space,
            upto,
            walked: &self.walked,
            budget: if deep { self.batch * TURN } else { usize::MAX },
            deep,
            watch: &self.watch,
        };
        let attacks: Vec<bool> = self.attacking();
        let active = self.attackers.iter_mut().zip(attacks);
        let active: Vec<&mut Attacker<'_>> = active.filter(|a| a.1).map(|a| a.0).collect();
        let small = active.iter().all(|a| a.behind(upto) < FIRST_BATCH) && self.walked.is_empty();
        let workers = if small {
            1
        } else {
            self.watch.limits.workers()
        };
        let found = side_by_side(active, workers, &turn)?;
        Ok(self.by_all(found))
    }

    /// Finds configurations by walks at random.
    fn walk(&mut self) -> Result<(), Leave> {
        let steps = WALK * self.compiled.automata.threads.len();
        let start = self.space.states.len();
        let wanted = start + self.space.expanded.clamp(BATCH, 16 * BATCH) / 4;
        // Small programs have no more.
        let mut fruitless = 0;
        while self.space.states.len() < wanted && fruitless < 4 {
            let before = self.space.states.len();
            self.space.walk(&mut self.random, steps);
            fruitless = match self.space.states.len() - before {
                0 => fruitless + 1,
                _ => 0,
            };
            self.watch.check()?;
        }
        let found = start..self.space.states.len();
        self.walked.extend(found.map(|number| number as u32));
        Ok(())
    }
}

/// This is known with these fences.
fn remember(all: &mut Vec<(Vec<bool>, Clean)>, fenced: &[bool], clean: Clean) {
    match all.iter_mut().find(|(known, _)| known == fenced) {
        Some((_, known)) => *known = known.or(clean),
        None if clean != Clean::default() => all.push((fenced.to_vec(), clean)),
        None => {}
    }
}

/// What is known with these fences, or fewer.
fn known(all: &[(Vec<bool>, Clean)], fenced: &[bool]) -> Clean {
    let fewer = |known: &[bool]| known.iter().zip(fenced).all(|(a, b)| !a || *b);
    let clean = all.iter().filter(|(known, _)| fewer(known));
    clean.fold(Clean::default(), |known, (_, clean)| known.or(*clean))
}

type Taken = Result<Option<Success>, Leave>;

/// Everybody takes a turn, on several cores; what was found, or else why somebody left.
fn side_by_side(
    active: Vec<&mut Attacker<'_>>,
    workers: usize,
    turn: &Turn<'_>,
) -> Result<Vec<Success>, Leave> {
    let workers = workers.min(active.len());
    if workers < 2 {
        return successes(active.into_iter().map(|attacker| attacker.take(turn)));
    }
    let results: Mutex<Vec<Taken>> = Mutex::new(active.iter().map(|_| Ok(None)).collect());
    let queue = Mutex::new(active.into_iter().enumerate());
    let work = || {
        let next = || queue.lock().expect("nobody panics with the queue").next();
        while let Some((number, attacker)) = next() {
            let result = attacker.take(turn);
            results.lock().expect("nobody panics with the results")[number] = result;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // The system may have no more threads; those that are there take all turns.
            let _ = Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let results = results.into_inner();
    successes(results.expect("nobody panics with the results").into_iter())
}

/// The attacks that were found; else why somebody left.
fn successes(results: impl Iterator<Item = Taken>) -> Result<Vec<Success>, Leave> {
    let mut found = Vec::new();
    let mut left = None;
    for result in results {
        match result {
            Ok(success) => found.extend(success),
            Err(leave) => left = left.or(Some(leave)),
        }
    }
    match left {
        Some(leave) if found.is_empty() => Err(leave),
        _ => Ok(found),
    }
}

/// An exploration was left, in the configuration that `path` leads to.
pub(crate) fn ended(leave: &Leave, path: impl FnOnce() -> Vec<Step>) -> Found {
    match leave {
        Leave::Limit(reason) => Found::Unknown(reason.clone()),
        Leave::Trouble(Trouble::TooLarge) => Found::Unknown(Reason::TooLarge(
            "a thread has too many states between two accesses".to_owned(),
        )),
        Leave::Trouble(Trouble::Fault(thread, transition, kind)) => Found::Fault {
            path: path(),
            thread: *thread,
            transition: *transition,
            kind: *kind,
        },
    }
}
