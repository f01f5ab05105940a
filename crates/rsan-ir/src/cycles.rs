//! Which pairs of accesses can be on a cycle of program order and communication.
//!
//! *Decides*: a pair (a, b) of one thread can only matter if from b, by communication to another thread instance, by a pair or a single
//! access there, and so on, something leads back to a. Whatever execution the machine `to` allows and the machine `from` forbids, every
//! pair of its cycle is found.
//!
//! *Source*: the memory-access-pair graph of Fency (FMCAD 2021, section IV), with strongly connected components instead of "has an
//! edge in and an edge out": more precise, and still sound.
//!
//! *Method*: pairs are edges, not nodes: each access has a node where a cycle comes *in* to its thread and one where it goes *out*; a pair
//! leads from `in(a)` to `out(b)`, communication from `out(b)` to `in(c)`. A pair is on a cycle if both ends are in one component. Two
//! graphs are made so. The first leads through the control flow itself and is linear in the program. The second one, only of
//! what is left, has the pairs one by one, without those that must be one location (docs/theory/port.md, P3): a cycle that goes through such a pair
//! has a shorter one that does not.

use crate::alias::{Stopped, types_meet};
use crate::analyse::Prepared;
use crate::effects::Effects;
use crate::flow::{EventId, Graph};
use crate::module::AccessType;
use crate::order::{Part, State};
use crate::starts::{Starts, root_of};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Steps of a long loop until the caller is asked whether to go on.
pub(crate) const LOOK: u32 = 1 << 14;

/// Numbers of the strongly connected components of a graph, by node.
pub(crate) fn components(
    count: usize,
    successors: impl Fn(usize, &mut dyn FnMut(usize)),
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<usize>, Stopped> {
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; count];
    let mut low = vec![0; count];
    let mut component = vec![NEW; count];
    let mut open = Vec::new();
    let (mut next_index, mut next_component) = (0, 0);
    // Successors that are still to be looked at, of all nodes on the way, and where each node's begin.
    let mut pending: Vec<usize> = Vec::new();
    let mut way: Vec<(usize, usize)> = Vec::new();
    let mut turns = 0_u32;
    for root in 0..count {
        if index[root] != NEW {
            continue;
        }
        let mut enter = Some(root);
        loop {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(LOOK) && !go_on() {
                return Err(Stopped);
            }
            if let Some(node) = enter.take() {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                open.push(node);
                way.push((node, pending.len()));
                successors(node, &mut |next| pending.push(next));
            }
            let Some((node, begin)) = way.last().copied() else {
                break;
            };
            if pending.len() > begin {
                let next = pending.pop().unwrap_or(node);
                if index[next] == NEW {
                    enter = Some(next);
                } else if component[next] == NEW {
                    low[node] = low[node].min(index[next]);
                }
                continue;
            }
            way.pop();
            if let Some((before, _)) = way.last() {
                low[*before] = low[*before].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
        }
    }
    Ok(component)
}

/// Which classes of accesses may meet.
pub(crate) fn meetings(
    graph: &Graph,
    types: &[AccessType],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Vec<u32>>, Stopped> {
    let count = graph.classes.len();
    let mut meets: Vec<Vec<u32>> = vec![Vec::new(); count];
    for a in 0..count {
        if a.is_multiple_of(64) && !go_on() {
            return Err(Stopped);
        }
        for b in a..count {
            let (first, second) = (&graph.classes[a], &graph.classes[b]);
            if types_meet(types, first.kind, second.kind) && first.meets(second) {
                meets[a].push(b as u32);
                if a != b {
                    meets[b].push(a as u32);
                }
            }
        }
    }
    Ok(meets)
}

/// Where accesses are on cycles: components of where a cycle comes in to their thread and of where it goes out.
#[derive(Debug)]
pub(crate) struct OnCycles {
    into: Vec<usize>,
    out: Vec<usize>,
}

impl OnCycles {
    /// Whether the pair can be on a cycle.
    pub(crate) fn pair(&self, first: EventId, second: EventId) -> bool {
        self.into[first as usize] == self.out[second as usize]
    }

    /// The accesses with which a pair on a cycle may begin: some `out` is in the component.
    pub(crate) fn sources(&self, graph: &Graph) -> Vec<EventId> {
        let mut ends = vec![false; self.into.iter().chain(&self.out).max().map_or(0, |m| m + 1)];
        for (event, component) in self.out.iter().enumerate() {
            ends[*component] |= graph.events[event].live;
        }
        let live = |e: &EventId| graph.events[*e as usize].live;
        let is_source = |e: &EventId| live(e) && ends[self.into[*e as usize]];
        (0..graph.events.len() as EventId)
            .filter(is_source)
            .collect()
    }
}

/// Numbers of the nodes of both graphs: accesses, where a cycle comes in and goes out; classes, written and read, left and entered.
/// Then threads, begun and ended.
pub(crate) struct Layout {
    events: usize,
    classes: usize,
    threads: usize,
}

/// What a node stands for.
pub(crate) enum Vertex {
    /// A cycle comes in to a thread.
    In(EventId),
    /// A cycle leaves a thread.
    Out(EventId),
    /// A class is left, by a write or a read.
    Left(u32, bool),
    /// A class is entered, at a write or a read.
    Entered(u32, bool),
    /// A thread is started.
    Begun(u32),
    /// A thread has ended.
    Ended(u32),
    /// Another one, counted from 0.
    Other(usize),
}

impl Layout {
    pub(crate) fn new(graph: &Graph) -> Self {
        Self {
            events: graph.events.len(),
            classes: graph.classes.len(),
            threads: graph.roots.len(),
        }
    }

    pub(crate) fn enter(&self, event: EventId) -> usize {
        event as usize
    }

    pub(crate) fn out(&self, event: EventId) -> usize {
        self.events + event as usize
    }

    fn left(&self, class: u32, writes: bool) -> usize {
        2 * self.events + 2 * class as usize + usize::from(writes)
    }

    fn entered(&self, class: u32, writes: bool) -> usize {
        2 * self.events + 2 * self.classes + 2 * class as usize + usize::from(writes)
    }

    fn begun(&self, thread: u32) -> usize {
        2 * self.events + 4 * self.classes + thread as usize
    }

    fn ended(&self, thread: u32) -> usize {
        self.begun(thread) + self.threads
    }

    pub(crate) fn others(&self) -> usize {
        2 * self.events + 4 * self.classes + 2 * self.threads
    }

    pub(crate) fn vertex(&self, number: usize) -> Vertex {
        let mut rest = number;
        let (events, classes, threads) = (self.events, 2 * self.classes, self.threads);
        for size in [events, events, classes, classes, threads, threads] {
            if rest < size {
                break;
            }
            rest -= size;
        }
        let (event, class, writes) = (rest as EventId, (rest / 2) as u32, rest % 2 == 1);
        match number {
            n if n < self.events => Vertex::In(event),
            n if n < 2 * self.events => Vertex::Out(event),
            n if n < 2 * self.events + 2 * self.classes => Vertex::Left(class, writes),
            n if n < self.begun(0) => Vertex::Entered(class, writes),
            n if n < self.ended(0) => Vertex::Begun(rest as u32),
            n if n < self.others() => Vertex::Ended(rest as u32),
            _ => Vertex::Other(rest),
        }
    }
}

/// Communication between threads, as edges of both graphs.
pub(crate) struct Communication<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) layout: Layout,
    meets: &'a [Vec<u32>],
    members: Vec<[Vec<EventId>; 2]>,
    starts: &'a Starts,
}

