//! What would order the accesses of a race.

use super::chain;
use super::convert::Resolver;
use rsan_log::Chain;
use rsan_report::document::{Access, Finding, Fix, HeldLock, LockMode, Place};

/// Adds the reason why the accesses are not ordered, as far as it is known, and what would order them.
pub(super) fn explain(finding: &mut Finding, chain: Option<&Chain<'_>>, resolver: &mut Resolver) {
    if let Some(chain) = chain {
        chain::order_race(finding, chain, resolver);
    }
    if let ([access, earlier], None) = (finding.accesses.as_slice(), &finding.fix) {
        let message = locked(access, earlier);
        finding.fix = message.map(|message| Fix {
            message,
            checked: None,
            changes: Vec::new(),
        });
    }
}

/// What to do about two accesses that no atomic access leads from and to: who holds which lock says it.
fn locked(access: &Access, earlier: &Access) -> Option<String> {
    let is_access = |side: &Access| ["read", "write"].contains(&plain(side));
    if !is_access(access) || !is_access(earlier) {
        return None;
    }
    let (here, there) = (described(access)?, described(earlier)?);
    let is_atomic = |side: &Access| plain(side) != side.operation;
    match (is_atomic(access), is_atomic(earlier)) {
        (false, true) => return Some(format!("make the {here} atomic, too")),
        (true, false) => return Some(format!("make the {there} atomic, too")),
        _ => {}
    }
    let (mine, theirs) = (access.held.as_deref()?, earlier.held.as_deref()?);
    let in_both = |held: &&HeldLock| theirs.iter().any(|other| other.lock == held.lock);
    if mine.iter().any(|held| in_both(&held)) {
        return shared([access, earlier]);
    }
    if !mine.is_empty() || !theirs.is_empty() {
        let holds = [who_holds(access, mine), who_holds(earlier, theirs)].join(", ");
        return Some(format!(
            "hold the same mutex for the {here} and the {there}: {holds}"
        ));
    }
    Some(match access.place() == earlier.place() {
        true => {
            let at = access.place().map(|place| place.file_line())?;
            format!("make the accesses at {at} atomic, or hold a mutex for them")
        }
        false => {
            format!("order the {here} and the {there}: hold a mutex for both, or wait in between")
        }
    })
}

/// A lock is held by both sides, but not exclusively by one that writes.
fn shared(sides: [&Access; 2]) -> Option<String> {
    let is_read = |held: &HeldLock| held.mode == LockMode::Read;
    let writes = |side: &&Access| plain(side) == "write";
    let held = |side: &Access| {
        side.held
            .as_deref()?
            .iter()
            .find(|held| is_read(held))
            .map(name_of)
    };
    let weak = sides.into_iter().filter(writes);
    let (side, lock) = weak.filter_map(|side| Some((side, held(side)?))).next()?;
    let write = described(side)?;
    Some(format!(
        "take {lock} exclusively for the {write}: it is shared there"
    ))
}

/// The name of a lock; one without a name has none that is the same in the next run.
fn name_of(held: &HeldLock) -> String {
    match held.lock.starts_with('`') {
        true => held.lock.clone(),
        false => "the lock".to_owned(),
    }
}

fn who_holds(side: &Access, held: &[HeldLock]) -> String {
    let names: Vec<_> = held.iter().map(name_of).collect();
    match names.as_slice() {
        [] => format!("{} holds none", side.subject()),
        [one] if one == "the lock" => format!("{} holds one", side.subject()),
        names => format!("{} holds {}", side.subject(), names.join(" and ")),
    }
}

/// `read` or `write`, whether it is atomic or not.
fn plain(side: &Access) -> &str {
    let operation = side.operation.as_str();
    operation.strip_prefix("atomic ").unwrap_or(operation)
}

/// `write at file:line`
fn described(side: &Access) -> Option<String> {
    let place = side.place().as_ref().map(Place::file_line)?;
    Some(format!("{} at {place}", plain(side)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_report::document::{Frame, Role, Thread};

    fn side(thread: u32, operation: &str, line: u32, held: &[(&str, LockMode)]) -> Access {
        let held = held.iter().map(|&(lock, mode)| HeldLock {
            lock: lock.to_owned(),
            mode,
            stack: Vec::new(),
        });
        Access {
            role: Role::Access,
            thread: Some(Thread::of_run(thread)),
            name: None,
            operation: operation.to_owned(),
            order: None,
            value: None,
            stack: vec![Frame {
                file: Some("a.c".to_owned()),
                line: Some(line),
                ..Frame::default()
            }],
            created: None,
            waits_for: None,
            held_by: None,
            lock: None,
            held: Some(held.collect()),
            slept: None,
        }
    }

    #[test]
    fn the_locks_of_both_sides_say_what_to_do() {
        let (m, other) = (("`m`", LockMode::Write), ("0x7f00", LockMode::Write));
        let shared = ("`m`", LockMode::Read);
        let fix = |access: Access, earlier: Access| locked(&access, &earlier);
        let cases = [
            (
                fix(side(1, "read", 5, &[]), side(2, "write", 9, &[m])),
                "hold the same mutex for the read at a.c:5 and the write at a.c:9: thread 1 holds none, thread 2 holds `m`",
            ),
            (
                fix(side(1, "write", 5, &[other]), side(0, "write", 9, &[m])),
                "hold the same mutex for the write at a.c:5 and the write at a.c:9: thread 1 holds one, the main thread holds `m`",
            ),
            (
                fix(
                    side(1, "read", 5, &[shared]),
                    side(2, "write", 9, &[shared]),
                ),
                "take `m` exclusively for the write at a.c:9: it is shared there",
            ),
            (
                fix(side(1, "write", 5, &[]), side(2, "read", 5, &[])),
                "make the accesses at a.c:5 atomic, or hold a mutex for them",
            ),
            (
                fix(side(1, "write", 5, &[]), side(2, "read", 6, &[])),
                "order the write at a.c:5 and the read at a.c:6: hold a mutex for both, or wait in between",
            ),
            (
                fix(side(1, "write", 5, &[]), side(2, "atomic write", 6, &[m])),
                "make the write at a.c:5 atomic, too",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found.as_deref(), Some(expected));
        }
        let unknown = Access {
            held: None,
            ..side(1, "write", 5, &[])
        };
        assert_eq!(fix(unknown, side(2, "write", 6, &[m])), None);
        assert_eq!(fix(side(1, "free", 5, &[]), side(2, "write", 6, &[])), None);
    }
}
