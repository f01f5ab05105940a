//! All sequentially consistent executions of a program, each once.
//!
//! # What it decides
//!
//! Two runs are the same *execution* when they have the same events in each thread, every read reads the same write (`rf`),
//! and the writes of every object come in the same order (`mo`). The explorer hands out plans, each run shows one execution,
//! and when no plan is left, every execution was shown by some run. No execution is shown by two runs, but some runs are in
//! *excess*: see below. The program has to be deterministic, which is checked as far as plans repeat what was done before, and
//! every run has to end.
//!
//! # What the scheduler has to show
//!
//! - Threads are numbered in the order of their creation, after those that nobody creates ([`Bounds::roots`]).
//! - Every operation by which a thread can influence another is a step, on one object. Between two steps of one call (a
//!   condition variable is waited for, then the mutex given back) others may come.
//! - A thread that cannot pass is not ready, or its attempt is a step for which [`crate::Step::waits`] holds.
//! - A thread's last step is [`Kind::End`] if others join it.
//! - The program ends when no thread is ready any more. A program whose end is not joined with that of its threads ends last
//!   ([`Strategy::ends_last`](crate::Strategy::ends_last)): its end does nothing that another thread could see, so a run in which it
//!   comes earlier shows a part of one that is shown, and nothing that this one does not show. Where the end does not wait, the run is cut off
//!   ([`End::CutOff`]): what the threads would have done is not known.
//! - What a thread does depends on nothing but what its operations read.
//! - A failed spin iteration is marked when it is over, and its thread makes no step behind it.
//! - Where the order of `seq_cst` fences is part of an execution, as under RC20 and RA, they are [`Kind::Sync`] of an object
//!   of their own. Under C++20 they are [`Kind::Fence`]: the monitor sees all there is to see in one run of each execution.
//!
//! # Source
//!
//! M. Kokologiannakis, I. Marmanis, V. Gladstein, V. Vafeiadis: *Truly stateless, optimal dynamic partial order reduction*,
//! POPL 2022 (TruSt), for SC. The graphs that wait to be run do not depend on each other: they can be run in any order and at
//! the same time, and kept in a file.
//!
//! | paper | here |
//! |---|---|
//! | `G` | `graph.rs`, with the order `<_G` in which events were added as `Event::added` |
//! | *Visit*: a read's `rf`, *VisitCOs*: a write's place in `mo` | `alternatives.rs`, in the order of `branches.rs` |
//! | backward revisit, *IsMaximallyAdded* | `alternatives.rs`, with the clocks of `index.rs` |
//! | `next_P(G)` | the run itself: whatever the scheduler does after the plan reads the last write and writes at the end of `mo`, which is the maximal choice, and every order of adding events is as good as another |
//! | consistency | `order.rs`: `po ∪ rf ∪ mo ∪ fr` has no cycle; the order found is the plan |
//!
//! # Deviations
//!
//! 1. One run adds events up to the end of the program. The alternatives of its new events are looked at one by one, those of the
//!    last event first, and checked for consistency before they are run; so every graph that is run leads to an execution.
//! 2. A read-modify-write is one step. Its read part can be older than its write part: that of a read that was revisited is
//!    added by the run that follows. When two of them read the same write, the graph cannot be run, but the revisits by the
//!    later one are.
//! 3. Operations that wait (locks, waits, semaphores) are reads that may not let their thread pass. A thread that waits for
//!    the rest of a run makes no step in it, also when it could: another run shows it pass. If it could have passed at the end
//!    of the run, the run is no execution but [`Outcome::Excess`]. That is the price of not knowing, when a lock is given to
//!    another thread first, what that thread will do.
//! 4. Whether an operation passes is computed from values where that is possible, and tried where it is not; a trial that
//!    fails is [`Outcome::Excess`].
//! 5. Spin loops go round once: see below.
//! 6. Accesses that overlap are one object, whatever their sizes. The executions of different orders of accesses that only
//!    touch a common neighbour are told apart.
//!
//! # Spin loops
//!
//! An *iteration* is what a thread does between two moments at which it is in the same state; it is a *failed spin iteration* if
//! the thread has only read meanwhile, or written what was there. A scheduler that recognises one ([`crate::Step::vain`]) lets its
//! thread make no further step in the run ([`Strategy::goes_round`](crate::Strategy::goes_round)), as GenMC does
//! (M. Kokologiannakis, X. Ren, V. Vafeiadis: *Dynamic partial order reductions for spinloops*, FMCAD 2021). So what a thread does
//! depends on nothing but what it reads, graphs are finite, and no plan has to know how often a loop went round.
//! If one of the words is written behind such an iteration, the run is [`Outcome::Excess`]; if not, the thread waits for ever.
//!
//! *No execution is lost.* Leave the failed spin iterations out of a run: nobody notices, the thread is in the same state without
//! them, whoever has read what they wrote reads the same value from the write before. So for every run that ends there is one
//! without failed spin iterations, which has the same values, and that is shown. A thread that waits for ever reads the last writes
//! in its last iteration, which is shown, too. Executions are counted without their failed spin iterations.
//!
//! *Robustness.* The same holds for the graphs of a weak model: without failed spin iterations they stay consistent, as `hb` only gets
//! smaller. So let G be such a graph that is not SC, P the largest SC part of it before some event e of a thread t, in an order of
//! adding G's events. Let the others go on from P, with failed spin iterations only where they wait for ever, and t last. That is an SC
//! graph that is shown, and t comes to e: it has seen nothing more than in P, and what the others have done since reads the last writes, so
//! e could still do what it does in G, which the monitor says. What is not said: behaviours that only failed spin iterations can tell from SC
//! ones, such as a stale value that a failed spin iteration read. No value that the program computes depends on them.
//!
//! *What a finding in such a run means.* P may have the first reads of an iteration that G ends otherwise, while it fails in the run. If the
//! iteration is t's own, e is what ends it, and the finding is one. If it is another thread's, what its failed iteration has read may be
//! all that makes e weak. If the iteration is a single read, no P has it, and the finding is none: the run without it shows what is
//! weak in it. Otherwise that thread might end its iteration by a write that only the weak access leads to, which no run shows; so who judges the
//! run cannot tell.
//!
//! *What need not be explored.* A read that was made to read another than the last write, and with which a failed spin iteration ends,
//! cannot be revisited, nor anything before it, as it is not maximal. So the thread never passes: the run is in excess, and so is all
//! that would follow from it. If it is known before, from another run in which the thread has read the same value in the same state ([`crate::Local`]), and the
//! iteration is that read alone, it is not run. A read-modify-write that is a failed spin iteration of its own counts as a read. One that is
//! a part of an iteration counts as a write, as another run may pass with it.
//!
//! # Rounds that come to nothing
//!
//! A compare-and-swap that fails and is tried again, or a load that is repeated, is no failed spin iteration if the thread is in another state afterwards. But it
//! may be in the state in which it would be if its first read had read what the last one did. Then the thread makes no further step in the run,
//! which is in excess: the execution without the round shows the same (`rounds.rs`). That takes states of threads, which the scheduler tells; where it does
//! not, every round counts. So does every round in parts of an exploration ([`Explorer::count_rounds`]).
//!
//! A round whose last read was made to read another than the last write cannot be undone by what follows, as with spin loops: it is not run. What runs have shown of rounds
//! and spin iterations is told to those that follow ([`Plan::ends`], [`Plan::rests`]): threads stop in the run itself, or let others go on first (docs/theory/sc-runs.md, S14; `ends.rs`).
//!
//! # Meetings
//!
//! Who comes to a barrier first makes no difference to anyone behind it: arrivals are no accesses, and whoever leaves does so behind all arrivals of
//! its round. Where more threads come than the barrier is for, it does make one: then the exploration begins anew, and
//! arrivals are read-modify-writes of the barrier (`meetings.rs`).
//!
//! # Loops that do something
//!
//! A loop that changes something in every round, and ends when another thread wants it to, has executions without end. With a bound
//! on the steps of threads ([`Bounds::steps`]) a thread that has made so many makes no further one, as with the bounds on loops of other
//! model checkers; the others go on. What is shown then are all executions of the program whose threads end there, and a run in
//! which a thread was kept from its next step is [`Outcome::Cut`].
//!
//! # Cost
//!
//! For a run of n steps by T threads: O(n T) when it is made, O(n log n) for each alternative that is consistent. Alternatives that are not are
//! mostly left out at once: clocks tell which writes sequential consistency leaves to a read, and to a write as its place. What is
//! left takes O(n) each, and [`Explorer::next_unless`] can be told to stop between two of them. Memory: a graph for each run of which
//! something is left to try; these are taken last in first out.

