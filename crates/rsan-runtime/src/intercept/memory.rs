//! Allocation of memory, which begins and ends the life of locations.
//!
//! These functions are also called by this library itself, by libc and before the runtime starts; then they only
//! do their work.

use super::lifetime;
use crate::entry::interceptors;
use crate::hooks;
use crate::race;
use crate::real;
use crate::sched::heap as steady;
use crate::sched::reuse;
use crate::thread::{Context, Entered, current, enter_if_attached};
use crate::{callers, handler, heap, sched, shadow, tls};
use libc::{c_int, c_void, off_t};
use rsan_log::Operation;

/// A freed block is checked for races, and remembered as freed, up to this many bytes, unless nothing may be forgotten.
const FREED: usize = 1024;

/// A new block is marked as allocated up to this many bytes.
const ALLOCATED: usize = 256;

/// The same for both under controlled scheduling.
const SCHEDULED: usize = 16 << 20;

/// Memory that is unmapped, or mapped over, is checked for races up to this many bytes.
const UNMAPPED: usize = 16 << 20;

/// The program got a block of the allocator, which may be larger than it asked for.
fn born_block(block: *mut c_void, asked: usize) {
    if block.is_null() {
        return;
    }
    if note_block(block, asked) {
        hooks::allocated(block, asked);
    }
}

/// The same without telling the program. False if the runtime itself allocates, or the thread was not seen yet.
fn note_block(block: *mut c_void, asked: usize) -> bool {
    let caller = tls::caller();
    let Some(mut me) = enter_if_attached() else {
        heap::allocated_unseen(block as usize, asked);
        if current().is_some_and(Context::is_hidden) {
            // Its creator is private; whoever gets the block, and frees all of it, need not be.
            // SAFETY: a block of the allocator.
            let bytes = unsafe { libc::malloc_usable_size(block) };
            shadow::forget(block as usize, bytes);
        }
        return false;
    };
    // SAFETY: a block of the allocator.
    let bytes = unsafe { libc::malloc_usable_size(block) };
    begin_life(&mut me, caller, block as usize, bytes);
    heap::allocated(&mut me, block as usize, asked);
    if me.handling != 0 {
        handler::called_by(&mut me, Operation::Allocation);
    }
    true
}

/// Nothing is known of new memory. Who uses it comes after its allocation, or there is a race. What the standard library allocates
/// may be handed from thread to thread by means that are not seen, so only a schedule of ours marks it.
fn begin_life(me: &mut Entered, caller: usize, start: usize, bytes: usize) {
    let (is_marked, most) = match sched::active() {
        true => (callers::is_instrumented(caller), SCHEDULED),
        false => (
            me.options.allocations && callers::is_of_program(caller),
            ALLOCATED,
        ),
    };
    if !is_marked || !me.options.races || me.ignored != 0 {
        return shadow::forget(start, bytes);
    }
    let marked = bytes.min(most);
    if sched::active() {
        shadow::forget(start, marked);
    } else {
        // The cells are all written below.
        shadow::forget_locations(start, marked);
    }
    shadow::forget(start + marked, bytes - marked);
    race::allocate(me, start, marked);
}

/// The program got memory.
fn born(block: *mut c_void, bytes: usize) {
    let caller = tls::caller();
    if !block.is_null()
        && let Some(mut me) = enter_if_attached()
    {
        begin_life(&mut me, caller, block as usize, bytes);
        if sched::active() {
            sched::stacks::forget(block as usize, (block as usize).saturating_add(bytes));
        }
    }
}

/// Memory of the program is no more, or is about to be replaced: that is a write of it.
fn ended(block: *mut c_void, bytes: usize) {
    let caller = tls::caller();
    if current().is_some_and(|context| !context.is_busy()) && callers::is_of_program(caller) {
        race::unmap(block as usize, bytes.min(UNMAPPED));
        tls::set_caller(caller);
    }
    if let Some(_me) = enter_if_attached() {
        forget(block as usize, bytes);
    }
}

