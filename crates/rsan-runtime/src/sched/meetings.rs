//! Barriers, when threads are scheduled.
//!
//! A thread arrives, which is a step that waits for nobody, and leaves by a step for each other thread of its round, when all have arrived. So the
//! order of the arrivals is none of the program's, and an exploration need not try it (docs/theory/sc-runs.md, S11). Which of them is
//! told that it is the one of its round is a choice of its own: whoever asks first, and nobody asks whose program does not look at the
//! answer.
//!
//! Weak runs take a barrier as an object whose operations are ordered ([`super::waits::barrier`]).

use super::state::{For, Status};
use super::{done, op, point, scheduled, wait_as, wake, weak};
use crate::lock::Lock;
use rsan_model::ThreadId;
use rsan_schedule::Kind;
use std::collections::BTreeMap;

/// Somebody came to a meeting: the thread, and its arrivals before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Arrival {
    pub(super) thread: ThreadId,
    pub(super) number: u64,
}

impl Arrival {
    /// Nobody's.
    pub(super) const NONE: Self = Self {
        thread: ThreadId(0),
        number: u64::MAX,
    };
}

/// A barrier.
#[derive(Debug, Default)]
struct Barrier {
    /// Who has come to each of its rounds.
    rounds: Vec<Vec<Arrival>>,
    /// The rounds of which somebody was told that it is the one.
    chosen: Vec<usize>,
}

/// By address.
static BARRIERS: Lock<BTreeMap<usize, Barrier>> = Lock::new(BTreeMap::new());

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    BARRIERS.raw()
}

/// Whether barriers are meetings: threads are scheduled, and memory is sequentially consistent.
pub(crate) fn are_active() -> bool {
    super::active() && !weak::is_active()
}

/// The calling thread makes a step by which it arrives.
pub(super) fn arrival(object: usize, threads: usize) -> Option<Arrival> {
    point(Kind::Arrive, object, 0);
    let number = {
        let (inside, mut guard) = scheduled()?;
        let thread = guard.as_mut()?.thread(inside.number())?;
        thread.arrivals += 1;
        Arrival {
            thread: thread.step.1.thread,
            number: thread.arrivals - 1,
        }
    };
    done(|step| step.expected = threads as u64);
    Some(number)
}

/// The calling thread has made a step by which it leaves behind this arrival.
pub(super) fn behind(arrival: Arrival) {
    done(|step| {
        step.child = arrival.thread;
        step.op.object = u64::from(arrival.thread.0);
        step.expected = arrival.number;
    });
}

/// A round of a barrier, to a thread that has come to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    barrier: usize,
    number: usize,
    arrival: Arrival,
    is_over: bool,
}

/// The calling thread comes to a barrier for so many threads.
pub(crate) fn arrive(barrier: usize, threads: usize) -> Option<Round> {
    let arrival = arrival(barrier, threads)?;
    let mut all = BARRIERS.lock();
    let rounds = &mut all.entry(barrier).or_default().rounds;
    if rounds.last().is_none_or(|last| last.len() >= threads) {
        rounds.push(Vec::new());
    }
    let number = rounds.len() - 1;
    rounds[number].push(arrival);
    let is_over = rounds[number].len() >= threads;
    drop(all);
    if is_over {
        wake(For::Object(barrier));
    }
    Some(Round {
        barrier,
        number,
        arrival,
        is_over,
    })
}

/// It leaves, when all have come. Whether it is the one of them, if it asks.
pub(crate) fn leave(round: &Round, asks: bool) -> bool {
    let status = match round.is_over {
        true => Status::Ready,
        false => Status::Blocked(For::Object(round.barrier)),
    };
    let mut others = others(round);
    if !round.is_over || !others.is_empty() {
        wait_as(op(Kind::Leave, round.barrier, 0), status);
        // Those who came later were not known before.
        others = self::others(round);
    }
    for (place, &other) in others.iter().enumerate() {
        if place > 0 {
            wait_as(op(Kind::Leave, round.barrier, 0), Status::Ready);
        }
        behind(other);
    }
    asks && is_chosen(round)
}

/// The other arrivals of the round, by thread.
fn others(round: &Round) -> Vec<Arrival> {
    let all = BARRIERS.lock();
    let rounds = all.get(&round.barrier).map(|barrier| &barrier.rounds);
    let own = rounds.and_then(|rounds| rounds.get(round.number));
    let others = own.into_iter().flatten();
    let mut others: Vec<Arrival> = others.filter(|&&a| a != round.arrival).copied().collect();
    others.sort_unstable();
    others
}

/// Who was told that it is the one of its round is an object of its own, for each round: no address of memory.
fn choice(round: &Round) -> usize {
    const CHOICES: usize = 1 << 62;
    const ROUNDS: usize = 1 << 12;
    CHOICES | ((round.barrier * ROUNDS + round.number % ROUNDS) % CHOICES)
}

/// The first that asks is it.
fn is_chosen(round: &Round) -> bool {
    point(Kind::Compare, choice(round), 1);
    let mut all = BARRIERS.lock();
    let chosen = &mut all.entry(round.barrier).or_default().chosen;
    let is = !chosen.contains(&round.number);
    if is {
        chosen.push(round.number);
    }
    drop(all);
    done(|step| {
        (step.read, step.expected) = (u64::from(!is), 0);
        (step.writes, step.wrote) = (is, u64::from(is));
    });
    is
}
