//! What threads leave at a lock, a barrier or the like, and take from it (docs/theory/write-log.md, W9).
//!
//! A clock is what a thread that joined all who left something would know. It has no epochs of its own, so it needs
//! no slot. The rules are those of [`ThreadState::join`].

use super::epoch::{VectorClock, Version};
use super::rules::Rules;
use super::thread::ThreadState;
use super::view::ScView;

/// What was left at a lock or the like.
#[derive(Clone, Debug)]
pub struct SyncClock {
    hb: VectorClock,
    sc_past: VectorClock,
    /// While saturated, nothing; see `saturation.rs`.
    sc: Option<Box<ScView>>,
    saturated: bool,
    /// There may be something in `sc_past`, if `saturated`.
    has_sc: bool,
    /// The version of the thread that left all of it, if one did; the thread's own entries may be newer.
    left_by: Version,
}

impl Default for SyncClock {
    /// Nothing.
    fn default() -> Self {
        Self {
            hb: VectorClock::default(),
            sc_past: VectorClock::default(),
            sc: None,
            saturated: true,
            has_sc: false,
            left_by: Version::NONE,
        }
    }
}

impl ThreadState {
    /// Leaves what it knows in place of what was there.
    pub fn replace(&mut self, clock: &mut SyncClock, rules: Rules) {
        self.dirty = true;
        let (slot, epoch) = (self.slot, self.epoch);
        clock.has_sc = self.has_sc;
        if rules.fast_paths && clock.left_by == self.version {
            clock.hb.set(slot, epoch);
            clock.sc_past.set(slot, epoch);
        } else {
            clock.hb.assign(&self.view.hb);
            clock.sc_past.assign(&self.sc_past);
            clock.saturated = self.saturated;
            clock.left_by = self.version;
            match &mut clock.sc {
                Some(sc) => sc.assign(&self.view.sc),
                None if self.view.sc.is_absent() => {}
                None => clock.sc = Some(Box::new(self.view.sc.clone())),
            }
        }
        if self.has_fences || self.own_sc_access().is_some() {
            let sc = clock.sc.get_or_insert_default();
            sc.access.set_entry(slot, &self.view.sc.access);
            sc.fence.set_entry(slot, &self.view.sc.fence);
        }
    }

    /// Leaves what it knows in addition.
    pub fn leave(&mut self, clock: &mut SyncClock) {
        self.dirty = true;
        if clock.saturated && !self.saturated {
            clock.saturated = false;
            if clock.has_sc {
                let sc = clock.sc.get_or_insert_default();
                sc.access.accesses.assign(&clock.sc_past);
            }
        }
        clock.left_by = Version::NONE;
        clock.hb.join(&self.view.hb);
        clock.sc_past.join(&self.sc_past);
        if self.saturated && self.has_sc && !clock.saturated {
            let sc = clock.sc.get_or_insert_default();
            sc.access.accesses.join(&self.sc_past);
        }
        clock.has_sc |= self.has_sc;
        if !self.view.sc.is_absent() {
            let sc = clock.sc.get_or_insert_default();
            sc.access.join(&self.view.sc.access);
            sc.fence.join(&self.view.sc.fence);
            sc.eco.join(&self.view.sc.eco);
        }
    }

