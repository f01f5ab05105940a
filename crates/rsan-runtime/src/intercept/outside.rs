//! Calls that wait for something outside the program. To the monitors they are nothing; if the schedule is ours, the
//! other threads go on meanwhile.

use crate::{entries, real, sched};
use libc::{c_int, c_uint, c_ulong, c_void, pid_t, sigset_t, sockaddr, timespec};

macro_rules! outside {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)+) => {
        mod functions {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> $result {
                // SAFETY: the program's call.
                sched::outside(|| unsafe { real::$name($($arg),*) })
            })+
        }
        entries! { $($name => functions::$name;)+ }
    };
}

type Time = *const timespec;
type Socket = *mut sockaddr;

outside! {
    poll(events: *mut c_void, count: c_ulong, timeout: c_int) -> c_int;
    ppoll(events: *mut c_void, count: c_ulong, timeout: Time, mask: *const sigset_t) -> c_int;
    select(count: c_int, read: *mut c_void, write: *mut c_void, other: *mut c_void, timeout: *mut c_void) -> c_int;
    pselect(count: c_int, read: *mut c_void, write: *mut c_void, other: *mut c_void, timeout: Time, mask: *const sigset_t) -> c_int;
    accept(file: c_int, address: Socket, size: *mut c_uint) -> c_int;
    accept4(file: c_int, address: Socket, size: *mut c_uint, flags: c_int) -> c_int;
    connect(file: c_int, address: *const sockaddr, size: c_uint) -> c_int;
    wait(status: *mut c_int) -> pid_t;
    waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t;
    sigwait(signals: *const sigset_t, signal: *mut c_int) -> c_int;
    sigtimedwait(signals: *const sigset_t, info: *mut c_void, timeout: Time) -> c_int;
    sigwaitinfo(signals: *const sigset_t, info: *mut c_void) -> c_int;
    pause() -> c_int;
}
