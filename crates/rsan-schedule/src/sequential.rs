//! Whether a run is sequentially consistent: whether its threads' steps, with the writes that they read, are those of some
//! interleaving.
//!
//! Decides by *saturation* (Gibbons and Korach's rules): of a read r of a write w, another write of the object that is before r is before w, and
//! one that is after w is after r. Program order, reads-from, the order of synchronisation as it was executed, and what these rules
//! add must be acyclic. A cycle is a proof that there is no such interleaving. Without a cycle, an interleaving is looked for
//! greedily; the question is NP-hard, so [`Sequential::Unknown`] is an answer. It is also one for runs that access parts of
//! objects.
//!
//! Deviation: memory that is freed and used again has an initial value again. A read of the initial value that a write happens before
//! is taken as one of such memory, so no cycle through it is a wrong one (`memory_that_is_used_again_is_new`).
//!
//! Cost: a round of saturation takes (steps + reads · log steps) · threads; there are few rounds.

mod graph;
mod happens_before;
mod interleave;

use crate::{Kind, ReadsFrom, Step};
use graph::Graph;
use std::collections::BTreeMap;

/// Whether a run is sequentially consistent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sequential {
    /// It is.
    Yes,
    /// It is not: steps, each with the relation to the next one, of the last one to the first.
    No(Vec<(usize, Relation)>),
    /// Not decided.
    Unknown,
}

/// How two steps are related.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// Program order.
    Po,
    /// Creation or end of a thread.
    Asw,
    /// Operations on the same lock, or the like.
    Sw,
    /// Reads-from.
    Rf,
    /// Modification order.
    Mo,
    /// From-read.
    Fr,
}

/// Most steps that are looked at.
const MOST: usize = 50_000;

/// The accesses of an object: its writes, in the order of execution, by thread.
#[derive(Default)]
struct Object {
    bytes: u8,
    writes: BTreeMap<u32, Vec<usize>>,
}

/// A read, and what it reads.
struct Read {
    step: usize,
    object: u64,
    /// `None` for the initial value.
    from: Option<usize>,
}

/// A run, prepared.
struct Run<'t> {
    steps: &'t [Step],
    objects: BTreeMap<u64, Object>,
    reads: Vec<Read>,
    /// Of reads of an initial value: writes of the object that belong to what was there before, by thread.
    before: happens_before::Clocks,
}

/// Whether this run is sequentially consistent.
///
/// ```
/// use rsan_model::ThreadId;
/// use rsan_schedule::sequential::{Sequential, judge};
/// use rsan_schedule::{Kind, Op, ReadsFrom, Step};
/// // Two threads, each of which stores and then reads the other's initial value.
/// let step = |thread, kind, object| Step {
///     from: if kind == Kind::Load { ReadsFrom::Initial } else { ReadsFrom::Unsaid },
///     writes: kind == Kind::Store,
///     ..Step::new(ThreadId(thread), Op::new(kind, object, 4))
/// };
/// let steps = [step(1, Kind::Store, 8), step(1, Kind::Load, 16), step(2, Kind::Store, 16), step(2, Kind::Load, 8)];
/// assert!(matches!(judge(&steps), Sequential::No(cycle) if cycle.len() == 4));
/// assert_eq!(judge(&steps[..3]), Sequential::Yes);
/// ```
pub fn judge(steps: &[Step]) -> Sequential {
    if steps.len() > MOST {
        return Sequential::Unknown;
    }
    let Some(run) = Run::new(steps) else {
        return Sequential::Unknown;
    };
    let mut graph = Graph::new(steps.len());
    run.base(&mut graph);
    loop {
        let Some(order) = graph.order() else {
            return Sequential::No(graph.cycle(steps));
        };
        let clocks = graph.clocks(steps, &order);
        if !run.saturate(&mut graph, &clocks) {
            break;
        }
    }
    match interleave::exists(&run, &graph) {
        true => Sequential::Yes,
        false => Sequential::Unknown,
    }
}

/// Whether a step accesses a value of memory.
fn is_access(step: &Step) -> bool {
    step.op.kind.shows_value()
}

fn reads(step: &Step) -> bool {
    is_access(step) && step.op.kind.may_read()
}

fn writes(step: &Step) -> bool {
    is_access(step) && step.writes
}

