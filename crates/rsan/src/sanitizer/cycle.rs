//! The chain of a finding, or the steps of a run, as a cycle that the machines are asked about.
//!
//! What the log does not say may order the accesses nevertheless: fences that were forgotten, read-modify-writes between two
//! accesses (a fence on x86), and how a lock is made. The cycle is asked about without them and with them, and only what both answers say is told.

use crate::machines::{Act, Cycle, Order, Shape, Step};
use rsan_log::{Chain, Edge, Finding, Link, Operation, Side};
use rsan_model::RmwOrd;
use rsan_schedule::sequential::Relation;
use rsan_schedule::{Kind, Step as Executed};
use std::collections::BTreeMap;

/// The cycle of a weak behaviour, or the one that shows that a race is not ordered; `None` if it is not known.
pub(super) fn of(finding: &Finding<'_>) -> Option<Cycle> {
    let (chain, ends) = match finding {
        Finding::Violation { access, chain, .. } => {
            let back = match access.operation {
                Operation::Store => Order::Mo,
                _ => Order::Fr,
            };
            (chain.as_ref()?, Ends { sides: None, back })
        }
        Finding::Race {
            access,
            earlier,
            chain,
            ..
        } => (chain.as_ref()?, Ends::of_race(access, earlier)?),
        Finding::Misuse { .. } | Finding::Deadlock { .. } | Finding::Inversion { .. } => {
            return None;
        }
    };
    let weakest = shape(chain, &ends, false)?;
    let strongest = shape(chain, &ends, true)?;
    Some(Cycle {
        strongest: (strongest != weakest).then_some(strongest),
        weakest,
    })
}

/// The cycle that a run of which every step is known is not sequentially consistent for; `None` if locks or the creation of
/// threads are part of it.
pub(super) fn of_run(steps: &[Executed], cycle: &[(usize, Relation)]) -> Option<Cycle> {
    let weakest = run(steps, cycle, false)?;
    let strongest = run(steps, cycle, true)?;
    Some(Cycle {
        strongest: (strongest != weakest).then_some(strongest),
        weakest,
    })
}

/// The steps of the cycle and those between them in their threads. What locks and system calls order is not known.
fn run(steps: &[Executed], cycle: &[(usize, Relation)], strongest: bool) -> Option<Shape> {
    let mut builder = Builder::new(strongest);
    let mut spans: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (step, _) in cycle {
        let span = spans.entry(steps.get(*step)?.thread.0);
        let (first, last) = span.or_insert((*step, *step));
        (*first, *last) = ((*first).min(*step), (*last).max(*step));
    }
    let mut places = BTreeMap::new();
    for (thread, (first, last)) in spans {
        let own = (first..=last).filter(|index| steps[*index].thread.0 == thread);
        for index in own {
            let step = &steps[index];
            let order = step.order.unwrap_or(RmwOrd::Relaxed);
            let act = match step.op.kind {
                Kind::Load | Kind::Wait | Kind::WaitAny => Act::Load,
                Kind::Store => Act::Store,
                Kind::Update | Kind::WaitUpdate => Act::Rmw,
                Kind::Compare if step.writes => Act::Rmw,
                Kind::Compare if step.spurious => Act::Spurious,
                Kind::Compare => Act::Failed,
                Kind::Fence => Act::Fence,
                Kind::Yield => continue,
                Kind::Begin
                | Kind::End
                | Kind::Lock
                | Kind::Unlock
                | Kind::Sync
                | Kind::Spawn
                | Kind::Join
                | Kind::Arrive
                | Kind::Leave => {
                    if strongest {
                        builder.push(thread, Step::full_fence());
                    }
                    continue;
                }
            };
            let location = builder.location(step.op.object);
            let at = builder.push(thread, Step::new(act, order, location));
            places.insert(index, at);
        }
    }
    let next = cycle.iter().cycle().skip(1);
    for ((from, relation), (to, _)) in cycle.iter().zip(next) {
        let order = match relation {
            Relation::Po => continue,
            Relation::Rf => Order::Rf,
            Relation::Mo => Order::Mo,
            Relation::Fr => Order::Fr,
            Relation::Asw | Relation::Sw => return None,
        };
        let wanted = (*places.get(from)?, order, *places.get(to)?);
        builder.shape.wanted.push(wanted);
    }
    Some(builder.shape)
}

/// How a chain becomes a cycle.
struct Ends {
    /// What the first and the last link do, if they are plain accesses.
    sides: Option<[Act; 2]>,
    /// From the last link to the first.
    back: Order,
}

impl Ends {
    /// The later access takes effect before the earlier one.
    fn of_race(access: &Side<'_>, earlier: &Side<'_>) -> Option<Self> {
        let sides = [act_of(earlier.operation)?, act_of(access.operation)?];
        let back = match sides.map(Act::writes) {
            [true, true] => Order::Mo,
            [true, false] => Order::Fr,
            [false, true] => Order::Rf,
            [false, false] => return None,
        };
        Some(Self {
            sides: Some(sides),
            back,
        })
    }
}

