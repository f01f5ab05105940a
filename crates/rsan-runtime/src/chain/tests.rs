use super::*;
use crate::owners;
use crate::stack::Node;
use crate::trail::{Accessors, Place, Trail};
use rsan_clocks::write_log::{Epoch, Slot, Stamp};
use rsan_model::RmwOrd;

/// Threads of a run that is written down here, with their trails.
struct Thread {
    id: u32,
    epoch: u32,
    trail: Trail,
}

impl Thread {
    fn new(id: u32) -> Self {
        let start = Stamp {
            slot: Slot(id as u16),
            epoch: Epoch::START,
        };
        owners::add(start, ThreadId(id));
        Self {
            id,
            epoch: 1,
            trail: Trail::default(),
        }
    }

    fn step(&self, act: Act, line: usize) -> Step {
        Step {
            thread: ThreadId(self.id),
            epoch: self.epoch,
            position: self.trail.position(),
            act,
            order: RmwOrd::Relaxed,
            place: Place::leaf(Node::of(&[line])),
        }
    }

    fn access(&mut self, at: &mut Location, act: Act, line: usize, learnt: bool) -> Step {
        if act.writes() || learnt {
            self.epoch += 1;
        }
        let step = self.step(act, line);
        let (writer, address) = (at.writer, at.address);
        let by = (step, Slot(self.id as u16));
        at.accessors
            .accessed(&mut self.trail, by, address, learnt, || writer);
        if act.writes() {
            at.writer = Some(step);
        }
        step
    }

    fn fence(&mut self, line: usize) {
        self.epoch += 1;
        let mut step = self.step(Act::Fence, line);
        step.position += 1;
        self.trail.note(&step, 0, &[]);
    }
}

struct Location {
    address: usize,
    writer: Option<Step>,
    accessors: Accessors,
}

fn locations() -> [Location; 2] {
    [8, 16].map(|address| Location {
        address,
        writer: None,
        accessors: Accessors::default(),
    })
}

fn lines(chain: &Chain) -> Vec<(usize, &'static str)> {
    let links = chain.links.iter();
    links
        .map(|link| (link.step.place.site().pc, link.edge.name()))
        .collect()
}

#[test]
fn store_buffering() {
    let (mut one, mut two) = (Thread::new(2_000_001), Thread::new(2_000_002));
    let [mut x, mut y] = locations();
    let missed = one.access(&mut x, Act::Store, 1, false);
    one.fence(2);
    one.access(&mut y, Act::Load, 3, false);
    two.access(&mut y, Act::Store, 4, true);
    let search = Search {
        access: two.step(Act::Load, 5),
        missed,
        address: 8,
        along: Along::ScOrder,
    };
    let chain = find(&search).expect("the chain is known");
    let expected = [(1, "po"), (2, "po"), (3, "fr"), (4, "po"), (5, "po")];
    assert_eq!(lines(&chain), expected);
    assert!(chain.fences_known);
    // What comes after the access that was overtaken is no way.
    let late = one.access(&mut x, Act::Store, 6, false);
    let search = Search {
        missed: late,
        ..search
    };
    assert_eq!(find(&search), None);
}

/// A write that is no link may be a fence on some machine.
#[test]
fn other_writes_between_links_are_seen() {
    let quiet = |between: fn(&mut Thread, &mut Location)| {
        let (mut one, mut two) = (Thread::new(2_000_005), Thread::new(2_000_006));
        let [mut x, mut y] = locations();
        let [mut other, _] = locations();
        let missed = one.access(&mut x, Act::Store, 1, false);
        one.access(&mut y, Act::Load, 2, false);
        two.access(&mut y, Act::Store, 3, true);
        between(&mut two, &mut other);
        let search = Search {
            access: two.step(Act::Load, 4),
            missed,
            address: 8,
            along: Along::ScOrder,
        };
        let chain = find(&search).expect("the chain is known");
        assert_eq!(chain.links.len(), 4);
        [0, 1, 2, 3].map(|index| chain.is_quiet_after(index))
    };
    assert_eq!(quiet(|_, _| ()), [true, false, true, false]);
    let with_update = quiet(|thread, other| {
        thread.access(other, Act::Rmw, 9, false);
    });
    assert_eq!(with_update, [true, false, false, false]);
}

