//! What would order the accesses of a race: stronger orders on the way from the earlier one to the later one.
//!
//! **Decides** which atomic accesses of the way have to acquire or release so that it is part of happens-before, as
//! `rsan-axioms` defines that. None of the changes can be left out. The way is one of the run that was seen: in
//! another run the accesses may come in another order.

use super::{Access, Change};
use rsan_axioms::happens_before;
use rsan_log::{Edge, Operation};
use rsan_model::{
    Event, EventId, FenceOrd, Graph, Label, LocId, Model, Pc, ReadOrd, RmwOrd, ThreadId, WriteOrd,
};

/// Steps after which the way is not looked at.
const STEPS: usize = 60;

/// A step of the way, and what it is in an execution graph.
#[derive(Clone, Copy, Debug)]
struct Step {
    thread: u32,
    act: Act,
    location: usize,
    order: RmwOrd,
    /// It reads what the step before it wrote.
    reads_last: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Plain,
    Load,
    Store,
    Rmw,
    Fence,
    /// Begins an edge that is always there: an unlock, the creation of a thread.
    Gives,
    /// Ends it.
    Takes,
}

/// The smallest changes, from the first to the last step, each with the name of the edge to the next; `None` if the way is
/// of no kind that is understood, or none is needed.
pub(in super::super) fn order_race(way: &[(Access, Option<Edge>)]) -> Option<Vec<Change>> {
    let steps = steps(way)?;
    let mut strong = steps.clone();
    for step in &mut strong {
        step.order = step.strongest();
    }
    if steps.len() > STEPS || is_ordered(&steps) || !is_ordered(&strong) {
        return None;
    }
    for index in 0..steps.len() {
        for weaker in steps[index].weaker_than(strong[index].order) {
            let mut fewer = strong.clone();
            fewer[index].order = weaker;
            if is_ordered(&fewer) {
                strong = fewer;
                break;
            }
        }
    }
    let changed = steps.iter().zip(&strong).enumerate();
    let changed = changed.filter(|(_, (old, new))| old.order != new.order);
    let change = |(step, (_, new)): (usize, (&Step, &Step))| Change::Order {
        step,
        to: new.order.name(),
    };
    Some(changed.map(change).collect())
}

impl Step {
    /// With all that acquire and release do for it.
    fn strongest(&self) -> RmwOrd {
        let (read, write) = match self.act {
            Act::Load => (ReadOrd::Acquire, WriteOrd::Relaxed),
            Act::Store => (ReadOrd::Relaxed, WriteOrd::Release),
            Act::Rmw => (ReadOrd::Acquire, WriteOrd::Release),
            Act::Plain | Act::Fence | Act::Gives | Act::Takes => return self.order,
        };
        match self.order.is_sc() {
            true => self.order,
            false => RmwOrd::from_halves(read, write),
        }
    }

    /// The orders from that of the step on that are weaker than another one, the weakest first.
    fn weaker_than(&self, strong: RmwOrd) -> Vec<RmwOrd> {
        let within = |order: &RmwOrd| {
            let has = |of: fn(RmwOrd) -> bool| {
                (of(*order) || !of(self.order)) && (of(strong) || !of(*order))
            };
            has(RmwOrd::acquires) && has(RmwOrd::releases) && has(RmwOrd::is_sc)
        };
        let all = RmwOrd::ALL.into_iter().filter(within);
        all.filter(|order| *order != strong).collect()
    }

    fn label(&self) -> Label {
        let (loc, value) = (LocId::new(self.location), 0);
        match self.act {
            Act::Plain => Label::PlainWrite { loc, value },
            Act::Load | Act::Takes => Label::Read {
                loc,
                value,
                ord: self.order.read(),
            },
            Act::Store | Act::Gives => Label::Write {
                loc,
                value,
                ord: self.order.write(),
            },
            Act::Rmw => Label::Rmw {
                loc,
                read: value,
                written: value,
                ord: self.order,
            },
            Act::Fence => Label::Fence(match self.order {
                RmwOrd::Relaxed | RmwOrd::Acquire => FenceOrd::Acquire,
                RmwOrd::Release => FenceOrd::Release,
                RmwOrd::AcqRel => FenceOrd::AcqRel,
                RmwOrd::SeqCst => FenceOrd::SeqCst,
            }),
        }
    }
}

fn steps(way: &[(Access, Option<Edge>)]) -> Option<Vec<Step>> {
    let mut addresses = Vec::new();
    let mut reads_last = false;
    let mut steps = Vec::new();
    for (access, edge) in way {
        let act = match access.operation {
            Operation::PlainAccess => Act::Plain,
            Operation::Load => Act::Load,
            Operation::Store => Act::Store,
            Operation::Rmw => Act::Rmw,
            Operation::Fence => Act::Fence,
            Operation::Unlock | Operation::CreateThread => Act::Gives,
            Operation::Lock | Operation::Begin => Act::Takes,
            _ => return None,
        };
        let known = addresses.iter().position(|known| *known == access.address);
        let location = known.unwrap_or_else(|| {
            addresses.push(access.address);
            addresses.len() - 1
        });
        let order = match act {
            Act::Gives => RmwOrd::Release,
            Act::Takes => RmwOrd::Acquire,
            _ => access.order,
        };
        steps.push(Step {
            thread: access.thread,
            act,
            location,
            order,
            reads_last,
        });
        reads_last = match edge {
            Some(Edge::Rf | Edge::Create | Edge::Lock) => true,
            Some(Edge::Po) | None => false,
            Some(Edge::Mo | Edge::Fr) => return None,
        };
    }
    Some(steps)
}