mod alternatives;
mod branches;
mod ends;
mod graph;
mod index;
mod item;
mod learnt;
mod meetings;
mod order;
mod part;
mod plan;
mod replay;
mod rounds;
mod run;
mod save;
#[cfg(test)]
mod tests;
pub(crate) mod text;

pub use plan::{Guided, Plan, PlanStep, Stop, Unready};
pub use run::{Pending, Trace};
pub use text::LoadError;

use crate::objects::Objects;
use crate::strategy::Divergence;
use crate::{End, Kind, Step};
use branches::{Branches, Tried};
use graph::{Graph, NONE};
use index::Index;
use item::Item;
use learnt::Learnt;
use meetings::Meetings;
use std::collections::{BTreeMap, BTreeSet};

/// Bounds of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Number of threads that no step creates; they have the lowest numbers.
    pub roots: u32,
    /// Most runs.
    pub runs: Option<u64>,
    /// Most steps of one thread in a run, without those that others do not notice ([`crate::Op::is_local`]): a thread that has made
    /// them makes no further step, and others go on. Such a run is [`Outcome::Cut`].
    pub steps: Option<u32>,
    /// Most preemptions of a plan: switches from a thread that could go on. Plans are made to have few, but not always the fewest
    /// that are possible.
    pub preemptions: Option<usize>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            roots: 1,
            runs: None,
            steps: None,
            preemptions: None,
        }
    }
}

