//! A finding in one sentence.

use super::convert::About;
use rsan_report::document::{Access, Frame, place_of};

/// Why a stale load of the same value matters.
pub(super) const SAME_VALUE: &str = "both stores have the same value, but only the newer one orders what comes next: accesses after this \
    one may miss what was written before it";

/// What can happen and why it should not.
pub(super) fn weak(accesses: &[Access], same_value: bool, about: &About) -> String {
    let [access, missed, stale, ..] = accesses else {
        return String::new();
    };
    let older = if same_value { "an older " } else { "" };
    let old = stale.value.as_deref();
    let old = old.map_or("a stale value".to_owned(), |old| format!("{older}{old}"));
    let (who, place) = (access.subject(), about.place());
    let theirs = format!("{}'s {}{}", missed.subject(), missed.operation, at(missed));
    let first = "comes first in every sequentially consistent order";
    match access.operation.as_str() {
        "load" => format!("{who} may read {old} from {place} although {theirs} {first}"),
        "store" => format!(
            "{who}'s store to {place} may take effect before {theirs} although that one {first}"
        ),
        operation => {
            format!("{who}'s {operation} may read {old} from {place} although {theirs} {first}")
        }
    }
}

/// Whether an operation is one of a whole block.
fn is_of_block(operation: &str) -> bool {
    ["free", "allocation"].contains(&operation)
}

/// Two accesses that are not ordered.
pub(super) fn race(accesses: &[Access], about: &About) -> String {
    let [access, earlier, ..] = accesses else {
        return String::new();
    };
    let place = match is_of_block(&access.operation) {
        true => about.whole(),
        false => about.place(),
    };
    format!(
        "the {} of {place} by {}{} and the {} by {}{} are not ordered by happens-before{}",
        access.operation,
        access.subject(),
        at(access),
        earlier.operation,
        earlier.subject(),
        at(earlier),
        slept(access)
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
        let (who, place) = (access.subject(), place.file_line());
        format!(", only by the sleep of {who} at {place}")
    })
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

/// ` at file:line`, or nothing.
pub(super) fn at(access: &Access) -> String {
    let place = access.place();
    place.map_or(String::new(), |place| format!(" at {}", place.file_line()))
}
