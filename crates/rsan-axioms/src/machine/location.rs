//! One location by itself: which writes its reads may see, and in which order its writes come.
//!
//! With `co` as a total order, every access has a place in it: a write its own, a read that of the write it sees. SC per location
//! says that along each thread these places do not decrease, and increase into every write (Alglave, Maranget and Tautschnig,
//! Herding cats, section 4: the five patterns of coherence).

use super::candidate::Event;
use super::enumerate::{Abort, Ticker};
use rsan_model::{EventId, LocId, Relation};

/// A choice for one location.
pub(super) struct Choice {
    /// The writes, the initial one first.
    pub(super) order: Vec<EventId>,
    /// For each read the write that it sees.
    pub(super) reads: Vec<(EventId, EventId)>,
}

/// The accesses of a location.
pub(super) struct Location<'e> {
    events: &'e [Event],
    rmw: &'e Relation,
    /// Its accesses in each thread that has some, in program order.
    threads: Vec<Vec<EventId>>,
    initial: EventId,
}

impl<'e> Location<'e> {
    /// The accesses of `loc`, whose initial write is `initial`.
    pub(super) fn new(
        events: &'e [Event],
        rmw: &'e Relation,
        loc: LocId,
        initial: EventId,
    ) -> Self {
        let mut threads: Vec<Vec<EventId>> = Vec::new();
        let mut last = None;
        for (e, event) in events.iter().enumerate() {
            if event.loc() != Some(loc) || event.thread.is_none() {
                continue;
            }
            if event.thread != last {
                threads.push(Vec::new());
                last = event.thread;
            }
            let thread = threads.last_mut().expect("one was added");
            thread.push(EventId::new(e));
        }
        Self {
            events,
            rmw,
            threads,
            initial,
        }
    }

    /// All choices.
    pub(super) fn choices(&self, ticker: &mut Ticker<'_>) -> Result<Vec<Choice>, Abort> {
        let writes = |t: &Vec<EventId>| {
            let writes = t.iter().copied();
            writes.filter(|&e| self.event(e).is_write()).collect()
        };
        let writes: Vec<Vec<EventId>> = self.threads.iter().map(writes).collect();
        let mut orders = Orders {
            taken: vec![0; writes.len()],
            order: vec![self.initial],
            writes,
        };
        let mut choices = Vec::new();
        self.extend(&mut orders, &mut choices, ticker)?;
        Ok(choices)
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
        order: &[EventId],
        choices: &mut Vec<Choice>,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Abort> {
        let mut place = vec![0; self.events.len()];
        for (p, w) in order.iter().enumerate() {
            place[w.index()] = p;
        }
        let mut partial: Vec<Vec<(EventId, EventId)>> = vec![Vec::new()];
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
        rest: &[EventId],
        order: &[EventId],
        place: &[usize],
        (floor, seen): (usize, &mut Vec<(EventId, EventId)>),
        ways: &mut Vec<Vec<(EventId, EventId)>>,
    ) {
        let Some((&e, rest)) = rest.split_first() else {
            ways.push(seen.clone());
            return;
        };
        if self.event(e).is_write() {
            let here = place[e.index()];
            if self.atomic(e, order, here, seen) && (here > floor) {
                self.thread(rest, order, place, (here, seen), ways);
            }
            return;
        }
        let own = rest.iter().find(|&&w| self.event(w).is_write());
        let ceiling = own.map_or(order.len(), |w| place[w.index()]);
        for p in floor..ceiling {
            if self.value(order[p]) == self.value(e) {
                seen.push((order[p], e));
                self.thread(rest, order, place, (p, seen), ways);
                seen.pop();
            }
        }
    }

    /// Whether no write of another thread comes between the read of an update and its write, which stands at `here`.
    fn atomic(
        &self,
        write: EventId,
        order: &[EventId],
        here: usize,
        seen: &[(EventId, EventId)],
    ) -> bool {
        let of_update = |&&(_, r): &&(EventId, EventId)| self.rmw.contains(r, write);
        let Some(&(source, _)) = seen.iter().find(of_update) else {
            return true;
        };
        let mut between = order[..here].iter().rev().take_while(|&&w| w != source);
        between.all(|&w| self.event(w).thread == self.event(write).thread)
    }

    fn value(&self, e: EventId) -> Option<i32> {
        self.event(e).access().map(|a| a.value)
    }

    fn event(&self, e: EventId) -> &Event {
        &self.events[e.index()]
    }
}

/// Orders of the writes, as they are built.
struct Orders {
    writes: Vec<Vec<EventId>>,
    /// How many of each thread are in `order`.
    taken: Vec<usize>,
    order: Vec<EventId>,
}
