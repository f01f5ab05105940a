//! Descriptors: where they are created, used and closed ([`crate::descriptor`]).

use super::call::{Call, Text};
use super::channels::{self, given};
use super::lives;
use super::table::functions;
use crate::descriptor;
use crate::entry::interceptors;
use crate::real::{self, Real};
use libc::{DIR, FILE, c_int, c_uint, c_ulong, c_void, off_t, sockaddr};

impl Call {
    /// The function has created the descriptor, if it is one.
    fn creates(&self, file: c_int) {
        lives::created(self, file);
        channels::created(file);
    }

    /// The function has created the second descriptor as a duplicate of the first one.
    fn duplicates(&self, from: c_int, file: c_int) {
        self.creates(file);
        channels::duplicated(from, file);
    }

    /// The function has created two descriptors, if it has succeeded.
    ///
    /// # Safety
    /// The program's place for them.
    unsafe fn creates_two(&self, files: *const c_int, succeeded: bool) {
        for index in 0..if succeeded { 2 } else { 0 } {
            // SAFETY: the caller's promise.
            unsafe {
                self.writes_one(files.add(index), true);
                self.creates(files.add(index).read());
            }
        }
    }

    /// The function has made a stream of a file that it has opened.
    ///
    /// # Safety
    /// Null, or a stream.
    unsafe fn creates_stream(&self, stream: *mut FILE) {
        if !stream.is_null() {
            // SAFETY: the caller's promise.
            self.creates(unsafe { libc::fileno(stream) });
        }
    }

    /// The function has opened a folder.
    ///
    /// # Safety
    /// Null, or an open folder.
    unsafe fn creates_folder(&self, folder: *mut DIR) {
        if !folder.is_null() {
            // SAFETY: the caller's promise.
            self.creates(unsafe { libc::dirfd(folder) });
        }
    }

    /// The function may have duplicated the descriptor.
    fn controls(&self, file: c_int, command: c_int, result: c_int) {
        if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&command) {
            self.duplicates(file, result);
        }
    }

    /// The function has filled in an address, and how large it is; there was so much room.
    ///
    /// # Safety
    /// The program's place for both.
    pub(super) unsafe fn fills_address(
        &self,
        address: *const sockaddr,
        room: c_uint,
        size: *const c_uint,
        succeeded: bool,
    ) {
        if succeeded && !address.is_null() && !size.is_null() {
            // SAFETY: the caller's promise.
            self.writes(address, unsafe { size.read() }.min(room) as usize);
            self.writes_one(size, true);
        }
    }
}

/// The other end reads the end of what was written.
unsafe extern "C-unwind" fn close_one(file: c_int) -> c_int {
    let call = Call::of(c"close");
    given(&call, file);
    // SAFETY: the program's call.
    lives::closes(&call, file, || unsafe { real::close(file) })
}

/// Duplicates by `real`, which closes what there was.
fn duplicated(call: &Call, from: c_int, to: c_int, real: impl FnOnce() -> c_int) -> c_int {
    call.uses(from);
    if from == to || !descriptor::is_open(from) {
        return real();
    }
    given(call, to);
    let result = lives::replaced(call, to, real);
    if result >= 0 {
        channels::duplicated(from, to);
    }
    result
}

unsafe extern "C-unwind" fn duplicate_to(from: c_int, to: c_int) -> c_int {
    let call = Call::of(c"dup2");
    // SAFETY: the program's call.
    duplicated(&call, from, to, || unsafe { real::dup2(from, to) })
}

unsafe extern "C-unwind" fn duplicate_with_flags(from: c_int, to: c_int, flags: c_int) -> c_int {
    let call = Call::of(c"dup3");
    // SAFETY: the program's call.
    duplicated(&call, from, to, || unsafe { real::dup3(from, to, flags) })
}

/// Closes all from one to another by `real`.
fn closed<R>(call: &Call, from: c_int, to: c_int, real: impl FnOnce() -> R) -> R {
    for file in descriptor::known_in(from, to) {
        given(call, file);
        lives::closes(call, file, || ());
    }
    real()
}

/// libc has had it only since 2.34, and the system since 5.9.
static CLOSE_FROM: Real = Real::new(c"closefrom");
static CLOSE_RANGE: Real = Real::new(c"close_range");

fn found(function: &Real) -> Option<usize> {
    function.known().or_else(|| function.look_up())
}

