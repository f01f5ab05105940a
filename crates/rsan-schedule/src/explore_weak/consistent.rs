//! Whether some execution of C++20 has these events and these reads-from edges, and in which order it can be executed.
//!
//! # What it decides
//!
//! Whether there is an order S of the seq_cst events, which contains `po ∪ rf` between them, and modification orders such that the rules of
//! `rsan_weak` hold with S as the order of execution. It is sound and complete for that; [`Verdict::Unknown`] only
//! says that the search was stopped.
//!
//! # How
//!
//! Write `w(y)` for the write that an access y is, or read. All rules have one form: for accesses x and y of one object, if some `a ∈ A(y)` is before some
//! `b ∈ B(x)` in S, or y happens before x, then `w(y)` is, or is before, the write that x reads, or is before the store x. Here
//! `A(y)` has y, if it is seq_cst, and the seq_cst fences behind it in hb; `B(x)` has x, if it is seq_cst, and the seq_cst fences before it in hb.
//! Read backwards, a modification order that contradicts the conclusion puts all of `B(x)` before all of `A(y)` in S. Both orders are grown from what is known until
//! nothing changes, together with the rule that a read-modify-write comes directly behind what it reads.
//!
//! When S is total and there is no contradiction, every linear extension of the modification orders is consistent (`rsan_weak`). So
//! only pairs of seq_cst events have to be tried both ways, and only if the order in which they were added does not do.
//!
//! # Cost
//!
//! For n events, of which k access one object: O(k² n / 64) for each round of growing. The search over S is exponential in the worst case.

use super::bits::Bits;
use super::graph::{Event, Graph, INIT, NONE, Syncs};

/// Some events of a graph, changed or not.
pub(super) struct Part<'g> {
    pub(super) graph: &'g Graph,
    pub(super) events: Vec<Event>,
    pub(super) stays: Vec<bool>,
}

/// What is known of the orders of a part.
#[derive(Clone)]
struct Orders {
    /// By write: the writes of its object that are before it.
    mo: Vec<Bits>,
    /// By seq_cst event: those that are before it.
    sc: Vec<Bits>,
    changed: bool,
}

/// No execution has the part.
struct Contradiction;

/// Whether an execution has a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Yes; the events can be executed in this order.
    Yes(Vec<u32>),
    No,
    /// It takes too long to say.
    Unknown,
}

/// Most attempts to find an order of seq_cst events.
const ATTEMPTS: usize = 2_000;

/// A part whose happens-before is known.
pub(super) struct Check<'p> {
    part: &'p Part<'p>,
    /// By object: the accesses of it.
    accesses: Vec<Vec<u32>>,
    hb: Vec<Bits>,
    /// The seq_cst events, in the order in which they were added.
    sc: Vec<u32>,
    /// By access: `A` and `B` of the module's comment.
    behind: Vec<Bits>,
    ahead: Vec<Bits>,
    orders: Orders,
}

impl<'p> Check<'p> {
    /// Knows all that follows from the part; `None` when that is a contradiction.
    pub(super) fn new(part: &'p Part<'p>, syncs: Syncs) -> Option<Self> {
        let n = part.events.len();
        let order = part.sorted(|_| 0, &[])?;
        let before = part.before(&order);
        let hb = part.happens_before(&order, syncs);
        let is_there = |e: &u32| part.stays[*e as usize];
        let mut sc: Vec<u32> = (0..n as u32)
            .filter(|e| is_there(e) && part.events[*e as usize].is_sc())
            .collect();
        sc.sort_by_key(|&e| part.events[e as usize].added);
        let mut accesses = vec![Vec::new(); part.graph.initial.len()];
        for e in (0..n as u32).filter(is_there) {
            if let Some(all) = accesses.get_mut(part.events[e as usize].object as usize) {
                all.push(e);
            }
        }
        let mut orders = Orders {
            mo: vec![Bits::new(n); n],
            sc: vec![Bits::new(n); n],
            changed: false,
        };
        for &e in &sc {
            for &d in sc.iter().filter(|d| before[e as usize].contains(**d)) {
                orders.sc[e as usize].insert(d);
            }
        }
        let mut check = Self {
            part,
            accesses,
            hb,
            sc,
            behind: vec![Bits::new(n); n],
            ahead: vec![Bits::new(n); n],
            orders,
        };
        check.find_fences();
        let mut orders = check.orders.clone();
        check.grow(&mut orders).ok()?;
        check.orders = orders;
        Some(check)
    }

    fn event(&self, e: u32) -> &Event {
        &self.part.events[e as usize]
    }

    fn find_fences(&mut self) {
        for &x in self.accesses.iter().flatten() {
            for &s in &self.sc {
                let fence = self.part.events[s as usize].object == NONE;
                if s == x || fence && self.hb[s as usize].contains(x) {
                    self.behind[x as usize].insert(s);
                }
                if s == x || fence && self.hb[x as usize].contains(s) {
                    self.ahead[x as usize].insert(s);
                }
            }
        }
    }

