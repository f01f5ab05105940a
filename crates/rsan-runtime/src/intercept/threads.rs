//! Creation and end of threads.

use super::cleanup;
use super::locks::blocking::wait_or_leave;
use crate::deadlock::Wait;
use crate::entry::interceptors;
use crate::real::{self, StartRoutine};
use crate::sched::lent::{self, Lent};
use crate::sched::waits::{self, Patience};
use crate::system::{ALL_SIGNALS, block_signals};
use crate::thread::{self, enter};
use crate::{sched, shadow};
use libc::{c_char, c_int, c_ulong, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use rsan_schedule::Kind;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const pthread_attr_t, state: *mut c_int) -> c_int;
    fn pthread_attr_getstackaddr(attr: *const pthread_attr_t, place: *mut *mut c_void) -> c_int;
}

/// Bytes below the stack of a thread that are not there, unless it asks for more.
pub(super) const GUARD: usize = 4096;

/// What a new thread is given.
struct Start {
    routine: StartRoutine,
    argument: *mut c_void,
    /// From [`thread::Newborn::word`].
    context: usize,
    /// Signals that its creator has blocked. All are, until it has its context.
    signals: u64,
    /// Its stack is memory of the program.
    has_own_stack: bool,
}

/// A private function that starts a thread is the harness of a test, which only waits for the thread: where threads are scheduled, it
/// does so at once. What the thread does depends on nothing that its creator does meanwhile.
unsafe extern "C-unwind" fn create(
    handle: *mut pthread_t,
    attr: *const pthread_attr_t,
    routine: StartRoutine,
    argument: *mut c_void,
) -> c_int {
    let is_private = thread::current().is_some_and(thread::Context::reveal);
    sched::point(Kind::Spawn, 0, 0);
    let newborn = enter().and_then(|mut me| thread::spawn(&mut me));
    let Some(newborn) = newborn else {
        // SAFETY: the program's call.
        return unsafe { real::pthread_create(handle, attr, routine, argument) };
    };
    let number = newborn.id();
    // SAFETY: the program's call.
    let result = unsafe { start(newborn, handle, attr, (routine, argument)) };
    if is_private && result == 0 && sched::active() {
        waits::join(number, Patience::Endless);
    }
    result
}

/// # Safety
/// As [`create`].
unsafe fn start(
    newborn: thread::Newborn,
    handle: *mut pthread_t,
    attr: *const pthread_attr_t,
    (routine, argument): (StartRoutine, *mut c_void),
) -> c_int {
    let number = newborn.id();
    if sched::active() {
        // SAFETY: the program's attributes.
        if let Some(bytes) = unsafe { plain_stack(attr) }
            && let Some(lent) = sched::borrow(number, bytes)
        {
            // SAFETY: the program's place for the handle.
            unsafe { handle.write(lent.handle()) };
            lend(lent, newborn, routine, argument);
            return 0;
        }
        sched::announce(number);
    }
    let start = Box::into_raw(Box::new(Start {
        routine,
        argument,
        context: newborn.word(),
        signals: 0,
        // SAFETY: the program's attributes.
        has_own_stack: unsafe { has_own_stack(attr) },
    }));
    let signals = block_signals(ALL_SIGNALS);
    // SAFETY: nobody else has it yet.
    unsafe { (*start).signals = signals };
    // SAFETY: the program's call, with a routine and an argument that fit each other, and perhaps another stack.
    let result = unsafe {
        let own = sched::heap::with_stack(number, attr);
        let attr = own.as_ref().map_or(attr, std::ptr::from_ref);
        real::pthread_create(handle, attr, run, start.cast())
    };
    block_signals(signals);
    let _me = enter();
    if result == 0 {
        // SAFETY: the handle was just written; the attributes are the program's.
        let (handle, detached) = unsafe { (*handle, is_detached(attr)) };
        newborn.announce(handle, detached);
        sched::settle(number);
    } else {
        // SAFETY: no thread took it.
        drop(unsafe { Box::from_raw(start) });
        sched::renounce(number);
        newborn.discard();
    }
    result
}

/// A thread that is there already becomes that of the program.
fn lend(lent: &mut Lent, newborn: thread::Newborn, routine: StartRoutine, argument: *mut c_void) {
    let _me = enter();
    let start = Box::new(Start {
        routine,
        argument,
        context: newborn.word(),
        signals: 0,
        has_own_stack: false,
    });
    lent.set_work(run_lent, Box::into_raw(start) as usize);
    newborn.announce(lent.handle(), false);
}

