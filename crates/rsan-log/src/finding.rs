//! Findings, with the addresses and stacks that the runtime knows.

use crate::names::{Edge, Misuse, Mode, Operation, Wait};
use crate::same::Key;
use crate::write::{Fields, Json, Object};
use rsan_model::RmwOrd;
use std::borrow::Cow;
use std::fmt;

/// An address, in the memory of a process or in the file of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u64);

impl From<usize> for Address {
    fn from(address: usize) -> Self {
        Self(address as u64)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Json for Address {
    fn json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

record! {
    /// An instruction.
    #[derive(PartialOrd, Ord, Hash)]
    Frame {
        /// The path of the module's file, if the instruction is in one.
        module: Option<Cow<'a, str>>,
        /// An address in the file, as `addr2line -e module` takes it, that lies in the call instruction.
        offset: Address,
    }
}

/// A stack, innermost first; empty where nothing is known.
pub type Stack<'a> = Vec<Frame<'a>>;

tagged! {
    /// What is at an address.
    Memory {
        /// A variable: a module, and an address in its file.
        Global "global" {
            /// The path of the module's file.
            module: Cow<'a, str>,
            /// In the file.
            offset: Address,
        },
        /// A block of the allocator.
        Heap "heap" {
            /// Its first byte.
            start: Address,
            /// In bytes.
            size: u64,
            /// Who allocated it.
            allocated: Option<Context<'a>>,
            /// Who freed it.
            freed: Option<Context<'a>>,
        },
        /// A file descriptor.
        Descriptor "descriptor" {
            /// As the program has it.
            number: u64,
            /// Who opened it.
            created: Option<Context<'a>>,
        },
        /// The stack of a thread.
        Stack "stack" {
            /// Whose.
            thread: u32,
        },
        /// Thread-local storage.
        Tls "tls" {
            /// Whose.
            thread: u32,
        },
    }
}

record! {
    /// Who did something with memory, and where.
    Context {
        /// Who.
        thread: u32,
        /// Where.
        stack: Stack<'a>,
    }
}

record! {
    /// An access in a finding.
    Side {
        /// Who; `None` for the initial value.
        thread: Option<u32>,
        /// What the program calls the thread.
        #[cfg_attr(feature = "read", serde(default))]
        name: Option<Cow<'a, str>>,
        /// Where the thread was created.
        created: Option<Stack<'a>>,
        /// What.
        operation: Operation,
        /// Memory order of an atomic access.
        #[cfg_attr(feature = "read", serde(default, deserialize_with = "crate::read::order_if_any"))]
        order: Option<RmwOrd>,
        /// The value written; of a load that can be weak, what it reads.
        #[cfg_attr(feature = "read", serde(default, deserialize_with = "crate::read::decimal_if_any"))]
        value: Option<u128>,
        /// The function of libc that makes it.
        function: Option<Cow<'a, str>>,
        /// Where.
        stack: Stack<'a>,
        /// The locks that its thread had, if that is known.
        held: Option<Vec<Held<'a>>>,
        /// Where its thread slept between the earlier access of a race and this one.
        slept: Option<Stack<'a>>,
    }
}

record! {
    /// A lock that a thread has.
    Held {
        /// The lock.
        address: Address,
        /// What is there.
        memory: Option<Memory<'a>>,
        /// How it is held.
        mode: Mode,
        /// Where it was taken.
        stack: Stack<'a>,
    }
}

/// A lock that was taken while another one was held.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "read", derive(serde::Deserialize))]
pub struct Taken<'a> {
    /// By whom, and where.
    #[cfg_attr(feature = "read", serde(flatten))]
    pub side: Side<'a>,
    /// The lock.
    pub address: Address,
    /// What is there.
    pub memory: Option<Memory<'a>>,
}

object!(Taken);

impl Fields for Taken<'_> {
    fn fields(&self, object: &mut Object<'_, '_>) -> fmt::Result {
        self.side.fields(object)?;
        object.field("address", &self.address)?;
        object.field("memory", &self.memory)
    }
}

record! {
    /// A thread of a deadlock.
    Waiting {
        /// Who.
        thread: u32,
        /// What the program calls it.
        #[cfg_attr(feature = "read", serde(default))]
        name: Option<Cow<'a, str>>,
        /// What it is about to do.
        operation: Operation,
        /// The thread whose end it waits for.
        joins: Option<u32>,
        /// Who has the lock that it waits for, if that is known.
        held_by: Option<u32>,
        /// What it waits for, if it is in memory.
        memory: Option<Memory<'a>>,
        /// The locks that it has.
        #[cfg_attr(feature = "read", serde(default))]
        holds: Vec<Held<'a>>,
        /// Where.
        stack: Stack<'a>,
    }
}

tagged! {
    /// How a program fails.
    Manner {
        /// `assert` found its condition false.
        Assertion "assertion" {
            /// The condition, as the program has it.
            text: Cow<'a, str>,
            /// As the compiler names it.
            file: Cow<'a, str>,
            /// In the file.
            line: u32,
            /// Where the assertion is, if that is known.
            function: Option<Cow<'a, str>>,
        },
        /// It calls `abort`, or a library does: for an exception that nobody catches, say.
        Abort "abort",
        /// A signal that it does not handle.
        Signal "signal" {
            /// As the system numbers it.
            number: u32,
            /// What the thread accessed or executed, if the signal is a fault.
            address: Option<Address>,
        },
        /// It ends with a status that is not 0.
        Exit "exit" {
            /// As the system has it.
            status: u32,
        },
    }
}

record! {
    /// A program fails: how, and where.
    Failure {
        /// How.
        manner: Manner<'a>,
        /// Who; `None` if the runtime does not know the thread.
        thread: Option<u32>,
        /// What the program calls the thread.
        name: Option<Cow<'a, str>>,
        /// Where; empty for a return from `main`.
        stack: Stack<'a>,
    }
}

record! {
    /// The accesses that force the order of a violation, from the missed write to the access; or that would order a race.
    Chain {
        /// All fences in between are among the links.
        fences_known: bool,
        /// The accesses.
        links: Vec<Link<'a>>,
    }
}

record! {
    /// A step of a chain.
    Link {
        /// Who.
        thread: u32,
        /// What.
        operation: Operation,
        /// Memory order.
        #[cfg_attr(feature = "read", serde(deserialize_with = "crate::read::order"))]
        order: RmwOrd,
        /// Of what; `None` for a fence.
        address: Option<Address>,
        /// What is there.
        memory: Option<Memory<'a>>,
        /// Where.
        stack: Stack<'a>,
        /// To the next link; `None` for the last.
        edge: Option<Edge>,
        /// The thread did no other atomic write and took no lock before the next link, which is its own, too. A relaxed write after
        /// a release store may go unseen.
        #[cfg_attr(feature = "read", serde(default))]
        quiet: bool,
    }
}

tagged! {
    /// Something that was found.
    Finding {
        /// Two accesses race.
        Race "race" {
            /// Where in memory.
            address: Address,
            /// How much, in bytes.
            size: u64,
            /// What is there.
            memory: Option<Memory<'a>>,
            /// The access that was about to be made.
            access: Side<'a>,
            /// The other one.
            earlier: Side<'a>,
            /// The accesses that would order them if their orders were stronger, from the earlier one (a plain access, or
            /// its link) to this one, if they are known.
            #[cfg_attr(feature = "read", serde(default))]
            chain: Option<Chain<'a>>,
        },
        /// An access can be weak.
        Violation "violation" {
            /// Where in memory.
            address: Address,
            /// How much, in bytes.
            size: u64,
            /// What is there.
            memory: Option<Memory<'a>>,
            /// The access.
            access: Side<'a>,
            /// The write that every sequentially consistent order puts before the access.
            missed: Box<Side<'a>>,
            /// The older write that the access may read or follow.
            stale: Box<Side<'a>>,
            /// What the program does with the stale value, if that was asked.
            wait: Option<Wait>,
            /// What forces the order, if it is known.
            chain: Option<Chain<'a>>,
        },
        /// Memory is used after its end, or a lock wrongly.
        Misuse "misuse" {
            /// Where in memory; 0 if nowhere.
            address: Address,
            /// How much, in bytes.
            size: u64,
            /// What is there.
            memory: Option<Memory<'a>>,
            /// The access or call.
            access: Side<'a>,
            /// What makes it wrong: the free, the destruction, if that is known.
            earlier: Option<Side<'a>>,
            /// How it is wrong.
            what: Misuse,
            /// What that does not say.
            text: Option<Cow<'a, str>>,
        },
        /// Threads wait for ever.
        Deadlock "deadlock" {
            /// For each other; otherwise every thread waits.
            cycle: bool,
            /// Those that wait.
            threads: Vec<Waiting<'a>>,
        },
        /// Locks are taken in orders that can end in a deadlock.
        Inversion "inversion" {
            /// The first lock.
            address: Address,
            /// What is there.
            memory: Option<Memory<'a>>,
            /// Each is taken while the one before it is held, and the first one while the last is.
            locks: Vec<Taken<'a>>,
        },
    }
}

impl<'a> Finding<'a> {
    /// Whether a load may read an older write, but of the value that it reads anyway.
    pub fn is_of_same_value(&self) -> bool {
        match self {
            Self::Violation { access, stale, .. } => {
                access.operation == Operation::Load
                    && access.value.is_some()
                    && access.value == stale.value
            }
            Self::Race { .. }
            | Self::Misuse { .. }
            | Self::Deadlock { .. }
            | Self::Inversion { .. } => false,
        }
    }

    /// Whether a stale value makes no difference that was seen: it is the one that is read anyway, or the program goes on as with
    /// the current one.
    pub fn is_minor(&self) -> bool {
        let alike = matches!(
            self,
            Self::Violation {
                wait: Some(Wait::Alike(_)),
                ..
            }
        );
        alike || self.is_of_same_value()
    }

    /// What makes it distinct.
    pub fn key(&self) -> Key<Option<Frame<'a>>> {
        let place = |side: &Side<'a>| side.stack.first().cloned();
        match self {
            Self::Race {
                access, earlier, ..
            } => Key::race(place(access), place(earlier)),
            Self::Violation { access, missed, .. } => Key::violation(place(access), place(missed)),
            Self::Misuse {
                access,
                earlier,
                what,
                ..
            } => Key::misuse(*what, place(access), earlier.as_ref().and_then(place)),
            Self::Deadlock { threads, .. } => {
                Key::deadlock(threads.iter().map(|waiting| waiting.stack.first().cloned()))
            }
            Self::Inversion { locks, .. } => {
                Key::inversion(locks.iter().map(|taken| place(&taken.side)))
            }
        }
    }
}
