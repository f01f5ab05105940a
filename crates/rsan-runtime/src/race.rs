//! Data races: two accesses of a byte by different threads, one a write and one plain, that happens-before does
//! not order.
//!
//! **Decides** at each access whether it races with one of the last [`CELLS`](crate::shadow::CELLS) accesses that are remembered of its
//! granule, or with an atomic access that is remembered of its locations. Sound (every report is a race of the run); not
//! complete: more concurrent readers than cells push each other out, and cells are written without a lock, so that one
//! of two simultaneous updates may be lost.
//!
//! Cells are for plain accesses. Atomic ones are remembered by their location, which has to note them anyway: the writes
//! in its log, and its last readers ([`Location::unordered`](crate::location::Location::unordered)). An atomic access
//! looks at the cells when it is noted; a plain one that is not in the cells yet looks at the locations when it has its
//! cell. The location's lock is between the two, so one of two simultaneous accesses sees the other.
//!
//! **Source**: the happens-before of the write-log monitor, with the algorithm of FastTrack; the compact cells are
//! those of TSan's shadow, with the place of the access beside.
//!
//! An access is not recorded if a cell of the same stamp stands for it, as one's own write does for a read of the same
//! bytes: what races with the one races with the other. Accesses to several parts of a granule that are made with one
//! stamp at one place of the program share a cell.
//!
//! **Cost**: most accesses are in the cells already, which is found out in the program itself (`entries/plain.s`). Most others
//! race with nothing, and are recorded without a look-up and with one store (`quick.rs`). The rest is done in full.
//!
//! **What is given up** when a granule has more accesses to remember than cells. The cells that are left are ordered
//! before the new access and of other bytes or a stronger kind, or not ordered with it. What a cell is worth depends on
//! who can still race with it:
//! 1. A read races with writes only; a write with everything.
//! 2. An access of another thread that is ordered before this one can only race with third threads; such a write is
//!    worth as much as a read that is not ordered. This thread's own can race with all others.
//!
//! Of equals the epoch of the access chooses, so that it is another one as soon as that has changed. Where nothing may be forgotten
//! (`kept.rs`), every access is looked at in full, and what cells give up is kept elsewhere.
//!
//! **Notation**: a cell is `slot:16 epoch:32 mask:8 kind:8`; 0 is empty, since a mask is never 0.
//!
//! **Invariant**: the epoch in a cell was private to its thread when it was written, so a thread whose clock has
//! reached it has synchronised with it after the access.

mod atomic;
mod cells;
mod found;
mod free;
mod kept;
mod lanes;
mod quick;

pub use crate::shadow::Kind;
pub use atomic::{atomic_access, atomic_write, before_write};
pub use free::{allocate, free, free_by, touch, unmap};

use crate::location::{Locked, Operation, WriteSite};
use crate::probe;
use crate::sched;
use crate::shadow::{self, Chunk, Granule, HAS_BLOCKS, PAGE, Strip, chunk_at};
use crate::stack::{Function, Node};
use crate::thread::{self, Body, Context, Entered};
use crate::tls;
use crate::upcall::answers;
use atomic::look_for_races;
use cells::{Access, Race, mask, pack_site};
use found::report;
use lanes::Pairs;
use quick::Recorded;

#[inline(always)]
fn kind<const WRITES: bool>() -> Kind {
    if WRITES { Kind::WRITE } else { Kind::READ }
}

/// A plain access of up to 16 bytes, about to be made; `pc` is where the program called the runtime.
#[inline(always)]
pub fn plain<const BYTES: usize, const WRITES: bool>(address: usize, pc: usize) {
    let (offset, kind) = (address & 7, kind::<WRITES>());
    if offset + BYTES <= 8
        && let Some(own) = thread::current().and_then(Context::private_stamp)
        && let Some(granule) = Granule::existing(address)
        && let mask = mask(offset, BYTES)
        && (Access { own, mask, kind }).is_known(granule)
    {
        return;
    }
    unknown::<BYTES, WRITES>(address, pc, chunk_at(address));
}

