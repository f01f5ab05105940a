//! What programs say about their own synchronisation.
//!
//! The Java interface is not here.

use crate::entry::entries;
use crate::held::Mode;
use crate::ignoring;
use crate::intercept::locks::annotated;
use crate::shadow::Granule;
use crate::sync::{self, Taking};
use crate::thread::{self, enter};
use crate::tls;
use std::ffi::{c_char, c_int, c_uint, c_ulong};

/// `__tsan_mutex_*` flag: a try-lock that did not get the lock.
const TRY_FAILED: c_uint = 1 << 5;
/// `__tsan_mutex_*` flag: a try-lock.
const TRY_LOCK: c_uint = 1 << 4;
/// `__tsan_mutex_*` flag: for reading.
const READ_LOCK: c_uint = 1 << 3;

fn take(address: usize, mode: Mode, waited: bool) {
    let taking = Taking {
        mode,
        waited,
        number: None,
        shares: true,
    };
    sync::take(address, taking);
}

extern "C" fn acquire(address: usize) {
    sync::acquire(address);
}

extern "C" fn release(address: usize) {
    sync::release(address);
}

/// `AnnotateHappensAfter` and `Before`: file, line, address.
extern "C" fn happens_after(_: *const c_char, _: c_int, address: usize) {
    sync::acquire(address);
}

extern "C" fn happens_before(_: *const c_char, _: c_int, address: usize) {
    sync::release(address);
}

extern "C" fn ignore_begin() {
    if let Some(mut me) = enter() {
        me.ignored += 1;
    }
}

extern "C" fn ignore_end() {
    if let Some(mut me) = enter() {
        me.ignored = me.ignored.saturating_sub(1);
    }
}

/// A function whose synchronisation is private begins: compilers call it where they are told so.
extern "C" fn hide() {
    if let Some(me) = thread::current() {
        me.hide();
    }
}

/// It ends.
extern "C" fn show() {
    if let Some(me) = thread::current() {
        me.show();
    }
}

extern "C" fn mutex_create(address: usize, flags: c_uint) {
    annotated::create(address, flags);
}

extern "C" fn mutex_destroy(address: usize, flags: c_uint) {
    annotated::destroy(address, flags);
}

extern "C" fn rwlock_create(_: *const c_char, _: c_int, address: usize) {
    annotated::create(address, 0);
}

extern "C" fn rwlock_create_static(_: *const c_char, _: c_int, address: usize) {
    annotated::create_static(address);
}

extern "C" fn rwlock_destroy(_: *const c_char, _: c_int, address: usize) {
    annotated::destroy(address, 0);
}

extern "C" fn rwlock_acquired(_: *const c_char, _: c_int, address: usize, write: c_ulong) {
    annotated::acquired(address, write != 0);
    match write {
        0 => take(address, Mode::Read, true),
        _ => take(address, Mode::Write, true),
    }
}

extern "C" fn rwlock_released(_: *const c_char, _: c_int, address: usize, write: c_ulong) {
    annotated::released(address, write != 0);
    sync::unlock_shared_or_write(address);
}

/// Accesses and synchronisation inside the implementation of a lock are not the program's.
fn inside() {
    ignore_begin();
    ignoring::begin();
}

fn outside() {
    ignoring::end();
    ignore_end();
}

extern "C" fn mutex_pre_lock(_: usize, _: c_uint) {
    inside();
}

extern "C" fn mutex_post_lock(address: usize, flags: c_uint, _: c_int) {
    outside();
    if flags & TRY_FAILED != 0 {
    } else if flags & READ_LOCK != 0 {
        take(address, Mode::Read, flags & TRY_LOCK == 0);
    } else {
        take(address, Mode::Write, flags & TRY_LOCK == 0);
    }
}

/// Returns how often the lock is given back; recursive ones are not counted.
extern "C" fn mutex_pre_unlock(address: usize, flags: c_uint) -> c_int {
    let pc = tls::caller();
    sync::unlock_shared_or_write(address);
    tls::set_caller(pc);
    annotated::unlock(address);
    inside();
    c_int::from(flags & READ_LOCK == 0)
}

extern "C" fn mutex_post_unlock(_: usize, _: c_uint) {
    outside();
}

extern "C" fn divert_begin(_: usize, _: c_uint) {
    outside();
}

extern "C" fn divert_end(_: usize, _: c_uint) {
    inside();
}

