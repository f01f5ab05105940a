//! One location by itself: which writes its reads may see, and in which order its writes come.
//!
//! With `co` as a total order, every access has a place in it: a write its own, a read that of the write it sees. SC per location
//! says that along each thread these places do not decrease, and increase into every write (Alglave, Maranget and Tautschnig,
//! Herding cats, section 4: the five patterns of coherence).
//!
//! Most combinations of traces differ in few locations, so the choices for one are kept ([`Memo`]).

use super::thread::Trace;
use super::ticker::{Abort, Ticker};
use super::{Access, Kind};
use rsan_model::{LocId, Value};
use std::collections::HashMap;
use std::rc::Rc;

/// What a trace does with a location, in program order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Projection(Vec<Local>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Local {
    write: bool,
    value: Value,
    /// For the write of an update: how many accesses before it its read stands.
    rmw: Option<usize>,
}

/// An access of a location: 0 is the initial write, the others are counted thread by thread in program order.
pub(super) type AccessId = usize;

/// A choice for one location.
pub(super) struct Choice {
    /// The writes, the initial one first.
    pub(super) order: Vec<AccessId>,
    /// For each read the write that it sees, before it.
    pub(super) reads: Vec<(AccessId, AccessId)>,
}

/// The steps of a trace that access a location.
pub(super) fn steps_of(trace: &Trace, loc: LocId) -> impl Iterator<Item = (usize, Access, bool)> {
    let steps = trace.steps.iter().enumerate();
    steps.filter_map(move |(index, step)| match step.kind {
        Kind::Read(a) if a.loc == loc => Some((index, a, false)),
        Kind::Write(a) if a.loc == loc => Some((index, a, true)),
        _ => None,
    })
}

impl Projection {
    /// What `trace` does with `loc`.
    pub(super) fn new(trace: &Trace, loc: LocId) -> Self {
        let indices: Vec<usize> = steps_of(trace, loc).map(|(index, ..)| index).collect();
        let local = |(nth, (index, access, write)): (usize, (usize, Access, bool))| {
            let read = trace.steps[index].rmw;
            let read = read.and_then(|r| indices.iter().position(|&i| i == r));
            Local {
                write,
                value: access.value,
                rmw: read.map(|r| nth - r),
            }
        };
        Self(steps_of(trace, loc).enumerate().map(local).collect())
    }
}

/// The choices for a location, by the projections of the traces.
pub(super) struct Memo {
    initial: Value,
    /// The different projections of each thread.
    projections: Vec<Vec<Projection>>,
    known: HashMap<Vec<u32>, Rc<[Choice]>>,
    kept: usize,
}

impl Memo {
    /// So many choices are kept at most.
    const MOST: usize = 100_000;

    /// For a location that starts with `initial`; nothing is known.
    pub(super) fn new(initial: Value, projections: Vec<Vec<Projection>>) -> Self {
        Self {
            initial,
            projections,
            known: HashMap::new(),
            kept: 0,
        }
    }

    /// All choices when the threads have the projections with these numbers.
    pub(super) fn choices(
        &mut self,
        key: &[u32],
        ticker: &mut Ticker<'_>,
    ) -> Result<Rc<[Choice]>, Abort> {
        if let Some(known) = self.known.get(key) {
            return Ok(Rc::clone(known));
        }
        let threads = key.iter().zip(&self.projections);
        let threads: Vec<&Projection> = threads.map(|(&k, all)| &all[k as usize]).collect();
        let choices: Rc<[Choice]> = Location::new(self.initial, &threads)
            .choices(ticker)?
            .into();
        if self.kept > Self::MOST {
            self.known.clear();
            self.kept = 0;
        }
        self.kept += 1 + choices.len();
        self.known.insert(key.to_vec(), Rc::clone(&choices));
        Ok(choices)
    }
}

/// The accesses of a location.
struct Location {
    accesses: Vec<Local>,
    /// Whose each one is; the initial write is nobody's.
    thread: Vec<usize>,
    /// The accesses of each thread.
    threads: Vec<Vec<AccessId>>,
}

impl Location {
    fn new(initial: Value, projections: &[&Projection]) -> Self {
        let mut accesses = vec![Local {
            write: true,
            value: initial,
            rmw: None,
        }];
        let mut thread = vec![usize::MAX];
        let mut threads = Vec::new();
        for (t, Projection(locals)) in projections.iter().enumerate() {
            threads.push((accesses.len()..accesses.len() + locals.len()).collect());
            accesses.extend(locals);
            thread.resize(accesses.len(), t);
        }
        Self {
            accesses,
            thread,
            threads,
        }
    }

