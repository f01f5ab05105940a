//! What is at an address: a variable, a block of the allocator, the stack of a thread; or a descriptor.

use super::{Frame, Thread, place_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory as people know it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Memory {
    /// A global or static variable, with the element or member.
    Variable {
        /// If it is known.
        name: Option<String>,
        /// Whose variable it is.
        module: String,
        /// In the module's file.
        offset: String,
    },
    /// A block of the allocator.
    Heap {
        /// Its address.
        start: String,
        /// In bytes.
        size: u64,
        /// Of the address in the block.
        offset: u64,
        /// By whom, and where.
        allocated: Option<Context>,
        /// By whom, and where.
        freed: Option<Context>,
    },
    /// No memory, but a file descriptor.
    Descriptor {
        /// Of the process.
        number: u64,
        /// By whom, and where.
        created: Option<Context>,
    },
    /// The stack of a thread.
    Stack {
        /// Whose.
        thread: Thread,
    },
    /// Thread-local storage.
    ThreadLocal {
        /// Whose.
        thread: Thread,
    },
}

/// Who did something with a block, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// Who.
    pub thread: Thread,
    /// Where, innermost first.
    pub stack: Vec<Frame>,
}

impl Memory {
    /// A name for all of it in a sentence: what is allocated or freed is the whole block.
    pub fn whole(&self, address: &str) -> String {
        match self {
            Self::Heap {
                size, allocated, ..
            } => format!("a heap block of {size} bytes{}", born(allocated.as_ref())),
            Self::Variable { .. }
            | Self::Descriptor { .. }
            | Self::Stack { .. }
            | Self::ThreadLocal { .. } => self.place(address),
        }
    }

    /// A name for it in a sentence.
    pub fn place(&self, address: &str) -> String {
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
    place.map_or(String::new(), |place| {
        format!(" allocated at {}", place.file_line())
    })
}
