//! Reading and writing: the buffers are accessed, and what is written to a pipe, a socket or an event counter comes
//! before reading it.
//!
//! A clock belongs to what the descriptor stands for: the inode of a pipe, the two ends of a connection, the number
//! of an event counter. Other sockets share one clock. Files order nothing.

use super::memory::note;
use crate::race::Kind;
use crate::{real, sched, sync};
use libc::{c_int, c_uint, c_void, iovec, msghdr, off_t, sockaddr};
use std::sync::atomic::AtomicU64;

const CLOCKS: usize = 1 << 16;

/// Only their addresses are used: a clock for each class of equal hashes.
static FILES: [AtomicU64; CLOCKS] = [const { AtomicU64::new(0) }; CLOCKS];

fn hash(words: &[u64]) -> usize {
    let mix = |sum: u64, word: &u64| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 29
    };
    words.iter().fold(0, mix) as usize
}

/// An end of a connection as a number; 0 if it has no name.
fn end_of(
    file: c_int,
    ask: unsafe extern "C" fn(c_int, *mut sockaddr, *mut c_uint) -> c_int,
) -> usize {
    // SAFETY: all bytes zero is a valid address.
    let mut address = unsafe { std::mem::zeroed::<libc::sockaddr_storage>() };
    let mut size = size_of_val(&address) as c_uint;
    // SAFETY: the address has that size.
    let result = unsafe { ask(file, (&raw mut address).cast(), &raw mut size) };
    let words = size as usize / size_of::<u64>();
    // Families that have no name in what follows, such as Unix's, are as long as the family's number.
    if result != 0 || words == 0 {
        return 0;
    }
    // SAFETY: the address is larger than that, and initialised.
    hash(unsafe { std::slice::from_raw_parts((&raw const address).cast(), words) })
}

/// The address of the clock of what a descriptor stands for.
fn clock(file: c_int) -> Option<usize> {
    if !crate::runtime::is_awake() {
        return None;
    }
    // SAFETY: this thread's own word.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: all bytes zero is a valid value, and is filled in.
    let mut status = unsafe { std::mem::zeroed::<libc::stat>() };
    // SAFETY: the system fills it in.
    let known = unsafe { libc::syscall(libc::SYS_fstat, file, &raw mut status) } == 0;
    let key = match status.st_mode & libc::S_IFMT {
        _ if !known => None,
        libc::S_IFIFO => Some(hash(&[1, status.st_dev, status.st_ino])),
        libc::S_IFSOCK => {
            let ends = [
                end_of(file, libc::getsockname),
                end_of(file, libc::getpeername),
            ];
            let named = ends.iter().all(|end| *end != 0);
            Some(if named { ends[0] ^ ends[1] } else { hash(&[2]) })
        }
        0 => Some(hash(&[3, file as u64])),
        _ => None,
    };
    // SAFETY: this thread's own word.
    unsafe { *libc::__errno_location() = errno };
    key.map(|key| (&raw const FILES[key % CLOCKS]) as usize)
}

/// Something is written: it comes before whoever reads it.
fn given(file: c_int) {
    if let Some(clock) = clock(file) {
        sync::release(clock);
    }
}

/// Reads by `read` with the clock looked up before, and takes what was left there.
fn got<R: PartialOrd + From<i8>>(file: c_int, read: impl FnOnce() -> R) -> R {
    let clock = clock(file);
    let result = match clock {
        Some(_) => sched::outside(read),
        None => read(),
    };
    if let Some(clock) = clock
        && result >= R::from(0)
    {
        sync::acquire(clock);
    }
    result
}

/// The bytes that a call has read are written to the buffer.
fn filled(buffer: *mut c_void, result: isize) {
    if result > 0 {
        note(&[(buffer as usize, result as usize, Kind::WRITE)]);
    }
}

fn used(buffer: *const c_void, bytes: usize) {
    note(&[(buffer as usize, bytes, Kind::READ)]);
}

/// The parts of a vector, of which `bytes` are used.
///
/// # Safety
/// The program's vector.
unsafe fn each_part(parts: *const iovec, count: usize, mut bytes: usize, kind: Kind) {
    for index in 0..count {
        // SAFETY: the caller's promise.
        let part = unsafe { parts.add(index).read() };
        let size = part.iov_len.min(bytes);
        note(&[(part.iov_base as usize, size, kind)]);
        bytes -= size;
    }
}

unsafe extern "C-unwind" fn read(file: c_int, buffer: *mut c_void, bytes: usize) -> isize {
    // SAFETY: the program's call.
    let result = got(file, || unsafe { real::read(file, buffer, bytes) });
    filled(buffer, result);
    result
}

unsafe extern "C-unwind" fn read_at(
    file: c_int,
    buffer: *mut c_void,
    bytes: usize,
    at: off_t,
) -> isize {
    // SAFETY: the program's call.
    let result = unsafe { real::pread(file, buffer, bytes, at) };
    filled(buffer, result);
    result
}

unsafe extern "C-unwind" fn read_parts(file: c_int, parts: *const iovec, count: c_int) -> isize {
    // SAFETY: the program's call.
    unsafe {
        let result = got(file, || real::readv(file, parts, count));
        if result > 0 {
            each_part(parts, count as usize, result as usize, Kind::WRITE);
        }
        result
    }
}

