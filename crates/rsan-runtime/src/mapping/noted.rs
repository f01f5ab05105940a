//! Which mappings are the runtime's own: what the program does cannot depend on what is there.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Mappings of the runtime that are remembered. One that is not is only taken for the program's.
const OWN: usize = 1024;

static NUMBER: AtomicUsize = AtomicUsize::new(0);
/// The start and the end of each; zeroes if it is gone.
static MAPPED: [[AtomicUsize; 2]; OWN] = [const { [const { AtomicUsize::new(0) }; 2] }; OWN];

/// The runtime has mapped memory for itself.
pub(crate) fn note(start: usize, bytes: usize) {
    // ORDERING: relaxed, here and below; they are looked at where there is one thread.
    let index = NUMBER.fetch_add(1, Ordering::Relaxed);
    if let Some([from, to]) = MAPPED.get(index) {
        // ORDERING: relaxed, as above.
        from.store(start, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        to.store(start + bytes, Ordering::Relaxed);
    }
}

/// It gives back such memory.
pub(crate) fn forget(start: usize) {
    // ORDERING: relaxed, as in `note`.
    let found = MAPPED
        .iter()
        .find(|part| part[0].load(Ordering::Relaxed) == start);
    if let Some([from, to]) = found {
        // ORDERING: relaxed, as above.
        to.store(0, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        from.store(0, Ordering::Relaxed);
    }
}

/// Memory of the runtime alone: starts and ends. To be asked where there is one thread.
pub(crate) fn own() -> impl Iterator<Item = (usize, usize)> {
    // ORDERING: relaxed, as in `note`.
    let number = NUMBER.load(Ordering::Relaxed).min(OWN);
    // ORDERING: relaxed, as above.
    let word = |word: &AtomicUsize| word.load(Ordering::Relaxed);
    MAPPED[..number]
        .iter()
        .map(move |[start, end]| (word(start), word(end)))
}
