//! Fresh memory from the system, for tables of the runtime.

use crate::fatal::not_mapped;
use crate::system::system_call;

/// Fresh zeroed memory for a `T` that is valid when all bytes are zero. Aborts if there is none.
pub(crate) fn map_zeroed<T>(count: usize) -> *mut T {
    let size = count * size_of::<T>();
    let place = map(size);
    // SAFETY: advice for a mapping of our own. Huge pages would fill in what stays empty.
    unsafe { libc::syscall(libc::SYS_madvise, place, size, libc::MADV_NOHUGEPAGE) };
    place as *mut T
}

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