/// Whether a plain read of a byte is known already, so that there is nothing to do.
#[inline]
pub(crate) fn is_known_read(address: usize) -> bool {
    let (mask, kind) = (mask(address & 7, 1), Kind::READ);
    let own = thread::current().and_then(Context::private_stamp);
    let granule = Granule::existing(address);
    let known = |(own, granule)| (Access { own, mask, kind }).is_known(granule);
    own.zip(granule).is_some_and(known)
}

/// The same if it may not be known yet; there may be a chunk for the address. Does not unwind, so that entries can jump here;
/// and what it does not do itself, it jumps to.
pub(crate) extern "C" fn unknown<const BYTES: usize, const WRITES: bool>(
    address: usize,
    pc: usize,
    chunk: Option<&'static Chunk>,
) {
    let offset = address & 7;
    if offset + BYTES <= 8
        && let Some(context) = thread::current()
        && let Some(granule) = chunk.and_then(|chunk| Granule::within(chunk, address))
    {
        let whole = BYTES == 8;
        let mask = if whole { 0xff } else { mask(offset, BYTES) };
        let recorded = context.enter_plain().and_then(|me| {
            let (kind, own) = (kind::<WRITES>(), me.own);
            let site = pack_site(me.known_leaf(pc)?, own);
            let (access, past) = (Access { own, mask, kind }, me.state.hb().slice());
            let cells = Pairs::load(granule.cells());
            Some(access.record_quickly(past, granule, cells, site, whole))
        });
        match recorded {
            Some(Recorded::Alone) if !granule.has_locations() => {}
            Some(Recorded::Alone | Recorded::Disturbed) => {
                meet::<WRITES>(address, pc, mask, context, granule);
            }
            Some(Recorded::NotYet) | None => {
                in_full::<WRITES>(address, pc, mask, context, granule);
            }
        }
        return;
    }
    anywhere::<BYTES, WRITES>(address, pc);
}

/// A plain access that may not be within a granule.
#[inline(never)]
extern "C" fn anywhere<const BYTES: usize, const WRITES: bool>(address: usize, pc: usize) {
    let Some(context) = thread::current() else {
        return probe::plain_entry(address, BYTES, pc, WRITES);
    };
    let recorded = within_page::<BYTES>(address).and_then(|granule| {
        let me = context.enter_plain()?;
        let site = pack_site(me.known_leaf(pc)?, me.own);
        let (past, own, kind) = (me.state.hb().slice(), me.own, kind::<WRITES>());
        // The bytes of each granule, one after the other.
        let mut masks = mask(address & 7, BYTES);
        let (mut all, mut granule) = (Recorded::Alone, granule);
        while masks != 0 {
            let mask = masks & 0xff;
            let access = Access { own, mask, kind };
            let cells = Pairs::load(granule.cells());
            if !access.is_in(cells) {
                all = all.and(access.record_quickly(past, granule, cells, site, false));
            }
            (masks, granule) = (masks >> 8, granule.after(1));
        }
        Some(all)
    });
    if recorded != Some(Recorded::Alone) {
        let disturbed = recorded == Some(Recorded::Disturbed);
        not_alone(address, BYTES, pc, kind::<WRITES>(), disturbed);
    }
}

/// The first granule of an access to memory in which there are no atomic locations, if it is within a page.
#[inline(always)]
fn within_page<const BYTES: usize>(address: usize) -> Option<Granule> {
    let is_within = address % PAGE <= PAGE - BYTES;
    let granule = Granule::existing(address).filter(|_| is_within)?;
    (!granule.has(HAS_BLOCKS)).then_some(granule)
}

/// An access to several granules, not all of which are recorded, or somebody accessed them at the same time.
#[cold]
extern "C" fn not_alone(address: usize, bytes: usize, pc: usize, kind: Kind, disturbed: bool) {
    tls::set_caller(pc);
    if disturbed && let Some(mut me) = thread::enter_access() {
        look_for_races(&mut me, address, bytes, kind);
    }
    tls::set_caller(pc);
    range(address, bytes, kind);
}