/// A run that has to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its number.
    pub id: u64,
    /// What it has to do first; [`Guided`] is the strategy for it.
    pub plan: Plan,
}

/// What a run turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// An execution that no other run shows.
    Execution {
        /// Whether some thread waits for ever in it.
        blocked: bool,
    },
    /// No execution: a thread was kept waiting, or tried what was not possible.
    Excess,
    /// The beginning of an execution: the bound on steps was reached.
    Cut,
    /// The beginning of an execution: the program failed.
    Failed,
    /// The program did not do what it did before.
    Diverged(Divergence),
}

/// How many runs turned out to be what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Executions, those with threads that wait for ever included.
    pub executions: u64,
    /// Of these, those with a thread that waits for ever.
    pub blocked: u64,
    /// Runs that are no executions.
    pub excess: u64,
    /// Runs cut off by the bound on steps.
    pub cut: u64,
    /// Runs in which the program failed.
    pub failed: u64,
    /// Runs in which the program did not do what it did before.
    pub diverged: u64,
    /// Plans left out because of the bound on preemptions.
    pub preempted: u64,
    /// Runs in which a lock was taken that another thread had not given back by a step: what else could happen is not known.
    pub irregular: u64,
    /// Runs in which threads waited for a limited time: only that the time is over when nobody else can go on is explored.
    pub limited: u64,
    /// Runs with accesses of several sizes that overlap: all orders are explored, but the sanitizer does not judge them.
    pub mixed: u64,
    /// Weak executions: plans left out because it takes too long to say whether they are possible, and runs that are none of the model.
    pub undecided: u64,
}

impl Counts {
    /// Counts a run.
    pub(crate) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Execution { blocked } => {
                self.executions += 1;
                self.blocked += u64::from(blocked);
            }
            Outcome::Excess => self.excess += 1,
            Outcome::Cut => self.cut += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Diverged(_) => self.diverged += 1,
        }
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.executions + self.excess + self.cut + self.failed + self.diverged
    }
}