    /// All choices.
    fn choices(&self, ticker: &mut Ticker<'_>) -> Result<Vec<Choice>, Abort> {
        let mut choices = Vec::new();
        if !self.reads_are_written() {
            return Ok(choices);
        }
        let writes = |t: &Vec<AccessId>| {
            let writes = t.iter().copied();
            writes.filter(|&e| self.accesses[e].write).collect()
        };
        let writes: Vec<Vec<AccessId>> = self.threads.iter().map(writes).collect();
        let mut orders = Orders {
            taken: vec![0; writes.len()],
            order: vec![0],
            writes,
        };
        self.extend(&mut orders, &mut choices, ticker)?;
        Ok(choices)
    }

    /// Whether every value that is read is written.
    fn reads_are_written(&self) -> bool {
        let writes = |value| self.accesses.iter().any(|a| a.write && a.value == value);
        self.accesses.iter().all(|a| a.write || writes(a.value))
    }

    /// All ways to put the remaining writes behind those of `orders`.
    fn extend(
        &self,
        orders: &mut Orders,
        choices: &mut Vec<Choice>,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Abort> {
        ticker.tick(0)?;
        let mut complete = true;
        for t in 0..orders.writes.len() {
            let Some(&write) = orders.writes[t].get(orders.taken[t]) else {
                continue;
            };
            complete = false;
            orders.taken[t] += 1;
            orders.order.push(write);
            self.extend(orders, choices, ticker)?;
            orders.order.pop();
            orders.taken[t] -= 1;
        }
        if complete {
            self.read(&orders.order, choices, ticker)?;
        }
        Ok(())
    }

    /// All ways to read, when the writes come in this order.
    fn read(
        &self,
        order: &[AccessId],
        choices: &mut Vec<Choice>,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Abort> {
        let mut place = vec![0; self.accesses.len()];
        for (p, &w) in order.iter().enumerate() {
            place[w] = p;
        }
        let mut partial: Vec<Vec<(AccessId, AccessId)>> = vec![Vec::new()];
        for thread in &self.threads {
            let mut ways = Vec::new();
            self.thread(thread, order, &place, (0, &mut Vec::new()), &mut ways);
            let mut longer = Vec::with_capacity(partial.len() * ways.len());
            for before in &partial {
                for way in &ways {
                    ticker.tick((size_of::<Choice>() + 16 * before.len()) as u64)?;
                    longer.push([before.as_slice(), way.as_slice()].concat());
                }
            }
            partial = longer;
        }
        choices.extend(partial.into_iter().map(|reads| Choice {
            order: order.to_vec(),
            reads,
        }));
        Ok(())
    }

    /// All ways for the reads of a thread; `floor` is the place of what came before in it.
    fn thread(
        &self,
        rest: &[AccessId],
        order: &[AccessId],
        place: &[usize],
        (floor, seen): (usize, &mut Vec<(AccessId, AccessId)>),
        ways: &mut Vec<Vec<(AccessId, AccessId)>>,
    ) {
        let Some((&e, rest)) = rest.split_first() else {
            ways.push(seen.clone());
            return;
        };
        if self.accesses[e].write {
            if self.atomic(e, order, place[e], seen) {
                self.thread(rest, order, place, (place[e], seen), ways);
            }
            return;
        }
        let own = rest.iter().find(|&&w| self.accesses[w].write);
        let ceiling = own.map_or(order.len(), |&w| place[w]);
        for p in floor..ceiling {
            if self.accesses[order[p]].value == self.accesses[e].value {
                seen.push((order[p], e));
                self.thread(rest, order, place, (p, seen), ways);
                seen.pop();
            }
        }
    }

    /// Whether no write of another thread comes between the read of an update and its write, which stands at `here`.
    fn atomic(
        &self,
        write: AccessId,
        order: &[AccessId],
        here: usize,
        seen: &[(AccessId, AccessId)],
    ) -> bool {
        let Some(back) = self.accesses[write].rmw else {
            return true;
        };
        let of_update = |&&(_, r): &&(AccessId, AccessId)| r == write - back;
        let Some(&(source, _)) = seen.iter().find(of_update) else {
            return true;
        };
        let mut between = order[..here].iter().rev().take_while(|&&w| w != source);
        between.all(|&w| self.thread[w] == self.thread[write])
    }
}

/// Orders of the writes, as they are built.
struct Orders {
    writes: Vec<Vec<AccessId>>,
    /// How many of each thread are in `order`.
    taken: Vec<usize>,
    order: Vec<AccessId>,
}