/// A plain access within a granule, in full.
#[cold]
extern "C" fn in_full<const WRITES: bool>(
    address: usize,
    pc: usize,
    mask: u64,
    context: &'static Context,
    granule: Granule,
) {
    tls::set_caller(pc);
    let Some(mut me) = context.enter() else {
        return;
    };
    let me = &mut me;
    if me.outermost != 0 {
        let bytes = mask.count_ones() as usize;
        match WRITES {
            true => sched::note_write(me, address, bytes),
            false => sched::note_read(me, address, bytes),
        }
        sched::stacks::check(me, address, bytes, kind::<WRITES>());
    }
    if me.ignored != 0 {
        return;
    }
    me.make_private();
    let (leaf, own, kind) = (me.leaf(), me.own, kind::<WRITES>());
    let access = Access { own, mask, kind };
    let (past, exact) = (me.state.hb().slice(), me.options.keeps_all());
    let race = access.record(past, granule, pack_site(leaf, own), exact);
    finish(me, address, access, granule, leaf, race);
}

/// What is left to do of a plain access that has its cell: it meets those that came at the same time, and atomic locations.
#[cold]
extern "C" fn meet<const WRITES: bool>(
    address: usize,
    pc: usize,
    mask: u64,
    context: &'static Context,
    granule: Granule,
) {
    tls::set_caller(pc);
    let Some(mut me) = context.enter() else {
        return;
    };
    let me = &mut me;
    let (leaf, own, kind) = (me.leaf(), me.own, kind::<WRITES>());
    let access = Access { own, mask, kind };
    let race = access.race(me.state.hb().slice(), granule);
    finish(me, address, access, granule, leaf, race);
}

/// A plain access within a granule has its cell, and races with that of another, or not: it meets atomic locations, and
/// what was found is reported.
fn finish(
    me: &mut Entered,
    address: usize,
    Access { mask, kind, .. }: Access,
    granule: Granule,
    leaf: Node,
    race: Option<Race>,
) {
    let bytes = mask.count_ones() as usize;
    let race = meet_locations(me, granule, (address, bytes), kind, leaf).or(race);
    if let Some(other) = race {
        report(me, address, bytes, kind, other, Function::NONE);
    }
}

/// A plain access of any size, about to be made.
pub extern "C" fn range(address: usize, bytes: usize, kind: Kind) {
    range_by(Function::NONE, address, bytes, kind);
}

/// The same if a function of libc makes it for the program.
pub fn range_by(function: Function, address: usize, bytes: usize, kind: Kind) {
    let Some(mut me) = thread::enter_access() else {
        return probe::plain(address, bytes, kind.writes());
    };
    let me = &mut me;
    if me.outermost != 0 {
        match kind.writes() {
            true => sched::note_write(me, address, bytes),
            false => sched::note_read(me, address, bytes),
        }
        sched::stacks::check(me, address, bytes, kind);
    }
    if me.ignored != 0 || bytes == 0 {
        return;
    }
    me.make_private();
    let leaf = me.call_leaf(function);
    let note = if kind.writes() {
        note::<true>
    } else {
        note::<false>
    };
    let mut found = None;
    for page in shadow::pages(address, bytes) {
        found = found.or(note(me, page, leaf));
    }
    if let Some((at, size, other)) = found {
        report(me, at, size, kind, other, function);
    }
}

/// A plain access to a part of a page.
fn note<const WRITES: bool>(
    me: &mut Entered,
    strip: Strip,
    leaf: Node,
) -> Option<(usize, usize, Race)> {
    let Strip {
        granule,
        start,
        end,
    } = strip;
    if granule.has(HAS_BLOCKS) || me.options.exact {
        return note_beside_locations::<WRITES>(me, strip, leaf);
    }
    let (own, kind) = (me.own, kind::<WRITES>());
    let (site, past) = (pack_site(leaf, own), me.state.hb().slice());
    let whole = Access {
        own,
        mask: 0xff,
        kind,
    };
    let mut found = None;
    let (mut at, mut granule) = (start, granule);
    loop {
        let offset = at & 7;
        if offset == 0 {
            let known = whole.known_from(granule, (end - at) / 8);
            (at, granule) = (at + 8 * known, granule.after(known));
        }
        if at >= end {
            return found;
        }
        let size = (8 - offset).min(end - at);
        let mask = mask(offset, size);
        let access = Access { own, mask, kind };
        let cells = Pairs::load(granule.cells());
        if !access.is_in(cells) {
            let race = access.record_or_race(past, granule, cells, site);
            found = found.or(race.map(|other| (at, size, other)));
            if size == 8 {
                let count = (end - at) / 8 - 1;
                let (more, race) = access.repeat(past, granule, count, cells, site);
                found = found.or(race.map(|(index, other)| (at + 8 * index, size, other)));
                (at, granule) = (at + 8 * more, granule.after(more));
            }
        }
        (at, granule) = (at + size, granule.after(1));
    }
}

