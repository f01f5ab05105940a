//! Enumerations that stand in the log by their names; each has one table of them.

use crate::write::Json;
use std::ffi::CStr;
use std::fmt;

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($(#[$case_doc:meta])* $case:ident $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $type {
            $($(#[$case_doc])* $case,)+
        }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Its name in the log and in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $name,)+
                }
            }

            /// The same for programs in C.
            pub const fn c_name(self) -> &'static CStr {
                let bytes = match self {
                    $(Self::$case => concat!($name, "\0").as_bytes(),)+
                };
                match CStr::from_bytes_with_nul(bytes) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has a zero byte at its end only"),
                }
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl Json for $type {
            fn json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.name().json(f)
            }
        }

        #[cfg(feature = "read")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                crate::read::by_name(from, Self::from_name)
            }
        }
    };
}

names! {
    /// What a thread does.
    Operation {
        /// What was there before the first write.
        Initial "initial value",
        /// A write that is not atomic, in the modification order of an atomic location.
        PlainWrite "plain write",
        /// Any access that is not atomic, in a chain.
        PlainAccess "plain access",
        /// An atomic store.
        Store "store",
        /// An atomic exchange.
        Exchange "exchange",
        /// A compare-and-swap.
        CompareExchange "compare_exchange",
        /// A compare-and-swap that waits for the value.
        BlockingCompareExchange "blocking compare_exchange",
        /// An atomic addition.
        FetchAdd "fetch_add",
        /// An atomic subtraction.
        FetchSub "fetch_sub",
        /// An atomic, bitwise and.
        FetchAnd "fetch_and",
        /// An atomic, bitwise or.
        FetchOr "fetch_or",
        /// An atomic, bitwise exclusive or.
        FetchXor "fetch_xor",
        /// An atomic, bitwise and, negated.
        FetchNand "fetch_nand",
        /// An atomic load.
        Load "load",
        /// Waiting: for a value, for a condition variable, for a semaphore.
        Wait "wait",
        /// Any read-modify-write, in a chain.
        Rmw "read-modify-write",
        /// A fence.
        Fence "fence",
        /// The creation of a thread.
        CreateThread "create thread",
        /// The begin of a thread.
        Begin "begin",
        /// The end of a thread.
        End "end",
        /// The wait for the end of a thread.
        Join "join",
        /// The processor is given up.
        Yield "yield",
        /// A lock is taken.
        Lock "lock",
        /// A lock is taken for reading.
        ReadLock "read lock",
        /// A lock is given back.
        Unlock "unlock",
        /// Any operation on a semaphore, a condition variable or a barrier.
        Sync "sync",
        /// The wait for a condition variable, in a deadlock.
        ConditionWait "condition wait",
        /// The wait for a semaphore, in a deadlock.
        SemaphoreWait "semaphore wait",
        /// The wait for a barrier, in a deadlock.
        BarrierWait "barrier wait",
        /// A condition variable is signalled.
        Signal "signal",
        /// A semaphore is posted.
        Post "post",
        /// A lock or the like is initialised by a call.
        Init "init",
        /// A lock or the like is initialised, perhaps again.
        Initialisation "initialisation",
        /// A lock or the like is destroyed.
        Destroy "destroy",
        /// A plain read.
        Read "read",
        /// A plain write.
        Write "write",
        /// A read by an atomic access, that races with a plain one.
        AtomicRead "atomic read",
        /// A write by an atomic access, that races with a plain one.
        AtomicWrite "atomic write",
        /// A lock or the like, or a descriptor, is used.
        Use "use",
        /// A descriptor is closed.
        Close "close",
        /// A block is allocated.
        Allocation "allocation",
        /// A block is freed.
        Free "free",
        /// Memory is unmapped.
        Unmapping "unmapping",
        /// A mutex is locked, in a signal handler.
        MutexLock "lock of a mutex",
        /// A signal handler leaves another `errno` than it found.
        ErrnoChange "change of errno",
    }
}

impl Operation {
    /// Whether it changes what it accesses.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Load | Self::Read | Self::AtomicRead)
    }

    /// Whether it is the atomic half of a data race.
    pub fn is_atomic_half(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite)
    }

    /// Whether it is one of a whole block.
    pub fn is_of_block(self) -> bool {
        matches!(self, Self::Free | Self::Allocation)
    }
}

names! {
    /// How a step of a chain leads to the next one.
    Edge {
        /// Program order.
        Po "po",
        /// The next one reads this write.
        Rf "rf",
        /// The next one overwrites this write.
        Mo "mo",
        /// The next one overwrites what this reads.
        Fr "fr",
        /// The next one begins the thread that this creates.
        Create "asw",
        /// The next one takes a lock, or the like, that this gives back.
        Lock "sw",
    }
}

