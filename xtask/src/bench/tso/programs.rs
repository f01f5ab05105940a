//! Automata with a growing number of threads.

use std::fmt::Write;

/// Programs of one kind with a growing number of threads: its name, and the text for a number of threads.
pub(super) type Family = (&'static str, fn(usize) -> String);

/// Locks, with any number of threads.
pub(super) const LOCKS: [Family; 4] = [
    ("spin-lock", |n| copies(n, spin_lock)),
    ("ticket-lock", |n| copies(n, ticket_lock)),
    ("lamport-first", |n| copies(n, lamport)),
    ("filter", |n| copies(n, |i| filter(i, n))),
];

/// Cilk's work-stealing queue with mistakes, and a number of thieves.
pub(super) const QUEUES: [Family; 3] = [
    ("the-loose-lock", |n| the_queue(n, Mistake::LooseLock)),
    ("the-early-unlock", |n| the_queue(n, Mistake::EarlyUnlock)),
    ("the-no-second-look", |n| {
        the_queue(n, Mistake::NoSecondLook)
    }),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// The lock is tested and set in two steps.
    LooseLock,
    /// Thieves give the lock back before they look at the tail.
    EarlyUnlock,
    /// The owner does not look at the head again under the lock.
    NoSecondLook,
}

/// The THE protocol (Frigo, Leiserson and Randall, PLDI 1998): the owner pushes three items and pops them again, thieves
/// try to steal twice. Memory: 0 is the head, 1 the tail, 2 the lock, from 100 on the items.
fn the_queue(thieves: usize, mistake: Mistake) -> String {
    let mut text = String::from("thread owner\ninitial push0\n");
    for i in 0..3 {
        let next = match i {
            2 => "pop0".to_owned(),
            i => format!("push{}", i + 1),
        };
        let _ = write!(
            text,
            "transition push{i} push{i}a read T 1\n\
             transition push{i}a push{i}b write 7 + 100 T\n\
             transition push{i}b {next} write + T 1 1\n"
        );
    }
    for i in 0..3 {
        let p = format!("pop{i}");
        let next = match i {
            2 => "done".to_owned(),
            i => format!("pop{}", i + 1),
        };
        let _ = write!(
            text,
            "transition {p} {p}a read T 1\n\
             transition {p}a {p}b write - T 1 1\n\
             transition {p}b {p}c read H 0\n\
             transition {p}c {p}take check <= H - T 1\n\
             transition {p}take {next} read v + 99 T\n\
             transition {p}c {p}d check > H - T 1\n\
             transition {p}d {p}grab write T 1\n"
        );
        grab(&mut text, &format!("{p}grab"), &format!("{p}in"), mistake);
        if mistake == Mistake::NoSecondLook {
            let _ = writeln!(text, "transition {p}in {next} write 0 2");
            continue;
        }
        let _ = write!(
            text,
            "transition {p}in {p}e write - T 1 1\n\
             transition {p}e {p}f read H 0\n\
             transition {p}f {p}give check <= H - T 1\n\
             transition {p}give {p}take write 0 2\n\
             transition {p}f {p}undo check > H - T 1\n\
             transition {p}undo {p}giveup write T 1\n\
             transition {p}giveup {next} write 0 2\n"
        );
    }
    text.push_str("end\n");
    for thief in 1..=thieves {
        let _ = writeln!(text, "thread thief{thief}\ninitial s0");
        for round in 0..2 {
            steal(&mut text, round, mistake);
        }
        text.push_str("end\n");
    }
    text
}

/// A thief tries to steal, and goes on to the next round.
fn steal(text: &mut String, round: usize, mistake: Mistake) {
    let (s, next) = (format!("s{round}"), format!("s{}", round + 1));
    grab(text, &s, &format!("{s}in"), mistake);
    let (early, late) = match mistake {
        Mistake::EarlyUnlock => ("write 0 2", "noop"),
        Mistake::LooseLock | Mistake::NoSecondLook => ("noop", "write 0 2"),
    };
    let _ = write!(
        text,
        "transition {s}in {s}a read H 0\n\
         transition {s}a {s}b write + H 1 0\n\
         transition {s}b {s}look {early}\n\
         transition {s}look {s}c read T 1\n\
         transition {s}c {s}take check <= + H 1 T\n\
         transition {s}take {s}give read v + 100 H\n\
         transition {s}give {next} {late}\n\
         transition {s}c {s}undo check > + H 1 T\n\
         transition {s}undo {s}give write H 0\n"
    );
}

/// From `from` to `to` with the lock at 2 taken.
fn grab(text: &mut String, from: &str, to: &str, mistake: Mistake) {
    let _ = match mistake {
        Mistake::LooseLock => write!(
            text,
            "transition {from} {from}2 read L 2\n\
             transition {from}2 {from} check != L 0\n\
             transition {from}2 {from}3 check == L 0\n\
             transition {from}3 {to} write 1 2\n"
        ),
        Mistake::EarlyUnlock | Mistake::NoSecondLook => write!(
            text,
            "transition {from} {from}1 lock\n\
             transition {from}1 {from}2 read L 2\n\
             transition {from}2 {from}4 check != L 0\n\
             transition {from}4 {from} unlock\n\
             transition {from}2 {from}3 check == L 0\n\
             transition {from}3 {from}5 write 1 2\n\
             transition {from}5 {to} unlock\n"
        ),
    };
}

fn copies(threads: usize, rows: impl Fn(usize) -> Vec<String>) -> String {
    let mut text = String::new();
    for i in 1..=threads {
        let _ = writeln!(text, "thread t{i}\ninitial start");
        for row in rows(i) {
            let _ = writeln!(text, "transition {row}");
        }
        text.push_str("end\n");
    }
    text
}

fn lines(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| (*row).to_owned()).collect()
}