    /// Whether a write is known to be before another one.
    fn is_before(&self, orders: &Orders, one: u32, other: u32) -> bool {
        match (one, other) {
            (_, INIT) => false,
            (INIT, _) => true,
            (one, other) => orders.mo[other as usize].contains(one),
        }
    }

    /// Whether some write is known to come behind this one, whatever else is executed.
    pub(super) fn is_overwritten(&self, write: u32, object: u32) -> bool {
        let mut all = self.accesses[object as usize].iter();
        all.any(|&w| self.event(w).writes && self.is_before(&self.orders, write, w))
    }

    /// Puts a write before another one.
    fn put(&self, orders: &mut Orders, one: u32, other: u32) -> Result<(), Contradiction> {
        if one == other || self.is_before(orders, other, one) {
            return Err(Contradiction);
        }
        if self.is_before(orders, one, other) {
            return Ok(());
        }
        orders.changed = true;
        let mut all = orders.mo[one as usize].clone();
        all.insert(one);
        for &w in &self.accesses[self.event(other).object as usize] {
            if w == other || orders.mo[w as usize].contains(other) {
                orders.mo[w as usize].join(&all);
            }
        }
        Ok(())
    }

    /// Puts a seq_cst event before another one.
    fn execute_before(
        &self,
        orders: &mut Orders,
        one: u32,
        other: u32,
    ) -> Result<(), Contradiction> {
        if one == other || orders.sc[one as usize].contains(other) {
            return Err(Contradiction);
        }
        if orders.sc[other as usize].contains(one) {
            return Ok(());
        }
        orders.changed = true;
        let mut all = orders.sc[one as usize].clone();
        all.insert(one);
        for &s in &self.sc {
            if s == other || orders.sc[s as usize].contains(other) {
                orders.sc[s as usize].join(&all);
            }
        }
        Ok(())
    }

    /// Adds all that follows.
    fn grow(&self, orders: &mut Orders) -> Result<(), Contradiction> {
        loop {
            orders.changed = false;
            for accesses in &self.accesses {
                for &x in accesses {
                    self.rules(orders, x, accesses)?;
                    self.atomicity(orders, x, accesses)?;
                }
            }
            if !orders.changed {
                return Ok(());
            }
        }
    }

