//! What kinds of findings there are, which property each one breaks, and how severe it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of finding.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An access may do what no sequentially consistent execution shows.
    WeakBehaviour,
    /// The same, and the program uses the value.
    ObservedWeakBehaviour,
    /// A load with an unfenced store before it races with a store.
    TriangularRace,
    /// Accesses that one machine keeps in order may be swapped on another one.
    Reordering,
    /// Conflicting accesses, one of them non-atomic, are not ordered by happens-before.
    DataRace,
    /// A descriptor is closed and used without an order.
    DescriptorRace,
    /// An assertion fails.
    Assertion,
    /// An expression has no value.
    Trap,
    /// The program ends by a signal.
    Crash,
    /// The program ends with a status that is not 0.
    Failure,
    /// The program does not end.
    Hang,
    /// Threads wait for ever.
    Deadlock,
    /// Locks are taken in orders that can end in a deadlock.
    LockOrderInversion,
    /// The condition of a litmus test does not hold.
    Condition,
    /// Memory is used after its free.
    UseAfterFree,
    /// A block is freed twice.
    DoubleFree,
    /// What is freed is no block.
    InvalidFree,
    /// A frame is used after its function returned.
    UseAfterReturn,
    /// A lock, a barrier or the like is used wrongly.
    LockMisuse,
    /// A thread is neither joined nor detached.
    ThreadLeak,
    /// A signal handler calls what is not async-signal-safe.
    SignalUnsafeCall,
    /// A signal handler changes `errno`.
    SignalErrno,
}

/// A property that programs should have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// Every execution that the model allows is sequentially consistent.
    Robustness,
    /// The same, up to reads whose value is never used.
    ObservationalRobustness,
    /// No triangular race.
    TriangularRaceFreedom,
    /// Every execution on one machine is an execution on another one.
    Portability,
    /// Conflicting accesses are ordered.
    RaceFreedom,
    /// Assertions hold.
    Assertions,
    /// Every expression has a value.
    TrapFreedom,
    /// The program ends by itself, and with status 0.
    Success,
    /// Some thread can move while one has not ended.
    DeadlockFreedom,
    /// The condition of a litmus test holds.
    Condition,
    /// Memory is used while it is there.
    MemorySafety,
    /// Locks are used as they should be.
    LockDiscipline,
    /// Threads are joined or detached.
    ThreadDiscipline,
    /// Signal handlers do what they may.
    SignalSafety,
}

/// How much a finding matters; the more severe one is greater.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing that can be seen to hurt: a stale load that returns the same value.
    Note,
    /// Weak memory shows what sequential consistency does not, and that was not seen to hurt.
    #[default]
    Warning,
    /// Undefined behaviour, a failure, something that is refuted, or a weak behaviour that was seen to hurt.
    Error,
}

impl Severity {
    /// Whether it is the one that decides the exit status unless the user says otherwise.
    pub(crate) fn is_warning(&self) -> bool {
        *self == Self::Warning
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 22] = [
        Self::WeakBehaviour,
        Self::ObservedWeakBehaviour,
        Self::TriangularRace,
        Self::Reordering,
        Self::DataRace,
        Self::DescriptorRace,
        Self::Assertion,
        Self::Trap,
        Self::Crash,
        Self::Failure,
        Self::Hang,
        Self::Deadlock,
        Self::LockOrderInversion,
        Self::Condition,
        Self::UseAfterFree,
        Self::DoubleFree,
        Self::InvalidFree,
        Self::UseAfterReturn,
        Self::LockMisuse,
        Self::ThreadLeak,
        Self::SignalUnsafeCall,
        Self::SignalErrno,
    ];