fn forget(start: usize, bytes: usize) {
    shadow::forget(start, bytes);
    if sched::active() {
        sched::stacks::forget(start, start.saturating_add(bytes));
    }
}

/// The program gives memory back: the locations are forgotten, and that counts as a write. False: there is no such block,
/// and the allocator must not be told.
fn died(block: *mut c_void) -> bool {
    if block.is_null() {
        return true;
    }
    if current().is_none_or(|context| context.is_busy()) {
        heap::freed_unseen(block as usize);
        return true;
    }
    hooks::frees(block);
    let caller = tls::caller();
    let checked = callers::is_instrumented(caller);
    if checked && lifetime::is_wrong_free(block as usize) {
        return false;
    }
    // SAFETY: a block of the allocator, as the program says.
    let bytes = unsafe { libc::malloc_usable_size(block) };
    if checked {
        let exact = crate::options::current().is_some_and(|options| options.exact);
        let most = match exact {
            true => usize::MAX,
            false if sched::active() => SCHEDULED,
            false => FREED,
        };
        tls::set_caller(caller);
        race::free(block as usize, bytes.min(most));
        // The runtime may have copied memory of its own.
        tls::set_caller(caller);
    }
    if let Some(mut me) = enter_if_attached() {
        if checked || me.closing == block as usize {
            me.closing = 0;
            shadow::forget_locations(block as usize, bytes);
        } else {
            shadow::forget(block as usize, bytes);
        }
        heap::freed(&mut me, block as usize);
        if me.handling != 0 {
            handler::called_by(&mut me, Operation::Free);
        }
    }
    true
}

/// Runs the allocator while the thread is busy: a signal handler must not enter the runtime now, for the runtime
/// may need the allocator.
fn quietly<R>(allocate: impl FnOnce() -> R) -> R {
    let _me = enter_if_attached();
    allocate()
}

pub(super) unsafe extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    let malloc = || quietly(|| unsafe { real::malloc(bytes) });
    let block = steady::allocate(bytes, 0).unwrap_or_else(malloc);
    born_block(block, bytes);
    block
}

unsafe extern "C" fn allocate_zeroed(count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    let calloc = || quietly(|| unsafe { real::calloc(count, bytes) });
    let product = count.checked_mul(bytes);
    let steady = product.and_then(|bytes| steady::allocate(bytes, 0));
    let block = steady.unwrap_or_else(calloc);
    born_block(block, count.saturating_mul(bytes));
    block
}

unsafe extern "C" fn reallocate(block: *mut c_void, bytes: usize) -> *mut c_void {
    if steady::owns(block) {
        // SAFETY: the program's call.
        return unsafe { move_block(block, bytes) };
    }
    let asked = heap::starting_at(block as usize).map(|block| block.size);
    if !died(block) {
        return std::ptr::null_mut();
    }
    // SAFETY: the program's call.
    let fresh = quietly(|| unsafe { real::realloc(block, bytes) });
    if fresh.is_null() && bytes != 0 {
        // There is no memory, and the old block is as it was.
        born_block(block, asked.unwrap_or_default());
    }
    born_block(fresh, bytes);
    fresh
}

/// A block of another size with the same content.
unsafe fn move_block(block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: the program's block.
    unsafe {
        let fresh = allocate(bytes);
        if !fresh.is_null() {
            let kept = libc::malloc_usable_size(block).min(bytes);
            quietly(|| std::ptr::copy_nonoverlapping(block.cast::<u8>(), fresh.cast::<u8>(), kept));
            release(block);
        }
        fresh
    }
}

pub(super) unsafe extern "C" fn release(block: *mut c_void) {
    if !died(block) || steady::owns(block) {
        return;
    }
    let Some(block) = lifetime::keep_for_a_while(block) else {
        return;
    };
    // SAFETY: the program's call, or one that it made before.
    quietly(|| unsafe { real::free(block) });
}

