use super::*;
use crate::strategy::{Arrival, Readable, Reading};
use crate::{Candidate, Kind, Op, Origin};
use rsan_model::ThreadId;

fn candidate(thread: u32, kind: Kind) -> Candidate {
    Candidate {
        thread: ThreadId(thread),
        op: Op::new(kind, 8, 4),
    }
}

fn reading(place: u64) -> Reading {
    Reading {
        thread: ThreadId(1),
        op: Op::new(Kind::Load, 8, 4),
        place,
    }
}

/// Writes of which the first ones leave sequential consistency, and the one with this index is known.
fn writes(leaving: usize, known: usize) -> Vec<Readable> {
    let write = |index: usize| Readable {
        origin: Origin::Initial,
        place: 100 + index as u64,
        known: index == known,
        leaves_sc: index < leaving,
    };
    (0..4).map(write).collect()
}

fn aim(target: Option<(u64, Option<u64>)>, only: bool) -> Aim {
    Aim {
        known: vec![7, 9],
        target: target.map(|(load, missed)| Target { load, missed }),
        only,
        ..Aim::default()
    }
}

/// In how many of 1000 runs the first read at a place leaves sequential consistency.
fn deviations(aim: &Aim, place: u64) -> usize {
    let deviates = |seed: &u64| {
        let mut strategy = WeakGuided::new(*seed, 0, aim.clone());
        let chosen = strategy.read(&reading(place), &writes(2, 0));
        assert!(chosen < 2 || chosen == 3, "one that leaves it, or the last");
        chosen < 2
    };
    (0..1000).filter(deviates).count()
}

#[test]
fn guided_leaves_sequential_consistency_where_nobody_did() {
    assert_eq!(deviations(&Aim::default(), 8), 1000);
    assert_eq!(deviations(&aim(Some((7, None)), false), 8), 1000);
    let [target, other] = [7, 9].map(|place| deviations(&aim(Some((7, None)), false), place));
    assert!(target > other && other > 0, "{target}, {other}");
}

#[test]
fn guided_can_be_held_to_a_place() {
    let pair = Some((7, Some(103)));
    assert!((700..1000).contains(&deviations(&aim(pair, true), 7)));
    assert_eq!(deviations(&aim(pair, true), 8), 0);
    assert_eq!(deviations(&aim(pair, true), 9), 0);
    let other = Some((7, Some(104)));
    assert_eq!(deviations(&aim(other, true), 7), 0);
    assert_eq!(deviations(&aim(None, true), 8), 0);
}

#[test]
fn guided_reads_the_last_write_as_long_as_all_is_sequentially_consistent() {
    for seed in 0..100 {
        let mut strategy = WeakGuided::new(seed, 100, Aim::default());
        assert_eq!(strategy.read(&reading(1), &writes(0, 0)), 3);
        assert!(strategy.read(&reading(1), &writes(1, 0)) == 0);
        assert!(strategy.read(&reading(1), &writes(0, 0)) < 3);
        // It tries again: such a step counts again, and nothing else.
        strategy.yielded(ThreadId(1));
        assert_eq!(strategy.read(&reading(1), &writes(0, 0)), 3);
    }
}

#[test]
fn guided_lets_threads_publish_last() {
    let ready = [candidate(1, Kind::Update), candidate(2, Kind::Update)];
    let first = |wrote, releases| {
        let of = |seed: &u64| {
            let mut strategy = WeakGuided::new(*seed, 0, Aim::default());
            let thread = ThreadId(1);
            strategy.arrived(Arrival {
                thread,
                wrote,
                releases: false,
            });
            strategy.arrived(Arrival {
                thread,
                wrote: false,
                releases,
            });
            strategy.choose(&ready, None) == Some(0)
        };
        (0..1000).filter(of).count()
    };
    assert!(first(true, true) < 50);
    for (wrote, releases) in [(true, false), (false, true), (false, false)] {
        assert!((400..600).contains(&first(wrote, releases)));
    }
}

#[test]
fn pctwm_reads_what_its_thread_knows_unless_it_communicates() {
    let mut communicating = 0;
    for seed in 0..1000 {
        let mut strategy = Pctwm::new(seed, 1, 2, 10);
        for _ in 0..10 {
            strategy.choose(&[candidate(1, Kind::Load)], None);
            match strategy.read(&reading(1), &writes(0, 1)) {
                1 => {}
                2 | 3 => communicating += 1,
                other => panic!("write {other}"),
            }
        }
    }
    assert_eq!(communicating, 1000, "one read of ten in each run");
}

#[test]
fn pctwm_lets_others_write_before_it_communicates() {
    for seed in 0..100 {
        let mut strategy = Pctwm::new(seed, 1, 1, 1);
        let ready = [candidate(1, Kind::Load), candidate(2, Kind::Store)];
        assert_eq!(strategy.choose(&ready, None), Some(1), "it comes last");
        assert_eq!(strategy.choose(&ready[..1], None), Some(0));
        assert_eq!(strategy.read(&reading(1), &writes(0, 0)), 3);
    }
}

#[test]
fn every_entry_of_the_table_can_be_built_and_written() {
    for entry in TABLE {
        let spec: WeakSpec = entry.name.parse().expect("a strategy");
        assert_eq!(spec.to_string().parse(), Ok(spec));
        assert!(WeakSpec::help().contains(entry.help));
    }
    for text in [
        "random:stale=0",
        "pctwm:depth=1,history=9",
        "guided:stale=100",
    ] {
        let spec: WeakSpec = text.parse().expect("a strategy");
        assert_eq!(spec.to_string(), text);
    }
    let default = WeakSpec::default();
    assert_eq!(
        default.to_string().split(':').next().map(str::parse),
        Some(Ok(default))
    );
}

#[test]
fn errors_say_what_is_known() {
    let error = |text: &str| text.parse::<WeakSpec>().expect_err("an error").to_string();
    assert_eq!(
        error("luck"),
        "no strategy is called `luck` (known: random, pctwm, guided)"
    );
    assert_eq!(
        error("guided:stale=101"),
        "`stale=101`: not a number from 0 to 100"
    );
    assert_eq!(
        error("pctwm:history=0"),
        "`history=0`: not a number from 1 to 1000"
    );
}
