//! The searches that a question is divided into, side by side (docs/theory/finite.md, F20).
//!
//! A large program is searched once for every location (F14), and once for its assertions where the others leave out
//! the values that only those ask for (F19). Each part is tried with everything that can be left out; what fails then
//! need not be real, and is tried again with less left out. What the parts say does not depend on the number of workers: those after one
//! that fails are done again, with the bounds that it gives.

use super::{Answer, Job, Plan, Subject};
use crate::facts::Facts;
use crate::forgetting::Forgetting;
use crate::layout::{Focus, Watched};
use crate::options::{Property, Stats};
use crate::search::Bounds;
use crate::slice::{changing, sliced};
use crate::values::Range;
use crate::{Error, Outcome};
use rsan_model::{Program, Verdict};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

/// States up to which a search is worth it that keeps distances: mostly there are few, or no end of them.
const DISTANT: u64 = 1 << 20;

/// Time between two calls of the progress function.
const PROGRESS: Duration = Duration::from_millis(200);

/// What can be left out of a program.
pub(super) struct Reductions {
    forgetting: Option<Forgetting>,
    /// The same, with numbers kept as distances.
    distant: Option<Forgetting>,
    slice: Option<Slice>,
}

/// The program without the values that decide nothing.
struct Slice {
    program: Program,
    facts: Facts,
    forgetting: Option<Forgetting>,
    distant: Option<Forgetting>,
}

/// A search that is part of the answer, and how it is tried.
pub(super) struct Part<'c> {
    property: Property,
    watched: Watched,
    /// The last one leaves nothing out.
    pub(super) attempts: Vec<Subject<'c>>,
}

/// What a part says, and the depth of the search that says it.
type Said = Result<(Outcome, u32), Error>;

impl Reductions {
    pub(super) fn new(job: &Job<'_>) -> Self {
        let mutation = job.facts.mutation;
        // A thread that waits for ever is not to be forgotten when it is looked for.
        let forgetful = !job.options.deadlock && !mutation.all_at_once() && !job.small;
        let slices = job.pass.property != Property::Safe
            && !mutation.all_at_once()
            && !mutation.without_slices()
            && !job.small;
        let forgetting = |program: &Program, facts: &Facts| {
            forgetful.then(|| Forgetting::new(program, facts)).flatten()
        };
        let distant = |program: &Program, facts: &Facts| {
            let distant = || Forgetting::with_distances(program, facts);
            forgetful.then(distant).flatten()
        };
        let uses = job.pass.property == Property::Observational;
        let slice = slices.then(|| sliced(job.program, uses)).flatten();
        Self {
            forgetting: forgetting(job.program, job.facts),
            distant: distant(job.program, job.facts),
            slice: slice.map(|program| {
                let mut facts = Facts::new(&program, job.options.model, mutation);
                for (loc, changes) in facts.locations.iter_mut().zip(changing(&program)) {
                    loc.changes = changes;
                }
                Slice {
                    forgetting: forgetting(&program, &facts),
                    distant: distant(&program, &facts),
                    program,
                    facts,
                }
            }),
        }
    }
}

impl<'a> Job<'a> {
    /// The searches that decide the pass.
    pub(super) fn parts<'c>(&'c self, reductions: &'c Reductions) -> Vec<Part<'c>> {
        let locations = self.locations();
        let apart = locations.iter().map(|&loc| Watched {
            robustness: Focus::One(loc),
            races: false,
            merged: false,
            readings: 0,
            distant: 0,
        });
        let mut parts: Vec<Part<'_>> = apart
            .map(|watched| self.part(watched, reductions))
            .collect();
        if parts.is_empty() {
            parts.push(self.part(self.pass.watched, reductions));
        }
        if reductions.slice.is_some() {
            let assertions = Watched {
                robustness: Focus::None,
                races: false,
                merged: false,
                readings: 0,
                distant: 0,
            };
            let forgetful = [&reductions.distant, &reductions.forgetting];
            let forgetful = forgetful.into_iter().flatten().map(|forgetting| Subject {
                forgetting: Some(forgetting),
                ..self.exact()
            });
            let part = Part {
                property: Property::Safe,
                watched: assertions,
                attempts: forgetful.chain([self.exact()]).collect(),
            };
            parts.insert(0, part);
        }
        parts
    }

    fn part<'c>(&'c self, watched: Watched, reductions: &'c Reductions) -> Part<'c> {
        let property = self.pass.property;
        let merged = property != Property::Safe
            && !self.small
            && !self.facts.mutation.all_at_once()
            && !self.facts.mutation.without_slices();
        let mut attempts = Vec::new();
        if let Some(distant) = self.distant(reductions, property) {
            attempts.push(distant);
        }
        if let Some(slice) = &reductions.slice {
            let sliced = Subject {
                program: &slice.program,
                facts: &slice.facts,
                forgetting: None,
                sliced: true,
                merged: false,
            };
            attempts.push(Subject {
                forgetting: slice.forgetting.as_ref(),
                merged: true,
                ..sliced
            });
            attempts.push(sliced);
        } else if reductions.forgetting.is_some() || merged {
            attempts.push(Subject {
                forgetting: reductions.forgetting.as_ref(),
                merged: property != Property::Safe,
                ..self.exact()
            });
        }
        attempts.push(self.exact());
        Part {
            property,
            watched,
            attempts,
        }
    }

