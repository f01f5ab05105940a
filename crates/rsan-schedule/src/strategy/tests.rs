use super::*;
use crate::{Kind, Op, Schedule};

/// Threads that make so many steps each, all on one object unless `apart`.
struct Toy {
    left: Vec<u64>,
    apart: bool,
}

impl Toy {
    fn ready(&self) -> Vec<Candidate> {
        let threads = self.left.iter().enumerate().filter(|(_, n)| **n > 0);
        let object = |t: usize| if self.apart { 8 * t as u64 } else { 8 };
        let candidate = |(t, _): (usize, &u64)| Candidate {
            thread: ThreadId::new(t),
            op: Op::new(Kind::Store, object(t), 4),
        };
        threads.map(candidate).collect()
    }

    /// The threads in the order in which the strategy runs them.
    fn run(mut self, strategy: &mut dyn Strategy) -> Vec<u32> {
        let (mut order, mut last) = (Vec::new(), None);
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return order;
            }
            let chosen = strategy.choose(&ready, last).expect("a choice");
            let thread = ready[chosen].thread;
            self.left[thread.index()] -= 1;
            strategy.stepped(&Step::new(thread, ready[chosen].op));
            order.push(thread.0);
            last = Some(thread);
        }
    }
}

fn toy(left: &[u64]) -> Toy {
    let (left, apart) = (left.to_vec(), false);
    Toy { left, apart }
}

fn switches(order: &[u32]) -> usize {
    order.windows(2).filter(|w| w[0] != w[1]).count()
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    for spec in ["random", "pct", "pos"] {
        let spec: Spec = spec.parse().expect("a strategy");
        let run = |seed| toy(&[5, 5, 5]).run(&mut *spec.build(seed, 15));
        let distinct: std::collections::BTreeSet<_> = (0..50).map(run).collect();
        assert!(distinct.len() > 5, "{spec} varies");
        assert!((0..50).all(|seed| run(seed) == run(seed)));
    }
}

#[test]
fn pct_switches_at_its_change_points_only() {
    for seed in 0..200 {
        let order = toy(&[20, 20, 20]).run(&mut Pct::new(seed, 1, 60));
        assert_eq!(switches(&order), 2, "depth 1 runs thread by thread");
        let order = toy(&[20, 20, 20]).run(&mut Pct::new(seed, 3, 60));
        assert!(
            switches(&order) <= 2 + 2 * 2,
            "two more at each of two points"
        );
    }
}

#[test]
fn pct_counts_steps_at_which_there_is_a_choice() {
    for seed in 0..200 {
        let alone = toy(&[5, 5]).run(&mut Pct::new(seed, 3, 10));
        let mut strategy = Pct::new(seed, 3, 10);
        for _ in 0..1000 {
            assert_eq!(strategy.choose(&toy(&[1]).ready(), None), Some(0));
        }
        let after = toy(&[5, 5]).run(&mut strategy);
        assert_eq!(
            after, alone,
            "a thousand steps of one thread change nothing"
        );
    }
}

/// The guarantee, measured over fixed seeds: a given switch of depth 2 with n = 2, k = 20 has probability 1/40 at least.
#[test]
fn pct_finds_what_it_promises() {
    let hit = |seed: &u64| {
        let order = toy(&[10, 10]).run(&mut Pct::new(*seed, 2, 20));
        order[..10] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1] && order[10..17] == [1; 7]
    };
    assert!(
        (0..4000).filter(hit).count() >= 80,
        "about 100 are expected"
    );
}

#[test]
fn a_thread_that_yields_comes_last() {
    for spec in ["pct:depth=1", "pos"] {
        let spec: Spec = spec.parse().expect("a strategy");
        for seed in 0..50 {
            let mut strategy = spec.build(seed, 10);
            let ready = toy(&[1, 1, 1]).ready();
            let chosen = strategy.choose(&ready, None).expect("a choice");
            let thread = ready[chosen].thread;
            strategy.yielded(thread);
            let next = strategy.choose(&ready, Some(thread)).expect("a choice");
            assert_ne!(next, chosen, "{spec}");
        }
    }
}

#[test]
fn pos_leaves_priorities_alone_that_do_not_conflict() {
    // Three threads with one step each on objects of their own: the order is that of the first priorities.
    let run = |seed| {
        let (left, apart) = (vec![1, 1, 1], true);
        Toy { left, apart }.run(&mut Pos::new(seed))
    };
    let distinct: std::collections::BTreeSet<_> = (0..100).map(run).collect();
    assert_eq!(distinct.len(), 6);
}

#[test]
fn a_prefix_is_followed_and_then_the_last_thread() {
    let threads = [1, 0, 7, 1].map(ThreadId).to_vec();
    let order = toy(&[3, 3]).run(&mut Prefix::new(threads));
    assert_eq!(order, [1, 0, 1, 1, 0, 0]);
}

#[test]
fn a_replay_says_where_it_diverges() {
    let replay = |text: &str| {
        let text = format!("rsan schedule 1\n{text}");
        let schedule: Schedule = text.parse().expect("a schedule");
        let mut replay = Replay::new(schedule);
        let order = toy(&[2, 2]).run(&mut replay);
        (order, replay.divergence().map(|d| d.to_string()))
    };
    assert_eq!(replay("T1: store\nT0: store"), (vec![1, 0, 0, 1], None));
    let (order, divergence) = replay("T1: store*3");
    assert_eq!(order, [1, 1, 0, 0]);
    let expected = "after 2 steps, T1 should go on with store, but is not ready";
    assert_eq!(divergence.as_deref(), Some(expected));
    let (order, divergence) = replay("T1: load\nT0: store");
    assert_eq!(order, [0, 0, 1, 1]);
    let expected = "after 0 steps, T1 should go on with load, but is about to do store";
    assert_eq!(divergence.as_deref(), Some(expected));
}
