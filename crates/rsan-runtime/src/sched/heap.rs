//! Memory of the program whose addresses do not depend on the schedule.
//!
//! An exhaustive search compares runs, so a thread has to get the same addresses whatever the others do. Each thread has
//! an area of its own, at an address that follows from who has created it, and how many before it ([`home`]). It gets its blocks
//! from there, one after the other, and its stack, on which libc also has its thread-local memory and what its handle points to.
//! Nothing is used again: whether a freed block is used again by another thread would depend on the schedule.

use super::home_of;
use super::state::State;
use libc::{c_int, c_void, pthread_attr_t};
use rsan_model::ThreadId;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Where the areas begin, and the distance between them.
const BASE: usize = 0x6000_0000_0000;
const DISTANCE: usize = 1 << 30;
/// Bytes for blocks in an area; later ones are libc's.
const AREA: usize = 64 << 20;
/// Where the stack is in an area, and how large it is at most.
const STACK: usize = 512 << 20;
const LARGEST: usize = 256 << 20;
const PAGE: usize = 4096;
/// Areas.
const HOMES: usize = 1 << 14;
/// Threads with blocks in their areas.
const THREADS: usize = 64;

/// The area of a thread: 0 is that of the first one, and those that it creates have the next ones. Others have one that follows
/// from that of their creator; two of them may have the same, but hardly ever.
pub(super) fn home(creator: usize, child: usize) -> usize {
    if creator == 0 && child < THREADS {
        return child;
    }
    let mixed = (creator << 32 | child).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    THREADS + mixed % (HOMES - THREADS)
}

/// By thread: bytes in use.
static USED: [AtomicUsize; THREADS] = [const { AtomicUsize::new(0) }; THREADS];

/// What libc has before a block: twice a word, the second with the size and a flag. `malloc_usable_size` reads it.
const HEADER: usize = 16;
const MAPPED: usize = 2;

impl State {
    /// Where the memory of the next thread is that the current one creates.
    pub(super) fn next_home(&self) -> Option<usize> {
        let creator = self.threads.get(self.current)?.as_deref();
        let creator = creator.filter(|_| self.steady)?;
        let next = home(creator.home?, creator.children + 1);
        let mut threads = self.threads.iter().flatten();
        threads
            .all(|thread| thread.home != Some(next))
            .then_some(next)
    }
}

/// From now on threads get their memory here.
pub(super) fn start() {
    // ORDERING: relaxed; there is one thread.
    ON.store(true, Ordering::Relaxed);
}

/// Whether a block is from here.
#[inline]
pub(crate) fn owns(block: *mut c_void) -> bool {
    (BASE..BASE + HOMES * DISTANCE).contains(&(block as usize))
}

/// A block of zeroed memory, if the calling thread gets its memory here.
#[inline]
pub(crate) fn allocate(bytes: usize, align: usize) -> Option<*mut c_void> {
    super::touch();
    // ORDERING: relaxed; see `start`.
    if ON.load(Ordering::Relaxed) {
        from_area(bytes, align)
    } else {
        None
    }
}

#[cold]
fn from_area(bytes: usize, align: usize) -> Option<*mut c_void> {
    let (number, home) = home_of(None)?;
    let used = USED.get(number.index())?;
    let area = BASE + home * DISTANCE;
    // ORDERING: relaxed; only the thread itself uses its area.
    let before = used.load(Ordering::Relaxed);
    if before == 0 {
        map(area, AREA)?;
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

/// The attributes of a thread that is about to be created, with the stack that it is to have. `None` if that is libc's business.
///
/// # Safety
/// The attributes are null or valid. What is returned is used as long as they are.
pub(crate) unsafe fn with_stack(
    child: ThreadId,
    attr: *const pthread_attr_t,
) -> Option<pthread_attr_t> {
    // ORDERING: relaxed; see `start`.
    if !ON.load(Ordering::Relaxed) {
        return None;
    }
    let (_, home) = home_of(Some(child))?;
    // SAFETY: the caller's promise; new ones are filled in before they are read. A copy has what the others have.
    let (mut new, stack, mut bytes) = unsafe {
        let mut new = std::mem::zeroed::<pthread_attr_t>();
        if attr.is_null() {
            libc::pthread_attr_init(&raw mut new);
        } else {
            new = *attr;
        }
        let (mut stack, mut own, mut bytes) = (std::ptr::null_mut(), 0, 0);
        libc::pthread_attr_getstack(&raw const new, &raw mut stack, &raw mut own);
        libc::pthread_attr_getstacksize(&raw const new, &raw mut bytes);
        (new, stack.wrapping_byte_add(own), bytes)
    };
    bytes = bytes.checked_next_multiple_of(PAGE)?;
    if !stack.is_null() || bytes > LARGEST {
        return None;
    }
    // The first page is not there: a stack that is too small is noticed.
    let lowest = BASE + home * DISTANCE + STACK + PAGE;
    map(lowest, bytes)?;
    // SAFETY: attributes from above, and memory for the stack.
    let set = unsafe { libc::pthread_attr_setstack(&raw mut new, lowest as *mut c_void, bytes) };
    (set == 0).then_some(new)
}

/// Bytes below a stack that is not there, so that one that is too small is noticed; `None` if the stack is not from here.
pub(crate) fn guard_below(lowest: usize) -> Option<usize> {
    let area = lowest.checked_sub(BASE)?;
    (area / DISTANCE < HOMES && area % DISTANCE == STACK + PAGE).then_some(PAGE)
}

/// Maps memory where none is yet.
fn map(area: usize, bytes: usize) -> Option<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags: c_int =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let arguments = [
        area,
        bytes,
        protection as usize,
        flags as usize,
        usize::MAX,
        0,
    ];
    // SAFETY: a new mapping that replaces none.
    let place = unsafe { crate::system::system_call(libc::SYS_mmap, arguments) };
    (place == area as isize).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_areas_of_their_own() {
        let children = (1..200).map(|child| home(0, child));
        let nested = (1..8).flat_map(|creator| (1..8).map(move |child| home(creator, child)));
        let all: Vec<_> = std::iter::once(0).chain(children).chain(nested).collect();
        assert!(all.iter().all(|home| *home < HOMES));
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
