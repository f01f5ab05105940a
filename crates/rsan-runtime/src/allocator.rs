//! The runtime's own memory: libc's allocator by its second name, so that `malloc` can be intercepted.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

unsafe extern "C" {
    /// glibc's `malloc`.
    pub fn __libc_malloc(size: usize) -> *mut c_void;
    /// glibc's `calloc`.
    pub fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    /// glibc's `realloc`.
    pub fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    /// glibc's `free`.
    pub fn __libc_free(block: *mut c_void);
    /// glibc's `memalign`.
    pub fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

/// What `Vec`, `Box` and friends use in this library.
#[derive(Debug)]
pub struct Direct;

/// A block that was allocated. Ends the process if there is none: the runtime cannot do without.
fn there(block: *mut c_void) -> *mut u8 {
    if block.is_null() {
        crate::report::out_of_memory("the runtime's own records");
    }
    block.cast()
}

/// What `__libc_malloc` aligns to.
const ALIGNED: usize = 16;

// SAFETY: the functions are glibc's allocator, which has the properties asked for; larger alignments go through
// `__libc_memalign`, whose blocks `__libc_free` takes. `realloc` keeps only the usual alignment, so it is used
// only for that.
unsafe impl GlobalAlloc for Direct {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and any power of two are allowed.
        let block = unsafe {
            if layout.align() <= ALIGNED {
                __libc_malloc(layout.size())
            } else {
                __libc_memalign(layout.align(), layout.size())
            }
        };
        there(block)
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block comes from `alloc` or `realloc`.
        unsafe { __libc_free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block comes from here, and a fresh one is as large as what is copied.
        unsafe {
            if layout.align() <= ALIGNED {
                return there(__libc_realloc(block.cast(), size));
            }
            let fresh = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            std::ptr::copy_nonoverlapping(block, fresh, size.min(layout.size()));
            self.dealloc(block, layout);
            fresh
        }
    }
}

#[global_allocator]
static GLOBAL: Direct = Direct;