/// The first function of a thread that was lent.
unsafe extern "C-unwind" fn run_lent(lent: &mut Lent, start: usize) {
    let Start {
        routine,
        argument,
        context,
        ..
        // SAFETY: made by `lend` for this thread.
    } = *unsafe { Box::from_raw(start as *mut Start) };
    thread::begin(context);
    let frame = 0u8;
    let outermost = &raw const frame as usize;
    if let Some(me) = enter() {
        let [lowest, end] = lent.stack();
        thread::set_stack(me.state.id(), [lowest, outermost, end]);
        sched::stacks::add(me.state.id().index(), lowest, end);
    }
    sched::begin(outermost, true);
    sched::stacks::wipe(lent.stack()[0]);
    let mut result = None;
    // SAFETY: as the program asked.
    cleanup::until_exit(|| result = Some(unsafe { routine(argument) }));
    sched::come_to_end();
    // SAFETY: the program's functions are left for good.
    unsafe { sched::keys::destroy_all() };
    let number = finish_thread();
    lent.finish(result);
    if let Some(number) = number {
        sched::vanish(number);
    }
}

/// The calling thread is done, but for what libc does; its number, if it is scheduled.
pub(crate) fn finish_thread() -> Option<rsan_model::ThreadId> {
    super::locks::end_of_thread();
    let number = sched::number();
    thread::finish();
    crate::deadlock::thread_ended();
    number
}

/// # Safety
/// The attributes are null or valid.
unsafe fn is_detached(attr: *const pthread_attr_t) -> bool {
    let mut state = 0;
    // SAFETY: the caller's promise.
    !attr.is_null()
        && unsafe { pthread_attr_getdetachstate(attr, &raw mut state) } == 0
        && state == libc::PTHREAD_CREATE_DETACHED
}

/// Whether a thread with these attributes has a stack that the program made.
///
/// # Safety
/// The attributes are null or valid.
unsafe fn has_own_stack(attr: *const pthread_attr_t) -> bool {
    let mut place = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    !attr.is_null()
        && unsafe { pthread_attr_getstackaddr(attr, &raw mut place) } == 0
        && !place.is_null()
}

/// Bytes of stack that a thread with these attributes needs at least, if it is a thread like any other but for that.
///
/// # Safety
/// The attributes are null or valid.
unsafe fn plain_stack(attr: *const pthread_attr_t) -> Option<usize> {
    if attr.is_null() {
        return Some(0);
    }
    let (mut bytes, mut guard, mut inherits) = (0, 0, 0);
    // SAFETY: the caller's promise.
    unsafe {
        libc::pthread_attr_getstacksize(attr, &raw mut bytes);
        libc::pthread_attr_getguardsize(attr, &raw mut guard);
        libc::pthread_attr_getinheritsched(attr, &raw mut inherits);
        let plain = !is_detached(attr)
            && !has_own_stack(attr)
            && guard <= GUARD
            && inherits == libc::PTHREAD_INHERIT_SCHED;
        plain.then_some(bytes)
    }
}

/// The first function of every thread. It owns nothing when it calls the program's: that may never return.
unsafe extern "C-unwind" fn run(start: *mut c_void) -> *mut c_void {
    let Start {
        routine,
        argument,
        context,
        signals,
        has_own_stack,
        // SAFETY: made by `create` for this thread.
    } = *unsafe { Box::from_raw(start.cast::<Start>()) };
    thread::begin(context);
    block_signals(signals);
    let frame = 0u8;
    let lowest = forget_stack(&raw const frame as usize, has_own_stack);
    if !sched::active() {
        // SAFETY: as the program asked.
        return unsafe { routine(argument) };
    }
    sched::begin(&raw const frame as usize, false);
    if let Some(lowest) = lowest {
        sched::stacks::wipe(lowest);
    }
    // SAFETY: as the program asked.
    let result = cleanup::on_leaving(sched::go_home, || unsafe { routine(argument) });
    sched::go_home();
    result
}

