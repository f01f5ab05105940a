//! Reading and writing: the descriptors are used, the buffers are accessed, and what is written to a channel comes before
//! reading it (`channels`).

use super::call::Call;
use super::channels::{given, got, taken};
use crate::race::Kind;
use crate::{real, sched};
use libc::{c_int, c_uint, c_void, iovec, off_t};

unsafe extern "C-unwind" fn read(file: c_int, buffer: *mut c_void, bytes: usize) -> isize {
    let call = Call::of(c"read");
    call.uses(file);
    // SAFETY: the program's call.
    let result = got(&call, file, || unsafe { real::read(file, buffer, bytes) });
    call.fills(buffer, result);
    result
}

unsafe extern "C-unwind" fn read_parts(file: c_int, parts: *const iovec, count: c_int) -> isize {
    let call = Call::of(c"readv");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        let result = got(&call, file, || real::readv(file, parts, count));
        filled(&call, parts, count, result);
        result
    }
}

/// The parts of a vector are filled with so many bytes.
///
/// # Safety
/// The program's vector.
unsafe fn filled(call: &Call, parts: *const iovec, count: c_int, bytes: isize) {
    if bytes > 0 {
        // SAFETY: the caller's promise.
        unsafe { call.parts(parts, count as usize, bytes as usize, Kind::WRITE) };
    }
}

unsafe extern "C-unwind" fn write(file: c_int, buffer: *const c_void, bytes: usize) -> isize {
    let call = Call::of(c"write");
    call.uses(file);
    call.reads(buffer, bytes);
    given(&call, file);
    // SAFETY: the program's call.
    unsafe { real::write(file, buffer, bytes) }
}

unsafe extern "C-unwind" fn write_parts(file: c_int, parts: *const iovec, count: c_int) -> isize {
    let call = Call::of(c"writev");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        call.parts(parts, count.max(0) as usize, usize::MAX, Kind::READ);
        given(&call, file);
        real::writev(file, parts, count)
    }
}

/// Vectors at a place in a file; -1 is where the file is, so that a pipe can be read and written, too.
macro_rules! vectors {
    ($($name:ident($($flags:ident: $type:ty)?) $kind:ident;)+) => {
        mod vectors {
            use super::*;

            $(pub(super) unsafe extern "C-unwind" fn $name(
                file: c_int, parts: *const iovec, count: c_int, at: off_t $(, $flags: $type)?
            ) -> isize {
                let call = Call::of(crate::real::c_name!($name));
                call.uses(file);
                // SAFETY: the program's call.
                let real = || unsafe { real::$name(file, parts, count, at $(, $flags)?) };
                // SAFETY: the program's vector.
                unsafe { vectors!(@$kind call, file, parts, count, real) }
            })+
        }
        crate::entry::interceptors! { $($name => vectors::$name;)+ }
    };
    (@read $call:ident, $file:ident, $parts:ident, $count:ident, $real:ident) => {{
        let result = got(&$call, $file, $real);
        filled(&$call, $parts, $count, result);
        result
    }};
    (@write $call:ident, $file:ident, $parts:ident, $count:ident, $real:ident) => {{
        $call.parts($parts, $count.max(0) as usize, usize::MAX, Kind::READ);
        given(&$call, $file);
        $real()
    }};
}

vectors! {
    preadv() read;
    preadv64() read;
    preadv2(flags: c_int) read;
    preadv64v2(flags: c_int) read;
    pwritev() write;
    pwritev64() write;
    pwritev2(flags: c_int) write;
    pwritev64v2(flags: c_int) write;
}

/// What is moved from one descriptor to another was written before, and comes before whoever reads it.
fn moved<R>(call: &Call, from: c_int, to: c_int, act: impl FnOnce() -> R) -> R {
    call.uses(from);
    call.uses(to);
    taken(call, from);
    given(call, to);
    let result = sched::outside(act);
    taken(call, from);
    given(call, to);
    result
}

type Offset = *mut off_t;

unsafe extern "C-unwind" fn splice(
    from: c_int,
    start: Offset,
    to: c_int,
    at: Offset,
    bytes: usize,
    flags: c_uint,
) -> isize {
    let call = Call::of(c"splice");
    // SAFETY: the program's call.
    moved(&call, from, to, || unsafe {
        real::splice(from, start, to, at, bytes, flags)
    })
}

