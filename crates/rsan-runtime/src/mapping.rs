//! Fresh memory from the system, for tables and records of the runtime.
//!
//! Programs look at the size of their process, to see whether something leaks. So address space for what comes later is *reserved* once, at
//! the start, and taken into use from its beginning on: the size does not move. What is reserved cannot be used, and takes no memory.
//! Where the system refuses it, or the address space is limited (`ulimit -v`), and when there is nothing left of it, memory is mapped
//! when it is needed.
//!
//! What describes the program's memory has an area of its own ([`map_described`]): it is left out of some copies of the process, by one call for all of it.

mod noted;

pub(crate) use noted::{forget, note, own};

use crate::fatal::not_mapped;
use crate::system::system_call;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Bytes of address space for each area: for programs of 36 GiB, and as much again for everything else.
const RESERVED: usize = 1 << 38;
const PAGE: usize = 4096;
/// A huge page of the processor.
const HUGE: usize = 1 << 21;

/// Address space, and what of it is not in use yet.
#[derive(Debug)]
struct Area {
    next: AtomicUsize,
    end: AtomicUsize,
}

/// For what describes the program's memory.
static DESCRIBED: Area = Area::none();
/// For everything else.
static OTHERS: Area = Area::none();

impl Area {
    const fn none() -> Self {
        Self {
            next: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
        }
    }

    fn reserve(&self) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let unusable = libc::PROT_NONE as usize;
        let arguments = [0, RESERVED, unusable, flags as usize, usize::MAX, 0];
        // SAFETY: a fresh mapping, which cannot be used yet.
        let place = unsafe { system_call(libc::SYS_mmap, arguments) };
        if place > 0 {
            let place = place as usize;
            // ORDERING: relaxed; there is one thread.
            self.end.store(place + RESERVED, Ordering::Relaxed);
            // ORDERING: relaxed, as above.
            self.next.store(place, Ordering::Relaxed);
        }
    }

    /// Zeroed memory of the area, if there is some.
    fn take(&self, size: usize, align: usize) -> Option<usize> {
        // ORDERING: relaxed; nothing is published by it.
        let end = self.end.load(Ordering::Relaxed);
        let room = |next: usize| {
            let start = next.checked_next_multiple_of(align)?;
            let after = start.checked_add(size)?.checked_next_multiple_of(PAGE)?;
            (after <= end).then_some((start, after))
        };
        let after = |next| room(next).map(|(_, after)| after);
        // ORDERING: relaxed; each part goes to one taker.
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        let (start, after) = room(taken.ok()?)?;
        let usable = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        // SAFETY: a part of the area that nobody else was given.
        let result =
            unsafe { system_call(libc::SYS_mprotect, [start, after - start, usable, 0, 0, 0]) };
        (result == 0).then_some(start)
    }

    /// What is not in use is given back.
    fn give_up(&self) {
        // ORDERING: relaxed; it does not change after the start.
        let end = self.end.load(Ordering::Relaxed);
        // ORDERING: relaxed; whoever takes memory later finds nothing.
        let next = self.next.swap(end, Ordering::Relaxed);
        if next < end {
            // SAFETY: a part of the area that nobody has, nor will have.
            unsafe { system_call(libc::SYS_munmap, [next, end - next, 0, 0, 0, 0]) };
        }
    }
}

/// Reserves address space. To be called once, by the only thread.
pub(crate) fn start() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is filled in.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if known && limit.rlim_cur == libc::RLIM_INFINITY {
        DESCRIBED.reserve();
        OTHERS.reserve();
    }
}

/// The address space is about to be limited: the program needs what is left of it.
pub(crate) fn give_up() {
    DESCRIBED.give_up();
    OTHERS.give_up();
}

/// Fresh zeroed memory for a `T` that is valid when all bytes are zero. Aborts if there is none.
pub(crate) fn map_zeroed<T>(count: usize) -> *mut T {
    zeroed(&OTHERS, count)
}

/// The same for what describes the program's memory.
pub(crate) fn map_described<T>() -> *mut T {
    zeroed(&DESCRIBED, 1)
}

fn zeroed<T>(area: &Area, count: usize) -> *mut T {
    let size = count * size_of::<T>();
    let place = area.take(size, PAGE).unwrap_or_else(|| map(size));
    // SAFETY: advice for a mapping of our own. Huge pages would fill in what stays empty.
    unsafe { libc::syscall(libc::SYS_madvise, place, size, libc::MADV_NOHUGEPAGE) };
    note(place, size.next_multiple_of(PAGE));
    place as *mut T
}