/// How far an exploration is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// What the runs were.
    pub counts: Counts,
    /// Plans that wait, or are being run.
    pub waiting: usize,
    /// The explored share of the whole, from 0 to 1, if all that is not known is like what is (Knuth 1975). It never falls.
    pub share: f64,
}

impl Progress {
    /// Whether every execution was shown, and can be judged. Bounds that were reached, failures and divergences make it false.
    pub fn is_complete(&self) -> bool {
        let Counts {
            cut,
            failed,
            diverged,
            preempted,
            irregular,
            limited,
            mixed,
            undecided,
            ..
        } = self.counts;
        let left_out = preempted + irregular + limited + mixed + undecided;
        self.waiting == 0 && cut + failed + diverged + left_out == 0
    }

    /// The number of executions there may be altogether, if enough is known to say so: many executions, which are at least half of
    /// the whole if all that is not known is like what is. So it is never more than twice the number that there is, but it may be too
    /// small. If more plans wait than it leaves executions to show, nothing is said. What is cut off, failed or left out is not in it.
    pub fn estimate(&self) -> Option<u64> {
        let shown = self.counts.executions;
        if self.waiting == 0 {
            return Some(shown);
        }
        let whole = (shown as f64 / self.share) as u64;
        let known = shown >= MANY && self.share >= GOOD_PART;
        let fits = whole.saturating_sub(shown) >= self.waiting as u64;
        (known && fits).then_some(whole)
    }
}

/// The executions from which the whole can be estimated, and their least share of it.
const MANY: u64 = 100;
const GOOD_PART: f64 = 0.5;

/// The exploration of all executions of a program.
///
/// ```
/// use rsan_schedule::End;
/// use rsan_schedule::explore::{Explorer, Trace};
/// # use rsan_schedule::explore::Guided;
/// # use rsan_schedule::{Candidate, Kind, Op, Step, Strategy};
/// # use rsan_model::ThreadId;
/// # /// Two threads that add to the same counter once.
/// # fn run(mut strategy: Guided) -> Trace {
/// #     let mut steps: Vec<Step> = Vec::new();
/// #     let op = Op::new(Kind::Update, 64, 4);
/// #     loop {
/// #         let done = |t| steps.iter().any(|s: &Step| s.thread == t);
/// #         let threads = [0, 1].map(ThreadId);
/// #         let ready = threads.iter().filter(|t| !done(**t));
/// #         let ready: Vec<_> = ready.map(|&thread| Candidate { thread, op }).collect();
/// #         if ready.is_empty() {
/// #             return Trace { steps, pending: Vec::new(), end: End::Ended, overwrites: false };
/// #         }
/// #         let chosen = strategy.choose(&ready, steps.last().map(|s| s.thread));
/// #         let thread = ready[chosen.expect("nothing waits")].thread;
/// #         let read = steps.len() as u64;
/// #         steps.push(Step { read, wrote: read + 1, ..Step::new(thread, op) });
/// #     }
/// # }
/// # let bounds = rsan_schedule::explore::Bounds { roots: 2, ..Default::default() };
/// let mut explorer = Explorer::new(bounds);
/// while let Some(job) = explorer.next() {
///     let trace = run(Guided::new(job.plan)); // two threads that add to one counter
///     explorer.done(job.id, &trace);
/// }
/// assert!(explorer.progress().is_complete());
/// assert_eq!(explorer.progress().counts.executions, 2);
/// ```
#[derive(Clone, Debug)]
pub struct Explorer {
    bounds: Bounds,
    waiting: Vec<Waiting>,
    running: BTreeMap<u64, Item>,
    /// Jobs that are being made, and of which nothing is wanted any more.
    obsolete: BTreeSet<u64>,
    started: u64,
    counts: Counts,
    share: f64,
    learnt: Learnt,
    meetings: Meetings,
}

/// What waits to be done.
#[derive(Clone, PartialEq, Debug)]
enum Waiting {
    Plan(Item),
    Branches(Box<Branches>),
}

