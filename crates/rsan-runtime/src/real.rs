//! The functions that our interceptors stand in front of.

use crate::symbols;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function of libc. All are looked up at the start (`resolve_all`): a look-up by the loader may wait for others
/// that wait for us.
#[derive(Debug)]
pub struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    /// The next function of this name.
    pub const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// Its address, if it is known already; for functions that the look-up itself may call.
    #[inline]
    pub fn known(&self) -> Option<usize> {
        // ORDERING: relaxed; the address is a constant that everybody computes alike.
        let address = self.address.load(Ordering::Relaxed);
        (address != 0).then_some(address)
    }

    /// Its address. Aborts if libc has no such function.
    #[inline]
    pub fn address(&self) -> usize {
        self.known().unwrap_or_else(|| self.resolve())
    }

    /// Looks the function up in the libraries behind this one.
    pub(crate) fn look_up(&self) -> Option<usize> {
        let found = symbols::next(self.name)?;
        // ORDERING: relaxed; see `known`.
        self.address.store(found, Ordering::Relaxed);
        Some(found)
    }

    #[cold]
    fn resolve(&self) -> usize {
        let found = self.look_up().or_else(|| self.load());
        let Some(found) = found else {
            crate::fatal::die(&[
                "no function ",
                self.name.to_str().unwrap_or("?"),
                " in the libraries behind rsan's",
            ]);
        };
        // ORDERING: relaxed; see `known`.
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Libraries that a linker may leave out, since the functions that a program calls are found here: what such functions
/// begin with, and the library.
const LEFT_OUT: &[(&[u8], &CStr)] = &[
    (b"GOMP_", c"libgomp.so.1"),
    (b"omp_", c"libgomp.so.1"),
    (b"_Zn", c"libstdc++.so.6"),
    (b"g_", c"libglib-2.0.so.0"),
    (b"lgamma", c"libm.so.6"),
    (b"remquo", c"libm.so.6"),
    (b"sincos", c"libm.so.6"),
];

impl Real {
    /// Loads the library that the function is in, if it is known.
    fn load(&self) -> Option<usize> {
        let name = self.name.to_bytes();
        let (_, library) = LEFT_OUT.iter().find(|(start, _)| name.starts_with(start))?;
        // SAFETY: both are C strings; a library that was not found is not asked.
        let found = unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
            if library.is_null() {
                return None;
            }
            libc::dlsym(library, self.name.as_ptr())
        };
        (!found.is_null()).then_some(found as usize)
    }
}

/// A name as a C string.
macro_rules! c_name {
    ($name:ident) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            }
        }
    };
}

pub(crate) use c_name;

/// Functions `real::name(...)` for functions of libc, with their C types, and a module with where they are.
macro_rules! real_functions {
    ($module:ident: $(fn $name:ident ($($arg:ident: $type:ty),*) $(-> $ret:ty)?;)+) => {
        #[allow(non_upper_case_globals)]
        mod $module {
            use super::*;

            $(pub(super) static $name: Real = real_functions!(@new $name);)+

            /// All of them.
            pub(super) static ALL: &[&Real] = &[$(&$name),+];
        }
        $(
            #[doc = concat!("libc's `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As the C function says. May be left by thread cancellation.
            #[allow(clippy::too_many_arguments, non_snake_case)]
            pub unsafe fn $name($($arg: $type),*) $(-> $ret)? {
                let address = $module::$name.address();
                type Function = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
                // SAFETY: the address is the C function of this name, whose type this is.
                let function = unsafe { std::mem::transmute::<usize, Function>(address) };
                // SAFETY: the caller's promise.
                unsafe { function($($arg),*) }
            }
        )+
    };
    (@new $name:ident) => { Real::new(c_name!($name)) };
}

use libc::{
    c_char, c_int, c_uint, c_void, clockid_t, off_t, pthread_attr_t, pthread_barrier_t,
    pthread_barrierattr_t, pthread_cond_t, pthread_mutexattr_t, pthread_rwlockattr_t,
};
use libc::{c_long, c_ulong, iovec, msghdr, sockaddr};
use libc::{pthread_mutex_t, pthread_rwlock_t, pthread_spinlock_t, pthread_t, sem_t, timespec};

