//! Whether there is anything to look at in this process.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether anything is to be seen: not known yet, no, or yes.
static AWAKE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const ASLEEP: u8 = 1;
const AWAKE_NOW: u8 = 2;

/// Whether there is something to look at in this process. `rsan run` preloads the library: into programs that have nothing
/// to do with it, too. There it does only what it is called for, and takes no memory, until a library that was compiled for it
/// is loaded ([`wake`]).
pub(crate) fn is_awake() -> bool {
    // ORDERING: relaxed; whoever decides, decides alike.
    match AWAKE.load(Ordering::Relaxed) {
        UNKNOWN => decide(),
        state => state == AWAKE_NOW,
    }
}

#[cold]
fn decide() -> bool {
    let wanted = cfg!(test) || crate::symbols::is_wanted();
    let state = if wanted { AWAKE_NOW } else { ASLEEP };
    // ORDERING: relaxed; see `is_awake`. Nobody is told otherwise before.
    AWAKE.store(state, Ordering::Relaxed);
    wanted
}

/// Code that was compiled for the runtime is there.
pub(crate) fn wake() {
    // ORDERING: relaxed; see `is_awake`.
    AWAKE.store(AWAKE_NOW, Ordering::Relaxed);
}
