//! What a worker of the search does: states in, successors out.

use crate::codec::{Codec, Overflow};
use crate::commute::{Commutation, ThreadSet};
use crate::machine::{Machine, Mobility, Scratch};
use crate::search::Problem;
use crate::state::State;
use crate::store::{Changed, hash_words};
use rsan_model::ThreadId;

/// States to expand.
#[derive(Debug, Default)]
pub(crate) struct Job {
    /// The threads that sleep in each.
    pub(crate) asleep: Vec<ThreadSet>,
    /// The packed states, one after the other.
    pub(crate) words: Vec<u64>,
}

/// What a batch of states leads to.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) successors: Vec<Successor>,
    /// The words and hashes of the parts that changed, one after the other.
    pub(crate) words: Vec<u64>,
    pub(crate) hashes: Vec<u64>,
    /// Ends the search, at this state of the batch.
    pub(crate) stop: Option<(u32, Stop)>,
}

/// A successor of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    /// Which state of the batch it comes from.
    pub(crate) parent: u32,
    /// The parts that differ from it.
    pub(crate) changed: Changed,
    /// The threads that may sleep there.
    pub(crate) asleep: ThreadSet,
}

/// Why a batch was not finished.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Problem),
    Widen(Overflow),
}

/// Expands states on behalf of one worker.
#[derive(Debug)]
pub(crate) struct Expander<'m, 'a, const W: usize> {
    machine: &'m Machine<'a, W>,
    codec: &'m Codec,
    commutation: &'m Commutation,
    deadlock: bool,
    state: State<W>,
    scratch: Scratch<W>,
}

impl<'m, 'a, const W: usize> Expander<'m, 'a, W> {
    /// A worker; `state` is any state of the program.
    pub(crate) fn new(
        machine: &'m Machine<'a, W>,
        codec: &'m Codec,
        commutation: &'m Commutation,
        deadlock: bool,
        state: &State<W>,
    ) -> Self {
        Self {
            machine,
            codec,
            commutation,
            deadlock,
            state: state.clone(),
            scratch: Scratch::new(state),
        }
    }

    /// Expands a batch, up to the first problem.
    pub(crate) fn expand(&mut self, job: &Job) -> Found {
        let mut found = Found::default();
        let states = job.words.chunks_exact(self.codec.words);
        for (i, (words, &asleep)) in states.zip(&job.asleep).enumerate() {
            self.codec
                .unpack(&self.machine.layout, words, &mut self.state);
            if let Err(stop) = self.expand_one(i as u32, words, asleep, &mut found) {
                found.stop = Some((i as u32, stop));
                return found;
            }
        }
        found
    }

    fn expand_one(
        &mut self,
        parent: u32,
        parent_words: &[u64],
        asleep: ThreadSet,
        found: &mut Found,
    ) -> Result<(), Stop> {
        let Self {
            machine,
            codec,
            commutation,
            state,
            scratch,
            ..
        } = self;
        let mut packed = vec![0; codec.words];
        let mut overflow = None;
        let mut blocked = Vec::new();
        let mut free = false;
        let threads = (0..state.pcs.len()).map(ThreadId::new);
        for t in threads.filter(|t| asleep >> t.index() & 1 == 0) {
            let sleepers = commutation.asleep_after(t.index(), &state.pcs);
            let mut out = |next: &mut State<W>, _: &[_]| {
                let mut asleep = sleepers;
                codec.canonicalise(&machine.layout, next, &mut asleep);
                if let Err(o) = codec.pack(&machine.layout, next, &mut packed) {
                    overflow = Some(o);
                }
                let changed = add_changed(codec, parent_words, &packed, found);
                found.successors.push(Successor {
                    parent,
                    changed,
                    asleep,
                });
            };
            match machine.expand(state, t, scratch, &mut out) {
                Ok(Mobility::Free) => free = true,
                Ok(Mobility::Blocked(pc)) => blocked.push((t, pc)),
                Ok(Mobility::Ended) => {}
                Err(failure) => return Err(Stop::Problem(Problem::Step(failure))),
            }
            if let Some(overflow) = overflow {
                return Err(Stop::Widen(overflow));
            }
        }
        if self.deadlock && !free {
            self.check_deadlock(asleep, blocked)?;
        }
        Ok(())
    }

    /// Reports a state in which every thread may be waiting, given those that are and those that sleep.
    fn check_deadlock(
        &mut self,
        asleep: ThreadSet,
        mut blocked: Vec<(ThreadId, rsan_model::Pc)>,
    ) -> Result<(), Stop> {
        let threads = (0..self.state.pcs.len()).map(ThreadId::new);
        for t in threads.filter(|t| asleep >> t.index() & 1 != 0) {
            let expanded = self
                .machine
                .expand(&self.state, t, &mut self.scratch, &mut |_, _| {});
            match expanded {
                Ok(Mobility::Free) | Err(_) => return Ok(()),
                Ok(Mobility::Blocked(pc)) => blocked.push((t, pc)),
                Ok(Mobility::Ended) => {}
            }
        }
        if blocked.is_empty() {
            return Ok(());
        }
        blocked.sort_unstable();
        Err(Stop::Problem(Problem::Deadlock(blocked)))
    }
}

/// Notes the parts of a successor that differ from its parent.
#[inline]
fn add_changed(codec: &Codec, parent: &[u64], packed: &[u64], found: &mut Found) -> Changed {
    let mut changed = 0;
    let mut at = 0;
    for (i, &len) in codec.parts.iter().enumerate() {
        let part = &packed[at..at + len];
        if part != &parent[at..at + len] {
            changed |= 1 << i;
            found.words.extend_from_slice(part);
            found.hashes.push(hash_words(part));
        }
        at += len;
    }
    changed
}
