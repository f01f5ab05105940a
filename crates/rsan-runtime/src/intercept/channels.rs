//! What is written to a pipe, a socket or an event counter comes before reading it; what is done before connecting comes before
//! accepting the connection, and listening before having connected.
//!
//! A clock belongs to what the descriptor stands for: the inode of a pipe, the two ports of a connection, the number
//! of an event counter, or that of which it is a duplicate. Other sockets, and those of datagrams, share one clock: of a pair of them, one may know its peer and the
//! other not. Files order nothing. Those who connect and accept meet at the port, or at the family of addresses: a path
//! may be written in several ways.

use super::call::Call;
use crate::system::keeping_errno;
use crate::{sched, sync};
use libc::{c_int, c_uint, c_void, sockaddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const CLOCKS: usize = 1 << 16;

/// Only their addresses are used: a clock for each class of equal hashes.
static CHANNELS: [AtomicU64; CLOCKS] = [const { AtomicU64::new(0) }; CLOCKS];

fn hash(words: &[u64]) -> usize {
    let mix = |sum: u64, word: &u64| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 29
    };
    words.iter().fold(0, mix) as usize
}

fn clock_of(key: usize) -> usize {
    (&raw const CHANNELS[key % CLOCKS]) as usize
}

/// What clocks are for.
const PIPE: u64 = 1;
const SOCKET: u64 = 2;
const COUNTER: u64 = 3;
const PORT: u64 = 4;
const MEETING: u64 = 5;

/// The family and the port of an address; there is a port only in the Internet's families.
fn family_and_port(address: &libc::sockaddr_storage, size: usize) -> (u16, Option<u16>) {
    let family = address.ss_family;
    let internet = [libc::AF_INET as u16, libc::AF_INET6 as u16].contains(&family);
    let has_port = internet && size >= size_of::<libc::sockaddr_in>();
    // SAFETY: the address is large enough, and the port is at the same place in both families.
    let port = || unsafe { (&raw const *address).cast::<u16>().add(1).read() };
    (family, has_port.then(port))
}

/// Descriptors with larger numbers are no duplicates to us.
const NUMBERS: usize = 1 << 14;

/// For each descriptor the one, plus 1, that it was duplicated from first of all, or 0. The system does not tell: event counters, polls and the like
/// share an inode. A number that is in use again may share a clock with what it was before, which orders more than there is.
static ORIGINS: [AtomicU32; NUMBERS] = [const { AtomicU32::new(0) }; NUMBERS];

fn origin(file: c_int) -> Option<&'static AtomicU32> {
    ORIGINS.get(usize::try_from(file).ok()?)
}

/// The number that a descriptor shares with its duplicates.
fn number_of(file: c_int) -> u64 {
    // ORDERING: relaxed, here and below; whoever uses a descriptor knows it from whoever made it.
    match origin(file).map(|origin| origin.load(Ordering::Relaxed)) {
        None | Some(0) => file as u64,
        Some(other) => u64::from(other - 1),
    }
}

/// The descriptor is new, and stands for something new.
pub(super) fn created(file: c_int) {
    if let Some(origin) = origin(file) {
        origin.store(0, Ordering::Relaxed);
    }
}

/// The second descriptor now stands for what the first one does.
pub(super) fn duplicated(from: c_int, to: c_int) {
    if let (Some(origin), true) = (origin(to), from != to) {
        origin.store(number_of(from) as u32 + 1, Ordering::Relaxed);
    }
}

type Ask = unsafe extern "C" fn(c_int, *mut sockaddr, *mut c_uint) -> c_int;

/// The address of an end of a socket, as far as it has one.
fn end_of(file: c_int, ask: Ask) -> Option<(u16, Option<u16>)> {
    // SAFETY: all bytes zero is a valid address.
    let mut address = unsafe { std::mem::zeroed::<libc::sockaddr_storage>() };
    let mut size = size_of_val(&address) as c_uint;
    // SAFETY: the address has that size.
    let result = unsafe { ask(file, (&raw mut address).cast(), &raw mut size) };
    (result == 0).then(|| family_and_port(&address, size as usize))
}

fn is_stream(file: c_int) -> bool {
    let (mut kind, mut size): (c_int, _) = (0, size_of::<c_int>() as c_uint);
    // SAFETY: the number has that size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_getsockopt,
            file,
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            &raw mut kind,
            &raw mut size,
        )
    };
    result == 0 && kind == libc::SOCK_STREAM
}