/// The same where there may be atomic locations, which are met even if the access is known; or nothing may be forgotten.
#[inline(never)]
fn note_beside_locations<const WRITES: bool>(
    me: &mut Entered,
    Strip { start, end, .. }: Strip,
    leaf: Node,
) -> Option<(usize, usize, Race)> {
    let (own, kind, exact) = (me.own, kind::<WRITES>(), me.options.keeps_all());
    let site = pack_site(leaf, own);
    let mut found = None;
    for (granule, at, size) in granules(start, end - start) {
        let mask = mask(at & 7, size);
        let past = me.state.hb().slice();
        let race = (Access { own, mask, kind }).record(past, granule, site, exact);
        let race = meet_locations(me, granule, (at, size), kind, leaf).or(race);
        found = found.or(race.map(|other| (at, size, other)));
    }
    found
}

/// The granules of a range, each with the address and size of the part in it.
#[inline(always)]
fn granules(address: usize, bytes: usize) -> impl Iterator<Item = (Granule, usize, usize)> {
    let end = address.saturating_add(bytes);
    let mut at = address;
    std::iter::from_fn(move || {
        let (start, size) = (at, (8 - (at & 7)).min(end - at));
        at += size;
        let granule = (size > 0).then(|| Granule::of(start))?;
        Some((granule?, start, size))
    })
}

/// A plain access of bytes in a granule meets the atomic locations there, if there are any, for which a write is one in their modification
/// order. Returns what it races with.
#[inline(always)]
fn meet_locations(
    me: &mut Entered,
    granule: Granule,
    part: (usize, usize),
    kind: Kind,
    leaf: Node,
) -> Option<Race> {
    let may_have_some = granule.has(HAS_BLOCKS);
    may_have_some.then(|| meet_known_locations(me, granule, part, kind, leaf))?
}

#[inline(never)]
fn meet_known_locations(
    me: &mut Entered,
    granule: Granule,
    (start, bytes): (usize, usize),
    kind: Kind,
    leaf: Node,
) -> Option<Race> {
    if sched::weak::is_active() {
        sched::weak::plain(&mut me.state, start, bytes, kind.writes());
    }
    let mut locked = Locked::existing(granule)?;
    let write = WriteSite {
        leaf,
        operation: Operation::PlainWrite,
        order: None,
    };
    let is_write = kind == Kind::WRITE;
    if is_write {
        locked.announce_write();
    }
    let body: &mut Body = me;
    let mut race = None;
    let mut any = false;
    for location in locked.overlapping(start, start + bytes) {
        any = true;
        let atomic = location.unordered(&body.state, kind.writes());
        race = race.or(atomic.map(|(kind, stamp, leaf)| cells::atomic(kind, stamp, leaf)));
        if is_write {
            let known = body.state.past_version();
            location.plain_write(&mut body.state, write, body.options);
            let learnt = body.state.past_version() != known;
            location.accessed(&body.state, &mut body.trail, write, learnt);
        }
    }
    if any && kind.writes() {
        sched::overwrite();
    }
    for sync in locked.syncs(start, start + bytes) {
        if is_write {
            sync.renew();
        }
        if kind == Kind::FREE && body.options.sync_objects && race.is_none() {
            let used = sync.unordered(body);
            race = used.map(|used| cells::used(used.at, used.by.site));
        }
    }
    race
}

answers! {
    "rsan_up_plain_access" probe::plain_access => plain_access;
}

/// A plain access of a process that only finds something out.
fn plain_access(address: usize, bytes: usize, kind: Kind) {
    range(address, bytes, kind);
}