/// Tables of functions that are elsewhere.
type Tables = &'static [&'static [&'static Real]];
static ELSEWHERE: OnceLock<Tables> = OnceLock::new();

/// Looks all functions up, and those of these tables.
pub(crate) fn start(elsewhere: Tables) {
    ELSEWHERE.get_or_init(|| elsewhere);
    resolve_all();
}

/// Looks all functions up, so that later calls need not.
pub(crate) fn resolve_all() {
    let tables = ELSEWHERE.get().into_iter().copied().flatten();
    let tables = tables.copied().flatten();
    for function in functions::ALL
        .iter()
        .chain(openmp::ALL)
        .chain(glib::ALL)
        .chain(tables)
    {
        function.look_up();
    }
}

/// The type of `main`.
pub type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// A thread's function.
pub type StartRoutine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

real_functions! {
    functions:
    fn pthread_create(thread: *mut pthread_t, attr: *const pthread_attr_t, start: StartRoutine, arg: *mut c_void) -> c_int;
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int;
    fn pthread_clockjoin_np(thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_cancel(thread: pthread_t) -> c_int;
    fn pthread_key_create(key: *mut libc::pthread_key_t, destructor: usize) -> c_int;
    fn pthread_key_delete(key: libc::pthread_key_t) -> c_int;
    fn tss_create(key: *mut libc::pthread_key_t, destructor: usize) -> c_int;
    fn tss_delete(key: libc::pthread_key_t);
    fn pthread_detach(thread: pthread_t) -> c_int;
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) -> c_int;
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int;
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn pthread_cond_clockwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int;
    fn cnd_signal(cond: *mut pthread_cond_t) -> c_int;
    fn cnd_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn exit(status: c_int) -> !;
    fn abort() -> !;
    fn __assert_fail(condition: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> !;
    fn __assert(condition: *const c_char, file: *const c_char, line: c_int) -> !;
    fn __assert_perror_fail(error: c_int, file: *const c_char, line: c_uint, function: *const c_char) -> !;
    fn sched_yield() -> c_int;
    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int;
    fn usleep(microseconds: c_uint) -> c_int;
    fn sleep(seconds: c_uint) -> c_uint;
    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int;
    fn thrd_yield();
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long;
    fn __libc_start_main(main: Main, argc: c_int, argv: *mut *mut c_char, init: usize, fini: usize, rtld_fini: usize, stack_end: *mut c_void) -> c_int;
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int;
    fn gettimeofday(time: *mut libc::timeval, zone: *mut c_void) -> c_int;
    fn time(time: *mut libc::time_t) -> libc::time_t;
    fn getrandom(buffer: *mut c_void, bytes: usize, flags: c_uint) -> isize;
    fn getentropy(buffer: *mut c_void, bytes: usize) -> c_int;
    fn arc4random() -> u32;
    fn arc4random_buf(buffer: *mut c_void, bytes: usize);
    fn accept(file: c_int, address: *mut sockaddr, size: *mut c_uint) -> c_int;
    fn accept4(file: c_int, address: *mut sockaddr, size: *mut c_uint, flags: c_int) -> c_int;
    fn connect(file: c_int, address: *const sockaddr, size: c_uint) -> c_int;
    fn cnd_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn cnd_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int;
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint) -> c_int;
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_once(once: *mut c_int, routine: unsafe extern "C-unwind" fn()) -> c_int;
    fn sem_init(sem: *mut sem_t, shared: c_int, value: c_uint) -> c_int;
    fn sem_post(sem: *mut sem_t) -> c_int;
    fn sem_wait(sem: *mut sem_t) -> c_int;
    fn sem_trywait(sem: *mut sem_t) -> c_int;
    fn sem_timedwait(sem: *mut sem_t, until: *const timespec) -> c_int;
    fn sem_clockwait(sem: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int;
    fn sem_destroy(sem: *mut sem_t) -> c_int;
    fn mmap(address: *mut c_void, size: usize, protection: c_int, flags: c_int, file: c_int, offset: off_t) -> *mut c_void;
    fn mremap(address: *mut c_void, before: usize, bytes: usize, flags: c_int, wanted: *mut c_void) -> *mut c_void;
    fn _Znwm(bytes: usize) -> *mut c_void;
    fn _ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh(barrier: *mut c_void, phase: u8) -> bool;
    fn _ZnwmSt11align_val_t(bytes: usize, align: usize) -> *mut c_void;
    fn strlen(text: *const c_char) -> usize;
    fn strnlen(text: *const c_char, limit: usize) -> usize;
    fn strcmp(one: *const c_char, two: *const c_char) -> c_int;
    fn strncmp(one: *const c_char, two: *const c_char, limit: usize) -> c_int;
    fn memcmp(one: *const c_void, two: *const c_void, bytes: usize) -> c_int;
    fn memchr(memory: *const c_void, byte: c_int, bytes: usize) -> *mut c_void;
    fn memrchr(memory: *const c_void, byte: c_int, bytes: usize) -> *mut c_void;
    fn strchr(text: *const c_char, byte: c_int) -> *mut c_char;
    fn strchrnul(text: *const c_char, byte: c_int) -> *mut c_char;
    fn strrchr(text: *const c_char, byte: c_int) -> *mut c_char;
    fn strstr(text: *const c_char, wanted: *const c_char) -> *mut c_char;
    fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn strncpy(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char;
    fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn strncat(to: *mut c_char, from: *const c_char, limit: usize) -> *mut c_char;
    fn strsep(place: *mut *mut c_char, ends: *const c_char) -> *mut c_char;
    fn strtok_r(text: *mut c_char, ends: *const c_char, place: *mut *mut c_char) -> *mut c_char;
    fn strdup(text: *const c_char) -> *mut c_char;
    fn strndup(text: *const c_char, limit: usize) -> *mut c_char;
    fn pthread_cond_init(cond: *mut pthread_cond_t, attr: *const libc::pthread_condattr_t) -> c_int;
    fn cnd_init(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_spin_init(lock: *mut pthread_spinlock_t, shared: c_int) -> c_int;
    fn pthread_getattr_np(handle: pthread_t, attr: *mut pthread_attr_t) -> c_int;
    fn pthread_setname_np(handle: pthread_t, name: *const c_char) -> c_int;
    fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int;
    fn _Fork() -> c_int;
    fn clone(function: extern "C" fn(*mut c_void) -> c_int, stack: *mut c_void, flags: c_int, argument: *mut c_void, parent: *mut c_void, tls: *mut c_void, child: *mut c_void) -> c_int;
    fn malloc(bytes: usize) -> *mut c_void;
    fn calloc(count: usize, bytes: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn memalign(align: usize, bytes: usize) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
    fn longjmp(environment: *mut c_void, value: c_int) -> !;
    fn swapcontext(from: *mut c_void, to: *const c_void) -> c_int;
    fn __cxa_atexit(routine: unsafe extern "C-unwind" fn(*mut c_void), argument: *mut c_void, library: *mut c_void) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
    fn sigprocmask(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
    fn sigaction(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn read(file: c_int, buffer: *mut c_void, bytes: usize) -> isize;
    fn readv(file: c_int, parts: *const iovec, count: c_int) -> isize;
    fn write(file: c_int, buffer: *const c_void, bytes: usize) -> isize;
    fn writev(file: c_int, parts: *const iovec, count: c_int) -> isize;
    fn send(file: c_int, buffer: *const c_void, bytes: usize, flags: c_int) -> isize;
    fn sendto(file: c_int, buffer: *const c_void, bytes: usize, flags: c_int, to: *const sockaddr, size: c_uint) -> isize;
    fn sendmsg(file: c_int, message: *const msghdr, flags: c_int) -> isize;
    fn recv(file: c_int, buffer: *mut c_void, bytes: usize, flags: c_int) -> isize;
    fn recvfrom(file: c_int, buffer: *mut c_void, bytes: usize, flags: c_int, from: *mut sockaddr, size: *mut c_uint) -> isize;
    fn recvmsg(file: c_int, message: *mut msghdr, flags: c_int) -> isize;
    fn sendmmsg(file: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int) -> c_int;
    fn recvmmsg(file: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int, timeout: *mut c_void) -> c_int;
    fn preadv(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize;
    fn preadv64(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize;
    fn preadv2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize;
    fn preadv64v2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize;
    fn pwritev(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize;
    fn pwritev64(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> isize;
    fn pwritev2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize;
    fn pwritev64v2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> isize;
    fn splice(from: c_int, start: *mut off_t, to: c_int, at: *mut off_t, bytes: usize, flags: c_uint) -> isize;
    fn tee(from: c_int, to: c_int, bytes: usize, flags: c_uint) -> isize;
    fn vmsplice(file: c_int, parts: *const iovec, count: usize, flags: c_uint) -> isize;
    fn sendfile(to: c_int, from: c_int, at: *mut off_t, bytes: usize) -> isize;
    fn listen(file: c_int, backlog: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    fn fclose(stream: *mut libc::FILE) -> c_int;
    fn closedir(folder: *mut libc::DIR) -> c_int;
    fn eventfd_write(file: c_int, count: u64) -> c_int;
    fn eventfd_read(file: c_int, count: *mut u64) -> c_int;
    fn shutdown(file: c_int, how: c_int) -> c_int;
    fn close(file: c_int) -> c_int;
    fn epoll_ctl(poll: c_int, operation: c_int, file: c_int, event: *mut c_void) -> c_int;
    fn epoll_wait(poll: c_int, events: *mut c_void, room: c_int, timeout: c_int) -> c_int;
    fn epoll_pwait(poll: c_int, events: *mut c_void, room: c_int, timeout: c_int, mask: *const c_void) -> c_int;
    fn munmap(address: *mut c_void, size: usize) -> c_int;
    fn sigaltstack(new: *const c_void, old: *mut c_void) -> c_int;
}

real_functions! {
    openmp:
    fn omp_get_num_threads() -> c_int;
    fn GOMP_parallel(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, flags: c_uint);
    fn GOMP_parallel_reductions(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, flags: c_uint) -> c_uint;
    fn GOMP_parallel_sections(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, count: c_uint, flags: c_uint);
    fn GOMP_parallel_loop_static(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    fn GOMP_parallel_loop_dynamic(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    fn GOMP_parallel_loop_guided(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    fn GOMP_parallel_loop_nonmonotonic_dynamic(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    fn GOMP_parallel_loop_nonmonotonic_guided(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, chunk: c_long, flags: c_uint);
    fn GOMP_parallel_loop_runtime(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, flags: c_uint);
    fn GOMP_parallel_loop_nonmonotonic_runtime(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, flags: c_uint);
    fn GOMP_parallel_loop_maybe_nonmonotonic_runtime(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, threads: c_uint, from: c_long, to: c_long, step: c_long, flags: c_uint);
    fn GOMP_barrier();
    fn GOMP_barrier_cancel() -> bool;
    fn GOMP_loop_end();
    fn GOMP_loop_end_cancel() -> bool;
    fn GOMP_sections_end();
    fn GOMP_sections_end_cancel() -> bool;
    fn GOMP_taskwait();
    fn GOMP_taskgroup_end();
    fn GOMP_task(region: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void, copy: Option<unsafe extern "C-unwind" fn(*mut c_void, *const c_void)>, bytes: c_long, align: c_long, deferred: bool, flags: c_uint, depend: *mut *mut c_void, priority: c_int, detach: *mut c_void);
    fn GOMP_single_copy_start() -> *mut c_void;
    fn GOMP_single_copy_end(given: *mut c_void);
    fn GOMP_critical_start();
    fn GOMP_critical_end();
    fn GOMP_critical_name_start(name: *mut *mut c_void);
    fn GOMP_critical_name_end(name: *mut *mut c_void);
    fn GOMP_atomic_start();
    fn GOMP_atomic_end();
    fn GOMP_ordered_start();
    fn GOMP_ordered_end();
    fn omp_set_lock(lock: *mut c_void);
    fn omp_unset_lock(lock: *mut c_void);
    fn omp_test_lock(lock: *mut c_void) -> c_int;
    fn omp_set_nest_lock(lock: *mut c_void);
    fn omp_unset_nest_lock(lock: *mut c_void);
    fn omp_test_nest_lock(lock: *mut c_void) -> c_int;
}

real_functions! {
    glib:
    fn g_mutex_lock(mutex: *mut c_void);
    fn g_mutex_trylock(mutex: *mut c_void) -> c_int;
    fn g_mutex_unlock(mutex: *mut c_void);
    fn g_mutex_clear(mutex: *mut c_void);
    fn g_cond_wait(condition: *mut c_void, mutex: *mut c_void);
    fn g_cond_wait_until(condition: *mut c_void, mutex: *mut c_void, end: i64) -> c_int;
    fn g_async_queue_lock(queue: *mut c_void);
    fn g_async_queue_unlock(queue: *mut c_void);
    fn g_async_queue_push(queue: *mut c_void, data: *mut c_void);
    fn g_async_queue_push_unlocked(queue: *mut c_void, data: *mut c_void);
    fn g_async_queue_push_front(queue: *mut c_void, data: *mut c_void);
    fn g_async_queue_push_front_unlocked(queue: *mut c_void, data: *mut c_void);
    fn g_async_queue_push_sorted(queue: *mut c_void, data: *mut c_void, compare: *mut c_void, user: *mut c_void);
    fn g_async_queue_push_sorted_unlocked(queue: *mut c_void, data: *mut c_void, compare: *mut c_void, user: *mut c_void);
    fn g_async_queue_pop(queue: *mut c_void) -> *mut c_void;
    fn g_async_queue_pop_unlocked(queue: *mut c_void) -> *mut c_void;
    fn g_async_queue_try_pop(queue: *mut c_void) -> *mut c_void;
    fn g_async_queue_try_pop_unlocked(queue: *mut c_void) -> *mut c_void;
    fn g_async_queue_timeout_pop(queue: *mut c_void, time: u64) -> *mut c_void;
    fn g_async_queue_timeout_pop_unlocked(queue: *mut c_void, time: u64) -> *mut c_void;
    fn g_thread_pool_new(work: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void), user: *mut c_void, most: c_int, exclusive: c_int, error: *mut c_void) -> *mut c_void;
    fn g_thread_pool_new_full(work: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void), user: *mut c_void, free: *mut c_void, most: c_int, exclusive: c_int, error: *mut c_void) -> *mut c_void;
    fn g_thread_pool_push(pool: *mut c_void, task: *mut c_void, error: *mut c_void) -> c_int;
    fn g_thread_pool_free(pool: *mut c_void, at_once: c_int, waits: c_int);
}