#[test]
fn independent_reads() {
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(|n| Thread::new(2_000_010 + n));
    let [mut x, mut y] = locations();
    let missed = a.access(&mut x, Act::Store, 1, false);
    b.access(&mut x, Act::Load, 2, true);
    b.access(&mut y, Act::Load, 3, false);
    c.access(&mut y, Act::Store, 4, true);
    d.access(&mut y, Act::Load, 5, true);
    let access = d.step(Act::Load, 6);
    let chain = find(&Search {
        access,
        missed,
        address: 8,
        along: Along::ScOrder,
    });
    let chain = chain.expect("the chain is known");
    let expected = [
        (1, "rf"),
        (2, "po"),
        (3, "fr"),
        (4, "rf"),
        (5, "po"),
        (6, "po"),
    ];
    assert_eq!(lines(&chain), expected);
}

/// A ring whose index is relaxed: the plain accesses are found through it, what else orders them under SC does not count.
#[test]
fn a_race() {
    let (mut one, mut two) = (Thread::new(2_000_021), Thread::new(2_000_022));
    let [mut x, mut y] = locations();
    let slot = one.step(Act::Plain, 1);
    one.access(&mut x, Act::Load, 2, false);
    one.access(&mut y, Act::Store, 3, false);
    two.access(&mut x, Act::Store, 4, true);
    let search = |two: &Thread| Search {
        access: two.step(Act::Plain, 6),
        missed: slot,
        address: 16,
        along: Along::Synchronisation,
    };
    assert_eq!(find(&search(&two)), None, "only from-read leads there");
    two.access(&mut y, Act::Load, 5, true);
    let chain = find(&search(&two)).expect("the chain is known");
    let expected = [(1, "po"), (3, "rf"), (5, "po"), (6, "po")];
    assert_eq!(lines(&chain), expected);
    // A plain access after the store has the store's epoch.
    let late = Search {
        missed: one.step(Act::Plain, 7),
        ..search(&two)
    };
    assert_eq!(find(&late), None);
    let atomic = Search {
        missed: one.step(Act::Store, 0),
        ..search(&two)
    };
    let chain = find(&atomic).expect("the chain is known");
    assert_eq!(lines(&chain), expected[1..]);
}

/// A pointer that is published, and an atomic counter behind it: the pointer is the way, also to an access of the counter.
#[test]
fn a_race_behind_a_pointer() {
    let way = |pointer: RmwOrd| {
        let (mut one, mut two) = (Thread::new(2_000_031), Thread::new(2_000_032));
        let [mut x, mut y] = locations();
        let header = one.step(Act::Plain, 1);
        one.access(&mut x, Act::Store, 2, false);
        x.writer = x.writer.map(|step| Step {
            order: pointer,
            ..step
        });
        one.access(&mut y, Act::Rmw, 3, false);
        two.access(&mut x, Act::Load, 4, true);
        two.access(&mut y, Act::Rmw, 5, true);
        let search = |position| Search {
            access: Step {
                position,
                ..two.step(Act::Plain, 6)
            },
            missed: header,
            address: 16,
            along: Along::Synchronisation,
        };
        // What the counter itself tells does not count for an access of the counter.
        let of_counter = find(&search(two.trail.position_before(16)));
        let behind = find(&search(two.trail.position_before(64)));
        [of_counter, behind].map(|chain| lines(&chain.expect("the chain is known")))
    };
    let expected = vec![(1, "po"), (2, "rf"), (4, "po"), (6, "po")];
    for pointer in [RmwOrd::Relaxed, RmwOrd::Release] {
        assert_eq!(way(pointer), [expected.clone(), expected.clone()]);
    }
}
