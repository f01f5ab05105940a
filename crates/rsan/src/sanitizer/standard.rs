//! Which findings are the business of Rust's standard library.
//!
//! Its locks, channels and counts are made of atomics, which are seen like any others. The user may rely on the order that they promise, and
//! cannot see how they come by it: that an attempt to take a lock failed, or who counted first. So a weak behaviour is the library's if its
//! accesses are, and also if its cycle needs a step between two accesses of the library's that is no synchronisation. Without that step
//! there is no cycle, as there would be none with a lock of POSIX.

use rsan_report::document::{Edge, Event, Execution, Finding, Kind, maker_of};

/// Whether the cycle of a weak behaviour passes through the library's own accesses without synchronisation. A cycle that is not
/// known may be anybody's.
pub(super) fn is_by_standard(finding: &Finding) -> bool {
    let execution = finding.execution.as_ref();
    finding.kind == Kind::WeakBehaviour && execution.is_some_and(passes_through)
}

fn passes_through(execution: &Execution) -> bool {
    let event = |number: u32| execution.events.get(number as usize);
    let edges: Vec<_> = execution.cycle_edges().collect();
    let Some(first) = edges.iter().position(|(.., edge)| *edge != Edge::Rf) else {
        return false;
    };
    // A chain of reads-from is one step: read-modify-writes hand on what the first write releases.
    let mut chain: Option<u32> = None;
    for index in 0..edges.len() {
        let (from, to, edge) = edges[(first + index) % edges.len()];
        let next = edges[(first + index + 1) % edges.len()].2;
        let ours = [from, to].map(|number| event(number).is_some_and(is_of_standard));
        match edge {
            Edge::Rf => {
                let begin = *chain.get_or_insert(from);
                if next == Edge::Rf {
                    continue;
                }
                chain = None;
                let synchronises =
                    event(begin).is_some_and(releases) && event(to).is_some_and(acquires);
                if ours == [true; 2] && !synchronises {
                    return true;
                }
            }
            Edge::Mo | Edge::Fr if ours == [true; 2] => return true,
            _ => {}
        }
    }
    false
}

fn is_of_standard(event: &Event) -> bool {
    maker_of(&event.stack).is_some_and(|frame| frame.is_of_standard())
}

fn releases(event: &Event) -> bool {
    matches!(
        event.order.as_deref(),
        Some("release" | "acq_rel" | "seq_cst")
    )
}

fn acquires(event: &Event) -> bool {
    matches!(
        event.order.as_deref(),
        Some("acquire" | "acq_rel" | "seq_cst")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsan_report::document::{CycleEdge, Frame};

    fn event(order: &str, file: &str) -> Event {
        let library = file
            .starts_with("std")
            .then(|| "the standard library".to_owned());
        let frame = Frame {
            file: Some(file.to_owned()),
            library,
            ..Frame::default()
        };
        Event {
            thread: None,
            line: None,
            column: None,
            operation: String::new(),
            location: None,
            read: None,
            written: None,
            order: Some(order.to_owned()),
            stack: vec![frame],
        }
    }

    fn passes(events: &[(&str, &str)], edges: &[Edge]) -> bool {
        let numbered = edges.iter().enumerate();
        let execution = Execution {
            events: events
                .iter()
                .map(|(order, file)| event(order, file))
                .collect(),
            cycle: numbered
                .map(|(number, edge)| CycleEdge {
                    event: u32::try_from(number).expect("few"),
                    edge: *edge,
                })
                .collect(),
            ..Execution::default()
        };
        passes_through(&execution)
    }

    #[test]
    fn a_failed_attempt_to_lock_is_nothing_that_users_see() {
        const LOCK: &str = "std/src/sys/sync/mutex/futex.rs";
        let edges = [Edge::Po, Edge::Fr, Edge::Po, Edge::Fr];
        let failed = |lock| {
            passes(
                &[
                    ("seq_cst", "a.rs"),
                    ("relaxed", lock),
                    ("release", lock),
                    ("seq_cst", "a.rs"),
                ],
                &edges,
            )
        };
        assert!(failed(LOCK));
        assert!(!failed("a.rs"));
    }

    #[test]
    fn synchronisation_is_for_users_to_rely_on() {
        const LOCK: &str = "std/src/sys/sync/mutex/futex.rs";
        let edges = [Edge::Po, Edge::Rf, Edge::Po, Edge::Fr];
        let handed = |write, read| {
            passes(
                &[
                    ("relaxed", "a.rs"),
                    (write, LOCK),
                    (read, LOCK),
                    ("relaxed", "a.rs"),
                ],
                &edges,
            )
        };
        assert!(!handed("release", "acquire"));
        assert!(handed("acquire", "release"));
        // By a read-modify-write of a third thread.
        let longer = [Edge::Po, Edge::Rf, Edge::Rf, Edge::Po, Edge::Fr];
        let events = [
            ("relaxed", "a.rs"),
            ("release", LOCK),
            ("relaxed", LOCK),
            ("acquire", LOCK),
            ("relaxed", "a.rs"),
        ];
        assert!(!passes(&events, &longer));
    }
}