    /// Takes what was left.
    pub fn take(&mut self, clock: &SyncClock, rules: Rules) {
        if rules.fast_paths && clock.left_by == self.version {
            return;
        }
        if self.saturated && !clock.saturated {
            self.desaturate(rules);
        }
        self.learn_hb(&clock.hb);
        self.learn_past(&clock.sc_past);
        if clock.saturated && clock.has_sc && !self.saturated {
            self.learn_accesses(&clock.sc_past);
        }
        self.has_sc |= clock.has_sc;
        if let Some(sc) = &clock.sc {
            self.learn_access(&sc.access);
            self.learn_fence(&sc.fence);
            self.learn_eco(&sc.eco, rules);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::{ScSet, View};
    use super::super::{LocationState, SlotTable};
    use super::*;
    use crate::Effect;
    use rsan_model::{FenceOrd, ReadOrd, RmwOrd, ThreadId, WriteOrd};
    use rsan_random::Random;

    /// Four threads and three locations, twice: once with clocks, once with threads in the place of clocks.
    struct Twins {
        rules: Rules,
        nobody: super::super::Assignment,
        threads: [Vec<ThreadState>; 2],
        locations: [Vec<LocationState>; 2],
        clocks: Vec<SyncClock>,
        states: Vec<Option<ThreadState>>,
    }

    impl Twins {
        fn new() -> Self {
            let rules = Rules::c20();
            let mut slots = SlotTable::new(None);
            let nobody = slots.assign(None, rules);
            let place = [(); 4].map(|()| slots.assign(None, rules));
            let thread = |i: usize| ThreadState::initial(ThreadId::new(i), place[i], rules);
            let threads: Vec<_> = (0..4).map(thread).collect();
            let locations = vec![LocationState::new(0, rules); 3];
            Self {
                rules,
                nobody,
                threads: [threads.clone(), threads],
                locations: [locations.clone(), locations],
                clocks: vec![SyncClock::default(); 2],
                states: vec![None; 2],
            }
        }

        fn step(&mut self, random: &mut Random) {
            let (t, x, c) = (random.below(4), random.below(3), random.below(2));
            let rules = self.rules;
            let effect = random.pick(&[
                Effect::Read(ReadOrd::SeqCst),
                Effect::Read(ReadOrd::Acquire),
                Effect::Read(ReadOrd::Relaxed),
                Effect::Write {
                    value: 1,
                    ord: WriteOrd::SeqCst,
                },
                Effect::Write {
                    value: 1,
                    ord: WriteOrd::Release,
                },
                Effect::Rmw {
                    value: 1,
                    ord: RmwOrd::SeqCst,
                },
            ]);
            let [with_clocks, with_states] = &mut self.threads;
            let (clock, state) = (&mut self.clocks[c], &mut self.states[c]);
            let mut copy = || with_states[t].spawn(ThreadId(9), self.nobody, rules);
            match random.below(20) {
                0..4 => {
                    with_clocks[t].replace(clock, rules);
                    *state = Some(copy());
                }
                4..6 => {
                    with_clocks[t].leave(clock);
                    match state {
                        Some(state) => state.join(&copy(), rules),
                        None => *state = Some(copy()),
                    }
                }
                6..10 => {
                    with_clocks[t].take(clock, rules);
                    if let Some(state) = state {
                        with_states[t].join(state, rules);
                    }
                }
                10 => {
                    with_clocks[t].fence_c20(FenceOrd::SeqCst, rules);
                    with_states[t].fence_c20(FenceOrd::SeqCst, rules);
                }
                _ => {
                    for (threads, locations) in self.threads.iter_mut().zip(&mut self.locations) {
                        locations[x].apply(&mut threads[t], effect, rules);
                    }
                }
            }
        }

        fn assert_equal(&self) {
            for (one, other) in self.threads[0].iter().zip(&self.threads[1]) {
                assert_eq!(one.saturated, other.saturated);
                assert!(one.view.hb.covers(&other.view.hb) && other.view.hb.covers(&one.view.hb));
                assert!(one.sc_past.covers(&other.sc_past) && other.sc_past.covers(&one.sc_past));
                for (one, other) in sets(&one.view).iter().zip(&sets(&other.view)) {
                    assert!(one.covers(other) && other.covers(one));
                }
            }
        }
    }

    /// What is known through seq_cst events. What is eco-before counts with what a thread may leave out of it, see
    /// [`ThreadState::learn_eco`].
    fn sets(View { hb, sc }: &View) -> [ScSet; 3] {
        let mut eco = sc.eco.clone();
        eco.join(&sc.access);
        eco.fences.join(hb);
        [sc.access.clone(), sc.fence.clone(), eco]
    }

    #[test]
    fn clocks_do_what_threads_would() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let mut twins = Twins::new();
            for _ in 0..100 {
                twins.step(&mut random);
                twins.assert_equal();
            }
        }
    }
}