fn closes_range(from: c_uint, to: c_uint, flags: c_int) -> c_int {
    type Function = unsafe extern "C-unwind" fn(c_uint, c_uint, c_int) -> c_int;
    match found(&CLOSE_RANGE) {
        // SAFETY: the function of that type; the program's call.
        Some(address) => unsafe {
            std::mem::transmute::<usize, Function>(address)(from, to, flags)
        },
        // SAFETY: the program's call.
        None => unsafe { libc::syscall(libc::SYS_close_range, from, to, flags) as c_int },
    }
}

fn closes_from(from: c_int) {
    type Function = unsafe extern "C-unwind" fn(c_int);
    match found(&CLOSE_FROM) {
        // SAFETY: the function of that type; the program's call.
        Some(address) => unsafe { std::mem::transmute::<usize, Function>(address)(from) },
        None => {
            closes_range(from.max(0) as c_uint, c_uint::MAX, 0);
        }
    }
}

unsafe extern "C-unwind" fn close_from(from: c_int) {
    let call = Call::of(c"closefrom");
    closed(&call, from, c_int::MAX, || closes_from(from));
}

unsafe extern "C-unwind" fn close_some(from: c_uint, to: c_uint, flags: c_int) -> c_int {
    let call = Call::of(c"close_range");
    let real = || closes_range(from, to, flags);
    if flags != 0 {
        // Closed later, or for one thread only.
        return real();
    }
    let most = |number: c_uint| c_int::try_from(number).unwrap_or(c_int::MAX);
    closed(&call, most(from), most(to), real)
}

/// Closes the stream and its descriptor; from then on nobody may use either.
unsafe extern "C-unwind" fn close_stream(stream: *mut FILE) -> c_int {
    let call = Call::of(c"fclose");
    // SAFETY: the program's call.
    unsafe {
        call.frees_stream(stream);
        let file = libc::fileno(stream);
        lives::closes(&call, file, || real::fclose(stream))
    }
}

unsafe extern "C-unwind" fn close_folder(folder: *mut DIR) -> c_int {
    let call = Call::of(c"closedir");
    // SAFETY: the program's call.
    unsafe {
        let file = libc::dirfd(folder);
        lives::closes(&call, file, || real::closedir(folder))
    }
}

interceptors! {
    close => close_one;
    dup2 => duplicate_to;
    dup3 => duplicate_with_flags;
    closefrom => close_from;
    close_range => close_some;
    fclose => close_stream;
    closedir => close_folder;
}

type Size = *mut c_uint;