/// As many as fit in a huge page of the processor, where the system has one for us; for what will all be used, and in no
/// order.
pub(crate) fn map_huge<T>() -> *mut [T] {
    let start = OTHERS.take(HUGE, HUGE).unwrap_or_else(|| {
        let place = map(2 * HUGE);
        let start = place.next_multiple_of(HUGE);
        // SAFETY: what is unmapped is the rest of our own mapping.
        unsafe {
            libc::syscall(libc::SYS_munmap, place, start - place);
            libc::syscall(libc::SYS_munmap, start + HUGE, place + HUGE - start);
        }
        start
    });
    // SAFETY: advice for memory of our own.
    unsafe { libc::syscall(libc::SYS_madvise, start, HUGE, libc::MADV_HUGEPAGE) };
    note(start, HUGE);
    std::ptr::slice_from_raw_parts_mut(start as *mut T, HUGE / size_of::<T>())
}

/// Fresh zeroed memory, or the negative number of the system's error.
pub(crate) fn map_bytes(size: usize) -> isize {
    if let Some(place) = OTHERS.take(size, PAGE) {
        return place as isize;
    }
    map_anywhere(size)
}

/// The same, from the system; it is to be given back to it.
pub(crate) fn map_anywhere(size: usize) -> isize {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let arguments = [0, size, protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: a fresh private mapping; nothing else is touched. The call is made directly, for `mmap` is intercepted.
    unsafe { system_call(libc::SYS_mmap, arguments) }
}

fn map(size: usize) -> usize {
    match map_anywhere(size) {
        place if place > 0 => place as usize,
        error => not_mapped(error, "the shadow"),
    }
}

/// Fresh memory that two threads have mapped for the same purpose: one of them keeps it for the next time.
#[derive(Debug)]
pub(crate) struct Spare<T>([AtomicPtr<T>; SPARES]);

const SPARES: usize = 8;

impl<T> Spare<T> {
    pub(crate) const fn none() -> Self {
        Self([const { AtomicPtr::new(std::ptr::null_mut()) }; SPARES])
    }

    /// What was kept, or what `map` gives.
    pub(crate) fn or(&self, map: impl FnOnce() -> *mut T) -> *mut T {
        // ORDERING: relaxed; nobody has written to it.
        let mut places = self
            .0
            .iter()
            .map(|place| place.swap(std::ptr::null_mut(), Ordering::Relaxed));
        places.find(|kept| !kept.is_null()).unwrap_or_else(map)
    }

    /// Keeps what [`Spare::or`] gave and nobody has used.
    pub(crate) fn keep(&self, fresh: *mut T) {
        let none = std::ptr::null_mut();
        // ORDERING: relaxed; as above.
        let keep = |place: &AtomicPtr<T>| {
            place.compare_exchange(none, fresh, Ordering::Relaxed, Ordering::Relaxed)
        };
        if self.0.iter().all(|place| keep(place).is_err()) {
            forget(fresh as usize);
            // SAFETY: a mapping of ours that nobody else knows.
            unsafe {
                system_call(
                    libc::SYS_munmap,
                    [fresh as usize, size_of::<T>(), 0, 0, 0, 0],
                )
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_taken_from_its_beginning_on_until_it_is_given_up() {
        let area = Area::none();
        assert_eq!(area.take(1, PAGE), None);
        area.reserve();
        let first = area.take(1, PAGE).expect("there is room");
        assert_eq!(area.take(3 * PAGE, PAGE), Some(first + PAGE));
        let huge = area.take(HUGE, HUGE).expect("there is room");
        assert_eq!(huge, (first + 4 * PAGE).next_multiple_of(HUGE));
        // SAFETY: memory that was taken, within its bounds.
        unsafe {
            let last = (huge + HUGE - 1) as *mut u8;
            assert_eq!(last.read(), 0);
            last.write(1);
        }
        assert_eq!(area.take(RESERVED, PAGE), None);
        area.give_up();
        assert_eq!(area.take(1, PAGE), None);
        area.give_up();
        // SAFETY: what was taken before is still there.
        unsafe {
            assert_eq!(((huge + HUGE - 1) as *const u8).read(), 1);
            let rest = [first, huge + HUGE - first, 0, 0, 0, 0];
            assert_eq!(system_call(libc::SYS_munmap, rest), 0);
        }
    }

    #[test]
    fn what_is_kept_is_used_next() {
        let spare = Spare::<[u8; PAGE]>::none();
        let all: Vec<_> = (0..=SPARES)
            .map(|_| map_described::<[u8; PAGE]>())
            .collect();
        for fresh in &all {
            spare.keep(*fresh);
        }
        for kept in &all[..SPARES] {
            assert_eq!(spare.or(|| unreachable!("there is one")), *kept);
        }
        assert_eq!(spare.or(|| all[0]), all[0]);
    }
}
