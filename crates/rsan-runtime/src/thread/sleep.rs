//! Sleeping orders nothing. A race whose accesses have one in between is reported with it, for that is where somebody thought of an
//! order.

use super::registry::REGISTRY;
use super::{Body, enter};
use crate::stack::Site;
use rsan_clocks::write_log::{Epoch, Slot, Stamp};

/// A thread has slept.
#[derive(Debug)]
pub struct Slept {
    site: Site,
    /// How far other threads were afterwards.
    others: Vec<Stamp>,
}

/// The calling thread has slept. What others do is looked at without their help: a stamp is one word, and an old one is
/// as good.
pub(crate) fn slept() {
    let Some(mut me) = enter() else { return };
    let mut others = Vec::new();
    if let Some(registry) = REGISTRY.lock().as_ref() {
        for entry in registry.threads.values() {
            // SAFETY: contexts of the registry are there while its lock is held. The word may change meanwhile, and
            // is read in one go.
            let own = unsafe { (&raw const (*(*entry.context.0).body.get()).own).read_volatile() };
            others.push(Stamp {
                slot: Slot((own >> 48) as u16),
                epoch: Epoch::new((own >> 16) as u32),
            });
        }
    }
    let site = me.site();
    me.slept = Some(Box::new(Slept { site, others }));
}

impl Body {
    /// Where the thread slept after another thread's access.
    pub(crate) fn slept_since(&self, access: Stamp) -> Option<Site> {
        let Slept { site, others } = &**self.slept.as_ref()?;
        let is_before = |other: &Stamp| other.slot == access.slot && access.epoch <= other.epoch;
        others.iter().any(is_before).then_some(*site)
    }
}