/// Memory begins a new life.
extern "C" fn new_memory(_: *const c_char, _: c_int, address: usize, bytes: usize) {
    if let Some(mut me) = enter() {
        // Granules are forgotten as a whole.
        let cut = [address, address.saturating_add(bytes)];
        let mut cut = cut.into_iter().filter(|at| at % 8 != 0);
        if cut.any(|at| Granule::existing(at).is_some_and(|granule| !granule.is_empty())) {
            let why = "new memory shares 8 bytes with other memory that was accessed";
            let site = me.site();
            crate::report::undecided(&me, site, why);
        }
        crate::shadow::forget(address, bytes);
    }
}

/// A word of unknown size.
extern "C" fn benign_race(_: *const c_char, _: c_int, address: usize, _: *const c_char) {
    crate::benign::add(address, size_of::<usize>());
}

extern "C" fn benign_race_sized(
    _: *const c_char,
    _: c_int,
    address: usize,
    bytes: usize,
    _: *const c_char,
) {
    crate::benign::add(address, bytes);
}

extern "C" fn thread_name(_: *const c_char, _: c_int, name: *const c_char) {
    // SAFETY: the program's name.
    unsafe { crate::intercept::threads::set_own_name(name) };
}

extern "C" fn nothing() {}

extern "C" fn zero() -> c_int {
    0
}

entries! {
    __tsan_acquire => acquire;
    __tsan_release => release;
    __tsan_mutex_create => mutex_create;
    __tsan_mutex_destroy => mutex_destroy;
    __tsan_mutex_pre_lock => mutex_pre_lock;
    __tsan_mutex_post_lock => mutex_post_lock;
    __tsan_mutex_pre_unlock => mutex_pre_unlock;
    __tsan_mutex_post_unlock => mutex_post_unlock;
    __tsan_mutex_pre_signal => mutex_pre_lock;
    __tsan_mutex_post_signal => mutex_post_unlock;
    __tsan_mutex_pre_divert => divert_begin;
    __tsan_mutex_post_divert => divert_end;
    __tsan_ignore_thread_begin => hide;
    __tsan_ignore_thread_end => show;
    __tsan_flush_memory => nothing;
    __tsan_on_thread_idle => nothing;
    __tsan_check_no_mutexes_held => nothing;
    AnnotateHappensBefore => happens_before;
    AnnotateHappensAfter => happens_after;
    WTFAnnotateHappensBefore => happens_before;
    WTFAnnotateHappensAfter => happens_after;
    AnnotateIgnoreReadsBegin => ignore_begin;
    AnnotateIgnoreReadsEnd => ignore_end;
    AnnotateIgnoreWritesBegin => ignore_begin;
    AnnotateIgnoreWritesEnd => ignore_end;
    AnnotateIgnoreSyncBegin => ignoring::begin;
    AnnotateIgnoreSyncEnd => ignoring::end;
    AnnotateRWLockCreate => rwlock_create;
    AnnotateRWLockCreateStatic => rwlock_create_static;
    AnnotateRWLockDestroy => rwlock_destroy;
    AnnotateRWLockAcquired => rwlock_acquired;
    AnnotateRWLockReleased => rwlock_released;
    AnnotateNewMemory => new_memory;
    AnnotateBenignRace => benign_race;
    AnnotateBenignRaceSized => benign_race_sized;
    WTFAnnotateBenignRaceSized => benign_race_sized;
    AnnotateCondVarSignal => nothing;
    AnnotateCondVarSignalAll => nothing;
    AnnotateCondVarWait => nothing;
    AnnotateEnableRaceDetection => nothing;
    AnnotateExpectRace => nothing;
    AnnotateFlushExpectedRaces => nothing;
    AnnotateFlushState => nothing;
    AnnotateMemoryIsInitialized => nothing;
    AnnotateMemoryIsUninitialized => nothing;
    AnnotateMutexIsNotPHB => nothing;
    AnnotateMutexIsUsedAsCondVar => nothing;
    AnnotateNoOp => nothing;
    AnnotatePCQCreate => nothing;
    AnnotatePCQDestroy => nothing;
    AnnotatePCQGet => nothing;
    AnnotatePCQPut => nothing;
    AnnotatePublishMemoryRange => nothing;
    AnnotateUnpublishMemoryRange => nothing;
    AnnotateThreadName => thread_name;
    AnnotateTraceMemory => nothing;
    RunningOnValgrind => zero;
    ThreadSanitizerQuery => zero;
}
