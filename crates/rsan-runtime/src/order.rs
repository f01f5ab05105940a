//! Lock-order inversions: locks that are taken in orders that can end in a deadlock, although this run did not.
//!
//! **Decides** from the graph of locks: an edge A → B for every place where a thread took B, and would have waited for it, while it
//! had A. A cycle is a finding, unless it cannot become a deadlock: because all of it happens under a common lock that is held
//! alone (a gate), or because a lock is only read on both sides. Attempts (`trylock`, and locks with a time limit) give no
//! edge, but what they took is held.
//!
//! Not by whether the threads can run at the same time: an inversion of one thread, or before and after a join, is a finding, too,
//! as in ThreadSanitizer, and says so if it is one of a single thread.
//!
//! **Source**: the lock graphs of Goodlock (Havelund, SPIN 2000), with gate locks as there.
//!
//! **Not complete**: cycles of up to `LONGEST` locks, `INSTANCES` ways to take an edge, `MOST` edges.
//!
//! **Cost**: nothing for a lock that is taken while no other is held. Edges that a thread has added are in a cache of its own.
//! A lock's edges go with its life.

use crate::held::{Held, Life, Mode};
use crate::lock::{Lock, RawLock};
use crate::stack::Site;
use rsan_model::ThreadId;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Locks of a cycle.
const LONGEST: usize = 8;
/// Ways to take an edge that are kept: with other gates, by another thread.
const INSTANCES: usize = 4;
/// Edges that are kept.
const MOST: usize = 1 << 16;
/// Edges that a thread finds without a lock.
const CACHE: usize = 256;

/// A lock was taken while another one was held.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// By whom.
    pub thread: ThreadId,
    /// What was held.
    pub held: Held,
    /// What was taken: its address, how and where.
    pub lock: usize,
    /// How.
    pub mode: Mode,
    /// Where.
    pub site: Site,
}

/// A way to take an edge.
#[derive(Debug)]
struct Instance {
    taken: Taken,
    /// Other locks that were held alone.
    gates: Box<[Life]>,
}

#[derive(Debug)]
struct Edge {
    to: Life,
    instances: Vec<Instance>,
}

/// Which locks were taken after which.
#[derive(Debug, Default)]
struct Graph {
    from: HashMap<Life, Vec<Edge>>,
    /// Where the edges to a lock are from.
    into: HashMap<Life, Vec<Life>>,
    edges: usize,
}

static GRAPH: Lock<Option<Graph>> = Lock::new(None);
/// How many edges there are, so that most lives end without a look.
static EDGES: AtomicUsize = AtomicUsize::new(0);
static LIVES: AtomicU32 = AtomicU32::new(1);

/// The lock of this module, for fork. Taken under locks of locations; takes none but the allocator's.
pub(crate) fn lock() -> &'static RawLock {
    GRAPH.raw()
}

/// The life of one lock, which ends with this.
#[derive(Debug)]
pub struct Lifetime(Life);

