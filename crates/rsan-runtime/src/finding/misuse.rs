//! Memory that is used after its end, descriptors and locks that are used as they must not be, and signal handlers that do
//! what they must not.

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
    /// A descriptor is closed, and used or closed by another thread, without an order.
    Descriptor,
    /// A handler of an asynchronous signal calls what it must not.
    SignalUnsafeCall,
    /// Such a handler leaves another `errno` than it found.
    SignalErrno,
    /// A lock or the like is used in a way for which there is no meaning, as the text says.
    Lock(&'static str),
    /// A thread that nobody joined or detached before the end, as the text says.
    ThreadLeak(&'static str),
}

impl Misuse {
    /// Without the text.
    pub(crate) fn kind(self) -> rsan_log::Misuse {
        match self {
            Self::UseAfterFree => rsan_log::Misuse::UseAfterFree,
            Self::DoubleFree => rsan_log::Misuse::DoubleFree,
            Self::InvalidFree => rsan_log::Misuse::InvalidFree,
            Self::UseAfterReturn(_) => rsan_log::Misuse::UseAfterReturn,
            Self::Descriptor => rsan_log::Misuse::Descriptor,
            Self::SignalUnsafeCall => rsan_log::Misuse::SignalUnsafeCall,
            Self::SignalErrno => rsan_log::Misuse::SignalErrno,
            Self::Lock(_) => rsan_log::Misuse::Lock,
            Self::ThreadLeak(_) => rsan_log::Misuse::ThreadLeak,
        }
    }

    /// What the kind does not say.
    pub(crate) fn text(self) -> Option<&'static str> {
        match self {
            Self::UseAfterFree
            | Self::DoubleFree
            | Self::InvalidFree
            | Self::Descriptor
            | Self::SignalUnsafeCall
            | Self::SignalErrno => None,
            Self::UseAfterReturn(text) | Self::Lock(text) | Self::ThreadLeak(text) => Some(text),
        }
    }
}
