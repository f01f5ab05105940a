//! Memory of the program whose addresses do not depend on the schedule.
//!
//! An exhaustive search compares runs, so a thread has to get the same addresses whatever the others do. Each thread has
//! an area of its own, at an address that follows from its number, from which it gets its blocks one after the other.
//! Nothing is used again: whether a freed block is used again by another thread would depend on the schedule.

use super::number;
use libc::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Where the areas begin, and the distance between them.
const BASE: usize = 0x6000_0000_0000;
const DISTANCE: usize = 1 << 30;
/// Bytes of an area; later blocks are libc's.
const AREA: usize = 64 << 20;
/// Threads with an area.
const THREADS: usize = 64;

/// By thread: bytes in use.
static USED: [AtomicUsize; THREADS] = [const { AtomicUsize::new(0) }; THREADS];

/// What libc has before a block: twice a word, the second with the size and a flag. `malloc_usable_size` reads it.
const HEADER: usize = 16;
const MAPPED: usize = 2;

/// From now on threads get their memory here.
pub(super) fn start() {
    // ORDERING: relaxed; there is one thread.
    ON.store(true, Ordering::Relaxed);
}

/// Whether a block is from here.
#[inline]
pub(crate) fn owns(block: *mut c_void) -> bool {
    (BASE..BASE + THREADS * DISTANCE).contains(&(block as usize))
}

/// A block of zeroed memory, if the calling thread gets its memory here.
#[inline]
pub(crate) fn allocate(bytes: usize, align: usize) -> Option<*mut c_void> {
    // ORDERING: relaxed; see `start`.
    if ON.load(Ordering::Relaxed) {
        from_area(bytes, align)
    } else {
        None
    }
}

#[cold]
fn from_area(bytes: usize, align: usize) -> Option<*mut c_void> {
    let number = number()?.index();
    let used = USED.get(number)?;
    let area = BASE + number * DISTANCE;
    // ORDERING: relaxed; only the thread itself uses its area.
    let before = used.load(Ordering::Relaxed);
    if before == 0 {
        map(area)?;
    }
    let align = align.max(HEADER);
    let start = (area + before + HEADER).checked_next_multiple_of(align)?;
    let room = bytes.max(1).checked_next_multiple_of(HEADER)?;
    let after = (start - area).checked_add(room)?;
    if after > AREA {
        return None;
    }
    used.store(after, Ordering::Relaxed);
    // SAFETY: within the area, and behind all other blocks.
    unsafe { ((start - size_of::<usize>()) as *mut usize).write((room + HEADER) | MAPPED) };
    Some(start as *mut c_void)
}

/// Makes an area. It is not there yet, or something else is.
fn map(area: usize) -> Option<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags: c_int =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let arguments = [
        area,
        AREA,
        protection as usize,
        flags as usize,
        usize::MAX,
        0,
    ];
    // SAFETY: a new mapping that replaces none.
    let place = unsafe { crate::system::system_call(libc::SYS_mmap, arguments) };
    (place == area as isize).then_some(())
}
