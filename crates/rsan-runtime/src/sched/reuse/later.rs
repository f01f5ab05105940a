//! A later snapshot: where the first choice of a run is.
//!
//! Up to the first point at which more than one thread could go on, a run does the same whatever its schedule: a program sets itself up, a harness of
//! tests reads its arguments and starts the thread of a test. So the keeper's first run moves the snapshot there, and the
//! others begin at it (docs/theory/sc-runs.md, S13). What there is to put back after a run is less then, too.
//!
//! The strategy is another one in each run. It is told what the first one was told, and has to answer in the same way; until then it had no choice. If it does not, or
//! the run is to be made in another way ([`Start::fits`]), the keeper gives up, and the run is made from its beginning.
//!
//! The snapshot stays where it is if somebody could tell: if the run has printed (where that is seen), written to files, or logged something, or has
//! changed its memory in an unusual way.

use super::keeper::{self, keeper};
use crate::journal;
use crate::sched::run::Weak;
use crate::sched::state::State;
use crate::sched::{Plan, server};
use rsan_model::ThreadId;
use rsan_schedule::strategy::{Arrival, Divergence, Readable, Reading};
use rsan_schedule::{Candidate, Step, Strategy};

/// What a strategy is told before there is a choice.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// The one thread that can go on, and the last one that did.
    Ready(Candidate, Option<ThreadId>),
    Yielded(ThreadId),
    Stepped(Step),
    Arrived(Arrival),
}

/// So much is noted at most.
const NOTES: usize = 1 << 16;

/// A strategy, and what it was told, if somebody wants to tell others.
#[derive(Debug)]
pub(in crate::sched) struct Asked {
    strategy: Box<dyn Strategy>,
    told: Option<Notes>,
}

#[derive(Debug)]
struct Notes {
    told: Vec<Told>,
    /// Lines of the log when they begin.
    lines: usize,
}

impl Asked {
    /// The strategy of a run that begins.
    pub(in crate::sched) fn first(strategy: Box<dyn Strategy>) -> Self {
        let wanted = keeper().is_some_and(|keeper| keeper.wants_to_advance());
        let notes = || Notes {
            told: Vec::new(),
            lines: journal::lines(),
        };
        Self {
            strategy,
            told: wanted.then(notes),
        }
    }

    /// Whether it is noted what it is told.
    pub(in crate::sched) fn is_noted(&self) -> bool {
        self.told.is_some()
    }

    fn note(&mut self, told: Told) {
        if let Some(notes) = &mut self.told {
            notes.told.push(told);
            if notes.told.len() == NOTES {
                self.told = None;
            }
        }
    }

    pub(in crate::sched) fn choose(
        &mut self,
        ready: &[Candidate],
        last: Option<ThreadId>,
    ) -> Option<usize> {
        if let [only] = ready {
            self.note(Told::Ready(*only, last));
        }
        self.strategy.choose(ready, last)
    }

    pub(in crate::sched) fn yielded(&mut self, thread: ThreadId) {
        self.note(Told::Yielded(thread));
        self.strategy.yielded(thread);
    }

    pub(in crate::sched) fn stepped(&mut self, step: &Step) {
        self.note(Told::Stepped(*step));
        self.strategy.stepped(step);
    }

    pub(in crate::sched) fn arrived(&mut self, arrival: Arrival) {
        self.note(Told::Arrived(arrival));
        self.strategy.arrived(arrival);
    }

    pub(in crate::sched) fn looks_at(&self, state: u64) -> bool {
        self.strategy.looks_at(state)
    }

    /// Not noted: with one thread that can go on, it makes no difference who would better wait.
    pub(in crate::sched) fn would_read(&mut self, reads: &[(ThreadId, u64, u64)]) {
        self.strategy.would_read(reads);
    }

    /// What a thread reads is a choice.
    pub(in crate::sched) fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        self.told = None;
        self.strategy.read(reading, writes)
    }

    /// And so is a failure for no reason.
    pub(in crate::sched) fn fails(&mut self, reading: &Reading) -> bool {
        self.told = None;
        self.strategy.fails(reading)
    }

    pub(in crate::sched) fn goes_round(&self) -> bool {
        self.strategy.goes_round()
    }

    pub(in crate::sched) fn ends_last(&self) -> bool {
        self.strategy.ends_last()
    }

    pub(in crate::sched) fn divergence(&self) -> Option<Divergence> {
        self.strategy.divergence()
    }

    /// Tells it what another one was told. False if it does something else than go on with the only thread that can.
    fn tell(&mut self, told: &[Told]) -> bool {
        let strategy = &mut self.strategy;
        for told in told {
            match told {
                Told::Ready(only, last) => {
                    if strategy.choose(std::slice::from_ref(only), *last) != Some(0) {
                        return false;
                    }
                }
                Told::Yielded(thread) => strategy.yielded(*thread),
                Told::Stepped(step) => strategy.stepped(step),
                Told::Arrived(arrival) => strategy.arrived(*arrival),
            }
        }
        strategy.divergence().is_none()
    }
}

/// What runs from the later snapshot have in common.
struct Start {
    told: Vec<Told>,
    /// Their first steps, as the trace has them.
    records: Vec<u8>,
    steps: u64,
    steady: bool,
    weak: Option<Weak>,
    /// What the strategy says to loops that wait, and to the end of the program.
    says: [bool; 2],
}

/// More than one thread can go on for the first time. If it is possible, all runs to come begin here; this returns for each of them.
#[cold]
pub(in crate::sched) fn come_to_choice(state: &mut State) {
    let Some(notes) = state.strategy.told.take() else {
        return;
    };
    let Some(keeper) = keeper() else { return };
    let is_settled = state.cheap && state.idle.is_empty() && state.longest_turn > 0;
    if !is_settled || journal::lines() != notes.lines || !keeper.can_advance() {
        return;
    }
    let Some(records) = state.trace.records() else {
        return;
    };
    let start = Start {
        told: notes.told,
        records,
        steps: state.trace.steps(),
        steady: state.steady,
        weak: state.how,
        says: [state.strategy.goes_round(), state.strategy.ends_last()],
    };
    keeper::stand_here(keeper);
    start.begin(state);
}

impl Start {
    /// Whether a run would do the same until here.
    fn fits(&self, plan: &Plan) -> bool {
        plan.steady_heap == self.steady
            && plan.weak == self.weak
            && !plan.kernel_threads
            && self.steps <= plan.limit
            && plan.longest_turn() > 0
    }

    /// The run that was asked for last has come here.
    #[inline(never)]
    fn begin(&self, state: &mut State) {
        let shared = keeper().and_then(|keeper| keeper.shared);
        let Some(shared) = shared else { return };
        let plan = server::asked(&shared.line());
        let Some(plan) = plan.ok().filter(|plan| self.fits(plan)) else {
            return super::resign();
        };
        shared.limit(plan.timeout);
        (state.limit, state.longest_turn) = (plan.limit, plan.longest_turn());
        state.strategy = Asked {
            strategy: plan.strategy,
            told: None,
        };
        let says = [state.strategy.goes_round(), state.strategy.ends_last()];
        if says != self.says || !state.strategy.tell(&self.told) {
            return super::resign();
        }
        state.trace.go_back(&self.records);
    }
}
