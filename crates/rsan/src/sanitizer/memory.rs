//! What an address of data is: a variable, a block of the allocator, the stack of a thread; or a descriptor.

use super::findings::{Resolver, thread_name};
use super::scratch;
use super::symbols::{Frame, place_of};
use rsan_log::Address;
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
        /// Its values are numbers with a sign.
        #[serde(skip)]
        signed: bool,
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
    fn new(logged: Option<&rsan_log::Context>, resolver: &mut Resolver) -> Option<Self> {
        logged.map(|logged| Self {
            thread: thread_name(logged.thread),
            stack: resolver.symbols.stack(&logged.stack),
        })
    }
}

impl Memory {
    pub(super) fn new(
        logged: &rsan_log::Memory,
        address: Option<Address>,
        resolver: &mut Resolver,
    ) -> Self {
        match logged {
            rsan_log::Memory::Descriptor { number, created } => Self::Descriptor {
                number: *number,
                created: Context::new(created.as_ref(), resolver),
            },
            rsan_log::Memory::Global { module, offset } => {
                let known = resolver.names.variable(module, offset.0);
                let signed = known.as_ref().is_some_and(|(_, signed)| *signed);
                Self::Variable {
                    name: known.map(|(name, _)| name),
                    module: scratch::shown(module).to_owned(),
                    offset: offset.to_string(),
                    signed,
                }
            }
            rsan_log::Memory::Heap {
                start,
                size,
                allocated,
                freed,
            } => Self::Heap {
                start: start.to_string(),
                size: *size,
                offset: address.map_or(0, |at| at.0.saturating_sub(start.0)),
                allocated: Context::new(allocated.as_ref(), resolver),
                freed: Context::new(freed.as_ref(), resolver),
            },
            rsan_log::Memory::Stack { thread } => Self::Stack {
                thread: thread_name(*thread),
            },
            rsan_log::Memory::Tls { thread } => Self::ThreadLocal {
                thread: thread_name(*thread),
            },
        }
    }

    /// A value of so many bytes as its type has it.
    pub(super) fn value(&self, value: &str, bytes: u64) -> String {
        let signed = matches!(self, Self::Variable { signed: true, .. });
        match value.parse::<u128>() {
            Ok(number) if signed && (1..=8).contains(&bytes) => {
                let unused = 128 - 8 * bytes as u32;
                ((number << unused) as i128 >> unused).to_string()
            }
            _ => value.to_owned(),
        }
    }

    /// A name for all of it in a sentence: what is allocated or freed is the whole block.
    pub(super) fn whole(&self, address: &str) -> String {
        match self {
            Self::Heap {
                size, allocated, ..
            } => format!("a heap block of {size} bytes{}", born(allocated.as_ref())),
            _ => self.place(address),
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
                let at = born(allocated.as_ref());
                format!("byte {offset} of a heap block of {size} bytes{at}")
            }
            Self::Descriptor { number, .. } => format!("descriptor {number}"),
            Self::Stack { thread } => format!("{address} on the stack of {thread}"),
            Self::ThreadLocal { thread } => format!("{address} in {thread}'s thread-local storage"),
        }
    }
}

/// ` allocated at file:line`, or nothing.
fn born(allocated: Option<&Context>) -> String {
    let stack = allocated.map(|context| context.stack.as_slice());
    let place = stack.and_then(place_of).and_then(Frame::place);
    place.map_or(String::new(), |place| format!(" allocated at {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_sign_of_their_type() {
        let variable = |signed| Memory::Variable {
            name: None,
            module: String::new(),
            offset: String::new(),
            signed,
        };
        let value = |signed, text: &str, bytes| variable(signed).value(text, bytes);
        assert_eq!(value(true, "4294967295", 4), "-1");
        assert_eq!(value(true, "2147483647", 4), "2147483647");
        assert_eq!(value(true, "128", 1), "-128");
        assert_eq!(value(true, "18446744073709551614", 8), "-2");
        assert_eq!(value(false, "4294967295", 4), "4294967295");
        assert_eq!(value(true, "4294967295", 0), "4294967295");
    }
}