    /// Its name in documents, suppressions and rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::WeakBehaviour => "weak-behaviour",
            Self::ObservedWeakBehaviour => "observed-weak-behaviour",
            Self::TriangularRace => "triangular-race",
            Self::Reordering => "reordering",
            Self::DataRace => "data-race",
            Self::DescriptorRace => "descriptor-race",
            Self::Assertion => "assertion",
            Self::Trap => "trap",
            Self::Crash => "crash",
            Self::Failure => "failure",
            Self::Hang => "hang",
            Self::Deadlock => "deadlock",
            Self::LockOrderInversion => "lock-order-inversion",
            Self::Condition => "condition",
            Self::UseAfterFree => "use-after-free",
            Self::DoubleFree => "double-free",
            Self::InvalidFree => "invalid-free",
            Self::UseAfterReturn => "use-after-return",
            Self::LockMisuse => "lock-misuse",
            Self::ThreadLeak => "thread-leak",
            Self::SignalUnsafeCall => "signal-unsafe-call",
            Self::SignalErrno => "signal-errno",
        }
    }

    /// Its title in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::WeakBehaviour => "not robust",
            Self::ObservedWeakBehaviour => "not observationally robust",
            Self::TriangularRace => "triangular race",
            Self::Reordering => "reordering",
            Self::DataRace => "data race",
            Self::DescriptorRace => "descriptor race",
            Self::Assertion => "assertion fails",
            Self::Trap => "trap",
            Self::Crash => "crash",
            Self::Failure => "failure",
            Self::Hang => "hang",
            Self::Deadlock => "deadlock",
            Self::LockOrderInversion => "lock order inversion",
            Self::Condition => "condition fails",
            Self::UseAfterFree => "use after free",
            Self::DoubleFree => "double free",
            Self::InvalidFree => "invalid free",
            Self::UseAfterReturn => "use after return",
            Self::LockMisuse => "lock misuse",
            Self::ThreadLeak => "thread leak",
            Self::SignalUnsafeCall => "signal-unsafe call",
            Self::SignalErrno => "errno changed by a signal handler",
        }
    }

    /// What it breaks.
    pub fn property(self) -> Property {
        match self {
            Self::WeakBehaviour => Property::Robustness,
            Self::ObservedWeakBehaviour => Property::ObservationalRobustness,
            Self::TriangularRace => Property::TriangularRaceFreedom,
            Self::Reordering => Property::Portability,
            Self::DataRace | Self::DescriptorRace => Property::RaceFreedom,
            Self::Assertion => Property::Assertions,
            Self::Trap => Property::TrapFreedom,
            Self::Crash | Self::Failure | Self::Hang => Property::Success,
            Self::Deadlock | Self::LockOrderInversion => Property::DeadlockFreedom,
            Self::Condition => Property::Condition,
            Self::UseAfterFree | Self::DoubleFree | Self::InvalidFree | Self::UseAfterReturn => {
                Property::MemorySafety
            }
            Self::LockMisuse => Property::LockDiscipline,
            Self::ThreadLeak => Property::ThreadDiscipline,
            Self::SignalUnsafeCall | Self::SignalErrno => Property::SignalSafety,
        }
    }

    /// Whether the accesses of such findings have no order.
    pub fn is_unordered(self) -> bool {
        match self {
            Self::DataRace | Self::DescriptorRace | Self::Deadlock | Self::LockOrderInversion => {
                true
            }
            Self::WeakBehaviour
            | Self::ObservedWeakBehaviour
            | Self::TriangularRace
            | Self::Reordering
            | Self::Assertion
            | Self::Trap
            | Self::Crash
            | Self::Failure
            | Self::Hang
            | Self::Condition
            | Self::UseAfterFree
            | Self::DoubleFree
            | Self::InvalidFree
            | Self::UseAfterReturn
            | Self::LockMisuse
            | Self::ThreadLeak
            | Self::SignalUnsafeCall
            | Self::SignalErrno => false,
        }
    }

    /// Whether it is about weak memory.
    pub fn is_weak(self) -> bool {
        match self {
            Self::WeakBehaviour
            | Self::ObservedWeakBehaviour
            | Self::TriangularRace
            | Self::Reordering => true,
            Self::DataRace
            | Self::DescriptorRace
            | Self::Assertion
            | Self::Trap
            | Self::Crash
            | Self::Failure
            | Self::Hang
            | Self::Deadlock
            | Self::LockOrderInversion
            | Self::Condition
            | Self::UseAfterFree
            | Self::DoubleFree
            | Self::InvalidFree
            | Self::UseAfterReturn
            | Self::LockMisuse
            | Self::ThreadLeak
            | Self::SignalUnsafeCall
            | Self::SignalErrno => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_documents() {
        for kind in Kind::ALL {
            let json = serde_json::to_string(&kind).expect("a name");
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
        for severity in [Severity::Note, Severity::Warning, Severity::Error] {
            let json = serde_json::to_string(&severity).expect("a name");
            assert_eq!(json, format!("\"{}\"", severity.name()));
        }
    }
}
