//! Fresh memory from the system, for tables of the runtime.

use crate::fatal::not_mapped;
use crate::system::system_call;
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

/// Fresh zeroed memory for a `T` that is valid when all bytes are zero. Aborts if there is none.
pub(crate) fn map_zeroed<T>(count: usize) -> *mut T {
    let size = count * size_of::<T>();
    let place = map(size);
    // SAFETY: advice for a mapping of our own. Huge pages would fill in what stays empty.
    unsafe { libc::syscall(libc::SYS_madvise, place, size, libc::MADV_NOHUGEPAGE) };
    note(place, size.next_multiple_of(PAGE));
    place as *mut T
}

const PAGE: usize = 4096;

/// As many as fit in a huge page of the processor, where the system has one for us; for what will all be used, and in no
/// order.
pub(crate) fn map_huge<T>() -> *mut [T] {
    const HUGE: usize = 1 << 21;
    let place = map(2 * HUGE);
    let start = place.next_multiple_of(HUGE);
    // SAFETY: what is unmapped is the rest of our own mapping, and the advice is for what is left.
    unsafe {
        libc::syscall(libc::SYS_munmap, place, start - place);
        libc::syscall(libc::SYS_munmap, start + HUGE, place + HUGE - start);
        libc::syscall(libc::SYS_madvise, start, HUGE, libc::MADV_HUGEPAGE);
    }
    note(start, HUGE);
    std::ptr::slice_from_raw_parts_mut(start as *mut T, HUGE / size_of::<T>())
}

/// The system call is made directly, for `mmap` is intercepted.
fn map(size: usize) -> usize {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let arguments = [0, size, protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: a fresh private mapping; nothing else is touched.
    let place = unsafe { system_call(libc::SYS_mmap, arguments) };
    if place <= 0 {
        not_mapped(place, "the shadow");
    }
    place as usize
}
