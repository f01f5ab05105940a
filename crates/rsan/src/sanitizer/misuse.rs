//! Memory that is used after its end, descriptors and locks that are used wrongly, and signal handlers that do what they
//! must not, in words.

use super::sentence::at;
use rsan_log::Misuse;
use rsan_report::document::{Access, Kind};

/// The kind of the finding.
pub(super) fn kind(what: Misuse) -> Kind {
    match what {
        Misuse::UseAfterFree => Kind::UseAfterFree,
        Misuse::DoubleFree => Kind::DoubleFree,
        Misuse::InvalidFree => Kind::InvalidFree,
        Misuse::UseAfterReturn => Kind::UseAfterReturn,
        Misuse::Descriptor => Kind::DescriptorRace,
        Misuse::SignalUnsafeCall => Kind::SignalUnsafeCall,
        Misuse::SignalErrno => Kind::SignalErrno,
        Misuse::Lock => Kind::LockMisuse,
        Misuse::ThreadLeak => Kind::ThreadLeak,
    }
}

/// What was done, and why it must not be; `place` is the memory in words.
pub(super) fn message(
    what: Misuse,
    text: Option<&str>,
    accesses: &[Access],
    place: &str,
) -> String {
    let Some((access, earlier)) = accesses.split_first() else {
        return String::new();
    };
    let (operation, text) = (&access.operation, text.unwrap_or_default());
    let by = |access: &Access| format!("by {}{}", access.subject(), at(access));
    let (here, earlier) = (by(access), earlier.first());
    match (what, earlier) {
        (Misuse::UseAfterFree, Some(free)) => {
            format!(
                "the {operation} of {place} {here} comes after the free {}",
                by(free)
            )
        }
        (Misuse::UseAfterFree, None) => {
            format!("the {operation} of {place} {here} comes after its free")
        }
        (Misuse::DoubleFree, Some(free)) => {
            format!(
                "the free of {place} {here} comes after the free {}",
                by(free)
            )
        }
        (Misuse::DoubleFree, None) => format!("the free of {place} {here} is not the first"),
        (Misuse::InvalidFree, _) => {
            format!("the free of {place} {here} is not of a block that was allocated")
        }
        (Misuse::UseAfterReturn, _) => format!("the {operation} of {place} {here} {text}"),
        (Misuse::Descriptor, other) => {
            let other = other.map_or(String::new(), |other| {
                format!(" and the {} {}", other.operation, by(other))
            });
            format!("the {operation} of {place} {here}{other} are not ordered by happens-before")
        }
        (Misuse::SignalUnsafeCall, _) => format!(
            "the {operation} {here} is not async-signal-safe, and happens in a handler of an asynchronous signal"
        ),
        (Misuse::SignalErrno, _) => {
            format!("a handler of an asynchronous signal, run {here}, changes errno")
        }
        (Misuse::Lock, Some(other)) => {
            format!(
                "{text}: {place}, {here}, after the {} {}",
                other.operation,
                by(other)
            )
        }
        (Misuse::Lock, None) => format!("{text}: {place}, {here}"),
        (Misuse::ThreadLeak, _) => format!("{text}: {}, created{}", access.subject(), at(access)),
    }
}
