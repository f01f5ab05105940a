//! Threads that start and join others: what comes before a start comes before all that the new thread does, and all that a thread
//! does comes before what follows its join. On every machine; so a cycle may go that way.
//!
//! *Deviations*: a join is taken as one of every thread that its thread starts. That can add a warning and never hides one.

use crate::alias::Stopped;
use crate::flow::{Doing, EventId, Graph, NodeId};

/// Threads, by their numbers among the roots, and the accesses around their starts and ends.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// By access, the threads that may be started after it.
    pub(crate) later: Vec<Vec<u32>>,
    /// By thread, the threads that it may start.
    pub(crate) started: Vec<Vec<u32>>,
    /// By thread, its accesses.
    pub(crate) accesses: Vec<Vec<EventId>>,
    /// By thread, accesses that may come after a join of it.
    pub(crate) joined: Vec<Vec<EventId>>,
    /// By thread, the threads that may join it.
    pub(crate) joiners: Vec<Vec<u32>>,
    /// By thread, the threads that may be started after a join of it.
    pub(crate) next: Vec<Vec<u32>>,
}

impl Starts {
    pub(crate) fn new(graph: &Graph, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Stopped> {
        let roots = graph.roots.len();
        let mut starts = Self {
            later: vec![Vec::new(); graph.events.len()],
            started: vec![Vec::new(); roots],
            accesses: vec![Vec::new(); roots],
            joined: vec![Vec::new(); roots],
            joiners: vec![Vec::new(); roots],
            next: vec![Vec::new(); roots],
        };
        for (event, access) in graph.events.iter().enumerate() {
            if access.live {
                let root = root_of(graph, access.node);
                starts.accesses[root].push(event as EventId);
            }
        }
        let nodes = || (0..graph.nodes.len()).map(|node| node as NodeId);
        if !nodes().any(|node| matches!(graph.nodes[node as usize].doing, Doing::Start(_))) {
            return Ok(starts);
        }
        let mut earlier = vec![Vec::new(); graph.nodes.len()];
        for node in nodes() {
            for (next, _) in &graph.next[node as usize] {
                earlier[*next as usize].push(node);
            }
        }
        let back = |node: NodeId| earlier[node as usize].iter().copied();
        let on = |node: NodeId| graph.next[node as usize].iter().map(|(next, _)| *next);
        for node in nodes() {
            let threads = started_by(graph, node);
            starts.started[root_of(graph, node)].extend(&threads);
            if !threads.is_empty() {
                look(go_on)?;
                for event in reached(graph, node, back).filter_map(|n| graph.event_at(n)) {
                    starts.later[event as usize].extend(&threads);
                }
            }
        }
        for node in nodes() {
            if let Doing::Join(_) = graph.nodes[node as usize].doing {
                look(go_on)?;
                let after: Vec<NodeId> = reached(graph, node, on).collect();
                let accesses: Vec<EventId> =
                    after.iter().filter_map(|n| graph.event_at(*n)).collect();
                let next: Vec<u32> = after.iter().flat_map(|n| started_by(graph, *n)).collect();
                let joiner = root_of(graph, node);
                for thread in starts.started[joiner].clone() {
                    starts.joined[thread as usize].extend(&accesses);
                    starts.next[thread as usize].extend(&next);
                    starts.joiners[thread as usize].push(joiner as u32);
                }
            }
        }
        starts.tidy();
        Ok(starts)
    }

    fn tidy(&mut self) {
        let threads = self.started.iter_mut().chain(&mut self.joiners);
        let threads = threads.chain(&mut self.next);
        for list in self.later.iter_mut().chain(threads) {
            list.sort_unstable();
            list.dedup();
        }
        for list in &mut self.joined {
            list.sort_unstable();
            list.dedup();
        }
    }
}

fn look(go_on: &mut dyn FnMut() -> bool) -> Result<(), Stopped> {
    if go_on() { Ok(()) } else { Err(Stopped) }
}

/// The thread that a step belongs to.
pub(crate) fn root_of(graph: &Graph, node: NodeId) -> usize {
    let context = graph.nodes[node as usize].context;
    graph.contexts[context as usize].root as usize
}

/// The threads that a step may start.
fn started_by(graph: &Graph, node: NodeId) -> Vec<u32> {
    let Doing::Start(start) = &graph.nodes[node as usize].doing else {
        return Vec::new();
    };
    let is_started = |root: &u32| {
        let function = graph.roots[*root as usize].0.thread.function;
        start.functions.contains(&function)
    };
    (0..graph.roots.len() as u32).filter(is_started).collect()
}

/// The steps that some steps lead to.
fn reached<I: Iterator<Item = NodeId>>(
    graph: &Graph,
    node: NodeId,
    steps: impl Fn(NodeId) -> I,
) -> impl Iterator<Item = NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut work = vec![node];
    while let Some(node) = work.pop() {
        for next in steps(node) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                work.push(next);
            }
        }
    }
    let numbers = seen.into_iter().enumerate();
    numbers.filter_map(|(node, seen)| seen.then_some(node as NodeId))
}
