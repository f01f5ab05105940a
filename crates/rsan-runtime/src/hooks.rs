//! Functions that a program may define, and that are called then: at the start, at the end, and when it allocates.
//!
//! The library has each of them, too, so that the linker lets the loader know those of the program. The loader finds the program's first.

use crate::symbols::{self, Definer};
use crate::tls;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The function of a name that is not this library's own. Whoever calls it knows its type.
fn found(name: &CStr) -> Option<usize> {
    let (function, definer) = symbols::first(name)?;
    (definer != Definer::Runtime).then_some(function)
}

/// What a function without arguments says.
fn text_of(name: &CStr) -> String {
    type Says = unsafe extern "C" fn() -> *const c_char;
    let Some(function) = found(name) else {
        return String::new();
    };
    // SAFETY: the interface says what type the function has, and that it returns null or a text.
    unsafe {
        let text = std::mem::transmute::<usize, Says>(function)();
        match text.is_null() {
            true => String::new(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        }
    }
}

/// The program's own settings, as ThreadSanitizer's.
pub(crate) fn default_options() -> String {
    text_of(c"__tsan_default_options")
}

/// The findings that the program does not want to see.
pub(crate) fn default_suppressions() -> String {
    text_of(c"__tsan_default_suppressions")
}

/// The runtime is there.
#[cfg(not(test))]
pub(crate) fn initialized() {
    if let Some(function) = found(c"__tsan_on_initialize") {
        // SAFETY: the interface says what type the function has.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn()>(function)() };
    }
    let hooks = [found(MALLOC), found(FREE)];
    if hooks != [None, None] {
        install(hooks.map(Option::unwrap_or_default));
    }
}

#[cfg(not(test))]
const MALLOC: &CStr = c"__sanitizer_malloc_hook";
#[cfg(not(test))]
const FREE: &CStr = c"__sanitizer_free_hook";

/// The process ends, with findings or without; whether it fails.
pub(crate) fn finalize(failed: bool) -> bool {
    type Asked = unsafe extern "C" fn(c_int) -> c_int;
    let Some(function) = found(c"__tsan_on_finalize") else {
        return failed;
    };
    // SAFETY: the interface says what type the function has.
    unsafe { std::mem::transmute::<usize, Asked>(function)(c_int::from(failed)) != 0 }
}

/// The runtime is about to end the process.
pub(crate) fn dies() {
    // ORDERING: acquire-release; it is called once.
    let callback = DEATH.swap(0, Ordering::AcqRel);
    if callback != 0 {
        // SAFETY: the program's function.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn()>(callback)() };
    }
}

static DEATH: AtomicUsize = AtomicUsize::new(0);

/// Sets the function that is called then.
pub(crate) fn set_death_callback(callback: usize) {
    // ORDERING: acquire-release, with the exchange in `dies`.
    DEATH.swap(callback, Ordering::AcqRel);
}

/// Pairs of functions that are called after an allocation, and before a free.
const PAIRS: usize = 6;
static HOOKS: [[AtomicUsize; 2]; PAIRS] =
    [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; PAIRS];
static INSTALLED: AtomicUsize = AtomicUsize::new(0);
/// Whether there is any.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Two functions are called from now on. Their number, or 0 if there are too many.
pub(crate) fn install(pair: [usize; 2]) -> c_int {
    // ORDERING: relaxed; the program calls this before it has threads.
    let place = INSTALLED.load(Ordering::Relaxed);
    let Some(hooks) = HOOKS.get(place) else {
        return 0;
    };
    for (hook, function) in hooks.iter().zip(pair) {
        // ORDERING: relaxed, as above.
        hook.store(function, Ordering::Relaxed);
    }
    // ORDERING: relaxed, as above.
    INSTALLED.store(place + 1, Ordering::Relaxed);
    // ORDERING: release, with the acquire in `each`.
    HOOKED.store(true, Ordering::Release);
    place as c_int + 1
}

#[inline]
fn each(which: usize, act: impl Fn(usize)) {
    // ORDERING: acquire, with the release in `install`.
    if HOOKED.load(Ordering::Acquire) {
        let caller = tls::caller();
        for pair in &HOOKS {
            // ORDERING: relaxed; see `install`.
            match pair[which].load(Ordering::Relaxed) {
                0 => {}
                function => act(function),
            }
        }
        tls::set_caller(caller);
    }
}

/// The program has got a block.
#[inline]
pub(crate) fn allocated(block: *mut c_void, bytes: usize) {
    type Told = unsafe extern "C" fn(*mut c_void, usize);
    if !block.is_null() {
        // SAFETY: the program's function.
        let tell = |hook| unsafe { std::mem::transmute::<usize, Told>(hook)(block, bytes) };
        each(0, tell);
    }
}

/// The program gives a block back.
#[inline]
pub(crate) fn frees(block: *mut c_void) {
    type Told = unsafe extern "C" fn(*mut c_void);
    if !block.is_null() {
        // SAFETY: the program's function.
        let tell = |hook| unsafe { std::mem::transmute::<usize, Told>(hook)(block) };
        each(1, tell);
    }
}