pub(super) unsafe extern "C" fn allocate_aligned(align: usize, bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    let memalign = || quietly(|| unsafe { real::memalign(align, bytes) });
    let block = steady::allocate(bytes, align).unwrap_or_else(memalign);
    born_block(block, bytes);
    block
}

unsafe extern "C" fn posix_allocate_aligned(
    place: *mut *mut c_void,
    align: usize,
    bytes: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: the program's call.
    unsafe {
        let block = allocate_aligned(align, bytes);
        if block.is_null() {
            return libc::ENOMEM;
        }
        place.write(block);
    }
    0
}

unsafe extern "C" fn map(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    if flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) == libc::MAP_FIXED {
        ended(address, bytes);
    }
    // SAFETY: the program's call.
    let place = unsafe { real::mmap(address, bytes, protection, flags, file, offset) };
    if place != libc::MAP_FAILED {
        born(place, bytes);
    }
    place
}

unsafe extern "C" fn unmap(address: *mut c_void, bytes: usize) -> c_int {
    ended(address, bytes);
    let arguments = [address as usize, bytes, 0, 0, 0, 0];
    // SAFETY: the program's call.
    unsafe {
        match reuse::call(libc::SYS_munmap, arguments) {
            Some(result) => returned(result),
            None => real::munmap(address, bytes),
        }
    }
}

/// Handlers of a program have another stack: Rust's standard library asks, for each thread.
unsafe extern "C" fn alternate(new: *const c_void, old: *mut c_void) -> c_int {
    let arguments = [new as usize, old as usize, 0, 0, 0, 0];
    // SAFETY: the program's call.
    unsafe {
        match reuse::call(libc::SYS_sigaltstack, arguments) {
            Some(result) => returned(result),
            None => real::sigaltstack(new, old),
        }
    }
}

/// What a function of libc returns for a system call with this result.
fn returned(result: isize) -> c_int {
    if result < 0 {
        // SAFETY: the thread's own word.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    result as c_int
}

unsafe extern "C" fn remap(
    address: *mut c_void,
    before: usize,
    bytes: usize,
    flags: c_int,
    wanted: *mut c_void,
) -> *mut c_void {
    // SAFETY: the program's call; the last argument means something only with the flag for it.
    let place = unsafe { real::mremap(address, before, bytes, flags, wanted) };
    if place == address {
        // Only what came or went: there may be locks in the rest.
        let (from, to) = (before.min(bytes), before.max(bytes));
        born(address.wrapping_byte_add(from), to - from);
    } else if place != libc::MAP_FAILED {
        born(address, before);
        born(place, bytes);
    }
    place
}

/// A page, for the old functions that align to one.
const PAGE: usize = 4096;

unsafe extern "C" fn allocate_page(bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe { allocate_aligned(PAGE, bytes) }
}

unsafe extern "C" fn allocate_pages(bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe { allocate_aligned(PAGE, bytes.max(1).next_multiple_of(PAGE)) }
}

unsafe extern "C" fn reallocate_array(
    block: *mut c_void,
    count: usize,
    bytes: usize,
) -> *mut c_void {
    match count.checked_mul(bytes) {
        // SAFETY: the program's call.
        Some(bytes) => unsafe { reallocate(block, bytes) },
        None => {
            // SAFETY: the thread's own word.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            std::ptr::null_mut()
        }
    }
}

interceptors! {
    malloc => allocate;
    calloc => allocate_zeroed;
    realloc => reallocate;
    free => release;
    memalign => allocate_aligned;
    aligned_alloc => allocate_aligned;
    posix_memalign => posix_allocate_aligned;
    mmap => map;
    mmap64 => map;
    munmap => unmap;
    sigaltstack => alternate;
    mremap => remap;
    valloc => allocate_page;
    pvalloc => allocate_pages;
    reallocarray => reallocate_array;
}