impl Default for Lifetime {
    fn default() -> Self {
        // ORDERING: relaxed; only distinct numbers matter.
        Self(Life(LIVES.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Lifetime {
    /// Its number.
    pub fn life(&self) -> Life {
        self.0
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        // ORDERING: relaxed; an edge of this lock was added by a thread that had it, before its life could end.
        if EDGES.load(Ordering::Relaxed) != 0
            && let Some(graph) = GRAPH.lock().as_mut()
        {
            graph.forget(self.0);
        }
    }
}

/// Edges that a thread knows to be in the graph.
#[derive(Debug, Default)]
pub struct KnownEdges(Option<Box<[u64; CACHE]>>);

impl KnownEdges {
    /// Whether an edge is known; from now on it is.
    pub(crate) fn insert(&mut self, edge: u64) -> bool {
        let all = self.0.get_or_insert_with(|| Box::new([0; CACHE]));
        let place = &mut all[(edge >> 32) as usize % CACHE];
        std::mem::replace(place, edge) == edge
    }
}

/// A number for an edge with its gates.
pub(crate) fn digest(held: &Held, new: &Held, all: impl Iterator<Item = Held>) -> u64 {
    let mix = |seed: u64, word: u64| {
        (seed ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let tag = |held: &Held| u64::from(held.life.0) << 1 | u64::from(held.mode == Mode::Read);
    all.fold(mix(mix(1, tag(held)), tag(new)), |seed, gate| {
        mix(seed, tag(&gate))
    }) | 1
}

/// A lock was taken; returns the cycle that this closes, if it is new. `gates` are other locks that were held alone.
#[cold]
pub(crate) fn add(to: Life, taken: Taken, gates: Box<[Life]>) -> Option<Vec<Taken>> {
    let instance = Instance { taken, gates };
    GRAPH.lock().get_or_insert_default().add(to, instance)
}

impl Graph {
    /// Adds an edge, and returns a cycle that it closes, if it is new: the edge first.
    fn add(&mut self, to: Life, instance: Instance) -> Option<Vec<Taken>> {
        let from = instance.taken.held.life;
        if self.edges >= MOST {
            return None;
        }
        let edges = self.from.entry(from).or_default();
        let edge = match edges.iter_mut().position(|edge| edge.to == to) {
            Some(index) => &mut edges[index],
            None => {
                self.edges += 1;
                // ORDERING: relaxed; see `Lifetime`.
                EDGES.fetch_add(1, Ordering::Relaxed);
                self.into.entry(to).or_default().push(from);
                edges.push(Edge {
                    to,
                    instances: Vec::new(),
                });
                edges.last_mut()?
            }
        };
        let is_known = edge.instances.iter().any(|known| known.is_like(&instance));
        if is_known || edge.instances.len() == INSTANCES {
            return None;
        }
        let cycle = self.cycle(to, &instance);
        let edge = self
            .from
            .get_mut(&from)?
            .iter_mut()
            .find(|edge| edge.to == to)?;
        edge.instances.push(instance);
        cycle
    }

    /// A way from a lock back to the one that an edge begins with, on which every thread may wait for the next.
    fn cycle(&self, to: Life, first: &Instance) -> Option<Vec<Taken>> {
        let mut way = vec![first];
        let mut seen = HashSet::from([to]);
        let end = first.taken.held.life;
        self.go_on(to, end, &mut way, &mut seen)
            .then(|| way.iter().map(|instance| instance.taken).collect())
    }

    fn go_on<'a>(
        &'a self,
        at: Life,
        end: Life,
        way: &mut Vec<&'a Instance>,
        seen: &mut HashSet<Life>,
    ) -> bool {
        if way.len() == LONGEST {
            return false;
        }
        let edges = self.from.get(&at).map_or(&[][..], Vec::as_slice);
        // The shortest way first.
        let (last, further): (Vec<_>, Vec<_>) = edges.iter().partition(|edge| edge.to == end);
        for edge in last.into_iter().chain(further) {
            if edge.to != end && !seen.insert(edge.to) {
                continue;
            }
            for instance in &edge.instances {
                if !fits(way, instance, edge.to == end) {
                    continue;
                }
                way.push(instance);
                if edge.to == end || self.go_on(edge.to, end, way, seen) {
                    return true;
                }
                way.pop();
            }
        }
        false
    }

    /// A lock is no more.
    fn forget(&mut self, life: Life) {
        let mut gone = 0;
        for edge in self.from.remove(&life).unwrap_or_default() {
            gone += 1;
            if let Some(into) = self.into.get_mut(&edge.to) {
                into.retain(|from| *from != life);
            }
        }
        for from in self.into.remove(&life).unwrap_or_default() {
            if let Some(edges) = self.from.get_mut(&from) {
                let before = edges.len();
                edges.retain(|edge| edge.to != life);
                gone += before - edges.len();
            }
        }
        self.edges -= gone;
        // ORDERING: relaxed; see `Lifetime`.
        EDGES.fetch_sub(gone, Ordering::Relaxed);
    }
}

impl Instance {
    /// Whether nothing is new about the other one.
    fn is_like(&self, other: &Self) -> bool {
        let what = |i: &Self| (i.taken.thread, i.taken.held.mode, i.taken.mode);
        what(self) == what(other) && self.gates == other.gates
    }

    /// Whether a lock that both have alone keeps them from happening at the same time.
    fn is_kept_from(&self, other: &Self) -> bool {
        let has = |one: &Self, life: &Life| {
            one.gates.contains(life)
                || one.taken.held.life == *life && one.taken.held.mode == Mode::Write
        };
        let own = &self.taken.held;
        let own = (own.mode == Mode::Write).then_some(&own.life);
        self.gates.iter().chain(own).any(|life| has(other, life))
    }
}

/// Whether another edge can be part of the same deadlock; `closes`: it is the last.
fn fits(way: &[&Instance], next: &Instance, closes: bool) -> bool {
    let (Some(first), Some(last)) = (way.first(), way.last()) else {
        return true;
    };
    last.taken.mode.excludes(next.taken.held.mode)
        && (!closes || next.taken.mode.excludes(first.taken.held.mode))
        && !way.iter().any(|instance| instance.is_kept_from(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(thread: u32, held: u32, modes: (Mode, Mode), gates: &[u32]) -> Instance {
        let held = Held {
            lock: held as usize,
            life: Life(held),
            mode: modes.0,
            pc: 0,
        };
        Instance {
            taken: Taken {
                thread: ThreadId(thread),
                held,
                lock: 0,
                mode: modes.1,
                site: Site::default(),
            },
            gates: gates.iter().map(|gate| Life(*gate)).collect(),
        }
    }

    const ALONE: (Mode, Mode) = (Mode::Write, Mode::Write);

    /// From, to, how both are held, and gates.
    type Way<'a> = (u32, u32, (Mode, Mode), &'a [u32]);

    /// The length of the cycle that the last of some edges closes.
    fn cycle(edges: &[Way<'_>]) -> Option<usize> {
        let mut graph = Graph::default();
        let mut found = None;
        for (thread, &(from, to, modes, gates)) in (1..).zip(edges) {
            found = graph.add(Life(to), instance(thread, from, modes, gates));
        }
        found.map(|cycle| cycle.len())
    }

    #[test]
    fn cycles_are_found() {
        assert_eq!(cycle(&[(1, 2, ALONE, &[]), (2, 1, ALONE, &[])]), Some(2));
        assert_eq!(cycle(&[(1, 2, ALONE, &[]), (1, 2, ALONE, &[])]), None);
        let three = [
            (1, 2, ALONE, &[][..]),
            (2, 3, ALONE, &[]),
            (3, 1, ALONE, &[]),
        ];
        assert_eq!(cycle(&three), Some(3));
    }

    #[test]
    fn gates_and_readers_keep_deadlocks_away() {
        assert_eq!(cycle(&[(1, 2, ALONE, &[9]), (2, 1, ALONE, &[9])]), None);
        assert_eq!(cycle(&[(1, 2, ALONE, &[9]), (2, 1, ALONE, &[8])]), Some(2));
        let read = (Mode::Read, Mode::Read);
        assert_eq!(cycle(&[(1, 2, read, &[]), (2, 1, read, &[])]), None);
        let held = (Mode::Read, Mode::Write);
        assert_eq!(cycle(&[(1, 2, held, &[]), (2, 1, held, &[])]), Some(2));
        // The same edge without its gate.
        let free = [
            (1, 2, ALONE, &[9][..]),
            (2, 1, ALONE, &[9]),
            (1, 2, ALONE, &[]),
        ];
        assert_eq!(cycle(&free), Some(2));
    }

    #[test]
    fn a_lock_that_is_no_more_has_no_edges() {
        let mut graph = Graph::default();
        assert!(graph.add(Life(2), instance(1, 1, ALONE, &[])).is_none());
        assert!(graph.add(Life(3), instance(1, 2, ALONE, &[])).is_none());
        graph.forget(Life(2));
        assert_eq!(graph.edges, 0);
        assert!(graph.add(Life(1), instance(1, 3, ALONE, &[])).is_none());
        assert_eq!(graph.edges, 1);
    }
}