unsafe extern "C" fn own_name(file: c_int, to: *mut sockaddr, size: *mut c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_getsockname, file, to, size) as c_int }
}

unsafe extern "C" fn peer_name(file: c_int, to: *mut sockaddr, size: *mut c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_getpeername, file, to, size) as c_int }
}

/// The address of the clock of what a descriptor stands for.
fn clock(file: c_int) -> Option<usize> {
    if !crate::awake::is_awake() {
        return None;
    }
    // SAFETY: all bytes zero is a valid value, and is filled in.
    let mut status = unsafe { std::mem::zeroed::<libc::stat>() };
    // SAFETY: the system fills it in.
    let known = unsafe { libc::syscall(libc::SYS_fstat, file, &raw mut status) } == 0;
    let key = match status.st_mode & libc::S_IFMT {
        _ if !known => None,
        libc::S_IFIFO => Some(hash(&[PIPE, status.st_dev, status.st_ino])),
        libc::S_IFSOCK => {
            let port = |ask| end_of(file, ask).and_then(|end| end.1);
            let ports = is_stream(file).then(|| port(own_name).zip(port(peer_name)));
            let port = |port: u16| hash(&[PORT, u64::from(port)]);
            Some(match ports.flatten() {
                Some((one, two)) => port(one) ^ port(two),
                None => hash(&[SOCKET]),
            })
        }
        0 => Some(hash(&[COUNTER, number_of(file)])),
        _ => None,
    };
    key.map(clock_of)
}

/// Where those who connect and those who accept meet.
fn meeting((family, port): (u16, Option<u16>)) -> usize {
    let port = port.map_or(u64::MAX, u64::from);
    let family = if port == u64::MAX {
        u64::from(family)
    } else {
        0
    };
    clock_of(hash(&[MEETING, family, port]))
}

/// Something is written: it comes before whoever reads it.
pub(super) fn given(call: &Call, file: c_int) {
    if let Some(clock) = keeping_errno(|| clock(file)) {
        call.resume();
        sync::release(clock);
        call.resume();
    }
}

/// What was left there comes before what is next.
pub(super) fn taken(call: &Call, file: c_int) {
    take(call, keeping_errno(|| clock(file)));
}

fn take(call: &Call, clock: Option<usize>) {
    if let Some(clock) = clock {
        call.resume();
        sync::acquire(clock);
    }
    call.resume();
}

/// Reads by `read` with the clock looked up before, and takes what was left there.
pub(super) fn got<R: PartialOrd + From<i8>>(
    call: &Call,
    file: c_int,
    read: impl FnOnce() -> R,
) -> R {
    let clock = keeping_errno(|| clock(file));
    let result = match clock {
        Some(_) => sched::outside(read),
        None => read(),
    };
    take(call, clock.filter(|_| result >= R::from(0)));
    result
}

/// The socket is about to accept connections.
pub(super) fn listens(call: &Call, file: c_int) {
    if let Some(end) = keeping_errno(|| end_of(file, own_name)) {
        call.resume();
        sync::release(meeting(end));
        call.resume();
    }
}

/// Connects by `connect`: what was done before comes before accepting it.
///
/// # Safety
/// The program's address.
pub(super) unsafe fn connects(
    call: &Call,
    address: *const c_void,
    size: usize,
    connect: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: all bytes zero is a valid address.
    let mut known = unsafe { std::mem::zeroed::<libc::sockaddr_storage>() };
    let bytes = size.min(size_of_val(&known));
    if !address.is_null() {
        let to = (&raw mut known).cast::<u8>();
        // SAFETY: so much of the program's address, into one that is as large.
        unsafe { std::ptr::copy_nonoverlapping(address.cast::<u8>(), to, bytes) };
    }
    let meeting = meeting(family_and_port(&known, bytes));
    call.resume();
    sync::release(meeting);
    let result = sched::outside(connect);
    take(call, (result == 0).then_some(meeting));
    result
}

/// Accepts by `accept`: who has connected did so before.
pub(super) fn accepts(call: &Call, file: c_int, accept: impl FnOnce() -> c_int) -> c_int {
    let end = keeping_errno(|| end_of(file, own_name));
    let result = sched::outside(accept);
    take(call, end.filter(|_| result >= 0).map(meeting));
    result
}
