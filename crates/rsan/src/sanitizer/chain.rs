//! The accesses that force the order of a violation, and what would forbid the outcome.

use super::findings::{Resolver, thread_name};
use super::log;
use super::memory::Memory;
use super::repair::{self, Change};
use super::symbols::{Frame, place_of};
use rsan_model::Model;
use serde::Serialize;

/// A step of the chain.
#[derive(Debug, Serialize)]
pub(super) struct Link {
    pub(super) thread: String,
    pub(super) operation: String,
    pub(super) order: String,
    pub(super) address: Option<String>,
    /// What is at the address, in words.
    pub(super) memory: Option<String>,
    pub(super) stack: Vec<Frame>,
    /// To the next step: `po`, `rf`, `mo`, `fr`, `asw` or `sw`; null for the last.
    pub(super) edge: Option<String>,
}

impl Link {
    fn new(logged: &log::Link, resolver: &mut Resolver) -> Self {
        let address = logged.address.as_ref();
        let memory = logged.memory.as_ref().zip(address);
        let memory = memory.map(|(m, address)| Memory::new(m, address, resolver).place(address));
        Self {
            thread: thread_name(logged.thread),
            operation: logged.operation.clone(),
            order: logged.order.clone(),
            address: logged.address.clone(),
            memory,
            stack: resolver.symbols.stack(&logged.stack),
            edge: logged.edge.clone(),
        }
    }

    /// `file:line`, or module and offset.
    pub(super) fn place(&self) -> String {
        let known = place_of(&self.stack).and_then(Frame::place);
        let frame = self.stack.first();
        known
            .or_else(|| {
                let frame = frame?;
                let module = frame.module.as_deref().unwrap_or("?");
                Some(format!("{module}+{}", frame.offset.as_ref()?))
            })
            .unwrap_or_else(|| "an unknown place".to_owned())
    }

    /// What is accessed, in words; nothing for a fence.
    pub(super) fn what(&self) -> Option<&str> {
        self.memory.as_deref().or(self.address.as_deref())
    }
}

/// All steps, the missed write first and the access last.
pub(super) fn links(chain: &log::Chain, resolver: &mut Resolver) -> Vec<Link> {
    let links = chain.links.iter();
    links.map(|link| Link::new(link, resolver)).collect()
}

/// Changes that forbid the outcome.
#[derive(Debug, Serialize)]
pub(super) struct Repair {
    /// All of them in words.
    pub(super) message: String,
    pub(super) changes: Vec<RepairChange>,
}

/// A change.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum RepairChange {
    /// A new fence between two steps of the chain, which are counted from 0.
    Fence {
        order: &'static str,
        after: usize,
        before: usize,
    },
    /// Another order for a step.
    Order {
        step: usize,
        from: String,
        to: &'static str,
    },
}

/// The smallest change that makes the accesses of the chain robust, if all of them are known.
pub(super) fn repair(logged: &log::Chain, links: &[Link], model: Model) -> Option<Repair> {
    if !logged.fences_known {
        return None;
    }
    let accesses: Vec<_> = logged.links.iter().map(access).collect();
    let changes = repair::repair(&accesses, model)?;
    Some(described(changes, links))
}

/// The smallest change that makes the way from the earlier access of a race to the later one part of happens-before.
pub(super) fn order_race(logged: &log::Chain, links: &[Link]) -> Option<Repair> {
    let way = logged.links.iter();
    let way: Vec<_> = way
        .map(|link| (access(link), link.edge.as_deref()))
        .collect();
    Some(described(repair::order_race(&way)?, links))
}

fn access(link: &log::Link) -> repair::Access<'_> {
    repair::Access {
        thread: link.thread,
        operation: &link.operation,
        order: &link.order,
        address: link.address.as_deref(),
    }
}

fn described(changes: Vec<Change>, links: &[Link]) -> Repair {
    Repair {
        message: message(&changes, links),
        changes: changes
            .into_iter()
            .map(|change| match change {
                Change::Fence { after } => RepairChange::Fence {
                    order: "seq_cst",
                    after,
                    before: after + 1,
                },
                Change::Order { step, to } => RepairChange::Order {
                    step,
                    from: links[step].order.clone(),
                    to,
                },
            })
            .collect(),
    }
}

/// The same change in several threads is one.
fn message(changes: &[Change], links: &[Link]) -> String {
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    for change in changes {
        let (text, step) = match *change {
            Change::Fence { after } => {
                let (a, b) = (links[after].place(), links[after + 1].place());
                let text = format!("a seq_cst fence between {a} and {b}");
                (text, after)
            }
            Change::Order { step, to } => {
                let link = &links[step];
                let text = format!(
                    "{to} instead of {} for the {} at {}",
                    link.order,
                    link.operation,
                    link.place()
                );
                (text, step)
            }
        };
        let thread = links[step].thread.as_str();
        match parts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, threads)) => threads.push(thread),
            None => parts.push((text, vec![thread])),
        }
    }
    let parts = parts.into_iter();
    let texts: Vec<_> = parts
        .map(|(text, threads)| match threads.as_slice() {
            [_] => text,
            several => format!("{text}, in {}", several.join(" and ")),
        })
        .collect();
    texts.join("; and ")
}
