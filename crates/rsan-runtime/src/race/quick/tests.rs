//! The quick form against the readable one, on many states of a granule.

use super::*;
use crate::mapping::map_zeroed;
use crate::race::Kind;
use crate::race::cells::{mask, pack_site};
use crate::shadow::{Chunk, stamp};
use crate::stack::Node;
use rsan_clocks::write_log::{Epoch, Slot};

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

const ME: u16 = 2;
/// What thread 2 knows: slot 3 is beyond the end.
const KNOWN: [u32; 3] = [2, 0, 3];

fn access(numbers: &mut Numbers) -> Access {
    let size = 1 << numbers.below(4);
    let offset = numbers.below(8 / size) * size;
    Access {
        own: stamp(Slot(ME), Epoch::new(3)),
        mask: mask(offset as usize, size as usize),
        kind: [Kind::READ, Kind::WRITE, Kind::FREE][numbers.below(3) as usize],
    }
}

/// A cell of somebody, sometimes of the present, and its site.
fn cell(numbers: &mut Numbers) -> (u64, u32) {
    let slot = Slot(numbers.below(4) as u16);
    let own = stamp(slot, Epoch::new(1 + numbers.below(3) as u32));
    let kinds = [Kind::READ, Kind::WRITE, Kind::FREE, Kind::ALLOCATE];
    let kind = kinds[numbers.below(4) as usize];
    let old = Access {
        own,
        kind,
        ..access(numbers)
    };
    if numbers.below(4) == 0 {
        return (0, 0);
    }
    (old.cell(), pack_site(Node(numbers.below(3) as u32), own))
}

fn state(granule: Granule) -> ([u64; CELLS], [u32; CELLS]) {
    // ORDERING: relaxed; there is one thread.
    let cell = |index: usize| granule.cells()[index].load(Ordering::Relaxed);
    let site = |index: usize| granule.sites()[index].load(Ordering::Relaxed);
    (std::array::from_fn(cell), std::array::from_fn(site))
}

fn set(granule: Granule, index: usize, (cell, site): (u64, u32)) {
    // ORDERING: relaxed; there is one thread.
    granule.cells()[index].store(cell, Ordering::Relaxed);
    granule.sites()[index].store(site, Ordering::Relaxed);
}

#[test]
fn both_forms_record_the_same() {
    // SAFETY: zeroed memory is a chunk.
    let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
    let [quick, full] =
        [0, 8].map(|address| Granule::within(chunk, address).expect("an address of user space"));
    let past = KNOWN.map(Epoch::new);
    let mut numbers = Numbers(1);
    let mut seen = [0; 3];
    for _ in 0..200_000 {
        for index in 0..CELLS {
            let cell = cell(&mut numbers);
            [quick, full].iter().for_each(|at| set(*at, index, cell));
        }
        let access = access(&mut numbers);
        if access.is_known(full) {
            continue;
        }
        let site = pack_site(Node(numbers.below(3) as u32), access.own);
        let before = state(quick);
        let recorded = access.record_quickly(
            &past,
            quick,
            Pairs::load(quick.cells()),
            site,
            access.mask == 0xff,
        );
        let race = access.record(&past, full, site, false);
        if recorded == Recorded::NotYet {
            assert!(race.is_some());
            assert_eq!(state(quick), before);
        } else {
            assert_eq!((recorded, race), (Recorded::Alone, None));
            assert_eq!(state(quick), state(full), "{access:x?} in {before:x?}");
        }
        let is_full = before.0.iter().all(|cell| *cell != 0);
        seen[usize::from(race.is_some()) + usize::from(race.is_none() && is_full) * 2] += 1;
    }
    assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
}

#[test]
fn repeating_is_recording_one_by_one() {
    // SAFETY: zeroed memory is a chunk.
    let chunk: &'static Chunk = unsafe { &*map_zeroed::<Chunk>(1) };
    let at = |address| Granule::within(chunk, address).expect("an address of user space");
    let past = KNOWN.map(Epoch::new);
    let mut numbers = Numbers(2);
    let mut repeated = 0;
    for _ in 0..50_000 {
        // Eight granules with the same cells and other sites; the sixth may differ.
        for index in 0..CELLS {
            let first = cell(&mut numbers);
            for granule in 0..8 {
                let (_, site) = cell(&mut numbers);
                set(at(8 * granule), index, (first.0, site));
                set(at(0x800 + 8 * granule), index, (first.0, site));
            }
        }
        let other = cell(&mut numbers);
        [40, 0x828]
            .iter()
            .for_each(|start| set(at(*start), 0, other));
        let access = Access {
            mask: 0xff,
            ..access(&mut numbers)
        };
        let site = pack_site(Node(numbers.below(3) as u32), access.own);
        let before = Pairs::load(at(0).cells());
        if access.is_known(at(0)) || access.record(&past, at(0), site, false).is_some() {
            continue;
        }
        let (done, race) = access.repeat(&past, at(0), 7, before, site);
        assert_eq!(race, None);
        for granule in 0..=done {
            let one = at(0x800 + 8 * granule);
            assert_eq!(access.record(&past, one, site, false), None);
            assert_eq!(state(at(8 * granule)), state(one));
        }
        for granule in done + 1..8 {
            assert_eq!(state(at(8 * granule)), state(at(0x800 + 8 * granule)));
        }
        repeated += usize::from(done >= 4);
    }
    assert!(repeated > 1000, "{repeated}");
}
