//! C++'s `new` and `delete`: `malloc` and `free`, called from the program's own line.
//!
//! A program that has operators of its own uses those. Without memory, libstdc++'s `new` is asked: it calls the
//! program's handler, and throws.

use super::memory::{allocate, allocate_aligned, release};
use crate::entry::entries;
use crate::real;
use libc::c_void;

unsafe extern "C-unwind" fn new(bytes: usize) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe {
        match allocate(bytes) {
            block if block.is_null() => real::_Znwm(bytes),
            block => block,
        }
    }
}

unsafe extern "C-unwind" fn new_aligned(bytes: usize, align: usize) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe {
        match allocate_aligned(align, bytes) {
            block if block.is_null() => real::_ZnwmSt11align_val_t(bytes, align),
            block => block,
        }
    }
}

/// Returns null without memory.
unsafe extern "C-unwind" fn try_new_aligned(bytes: usize, align: usize) -> *mut c_void {
    // SAFETY: the program's call.
    unsafe { allocate_aligned(align, bytes) }
}

entries! {
    _Znwm => new;
    _Znam => new;
    _ZnwmRKSt9nothrow_t => allocate;
    _ZnamRKSt9nothrow_t => allocate;
    _ZnwmSt11align_val_t => new_aligned;
    _ZnamSt11align_val_t => new_aligned;
    _ZnwmSt11align_val_tRKSt9nothrow_t => try_new_aligned;
    _ZnamSt11align_val_tRKSt9nothrow_t => try_new_aligned;
    _ZdlPv => release;
    _ZdaPv => release;
    _ZdlPvm => release;
    _ZdaPvm => release;
    _ZdlPvRKSt9nothrow_t => release;
    _ZdaPvRKSt9nothrow_t => release;
    _ZdlPvSt11align_val_t => release;
    _ZdaPvSt11align_val_t => release;
    _ZdlPvmSt11align_val_t => release;
    _ZdaPvmSt11align_val_t => release;
    _ZdlPvSt11align_val_tRKSt9nothrow_t => release;
    _ZdaPvSt11align_val_tRKSt9nothrow_t => release;
}