unsafe extern "C-unwind" fn tee(from: c_int, to: c_int, bytes: usize, flags: c_uint) -> isize {
    let call = Call::of(c"tee");
    // SAFETY: the program's call.
    moved(&call, from, to, || unsafe {
        real::tee(from, to, bytes, flags)
    })
}

unsafe extern "C-unwind" fn send_file(to: c_int, from: c_int, at: Offset, bytes: usize) -> isize {
    let call = Call::of(c"sendfile");
    // SAFETY: the program's call.
    moved(&call, from, to, || unsafe {
        real::sendfile(to, from, at, bytes)
    })
}

unsafe extern "C-unwind" fn splice_parts(
    file: c_int,
    parts: *const iovec,
    count: usize,
    flags: c_uint,
) -> isize {
    let call = Call::of(c"vmsplice");
    call.uses(file);
    // SAFETY: the program's call. A pipe that is read from is rare, and its parts are not looked at then.
    unsafe {
        let access = libc::syscall(libc::SYS_fcntl, file, libc::F_GETFL) as c_int & libc::O_ACCMODE;
        if access != libc::O_RDONLY {
            call.parts(parts, count, usize::MAX, Kind::READ);
        }
        given(&call, file);
        got(&call, file, || real::vmsplice(file, parts, count, flags))
    }
}

/// libc's functions for event counters do not call those above.
unsafe extern "C-unwind" fn count_up(file: c_int, count: u64) -> c_int {
    let call = Call::of(c"eventfd_write");
    call.uses(file);
    given(&call, file);
    // SAFETY: the program's call.
    unsafe { real::eventfd_write(file, count) }
}

unsafe extern "C-unwind" fn take_count(file: c_int, count: *mut u64) -> c_int {
    let call = Call::of(c"eventfd_read");
    call.uses(file);
    // SAFETY: the program's call.
    let result = got(&call, file, || unsafe { real::eventfd_read(file, count) });
    call.writes_one(count, result == 0);
    result
}

/// Whoever waits gets what was registered.
unsafe extern "C-unwind" fn poll_control(
    poll: c_int,
    operation: c_int,
    file: c_int,
    event: *mut libc::epoll_event,
) -> c_int {
    let call = Call::of(c"epoll_ctl");
    call.uses(poll);
    call.uses(file);
    call.reads_one(event);
    given(&call, poll);
    // SAFETY: the program's call.
    unsafe { real::epoll_ctl(poll, operation, file, event.cast()) }
}

type Events = *mut libc::epoll_event;

/// Waits by `wait`, which fills in events.
fn waited(call: &Call, poll: c_int, events: Events, wait: impl FnOnce() -> c_int) -> c_int {
    call.uses(poll);
    let result = got(call, poll, || sched::outside(wait));
    call.writes(
        events,
        result.max(0) as usize * size_of::<libc::epoll_event>(),
    );
    result
}

unsafe extern "C-unwind" fn poll_wait(
    poll: c_int,
    events: Events,
    room: c_int,
    timeout: c_int,
) -> c_int {
    let call = Call::of(c"epoll_wait");
    // SAFETY: the program's call.
    waited(&call, poll, events, || unsafe {
        real::epoll_wait(poll, events.cast(), room, timeout)
    })
}

unsafe extern "C-unwind" fn poll_wait_masked(
    poll: c_int,
    events: Events,
    room: c_int,
    timeout: c_int,
    mask: *const c_void,
) -> c_int {
    let call = Call::of(c"epoll_pwait");
    // SAFETY: the program's call.
    waited(&call, poll, events, || unsafe {
        real::epoll_pwait(poll, events.cast(), room, timeout, mask)
    })
}

/// The exported names, which are those of the functions above.
pub mod exported {
    use crate::entry::interceptors;

    interceptors! {
        read => super::read;
        readv => super::read_parts;
        write => super::write;
        writev => super::write_parts;
        splice => super::splice;
        tee => super::tee;
        vmsplice => super::splice_parts;
        sendfile => super::send_file;
        sendfile64 => super::send_file;
        eventfd_write => super::count_up;
        eventfd_read => super::take_count;
        epoll_ctl => super::poll_control;
        epoll_wait => super::poll_wait;
        epoll_pwait => super::poll_wait_masked;
    }
}