    /// The search that leaves out most.
    fn distant<'c>(
        &'c self,
        reductions: &'c Reductions,
        property: Property,
    ) -> Option<Subject<'c>> {
        let exact = Subject {
            merged: property != Property::Safe,
            ..self.exact()
        };
        let of = |distant, subject| Subject {
            forgetting: Some(distant),
            ..subject
        };
        match &reductions.slice {
            Some(slice) => {
                let sliced = Subject {
                    program: &slice.program,
                    facts: &slice.facts,
                    sliced: true,
                    ..exact
                };
                Some(of(slice.distant.as_ref()?, sliced))
            }
            None => Some(of(reductions.distant.as_ref()?, exact)),
        }
    }

    /// All parts. The shortest schedule to a fault counts, the first of those that are equally long.
    pub(super) fn all(
        &self,
        parts: &[Part<'_>],
        mut stats: Stats,
        range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Result<Outcome, Error> {
        let mut said = self.side_by_side(parts, stats, range, progress);
        let mut verdict = Verdict::Robust;
        let mut bounds = Bounds::default();
        for (part, said) in parts.iter().zip(&mut said) {
            // What was said without a bound says nothing about those with one.
            let (outcome, depth) = match said.take().filter(|_| bounds.depth.is_none()) {
                Some(said) => said?,
                None => {
                    let mut report = |own: &Stats| progress(&stats.and(own));
                    self.attempts(part, bounds, range, &mut report)?
                }
            };
            stats = stats.and(&outcome.stats);
            match outcome.verdict {
                Verdict::Robust => {}
                Verdict::Violation(witness) => {
                    verdict = Verdict::Violation(witness);
                    // Only a shorter one would be of interest from here on.
                    bounds.depth = Some(depth);
                    if depth == 0 {
                        break;
                    }
                }
                Verdict::Unknown(reason) => {
                    if verdict == Verdict::Robust {
                        verdict = Verdict::Unknown(reason);
                    }
                    break;
                }
            }
        }
        stats.elapsed = self.started.elapsed();
        Ok(Outcome { verdict, stats })
    }

    /// What each part says, where there are workers for more than one. Those after one that fails may be missing.
    fn side_by_side(
        &self,
        parts: &[Part<'_>],
        before: Stats,
        range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Vec<Option<Said>> {
        let count = parts.len().min(self.workers.count());
        // Each would have to keep below the limit with what the others take.
        if count < 2 || self.options.memory_limit.is_some() {
            return parts.iter().map(|_| None).collect();
        }
        let stops: Vec<AtomicBool> = parts.iter().map(|_| AtomicBool::new(false)).collect();
        let said: Vec<Mutex<Option<Said>>> = parts.iter().map(|_| Mutex::default()).collect();
        let shown: Vec<Mutex<Stats>> = parts.iter().map(|_| Mutex::default()).collect();
        let turn = AtomicUsize::new(0);
        let work = || {
            while let i = turn.fetch_add(1, Ordering::Relaxed)
                && let Some(part) = parts.get(i)
                && !stops[i].load(Ordering::Relaxed)
            {
                let bounds = Bounds {
                    stop: Some(&stops[i]),
                    ..Bounds::default()
                };
                let mut show = |stats: &Stats| *lock(&shown[i]) = *stats;
                let answer = self.attempts(part, bounds, range, &mut show);
                let proved = matches!(&answer, Ok((o, _)) if o.verdict == Verdict::Robust);
                if !stops[i].load(Ordering::Relaxed) {
                    *lock(&said[i]) = Some(answer);
                }
                if !proved {
                    let later = stops[i + 1..].iter();
                    later.for_each(|stop| stop.store(true, Ordering::Relaxed));
                }
            }
        };
        let helpers = self.workers.take(count - 1);
        std::thread::scope(|scope| {
            let (working, over) = mpsc::channel::<()>();
            for _ in 0..=helpers {
                let working = working.clone();
                let work = &work;
                // The system may have no more threads; what is not done here is done later.
                let spawned = Builder::new().spawn_scoped(scope, move || {
                    work();
                    // Who has nothing left to do helps the others.
                    self.workers.give_back(1);
                    drop(working);
                });
                if spawned.is_err() {
                    self.workers.give_back(1);
                }
            }
            drop(working);
            while over.recv_timeout(PROGRESS) == Err(RecvTimeoutError::Timeout) {
                let all = shown.iter().fold(before, |all, own| all.and(&lock(own)));
                progress(&all);
            }
        });
        // This thread is at work again.
        self.workers.take(1);
        let into = |said: Mutex<Option<Said>>| said.into_inner().expect("no worker panics");
        said.into_iter().map(into).collect()
    }

    /// A search that leaves something out, and if something fails then, another one that leaves out less. Gives the
    /// figures of all, and the depth of the last one.
    fn attempts(
        &self,
        part: &Part<'_>,
        bounds: Bounds<'_>,
        range: Range,
        progress: &mut dyn FnMut(&Stats),
    ) -> Said {
        let mut before = Stats::default();
        for &subject in &part.attempts {
            let mut watched = part.watched;
            watched.merged = subject.merged;
            watched.readings = subject.forgetting.map_or(0, Forgetting::readings);
            watched.distant = subject.forgetting.map_or(0, Forgetting::distant);
            let mut bounds = bounds;
            if watched.distant != 0 {
                bounds.states = Some(DISTANT);
            }
            let plan = Plan {
                property: part.property,
                watched,
                bounds,
                subject,
            };
            let mut wider = range;
            let mut report = |stats: &Stats| progress(&before.and(stats));
            match self.widening(plan, &mut wider, &mut report)? {
                Answer::Outcome(mut outcome) => {
                    let depth = outcome.stats.depth;
                    outcome.stats = before.and(&outcome.stats);
                    return Ok((outcome, depth));
                }
                Answer::Larger(stats) | Answer::Unsure(stats) => before = before.and(&stats),
            }
        }
        unreachable!("the last attempt leaves nothing out, and has no bound of states")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no worker panics")
}