    /// What the accesses of the same object say of access x.
    fn rules(&self, orders: &mut Orders, x: u32, accesses: &[u32]) -> Result<(), Contradiction> {
        let event = self.event(x);
        // What x reads, or is.
        let last = if event.reads() { event.rf } else { x };
        let mut executed = Bits::new(self.part.events.len());
        for b in self.ahead[x as usize].iter() {
            executed.join(&orders.sc[b as usize]);
        }
        for &y in accesses.iter().filter(|y| **y != x) {
            let seen = self.event(y).seen(y);
            let behind = &self.behind[y as usize];
            if self.hb[x as usize].contains(y) || executed.meets(behind) {
                if seen != last && seen != INIT {
                    self.put(orders, seen, last)?;
                }
            } else if self.is_before(orders, last, seen) {
                for b in self.ahead[x as usize].iter() {
                    for a in behind.iter() {
                        self.execute_before(orders, b, a)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Nothing is between a read-modify-write and what it reads.
    fn atomicity(
        &self,
        orders: &mut Orders,
        x: u32,
        accesses: &[u32],
    ) -> Result<(), Contradiction> {
        let event = self.event(x);
        if !(event.reads() && event.writes) {
            return Ok(());
        }
        if event.rf != INIT {
            self.put(orders, event.rf, x)?;
        }
        for &w in accesses {
            if w == x || w == event.rf || !self.event(w).writes {
                continue;
            }
            if self.is_before(orders, event.rf, w) {
                self.put(orders, x, w)?;
            }
            if self.is_before(orders, w, x) {
                self.put(orders, w, event.rf)?;
            }
        }
        Ok(())
    }

    /// Whether an execution has the part.
    pub(super) fn verdict(&self, late: impl Fn(u32) -> u32) -> Verdict {
        let mut attempts = ATTEMPTS;
        match self.total(self.orders.clone(), &mut attempts) {
            Ok(sc) => {
                let order = self.part.sorted(late, &sc);
                Verdict::Yes(order.expect("the order of seq_cst events agrees with po and rf"))
            }
            Err(Some(Contradiction)) => Verdict::No,
            Err(None) => Verdict::Unknown,
        }
    }

    /// A total order of the seq_cst events that contains what is known. `Err(None)`: there were too many attempts.
    fn total(
        &self,
        orders: Orders,
        attempts: &mut usize,
    ) -> Result<Vec<u32>, Option<Contradiction>> {
        *attempts = attempts.checked_sub(1).ok_or(None)?;
        let sorted = self.by_addition(&orders);
        let open = sorted
            .windows(2)
            .find(|pair| !orders.sc[pair[1] as usize].contains(pair[0]));
        let Some(&[one, other]) = open else {
            return Ok(sorted);
        };
        let mut guess = orders.clone();
        let mut pairs = sorted.windows(2);
        let all = pairs.try_for_each(|pair| self.execute_before(&mut guess, pair[0], pair[1]));
        if all.and_then(|()| self.grow(&mut guess)).is_ok() {
            return Ok(sorted);
        }
        for (one, other) in [(one, other), (other, one)] {
            let mut orders = orders.clone();
            let known = self.execute_before(&mut orders, one, other);
            if known.and_then(|()| self.grow(&mut orders)).is_ok() {
                match self.total(orders, attempts) {
                    Err(Some(Contradiction)) => {}
                    found => return found,
                }
            }
        }
        Err(Some(Contradiction))
    }

    /// The seq_cst events in an order that contains what is known, otherwise as they were added.
    fn by_addition(&self, orders: &Orders) -> Vec<u32> {
        let mut left = self.sc.clone();
        let mut sorted: Vec<u32> = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let is_first = |e: &u32| !left.iter().any(|d| orders.sc[*e as usize].contains(*d));
            let first = left.iter().position(is_first);
            sorted.push(left.remove(first.expect("what is known has no cycle")));
        }
        sorted
    }
}

impl Part<'_> {
    /// The events in an order that contains po, rf, creation and join, and that of `sc`; `None` when there is a cycle. Threads go on as long as
    /// they can, then the lowest does; what has a higher rank comes as late as it can.
    fn sorted(&self, rank: impl Fn(u32) -> u32, sc: &[u32]) -> Option<Vec<u32>> {
        let n = self.events.len();
        let mut behind: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut left = vec![0; n];
        let mut add = |a: u32, b: u32| {
            if a < INIT {
                behind[a as usize].push(b);
                left[b as usize] += 1;
            }
        };
        let there: Vec<u32> = (0..n as u32).filter(|e| self.stays[*e as usize]).collect();
        for &e in &there {
            for before in self.graph.before[e as usize] {
                add(before, e);
            }
            add(self.events[e as usize].rf, e);
        }
        for pair in sc.windows(2) {
            add(pair[0], pair[1]);
        }
        let mut ready: Vec<u32> = there
            .iter()
            .copied()
            .filter(|e| left[*e as usize] == 0)
            .collect();
        let mut sorted: Vec<u32> = Vec::with_capacity(there.len());
        let mut last = NONE;
        let key = |e: u32, last: u32| {
            let thread = self.events[e as usize].thread;
            (rank(e), thread != last, thread)
        };
        while let Some(i) = (0..ready.len()).min_by_key(|&i| key(ready[i], last)) {
            let e = ready.swap_remove(i);
            last = self.events[e as usize].thread;
            sorted.push(e);
            for &next in &behind[e as usize] {
                left[next as usize] -= 1;
                if left[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        (sorted.len() == there.len()).then_some(sorted)
    }

    /// By event: what is before it by po, rf, creation and join.
    fn before(&self, order: &[u32]) -> Vec<Bits> {
        let n = self.events.len();
        let mut before = vec![Bits::new(n); n];
        for &e in order {
            let direct = self.graph.before[e as usize].into_iter();
            for d in direct.chain([self.events[e as usize].rf]) {
                if d < INIT {
                    let mut all = before[d as usize].clone();
                    all.insert(d);
                    before[e as usize].join(&all);
                }
            }
        }
        before
    }

    /// By event: what happens before it.
    fn happens_before(&self, order: &[u32], syncs: Syncs) -> Vec<Bits> {
        let n = self.events.len();
        let empty = Bits::new(n);
        let mut hb = vec![empty.clone(); n];
        // By write: what an acquiring read of it takes over.
        let mut messages = vec![empty.clone(); n];
        // By thread: what was before its last release fence, and what it has read without acquiring.
        let threads = self.events.iter().map(|e| e.thread as usize + 1).max();
        let mut released = vec![empty.clone(); threads.unwrap_or(0)];
        let mut pending = released.clone();
        for &e in order {
            let event = &self.events[e as usize];
            let thread = event.thread as usize;
            let mut past = empty.clone();
            for d in self.graph.before[e as usize] {
                if d < INIT {
                    past.join(&hb[d as usize]);
                    past.insert(d);
                }
            }
            let message = messages.get(event.rf as usize).unwrap_or(&empty).clone();
            match event.acquires(syncs) {
                true if event.object == NONE => past.join(&pending[thread]),
                true => past.join(&message),
                false => pending[thread].join(&message),
            }
            let mut all = past.clone();
            all.insert(e);
            let releases = event.releases(syncs);
            if event.writes {
                messages[e as usize] = match releases {
                    true => all,
                    false => released[thread].clone(),
                };
                messages[e as usize].join(&message);
            } else if releases && event.object == NONE {
                released[thread] = all;
            }
            hb[e as usize] = past;
        }
        hb
    }
}
