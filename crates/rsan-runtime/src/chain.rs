//! The chain of accesses that forces the order of a violation, from the write that is missed to the access; and the one
//! that would order a race, from the earlier access to the later one, if its orders were stronger.
//!
//! A search backwards through the trails of the threads ([`crate::trail`]), breadth first, so the chain has as few
//! changes of thread as any that is known. Each link is an edge of the run: nothing is guessed. The fences between
//! two links of a thread are part of the chain.

use crate::tables::Map;
use crate::trail::{self, Act, Note, Step};
use rsan_model::ThreadId;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The access that may be weak; its position is the length of its thread's trail before it.
    pub access: Step,
    /// The write that it may miss. Only its thread, epoch, order and place count.
    pub missed: Step,
    /// The location of both.
    pub address: usize,
    /// Which edges lead from thread to thread.
    pub along: Along,
}

/// Which edges a chain may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// All that every SC order respects.
    ScOrder,
    /// Those that happens-before has if orders are strong enough: reads-from, creation of threads, and locks. `missed` is
    /// the earlier access of a race then.
    Synchronisation,
}

impl Along {
    fn has(self, source: Act, act: Act) -> bool {
        match (self, source) {
            (Self::ScOrder, _) | (_, Act::Create | Act::Unlock) => true,
            (Self::Synchronisation, source) => {
                matches!(source, Act::Store | Act::Rmw) && act.reads()
            }
        }
    }

    /// Whether to arrive by an earlier note of a thread rather than by a later one. A thread learns of memory before it uses it, and
    /// orders that are there already show what was meant: the publication of a pointer is a better way than a counter behind it.
    fn prefers(self, (_, _, earlier, from): &Hop, (_, _, later, other): &Hop) -> bool {
        let lacks = |source: &Step, note: &Note| {
            u32::from(!source.order.releases()) + u32::from(!note.step.order.acquires())
        };
        match self {
            Self::ScOrder => false,
            Self::Synchronisation => lacks(from, earlier) <= lacks(other, later),
        }
    }
}

impl Search {
    /// Whether a step is the missed write, or after it in its thread. A plain access has the epoch of the last write before it.
    fn is_reached_by(&self, source: &Step) -> bool {
        let later = source.epoch > self.missed.epoch;
        let is_same_epoch = source.epoch == self.missed.epoch;
        let counts = self.missed.act != Act::Plain || !source.act.writes();
        source.thread == self.missed.thread && (later || is_same_epoch && counts)
    }
}

pub use rsan_log::Edge;

/// How a note of a trail leads to what it learnt from.
fn between(from: Act, to: Act) -> Edge {
    match (from, to) {
        (Act::Create, _) => Edge::Create,
        (Act::Unlock, _) => Edge::Lock,
        (from, to) if from.writes() && to.reads() => Edge::Rf,
        (from, _) if from.writes() => Edge::Mo,
        _ => Edge::Fr,
    }
}

/// A step of the chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// What was done.
    pub step: Step,
    /// The location, if it has one.
    pub address: Option<usize>,
    /// To the next link; that of the last one says nothing.
    pub edge: Edge,
}

/// The way from the missed write to the access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// The missed write first, the access last.
    pub links: Vec<Link>,
    /// All fences between the links are known to be there.
    pub fences_known: bool,
}

impl Chain {
    /// Whether the thread of a link did no other atomic write before the next link, which is its own, too, and took no lock: each
    /// begins an epoch. So may a read after a release, which cannot be told from a relaxed write there.
    pub fn is_quiet_after(&self, index: usize) -> bool {
        let Some([link, next]) = self.links.get(index..index + 2) else {
            return false;
        };
        // The access of a violation, the last link, is not made yet.
        let is_made = index + 2 < self.links.len();
        let (link, next) = (&link.step, &next.step);
        let least = link.epoch + u32::from(is_made && next.act.writes());
        let most = least + u32::from(link.act.writes() && link.order.releases());
        link.thread == next.thread && (least..=most).contains(&next.epoch)
    }
}

/// The trails that were looked at.
#[derive(Default)]
struct Trails(Map<ThreadId, Option<(u32, Vec<Note>)>>);

impl Trails {
    /// The known notes of a thread in a range, newest first, with their numbers.
    fn notes(&mut self, thread: ThreadId, from: u32, to: u32) -> Vec<(u32, Note)> {
        let Some((first, notes)) = self.all(thread) else {
            return Vec::new();
        };
        let numbered = (*first..).zip(notes);
        let mut found: Vec<_> = numbered
            .filter(|(number, _)| (from..to).contains(number))
            .map(|(number, note)| (number, note.clone()))
            .collect();
        found.reverse();
        found
    }

    fn all(&mut self, thread: ThreadId) -> Option<&(u32, Vec<Note>)> {
        let known = self.0.entry(thread);
        known.or_insert_with(|| trail::read(thread)).as_ref()
    }
}

/// From which visit, through which note of its thread and with which number, to which source.
type Hop = (usize, u32, Note, Step);

/// A thread at a point of its trail, and how the search came there.
struct Visit {
    thread: ThreadId,
    position: u32,
    from: Option<Hop>,
}