/// The stack's memory may have been that of a thread before. `outermost` is in the first frame: what the thread calls
/// lies below, its thread-local variables above. The lowest address of the stack, if it is known.
fn forget_stack(outermost: usize, is_programs: bool) -> Option<usize> {
    let me = enter()?;
    // SAFETY: the attributes are filled in before they are read.
    unsafe {
        let mut attr = std::mem::zeroed::<pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attr) != 0 {
            return None;
        }
        let (mut base, mut bytes) = (std::ptr::null_mut(), 0);
        let known =
            libc::pthread_attr_getstack(&raw const attr, &raw mut base, &raw mut bytes) == 0;
        if known {
            shadow::forget(base as usize, bytes);
            let lowest = base as usize;
            thread::set_stack(me.state.id(), [lowest, outermost, lowest + bytes]);
            if sched::active() && !is_programs {
                sched::stacks::add(me.state.id().index(), lowest, lowest + bytes);
            }
        }
        libc::pthread_attr_destroy(&raw mut attr);
        known.then_some(base as usize)
    }
}

/// Waits by `wait` and takes over what the thread knew.
///
/// # Safety
/// `value` is null or a place for the thread's result.
unsafe fn joining(
    handle: pthread_t,
    value: *mut *mut c_void,
    patience: Patience,
    wait: impl FnOnce() -> c_int,
) -> c_int {
    let awaited = enter().and_then(|_me| thread::find(handle));
    let endless = awaited.filter(|_| patience == Patience::Endless);
    let until = endless.map(|awaited| awaited.id());
    if let (Some(me), Some(other)) = (enter(), until) {
        me.wait_for(other);
    }
    if let Some(awaited) = awaited.filter(|_| sched::active())
        && !waits::join(awaited.id(), patience)
    {
        return libc::ETIMEDOUT;
    }
    let result = match until {
        Some(other) => wait_or_leave(Wait::Join(other), wait),
        None => wait(),
    };
    if let (0, Some(awaited)) = (result, awaited) {
        awaited.join(enter().as_deref_mut());
    }
    if let (Some(me), Some(other)) = (enter(), until) {
        me.waited_for(other, result == 0);
    }
    if sched::active()
        && result == 0
        && let Some(result) = lent::result(handle)
        && !value.is_null()
    {
        // SAFETY: the caller's promise.
        unsafe { value.write(result) };
    }
    result
}

unsafe extern "C-unwind" fn join(handle: pthread_t, value: *mut *mut c_void) -> c_int {
    // SAFETY: the program's call.
    unsafe {
        joining(handle, value, Patience::Endless, || {
            real::pthread_join(handle, value)
        })
    }
}

unsafe extern "C-unwind" fn try_join(handle: pthread_t, value: *mut *mut c_void) -> c_int {
    // SAFETY: the program's call.
    unsafe {
        joining(handle, value, Patience::None, || {
            real::pthread_tryjoin_np(handle, value)
        })
    }
}

unsafe extern "C-unwind" fn timed_join(
    handle: pthread_t,
    value: *mut *mut c_void,
    until: *const timespec,
) -> c_int {
    // SAFETY: the program's call.
    unsafe {
        joining(handle, value, Patience::Limited, || {
            real::pthread_timedjoin_np(handle, value, until)
        })
    }
}

unsafe extern "C-unwind" fn clock_join(
    handle: pthread_t,
    value: *mut *mut c_void,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the program's call.
    unsafe {
        joining(handle, value, Patience::Limited, || {
            real::pthread_clockjoin_np(handle, value, clock, until)
        })
    }
}

unsafe extern "C-unwind" fn cancel(handle: pthread_t) -> c_int {
    let target = enter().and_then(|_me| thread::find(handle));
    // SAFETY: the program's call.
    let result = unsafe { real::pthread_cancel(handle) };
    if let Some(target) = target.filter(|_| sched::active()) {
        sched::cancel(target.id());
    }
    result
}

unsafe extern "C-unwind" fn detach(handle: pthread_t) -> c_int {
    // Before the real one: afterwards the handle may name another thread.
    if let Some(_me) = enter() {
        thread::detach(handle);
    }
    // SAFETY: the program's call.
    unsafe { real::pthread_detach(handle) }
}

