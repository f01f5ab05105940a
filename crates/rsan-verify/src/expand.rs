//! What a worker of the search does: states in, successors out.

use crate::codec::{Codec, Overflow};
use crate::commute::{Commutation, ThreadSet, is_asleep, swap_names};
use crate::machine::{Machine, Mobility, Scratch};
use crate::search::{Problem, not_real};
use crate::state::State;
use crate::store::{PARTITIONS, Partition, StateId, partition_of};
use rsan_model::{Pc, ThreadId};

/// Successors of a state, about.
const SUCCESSORS: usize = 3;

/// States to expand: consecutive ones of a partition.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) partition: usize,
    pub(crate) states: std::ops::Range<usize>,
}

/// A successor, but for its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    pub(crate) hash: u64,
    pub(crate) parent: StateId,
    /// The threads that may sleep there.
    pub(crate) asleep: ThreadSet,
    /// Where its words end.
    end: u32,
}

/// What a task leads to, by partition.
#[derive(Debug)]
pub(crate) struct Found {
    successors: Vec<Successor>,
    /// Their packed words, one after the other.
    words: Vec<u64>,
    /// Where the successors of each partition begin in `order`.
    offsets: Vec<u32>,
    /// The successors, sorted by partition.
    order: Vec<u32>,
    /// Ends the search, at this state.
    pub(crate) stop: Option<(StateId, Stop)>,
}

/// Why a task was not finished.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Problem),
    Widen(Overflow),
}

impl Found {
    /// Nothing yet, with room for what this many states lead to.
    fn new(states: usize, words: usize) -> Self {
        Self {
            successors: Vec::with_capacity(states * SUCCESSORS),
            words: Vec::with_capacity(states * SUCCESSORS * words),
            offsets: Vec::new(),
            order: Vec::new(),
            stop: None,
        }
    }

    /// Number of successors.
    pub(crate) fn len(&self) -> usize {
        self.successors.len()
    }

    /// The successors that belong to a partition, by number, in the order in which they were found.
    pub(crate) fn of_partition(&self, partition: usize) -> &[u32] {
        let range = self.offsets[partition] as usize..self.offsets[partition + 1] as usize;
        &self.order[range]
    }

    /// A successor, and its words.
    #[inline]
    pub(crate) fn successor(&self, number: u32) -> (&Successor, &[u64]) {
        let i = number as usize;
        let start = i.checked_sub(1).map_or(0, |i| self.successors[i].end);
        let successor = &self.successors[i];
        (
            successor,
            &self.words[start as usize..successor.end as usize],
        )
    }

    /// The hash of a successor.
    #[inline]
    pub(crate) fn hash(&self, number: u32) -> u64 {
        self.successors[number as usize].hash
    }

    /// Sorts the successors by partition, keeping their order otherwise.
    fn sort(&mut self) {
        let mut offsets = vec![0u32; PARTITIONS + 1];
        for successor in &self.successors {
            offsets[partition_of(successor.hash) + 1] += 1;
        }
        for p in 0..PARTITIONS {
            offsets[p + 1] += offsets[p];
        }
        let mut next = offsets.clone();
        self.order = vec![0; self.successors.len()];
        for (i, successor) in self.successors.iter().enumerate() {
            let slot = &mut next[partition_of(successor.hash)];
            self.order[*slot as usize] = i as u32;
            *slot += 1;
        }
        self.offsets = offsets;
    }
}

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Context<'m, 'a, const W: usize> {
    pub(crate) machine: &'m Machine<'a, W>,
    pub(crate) codec: &'m Codec,
    pub(crate) commutation: Commutation,
    pub(crate) deadlock: bool,
}

/// Expands states on behalf of one worker.
#[derive(Debug)]
pub(crate) struct Expander<'c, 'm, 'a, const W: usize> {
    context: &'c Context<'m, 'a, W>,
    state: State<W>,
    scratch: Scratch<W>,
}

