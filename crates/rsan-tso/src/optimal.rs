//! The cheapest set of fences that makes a program robust against TSO (docs/theory/tso.md, T5).
//!
//! A computation that an attack shows is forbidden by a fence exactly when it stands in a control state that the attacker
//! passes between the delayed store and the load ([`Computation::between`]): everywhere else all buffers are empty, and
//! a fence passes. So a set of fences works if and only if it hits `between` of every violating computation, and the
//! cheapest one is a cheapest hitting set. The computations are found one by one: the cheapest set that hits those known is
//! tried, and if the program is still not robust there are new ones, which the set does not hit. The last set costs no more
//! than any other that hits the computations found, hence than any that works.
//!
//! Trencher (Bouajjani, Derevenetc and Meyer, ESOP 2013, section 5) computes all irreducible sets per attack beforehand;
//! the sets found are as cheap, and most attacks never have to be looked at. Three things keep the number of steps small.
//! - Whenever a computation is found, all places that would forbid it get a fence for a while, and what is still found then has no
//!   place in common with it; such sets bound the cost from below at once.
//! - The text of the program gives a set that works, and costs perhaps more: one after which no store reaches a load that
//!   matters. Once the known computations cost as much, it is a cheapest one, and no state has to be looked at.
//! - A fence that alone hits one of the known computations is needed; nothing has to be searched to prove it.

use crate::attacker::Success;
use crate::compiled::Compiled;
use crate::fences::{FencePlace, FenceSet};
use crate::limits::{Limits, Stats};
use crate::prefilter::Prefilter;
use crate::search::{Found, Search};
use crate::witness::{self, Computation};
use crate::{Fault, Verdict, verdict};
use rsan_cover::Clause;
use rsan_model::Reason;
use rsan_model::automata::{Automata, Op};
use std::collections::BTreeSet;

/// What is added to the cost of an awkward place: there are never so many that they would count.
const AWKWARD: f64 = 1.0 / 4096.0;

/// A cheapest set of fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Where they stand, and for each a computation that it alone forbids: without it the program is not robust.
    pub fences: Vec<(FencePlace, Computation)>,
    /// What they cost together.
    pub cost: u64,
    /// The sets of places of which every set that works needs one: no cheaper set hits them all.
    pub required: Vec<Vec<FencePlace>>,
    /// What the search did.
    pub stats: Stats,
}

/// What came of looking for fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Synthesis {
    /// A cheapest set; empty when the program is robust as it is.
    Repair(Box<Repair>),
    /// No fence can stand between the store and the load of this computation.
    Impossible(Box<Computation>),
    /// The program fails under SC already.
    Fault(Box<Fault>),
    /// Not decided.
    Unknown {
        /// Why.
        reason: Reason,
        /// What every set that works costs.
        at_least: u64,
        /// A set that works and may be too expensive, if one is known.
        enough: Option<Vec<FencePlace>>,
    },
}

/// The cheapest fences that make a program robust; `cost` says what a fence costs at a place. `progress` hears how many weak
/// runs are known and how many fences forbid them.
pub fn cheapest_fences(
    automata: &Automata,
    cost: &dyn Fn(FencePlace) -> u64,
    limits: &Limits<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Synthesis {
    let compiled = Compiled::new(automata);
    let prefilter = Prefilter::new(automata);
    let search = match Search::new(&compiled, &prefilter, limits) {
        Ok(search) => search,
        Err(found) => return undecided(automata, found, 0, None),
    };
    let mut synthesizer = Synthesizer {
        automata,
        cost,
        prefilter: &prefilter,
        search,
        known: Vec::new(),
        ways: Vec::new(),
    };
    synthesizer.run(progress)
}

/// A search ended without attacks, and not because there are none.
fn undecided(
    automata: &Automata,
    found: Found,
    at_least: u64,
    enough: Option<FenceSet>,
) -> Synthesis {
    match verdict(automata, found) {
        Verdict::Fault(fault) => Synthesis::Fault(fault),
        Verdict::Unknown(reason) => Synthesis::Unknown {
            reason,
            at_least,
            enough: enough.map(|fences| fences.iter().collect()),
        },
        other => unreachable!("handled before: {other:?}"),
    }
}

struct Synthesizer<'a> {
    automata: &'a Automata,
    cost: &'a dyn Fn(FencePlace) -> u64,
    prefilter: &'a Prefilter<'a>,
    search: Search<'a>,
    /// The computations found, and the places that forbid each.
    known: Vec<(Vec<FencePlace>, Computation)>,
    /// Ways from stores to loads in the text.
    ways: Vec<Vec<FencePlace>>,
}

