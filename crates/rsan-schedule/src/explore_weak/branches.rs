//! What is left to try of a run: the alternatives of its new events, the last event first, one by one.

use super::alternatives::{Alternatives, Choice, Opened};
use super::change::Changed;
use super::follow::Followed;
use super::graph::{Graph, INIT, NONE};
use super::item::Item;

/// The alternatives of a run that were not tried yet.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Branches {
    pub(super) graph: Graph,
    /// Events whose alternatives come later; the last comes first.
    pub(super) slots: Vec<Slot>,
    /// Alternatives of the current event, with their weights; the last comes first.
    pub(super) choices: Vec<(Choice, f64)>,
    pub(super) current: Place,
}

/// An event, and whether only its write part is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) event: u32,
    pub(super) write: bool,
}

/// An event whose alternatives were not looked at yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Slot {
    pub(super) place: Place,
    /// About how many alternatives it has.
    pub(super) count: u32,
    /// Their share of the whole exploration.
    pub(super) weight: f64,
}

/// What came of looking at an alternative.
pub(super) enum Tried {
    /// A graph that has to be run.
    Plan(Item),
    /// Nothing; this share of the exploration is done.
    Nothing(f64),
    /// It could not be decided whether there is something; of this share.
    Undecided(f64),
    /// There is more to look at.
    More,
}

impl Branches {
    /// Those of a run, and the weight of the run itself.
    pub(super) fn of(followed: Followed, weight: f64) -> (Self, f64) {
        let Followed { graph, open, new } = followed;
        let open = open.into_iter().map(|event| Place { event, write: true });
        let new = new.into_iter().map(|event| Place {
            event,
            write: false,
        });
        let (mut rest, mut slots) = (weight, Vec::new());
        for place in open.chain(new) {
            let count = Alternatives::of(&graph, place.event, place.write).count();
            if count == 0 {
                continue;
            }
            // Each is taken to be as large as what is behind the event (Knuth 1975).
            let behind = rest / (count + 1) as f64;
            slots.push(Slot {
                place,
                count: u32::try_from(count).unwrap_or(u32::MAX),
                weight: rest - behind,
            });
            rest = behind;
        }
        let branches = Self {
            graph,
            slots,
            choices: Vec::new(),
            current: Place {
                event: 0,
                write: false,
            },
        };
        (branches, rest)
    }

    fn alternatives(&self) -> Alternatives<'_> {
        let Place { event, write } = self.current;
        Alternatives::of(&self.graph, event, write)
    }

    /// Whether all its numbers are those of events that it has.
    pub(super) fn is_sound(&self) -> bool {
        let events = &self.graph.events;
        let access = |e: u32| {
            events
                .get(e as usize)
                .is_some_and(|event| event.object != NONE)
        };
        let source = |rf: u32| {
            let write = events.get(rf as usize);
            rf >= INIT || write.is_some_and(|write| write.writes)
        };
        let fits = |choice: &Choice| match *choice {
            Choice::Source(rf) => rf != NONE && source(rf),
            Choice::Does(how) => source(how.rf),
            Choice::Reader { how, read, .. } => source(how.rf) && access(read),
        };
        let mut slots = self.slots.iter();
        let mut choices = self.choices.iter();
        (choices.len() == 0 || access(self.current.event))
            && slots.all(|slot| access(slot.place.event))
            && choices.all(|(choice, _)| fits(choice))
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

    /// Looks at the next alternative; `None` when there is none.
    pub(super) fn next(&mut self, roots: u32) -> Option<Tried> {
        let Some((choice, weight)) = self.choices.pop() else {
            let slot = self.slots.pop()?;
            self.current = slot.place;
            let all = self.alternatives().all();
            return Some(self.add(&all, slot.weight));
        };
        let change = match self.alternatives().open(choice) {
            Opened::Several(all) => return Some(self.add(&all, weight)),
            Opened::Elsewhere => return Some(Tried::Nothing(weight)),
            Opened::One(change) => change,
        };
        Some(match self.graph.change(&change, roots) {
            Changed::Plan(item) => Tried::Plan(Item { weight, ..item }),
            Changed::Impossible => Tried::Nothing(weight),
            Changed::Undecided => Tried::Undecided(weight),
        })
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