/// Visits after which the search gives up.
const VISITS: usize = 10_000;

/// Looks for the chain.
pub fn find(search: &Search) -> Option<Chain> {
    let mut trails = Trails::default();
    let mut visits = vec![Visit {
        thread: search.access.thread,
        position: search.access.position,
        from: None,
    }];
    let mut seen: Map<ThreadId, u32> = Map::default();
    let mut next = 0;
    while next < visits.len() && visits.len() < VISITS {
        let (thread, position) = (visits[next].thread, visits[next].position);
        let before = seen.insert(
            thread,
            position.max(seen.get(&thread).copied().unwrap_or(0)),
        );
        let mut arrived: Option<Hop> = None;
        for (number, note) in trails.notes(thread, before.unwrap_or(0), position) {
            let along = |source: &&Step| search.along.has(source.act, note.step.act);
            for source in note.sources.iter().filter(along) {
                let hop = (next, number, note.clone(), *source);
                if search.is_reached_by(source) {
                    let is_better = |known: &Hop| search.along.prefers(&hop, known);
                    if arrived.as_ref().is_none_or(is_better) {
                        arrived = Some(hop);
                    }
                    continue;
                }
                visits.push(Visit {
                    thread: source.thread,
                    position: source.position,
                    from: Some(hop),
                });
            }
        }
        if arrived.is_some() {
            return Some(build(search, &visits, arrived, &mut trails));
        }
        next += 1;
    }
    None
}

/// Follows the visits forward again, from the missed write to the access.
fn build(search: &Search, visits: &[Visit], last: Option<Hop>, trails: &mut Trails) -> Chain {
    let mut builder = Builder {
        trails,
        chain: Chain {
            links: Vec::new(),
            fences_known: true,
        },
    };
    let mut hop = last.as_ref();
    // Where the thread of the last link is: all that came before is in the chain.
    let mut reached = Reached::Epoch(search.missed.epoch);
    // The order of an atomic access of a race is known only where it is a link.
    let is_link = |source: &Step| search.along == Along::Synchronisation && reached.is(source);
    if !hop.is_some_and(|hop| is_link(&hop.3)) {
        builder.push(search.missed, Some(search.address));
    }
    while let Some((visit, number, note, source)) = hop {
        if !reached.is(source) {
            builder.fences(source.thread, reached, source.position);
        }
        let address = Some(note.address).filter(|address| *address != 0);
        builder.push(*source, address);
        builder.set_edge(between(source.act, note.step.act));
        builder.push(note.step, address);
        reached = Reached::Note(*number);
        hop = visits[*visit].from.as_ref();
    }
    builder.fences(search.access.thread, reached, search.access.position);
    builder.chain.links.push(Link {
        step: search.access,
        address: Some(search.address),
        edge: Edge::Po,
    });
    builder.chain
}

/// A point in a thread.
#[derive(Clone, Copy)]
enum Reached {
    /// The write that begins this epoch.
    Epoch(u32),
    /// The note of this number.
    Note(u32),
}

impl Reached {
    /// Whether a step is the one that was reached, or so near that there is no note in between.
    fn is(self, step: &Step) -> bool {
        match self {
            Self::Epoch(epoch) => step.epoch == epoch && step.act.writes(),
            Self::Note(note) => step.position <= note + 1,
        }
    }
}

struct Builder<'a> {
    trails: &'a mut Trails,
    chain: Chain,
}

impl Builder<'_> {
    /// Adds a link, unless it is the last one again.
    fn push(&mut self, step: Step, address: Option<usize>) {
        let again = self.chain.links.last().is_some_and(|last| {
            let same = last.step.thread == step.thread && last.step.epoch == step.epoch;
            let write = last.step.act.writes() && step.act.writes();
            same && last.address == address && (write || last.step.act == step.act)
        });
        if !again {
            let edge = Edge::Po;
            self.chain.links.push(Link {
                step,
                address,
                edge,
            });
        }
    }

    fn set_edge(&mut self, edge: Edge) {
        if let Some(link) = self.chain.links.last_mut() {
            link.edge = edge;
        }
    }

    /// Adds the fences of a thread between the last link and a position of its trail.
    fn fences(&mut self, thread: ThreadId, from: Reached, to: u32) {
        let (first, oldest) = match self.trails.all(thread) {
            Some((first, notes)) => (*first, notes.first().map(|note| note.step.epoch)),
            None => {
                // A thread without a trail never had a note, or is gone.
                self.chain.fences_known &= to == 0;
                return;
            }
        };
        let after = |number: u32, step: &Step| match from {
            Reached::Epoch(epoch) => step.epoch >= epoch,
            Reached::Note(note) => number > note,
        };
        self.chain.fences_known &= first == 0
            || match from {
                Reached::Epoch(epoch) => oldest.is_some_and(|oldest| oldest < epoch),
                Reached::Note(note) => first <= note + 1,
            };
        for (number, note) in self.trails.notes(thread, 0, to).into_iter().rev() {
            if note.step.act == Act::Fence && after(number, &note.step) {
                self.push(note.step, None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