fn spin_lock(_: usize) -> Vec<String> {
    lines(&[
        "start held lock",
        "held tested read v 0",
        "tested taken check == v 0",
        "taken free write 1 0",
        "free critical unlock",
        "tested busy check != v 0",
        "busy spin unlock",
        "spin look read v 0",
        "look spin check != v 0",
        "look start check == v 0",
        "critical used read c 1",
        "used out write 1 1",
        "out clear write 0 1",
        "clear start write 0 0",
    ])
}

/// Tickets modulo 16: more than there are threads.
fn ticket_lock(_: usize) -> Vec<String> {
    lines(&[
        "start drawn lock",
        "drawn mine read ticket 0",
        "mine stored write & + 1 ticket 15 0",
        "stored wait unlock",
        "wait look read now 1",
        "look wait check != now ticket",
        "look critical check == now ticket",
        "critical used read c 2",
        "used clear write 1 2",
        "clear leave write 0 2",
        "leave start write & + 1 ticket 15 1",
    ])
}

/// Lamport's fast mutual exclusion, first algorithm.
fn lamport(i: usize) -> Vec<String> {
    vec![
        format!("start readY write {i} 0"),
        "readY testY read y 1".to_owned(),
        "testY start check != y 0".to_owned(),
        "testY setY check == y 0".to_owned(),
        format!("setY readX write {i} 1"),
        "readX testX read x 0".to_owned(),
        format!("testX critical check == x {i}"),
        format!("testX late check != x {i}"),
        "late lateY read y 1".to_owned(),
        format!("lateY critical check == y {i}"),
        format!("lateY start check != y {i}"),
        "critical start write 0 1".to_owned(),
    ]
}

/// Peterson's filter lock: levels from 100 on, who waits at each level from 200 on.
fn filter(i: usize, threads: usize) -> Vec<String> {
    let others: Vec<usize> = (1..=threads).filter(|j| *j != i).collect();
    let mut rows = Vec::new();
    for level in 1..threads {
        let here = match level {
            1 => "start".to_owned(),
            level => format!("enter{level}"),
        };
        let next = match level + 1 {
            next if next == threads => "critical".to_owned(),
            next => format!("enter{next}"),
        };
        rows.push(format!("{here} last{level} write {level} {}", 100 + i));
        rows.push(format!("last{level} look{level} write {i} {}", 200 + level));
        rows.push(format!("look{level} saw{level} read v {}", 200 + level));
        rows.push(format!("saw{level} {next} check != v {i}"));
        rows.push(format!("saw{level} l{level}_0 check == v {i}"));
        for (n, j) in others.iter().enumerate() {
            let then = match n + 1 {
                last if last == others.len() => next.clone(),
                n => format!("l{level}_{n}"),
            };
            rows.push(format!("l{level}_{n} c{level}_{n} read o {}", 100 + j));
            rows.push(format!("c{level}_{n} {then} check < o {level}"));
            rows.push(format!("c{level}_{n} look{level} check >= o {level}"));
        }
    }
    rows.push(format!("critical start write 0 {}", 100 + i));
    rows
}
