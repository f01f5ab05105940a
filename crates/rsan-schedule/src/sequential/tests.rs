use super::*;
use crate::{Op, Random};
use rsan_model::{RmwOrd, ThreadId};

const X: u64 = 8;
const Y: u64 = 16;

fn step(thread: u32, kind: Kind, object: u64) -> Step {
    Step {
        writes: kind.may_write() && kind.shows_value(),
        order: Some(RmwOrd::Relaxed),
        ..Step::new(ThreadId(thread), Op::new(kind, object, 4))
    }
}

fn store(thread: u32, object: u64) -> Step {
    step(thread, Kind::Store, object)
}

fn load(thread: u32, object: u64, from: ReadsFrom) -> Step {
    Step {
        from,
        ..step(thread, Kind::Load, object)
    }
}

fn update(thread: u32, object: u64, from: ReadsFrom) -> Step {
    Step {
        from,
        ..step(thread, Kind::Update, object)
    }
}

fn relations(steps: &[Step]) -> Vec<Relation> {
    match judge(steps) {
        Sequential::No(cycle) => cycle.into_iter().map(|(_, relation)| relation).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_that_is_read_without_its_data_is_a_cycle() {
    let from = ReadsFrom::Step;
    let passed = |data| {
        [
            store(1, X),
            store(1, Y),
            load(2, Y, from(1)),
            load(2, X, data),
        ]
    };
    use Relation::{Fr, Po, Rf};
    assert_eq!(relations(&passed(ReadsFrom::Initial)), [Po, Rf, Po, Fr]);
    assert_eq!(judge(&passed(from(0))), Sequential::Yes);
}

#[test]
fn writes_are_ordered_by_what_is_read_of_them() {
    // 2+2W: each object has the first write of a thread last.
    let both = |x: u32, y: u32| {
        let writes = [store(1, X), store(1, Y), store(2, Y), store(2, X)];
        let reads = [
            load(0, X, ReadsFrom::Step(x)),
            load(0, Y, ReadsFrom::Step(y)),
        ];
        let ends = [1, 2].map(|thread| Step {
            child: ThreadId(thread),
            ..Step::new(ThreadId(0), Op::bare(Kind::Join))
        });
        writes
            .into_iter()
            .chain(ends)
            .chain(reads)
            .collect::<Vec<_>>()
    };
    assert!(matches!(judge(&both(0, 2)), Sequential::No(_)));
    assert_eq!(judge(&both(3, 1)), Sequential::Yes);
    assert_eq!(judge(&both(3, 2)), Sequential::Yes);
}

#[test]
fn two_updates_of_one_write_are_a_cycle() {
    let twice = [
        store(1, X),
        update(1, X, ReadsFrom::Step(0)),
        update(2, X, ReadsFrom::Step(0)),
    ];
    assert!(matches!(judge(&twice), Sequential::No(_)));
}

#[test]
fn memory_that_is_used_again_is_new() {
    // Thread 2 knows of the store by a lock, so what it reads is not the initial value of then.
    let lock = |thread| Step::new(ThreadId(thread), Op::new(Kind::Lock, Y, 0));
    let again = [
        store(1, X),
        lock(1),
        lock(2),
        load(2, X, ReadsFrom::Initial),
    ];
    assert_eq!(judge(&again), Sequential::Yes);
}

#[test]
fn parts_of_objects_are_not_decided() {
    let part = Step::new(ThreadId(1), Op::new(Kind::Store, X + 2, 2));
    assert_eq!(judge(&[store(1, X), part]), Sequential::Unknown);
    let nothing = load(1, X, ReadsFrom::Step(7));
    assert_eq!(judge(&[nothing]), Sequential::Unknown);
}

/// Whether some interleaving of the steps from these positions on has every read read the last write.
fn interleaves(
    threads: &[Vec<usize>],
    at: &mut [usize],
    last: [Option<usize>; 2],
    steps: &[Step],
) -> bool {
    let mut ended = true;
    for thread in 0..threads.len() {
        let Some(&number) = threads[thread].get(at[thread]) else {
            continue;
        };
        ended = false;
        let step = &steps[number];
        let object = usize::from(step.op.object == Y);
        let from = match step.from {
            ReadsFrom::Step(from) => Some(from as usize),
            ReadsFrom::Unsaid | ReadsFrom::Initial => None,
        };
        if step.op.kind.may_read() && from != last[object] {
            continue;
        }
        let mut next = last;
        if step.writes {
            next[object] = Some(number);
        }
        at[thread] += 1;
        let found = interleaves(threads, at, next, steps);
        at[thread] -= 1;
        if found {
            return true;
        }
    }
    ended
}

/// A run of three threads that read any write that was made before, but never one older than their own last one.
fn random_run(random: &mut Random) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for number in 0..2 + random.below(8) {
        let (thread, object) = (random.below(3) as u32, random.pick(&[X, Y]));
        let of = |step: &Step| step.writes && step.op.object == object;
        let own = steps
            .iter()
            .rposition(|step| of(step) && step.thread.0 == thread);
        let mut writes: Vec<_> = (own.unwrap_or(0)..number)
            .filter(|n| of(&steps[*n]))
            .map(Some)
            .collect();
        writes.extend(own.is_none().then_some(None));
        let from = match random.pick(&writes) {
            None => ReadsFrom::Initial,
            Some(write) => ReadsFrom::Step(write as u32),
        };
        steps.push(match random.below(5) {
            0 | 1 => store(thread, object),
            2 => update(thread, object, from),
            _ => load(thread, object, from),
        });
    }
    steps
}

#[test]
fn what_is_decided_is_what_all_interleavings_say() {
    let mut random = Random::new(1);
    let (mut counts, mut unknown) = ([0; 2], 0);
    for _ in 0..20_000 {
        let steps = random_run(&mut random);
        let of = |thread| {
            (0..steps.len())
                .filter(|n| steps[*n].thread.0 == thread)
                .collect()
        };
        let threads: Vec<Vec<usize>> = (0..3).map(of).collect();
        let exists = interleaves(&threads, &mut [0; 3], [None; 2], &steps);
        match judge(&steps) {
            Sequential::Yes => assert!(exists, "{steps:?}"),
            Sequential::No(_) => assert!(!exists, "{steps:?}"),
            Sequential::Unknown => unknown += 1,
        }
        counts[usize::from(exists)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 2000), "{counts:?}");
    assert!(unknown < 200, "{unknown} of 20,000");
}
