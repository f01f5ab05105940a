use super::Prefilter;
use super::locks::locks;
use super::values::{Values, ValuesOf};
use crate::fences::FenceSet;
use crate::mutation::Mutation;
use rsan_model::automata::Automata;

fn parse(text: &str) -> Automata {
    let source = rsan_model::Source::new("test", text);
    rsan_lang::parse_automata(&source).expect("the program is right")
}

/// Two threads of these transitions.
fn twice(rows: &[&str]) -> Automata {
    let rows: Vec<String> = rows.iter().map(|r| format!("transition {r}\n")).collect();
    let thread = |name| format!("thread {name}\ninitial 0\n{}end\n", rows.concat());
    parse(&(thread("p") + &thread("q")))
}

const GRAB: [&str; 5] = [
    "0 1 lock",
    "1 2 read r 9",
    "2 3 check == r 0",
    "3 4 write 1 9",
    "4 in unlock",
];

/// The names of the states in which the first thread holds each lock.
fn held(automata: &Automata) -> Vec<Vec<String>> {
    let values = ValuesOf::new(automata, false, Mutation::default());
    let locks = locks(automata, &values, Mutation::default());
    let states = &automata.threads[0].states;
    let of = |held: &[bool]| {
        let held = states.iter().zip(held).filter(|(_, held)| **held);
        held.map(|(state, _)| state.name.clone()).collect()
    };
    locks.iter().map(|lock| of(&lock.held[0])).collect()
}

#[test]
fn a_lock_is_held_between_taking_it_and_giving_it_back() {
    let rest = ["in used read c 5", "used out write 0 9", "out 0 noop"];
    let automata = twice(&[&GRAB[..], &rest, &["2 busy check != r 0", "busy 0 unlock"]].concat());
    assert_eq!(held(&automata), [["4", "in", "used"]]);
}

#[test]
fn what_breaks_its_rules_is_no_lock() {
    let wrong: [&[&str]; 5] = [
        // Given back by somebody who may not have it.
        &["in out write 0 9", "out end write 0 9"],
        // Taken again.
        &["in out write 1 9"],
        // Given back with something that is not 0.
        &["in out write r 9", "out end write 2 9"],
        // A write that may be elsewhere.
        &["in out read c 9", "out end write 1 + 9 c"],
        // With the lock and without.
        &["in 0 noop"],
    ];
    for rows in wrong {
        let automata = twice(&[&GRAB[..], rows].concat());
        assert!(held(&automata).is_empty(), "{rows:?}");
    }
    let mut loose = GRAB;
    (loose[0], loose[4]) = ("0 1 noop", "4 in noop");
    let automata = twice(&[&loose[..], &["in out write 0 9"]].concat());
    assert!(held(&automata).is_empty(), "not in one step");
}

fn addresses(automata: &Automata, thread: usize, transition: usize) -> Values {
    let values = ValuesOf::new(automata, false, Mutation::default());
    values.fact(thread, transition).address.clone()
}

#[test]
fn a_thread_knows_what_only_it_writes() {
    let automata = parse(
        "thread p\ninitial 0\ntransition 0 1 write 3 1\ntransition 1 2 read t 1\ntransition 2 3 write + t 1 1\n\
         transition 3 4 read t 1\ntransition 4 5 write 1 + 100 t\nend\n\
         thread q\ninitial 0\ntransition 0 1 read t 1\ntransition 1 2 write 1 + 200 t\nend\n",
    );
    assert_eq!(addresses(&automata, 0, 4), Values::one(104));
    let read = addresses(&automata, 1, 1);
    assert_eq!(read, Values::Few([200, 203, 204].into()));
}

/// Each of them adds one, and none does so twice.
#[test]
fn counters_of_threads_without_loops_are_bounded() {
    let rows = ["0 1 read h 1", "1 2 write + h 1 1", "2 3 read v + 100 h"];
    let read = addresses(&twice(&rows), 0, 2);
    assert!(read.contains(101) && !read.contains(1), "{read:?}");
    let rows = [&rows[..], &["3 0 noop"]].concat();
    let read = addresses(&twice(&rows), 0, 2);
    assert!(read.contains(101) && read.contains(1), "{read:?}");
}

/// A load under a lock matters to nobody who would have to take it.
#[test]
fn helpers_do_not_take_a_lock_that_the_attacker_holds() {
    let rows = [
        "in a write 1 1",
        "a b read c 2",
        "b d write 1 2",
        "d out write 0 9",
    ];
    let is_harmless = |grab: &[&str]| {
        let automata = twice(&[grab, &rows].concat());
        let role = Prefilter::new(&automata).attackable(0, &FenceSet::default());
        role.is_harmless()
    };
    assert!(is_harmless(&GRAB));
    let mut loose = GRAB;
    (loose[0], loose[4]) = ("0 1 noop", "4 in noop");
    assert!(!is_harmless(&loose));
}
