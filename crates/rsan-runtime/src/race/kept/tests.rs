//! Cells and what is kept beside them, against a list of all accesses of a granule.

use super::*;
use crate::mapping::map_zeroed;
use crate::race::Kind;
use crate::race::cells::{mask, pack_site};
use crate::shadow::{Chunk, forget_kept as forget, stamp};
use crate::stack::Node;
use rsan_clocks::write_log::{Epoch, Slot};
use std::sync::atomic::Ordering;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

const THREADS: usize = 8;

/// The clock of each thread.
type Clocks = [[Epoch; THREADS]; THREADS];

/// A thread learns what another one knows, which goes on to a new epoch.
fn learn(clocks: &mut Clocks, from: usize, to: usize) {
    let known = clocks[from];
    for (mine, other) in clocks[to].iter_mut().zip(known) {
        *mine = (*mine).max(other);
    }
    clocks[from][from] = clocks[from][from].next();
}

fn access(numbers: &mut Numbers, kind: Kind, by: usize, clocks: &Clocks) -> Access {
    let size = 1 << numbers.below(4);
    let offset = numbers.below(8 / size) * size;
    Access {
        own: stamp(Slot(by as u16), clocks[by][by]),
        mask: mask(offset, size),
        kind,
    }
}

#[test]
fn every_race_of_a_run_is_noticed() {
    // SAFETY: zeroed memory is a chunk.
    let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
    let granule = Granule::within(chunk, 0x100).expect("an address of user space");
    let mut numbers = Numbers(1);
    // Accesses, races, and races that the cells alone do not show.
    let mut seen = [0; 3];
    for _ in 0..5_000 {
        for cell in granule.cells() {
            // ORDERING: relaxed; there is one thread.
            cell.store(0, Ordering::Relaxed);
        }
        forget(granule.cells_of(1));
        let mut clocks = [[Epoch::START; THREADS]; THREADS];
        for (thread, clock) in clocks.iter_mut().enumerate() {
            clock[thread] = Epoch::new(1);
        }
        let mut all: Vec<u64> = Vec::new();
        for _ in 0..60 {
            let by = numbers.below(THREADS);
            let kind = [Kind::READ, Kind::WRITE][usize::from(numbers.below(10) == 0)];
            // Who writes knows most of the others.
            let known = if kind == Kind::WRITE { THREADS } else { 1 };
            for other in (0..known).map(|other| (by + other) % THREADS) {
                if numbers.below(20) > 0 && other != by {
                    learn(&mut clocks, other, by);
                }
            }
            let access = access(&mut numbers, kind, by, &clocks);
            let past: Past = &clocks[by];
            let races = all.iter().any(|cell| access.races_with(past, *cell));
            let by_cells = (granule.cells().iter())
                // ORDERING: relaxed; there is one thread.
                .any(|cell| access.races_with(past, cell.load(Ordering::Relaxed)));
            let race = access.record(past, granule, pack_site(Node(1), access.own), true);
            assert_eq!(race.is_some(), races, "{access:x?} after {all:x?}");
            seen[0] += 1;
            seen[1] += usize::from(races);
            seen[2] += usize::from(races && !by_cells);
            if races {
                break;
            }
            all.push(access.cell());
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn what_is_forgotten_is_no_race() {
    // SAFETY: zeroed memory is a chunk.
    let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
    let granule = Granule::within(chunk, 0x200).expect("an address of user space");
    let read = |slot| Access {
        own: stamp(Slot(slot), Epoch::new(1)),
        mask: 0xff,
        kind: Kind::READ,
    };
    let write = Access {
        kind: Kind::WRITE,
        ..read(9)
    };
    for slot in 0..6 {
        assert_eq!(read(slot).record(&[], granule, 0, true), None);
    }
    // Those of the cells are known.
    let mut past = [Epoch::START; 6];
    for cell in granule.cells() {
        // ORDERING: relaxed; there is one thread.
        past[(cell.load(Ordering::Relaxed) >> 48) as usize] = Epoch::new(1);
    }
    assert!(write.race_with_kept(&past, granule).is_some());
    let beside = [
        granule.after(1),
        Granule::within(chunk, 0x1f8).expect("as above"),
    ];
    for granule in beside {
        forget(granule.cells_of(1));
    }
    assert!(write.race_with_kept(&past, granule).is_some());
    let atomic = Access {
        kind: Kind::ATOMIC_READ,
        ..write
    };
    assert_eq!(atomic.race_with_kept(&past, granule), None);
    forget(granule.cells_of(1));
    assert_eq!(write.race_with_kept(&past, granule), None);
}
