//! Freeing memory, which counts as a write to all of it.

use super::cells::{Access, mask, pack_site};
use super::lanes::Pairs;
use super::{Kind, granules, meet_locations, report};
use crate::shadow::HAS_CELLS;
use crate::thread;
use std::sync::atomic::Ordering;

/// A block is about to be freed: like a plain write of it, except that its atomic locations need not be told, for they
/// are forgotten anyway. Most blocks were not accessed since their allocation, or only in part, so most granules are
/// empty.
pub fn free(address: usize, bytes: usize) {
    let Some(mut me) = thread::enter_access() else {
        return crate::probe::free(address, bytes);
    };
    let me = &mut me;
    if me.ignored != 0 {
        return;
    }
    me.make_private();
    let (leaf, own) = (me.leaf(), me.own);
    let (word, exact) = (pack_site(leaf, own), me.options.exact);
    let mut found = None;
    for (granule, at, size) in granules(address, bytes) {
        let mask = mask(at & 7, size);
        let kind = Kind::FREE;
        let mut race = None;
        if granule.is_empty() {
            granule.set(HAS_CELLS);
            // ORDERING: relaxed; a site that does not fit its cell is noticed by the reader.
            granule.sites()[0].store(word, Ordering::Relaxed);
            // ORDERING: relaxed; a cell is one word and stands for itself.
            granule.cells()[0].store(own | mask << 8 | kind.0, Ordering::Relaxed);
        } else {
            let access = Access { own, mask, kind };
            let past = me.state.hb().slice();
            let cells = Pairs::load(granule.cells());
            if exact {
                race = access.record(past, granule, word, exact);
            } else if !access.is_in(cells) {
                race = access.record_or_race(past, granule, cells, word);
            }
        }
        race = meet_locations(me, granule, (at, size), kind, leaf).or(race);
        found = found.or(race.map(|other| (at, size, other)));
    }
    if let Some((at, size, other)) = found {
        report(me, at, size, Kind::FREE, other);
    }
}
