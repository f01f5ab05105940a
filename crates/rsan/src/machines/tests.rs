use super::*;
use rsan_model::RmwOrd::{self, Acquire, Relaxed, Release, SeqCst};
use rsan_report::document::can_happen;

const X: u32 = 0;
const Y: u32 = 1;

fn load(order: RmwOrd, location: u32) -> Step {
    Step::new(Act::Load, order, location)
}

fn store(order: RmwOrd, location: u32) -> Step {
    Step::new(Act::Store, order, location)
}

fn line(threads: &[&[Step]], wanted: &[(At, Order, At)]) -> String {
    let weakest = Shape {
        threads: threads.iter().map(|steps| steps.to_vec()).collect(),
        wanted: wanted.to_vec(),
    };
    let cycle = Cycle {
        weakest,
        strongest: None,
    };
    can_happen(&Machines::default().of(cycle)).expect("machines")
}

const EVERYWHERE: &str = "can happen on: x86, ARMv8, RISC-V, Power, ARMv7";
const NOT_ON_X86: &str = "can happen on: ARMv8, RISC-V, Power, ARMv7; not on: x86";
const NOWHERE: &str = "cannot happen on: x86, ARMv8, RISC-V, Power, ARMv7";

fn message_passing(write: [RmwOrd; 2], read: [RmwOrd; 2]) -> String {
    let writer = [store(write[0], X), store(write[1], Y)];
    let reader = [load(read[0], Y), load(read[1], X)];
    let wanted = [((0, 1), Order::Rf, (1, 0)), ((1, 1), Order::Fr, (0, 0))];
    line(&[&writer, &reader], &wanted)
}

#[test]
fn message_passing_is_for_weak_machines() {
    assert_eq!(message_passing([Relaxed; 2], [Relaxed; 2]), NOT_ON_X86);
    assert_eq!(
        message_passing([Relaxed; 2], [Acquire, Relaxed]),
        NOT_ON_X86
    );
    assert_eq!(
        message_passing([Relaxed, Release], [Acquire, Relaxed]),
        NOWHERE
    );
}

fn store_buffering(write: RmwOrd, read: RmwOrd, between: &[Step]) -> String {
    let thread = |mine, other| {
        let mut steps = vec![store(write, mine)];
        steps.extend(between.iter().cloned());
        steps.push(load(read, other));
        steps
    };
    let last = between.len() + 1;
    let wanted = [
        ((0, last), Order::Fr, (1, 0)),
        ((1, last), Order::Fr, (0, 0)),
    ];
    line(&[&thread(X, Y), &thread(Y, X)], &wanted)
}

#[test]
fn store_buffering_is_for_all() {
    assert_eq!(store_buffering(Relaxed, Relaxed, &[]), EVERYWHERE);
    let dekker = "can happen on: x86, ARMv8 with ldapr, RISC-V, Power, ARMv7; not on: ARMv8";
    assert_eq!(store_buffering(Release, Acquire, &[]), dekker);
    assert_eq!(store_buffering(SeqCst, SeqCst, &[]), NOWHERE);
    let fence = [Step::full_fence()];
    assert_eq!(store_buffering(Relaxed, Relaxed, &fence), NOWHERE);
}

/// A read-modify-write is a fence on x86 and nowhere else.
#[test]
fn an_update_between_store_and_load_matters_on_x86() {
    let update = [Step::new(Act::Rmw, Relaxed, 7)];
    assert_eq!(store_buffering(Relaxed, Relaxed, &update), NOT_ON_X86);
}

fn independent_reads(order: RmwOrd) -> String {
    let reader = |first, second| [load(order, first), load(order, second)];
    let wanted = [
        ((0, 0), Order::Rf, (2, 0)),
        ((2, 1), Order::Fr, (1, 0)),
        ((1, 0), Order::Rf, (3, 0)),
        ((3, 1), Order::Fr, (0, 0)),
    ];
    let stores = [X, Y].map(|location| [store(Relaxed, location)]);
    line(
        &[&stores[0], &stores[1], &reader(X, Y), &reader(Y, X)],
        &wanted,
    )
}

#[test]
fn independent_reads_of_independent_writes() {
    assert_eq!(independent_reads(Relaxed), NOT_ON_X86);
    let not_copy_atomic = "can happen on: Power; not on: x86, ARMv8, RISC-V, ARMv7";
    assert_eq!(independent_reads(Acquire), not_copy_atomic);
}

#[test]
fn two_writes_each() {
    let writers = [
        [store(Relaxed, X), store(Relaxed, Y)],
        [store(Relaxed, Y), store(Relaxed, X)],
    ];
    let wanted = [((0, 1), Order::Mo, (1, 0)), ((1, 1), Order::Mo, (0, 0))];
    assert_eq!(line(&[&writers[0], &writers[1]], &wanted), NOT_ON_X86);
}

#[test]
fn dependencies_order_loads_on_weak_machines() {
    let writer = [store(Relaxed, X), store(Release, Y)];
    let wanted = [((0, 1), Order::Rf, (1, 0)), ((1, 1), Order::Fr, (0, 0))];
    let dependent = Step {
        address: vec![0],
        ..load(Relaxed, X)
    };
    let reader = [load(Relaxed, Y), dependent];
    assert_eq!(line(&[&writer, &reader], &wanted), NOWHERE);
    let branch = Step {
        address: vec![0],
        ..Step::new(Act::Branch, Relaxed, 0)
    };
    let reader = [load(Relaxed, Y), branch, load(Relaxed, X)];
    let wanted = [((0, 1), Order::Rf, (1, 0)), ((1, 2), Order::Fr, (0, 0))];
    assert_eq!(line(&[&writer, &reader], &wanted), NOT_ON_X86);
}

/// What may be there and may not be leaves the question open only where it matters.
#[test]
fn what_may_be_there_leaves_the_question_open() {
    let shape = |between: &[Step]| {
        let thread = |mine, other| {
            let start = [store(Relaxed, mine)].into_iter();
            let steps = start.chain(between.iter().cloned());
            steps.chain([load(Relaxed, other)]).collect::<Vec<_>>()
        };
        let last = between.len() + 1;
        Shape {
            threads: vec![thread(X, Y), thread(Y, X)],
            wanted: vec![
                ((0, last), Order::Fr, (1, 0)),
                ((1, last), Order::Fr, (0, 0)),
            ],
        }
    };
    let cycle = Cycle {
        weakest: shape(&[]),
        strongest: Some(shape(&[Step::new(Act::Rmw, Relaxed, 9)])),
    };
    let machines = Machines::default().of(cycle);
    let said = "can happen on: ARMv8, RISC-V, Power, ARMv7; not known for: x86";
    assert_eq!(can_happen(&machines).as_deref(), Some(said));
}

/// Each thread has few ways to read, and all together have more than anybody waits for.
#[test]
fn many_threads_end_within_the_limit() {
    let update = |location| Step::new(Act::Rmw, Relaxed, location);
    let thread = |number: u32| vec![update(number), update(X), update(number + 1)];
    let threads: Vec<_> = (1..13).map(thread).collect();
    let threads: Vec<&[Step]> = threads.iter().map(Vec::as_slice).collect();
    let wanted = [((0, 1), Order::Rf, (11, 1)), ((11, 1), Order::Rf, (0, 1))];
    let not_known = "not known for: x86, ARMv8, RISC-V, Power, ARMv7";
    assert_eq!(line(&threads, &wanted), not_known);
}
