//! What the program does with an old value, as far as that is known.

macro_rules! coded {
    ($(#[$doc:meta])* $name:ident: $($(#[$case_doc:meta])* $case:ident $text:literal,)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$case_doc])* $case,)+
        }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$case),+];

            /// For a report.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$case => $text,)+
                }
            }
        }
    };
}

coded! {
    /// What the program does next with an old value, as far as others can see it.
    Step:
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

coded! {
    /// Why it is not known what the program does with an old value.
    Unknown:
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

/// What is known about the program's behaviour with an old value, for a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// A write into the past: there is nothing to ask.
    NotAsked,
    /// The program goes on with a visible step.
    Passes(Step),
    /// Not recognised as a wait.
    Unknown(Unknown),
}

impl Wait {
    /// For a report: what "the program" does.
    pub fn text(self) -> Option<String> {
        match self {
            Self::NotAsked => None,
            Self::Passes(step) => Some(format!("goes on with {}", step.text())),
            Self::Unknown(why) => Some(format!("is not recognised as a wait: {}", why.text())),
        }
    }
}
