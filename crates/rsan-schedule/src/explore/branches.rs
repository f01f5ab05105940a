//! What is left to try of a run: the alternatives of its new events, the last event first.
//!
//! They are looked at one by one, when it is their turn: a run of n steps can have n² of them, each a graph of n events.

use super::alternatives::{Alternatives, Choice, Opened};
use super::graph::{Graph, NONE};
use super::index::Index;
use super::item::{Change, Item};
use super::plan::Stop;
use super::replay::Replayed;
use super::rounds::{Moves, Search};
use super::run::Seen;
use crate::Kind;

/// The alternatives of a run that were not tried yet.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Branches {
    pub(super) graph: Graph,
    index: Index,
    /// Events whose alternatives come later; the last comes first.
    pub(super) slots: Vec<Slot>,
    /// Alternatives of the current event, with their weights; the last comes first.
    pub(super) choices: Vec<(Choice, f64)>,
    /// The current event, and whether only its write part is new.
    pub(super) current: (u32, bool),
    /// Where threads have stopped.
    stops: Vec<Stop>,
    /// By event: what was seen of its step; none if that is not known.
    seen: Vec<Seen>,
}

/// An event whose alternatives were not looked at yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Slot {
    pub(super) event: u32,
    /// Whether only its write part is new.
    pub(super) write: bool,
    /// About how many alternatives it has.
    pub(super) count: u32,
    /// Their share of the whole exploration.
    pub(super) weight: f64,
}

/// What came of looking at an alternative.
pub(super) enum Tried {
    /// A graph that has to be run. Whether a thread stops in it because of what it is made to read.
    Plan(Item, bool),
    /// Nothing; this share of the exploration is done.
    Nothing(f64),
    /// The same, as a spin iteration is known to fail.
    Spins(f64),
    /// There is more to look at.
    More,
}

impl Branches {
    /// Those of a run in which these threads have stopped, and the weight of the run itself.
    pub(super) fn of(
        replayed: Replayed,
        index: Index,
        weight: f64,
        stops: Vec<Stop>,
    ) -> (Self, f64) {
        let Replayed {
            graph,
            open,
            new,
            waiting,
            seen,
        } = replayed;
        let mut branches = Self {
            graph,
            index,
            slots: Vec::new(),
            choices: Vec::new(),
            current: (0, false),
            stops,
            seen,
        };
        let open = open.into_iter().map(|e| (e, true));
        let new = new.chain(waiting).map(|e| (e, false));
        let mut rest = weight;
        for (event, write) in open.chain(new) {
            let count = branches.alternatives(event, write).count(write);
            if count > 0 {
                // Each is taken to be as large as what is behind the event (Knuth 1975).
                let behind = rest / (count + 1) as f64;
                branches.slots.push(Slot {
                    event,
                    write,
                    count: u32::try_from(count).unwrap_or(u32::MAX),
                    weight: rest - behind,
                });
                rest = behind;
            }
        }
        (branches, rest)
    }

    /// Those that are left of a run with this graph.
    pub(super) fn new(
        graph: Graph,
        slots: Vec<Slot>,
        choices: Vec<(Choice, f64)>,
        current: (u32, bool),
    ) -> Self {
        Self {
            index: Index::new(&graph),
            graph,
            slots,
            choices,
            current,
            stops: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn alternatives(&self, event: u32, write: bool) -> Alternatives<'_> {
        match write {
            true => Alternatives::of_write(&self.graph, &self.index, event),
            false => Alternatives::of(&self.graph, &self.index, event),
        }
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.slots.is_empty() && self.choices.is_empty()
    }

    /// About how many alternatives are left. Some may turn out not to be possible, and others to be several.
    pub(super) fn left(&self) -> usize {
        let slots = self.slots.iter().map(|slot| slot.count as usize);
        slots.sum::<usize>() + self.choices.len()
    }

    /// Whether the event's thread, if it reads this, is a failed spin iteration later where it was. Then nothing follows from it.
    fn spins(&self, choice: Choice, moves: &Moves) -> bool {
        let e = self.current.0 as usize;
        let (event, state) = (&self.graph.events[e], self.seen.get(e));
        let Some(state) = state.map(|s| s.local.state) else {
            return false;
        };
        let rf = match choice {
            Choice::Source(rf) => rf,
            Choice::Failure { guessed: false, .. } => return moves.spins(state, event.expected),
            _ => return false,
        };
        let reads = matches!(event.kind, Kind::Load | Kind::Compare | Kind::Update);
        let comparable = reads && rf != event.rf && self.graph.uniform[event.object as usize];
        let value = self.graph.value(rf, event.object).filter(|_| comparable);
        // A compare-and-swap that finds what it expects has spun there only if it failed for no reason.
        let succeeds = |value| event.kind == Kind::Compare && value == event.expected;
        value.is_some_and(|value| !succeeds(value) && moves.spins(state, value))
    }

    /// Looks at the next alternative; `None` when there is none. Spin iterations that are known to fail are left out.
    pub(super) fn next(&mut self, roots: u32, moves: Option<&Moves>) -> Option<Tried> {
        let Some((choice, weight)) = self.choices.pop() else {
            let slot = self.slots.pop()?;
            self.current = (slot.event, slot.write);
            let all = self.alternatives(slot.event, slot.write).all(slot.write);
            return Some(self.add(&all, slot.weight));
        };
        if moves.is_some_and(|moves| self.spins(choice, moves)) {
            return Some(Tried::Spins(weight));
        }
        let (event, write) = self.current;
        let change = match self.alternatives(event, write).open(choice) {
            Opened::Several(all) => return Some(self.add(&all, weight)),
            Opened::One(change) => change,
        };
        let stop = moves.and_then(|moves| self.stop_behind(&change, moves));
        if stop.is_some() && change.is_stale() {
            return Some(Tried::Spins(weight));
        }
        let stops = (&self.stops[..], stop);
        let item = self.graph.change(&self.index, &change, roots, stops);
        Some(match item {
            Some(item) => Tried::Plan(Item { weight, ..item }, stop.is_some()),
            None => Tried::Nothing(weight),
        })
    }

    /// Where a thread stops if it reads what it is made to read, as that ends a round that comes to nothing.
    fn stop_behind(&self, change: &Change, moves: &Moves) -> Option<Stop> {
        let (read, rf, value) = match &change.revisit {
            Some(_) if change.guessed => return None,
            Some(revisit) => (revisit.read, change.event, change.wrote?),
            None if change.after.is_some() || change.guessed || change.rf == NONE => return None,
            None => {
                let object = self.graph.events[change.event as usize].object;
                (
                    change.event,
                    change.rf,
                    self.graph.value(change.rf, object)?,
                )
            }
        };
        if self.seen.len() < self.graph.events.len() {
            return None;
        }
        let search = Search {
            graph: &self.graph,
            index: &self.index,
            seen: &self.seen,
        };
        let fails = change.fails || change.revisit.as_ref().is_some_and(|r| r.fails);
        Some(search.planned((read, fails), rf, value, moves)?.stop)
    }

    /// Adds choices that have this weight together.
    fn add(&mut self, choices: &[Choice], weight: f64) -> Tried {
        if choices.is_empty() {
            return Tried::Nothing(weight);
        }
        let each = weight / choices.len() as f64;
        self.choices.extend(choices.iter().map(|&c| (c, each)));
        Tried::More
    }
}
