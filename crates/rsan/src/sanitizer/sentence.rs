//! A finding in one sentence.

use super::findings::Access;
use super::memory::Memory;
use super::symbols::{Frame, place_of};

/// What can happen and why it should not.
pub(super) fn message(
    accesses: &[Access],
    same_value: bool,
    memory: Option<&Memory>,
    address: &str,
) -> String {
    let place = memory.map_or_else(|| address.to_owned(), |memory| memory.place(address));
    match accesses {
        [access, missed, stale, ..] => {
            let older = if same_value { "an older " } else { "" };
            let old = stale.value.as_deref();
            let old = old.map_or("an older value".to_owned(), |old| format!("{older}{old}"));
            weak(access, missed, &old, &place)
        }
        [access, earlier] => {
            let is_of_block = |access: &Access| is_of_block(&access.operation);
            let place = match memory {
                Some(memory) if is_of_block(access) => memory.whole(address),
                _ => place,
            };
            race(access, earlier, &place) + &slept(access)
        }
        _ => String::new(),
    }
}

/// Whether an operation is one of a whole block.
pub(super) fn is_of_block(operation: &str) -> bool {
    ["free", "allocation"].contains(&operation)
}

fn race(access: &Access, earlier: &Access, place: &str) -> String {
    format!(
        "the {} of {place} by {}{} and the {} by {}{} are not ordered by happens-before",
        access.operation,
        subject(access),
        at(access),
        earlier.operation,
        subject(earlier),
        at(earlier)
    )
}

/// A sleep between the accesses, which somebody may have taken for an order.
fn slept(access: &Access) -> String {
    let place = access
        .slept
        .as_deref()
        .and_then(place_of)
        .and_then(Frame::place);
    place.map_or(String::new(), |place| {
        format!(", only by the sleep of {} at {place}", subject(access))
    })
}

fn weak(access: &Access, missed: &Access, old: &str, place: &str) -> String {
    let who = subject(access);
    let theirs = format!("{}'s {}{}", subject(missed), missed.operation, at(missed));
    let first = "comes first in every sequentially consistent order";
    match access.operation.as_str() {
        "load" => format!("{who} may read {old} from {place} here although {theirs} {first}"),
        "store" => {
            format!(
                "{who}'s store to {place} here may take effect before {theirs} although that one {first}"
            )
        }
        operation => format!(
            "{who}'s {operation} may read {old} from {place} here although {theirs} {first}"
        ),
    }
}

/// Locks that are taken in several orders.
pub(super) fn inversion(locks: &[Access]) -> String {
    let names: Vec<_> = locks
        .iter()
        .filter_map(|taken| taken.lock.as_deref())
        .collect();
    let names = match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    };
    let one_thread = locks.iter().all(|taken| taken.thread == locks[0].thread);
    let so_far = match one_thread {
        true => ", so far in one thread only",
        false => "",
    };
    format!("{names} are taken in orders that can end in a deadlock{so_far}")
}

/// A thread inside a sentence.
pub(super) fn subject(access: &Access) -> String {
    match access.who() {
        Some(thread) if thread.starts_with("main thread") => format!("the {thread}"),
        Some(thread) => thread,
        None => "an unknown thread".to_owned(),
    }
}

/// ` at file:line`, or nothing.
pub(super) fn at(access: &Access) -> String {
    let place = access.place();
    place.map_or(String::new(), |place| format!(" at {place}"))
}
