//! The functions that a program may define (`hooks`), as the library has them, and those that install others.

use crate::entry::entries;
use crate::hooks;
use std::ffi::{c_char, c_int, c_void};

extern "C" fn says_nothing() -> *const c_char {
    c"".as_ptr()
}

extern "C" fn nothing() {}

extern "C" fn as_it_is(failed: c_int) -> c_int {
    failed
}

extern "C" fn set_death_callback(callback: usize) {
    hooks::set_death_callback(callback);
}

extern "C" fn install_hooks(after_malloc: usize, before_free: usize) -> c_int {
    hooks::install([after_malloc, before_free])
}

extern "C" fn on_malloc(_: *const c_void, _: usize) {}

extern "C" fn on_free(_: *const c_void) {}

entries! {
    __tsan_default_options => says_nothing;
    __tsan_default_suppressions => says_nothing;
    __tsan_on_initialize => nothing;
    __tsan_on_finalize => as_it_is;
    __sanitizer_set_death_callback => set_death_callback;
    __sanitizer_install_malloc_and_free_hooks => install_hooks;
    __sanitizer_malloc_hook => on_malloc;
    __sanitizer_free_hook => on_free;
}
