//! What the sanitizers of gcc and clang have in common: accesses without alignment, the allocator, and where reports go.

use crate::entry::entries;
use crate::race::{self, Kind};
use crate::thread::enter;
use crate::{heap, report};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" fn load<T>(place: *const T) -> T {
    race::range(place as usize, size_of::<T>(), Kind::READ);
    // SAFETY: the program's access.
    unsafe { place.read_unaligned() }
}

unsafe extern "C" fn store<T>(place: *mut T, value: T) {
    race::range(place as usize, size_of::<T>(), Kind::WRITE);
    // SAFETY: the program's access.
    unsafe { place.write_unaligned(value) };
}

/// Where the calling thread is, as far as instrumented functions tell.
extern "C" fn print_stack() {
    if let Some(mut me) = enter() {
        let site = me.site();
        report::print_stack(site);
    }
}

unsafe extern "C" fn set_report_path(path: *const c_char) {
    // SAFETY: null or a text of the program.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    if let Some(_me) = enter() {
        crate::output::set_path(path.map_or("stderr".into(), CStr::to_string_lossy).as_ref());
    }
}

extern "C" fn set_report_descriptor(descriptor: usize) {
    crate::output::set_descriptor(descriptor as c_int);
}

extern "C" fn report_path() -> *const c_char {
    crate::output::path()
}

unsafe extern "C" fn report_summary(summary: *const c_char) {
    if !summary.is_null() {
        // SAFETY: a text of the program.
        let summary = unsafe { CStr::from_ptr(summary) }.to_bytes();
        crate::output::write_text(summary);
        crate::output::write_text(b"\n");
    }
}

/// Whether the caller is the first that crashes.
extern "C" fn acquire_crash_state() -> c_int {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed; a flag that is only ever set.
    c_int::from(!TAKEN.swap(true, Ordering::Relaxed))
}

extern "C" fn nothing() {}

extern "C" fn zero() -> usize {
    0
}

extern "C" fn one() -> c_int {
    1
}

extern "C" fn same(size: usize) -> usize {
    size
}

extern "C" fn is_owned(block: usize) -> c_int {
    c_int::from(heap::size_of_live(block).is_some())
}

extern "C" fn allocated_size(block: usize) -> usize {
    heap::size_of_live(block).unwrap_or_default()
}

/// Where the block of an address begins, if it is one that is not freed.
extern "C" fn allocated_begin(address: usize) -> usize {
    let block = heap::find(address).map(|block| block.start);
    block
        .filter(|start| heap::size_of_live(*start).is_some())
        .unwrap_or_default()
}

/// What glibc's allocator says of itself.
#[derive(Clone, Copy, Default)]
struct Sums {
    heap: usize,
    used: usize,
    free: usize,
}

fn sums() -> Sums {
    type Asked = unsafe extern "C" fn() -> libc::mallinfo2;
    // SAFETY: a C string; the function has this type, if it is there (glibc 2.33).
    unsafe {
        let function = libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr());
        if function.is_null() {
            return Sums::default();
        }
        let known = std::mem::transmute::<*mut c_void, Asked>(function)();
        Sums {
            heap: known.arena + known.hblkhd,
            used: known.uordblks + known.hblkhd,
            free: known.fordblks,
        }
    }
}

extern "C" fn current_bytes() -> usize {
    sums().used
}

extern "C" fn heap_bytes() -> usize {
    sums().heap
}

extern "C" fn free_bytes() -> usize {
    sums().free
}

entries! {
    __sanitizer_unaligned_load16 => load::<u16>;
    __sanitizer_unaligned_load32 => load::<u32>;
    __sanitizer_unaligned_load64 => load::<u64>;
    __sanitizer_unaligned_store16 => store::<u16>;
    __sanitizer_unaligned_store32 => store::<u32>;
    __sanitizer_unaligned_store64 => store::<u64>;
    __sanitizer_print_stack_trace => print_stack;
    __sanitizer_set_report_path => set_report_path;
    __sanitizer_set_report_fd => set_report_descriptor;
    __sanitizer_get_report_path => report_path;
    __sanitizer_report_error_summary => report_summary;
    __sanitizer_acquire_crash_state => acquire_crash_state;
    __sanitizer_sandbox_on_notify => nothing;
    __sanitizer_print_memory_profile => nothing;
    __sanitizer_annotate_contiguous_container => nothing;
    __sanitizer_annotate_double_ended_contiguous_container => nothing;
    __sanitizer_verify_contiguous_container => one;
    __sanitizer_verify_double_ended_contiguous_container => one;
    __sanitizer_contiguous_container_find_bad_address => zero;
    __sanitizer_double_ended_contiguous_container_find_bad_address => zero;
    __sanitizer_start_switch_fiber => nothing;
    __sanitizer_finish_switch_fiber => nothing;
    __sanitizer_on_print => nothing;
    __sanitizer_get_estimated_allocated_size => same;
    __sanitizer_get_ownership => is_owned;
    __sanitizer_get_allocated_size => allocated_size;
    __sanitizer_get_allocated_size_fast => allocated_size;
    __sanitizer_get_allocated_begin => allocated_begin;
    __sanitizer_get_current_allocated_bytes => current_bytes;
    __sanitizer_get_heap_size => heap_bytes;
    __sanitizer_get_free_bytes => free_bytes;
    __sanitizer_get_unmapped_bytes => zero;
    __sanitizer_purge_allocator => nothing;
}
