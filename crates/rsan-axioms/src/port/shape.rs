//! What of an execution belongs to the source, whatever the machine.

use crate::machine::{Candidate, Event};
use rsan_model::{EventId, LocId, Value};

/// The reads and writes of the source's instructions, and how they communicate. Equal for executions that are the same in
/// the source (docs/theory/port.md, P1).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Shape {
    /// Each thread's in program order.
    accesses: Vec<Access>,
    /// The writes of each location, in the order that memory has them; numbers of accesses.
    orders: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Access {
    thread: u32,
    origin: u32,
    loc: LocId,
    value: Value,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Kind {
    Write,
    /// Of what this access wrote; of the initial value if it is none.
    Read(Option<u32>),
}

impl Shape {
    pub(super) fn of(execution: &Candidate) -> Self {
        let mut updates = vec![false; execution.events.len()];
        for (read, _) in execution.rmw.pairs() {
            updates[read.index()] = true;
        }
        let counts = |(index, event): (usize, &Event)| {
            event.thread.is_some() && event.access().is_some() && !updates[index]
        };
        let mut numbers = vec![None; execution.events.len()];
        let mut next = 0;
        for (index, event) in execution.events.iter().enumerate() {
            if counts((index, event)) {
                numbers[index] = Some(next);
                next += 1;
            }
        }
        let seen = execution.rf.inverse();
        let events = execution.events.iter().enumerate();
        let accesses = events.filter(|&e| counts(e)).filter_map(|(index, event)| {
            let access = event.access()?;
            let kind = if event.is_write() {
                Kind::Write
            } else {
                let write = seen.successors(EventId::new(index)).iter().next()?;
                Kind::Read(numbers[write.index()])
            };
            Some(Access {
                thread: event.thread?.0,
                origin: event.origin,
                loc: access.loc,
                value: access.value,
                kind,
            })
        });
        Self {
            accesses: accesses.collect(),
            orders: orders(execution, &numbers),
        }
    }

    /// Memory, about.
    pub(super) fn bytes(&self) -> u64 {
        let orders: usize = self.orders.iter().map(|o| 24 + 4 * o.len()).sum();
        (size_of::<Self>() + self.accesses.len() * size_of::<Access>() + orders) as u64
    }
}

fn orders(execution: &Candidate, numbers: &[Option<u32>]) -> Vec<Vec<u32>> {
    let mut orders = vec![Vec::new(); execution.memory.len()];
    let mut writes: Vec<EventId> = execution.writes().iter().collect();
    // The more writes come behind it, the earlier it is.
    writes.sort_by_key(|&w| std::cmp::Reverse(execution.co.successors(w).len()));
    for write in writes {
        let loc = execution.events[write.index()].loc();
        if let (Some(loc), Some(number)) = (loc, numbers[write.index()]) {
            orders[loc.index()].push(number);
        }
    }
    orders
}
