//! Memory that is used after its end, and locks that are used as they must not be.

use std::ffi::CStr;

/// What is wrong about an access, or about a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Misuse {
    /// A block of the allocator is accessed after its free, which happens before the access.
    UseAfterFree,
    /// A block is freed that is free already.
    DoubleFree,
    /// What is freed is no block of the allocator.
    InvalidFree,
    /// Memory of a stack is accessed after the end of its function or thread, as the text says.
    UseAfterReturn(&'static str),
    /// A lock or the like is used in a way for which there is no meaning, as the text says.
    Lock(&'static str),
    /// A thread that nobody joined or detached before the end, as the text says.
    ThreadLeak(&'static str),
}

impl Misuse {
    /// Its name in the log, and for a program that asks.
    pub fn name(self) -> &'static CStr {
        match self {
            Self::UseAfterFree => c"use-after-free",
            Self::DoubleFree => c"double-free",
            Self::InvalidFree => c"invalid-free",
            Self::UseAfterReturn(_) => c"use-after-return",
            Self::Lock(_) => c"lock-misuse",
            Self::ThreadLeak(_) => c"thread-leak",
        }
    }

    /// What the name does not say.
    pub(crate) fn text(self) -> Option<&'static str> {
        match self {
            Self::UseAfterFree | Self::DoubleFree | Self::InvalidFree => None,
            Self::UseAfterReturn(text) | Self::Lock(text) | Self::ThreadLeak(text) => Some(text),
        }
    }

    /// Whether it is about a thread.
    pub(crate) fn is_of_thread(self) -> bool {
        matches!(self, Self::ThreadLeak(_))
    }

    /// Whether it is about a lock or the like, and not about memory.
    pub(crate) fn is_of_lock(self) -> bool {
        matches!(self, Self::Lock(_))
    }
}