/// A name that a program gives a thread, as the system keeps it.
///
/// # Safety
/// The name is null or a C string.
unsafe fn kept_name(name: *const c_char) -> [u8; thread::NAME] {
    let mut kept = [0; thread::NAME];
    if !name.is_null() {
        for (index, byte) in kept[..thread::NAME - 1].iter_mut().enumerate() {
            // SAFETY: the caller's promise; it stops at the end.
            *byte = unsafe { name.add(index).read() } as u8;
            if *byte == 0 {
                break;
            }
        }
    }
    kept
}

/// As libc answers for a thread whose name the system takes; a thread that was lent is none that the system knows.
///
/// # Safety
/// The name is a C string.
unsafe fn name_lent(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { libc::strnlen(name, thread::NAME) } < thread::NAME {
        true => 0,
        false => libc::ERANGE,
    }
}

unsafe extern "C-unwind" fn set_name(handle: pthread_t, name: *const c_char) -> c_int {
    // SAFETY: the program's call.
    let result = unsafe {
        match sched::active() && lent::stack_of(handle).is_some() {
            true => name_lent(name),
            false => real::pthread_setname_np(handle, name),
        }
    };
    if result == 0
        && let Some(_me) = enter()
        && let Some(target) = thread::find(handle)
    {
        // SAFETY: the program's name.
        thread::set_name(target.id(), unsafe { kept_name(name) });
    }
    result
}

/// The calling thread has a name.
///
/// # Safety
/// The name is null or a C string.
pub(crate) unsafe fn set_own_name(name: *const c_char) {
    if let Some(me) = enter() {
        // SAFETY: the caller's promise.
        thread::set_name(me.state.id(), unsafe { kept_name(name) });
    }
}

unsafe extern "C-unwind" fn control(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    // SAFETY: the program's call; arguments that it did not give are not looked at.
    let result = unsafe { real::prctl(option, a, b, c, d) };
    if option == libc::PR_SET_NAME && result == 0 {
        // SAFETY: the program's name.
        unsafe { set_own_name(a as *const c_char) };
    }
    result
}

/// A function of a C11 thread, and its argument.
struct C11Start {
    routine: unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

/// `thrd_error` and `thrd_nomem`.
const C11_ERROR: c_int = 2;
const C11_NO_MEMORY: c_int = 3;

fn c11_result(result: c_int) -> c_int {
    match result {
        0 => 0,
        libc::ENOMEM => C11_NO_MEMORY,
        _ => C11_ERROR,
    }
}

/// glibc's C11 threads are POSIX threads that it creates without calling `pthread_create`; these do.
unsafe extern "C-unwind" fn c11_create(
    handle: *mut pthread_t,
    routine: unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
) -> c_int {
    let start = Box::into_raw(Box::new(C11Start { routine, argument }));
    // SAFETY: the program's call, with a routine and an argument that fit each other.
    let result = unsafe { create(handle, std::ptr::null(), c11_run, start.cast()) };
    if result != 0 {
        // SAFETY: no thread took it.
        drop(unsafe { Box::from_raw(start) });
    }
    c11_result(result)
}

unsafe extern "C-unwind" fn c11_run(start: *mut c_void) -> *mut c_void {
    // SAFETY: made by `c11_create` for this thread.
    let C11Start { routine, argument } = *unsafe { Box::from_raw(start.cast::<C11Start>()) };
    // SAFETY: as the program asked.
    let result = unsafe { routine(argument) };
    result as isize as *mut c_void
}

unsafe extern "C-unwind" fn c11_join(handle: pthread_t, result: *mut c_int) -> c_int {
    let mut value = std::ptr::null_mut();
    // SAFETY: the program's call.
    let joined = unsafe { join(handle, &raw mut value) };
    if joined == 0 && !result.is_null() {
        // SAFETY: the program's place for the result.
        unsafe { result.write(value as isize as c_int) };
    }
    c11_result(joined)
}

unsafe extern "C-unwind" fn c11_detach(handle: pthread_t) -> c_int {
    // SAFETY: the program's call.
    c11_result(unsafe { detach(handle) })
}

interceptors! {
    pthread_create => create;
    pthread_join => join;
    pthread_tryjoin_np => try_join;
    pthread_timedjoin_np => timed_join;
    pthread_clockjoin_np => clock_join;
    pthread_cancel => cancel;
    pthread_detach => detach;
    pthread_setname_np => set_name;
    prctl => control;
    thrd_create => c11_create;
    thrd_join => c11_join;
    thrd_detach => c11_detach;
}