impl Waiting {
    /// The events of its graph.
    fn events(&self) -> &[graph::Event] {
        match self {
            Self::Plan(item) => &item.events,
            Self::Branches(branches) => &branches.graph.events,
        }
    }

    /// About how many plans it is.
    fn plans(&self) -> usize {
        match self {
            Self::Plan(_) => 1,
            Self::Branches(branches) => branches.left(),
        }
    }
}

impl Explorer {
    /// An exploration that has not begun.
    pub fn new(bounds: Bounds) -> Self {
        let whole = Item::whole();
        Self {
            bounds,
            waiting: vec![Waiting::Plan(whole)],
            running: BTreeMap::new(),
            obsolete: BTreeSet::new(),
            started: 0,
            counts: Counts::default(),
            share: 0.0,
            learnt: Learnt::default(),
            meetings: Meetings::Commute,
        }
    }

    /// The next run, if there is one now: more may come when those that are being made are done.
    #[expect(
        clippy::should_implement_trait,
        reason = "more can come after a `None`"
    )]
    pub fn next(&mut self) -> Option<Job> {
        self.next_unless(|| false)
    }

    /// The next run, as [`Explorer::next`] has it, unless `stop` says that there is no time to look for it: it is asked between
    /// steps that take a time that is linear in the length of runs.
    pub fn next_unless(&mut self, stop: impl Fn() -> bool) -> Option<Job> {
        let mut item = match self.plan(stop) {
            Some(item) => item,
            None if self.waiting.is_empty() => self.release()?,
            None => return None,
        };
        let made = self.counts.runs() + self.running.len() as u64;
        if self.bounds.runs.is_some_and(|most| made >= most) {
            self.waiting.push(Waiting::Plan(item));
            return None;
        }
        let id = self.started;
        self.started += 1;
        let mut plan = item.plan(self.bounds.steps);
        if !item.without_ends {
            plan.ends = self.learnt.ends().to_vec();
        }
        plan.rests = self.learnt.rests().to_vec();
        (item.given, item.rested) = (plan.ends.len(), plan.rests.len());
        self.running.insert(id, item);
        Some(Job { id, plan })
    }

    /// Takes the next plan.
    fn plan(&mut self, stop: impl Fn() -> bool) -> Option<Item> {
        loop {
            let mut branches = match self.waiting.pop()? {
                Waiting::Plan(item) => return Some(item),
                Waiting::Branches(branches) => branches,
            };
            if stop() {
                self.waiting.push(Waiting::Branches(branches));
                return None;
            }
            let moves = self.learnt.moves();
            let Some(tried) = branches.next(self.bounds.roots, moves) else {
                continue;
            };
            if !branches.is_done() {
                self.waiting.push(Waiting::Branches(branches));
            }
            match tried {
                Tried::More => {}
                Tried::Nothing(weight) => self.share += weight,
                Tried::Spins(weight) => {
                    self.use_moves();
                    self.share += weight;
                }
                Tried::Plan(item, _) if self.is_preempted(&item) => {
                    self.counts.preempted += 1;
                    self.share += item.weight;
                }
                Tried::Plan(item, stops) => {
                    if stops {
                        self.use_moves();
                    }
                    return Some(item);
                }
            }
        }
    }

    fn is_preempted(&self, item: &Item) -> bool {
        let most = self.bounds.preemptions;
        most.is_some_and(|most| item.plan(None).preemptions() > most)
    }

    /// Gives a job back that could not be made, for reasons that have nothing to do with the program.
    ///
    /// # Panics
    /// When the job is not being made.
    pub fn give_back(&mut self, id: u64) {
        if self.obsolete.remove(&id) {
            return;
        }
        let item = self.running.remove(&id).expect("the job is being made");
        self.waiting.push(Waiting::Plan(item));
    }

    /// The run of a job was made, and did this.
    ///
    /// # Panics
    /// When the job is not being made.
    pub fn done(&mut self, id: u64, trace: &Trace) -> Outcome {
        if self.obsolete.remove(&id) {
            return Outcome::Excess;
        }
        let item = self.running.remove(&id).expect("the job is being made");
        let outcome = match self.explore(&item, trace) {
            Ok(outcome) => outcome,
            Err(outcome) => {
                self.share += item.weight;
                outcome
            }
        };
        self.counts.add(outcome);
        outcome
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            counts: self.counts,
            waiting: self.waiting.iter().map(Waiting::plans).sum::<usize>()
                + self.learnt.held()
                + self.running.len(),
            share: self.share.min(1.0),
        }
    }

    /// Keeps the alternatives of all that is new in the trace; an error when nothing of it can be used.
    fn explore(&mut self, item: &Item, trace: &Trace) -> Result<Outcome, Outcome> {
        let objects = trace.objects();
        let stops = self.learnt.stops(item, trace);
        let mut exhausted = trace.exhausted(self.bounds.steps);
        exhausted.retain(|&thread| !stops.has(thread));
        let replayed = item.replay(&objects, trace, &exhausted, self.meetings);
        if !matches!(replayed, Err(Outcome::Diverged(_))) {
            self.learn_moves(trace);
        }
        let replayed = replayed?;
        if self.meetings.are_crowded(&replayed.graph, &trace.steps) {
            self.order_arrivals();
            self.begin_anew();
            return Ok(Outcome::Excess);
        }
        let index = Index::new(&replayed.graph);
        if self.settle(item, &stops.here, trace, (&replayed, &index)) {
            return Ok(Outcome::Excess);
        }
        self.counts.irregular += u64::from(has_hidden_unlock(&replayed.graph));
        self.counts.limited += u64::from(trace.steps.iter().any(|s| s.limited));
        let tired =
            |e: u32| replayed.graph.events[e as usize].may_fail && replayed.graph.is_tired(e);
        self.counts.undecided += u64::from(replayed.new.clone().any(tired));
        self.counts.mixed += u64::from(replayed.graph.uniform.contains(&false));
        let outcome = match trace.end {
            End::CutOff => Outcome::Cut,
            end if !end.is_complete() => Outcome::Failed,
            _ if !exhausted.is_empty() => Outcome::Cut,
            _ if !stops.is_empty() => Outcome::Excess,
            _ => outcome(&replayed.graph, &objects, trace),
        };
        let (branches, weight) = Branches::of(replayed, index, item.weight, stops.here);
        if !branches.is_done() {
            self.waiting.push(Waiting::Branches(Box::new(branches)));
        }
        self.share += weight;
        Ok(outcome)
    }
}

