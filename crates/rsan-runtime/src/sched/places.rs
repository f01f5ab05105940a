//! Places of the program as numbers that are the same in every run of it.

use crate::lock::Lock;
use crate::modules::{self, Module};
use rsan_schedule::strategy::place;
use std::collections::BTreeMap;

/// What was looked up.
struct Places {
    modules: Vec<Module>,
    known: BTreeMap<usize, u64>,
}

static PLACES: Lock<Option<Places>> = Lock::new(None);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    PLACES.raw()
}

/// Looks up the modules, for all runs.
pub(super) fn prepare() {
    of(0);
}

/// The number of the place that a call returns to.
pub(super) fn of(pc: usize) -> u64 {
    let mut places = PLACES.lock();
    let places = places.get_or_insert_with(|| Places {
        modules: modules::modules(),
        known: BTreeMap::new(),
    });
    if let Some(place) = places.known.get(&pc) {
        return *place;
    }
    let call = pc.saturating_sub(1);
    if modules::find(&places.modules, call).is_none() {
        // It may have been loaded meanwhile.
        places.modules = modules::modules();
    }
    let number = match modules::find(&places.modules, call) {
        Some((module, offset)) => place(&module.path, offset as u64),
        None => place("", call as u64),
    };
    places.known.insert(pc, number);
    number
}
