//! What happens before reads of initial values: C++20's happens-before, with whatever synchronises in the order of execution.

use super::{Read, joined, reads, writes};
use crate::{Kind, Step};
use rsan_model::RmwOrd;
use std::collections::BTreeMap;

/// For each thread, the number of the run's step up to which its steps happen before.
type Clock = BTreeMap<u32, usize>;

fn join(into: &mut Clock, other: &Clock) {
    for (thread, step) in other {
        let known = into.entry(*thread).or_default();
        *known = (*known).max(*step);
    }
}

/// What happens before some steps.
pub(super) struct Clocks(BTreeMap<usize, Clock>);

impl Clocks {
    /// Whether a step with this number happens before another one, which is one of those that are known.
    pub(super) fn has(&self, later: usize, step: &Step, number: usize) -> bool {
        let clock = self.0.get(&later);
        clock.is_some_and(|clock| {
            clock
                .get(&step.thread.0)
                .is_some_and(|last| *last >= number)
        })
    }
}

/// What a thread knows.
#[derive(Default)]
struct Thread {
    hb: Clock,
    /// At its last release fence.
    released: Clock,
    /// What it has read without acquiring.
    pending: Clock,
}

/// What happens before the reads of initial values.
pub(super) fn clocks(steps: &[Step], all: &[Read]) -> Clocks {
    let from: BTreeMap<usize, Option<usize>> = all.iter().map(|r| (r.step, r.from)).collect();
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    let mut messages: BTreeMap<usize, Clock> = BTreeMap::new();
    let mut objects: BTreeMap<u64, Clock> = BTreeMap::new();
    let mut wanted = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        let ended = match step.op.kind {
            Kind::Join => threads.get(&joined(step)).map(|other| other.hb.clone()),
            _ => None,
        };
        let thread = threads.entry(step.thread.0).or_default();
        ended.iter().for_each(|ended| join(&mut thread.hb, ended));
        let (acquires, releases) = halves(step);
        let read = from.get(&number).copied().filter(|_| reads(step));
        let message = read.flatten().and_then(|write| messages.get(&write));
        if let Some(message) = message {
            let to = if acquires {
                &mut thread.hb
            } else {
                &mut thread.pending
            };
            join(to, message);
        }
        if read == Some(None) {
            wanted.insert(number, thread.hb.clone());
        }
        thread.hb.insert(step.thread.0, number);
        match step.op.kind {
            Kind::Fence => {
                if acquires {
                    join(&mut thread.hb, &thread.pending);
                }
                if releases {
                    thread.released = thread.hb.clone();
                }
            }
            Kind::Lock | Kind::Unlock | Kind::Sync => {
                let object = objects.entry(step.op.object).or_default();
                join(&mut thread.hb, object);
                join(object, &thread.hb);
            }
            _ => {}
        }
        if writes(step) {
            let mut sent = match releases {
                true => thread.hb.clone(),
                false => thread.released.clone(),
            };
            // An update goes on with the release sequence of what it reads.
            message.iter().for_each(|message| join(&mut sent, message));
            messages.insert(number, sent);
        }
        if step.op.kind == Kind::Spawn {
            let hb = thread.hb.clone();
            join(&mut threads.entry(step.child.0).or_default().hb, &hb);
        }
    }
    Clocks(wanted)
}

/// Whether a step acquires, and whether it releases; both, if its order is not known.
fn halves(step: &Step) -> (bool, bool) {
    let order = step.order.unwrap_or(RmwOrd::SeqCst);
    let acquires = match step.failure {
        Some(failure) if !step.writes => failure.acquires(),
        _ => order.acquires(),
    };
    (acquires, order.releases())
}
