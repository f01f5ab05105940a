//! Functions, plain accesses, and copies.

use crate::entry::{atomic_entries, entries, entries_as_they_are, entries_with_caller};
use crate::intercept;
use crate::probe;
use crate::race::{self, Kind};
use crate::stack::Callee;
use crate::thread::{attach, current};
use crate::volatile;
use std::ffi::c_void;

extern "C" fn init() {
    crate::awake::wake();
    attach();
    if let Some(_me) = crate::thread::enter() {
        intercept::instrumented();
        super::query::look_up();
    }
}

extern "C" fn func_entry(returns_to: usize, pc: usize) {
    match current() {
        Some(context) => context.stack().push(returns_to, Callee::at(pc)),
        None => first_func_entry(returns_to, pc),
    }
}

#[cold]
extern "C" fn first_func_entry(returns_to: usize, pc: usize) {
    crate::tls::set_caller(pc);
    match attach() {
        Some(context) => context.stack().push(returns_to, Callee::at(pc)),
        None => probe::enter(returns_to),
    }
}

extern "C" fn func_exit(_: usize, pc: usize) {
    match current() {
        Some(context) => context.stack().pop(),
        None => probe::exit(pc),
    }
}

extern "C" fn read<const BYTES: usize>(address: usize, pc: usize) {
    race::plain::<BYTES, false>(address, pc);
}

extern "C" fn write<const BYTES: usize>(address: usize, pc: usize) {
    race::plain::<BYTES, true>(address, pc);
}

extern "C" fn volatile_read<const BYTES: usize>(address: usize) {
    volatile::access::<BYTES, false>(address);
}

extern "C" fn volatile_write<const BYTES: usize>(address: usize) {
    volatile::access::<BYTES, true>(address);
}

extern "C" fn read_range(address: usize, bytes: usize) {
    race::range(address, bytes, Kind::READ);
}

extern "C" fn write_range(address: usize, bytes: usize) {
    race::range(address, bytes, Kind::WRITE);
}

/// With the program's place as an argument.
extern "C" fn read_range_pc(address: usize, bytes: usize, pc: usize) {
    crate::tls::set_caller(pc);
    race::range(address, bytes, Kind::READ);
}

extern "C" fn write_range_pc(address: usize, bytes: usize, pc: usize) {
    crate::tls::set_caller(pc);
    race::range(address, bytes, Kind::WRITE);
}

/// An object's class is about to be set; setting it again to what it is is no write.
unsafe extern "C" fn vptr_update(place: *mut *mut c_void, class: *mut c_void) {
    // SAFETY: the program is about to write there.
    if unsafe { place.read() } != class {
        race::plain::<{ size_of::<usize>() }, true>(place as usize, crate::tls::caller());
    }
}

entries! {
    __tsan_init => init;
    __tsan_read_range => read_range;
    __tsan_write_range => write_range;
    __tsan_read_range_pc => read_range_pc;
    __tsan_write_range_pc => write_range_pc;
    __tsan_vptr_update => vptr_update;
    __tsan_memcpy => intercept::copies::copy;
    __tsan_memmove => intercept::copies::copy_overlapping;
    __tsan_memset => intercept::copies::fill;
}

entries_with_caller! {
    __tsan_func_entry => func_entry;
    __tsan_func_exit => func_exit;
    __tsan_read1 => read::<1>;
    __tsan_read2 => read::<2>;
    __tsan_read4 => read::<4>;
    __tsan_read8 => read::<8>;
    __tsan_write1 => write::<1>;
    __tsan_write2 => write::<2>;
    __tsan_write4 => write::<4>;
    __tsan_write8 => write::<8>;
    __tsan_read_write1 => write::<1>;
    __tsan_read_write2 => write::<2>;
    __tsan_read_write4 => write::<4>;
    __tsan_read_write8 => write::<8>;
    __tsan_unaligned_read1 => read::<1>;
    __tsan_unaligned_read2 => read::<2>;
    __tsan_unaligned_read4 => read::<4>;
    __tsan_unaligned_read8 => read::<8>;
    __tsan_unaligned_write1 => write::<1>;
    __tsan_unaligned_write2 => write::<2>;
    __tsan_unaligned_write4 => write::<4>;
    __tsan_unaligned_write8 => write::<8>;
    __tsan_unaligned_read_write2 => write::<2>;
    __tsan_unaligned_read_write4 => write::<4>;
    __tsan_unaligned_read_write8 => write::<8>;
    __tsan_vptr_read => read::<8>;
    __tsan_read16 => read::<16>;
    __tsan_write16 => write::<16>;
    __tsan_read_write16 => write::<16>;
    __tsan_unaligned_read16 => read::<16>;
    __tsan_unaligned_write16 => write::<16>;
    __tsan_unaligned_read_write16 => write::<16>;
}

entries_as_they_are! {
    __tsan_read1_pc => read::<1>;
    __tsan_read2_pc => read::<2>;
    __tsan_read4_pc => read::<4>;
    __tsan_read8_pc => read::<8>;
    __tsan_read16_pc => read::<16>;
    __tsan_write1_pc => write::<1>;
    __tsan_write2_pc => write::<2>;
    __tsan_write4_pc => write::<4>;
    __tsan_write8_pc => write::<8>;
    __tsan_write16_pc => write::<16>;
}

atomic_entries! {
    __tsan_volatile_read1 => volatile_read::<1>;
    __tsan_volatile_read2 => volatile_read::<2>;
    __tsan_volatile_read4 => volatile_read::<4>;
    __tsan_volatile_read8 => volatile_read::<8>;
    __tsan_volatile_write1 => volatile_write::<1>;
    __tsan_volatile_write2 => volatile_write::<2>;
    __tsan_volatile_write4 => volatile_write::<4>;
    __tsan_volatile_write8 => volatile_write::<8>;
    __tsan_unaligned_volatile_read2 => volatile_read::<2>;
    __tsan_unaligned_volatile_read4 => volatile_read::<4>;
    __tsan_unaligned_volatile_read8 => volatile_read::<8>;
    __tsan_unaligned_volatile_write2 => volatile_write::<2>;
    __tsan_unaligned_volatile_write4 => volatile_write::<4>;
    __tsan_unaligned_volatile_write8 => volatile_write::<8>;
    __tsan_volatile_read16 => volatile_read::<16>;
    __tsan_volatile_write16 => volatile_write::<16>;
    __tsan_unaligned_volatile_read16 => volatile_read::<16>;
    __tsan_unaligned_volatile_write16 => volatile_write::<16>;
}