impl<'a> Communication<'a> {
    pub(crate) fn new(prepared: &'a Prepared) -> Self {
        let graph = &prepared.graph;
        let mut members = vec![[Vec::new(), Vec::new()]; graph.classes.len()];
        for (index, event) in graph.events.iter().enumerate() {
            // Communication comes in where a lock is taken and goes out where it is given back.
            if event.live && event.operation.part != Part::Unlock {
                let writes = usize::from(event.operation.part.writes());
                members[event.class as usize][writes].push(index as EventId);
            }
        }
        Self {
            graph,
            layout: Layout::new(graph),
            meets: &prepared.meets,
            members,
            starts: &prepared.starts,
        }
    }

    /// Edges of a node that are not program order: a single access of a thread is on a cycle, too.
    pub(crate) fn successors(&self, vertex: &Vertex, visit: &mut dyn FnMut(usize)) {
        let layout = &self.layout;
        match *vertex {
            Vertex::In(event) => {
                visit(layout.out(event));
                let later = &self.starts.later[event as usize];
                later.iter().for_each(|thread| visit(layout.begun(*thread)));
                let node = self.graph.events[event as usize].node;
                visit(layout.ended(root_of(self.graph, node) as u32));
            }
            Vertex::Begun(thread) => {
                let started = &self.starts.started[thread as usize];
                started.iter().for_each(|other| visit(layout.begun(*other)));
                let accesses = &self.starts.accesses[thread as usize];
                accesses.iter().for_each(|event| visit(layout.out(*event)));
                visit(layout.ended(thread));
            }
            Vertex::Ended(thread) => {
                let after = &self.starts.joined[thread as usize];
                after.iter().for_each(|event| visit(layout.out(*event)));
                let next = &self.starts.next[thread as usize];
                next.iter().for_each(|other| visit(layout.begun(*other)));
                let joiners = &self.starts.joiners[thread as usize];
                joiners
                    .iter()
                    .for_each(|joiner| visit(layout.ended(*joiner)));
            }
            Vertex::Out(event) => {
                let event = &self.graph.events[event as usize];
                if event.live && event.operation.part != Part::Lock {
                    visit(layout.left(event.class, event.operation.part.writes()));
                }
            }
            Vertex::Left(class, writes) => {
                for met in &self.meets[class as usize] {
                    visit(layout.entered(*met, true));
                    if writes {
                        visit(layout.entered(*met, false));
                    }
                }
            }
            Vertex::Entered(class, writes) => {
                for event in &self.members[class as usize][usize::from(writes)] {
                    visit(layout.enter(*event));
                }
            }
            Vertex::Other(_) => {}
        }
    }