/// Whether a thread takes a lock that another has taken and not given back.
fn has_hidden_unlock(graph: &Graph) -> bool {
    let events = &graph.events;
    let taken = |e: &graph::Event| e.kind == Kind::Lock && e.writes;
    let from = |e: &graph::Event| events.get(e.rf as usize).filter(|w| taken(w));
    let mut locks = events.iter().filter(|e| taken(e));
    locks.any(|e| from(e).is_some_and(|w| w.thread != e.thread))
}

/// Whether a run that came to its end is an execution: all that waits has seen the last write, and what spins has seen
/// all there was to see.
fn outcome(graph: &Graph, objects: &Objects, trace: &Trace) -> Outcome {
    let last = |object: u32| graph.last_write(object, NONE);
    let late = |e: &graph::Event| e.waits && e.rf != last(e.object);
    // Whoever failed for no reason need not have.
    let for_no_reason = trace.steps.iter().any(|s| s.vain && s.spurious);
    if for_no_reason || graph.events.iter().any(late) || has_starved(objects, &trace.steps) {
        return Outcome::Excess;
    }
    let waits = graph.events.iter().any(|e| e.waits);
    let blocked = waits || !trace.pending.is_empty();
    Outcome::Execution { blocked }
}

/// Whether a word was written after a failed spin iteration has read it, be it with the same value: another run has the round behind the write.
fn has_starved(objects: &Objects, steps: &[Step]) -> bool {
    let mut read = BTreeSet::new();
    steps.iter().any(|step| {
        let object = objects.number(&step.op);
        if step.vain {
            read.extend(object);
        }
        step.writes && !step.vain && object.is_some_and(|object| read.contains(&object))
    })
}