functions! {
    fn open(path: Text, flags: c_int, mode: c_uint) -> c_int [reads_text(path)] file [creates(file)];
    fn open64(path: Text, flags: c_int, mode: c_uint) -> c_int [reads_text(path)] file [creates(file)];
    fn __open_2(path: Text, flags: c_int) -> c_int [reads_text(path)] file [creates(file)];
    fn __open64_2(path: Text, flags: c_int) -> c_int [reads_text(path)] file [creates(file)];
    fn openat(folder: c_int, path: Text, flags: c_int, mode: c_uint) -> c_int [uses(folder), reads_text(path)] file [creates(file)];
    fn openat64(folder: c_int, path: Text, flags: c_int, mode: c_uint) -> c_int [uses(folder), reads_text(path)] file [creates(file)];
    fn creat(path: Text, mode: c_uint) -> c_int [reads_text(path)] file [creates(file)];
    fn creat64(path: Text, mode: c_uint) -> c_int [reads_text(path)] file [creates(file)];
    fn mkstemp(path: *mut libc::c_char) -> c_int [] file [creates(file), writes_text(path, file >= 0)];
    fn mkstemp64(path: *mut libc::c_char) -> c_int [] file [creates(file), writes_text(path, file >= 0)];
    fn memfd_create(name: Text, flags: c_uint) -> c_int [reads_text(name)] file [creates(file)];
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int [] file [creates(file)];
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, files: *mut c_int) -> c_int [] result [creates_two(files, result == 0)];
    fn pipe(files: *mut c_int) -> c_int [] result [creates_two(files, result == 0)];
    fn pipe2(files: *mut c_int, flags: c_int) -> c_int [] result [creates_two(files, result == 0)];
    fn dup(from: c_int) -> c_int [uses(from)] file [duplicates(from, file)];
    fn fcntl(file: c_int, command: c_int, argument: usize) -> c_int [uses(file)] result [controls(file, command, result)];
    fn fcntl64(file: c_int, command: c_int, argument: usize) -> c_int [uses(file)] result [controls(file, command, result)];
    fn eventfd(count: c_uint, flags: c_int) -> c_int [] file [creates(file)];
    fn epoll_create(size: c_int) -> c_int [] file [creates(file)];
    fn epoll_create1(flags: c_int) -> c_int [] file [creates(file)];
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int [] file [creates(file)];
    fn signalfd(file: c_int, signals: *const libc::sigset_t, flags: c_int) -> c_int [reads_one(signals)] made [creates(made)];
    fn inotify_init() -> c_int [] file [creates(file)];
    fn inotify_init1(flags: c_int) -> c_int [] file [creates(file)];
    fn fopen(path: Text, mode: Text) -> *mut FILE [reads_text(path), reads_text(mode)] stream [creates_stream(stream)];
    fn fopen64(path: Text, mode: Text) -> *mut FILE [reads_text(path), reads_text(mode)] stream [creates_stream(stream)];
    fn tmpfile() -> *mut FILE [] stream [creates_stream(stream)];
    fn fdopen(file: c_int, mode: Text) -> *mut FILE [uses(file), reads_text(mode)] stream [];
    fn opendir(path: Text) -> *mut DIR [reads_text(path)] folder [creates_folder(folder)];
    fn fdopendir(file: c_int) -> *mut DIR [uses(file)] folder [];

    fn pread(file: c_int, buffer: *mut c_void, bytes: usize, at: off_t) -> isize [uses(file)] result [fills(buffer, result)];
    fn pread64(file: c_int, buffer: *mut c_void, bytes: usize, at: off_t) -> isize [uses(file)] result [fills(buffer, result)];
    fn pwrite(file: c_int, buffer: *const c_void, bytes: usize, at: off_t) -> isize [uses(file), reads(buffer, bytes)] result [];
    fn pwrite64(file: c_int, buffer: *const c_void, bytes: usize, at: off_t) -> isize [uses(file), reads(buffer, bytes)] result [];
    fn getdents64(file: c_int, buffer: *mut c_void, bytes: usize) -> isize [uses(file)] result [fills(buffer, result)];
    fn lseek(file: c_int, at: off_t, from: c_int) -> off_t [uses(file)] result [];
    fn lseek64(file: c_int, at: off_t, from: c_int) -> off_t [uses(file)] result [];
    fn ftruncate(file: c_int, bytes: off_t) -> c_int [uses(file)] result [];
    fn ftruncate64(file: c_int, bytes: off_t) -> c_int [uses(file)] result [];
    fn fsync(file: c_int) -> c_int [uses(file)] result [];
    fn fdatasync(file: c_int) -> c_int [uses(file)] result [];
    fn fchmod(file: c_int, mode: c_uint) -> c_int [uses(file)] result [];
    fn fchdir(file: c_int) -> c_int [uses(file)] result [];
    fn flock(file: c_int, operation: c_int) -> c_int [uses(file)] result [];
    fn isatty(file: c_int) -> c_int [uses(file)] result [];
    fn ioctl(file: c_int, request: c_ulong, argument: usize) -> c_int [uses(file)] result [];
    fn bind(file: c_int, address: *const sockaddr, size: c_uint) -> c_int [uses(file), reads(address, size as usize)] result [];
    fn setsockopt(file: c_int, level: c_int, name: c_int, value: *const c_void, size: c_uint) -> c_int [uses(file), reads(value, size as usize)] result [];
    fn getsockopt(file: c_int, level: c_int, name: c_int, value: *mut c_void, size: Size) -> c_int [uses(file), reads_one(size)] result [fills_option(value, size, result == 0)];
    fn getsockname(file: c_int, address: *mut sockaddr, size: Size) -> c_int [uses(file), reads_one(size)] result [fills_name(address, size, result == 0)];
    fn getpeername(file: c_int, address: *mut sockaddr, size: Size) -> c_int [uses(file), reads_one(size)] result [fills_name(address, size, result == 0)];
}

impl Call {
    /// The function has filled in an option, and how large it is.
    ///
    /// # Safety
    /// The program's place for both, if it has.
    unsafe fn fills_option(&self, value: *const c_void, size: *const c_uint, succeeded: bool) {
        if succeeded {
            // SAFETY: the caller's promise.
            self.writes(value, unsafe { size.read() } as usize);
            self.writes_one(size, true);
        }
    }

    /// The function has filled in an address, which may have been cut, and how large it is.
    ///
    /// # Safety
    /// The program's place for both, if it has.
    unsafe fn fills_name(&self, address: *const sockaddr, size: *const c_uint, succeeded: bool) {
        if succeeded {
            // Only the family is certain to have had room.
            self.writes(address, size_of::<libc::sa_family_t>());
            self.writes_one(size, true);
        }
    }
}
