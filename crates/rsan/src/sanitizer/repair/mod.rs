//! The smallest change that forbids a weak outcome, in the shape of its chain of accesses.
//!
//! **Decides** which stronger orders and which seq_cst fences make the accesses of the chain, as a straight-line
//! program with the fences that stand between them, robust against the model; the oracle of `rsan-axioms` is asked, nothing is guessed. Of all that do, the
//! cheapest is taken: adding acquire or release to an order costs 1, making it seq_cst 3, a new seq_cst fence 4; among
//! equals, the fewest changes. What the rest of the program does is not looked at: it may make a change superfluous.
//!
//! **How**: the chain visits each thread once, in a *segment*. A variant of a segment is out if even with everything
//! else as strong as can be the program is not robust, for a stronger order never adds a weak outcome. The variants that are left are combined,
//! cheapest first.

mod ordering;
mod shape;

pub(super) use ordering::order_race;

use rsan_log::{Address, Operation};
use rsan_model::{Model, RmwOrd};
use shape::{Act, Step, is_robust};

/// A step of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) thread: u32,
    pub(super) operation: Operation,
    pub(super) order: RmwOrd,
    pub(super) address: Option<Address>,
}

/// A change to steps of the chain, which are named by their position in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Change {
    /// A seq_cst fence between a step and the next one.
    Fence { after: usize },
    /// Another order for a step.
    Order { step: usize, to: &'static str },
}

const RELEASE_OR_ACQUIRE: u32 = 1;
const SEQ_CST: u32 = 3;
const FENCE: u32 = 4;

/// Variants of a segment, and combinations of them, after which the search gives up.
const VARIANTS: usize = 512;
const COMBINATIONS: usize = 4000;

/// A segment with some orders stronger and some fences added.
#[derive(Clone, Debug)]
struct Variant {
    cost: u32,
    changes: Vec<Change>,
    steps: Vec<Step>,
}

/// The cheapest changes that make the accesses robust; `None` if the chain is not of a kind that is understood, or
/// nothing is found.
pub(super) fn repair(chain: &[Access], model: Model) -> Option<Vec<Change>> {
    let segments = segments(chain)?;
    let plain: Vec<_> = segments.iter().map(|(_, steps)| steps.clone()).collect();
    let strongest: Vec<_> = plain.iter().map(|steps| strongest(steps, model)).collect();
    if is_robust(&plain, model)? || !is_robust(&strongest, model)? {
        return None;
    }
    let mut choices = Vec::new();
    for (index, (first, steps)) in segments.iter().enumerate() {
        let mut kept = Vec::new();
        for variant in variants(*first, steps, model)? {
            let mut threads = strongest.clone();
            threads[index] = variant.steps.clone();
            if is_robust(&threads, model)? {
                kept.push(variant);
            }
        }
        choices.push(kept);
    }
    cheapest(&choices, model)
}

/// The first position and the steps of each thread; `None` if a thread comes twice or does something else.
fn segments(chain: &[Access]) -> Option<Vec<(usize, Vec<Step>)>> {
    let mut segments: Vec<(usize, Vec<Step>)> = Vec::new();
    let (mut threads, mut addresses) = (Vec::new(), Vec::new());
    for (position, access) in chain.iter().enumerate() {
        let act = match access.operation {
            Operation::Load => Act::Load,
            Operation::Store => Act::Store,
            Operation::Rmw => Act::Rmw,
            Operation::Fence => Act::Fence,
            _ => return None,
        };
        let location = match access.address {
            Some(address) => {
                let known = addresses.iter().position(|known| *known == address);
                known.unwrap_or_else(|| {
                    addresses.push(address);
                    addresses.len() - 1
                })
            }
            None => 0,
        };
        let step = Step {
            act,
            order: access.order,
            location: location as u32,
        };
        match segments.last_mut() {
            Some((_, steps)) if threads.last() == Some(&access.thread) => steps.push(step),
            _ if threads.contains(&access.thread) => return None,
            _ => {
                threads.push(access.thread);
                segments.push((position, vec![step]));
            }
        }
    }
    (segments.len() > 1).then_some(segments)
}