impl<'t> Run<'t> {
    /// `None` if accesses have different parts of an object in common, or read what is not a write of it.
    fn new(steps: &'t [Step]) -> Option<Self> {
        let mut objects: BTreeMap<u64, Object> = BTreeMap::new();
        let mut all = Vec::new();
        let mut last: BTreeMap<u64, usize> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| is_access(step)) {
            let (name, bytes) = (step.op.object, step.op.bytes.max(1));
            let object = objects.entry(name).or_insert_with(|| Object {
                bytes,
                ..Object::default()
            });
            if object.bytes != bytes {
                return None;
            }
            if reads(step) {
                let from = match step.from {
                    ReadsFrom::Unsaid => last.get(&name).copied(),
                    ReadsFrom::Initial => None,
                    ReadsFrom::Step(from) => Some(from as usize),
                };
                let is_write = |from: usize| {
                    let write = steps.get(from).filter(|write| writes(write));
                    from < number && write.is_some_and(|write| write.op.object == name)
                };
                if !from.is_none_or(is_write) {
                    return None;
                }
                all.push(Read {
                    step: number,
                    object: name,
                    from,
                });
            }
            if writes(step) {
                let of_thread = object.writes.entry(step.thread.0).or_default();
                of_thread.push(number);
                last.insert(name, number);
            }
        }
        let mut ends = objects.iter().zip(objects.iter().skip(1));
        let overlap = |((name, object), (next, _)): ((&u64, &Object), (&u64, &Object))| {
            name.saturating_add(object.bytes.into()) > *next
        };
        if ends.any(overlap) {
            return None;
        }
        Some(Self {
            before: happens_before::clocks(steps, &all),
            steps,
            objects,
            reads: all,
        })
    }

    /// Program order, creation and end of threads, synchronisation, reads-from, and what reads of initial values come before.
    fn base(&self, graph: &mut Graph) {
        let mut last_of: BTreeMap<u32, usize> = BTreeMap::new();
        let mut created: BTreeMap<u32, usize> = BTreeMap::new();
        let mut synced: BTreeMap<u64, usize> = BTreeMap::new();
        for (number, step) in self.steps.iter().enumerate() {
            let before = last_of.insert(step.thread.0, number);
            let creation = created.remove(&step.thread.0);
            if let Some(before) = before {
                graph.add(before, number, Relation::Po);
            }
            if let Some(creation) = creation {
                graph.add(creation, number, Relation::Asw);
            }
            match step.op.kind {
                Kind::Spawn => drop(created.insert(step.child.0, number)),
                Kind::Join => {
                    let end = last_of.get(&joined(step)).copied();
                    if let Some(end) = end {
                        graph.add(end, number, Relation::Asw);
                    }
                }
                Kind::Lock | Kind::Unlock | Kind::Sync => {
                    let before = synced.insert(step.op.object, number);
                    if let Some(before) = before {
                        graph.add(before, number, Relation::Sw);
                    }
                }
                _ => {}
            }
        }
        for read in &self.reads {
            match read.from {
                Some(write) => graph.add(write, read.step, Relation::Rf),
                None => {
                    let firsts = self.firsts_after(read.object, |write| !self.is_old(read, write));
                    firsts.for_each(|write| graph.add(read.step, write, Relation::Fr));
                }
            }
        }
    }

    /// Whether a write belongs to what was in memory before the initial value that a read reads.
    fn is_old(&self, read: &Read, write: usize) -> bool {
        write == read.step || self.before.has(read.step, &self.steps[write], write)
    }

    /// Of each thread, the first write of an object for which this holds; it does for all that follow.
    fn firsts_after(
        &self,
        object: u64,
        holds: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = usize> {
        let threads = self.objects[&object].writes.values();
        threads.filter_map(move |writes| {
            let first = writes.partition_point(|write| !holds(*write));
            writes.get(first).copied()
        })
    }

    /// Adds what follows; says whether there was something.
    fn saturate(&self, graph: &mut Graph, clocks: &graph::Clocks) -> bool {
        let before = graph.len();
        for read in &self.reads {
            let Some(from) = read.from else { continue };
            for writes in self.objects[&read.object].writes.values() {
                // The last one that is before the read is before the write that it reads.
                let count = writes.partition_point(|write| clocks.reaches(*write, read.step));
                let last = writes[..count].iter().rev();
                let mut last = last.filter(|write| **write != read.step);
                if let Some(write) = last.next().filter(|write| **write != from) {
                    graph.add(*write, from, Relation::Mo);
                }
            }
            let after = |write: usize| write != from && clocks.reaches(from, write);
            let firsts = self.firsts_after(read.object, after);
            let others = firsts.filter(|write| *write != read.step);
            others.for_each(|write| graph.add(read.step, write, Relation::Fr));
        }
        graph.len() > before
    }
}

/// The thread that is joined.
fn joined(step: &Step) -> u32 {
    match step.child.0 {
        0 => step.op.object as u32,
        child => child,
    }
}

#[cfg(test)]
mod tests;
