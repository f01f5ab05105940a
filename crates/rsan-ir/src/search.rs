//! Paths from an access: which later accesses the one machine may order, and the other does not.
//!
//! *Decides*: for one access, all later ones with a path on which the machine `from` may order the two (a *pair*), and those of them with
//! such a path on which the machine `to` does not (an *unordered* pair).
//!
//! *Method*: a breadth-first search over the graph and the states of `order.rs` on both machines; a state that orders more on the
//! machine `to` and less on the machine `from` is dropped where the other one was seen. *Cost*: linear in the graph per access, with a
//! small factor; with `Want::Unordered` only what is reached without being ordered is looked at.

use crate::alias::Stopped;
use crate::effects::{Effects, settled};
use crate::flow::{EventId, Graph, NodeId};
use crate::order::{Part, STATES, State};

/// What to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    /// All pairs.
    Pairs,
    /// Only what the machine `to` does not order.
    Unordered,
}

/// A later access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Which.
    pub(crate) event: EventId,
    /// The machine `to` does not order it.
    pub(crate) unordered: bool,
    /// The visit before it: see [`Search::path`].
    before: u32,
}

#[derive(Clone, Copy)]
struct Visit {
    node: NodeId,
    parent: u32,
    from: State,
    to: State,
    went_back: bool,
}

/// The memory of searches, used again and again.
pub(crate) struct Search<'a> {
    graph: &'a Graph,
    visits: Vec<Visit>,
    seen: Vec<Vec<(State, State, bool)>>,
    touched: Vec<NodeId>,
    /// By event, the search that found it: any path, an unordered one.
    found: Vec<(u32, u32)>,
    turn: u32,
}

impl<'a> Search<'a> {
    /// For a graph.
    pub(crate) fn new(graph: &'a Graph) -> Self {
        Self {
            graph,
            visits: Vec::new(),
            seen: vec![Vec::new(); graph.nodes.len()],
            touched: Vec::new(),
            found: vec![(0, 0); graph.events.len()],
            turn: 0,
        }
    }

    /// Later accesses; each at most twice, with and without order.
    pub(crate) fn from(
        &mut self,
        source: EventId,
        effects: &Effects,
        want: Want,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Found>, Stopped> {
        for node in self.touched.drain(..) {
            self.seen[node as usize].clear();
        }
        self.visits.clear();
        self.turn += 1;
        let node = self.graph.events[source as usize].node;
        let (from, to) = effects.start(self.graph, source);
        self.visits.push(Visit {
            node,
            parent: u32::MAX,
            from,
            to,
            went_back: false,
        });
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.visits.len() {
            if at.is_multiple_of(4096) && !go_on() {
                return Err(Stopped);
            }
            self.expand(at as u32, source, effects, want, &mut found);
            at += 1;
        }
        Ok(found)
    }

    fn expand(
        &mut self,
        at: u32,
        source: EventId,
        effects: &Effects,
        want: Want,
        found: &mut Vec<Found>,
    ) {
        let visit = self.visits[at as usize];
        for (node, back) in &self.graph.next[visit.node as usize] {
            let node = *node;
            let went_back = visit.went_back || *back;
            if let Some(event) = self.graph.event_at(node)
                && effects.from.ordered(node, visit.from)
                && !self.is_same(source, event, went_back)
            {
                let unordered = !effects.to.ordered(node, visit.to);
                if self.is_new(event, unordered) && (unordered || want == Want::Pairs) {
                    found.push(Found {
                        event,
                        unordered,
                        before: at,
                    });
                }
            }
            let to = settled(effects.to.next(node, visit.to));
            let from = effects.from.next(node, visit.from);
            let next = Visit {
                node,
                parent: at,
                from,
                to,
                went_back,
            };
            let ordered = to == STATES as State - 1;
            if !(ordered && want == Want::Unordered) && self.remember(next) {
                self.visits.push(next);
            }
        }
    }

    /// Whether this search did not find it before, in this way.
    fn is_new(&mut self, event: EventId, unordered: bool) -> bool {
        let (any, without_order) = &mut self.found[event as usize];
        let known = if unordered { without_order } else { any };
        std::mem::replace(known, self.turn) != self.turn
    }

    /// Notes a visit; false if one that shows at least as much was there before.
    fn remember(&mut self, visit: Visit) -> bool {
        let seen = &mut self.seen[visit.node as usize];
        let covers = |(from, to, back): &(State, State, bool)| {
            from & visit.from == visit.from && to & visit.to == *to && (*back || !visit.went_back)
        };
        if seen.iter().any(covers) {
            return false;
        }
        if seen.is_empty() {
            self.touched.push(visit.node);
        }
        seen.push((visit.from, visit.to, visit.went_back));
        true
    }

    /// The read and the write of one RMW are one location, whatever is known of it.
    fn is_same(&self, a: EventId, b: EventId, went_back: bool) -> bool {
        let (first, second) = (
            &self.graph.events[a as usize],
            &self.graph.events[b as usize],
        );
        let one_update = matches!(first.operation.part, Part::UpdateRead { succeeds: true })
            && second.operation.part == Part::UpdateWrite
            && second.node == first.node + 1;
        (one_update && !went_back) || self.graph.is_same(a, b, went_back)
    }

    /// The nodes of the path to what the last search found, first and last access included.
    pub(crate) fn path(&self, found: Found) -> Vec<NodeId> {
        let mut path = vec![self.graph.events[found.event as usize].node];
        let mut at = found.before;
        while at != u32::MAX {
            path.push(self.visits[at as usize].node);
            at = self.visits[at as usize].parent;
        }
        path.reverse();
        path
    }
}
