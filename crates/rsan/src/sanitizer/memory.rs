//! What an address of data is: a variable, a block of the allocator, the stack of a thread; or a descriptor.

use super::findings::{Resolver, thread_name};
use super::log;
use super::symbols::{Frame, number, place_of};
use serde::Serialize;

/// Memory as people know it.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Memory {
    /// A global or static variable, with the element or member.
    Variable {
        name: Option<String>,
        module: String,
        /// In the module's file.
        offset: String,
    },
    /// A block of the allocator.
    Heap {
        start: String,
        size: u64,
        /// Of the address in the block.
        offset: u64,
        allocated: Option<Context>,
        freed: Option<Context>,
    },
    /// No memory, but a file descriptor.
    Descriptor {
        number: u64,
        created: Option<Context>,
    },
    /// The stack of a thread.
    Stack { thread: String },
    /// Thread-local storage.
    ThreadLocal { thread: String },
}

/// Who did something with a block, and where.
#[derive(Debug, Serialize)]
pub(super) struct Context {
    pub(super) thread: String,
    pub(super) stack: Vec<Frame>,
}

impl Context {
    fn new(logged: Option<&log::Context>, resolver: &mut Resolver) -> Option<Self> {
        logged.map(|logged| Self {
            thread: thread_name(logged.thread),
            stack: resolver.symbols.stack(&logged.stack),
        })
    }
}

impl Memory {
    pub(super) fn new(logged: &log::Memory, address: &str, resolver: &mut Resolver) -> Self {
        match logged {
            log::Memory::Descriptor { number, created } => Self::Descriptor {
                number: *number,
                created: Context::new(created.as_ref(), resolver),
            },
            log::Memory::Global { module, offset } => Self::Variable {
                name: number(offset).and_then(|at| resolver.names.variable(module, at)),
                module: module.clone(),
                offset: offset.clone(),
            },
            log::Memory::Heap {
                start,
                size,
                allocated,
                freed,
            } => {
                let offset = number(address).zip(number(start));
                Self::Heap {
                    start: start.clone(),
                    size: *size,
                    offset: offset.map_or(0, |(at, start)| at.saturating_sub(start)),
                    allocated: Context::new(allocated.as_ref(), resolver),
                    freed: Context::new(freed.as_ref(), resolver),
                }
            }
            log::Memory::Stack { thread } => Self::Stack {
                thread: thread_name(*thread),
            },
            log::Memory::Tls { thread } => Self::ThreadLocal {
                thread: thread_name(*thread),
            },
        }
    }

    /// A name for it in a sentence.
    pub(super) fn place(&self, address: &str) -> String {
        match self {
            Self::Variable {
                name: Some(name), ..
            } => format!("`{name}`"),
            Self::Variable { .. } => address.to_owned(),
            Self::Heap {
                size,
                offset,
                allocated,
                ..
            } => {
                let stack = allocated.as_ref().map(|context| context.stack.as_slice());
                let place = stack.and_then(place_of).and_then(Frame::place);
                let at = place.map_or(String::new(), |place| format!(" allocated at {place}"));
                format!("byte {offset} of a heap block of {size} bytes{at}")
            }
            Self::Descriptor { number, .. } => format!("descriptor {number}"),
            Self::Stack { thread } => format!("{address} on the stack of {thread}"),
            Self::ThreadLocal { thread } => format!("{address} in {thread}'s thread-local storage"),
        }
    }
}
