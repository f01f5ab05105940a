//! A finding as the log has it ([`rsan_log`]).

use crate::chain::Chain;
use crate::finding::{Finding, Side, StaleRead, Waiting};
use crate::heap;
use crate::held::Then;
use crate::memory::Memory;
use crate::modules::Module;
use crate::order::Taken;
use crate::stack::{Site, call_sites, frames};
use crate::thread;
use rsan_log::{Entry, Event, Stack};
use rsan_model::ThreadId;
use std::borrow::Cow;

/// What the log says of a finding.
pub(super) fn entry<'a>(
    finding: &Finding,
    chain: Option<&Chain>,
    modules: &'a [Module],
) -> Entry<'a> {
    Entry::Finding {
        finding: Box::new(Logger { modules }.finding(finding, chain)),
        step: super::steps(),
    }
}

/// What it says of a deadlock.
pub(super) fn deadlock<'a>(threads: &[Waiting], cycle: bool, modules: &'a [Module]) -> Entry<'a> {
    let logger = Logger { modules };
    let threads = threads.iter().map(|waiting| logger.waiting(waiting));
    Entry::Finding {
        finding: Box::new(rsan_log::Finding::Deadlock {
            cycle,
            threads: threads.collect(),
        }),
        step: None,
    }
}

/// What it says of a read of another write than the last one.
pub(super) fn stale<'a>(read: &StaleRead, modules: &'a [Module]) -> Event<'a> {
    let logger = Logger { modules };
    Event::Stale {
        step: read.step,
        address: read.address.into(),
        size: read.bytes as u64,
        memory: logger.memory(read.address),
        access: Box::new(logger.side(&read.access)),
        read: Box::new(logger.side(&read.read)),
        last: Box::new(logger.side(&read.last)),
    }
}

/// What the log says of an access of a weak run, which has made so many steps before it; of a fence, the address is 0.
pub(super) fn accessed(step: u64, address: usize, site: Site, modules: &[Module]) -> Event<'_> {
    Event::Access {
        step,
        memory: match address {
            0 => None,
            _ => Logger { modules }.memory(address),
        },
        stack: frames(site, modules),
    }
}

/// Knows the modules that addresses are in.
#[derive(Clone, Copy)]
struct Logger<'a> {
    modules: &'a [Module],
}

impl<'a> Logger<'a> {
    fn finding(self, finding: &Finding, chain: Option<&Chain>) -> rsan_log::Finding<'a> {
        let (address, bytes) = finding.extent();
        let memory = self.memory(address);
        let (address, size) = (address.into(), bytes as u64);
        match finding {
            Finding::Race {
                access, earlier, ..
            } => rsan_log::Finding::Race {
                address,
                size,
                memory,
                access: self.side(access),
                earlier: self.side(earlier),
                chain: chain.map(|chain| self.chain(chain)),
            },
            Finding::Violation {
                access,
                missed,
                stale,
                wait,
                ..
            } => rsan_log::Finding::Violation {
                address,
                size,
                memory,
                access: self.side(access),
                missed: Box::new(self.side(missed)),
                stale: Box::new(self.side(stale)),
                wait: *wait,
                chain: chain.map(|chain| self.chain(chain)),
            },
            Finding::Misuse {
                what,
                access,
                earlier,
                ..
            } => rsan_log::Finding::Misuse {
                address,
                size,
                memory,
                access: self.side(access),
                earlier: earlier.as_ref().map(|side| self.side(side)),
                what: what.kind(),
                text: what.text().map(Cow::Borrowed),
            },
            Finding::Inversion { taken } => rsan_log::Finding::Inversion {
                address,
                memory,
                locks: taken.iter().map(|taken| self.taken(taken)).collect(),
            },
        }
    }

    fn side(self, side: &Side) -> rsan_log::Side<'a> {
        let created = side.thread.and_then(thread::info).and_then(|i| i.created);
        let held = side.holding.locks(side.thread);
        rsan_log::Side {
            thread: side.thread.map(|thread| thread.0),
            name: name(side.thread),
            created: created.map(|(_, site)| self.stack(site)),
            operation: side.operation,
            order: side.order,
            value: side.value,
            function: side.function.name().map(Cow::Borrowed),
            stack: self.stack(side.site),
            held: held.map(|locks| self.held(&locks)),
            slept: side.slept.map(|site| self.stack(site)),
        }
    }

    fn taken(self, taken: &Taken) -> rsan_log::Taken<'a> {
        rsan_log::Taken {
            side: self.side(&taken.side()),
            address: taken.lock.into(),
            memory: self.memory(taken.lock),
        }
    }

    fn held(self, locks: &[Then]) -> Vec<rsan_log::Held<'a>> {
        let held = |&(lock, mode, pc): &Then| rsan_log::Held {
            address: lock.into(),
            memory: self.memory(lock),
            mode,
            stack: call_sites(vec![pc], self.modules),
        };
        locks.iter().map(held).collect()
    }

    fn waiting(self, waiting: &Waiting) -> rsan_log::Waiting<'a> {
        rsan_log::Waiting {
            thread: waiting.thread.0,
            name: name(Some(waiting.thread)),
            operation: waiting.operation,
            joins: waiting.joins.map(|thread| thread.0),
            held_by: waiting.held_by.map(|thread| thread.0),
            memory: waiting.address.and_then(|address| self.memory(address)),
            holds: self.held(&waiting.holds),
            stack: self.stack(waiting.site),
        }
    }

    fn chain(self, chain: &Chain) -> rsan_log::Chain<'a> {
        let last = chain.links.len().saturating_sub(1);
        let links = chain.links.iter().enumerate();
        rsan_log::Chain {
            fences_known: chain.fences_known,
            links: links
                .map(|(index, link)| rsan_log::Link {
                    thread: link.step.thread.0,
                    operation: link.step.act.operation(),
                    order: link.step.order,
                    address: link.address.map(Into::into),
                    memory: link.address.and_then(|address| self.memory(address)),
                    stack: self.stack(link.step.place.site()),
                    edge: (index != last).then_some(link.edge),
                    quiet: chain.is_quiet_after(index),
                })
                .collect(),
        }
    }

    fn memory(self, address: usize) -> Option<rsan_log::Memory<'a>> {
        Some(match Memory::at(address, self.modules) {
            Memory::Global { module, offset } => rsan_log::Memory::Global {
                module: Cow::Borrowed(module),
                offset: offset.into(),
            },
            Memory::Heap(block) => rsan_log::Memory::Heap {
                start: block.start.into(),
                size: block.size as u64,
                allocated: block.allocated.map(|context| self.context(context)),
                freed: block.freed.map(|context| self.context(context)),
            },
            Memory::Descriptor(descriptor) => rsan_log::Memory::Descriptor {
                number: descriptor.number as u64,
                created: Some(self.context(descriptor.created)),
            },
            Memory::Stack(thread) => rsan_log::Memory::Stack { thread: thread.0 },
            Memory::ThreadLocal(thread) => rsan_log::Memory::Tls { thread: thread.0 },
            Memory::Unknown => return None,
        })
    }

    fn context(self, heap::Context { thread, node }: heap::Context) -> rsan_log::Context<'a> {
        rsan_log::Context {
            thread: thread.0,
            stack: call_sites(node.stack(), self.modules),
        }
    }

    fn stack(self, site: Site) -> Stack<'a> {
        frames(site, self.modules)
    }
}

/// What the program calls a thread.
fn name(thread: Option<ThreadId>) -> Option<Cow<'static, str>> {
    thread.and_then(thread::name).map(Cow::Owned)
}
