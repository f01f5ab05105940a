//! What an exploration has learnt from its runs about rounds that come to nothing ([`super::rounds`]), and what follows from it.

use super::ends::{Ends, Stops};
use super::graph::NONE;
use super::index::Index;
use super::item::Item;
use super::replay::Replayed;
use super::rounds::{Moves, Round, Search};
use super::run::Trace;
use super::{Counts, Explorer, Stop, Waiting};

/// How often a run is made again for threads that can rest: states may be others each time.
const TRIES: u8 = 2;

/// What was learnt.
#[derive(Clone, Debug, Default)]
pub(super) struct Learnt {
    moves: Moves,
    /// How rounds that came to nothing have ended.
    ends: Ends,
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

/// A run, and lookups in its graph.
type Run<'r> = (&'r Replayed, &'r Index);

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

    /// What a run is told of ends of rounds.
    pub(super) fn ends(&self) -> &[(u64, u64)] {
        self.moves().map_or(&[], |_| self.ends.all())
    }

    /// Where threads in a run let others go on.
    pub(super) fn rests(&self) -> &[(u64, u64)] {
        self.moves().map_or(&[], Moves::known_spins)
    }

    /// Whether a thread has spun behind the plan before a later write, and would rest there if the run were made again, as that is known now.
    pub(super) fn can_rest(&self, item: &Item, replayed: &Replayed) -> bool {
        let (graph, rests) = (&replayed.graph, self.rests());
        let new = &rests[item.rested.min(rests.len())..];
        let can_rest = |e: u32| {
            let (event, seen) = (&graph.events[e as usize], &replayed.seen[e as usize]);
            new.contains(&(seen.local.state, seen.read))
                && event.reads()
                && event.rf != graph.last_write(event.object, NONE)
        };
        item.tries < TRIES && !new.is_empty() && replayed.new.clone().any(can_rest)
    }

    /// The stops of a run of the item.
    pub(super) fn stops(&self, item: &Item, trace: &Trace) -> Stops {
        self.ends.stops(item.given, &item.stops, trace)
    }

    /// Whether each of these threads has ended a round that comes to nothing.
    fn confirm(&mut self, stops: &[Stop], (replayed, index): Run<'_>) -> bool {
        if stops.is_empty() {
            return true;
        }
        let Some(moves) = self.moves() else {
            return false;
        };
        let search = Search {
            graph: &replayed.graph,
            index,
            seen: &replayed.seen,
        };
        let round = |stop: &Stop| search.ended(stop, moves);
        let rounds: Option<Vec<Round>> = stops.iter().map(round).collect();
        let others = rounds
            .as_ref()
            .map(|all| all.iter().any(|round| round.reads_others));
        self.used |= others == Some(true);
        others.is_some()
    }

    /// What was learnt of a round that came to nothing.
    fn ends_with(&mut self, round: &Round) {
        self.used |= round.reads_others;
        self.ends.learn(round.last, round.stop.value);
    }

    fn judge(&self, item: &Item, (replayed, index): Run<'_>) -> Verdict {
        if self.off || replayed.seen.iter().all(|seen| seen.local.state == 0) {
            return Verdict::Counts;
        }
        let search = Search {
            graph: &replayed.graph,
            index,
            seen: &replayed.seen,
        };
        let mut unknown = None;
        for round in search.rounds() {
            if item.stops.contains(&round.stop) || round.reads_others && self.overwritten {
                continue;
            }
            match self.moves.leads(&round.way) {
                Some(true) => return Verdict::Stops(round),
                None if !item.passes.contains(&round.stop) => {
                    unknown = unknown.or(Some(round));
                }
                Some(false) | None => {}
            }
        }
        unknown.map_or(Verdict::Counts, Verdict::Unknown)
    }
}

impl Explorer {
    /// Learns where threads get from the states in which they were.
    pub(super) fn learn_moves(&mut self, trace: &Trace) {
        self.learnt.moves.learn(&trace.steps);
    }

    /// Learns from a run in which these threads have stopped. Whether nothing else comes of it: it is to be made again, now or later, or
    /// the exploration begins anew.
    pub(super) fn settle(
        &mut self,
        item: &Item,
        stops: &[Stop],
        trace: &Trace,
        run: Run<'_>,
    ) -> bool {
        let mut new = stops.to_vec();
        new.retain(|stop| !item.stops.contains(stop));
        if !self.learnt.confirm(&new, run) {
            let without_ends = true;
            self.waiting.push(Waiting::Plan(Item {
                without_ends,
                ..item.clone()
            }));
            return true;
        }
        if self.learn(item, trace, run) {
            return true;
        }
        let can_rest = trace.end.is_complete() && self.learnt.can_rest(item, run.0);
        if can_rest {
            let tries = item.tries + 1;
            self.waiting.push(Waiting::Plan(Item {
                tries,
                ..item.clone()
            }));
        }
        can_rest
    }

    /// The same, of rounds that were not known to come to nothing.
    fn learn(&mut self, item: &Item, trace: &Trace, run: Run<'_>) -> bool {
        let learnt = &mut self.learnt;
        if trace.overwrites && !std::mem::replace(&mut learnt.overwritten, true) && learnt.used {
            self.begin_anew();
            return true;
        }
        let verdict = learnt.judge(item, run);
        if matches!(verdict, Verdict::Counts) {
            return false;
        }
        let mut item = item.clone();
        match verdict {
            Verdict::Counts => {}
            Verdict::Stops(round) => {
                learnt.ends_with(&round);
                match round.is_stale(&item) {
                    true => self.share += item.weight,
                    false => {
                        item.stops.push(round.stop);
                        self.waiting.push(Waiting::Plan(item));
                    }
                }
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
                learnt.ends_with(&round);
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