unsafe extern "C-unwind" fn write(file: c_int, buffer: *const c_void, bytes: usize) -> isize {
    used(buffer, bytes);
    given(file);
    // SAFETY: the program's call.
    unsafe { real::write(file, buffer, bytes) }
}

unsafe extern "C-unwind" fn write_at(
    file: c_int,
    buffer: *const c_void,
    bytes: usize,
    at: off_t,
) -> isize {
    used(buffer, bytes);
    // SAFETY: the program's call.
    unsafe { real::pwrite(file, buffer, bytes, at) }
}

unsafe extern "C-unwind" fn write_parts(file: c_int, parts: *const iovec, count: c_int) -> isize {
    // SAFETY: the program's call.
    unsafe {
        each_part(parts, count.max(0) as usize, usize::MAX, Kind::READ);
        given(file);
        real::writev(file, parts, count)
    }
}

unsafe extern "C-unwind" fn send(
    file: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    used(buffer, bytes);
    given(file);
    // SAFETY: the program's call.
    unsafe { real::send(file, buffer, bytes, flags) }
}

unsafe extern "C-unwind" fn send_to(
    file: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
    to: *const sockaddr,
    size: c_uint,
) -> isize {
    used(buffer, bytes);
    given(file);
    // SAFETY: the program's call.
    unsafe { real::sendto(file, buffer, bytes, flags, to, size) }
}

unsafe extern "C-unwind" fn send_message(
    file: c_int,
    message: *const msghdr,
    flags: c_int,
) -> isize {
    // SAFETY: the program's call.
    unsafe {
        each_part(
            (*message).msg_iov,
            (*message).msg_iovlen,
            usize::MAX,
            Kind::READ,
        );
        given(file);
        real::sendmsg(file, message, flags)
    }
}

unsafe extern "C-unwind" fn receive(
    file: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    // SAFETY: the program's call.
    let result = got(file, || unsafe { real::recv(file, buffer, bytes, flags) });
    filled(buffer, result.min(bytes as isize));
    result
}

unsafe extern "C-unwind" fn receive_from(
    file: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
    from: *mut sockaddr,
    size: *mut c_uint,
) -> isize {
    // SAFETY: the program's call.
    let result = got(file, || unsafe {
        real::recvfrom(file, buffer, bytes, flags, from, size)
    });
    filled(buffer, result.min(bytes as isize));
    result
}

unsafe extern "C-unwind" fn receive_message(
    file: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> isize {
    // SAFETY: the program's call.
    unsafe {
        let result = got(file, || real::recvmsg(file, message, flags));
        if result > 0 {
            each_part(
                (*message).msg_iov,
                (*message).msg_iovlen,
                result as usize,
                Kind::WRITE,
            );
        }
        result
    }
}

/// libc's functions for event counters do not call those above.
unsafe extern "C-unwind" fn count_up(file: c_int, count: u64) -> c_int {
    given(file);
    // SAFETY: the program's call.
    unsafe { real::eventfd_write(file, count) }
}

unsafe extern "C-unwind" fn take_count(file: c_int, count: *mut u64) -> c_int {
    // SAFETY: the program's call.
    let result = got(file, || unsafe { real::eventfd_read(file, count) });
    if result == 0 {
        filled(count.cast(), size_of::<u64>() as isize);
    }
    result
}

/// The other end reads the end of what was written.
unsafe extern "C-unwind" fn close(file: c_int) -> c_int {
    given(file);
    // SAFETY: the program's call.
    unsafe { real::close(file) }
}

unsafe extern "C-unwind" fn shut_down(file: c_int, how: c_int) -> c_int {
    given(file);
    // SAFETY: the program's call.
    unsafe { real::shutdown(file, how) }
}

/// Whoever waits gets what was registered.
unsafe extern "C-unwind" fn poll_control(
    poll: c_int,
    operation: c_int,
    file: c_int,
    event: *mut c_void,
) -> c_int {
    given(poll);
    // SAFETY: the program's call.
    unsafe { real::epoll_ctl(poll, operation, file, event) }
}

unsafe extern "C-unwind" fn poll_wait(
    poll: c_int,
    events: *mut c_void,
    room: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: the program's call.
    got(poll, || unsafe {
        sched::outside(|| real::epoll_wait(poll, events, room, timeout))
    })
}

unsafe extern "C-unwind" fn poll_wait_masked(
    poll: c_int,
    events: *mut c_void,
    room: c_int,
    timeout: c_int,
    mask: *const c_void,
) -> c_int {
    // SAFETY: the program's call.
    got(poll, || unsafe {
        sched::outside(|| real::epoll_pwait(poll, events, room, timeout, mask))
    })
}

/// The exported names, which are those of the functions above.
pub mod exported {
    use crate::entries;

    entries! {
        read => super::read;
        pread => super::read_at;
        pread64 => super::read_at;
        readv => super::read_parts;
        write => super::write;
        pwrite => super::write_at;
        pwrite64 => super::write_at;
        writev => super::write_parts;
        send => super::send;
        sendto => super::send_to;
        sendmsg => super::send_message;
        recv => super::receive;
        recvfrom => super::receive_from;
        recvmsg => super::receive_message;
        eventfd_write => super::count_up;
        eventfd_read => super::take_count;
        close => super::close;
        shutdown => super::shut_down;
        epoll_ctl => super::poll_control;
        epoll_wait => super::poll_wait;
        epoll_pwait => super::poll_wait_masked;
    }
}