    fn on_cycles(&self, component: &[usize]) -> OnCycles {
        let events = 0..self.graph.events.len() as EventId;
        OnCycles {
            into: events
                .clone()
                .map(|e| component[self.layout.enter(e)])
                .collect(),
            out: events.map(|e| component[self.layout.out(e)]).collect(),
        }
    }

    /// By the control flow itself.
    pub(crate) fn by_flow(
        &self,
        effects: &Effects,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<OnCycles, Stopped> {
        let states = effects.states(self.graph);
        let number = |state: State| states.iter().position(|s| *s == state).unwrap_or(0);
        let step = |node: u32, state: State| {
            self.layout.others() + node as usize * states.len() + number(state)
        };
        let count = self.layout.others() + self.graph.nodes.len() * states.len();
        let successors = |at: usize, visit: &mut dyn FnMut(usize)| {
            let vertex = self.layout.vertex(at);
            self.successors(&vertex, visit);
            match vertex {
                Vertex::In(event) => {
                    let node = self.graph.events[event as usize].node;
                    visit(step(node, effects.from.start(node)));
                }
                Vertex::Other(rest) => {
                    let (node, state) = (rest / states.len(), states[rest % states.len()]);
                    for (next, _) in &self.graph.next[node] {
                        visit(step(*next, effects.from.next(*next, state)));
                        if let Some(event) = self.graph.event_at(*next)
                            && effects.from.ordered(*next, state)
                        {
                            visit(self.layout.out(event));
                        }
                    }
                }
                _ => {}
            }
        };
        let component = components(count, successors, go_on)?;
        Ok(self.on_cycles(&component))
    }

    /// By pairs, one by one: `pairs[a]` are the later accesses of `a`.
    pub(crate) fn by_pairs(
        &self,
        pairs: &[Vec<EventId>],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<OnCycles, Stopped> {
        let successors = |at: usize, visit: &mut dyn FnMut(usize)| {
            let vertex = self.layout.vertex(at);
            self.successors(&vertex, visit);
            if let Vertex::In(event) = vertex {
                for second in &pairs[event as usize] {
                    visit(self.layout.out(*second));
                }
            }
        };
        let component = components(self.layout.others(), successors, go_on)?;
        Ok(self.on_cycles(&component))
    }

    /// Shortest ways from a class that is left to everything: by node, the node before it. `pairs[a]` are the later accesses of `a`.
    fn ways(
        &self,
        pairs: &[Vec<EventId>],
        from: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<usize>, Stopped> {
        let mut turns = 0_u32;
        let mut parent = vec![usize::MAX; self.layout.others()];
        let mut queue = std::collections::VecDeque::from([from]);
        parent[from] = from;
        while let Some(at) = queue.pop_front() {
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(512) && !go_on() {
                return Err(Stopped);
            }
            let vertex = self.layout.vertex(at);
            let mut visit = |next: usize| {
                if parent[next] == usize::MAX {
                    parent[next] = at;
                    queue.push_back(next);
                }
            };
            self.successors(&vertex, &mut visit);
            if let Vertex::In(event) = vertex {
                let later = &pairs[event as usize];
                later
                    .iter()
                    .for_each(|second| visit(self.layout.out(*second)));
            }
        }
        Ok(parent)
    }
}

/// What closes the cycles of pairs.
pub(crate) struct Closing<'a> {
    communication: Communication<'a>,
    pairs: &'a [Vec<EventId>],
    ways: HashMap<usize, Vec<usize>>,
}

impl<'a> Closing<'a> {
    /// For a graph and its pairs.
    pub(crate) fn new(communication: Communication<'a>, pairs: &'a [Vec<EventId>]) -> Self {
        Self {
            communication,
            pairs,
            ways: HashMap::new(),
        }
    }

    /// The shortest way that closes a cycle, from the second access of a pair to its first one: pairs, or single accesses twice.
    pub(crate) fn partners(
        &mut self,
        first: EventId,
        second: EventId,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(EventId, EventId)>, Stopped> {
        let layout = &self.communication.layout;
        let last = &self.communication.graph.events[second as usize];
        let from = layout.left(last.class, last.operation.part.writes());
        let parent = match self.ways.entry(from) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.communication.ways(self.pairs, from, go_on)?),
        };
        let mut partners = Vec::new();
        let (mut at, mut end) = (layout.enter(first), None);
        while parent[at] != usize::MAX && at != from {
            at = parent[at];
            match layout.vertex(at) {
                Vertex::Out(event) => end = Some(event),
                Vertex::In(event) => partners.push((event, end.unwrap_or(event))),
                _ => {}
            }
        }
        partners.reverse();
        Ok(partners)
    }
}