names! {
    /// How a lock is held.
    Mode {
        /// With others.
        Read "read",
        /// Alone.
        Write "write",
    }
}

impl Mode {
    /// Whether one who wants it waits for another who has it.
    pub fn excludes(self, other: Self) -> bool {
        self == Self::Write || other == Self::Write
    }
}

names! {
    /// How memory, a descriptor, a lock, a thread or a signal handler is misused.
    Misuse {
        /// A block of the allocator is accessed after its free, which happens before the access.
        UseAfterFree "use-after-free",
        /// A block is freed that is free already.
        DoubleFree "double-free",
        /// What is freed is no block of the allocator.
        InvalidFree "invalid-free",
        /// Memory of a stack is accessed after the end of its function or thread.
        UseAfterReturn "use-after-return",
        /// A descriptor is closed, and used or closed by another thread, without an order.
        Descriptor "descriptor-race",
        /// A handler of an asynchronous signal calls what it must not.
        SignalUnsafeCall "signal-unsafe-call",
        /// Such a handler leaves another `errno` than it found.
        SignalErrno "signal-errno",
        /// A lock or the like is used in a way for which there is no meaning.
        Lock "lock-misuse",
        /// A thread that nobody joined or detached before the end.
        ThreadLeak "thread-leak",
    }
}

names! {
    /// What the program does next with a stale value, as far as others can see it.
    Visible {
        /// A store that releases, or one to the location itself.
        Store "a store",
        /// A read-modify-write.
        Rmw "a read-modify-write",
        /// A compare-and-swap that succeeds.
        Cas "a compare-and-swap that succeeds",
        /// A compare-and-swap that may succeed on the old write.
        StaleCas "a compare-and-swap that may replace the old value",
        /// A failed compare-and-swap that reads less strongly than the access.
        WeakFailure "a compare-and-swap whose failure does not acquire",
        /// A write that stays when the program tries again.
        Write "a write to memory",
        /// An access to a part of the location, or with another size.
        Mixed "an access of another size",
        /// Another loop, which it cannot leave.
        Loop "a loop that it cannot leave",
        /// A lock, a thread, memory, or whatever else the runtime sees.
        Call "a call of a library function",
        /// A system call.
        SystemCall "a system call",
        /// The end of the process.
        End "the end of the program",
        /// A signal that ends the process.
        Crash "a crash, or a write to memory that other processes see",
    }
}

names! {
    /// Why it is not known what the program does with a stale value.
    Unknown {
        /// `probes=0`.
        Off "recognition is off",
        /// The value of the old write was not seen.
        NoValue "the old value is not known",
        /// There is no memory, or no process.
        NoProcess "no process could be made to find out",
        /// The kernel refuses the filter of system calls.
        NoFilter "the system does not let a process give up its system calls",
        /// `/proc` is not there.
        NoMaps "/proc/self/maps cannot be read",
        /// It neither came back nor did anything visible.
        TimeLimit "it neither tried again nor went on in the time allowed",
        /// It only waits for something else.
        Pauses "it only sleeps or yields",
        /// The runtime ran out of memory in it.
        NoMemory "there was not enough memory to find out",
        /// Somebody ended the process.
        Killed "the process that was to find out was killed",
    }
}

/// What the program does with a stale value: a spin loop would only try again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wait {
    /// It goes on with a visible step.
    Passes(Visible),
    /// The same that it goes on with if it reads the current value.
    Alike(Visible),
    /// That is not known.
    Unknown(Unknown),
}

const PASSES: &str = "goes on with ";
const ALIKE: &str = "goes on as with the current value, with ";
const UNKNOWN: &str = "is not recognised as a wait: ";

impl Wait {
    /// The one with this text.
    pub fn from_name(text: &str) -> Option<Self> {
        let passes = || Visible::from_name(text.strip_prefix(PASSES)?).map(Self::Passes);
        let alike = || Visible::from_name(text.strip_prefix(ALIKE)?).map(Self::Alike);
        let unknown = || Unknown::from_name(text.strip_prefix(UNKNOWN)?).map(Self::Unknown);
        passes().or_else(alike).or_else(unknown)
    }
}

/// What "the program" does, for a report and for the log.
impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passes(step) => write!(f, "{PASSES}{step}"),
            Self::Alike(step) => write!(f, "{ALIKE}{step}"),
            Self::Unknown(why) => write!(f, "{UNKNOWN}{why}"),
        }
    }
}

impl Json for Wait {
    fn json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither part has a character that needs an escape.
        write!(f, "\"{self}\"")
    }
}

#[cfg(feature = "read")]
impl<'de> serde::Deserialize<'de> for Wait {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        crate::read::by_name(from, Self::from_name)
    }
}