/// Whether the first step happens before the last.
fn is_ordered(steps: &[Step]) -> bool {
    let locations = steps.iter().map(|step| step.location + 1).max();
    let mut graph = Graph::initial(vec![0; locations.unwrap_or(0)]);
    let mut events: Vec<EventId> = Vec::new();
    for step in steps {
        let label = step.label();
        let event = graph.push(Event {
            thread: Some(ThreadId(step.thread)),
            pc: Pc(0),
            label,
        });
        if let Some(loc) = label.loc() {
            if label.is_read() {
                let initial = graph.modification_order(loc)[0];
                let last = events.last().filter(|_| step.reads_last);
                graph.set_rf(event, last.copied().unwrap_or(initial));
            }
            if label.is_write() {
                let last = graph.modification_order(loc).len();
                graph.insert_mo(event, loc, last);
            }
        }
        events.push(event);
    }
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return false;
    };
    happens_before(Model::C20, &graph).contains(*first, *last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_log::Address;

    type Link = (u32, &'static str, &'static str, &'static str, &'static str);

    fn changes(way: &[Link]) -> Option<Vec<(usize, &'static str)>> {
        let way: Vec<_> = way
            .iter()
            .map(|&(thread, operation, order, address, edge)| {
                let known = RmwOrd::ALL.into_iter().find(|known| known.name() == order);
                let access = Access {
                    thread,
                    operation: Operation::from_name(operation).expect("an operation"),
                    order: known.expect("an order"),
                    address: address.bytes().next().map(|name| Address(name.into())),
                };
                (access, Some(Edge::from_name(edge).expect("an edge")))
            })
            .collect();
        let changes = order_race(&way)?;
        let changes = changes.into_iter().map(|change| match change {
            Change::Order { step, to } => (step, to),
            Change::Fence { .. } => panic!("no fence is needed"),
        });
        Some(changes.collect())
    }

    const WRITE: Link = (1, "plain access", "relaxed", "data", "po");
    const READ: Link = (2, "plain access", "relaxed", "data", "po");

    fn message_passing(store: &'static str, load: &'static str) -> [Link; 4] {
        let store = (1, "store", store, "flag", "rf");
        [WRITE, store, (2, "load", load, "flag", "po"), READ]
    }

    #[test]
    fn a_store_has_to_release_and_a_load_to_acquire() {
        let both = Some(vec![(1, "release"), (2, "acquire")]);
        assert_eq!(changes(&message_passing("relaxed", "relaxed")), both);
        let one = Some(vec![(1, "release")]);
        assert_eq!(changes(&message_passing("relaxed", "seq_cst")), one);
        let none = changes(&message_passing("release", "acquire"));
        assert_eq!(none, None, "it is no race");
    }

    #[test]
    fn a_fence_is_enough() {
        let mut way = message_passing("relaxed", "relaxed").to_vec();
        way.insert(3, (2, "fence", "acquire", "", "po"));
        assert_eq!(changes(&way), Some(vec![(1, "release")]));
        way.insert(1, (1, "fence", "release", "", "po"));
        assert_eq!(changes(&way), None);
    }

    /// The last owner of a reference count; and one in between, which is part of the release sequence.
    #[test]
    fn a_reference_count_has_to_acquire() {
        let rmw = |thread, order, edge| (thread, "read-modify-write", order, "count", edge);
        let free = (2, "plain access", "relaxed", "data", "po");
        let two = [
            WRITE,
            rmw(1, "release", "rf"),
            rmw(2, "release", "po"),
            free,
        ];
        assert_eq!(changes(&two), Some(vec![(2, "acq_rel")]));
        let three = [
            WRITE,
            rmw(1, "release", "rf"),
            rmw(3, "relaxed", "rf"),
            rmw(2, "relaxed", "po"),
            free,
        ];
        assert_eq!(changes(&three), Some(vec![(3, "acquire")]));
        let atomic = [rmw(1, "release", "rf"), rmw(2, "release", "po"), free];
        assert_eq!(changes(&atomic), Some(vec![(1, "acq_rel")]));
    }

    #[test]
    fn locks_and_creations_are_orders_already() {
        let way = [
            WRITE,
            (1, "store", "relaxed", "flag", "rf"),
            (3, "load", "acquire", "flag", "po"),
            (3, "unlock", "relaxed", "mutex", "sw"),
            (2, "lock", "relaxed", "mutex", "po"),
            READ,
        ];
        assert_eq!(changes(&way), Some(vec![(1, "release")]));
        let way = [WRITE, (1, "store", "relaxed", "flag", "fr"), READ];
        assert_eq!(changes(&way), None, "from-read orders nothing");
    }
}
