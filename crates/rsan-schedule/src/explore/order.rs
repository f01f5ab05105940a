//! An order in which the events of a graph can be executed one after another, if there is one.

use super::graph::{Event, Graph, INIT, NONE};
use super::item::Change;

/// Direct edges of `po ∪ rf ∪ mo ∪ fr`, creation and join.
struct Edges {
    /// Ends of edges, and the next edge from the same event.
    to: Vec<(u32, u32)>,
    /// By event: the edge from it that was added last.
    from: Vec<u32>,
    /// Number of edges into each event.
    left: Vec<u32>,
}

impl Edges {
    fn new(events: usize) -> Self {
        Self {
            to: Vec::with_capacity(3 * events),
            from: vec![NONE; events],
            left: vec![0; events],
        }
    }

    fn add(&mut self, a: u32, b: u32) {
        let last = &mut self.from[a as usize];
        self.to.push((b, *last));
        *last = self.to.len() as u32 - 1;
        self.left[b as usize] += 1;
    }
}

/// Orders the changed `events`, those that stay: threads go on as long as they can, then the lowest does. What is changed comes
/// as late as it can: a scheduler that knows loops that only wait sees then what has changed since the last round. `None` when
/// `po ∪ rf ∪ mo ∪ fr` has a cycle, or something comes between the parts of a read-modify-write.
pub(super) fn order(
    graph: &Graph,
    events: &[Event],
    stays: &[bool],
    change: &Change,
) -> Option<Vec<u32>> {
    let n = events.len();
    let mut edges = Edges::new(n);
    // By write: the next one in mo; by object: the first one.
    let mut next = vec![NONE; n];
    let mut first = vec![NONE; graph.mo.len()];
    for (object, first) in first.iter_mut().enumerate() {
        let mut last = INIT;
        for w in writes(graph, events, stays, object as u32, change) {
            match last {
                INIT => *first = w,
                _ => {
                    next[last as usize] = w;
                    edges.add(last, w);
                }
            }
            last = w;
        }
    }
    for q in (0..n as u32).filter(|&q| stays[q as usize]) {
        let event = &events[q as usize];
        for before in graph.before[q as usize] {
            if before != NONE {
                edges.add(before, q);
            }
        }
        let successor = match event.rf {
            NONE => continue,
            INIT => first[event.object as usize],
            w => {
                edges.add(w, q);
                next[w as usize]
            }
        };
        if event.writes && successor != q {
            return None;
        }
        if successor != NONE && successor != q {
            edges.add(q, successor);
        }
    }
    let read = change.revisit.as_ref().map(|revisit| revisit.read);
    let late = |q| q == change.event || Some(q) == read;
    sorted(events, stays, edges, late)
}

/// The writes of an object that stay, in modification order, with the changed event where it belongs.
fn writes(
    graph: &Graph,
    events: &[Event],
    stays: &[bool],
    object: u32,
    change: &Change,
) -> Vec<u32> {
    let e = change.event;
    let there = |w: &u32| *w != e && stays[*w as usize] && events[*w as usize].writes;
    let order = graph.mo[object as usize].iter().copied();
    let mut writes: Vec<u32> = order.filter(there).collect();
    if let Some(after) = change.after
        && graph.events[e as usize].object == object
    {
        let place = match after {
            INIT => 0,
            w => 1 + writes.iter().position(|&v| v == w).unwrap_or(writes.len()),
        };
        writes.insert(place.min(writes.len()), e);
    }
    writes
}

fn sorted(
    events: &[Event],
    stays: &[bool],
    mut edges: Edges,
    late: impl Fn(u32) -> bool,
) -> Option<Vec<u32>> {
    let kept = stays.iter().filter(|s| **s).count();
    let mut ready: Vec<u32> = (0..events.len() as u32)
        .filter(|&q| stays[q as usize] && edges.left[q as usize] == 0)
        .collect();
    let mut order = Vec::with_capacity(kept);
    let mut last = NONE;
    while let Some(i) = pick(&ready, events, last, &late) {
        let q = ready.swap_remove(i);
        order.push(q);
        last = events[q as usize].thread;
        let mut edge = edges.from[q as usize];
        while let Some(&(b, next)) = edges.to.get(edge as usize) {
            edges.left[b as usize] -= 1;
            if edges.left[b as usize] == 0 {
                ready.push(b);
            }
            edge = next;
        }
    }
    (order.len() == kept).then_some(order)
}

/// What comes next of what can.
fn pick(ready: &[u32], events: &[Event], last: u32, late: impl Fn(u32) -> bool) -> Option<usize> {
    let rank = |&q: &u32| {
        let event = &events[q as usize];
        (late(q), event.thread != last, event.thread)
    };
    (0..ready.len()).min_by_key(|&i| rank(&ready[i]))
}