fn act_of(operation: Operation) -> Option<Act> {
    match operation {
        Operation::Read => Some(Act::PlainLoad),
        Operation::Write | Operation::Free | Operation::Allocation => Some(Act::PlainStore),
        Operation::AtomicRead => Some(Act::Load),
        Operation::AtomicWrite => Some(Act::Store),
        _ => None,
    }
}

/// Locations that stand for no address: flags of threads and locks, and what else is written.
const FLAGS: u32 = 1 << 16;

fn shape(chain: &Chain<'_>, ends: &Ends, strongest: bool) -> Option<Shape> {
    let mut builder = Builder::new(strongest);
    let mut places = Vec::new();
    let last = chain.links.len().checked_sub(1)?;
    for (index, link) in chain.links.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &chain.links[before]);
        if let Some(before) = before.filter(|before| before.thread == link.thread && strongest) {
            builder.between(before, chain.fences_known, index);
        }
        let side = match (index, &ends.sides) {
            (0, Some([first, _])) => Some(*first),
            (index, Some([_, access])) if index == last => Some(*access),
            _ => None,
        };
        // A lock or a creation, and what it leads to, have a flag of their own.
        let flag = match before.and_then(|before| before.edge) {
            Some(Edge::Lock | Edge::Create) => FLAGS + index as u32 - 1,
            _ => FLAGS + index as u32,
        };
        places.push(builder.link(link, side, flag)?);
    }
    for (index, link) in chain.links.iter().enumerate() {
        let order = match link.edge {
            Some(Edge::Po) => continue,
            Some(Edge::Rf | Edge::Create | Edge::Lock) => Order::Rf,
            Some(Edge::Mo) => Order::Mo,
            Some(Edge::Fr) => Order::Fr,
            None => ends.back,
        };
        let next = if index == last { 0 } else { index + 1 };
        let wanted = (places[index], order, places[next]);
        builder.shape.wanted.push(wanted);
    }
    Some(builder.shape)
}

struct Builder {
    shape: Shape,
    /// The threads of the shape, by their numbers in the run.
    threads: Vec<u32>,
    addresses: Vec<u64>,
    strongest: bool,
}

impl Builder {
    fn new(strongest: bool) -> Self {
        Self {
            shape: Shape::default(),
            threads: Vec::new(),
            addresses: Vec::new(),
            strongest,
        }
    }

    /// The number of an address.
    fn location(&mut self, address: u64) -> u32 {
        let known = self.addresses.iter().position(|known| *known == address);
        let number = known.unwrap_or_else(|| {
            self.addresses.push(address);
            self.addresses.len() - 1
        });
        number as u32
    }

    fn push(&mut self, thread: u32, step: Step) -> (usize, usize) {
        let known = self.threads.iter().position(|known| *known == thread);
        let thread = known.unwrap_or_else(|| {
            self.threads.push(thread);
            self.shape.threads.push(Vec::new());
            self.threads.len() - 1
        });
        let steps = &mut self.shape.threads[thread];
        steps.push(step);
        (thread, steps.len() - 1)
    }

    /// What may stand between a link and the next one of its thread. A relaxed read-modify-write is a fence on x86 only.
    fn between(&mut self, link: &Link<'_>, fences_known: bool, index: usize) {
        if !fences_known {
            self.push(link.thread, Step::full_fence());
        }
        if !link.quiet {
            let location = 2 * FLAGS + index as u32;
            let update = Step::new(Act::Rmw, RmwOrd::Relaxed, location);
            self.push(link.thread, update);
        }
    }

    /// Adds a link, and says where it is.
    fn link(&mut self, link: &Link<'_>, side: Option<Act>, flag: u32) -> Option<(usize, usize)> {
        let location = link.address.map_or(0, |address| self.location(address.0));
        let thread = link.thread;
        let (act, order, location) = match (link.operation, side) {
            (Operation::Load, _) => (Act::Load, link.order, location),
            (Operation::Store, _) => (Act::Store, link.order, location),
            (Operation::Rmw, _) => (Act::Rmw, link.order, location),
            (Operation::Fence, _) => (Act::Fence, link.order, 0),
            (Operation::PlainWrite, _) => (Act::PlainStore, link.order, location),
            (Operation::PlainAccess, Some(side)) => (side, link.order, location),
            (Operation::CreateThread, _) => {
                self.push(thread, Step::full_fence());
                (Act::Store, RmwOrd::Relaxed, flag)
            }
            (Operation::Begin, _) => {
                let at = self.push(thread, Step::new(Act::Load, RmwOrd::Relaxed, flag));
                self.push(thread, Step::full_fence());
                return Some(at);
            }
            (Operation::Unlock, _) => (Act::Store, RmwOrd::Release, flag),
            (Operation::Lock, _) => (Act::Rmw, RmwOrd::Acquire, flag),
            _ => return None,
        };
        let is_lock = matches!(link.operation, Operation::Unlock | Operation::Lock);
        let fenced = self.strongest && is_lock;
        if fenced {
            self.push(thread, Step::full_fence());
        }
        let at = self.push(thread, Step::new(act, order, location));
        if fenced {
            self.push(thread, Step::full_fence());
        }
        Some(at)
    }
}