impl Synthesizer<'_> {
    fn run(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Synthesis {
        loop {
            let cheapest = self.hitting_set(false);
            let at_least = self.price(&cheapest);
            let enough = self.enough();
            let fences = match &enough {
                Some(enough) if self.price(enough) == at_least => enough.clone(),
                _ => cheapest,
            };
            progress(self.known.len(), fences.len());
            self.search.put(&fences);
            match self.search.run() {
                Found::Nothing => match self.prove(fences) {
                    Ok(repair) => return Synthesis::Repair(Box::new(repair)),
                    Err(found) => return undecided(self.automata, found, at_least, enough),
                },
                Found::Attacks(found) => {
                    if let Err(computation) = self.learn_more(fences, found) {
                        return Synthesis::Impossible(computation);
                    }
                }
                found => return undecided(self.automata, found, at_least, enough),
            }
        }
    }

    /// Remembers attacks, and finds others that have no place in common with them.
    fn learn_more(
        &mut self,
        mut fences: FenceSet,
        mut found: Vec<Success>,
    ) -> Result<(), Box<Computation>> {
        loop {
            let new = self.known.len();
            for success in &found {
                self.learn(success)?;
            }
            let places = self.known[new..].iter().flat_map(|(places, _)| places);
            fences = fences.iter().chain(places.copied()).collect();
            self.search.put(&fences);
            found = match self.search.glance() {
                Found::Attacks(found) => found,
                // Whatever it is, the next search says it again.
                Found::Nothing | Found::Fault { .. } | Found::Unknown(_) => return Ok(()),
            };
        }
    }

    fn learn(&mut self, success: &Success) -> Result<(), Box<Computation>> {
        let computation = witness::computation(self.automata, success);
        let places = self.fenceable(&computation.between);
        if places.is_empty() {
            return Err(Box::new(computation));
        }
        self.known.push((places, computation));
        Ok(())
    }

    fn fenceable(&self, places: &[FencePlace]) -> Vec<FencePlace> {
        let threads = &self.automata.threads;
        let can = |p: &FencePlace| threads[p.thread].states[p.state.index()].fenceable;
        places.iter().copied().filter(can).collect()
    }

    fn price(&self, fences: &FenceSet) -> u64 {
        fences.iter().map(self.cost).sum()
    }

    /// The cheapest set that hits all known computations and cuts all ways in the text from a store to a load that matters,
    /// if there is one: it works, whatever the states of the program are.
    fn enough(&mut self) -> Option<FenceSet> {
        loop {
            let fences = self.hitting_set(true);
            let ways = self.prefilter.ways(&fences);
            if ways.is_empty() {
                return Some(fences);
            }
            for way in ways {
                let places = self.fenceable(&way);
                if places.is_empty() {
                    return None;
                }
                self.ways.push(places);
            }
        }
    }

    /// The cost of a place, and a little more where no access begins: of two sets that cost the same, the one that is easier to write
    /// down is taken.
    fn weight(&self, place: FencePlace) -> f64 {
        let mut leaving = self.automata.threads[place.thread].leaving(place.state);
        let access = |op: &Op| !op.is_local() || matches!(op, Op::Bounds(_));
        let begins = leaving.any(|(_, t)| access(&t.op));
        (self.cost)(place) as f64 + if begins { 0.0 } else { AWKWARD }
    }

    /// A cheapest set of places that has one of each known computation, and of each way if these count, too.
    fn hitting_set(&self, with_ways: bool) -> FenceSet {
        let known = self.known.iter().map(|(places, _)| places);
        let ways = self.ways.iter().filter(|_| with_ways);
        let required: Vec<&Vec<FencePlace>> = known.chain(ways).collect();
        let places: BTreeSet<FencePlace> =
            required.iter().flat_map(|p| p.iter().copied()).collect();
        let places: Vec<FencePlace> = places.into_iter().collect();
        let number = |p: &FencePlace| places.binary_search(p).expect("all places are there");
        let clauses: Vec<Clause> = required
            .iter()
            .map(|places| Clause::one_of(places.iter().map(number)))
            .collect();
        let chosen = rsan_cover::cheapest(&clauses, &[], |place| self.weight(places[place]));
        let chosen = chosen.expect("all places together hit everything");
        chosen.into_iter().map(|place| places[place]).collect()
    }

    /// Why each fence of a set that works is needed.
    fn prove(&mut self, mut fences: FenceSet) -> Result<Repair, Found> {
        let mut reasons = Vec::new();
        for place in fences.clone().iter() {
            let alone = |places: &[FencePlace]| {
                let hit = |f: &FencePlace| places.contains(f);
                fences.iter().filter(hit).eq([place])
            };
            let reason = self.known.iter().find(|(places, _)| alone(places));
            if let Some((_, computation)) = reason {
                reasons.push((place, computation.clone()));
                continue;
            }
            // Only a fence that costs nothing can be there without such a computation.
            let others = fences.without(place);
            self.search.put(&others);
            match self.search.run() {
                Found::Nothing => fences = others,
                Found::Attacks(found) => {
                    let computation = witness::computation(self.automata, &found[0]);
                    reasons.push((place, computation));
                }
                found => return Err(found),
            }
        }
        let required = self.known.iter().map(|(places, _)| places.clone());
        let required: BTreeSet<Vec<FencePlace>> = required.collect();
        Ok(Repair {
            cost: self.price(&fences),
            fences: reasons,
            required: required.into_iter().collect(),
            stats: self.search.stats(),
        })
    }
}