fn cost(from: RmwOrd, to: RmwOrd) -> u32 {
    if to.is_sc() {
        return SEQ_CST;
    }
    let added = |has: fn(RmwOrd) -> bool| u32::from(has(to) && !has(from));
    RELEASE_OR_ACQUIRE * (added(RmwOrd::acquires) + added(RmwOrd::releases))
}

const FENCE_STEP: Step = Step {
    act: Act::Fence,
    order: RmwOrd::SeqCst,
    location: 0,
};

fn strongest(steps: &[Step], model: Model) -> Vec<Step> {
    let strong = |step: &Step| Step {
        order: if model.has_sc_accesses() || step.act == Act::Fence {
            RmwOrd::SeqCst
        } else {
            RmwOrd::AcqRel
        },
        ..*step
    };
    let pairs = steps.iter().flat_map(|step| [strong(step), FENCE_STEP]);
    pairs.collect()
}

/// Every way to make the steps stronger, which stand in the chain from `first` on.
fn variants(first: usize, steps: &[Step], model: Model) -> Option<Vec<Variant>> {
    let mut all = vec![Variant {
        cost: 0,
        changes: Vec::new(),
        steps: Vec::new(),
    }];
    for (index, step) in steps.iter().enumerate() {
        let position = first + index;
        let mut orders = vec![(step.order, 0, None)];
        for order in step.stronger(model) {
            let to = order.name();
            let change = Change::Order { step: position, to };
            orders.push((order, cost(step.order, order), Some(change)));
        }
        let next = steps.get(index + 1);
        let fences = next.is_some_and(|next| next.act != Act::Fence) && step.act != Act::Fence;
        let mut longer = Vec::new();
        for variant in &all {
            for (order, cost, change) in &orders {
                let mut with = variant.clone();
                with.cost += cost;
                with.changes.extend(change);
                with.steps.push(Step {
                    order: *order,
                    ..*step
                });
                if fences {
                    let mut fenced = with.clone();
                    fenced.cost += FENCE;
                    fenced.changes.push(Change::Fence { after: position });
                    fenced.steps.push(FENCE_STEP);
                    longer.push(fenced);
                }
                longer.push(with);
            }
        }
        all = longer;
        if all.len() > VARIANTS {
            return None;
        }
    }
    Some(all)
}

