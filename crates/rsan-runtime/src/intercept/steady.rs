//! What a program takes from outside is kept from varying between runs: addresses, the time, random numbers.

use super::Call;
use crate::entry::entries;
use crate::real;
use crate::sched::{self, active, reuse};
#[cfg(not(test))]
use libc::c_char;
use libc::{c_int, c_uint, c_void, clockid_t, time_t, timespec, timeval};
use rsan_schedule::Random;
use std::sync::atomic::{AtomicU64, Ordering};

/// Starts the program again without randomised addresses, and with all functions resolved at its start, so that runs
/// from a snapshot need not do it. Returns if that was done already or is not allowed.
///
/// # Safety
/// What the system passes to a program.
#[cfg(not(test))]
pub(crate) unsafe fn restart(argv: *const *const c_char, environment: *const *const c_char) {
    use crate::system::system_call;
    /// The system's flag for a process whose addresses are not randomised.
    const FIXED: usize = libc::ADDR_NO_RANDOMIZE as usize;
    /// What asks for the flags of the process.
    const ASK: usize = 0xffff_ffff;
    let personality = |flags: usize| {
        // SAFETY: a plain call.
        unsafe { system_call(libc::SYS_personality, [flags, 0, 0, 0, 0, 0]) }
    };
    let before = personality(ASK);
    if before < 0 || before as usize & FIXED != 0 || personality(before as usize | FIXED) < 0 {
        return;
    }
    let now = c"LD_BIND_NOW=1";
    let mut variables = Vec::new();
    for index in 0.. {
        // SAFETY: the caller's promise: an array that ends with a null pointer.
        let variable = unsafe { environment.add(index).read() };
        if variable.is_null() {
            break;
        }
        variables.push(variable);
    }
    variables.extend([now.as_ptr(), std::ptr::null()]);
    let mut path = [0u8; libc::PATH_MAX as usize];
    let link = c"/proc/self/exe";
    // SAFETY: a C string, and room for the answer but its last byte, so that it ends.
    unsafe { libc::readlink(link.as_ptr(), path.as_mut_ptr().cast(), path.len() - 1) };
    let arguments = [
        path.as_ptr() as usize,
        argv as usize,
        variables.as_ptr() as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the path is a C string; the arrays end with null pointers. If it fails, the program goes on as it is.
    unsafe { system_call(libc::SYS_execve, arguments) };
}

/// Nanoseconds of the clock: it goes on when somebody looks, or sleeps.
static CLOCK: AtomicU64 = AtomicU64::new(0);
/// What the clock shows at the start of a run, in seconds: a day in 2024.
const START: u64 = 1_704_067_200;
const LOOK: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;

/// Somebody sleeps.
pub(crate) fn sleep(nanoseconds: u64) {
    // ORDERING: relaxed; one thread runs at a time.
    CLOCK.fetch_add(nanoseconds, Ordering::Relaxed);
}

/// Seconds and nanoseconds.
fn now() -> (u64, u64) {
    reuse::copy::depend();
    // ORDERING: relaxed; see `sleep`.
    let nanoseconds = CLOCK.fetch_add(LOOK, Ordering::Relaxed);
    (START + nanoseconds / SECOND, nanoseconds % SECOND)
}

unsafe extern "C-unwind" fn clock_time(clock: clockid_t, time: *mut timespec) -> c_int {
    if !active() || time.is_null() {
        // SAFETY: the program's call.
        return unsafe { real::clock_gettime(clock, time) };
    }
    let (seconds, nanoseconds) = now();
    // SAFETY: the program's place for the answer.
    unsafe {
        time.write(timespec {
            tv_sec: seconds as time_t,
            tv_nsec: nanoseconds as i64,
        });
    }
    0
}

unsafe extern "C-unwind" fn time_of_day(time: *mut timeval, zone: *mut c_void) -> c_int {
    if !active() || time.is_null() {
        // SAFETY: the program's call.
        return unsafe { real::gettimeofday(time, zone) };
    }
    let (seconds, nanoseconds) = now();
    // SAFETY: the program's place for the answer.
    unsafe {
        time.write(timeval {
            tv_sec: seconds as time_t,
            tv_usec: (nanoseconds / 1000) as i64,
        });
    }
    0
}

unsafe extern "C-unwind" fn seconds(time: *mut time_t) -> time_t {
    if !active() {
        // SAFETY: the program's call.
        return unsafe { real::time(time) };
    }
    let seconds = now().0 as time_t;
    if !time.is_null() {
        // SAFETY: the program's place for the answer.
        unsafe { time.write(seconds) };
    }
    seconds
}

/// The state of the numbers that are random to the program.
static RANDOM: AtomicU64 = AtomicU64::new(0);

fn random() -> u64 {
    reuse::copy::depend();
    // ORDERING: relaxed; see `sleep`.
    let state = sched::draw().map_or_else(
        || RANDOM.fetch_add(Random::STEP, Ordering::Relaxed),
        |number| number.wrapping_mul(Random::STEP),
    );
    Random::new(state).bits()
}

/// # Safety
/// The program's buffer.
unsafe fn fill(buffer: *mut c_void, bytes: usize) {
    for index in 0..bytes {
        // SAFETY: the caller's promise.
        unsafe {
            buffer
                .cast::<u8>()
                .add(index)
                .write_volatile(random() as u8)
        };
    }
}

unsafe extern "C-unwind" fn get_random(buffer: *mut c_void, bytes: usize, flags: c_uint) -> isize {
    if !active() {
        // SAFETY: the program's call.
        return unsafe { real::getrandom(buffer, bytes, flags) };
    }
    // SAFETY: the program's buffer.
    unsafe { fill(buffer, bytes) };
    bytes as isize
}

unsafe extern "C-unwind" fn get_entropy(buffer: *mut c_void, bytes: usize) -> c_int {
    if !active() {
        // SAFETY: the program's call.
        return unsafe { real::getentropy(buffer, bytes) };
    }
    // SAFETY: the program's buffer.
    unsafe { fill(buffer, bytes) };
    0
}

unsafe extern "C-unwind" fn random_word() -> u32 {
    if active() {
        return random() as u32;
    }
    // SAFETY: the program's call.
    unsafe { real::arc4random() }
}

unsafe extern "C-unwind" fn random_bytes(buffer: *mut c_void, bytes: usize) {
    // SAFETY: the program's buffer and call.
    unsafe {
        if active() {
            fill(buffer, bytes);
        } else {
            real::arc4random_buf(buffer, bytes);
        }
    }
}

/// What they write is written for the program.
macro_rules! noted {
    ($($name:ident => $target:ident($($arg:ident: $type:ty),*) -> $ret:ty, $result:ident writes($to:ident, $bytes:expr);)+) => {
        mod noted {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> $ret {
                let call = Call::of(real::c_name!($name));
                // SAFETY: the program's call.
                let $result = unsafe { $target($($arg),*) };
                call.resume();
                call.writes($to, $bytes);
                $result
            })+
        }
        entries! { $($name => noted::$name;)+ }
    };
}

noted! {
    clock_gettime => clock_time(clock: clockid_t, time: *mut timespec) -> c_int, result writes(time, if result == 0 { 16 } else { 0 });
    gettimeofday => time_of_day(time: *mut timeval, zone: *mut c_void) -> c_int, result writes(time, if result == 0 { 16 } else { 0 });
    time => seconds(time: *mut time_t) -> time_t, result writes(time, 8);
    getrandom => get_random(buffer: *mut c_void, bytes: usize, flags: c_uint) -> isize, result writes(buffer, result.max(0) as usize);
    getentropy => get_entropy(buffer: *mut c_void, bytes: usize) -> c_int, result writes(buffer, if result == 0 { bytes } else { 0 });
}

entries! {
    arc4random => random_word;
    arc4random_buf => random_bytes;
}
