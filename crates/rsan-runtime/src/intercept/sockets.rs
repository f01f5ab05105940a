//! Sockets: messages, and connections (`channels`).

use super::call::Call;
use super::channels::{accepts, connects, given, got, listens};
use super::lives;
use crate::race::Kind;
use crate::real;
use libc::{c_int, c_uint, c_void, mmsghdr, msghdr, sockaddr};

unsafe extern "C-unwind" fn send(
    file: c_int,
    buffer: *const c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    let call = Call::of(c"send");
    call.uses(file);
    call.reads(buffer, bytes);
    given(&call, file);
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
    let call = Call::of(c"sendto");
    call.uses(file);
    call.reads(buffer, bytes);
    call.reads(to, size as usize);
    given(&call, file);
    // SAFETY: the program's call.
    unsafe { real::sendto(file, buffer, bytes, flags, to, size) }
}

/// A message is sent.
///
/// # Safety
/// The program's message.
unsafe fn sends(call: &Call, message: *const msghdr) {
    // SAFETY: the caller's promise.
    if let Some(message) = unsafe { message.as_ref() } {
        call.reads(message.msg_name, message.msg_namelen as usize);
        call.reads(message.msg_control, message.msg_controllen);
        // SAFETY: as above.
        unsafe { call.parts(message.msg_iov, message.msg_iovlen, usize::MAX, Kind::READ) };
    }
}

/// A message with so many bytes was received.
///
/// # Safety
/// The program's message.
unsafe fn received(call: &Call, message: *const msghdr, bytes: usize) {
    // SAFETY: the caller's promise.
    if let Some(message) = unsafe { message.as_ref() } {
        // SAFETY: as above.
        unsafe { call.parts(message.msg_iov, message.msg_iovlen, bytes, Kind::WRITE) };
        call.writes(message.msg_name, message.msg_namelen as usize);
        call.writes(message.msg_control, message.msg_controllen);
    }
}

unsafe extern "C-unwind" fn send_message(
    file: c_int,
    message: *const msghdr,
    flags: c_int,
) -> isize {
    let call = Call::of(c"sendmsg");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        sends(&call, message);
        given(&call, file);
        real::sendmsg(file, message, flags)
    }
}

unsafe extern "C-unwind" fn send_messages(
    file: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    let call = Call::of(c"sendmmsg");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        for index in 0..count as usize {
            sends(&call, &raw const (*messages.add(index)).msg_hdr);
        }
        given(&call, file);
        let result = real::sendmmsg(file, messages, count, flags);
        for index in 0..result.max(0) as usize {
            call.writes_one(&raw const (*messages.add(index)).msg_len, true);
        }
        result
    }
}

unsafe extern "C-unwind" fn receive(
    file: c_int,
    buffer: *mut c_void,
    bytes: usize,
    flags: c_int,
) -> isize {
    let call = Call::of(c"recv");
    call.uses(file);
    // SAFETY: the program's call.
    let result = got(&call, file, || unsafe {
        real::recv(file, buffer, bytes, flags)
    });
    call.fills(buffer, result.min(bytes as isize));
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
    let call = Call::of(c"recvfrom");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        let room = size.as_ref().map_or(0, |size| *size);
        let result = got(&call, file, || {
            real::recvfrom(file, buffer, bytes, flags, from, size)
        });
        call.fills(buffer, result.min(bytes as isize));
        call.fills_address(from, room, size, result >= 0);
        result
    }
}

unsafe extern "C-unwind" fn receive_message(
    file: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> isize {
    let call = Call::of(c"recvmsg");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        let result = got(&call, file, || real::recvmsg(file, message, flags));
        if result >= 0 {
            received(&call, message, result as usize);
        }
        result
    }
}

unsafe extern "C-unwind" fn receive_messages(
    file: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut c_void,
) -> c_int {
    let call = Call::of(c"recvmmsg");
    call.uses(file);
    // SAFETY: the program's call.
    unsafe {
        let result = got(&call, file, || {
            real::recvmmsg(file, messages, count, flags, timeout)
        });
        for index in 0..result.max(0) as usize {
            let message = messages.add(index);
            received(
                &call,
                &raw const (*message).msg_hdr,
                (*message).msg_len as usize,
            );
            call.writes_one(&raw const (*message).msg_len, true);
        }
        result
    }
}

/// The other end reads the end of what was written.
unsafe extern "C-unwind" fn shut_down(file: c_int, how: c_int) -> c_int {
    let call = Call::of(c"shutdown");
    call.uses(file);
    given(&call, file);
    // SAFETY: the program's call.
    unsafe { real::shutdown(file, how) }
}

unsafe extern "C-unwind" fn listen(file: c_int, backlog: c_int) -> c_int {
    let call = Call::of(c"listen");
    call.uses(file);
    listens(&call, file);
    // SAFETY: the program's call.
    unsafe { real::listen(file, backlog) }
}

unsafe extern "C-unwind" fn connect(file: c_int, address: *const sockaddr, size: c_uint) -> c_int {
    let call = Call::of(c"connect");
    call.uses(file);
    call.reads(address, size as usize);
    // SAFETY: the program's call.
    unsafe {
        connects(&call, address.cast(), size as usize, || {
            real::connect(file, address, size)
        })
    }
}

/// Accepts by `real`, which fills in the address.
///
/// # Safety
/// The program's call.
unsafe fn accepted(
    call: &Call,
    file: c_int,
    address: *mut sockaddr,
    size: *mut c_uint,
    real: impl FnOnce() -> c_int,
) -> c_int {
    call.uses(file);
    // SAFETY: the caller's promise.
    unsafe {
        let room = size.as_ref().map_or(0, |size| *size);
        let result = accepts(call, file, real);
        lives::created(call, result);
        call.fills_address(address, room, size, result >= 0);
        result
    }
}

unsafe extern "C-unwind" fn accept(
    file: c_int,
    address: *mut sockaddr,
    size: *mut c_uint,
) -> c_int {
    let call = Call::of(c"accept");
    // SAFETY: the program's call.
    unsafe {
        accepted(&call, file, address, size, || {
            real::accept(file, address, size)
        })
    }
}

unsafe extern "C-unwind" fn accept_with_flags(
    file: c_int,
    address: *mut sockaddr,
    size: *mut c_uint,
    flags: c_int,
) -> c_int {
    let call = Call::of(c"accept4");
    // SAFETY: the program's call.
    unsafe {
        accepted(&call, file, address, size, || {
            real::accept4(file, address, size, flags)
        })
    }
}

/// The exported names, which are those of the functions above.
pub mod exported {
    use crate::entry::interceptors;

    interceptors! {
        send => super::send;
        sendto => super::send_to;
        sendmsg => super::send_message;
        sendmmsg => super::send_messages;
        recv => super::receive;
        recvfrom => super::receive_from;
        recvmsg => super::receive_message;
        recvmmsg => super::receive_messages;
        shutdown => super::shut_down;
        listen => super::listen;
        connect => super::connect;
        accept => super::accept;
        accept4 => super::accept_with_flags;
    }
}