/// The cheapest robust combination of a variant of each segment.
fn cheapest(choices: &[Vec<Variant>], model: Model) -> Option<Vec<Change>> {
    let mut combinations: Vec<(u32, Vec<Change>, Vec<Vec<Step>>)> =
        vec![(0, Vec::new(), Vec::new())];
    for variants in choices {
        let mut longer = Vec::new();
        for (cost, changes, threads) in &combinations {
            for variant in variants {
                let changes = [changes.as_slice(), &variant.changes].concat();
                let threads = [threads.as_slice(), std::slice::from_ref(&variant.steps)].concat();
                longer.push((cost + variant.cost, changes, threads));
            }
        }
        longer.sort_by(|a, b| (a.0, a.1.len(), &a.1).cmp(&(b.0, b.1.len(), &b.1)));
        combinations = longer;
        if combinations.len() > COMBINATIONS {
            return None;
        }
    }
    for (_, changes, threads) in combinations {
        if is_robust(&threads, model)? {
            return Some(changes);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `thread operation order location`, one after the other.
    fn changes(chain: &[(u32, &str, &str, &str)]) -> Option<Vec<Change>> {
        changes_for(chain, Model::C20)
    }

    fn changes_for(chain: &[(u32, &str, &str, &str)], model: Model) -> Option<Vec<Change>> {
        let chain: Vec<_> = chain
            .iter()
            .map(|&(thread, operation, order, address)| Access {
                thread,
                operation: Operation::from_name(operation).expect("an operation"),
                order: RmwOrd::ALL
                    .into_iter()
                    .find(|known| known.name() == order)
                    .expect("an order"),
                address: address.bytes().next().map(|name| Address(name.into())),
            })
            .collect();
        repair(&chain, model)
    }

    #[test]
    fn store_buffering_needs_a_fence_in_both_threads() {
        let relaxed = [
            (1, "store", "relaxed", "x"),
            (1, "load", "relaxed", "y"),
            (2, "store", "relaxed", "y"),
            (2, "load", "relaxed", "x"),
        ];
        let [first, second] = [Change::Fence { after: 0 }, Change::Fence { after: 2 }];
        assert_eq!(changes(&relaxed), Some(vec![first, second]));
        let mut fenced = relaxed.to_vec();
        fenced.insert(1, (1, "fence", "seq_cst", ""));
        assert_eq!(changes(&fenced), Some(vec![Change::Fence { after: 3 }]));
        fenced[1].2 = "acq_rel";
        let raised = Change::Order {
            step: 1,
            to: "seq_cst",
        };
        let both = vec![raised, Change::Fence { after: 3 }];
        assert_eq!(changes(&fenced), Some(both));
        let seq_cst = relaxed.map(|(thread, operation, _, x)| (thread, operation, "seq_cst", x));
        assert_eq!(changes(&seq_cst), None, "it is robust");
    }

    /// One fence in each thread is enough for RC20, where fences are ordered among each other.
    #[test]
    fn repairs_for_rc20_have_no_seq_cst_accesses() {
        let relaxed = [
            (1, "store", "relaxed", "x"),
            (1, "load", "relaxed", "y"),
            (2, "store", "relaxed", "y"),
            (2, "load", "relaxed", "x"),
        ];
        let fences = [0, 2].map(|after| Change::Fence { after });
        assert_eq!(changes_for(&relaxed, Model::Rc20), Some(fences.to_vec()));
    }

    #[test]
    fn message_passing_needs_release_and_acquire() {
        let relaxed = [
            (1, "store", "relaxed", "data"),
            (1, "store", "relaxed", "flag"),
            (2, "load", "relaxed", "flag"),
            (2, "load", "relaxed", "data"),
        ];
        let order = |step, to| Change::Order { step, to };
        let expected = vec![order(1, "release"), order(2, "acquire")];
        assert_eq!(changes(&relaxed), Some(expected));
        let mut half = relaxed;
        half[1].2 = "release";
        assert_eq!(changes(&half), Some(vec![order(2, "acquire")]));
    }

    #[test]
    fn three_threads_are_understood() {
        let ring = [
            (1, "store", "release", "x"),
            (1, "load", "acquire", "y"),
            (2, "store", "release", "y"),
            (2, "load", "acquire", "z"),
            (3, "store", "release", "z"),
            (3, "load", "acquire", "x"),
        ];
        let expected = [0, 2, 4].map(|after| Change::Fence { after });
        assert_eq!(changes(&ring), Some(expected.to_vec()));
        let four = [
            (1, "store", "relaxed", "x"),
            (2, "load", "acquire", "x"),
            (2, "load", "acquire", "y"),
            (3, "store", "relaxed", "y"),
            (4, "load", "acquire", "y"),
            (4, "load", "acquire", "x"),
        ];
        let expected = [1, 4].map(|after| Change::Fence { after });
        assert_eq!(changes(&four), Some(expected.to_vec()));
    }

    #[test]
    fn what_is_not_understood_has_no_repair() {
        let lock = [
            (1, "store", "relaxed", "x"),
            (1, "lock", "relaxed", "m"),
            (2, "load", "relaxed", "x"),
        ];
        assert_eq!(changes(&lock), None);
        let again = [
            (1, "store", "relaxed", "x"),
            (2, "load", "relaxed", "x"),
            (1, "load", "relaxed", "x"),
        ];
        assert_eq!(changes(&again), None);
    }
}
