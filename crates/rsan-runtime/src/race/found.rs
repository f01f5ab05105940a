//! A race was found: what is reported.

use super::cells::{self, Race, Remembered, unpack_site};
use super::free;
use crate::chain::{Along, Search};
use crate::descriptor;
use crate::finding::{self, Finding, Holding, Misuse, Side};
use crate::shadow::Kind;
use crate::stack::Function;
use crate::thread::{self, Body, Entered};
use crate::trail::{Act, Place, Step};
use rsan_model::RmwOrd;

/// What is known of the locks of a plain access; epochs say nothing about atomic ones.
pub(super) fn holding(me: &Body, is_plain: bool, epoch: u32) -> Holding {
    match is_plain && !me.options.exact {
        true => Holding::At(epoch),
        false => Holding::Unknown,
    }
}

/// A use and a close, or two closes, that are not ordered.
#[cold]
fn report_descriptor(
    me: &mut Entered,
    address: usize,
    (kind, function): (Kind, Function),
    (other, earlier): (Kind, Side),
) {
    let name = |kind| match kind {
        Kind::READ => finding::Operation::Use,
        _ => finding::Operation::Close,
    };
    let finding = Finding::Misuse {
        what: Misuse::Descriptor,
        address,
        bytes: 0,
        access: Side::plain(Some(me.state.id()), name(kind), me.site()).by(function),
        earlier: Some(Side {
            operation: name(other),
            ..earlier
        }),
    };
    crate::report::report(me, &finding);
}

#[cold]
pub(super) fn report(
    me: &mut Entered,
    address: usize,
    bytes: usize,
    kind: Kind,
    (cell, word): Race,
    function: Function,
) {
    let other = Remembered::from_cell(cell);
    if descriptor::at(address).is_some() {
        let (site, by) = unpack_site(word, cell);
        let earlier =
            Side::plain(thread::owner(other.stamp()), other.kind.operation(), site).by(by);
        return report_descriptor(me, address, (kind, function), (other.kind, earlier));
    }
    if !me.options.races {
        return;
    }
    if other.kind == Kind::FREE && cells::is_after(me.own, me.state.hb().slice(), cell) {
        return free::used(me, address, bytes, kind, function);
    }
    let (site, by) = unpack_site(word, cell);
    let finding = Finding::Race {
        address,
        bytes,
        access: Side {
            slept: me.slept_since(other.stamp()),
            ..Side::plain(Some(me.state.id()), kind.operation(), me.site())
                .by(function)
                .holding(holding(me, true, u32::MAX))
        },
        earlier: Side::plain(thread::owner(other.stamp()), other.kind.operation(), site)
            .by(by)
            .holding(holding(
                me,
                other.kind.is_plain(),
                other.stamp().epoch.number(),
            )),
        search: search(me, address, kind, other),
    };
    crate::report::report(me, &finding);
}

/// What the chain of accesses is looked for with that would order an access after an earlier one, were its orders
/// strong enough. What an atomic access itself has just learnt does not order it.
fn search(me: &Body, address: usize, kind: Kind, other: Remembered) -> Option<Search> {
    let thread = thread::owner(other.stamp())?;
    let step = |act| Step::new(&me.state, &me.trail, act, RmwOrd::Relaxed, Place::line(0));
    let earlier = match other.kind {
        Kind::ATOMIC_WRITE => Act::Store,
        _ => Act::Plain,
    };
    let epoch = other.stamp().epoch.number();
    let position = match kind.is_plain() {
        true => me.trail.position(),
        false => me.trail.position_before(address),
    };
    Some(Search {
        access: Step {
            position,
            ..step(Act::Plain)
        },
        missed: Step {
            thread,
            epoch,
            ..step(earlier)
        },
        address,
        along: Along::Synchronisation,
    })
}