impl<'c, 'm, 'a, const W: usize> Expander<'c, 'm, 'a, W> {
    /// A worker; `state` is any state of the program.
    pub(crate) fn new(context: &'c Context<'m, 'a, W>, state: &State<W>) -> Self {
        Self {
            context,
            state: state.clone(),
            scratch: Scratch::new(state),
        }
    }

    /// Expands the states of a task, up to the first problem; `asleep` says who sleeps in each.
    pub(crate) fn expand(
        &mut self,
        task: &Task,
        partition: &Partition,
        asleep: &[ThreadSet],
    ) -> Found {
        let length = self.context.codec.words.unwrap_or(0);
        let mut found = Found::new(task.states.len(), length);
        let Context { machine, codec, .. } = self.context;
        for (index, &asleep) in task.states.clone().zip(asleep) {
            let words = partition.get(index);
            codec.unpack(&machine.layout, words, &mut self.state);
            let id = StateId::new(task.partition, index);
            if let Err(stop) = self.expand_one(id, words, asleep, &mut found) {
                found.stop = Some((id, stop));
                break;
            }
        }
        found.sort();
        found
    }

    fn expand_one(
        &mut self,
        parent: StateId,
        parent_words: &[u64],
        asleep: ThreadSet,
        found: &mut Found,
    ) -> Result<(), Stop> {
        let Self {
            context,
            state,
            scratch,
        } = self;
        let Context {
            machine,
            codec,
            commutation,
            deadlock,
        } = context;
        let mut overflow = None;
        let mut refuted = false;
        let mut blocked = Vec::new();
        let mut free = false;
        let threads = (0..state.pcs.len()).map(ThreadId::new);
        for t in threads.filter(|&t| !is_asleep(asleep, t)) {
            let sleepers = commutation.asleep_after(t.index(), &state.pcs);
            let mut out = |next: &mut State<W>, _: &[_]| {
                let mut asleep = sleepers;
                if let Some(forgetting) = machine.forgetting {
                    refuted |= !forgetting.simplify(next);
                }
                codec.canonicalise(&machine.layout, next, |a, b| {
                    swap_names(&mut asleep, a, b);
                });
                let start = found.words.len();
                if let Err(o) = codec.pack(&machine.layout, next, &mut found.words) {
                    overflow = Some(o);
                }
                let packed = &found.words[start..];
                // A step back to where it came from leads nowhere.
                if packed == parent_words {
                    found.words.truncate(start);
                } else {
                    found.successors.push(Successor {
                        hash: codec.key.hash(packed),
                        parent,
                        asleep,
                        end: found.words.len() as u32,
                    });
                }
            };
            match machine.expand(state, t, scratch, &mut out) {
                Ok(Mobility::Free) => free = true,
                Ok(Mobility::Blocked(pc)) => blocked.push((t, pc)),
                Ok(Mobility::Ended) => {}
                Err(failure) => return Err(Stop::Problem(Problem::Step(failure))),
            }
            if refuted {
                let failure = not_real(t, Pc(state.pcs[t.index()]));
                return Err(Stop::Problem(Problem::Step(failure)));
            }
            if let Some(overflow) = overflow {
                return Err(Stop::Widen(overflow));
            }
        }
        if *deadlock && !free {
            self.check_deadlock(asleep, blocked)?;
        }
        Ok(())
    }

    /// Reports a state in which every thread may be waiting, given those that are and those that sleep.
    fn check_deadlock(
        &mut self,
        asleep: ThreadSet,
        mut blocked: Vec<(ThreadId, Pc)>,
    ) -> Result<(), Stop> {
        let threads = (0..self.state.pcs.len()).map(ThreadId::new);
        for t in threads.filter(|&t| is_asleep(asleep, t)) {
            let machine = self.context.machine;
            match machine.expand(&self.state, t, &mut self.scratch, &mut |_, _| {}) {
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
