//! What an exploration has learnt from its runs about rounds that come to nothing ([`super::rounds`]), and what follows from it.

use super::graph::Graph;
use super::index::Index;
use super::item::Item;
use super::replay::Replayed;
use super::rounds::{Moves, Round, Search};
use super::run::Trace;
use super::{Counts, Explorer, Waiting};

/// What was learnt.
#[derive(Clone, Debug, Default)]
pub(super) struct Learnt {
    moves: Moves,
    /// Runs of which it is not known whether a round came to nothing.
    held: Vec<Held>,
    /// Something was left out that counts if some run overwrites objects: a round in which a thread reads several objects, or a failed spin
    /// iteration.
    used: bool,
    /// Some run does.
    overwritten: bool,
    /// Every round counts.
    off: bool,
}

#[derive(Clone, Debug)]
struct Held {
    item: Item,
    round: Round,
}

/// What is to be done with a run.
enum Verdict {
    /// It shows what it shows.
    Counts,
    /// It is made again, and a thread stops.
    Stops(Round),
    /// That is not known.
    Unknown(Round),
}

impl Learnt {
    /// Of an exploration that was saved: what it had learnt is not known.
    pub(super) fn unknown() -> Self {
        Self {
            used: true,
            ..Self::default()
        }
    }

    /// Runs that are held.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// The plans of these runs.
    pub(super) fn plans(&self) -> impl Iterator<Item = &Item> {
        self.held.iter().map(|held| &held.item)
    }

    /// What is known of states, if spin iterations that fail may be left out.
    pub(super) fn moves(&self) -> Option<&Moves> {
        (!self.off && !self.overwritten).then_some(&self.moves)
    }

    fn judge(&self, item: &Item, graph: &Graph, replayed: &Replayed) -> Verdict {
        if self.off || replayed.seen.iter().all(|seen| seen.local.state == 0) {
            return Verdict::Counts;
        }
        let index = Index::new(graph);
        let search = Search {
            graph,
            index: &index,
            seen: &replayed.seen,
        };
        let mut unknown = None;
        for round in search.rounds() {
            let known = item.stops.contains(&round.stop) || item.passes.contains(&round.stop);
            if known || round.reads_others && self.overwritten {
                continue;
            }
            match self.moves.leads(&round.way) {
                Some(true) => return Verdict::Stops(round),
                Some(false) => {}
                None => unknown = unknown.or(Some(round)),
            }
        }
        unknown.map_or(Verdict::Counts, Verdict::Unknown)
    }
}

impl Explorer {
    /// Learns from a run. Whether nothing else comes of it: it is to be made again, now or later, or the exploration begins anew.
    pub(super) fn learn(&mut self, item: &Item, trace: &Trace, replayed: &Replayed) -> bool {
        let learnt = &mut self.learnt;
        learnt.moves.learn(&trace.steps);
        if trace.overwrites && !std::mem::replace(&mut learnt.overwritten, true) && learnt.used {
            self.begin_anew();
            return true;
        }
        let mut item = item.clone();
        match learnt.judge(&item, &replayed.graph, replayed) {
            Verdict::Counts => return false,
            Verdict::Stops(round) => {
                learnt.used |= round.reads_others;
                item.stops.push(round.stop);
                self.waiting.push(Waiting::Plan(item));
            }
            Verdict::Unknown(round) => learnt.held.push(Held { item, round }),
        }
        true
    }

    /// A run that was held: what is known by now says what comes of it. If that is nothing, it counts.
    pub(super) fn release(&mut self) -> Option<Item> {
        let learnt = &mut self.learnt;
        let is_known = |one: &Held| learnt.moves.leads(&one.round.way).is_some();
        let place = match learnt.held.iter().position(is_known) {
            Some(place) => place,
            None if self.running.is_empty() && !learnt.held.is_empty() => 0,
            None => return None,
        };
        let Held { mut item, round } = learnt.held.remove(place);
        let counts = round.reads_others && learnt.overwritten;
        match learnt.moves.leads(&round.way) {
            Some(true) if !counts => {
                learnt.used |= round.reads_others;
                item.stops.push(round.stop);
            }
            _ => item.passes.push(round.stop),
        }
        Some(item)
    }

    /// What threads have read in rounds that were left out matters.
    pub(super) fn begin_anew(&mut self) {
        let running = std::mem::take(&mut self.running);
        self.obsolete.extend(running.into_keys());
        self.waiting = vec![Waiting::Plan(Item::whole())];
        (self.counts, self.share) = (Counts::default(), 0.0);
        self.learnt.held.clear();
        self.learnt.used = false;
    }

    /// Something was left out that counts if objects are overwritten.
    pub(super) fn use_moves(&mut self) {
        self.learnt.used = true;
    }

    /// Every round counts, and the orders in which threads come to a meeting: for parts of an exploration, which do not learn from each
    /// other.
    pub fn count_rounds(&mut self) {
        self.learnt.off = true;
        self.order_arrivals();
    }
}
