//! What other functions of libc read and write, as their manual pages say: time, files, networks, processes, mathematics, sorting.
//!
//! Memory of libc's own (`gmtime`, `strerror`, `getenv`) is not looked at.

use super::call::{Call, Room, Text};
use super::table::functions;
use crate::entry::interceptors;
use crate::real::{Real, c_name};
use libc::{
    DIR, addrinfo, c_int, c_long, c_uint, c_void, dirent, gid_t, group, in_addr, itimerval, passwd,
    pid_t, rlimit, rusage, sockaddr, time_t, timespec, tm, tms, uid_t, utsname,
};

type Constant = *const c_void;
type Memory = *mut c_void;
type Status = *mut libc::stat;
type System = *mut libc::statfs;
type Volume = *mut libc::statvfs;
type Time = *const time_t;
type Compare = unsafe extern "C-unwind" fn(Constant, Constant) -> c_int;
type CompareWith = unsafe extern "C-unwind" fn(Constant, Constant, Memory) -> c_int;

/// Bytes of what `asctime_r` and `ctime_r` write: the texts have a fixed length.
const DATE: usize = 26;

impl Call {
    /// The function reads an address of the Internet of this family.
    fn reads_internet(&self, family: c_int, address: Constant) {
        self.reads(address, internet(family));
    }

    /// The function has written one, if it has succeeded.
    fn writes_internet(&self, family: c_int, address: Constant, succeeded: bool) {
        self.writes(address, if succeeded { internet(family) } else { 0 });
    }

    /// The function has written a text of a fixed length, if it has succeeded.
    fn writes_date(&self, result: Text) {
        self.writes(result, if result.is_null() { 0 } else { DATE });
    }

    /// The function sorts, by moving elements.
    fn sorts(&self, array: Constant, count: usize, size: usize) {
        let bytes = if count > 1 {
            count.saturating_mul(size)
        } else {
            0
        };
        self.writes(array, bytes);
    }

    /// The function has filled in an entry of a folder, if there is one.
    ///
    /// # Safety
    /// Null, or an entry.
    unsafe fn fills_entry(&self, entry: *const dirent) {
        if !entry.is_null() {
            // SAFETY: the caller's promise.
            self.writes(entry, usize::from(unsafe { (*entry).d_reclen }));
        }
    }

    /// The function has found somebody, or nobody.
    ///
    /// # Safety
    /// The program's places.
    unsafe fn found<T>(&self, entry: *const T, place: *const *mut T, result: c_int) {
        self.writes_one(place, true);
        // SAFETY: the caller's promise.
        let is_there = result == 0 && self.is_seen() && !unsafe { place.read() }.is_null();
        self.writes_one(entry, is_there);
    }

    /// The function sets a limit, unless it is only asked.
    fn limits(&self, which: c_int, limit: *const rlimit) {
        if which == libc::RLIMIT_AS as c_int && !limit.is_null() {
            crate::mapping::give_up();
        }
    }

    /// The function has found an object by several words.
    fn writes_three<T>(&self, [one, two, three]: [*const T; 3], succeeded: bool) {
        self.writes_one(one, succeeded);
        self.writes_one(two, succeeded);
        self.writes_one(three, succeeded);
    }
}

/// What the older functions want to be told of the structure.
const VERSION: c_int = 1;

/// `stat` and its like: before 2.33, the shared library has them under other names only.
macro_rules! stats {
    ($($name:ident or $older:ident($($arg:ident: $type:ty),*) [$($before:ident($($given:expr),*)),*] $to:ident;)+) => {
        #[allow(non_upper_case_globals)]
        mod stats {
            use super::*;

            mod reals {
                use super::*;

                $(pub(super) static $name: Real = Real::new(c_name!($name));
                pub(super) static $older: Real = Real::new(c_name!($older));)+
            }

            pub(super) static ALL: &[&Real] = &[$(&reals::$name, &reals::$older),+];

            $(pub(super) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
                type Function = unsafe extern "C-unwind" fn($($type),*) -> c_int;
                type Older = unsafe extern "C-unwind" fn(c_int, $($type),*) -> c_int;
                let call = Call::of(c_name!($name));
                // SAFETY: the program's call, and what it passes.
                unsafe {
                    $(call.$before($($given),*);)*
                    let result = match reals::$name.known().or_else(|| reals::$name.look_up()) {
                        Some(address) => std::mem::transmute::<usize, Function>(address)($($arg),*),
                        None => {
                            let older = reals::$older.address();
                            std::mem::transmute::<usize, Older>(older)(VERSION, $($arg),*)
                        }
                    };
                    call.resume();
                    call.writes_one($to, result == 0);
                    result
                }
            })+
        }
        interceptors! { $($name => stats::$name;)+ }
    };
}

stats! {
    stat or __xstat(path: Text, to: Status) [reads_text(path)] to;
    stat64 or __xstat64(path: Text, to: Status) [reads_text(path)] to;
    lstat or __lxstat(path: Text, to: Status) [reads_text(path)] to;
    lstat64 or __lxstat64(path: Text, to: Status) [reads_text(path)] to;
    fstat or __fxstat(file: c_int, to: Status) [uses(file)] to;
    fstat64 or __fxstat64(file: c_int, to: Status) [uses(file)] to;
    fstatat or __fxstatat(folder: c_int, path: Text, to: Status, flags: c_int) [uses(folder), reads_text(path)] to;
    fstatat64 or __fxstatat64(folder: c_int, path: Text, to: Status, flags: c_int) [uses(folder), reads_text(path)] to;
}

/// Where the functions for files are.
pub(crate) static STATS: &[&Real] = stats::ALL;

/// Bytes of an address of the Internet.
fn internet(family: c_int) -> usize {
    match family {
        libc::AF_INET => 4,
        libc::AF_INET6 => 16,
        _ => 0,
    }
}

functions! {
    fn gmtime_r(time: Time, to: *mut tm) -> *mut tm [reads_one(time)] result [writes_one(to, !result.is_null())];
    fn localtime_r(time: Time, to: *mut tm) -> *mut tm [reads_one(time)] result [writes_one(to, !result.is_null())];
    fn gmtime(time: Time) -> *mut tm [reads_one(time)] result [];
    fn localtime(time: Time) -> *mut tm [reads_one(time)] result [];
    fn ctime(time: Time) -> Room [reads_one(time)] result [];
    fn ctime_r(time: Time, to: Room) -> Room [reads_one(time)] result [writes_date(result)];
    fn asctime(time: *const tm) -> Room [reads_one(time)] result [];
    fn asctime_r(time: *const tm, to: Room) -> Room [reads_one(time)] result [writes_date(result)];
    fn mktime(time: *mut tm) -> time_t [writes_one(time, true)] result [];
    fn timegm(time: *mut tm) -> time_t [writes_one(time, true)] result [];
    fn strftime(to: Room, room: usize, format: Text, time: *const tm) -> usize [reads_text(format), reads_one(time)] length [writes(to, if length > 0 { length + 1 } else { 0 })];
    fn strptime(text: Text, format: Text, time: *mut tm) -> Room [reads_text(format)] end [reads(text, if end.is_null() { 1 } else { end as usize - text as usize }), writes_one(time, !end.is_null())];
    fn clock_getres(clock: c_int, time: *mut timespec) -> c_int [] result [writes_one(time, result == 0)];
    fn times(to: *mut tms) -> c_long [] result [writes_one(to, result != -1)];
    fn getitimer(which: c_int, to: *mut itimerval) -> c_int [] result [writes_one(to, result == 0)];
    fn setitimer(which: c_int, timer: *const itimerval, old: *mut itimerval) -> c_int [reads_one(timer)] result [writes_one(old, result == 0)];

    fn __xstat(version: c_int, path: Text, to: Status) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn __xstat64(version: c_int, path: Text, to: Status) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn __lxstat(version: c_int, path: Text, to: Status) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn __lxstat64(version: c_int, path: Text, to: Status) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn __fxstat(version: c_int, file: c_int, to: Status) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn __fxstat64(version: c_int, file: c_int, to: Status) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn statx(folder: c_int, path: Text, flags: c_int, mask: c_uint, to: *mut libc::statx) -> c_int [uses(folder), reads_text(path)] result [writes_one(to, result == 0)];
    fn statfs(path: Text, to: System) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn statfs64(path: Text, to: System) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn fstatfs(file: c_int, to: System) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn fstatfs64(file: c_int, to: System) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn statvfs(path: Text, to: Volume) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn statvfs64(path: Text, to: Volume) -> c_int [reads_text(path)] result [writes_one(to, result == 0)];
    fn fstatvfs(file: c_int, to: Volume) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn fstatvfs64(file: c_int, to: Volume) -> c_int [uses(file)] result [writes_one(to, result == 0)];
    fn getcwd(to: Room, room: usize) -> Room [] result [writes_text(to, !result.is_null())];
    fn __getcwd_chk(to: Room, room: usize, size: usize) -> Room [] result [writes_text(to, !result.is_null())];
    fn realpath(path: Text, to: Room) -> Room [reads_text(path)] result [writes_text(to, !result.is_null())];
    fn __realpath_chk(path: Text, to: Room, room: usize) -> Room [reads_text(path)] result [writes_text(to, !result.is_null())];
    fn readlink(path: Text, to: Room, room: usize) -> isize [reads_text(path)] length [fills(to, length)];
    fn __readlink_chk(path: Text, to: Room, room: usize, size: usize) -> isize [reads_text(path)] length [fills(to, length)];
    fn readlinkat(folder: c_int, path: Text, to: Room, room: usize) -> isize [uses(folder), reads_text(path)] length [fills(to, length)];
    fn getxattr(path: Text, name: Text, to: Memory, room: usize) -> isize [reads_text(path), reads_text(name)] length [fills(to, if room > 0 { length } else { 0 })];
    fn fgetxattr(file: c_int, name: Text, to: Memory, room: usize) -> isize [uses(file), reads_text(name)] length [fills(to, if room > 0 { length } else { 0 })];
    fn readdir(folder: *mut DIR) -> *mut dirent [] entry [fills_entry(entry)];
    fn readdir64(folder: *mut DIR) -> *mut dirent [] entry [fills_entry(entry)];
    fn access(path: Text, mode: c_int) -> c_int [reads_text(path)] result [];
    fn unlink(path: Text) -> c_int [reads_text(path)] result [];
    fn rmdir(path: Text) -> c_int [reads_text(path)] result [];
    fn mkdir(path: Text, mode: c_uint) -> c_int [reads_text(path)] result [];
    fn chdir(path: Text) -> c_int [reads_text(path)] result [];
    fn rename(from: Text, to: Text) -> c_int [reads_text(from), reads_text(to)] result [];
    fn remove(path: Text) -> c_int [reads_text(path)] result [];
    fn mkdtemp(path: Room) -> Room [] result [writes_text(result, true)];

    fn gethostname(to: Room, room: usize) -> c_int [] result [writes_text(to, result == 0)];
    fn __gethostname_chk(to: Room, room: usize, size: usize) -> c_int [] result [writes_text(to, result == 0)];
    fn uname(to: *mut utsname) -> c_int [] result [writes_one(to, result == 0)];
    fn sysinfo(to: *mut libc::sysinfo) -> c_int [] result [writes_one(to, result == 0)];
    fn getloadavg(to: *mut f64, count: c_int) -> c_int [] done [fills(to, done as isize * 8)];
    fn getrlimit(which: c_int, to: *mut rlimit) -> c_int [] result [writes_one(to, result == 0)];
    fn getrlimit64(which: c_int, to: *mut rlimit) -> c_int [] result [writes_one(to, result == 0)];
    fn setrlimit(which: c_int, from: *const rlimit) -> c_int [reads_one(from), limits(which, from)] result [];
    fn setrlimit64(which: c_int, from: *const rlimit) -> c_int [reads_one(from), limits(which, from)] result [];
    fn prlimit(process: pid_t, which: c_int, from: *const rlimit, to: *mut rlimit) -> c_int [reads_one(from), limits(which, from)] result [writes_one(to, result == 0)];
    fn prlimit64(process: pid_t, which: c_int, from: *const rlimit, to: *mut rlimit) -> c_int [reads_one(from), limits(which, from)] result [writes_one(to, result == 0)];
    fn getrusage(who: c_int, to: *mut rusage) -> c_int [] result [writes_one(to, result == 0)];
    fn getgroups(room: c_int, to: *mut gid_t) -> c_int [] count [fills(to, if room > 0 { count as isize * 4 } else { 0 })];
    fn getresuid(one: *mut uid_t, two: *mut uid_t, three: *mut uid_t) -> c_int [] result [writes_three([one, two, three], result == 0)];
    fn getresgid(one: *mut gid_t, two: *mut gid_t, three: *mut gid_t) -> c_int [] result [writes_three([one, two, three], result == 0)];
    fn getlogin_r(to: Room, room: usize) -> c_int [] result [writes_text(to, result == 0)];
    fn ttyname_r(file: c_int, to: Room, room: usize) -> c_int [uses(file)] result [writes_text(to, result == 0)];
    fn confstr(name: c_int, to: Room, room: usize) -> usize [] length [writes(to, length.min(room))];
    fn getpwnam_r(name: Text, to: *mut passwd, buffer: Room, room: usize, place: *mut *mut passwd) -> c_int [reads_text(name)] result [found(to, place.cast_const(), result)];
    fn getpwuid_r(user: uid_t, to: *mut passwd, buffer: Room, room: usize, place: *mut *mut passwd) -> c_int [] result [found(to, place.cast_const(), result)];
    fn getgrnam_r(name: Text, to: *mut group, buffer: Room, room: usize, place: *mut *mut group) -> c_int [reads_text(name)] result [found(to, place.cast_const(), result)];
    fn getgrgid_r(user: gid_t, to: *mut group, buffer: Room, room: usize, place: *mut *mut group) -> c_int [] result [found(to, place.cast_const(), result)];
    fn strerror_r(error: c_int, to: Room, room: usize) -> Room [] text [writes_text(to, text == to)];
    fn __xpg_strerror_r(error: c_int, to: Room, room: usize) -> c_int [] result [writes_text(to, result == 0)];
    fn getenv(name: Text) -> Room [reads_text(name)] value [];
    fn backtrace(to: *mut Memory, room: c_int) -> c_int [] count [fills(to, count as isize * 8)];

    fn inet_ntop(family: c_int, address: Constant, to: Room, room: c_uint) -> Text [reads_internet(family, address)] result [writes_text(to, !result.is_null())];
    fn inet_pton(family: c_int, text: Text, to: Memory) -> c_int [reads_text(text)] result [writes_internet(family, to, result == 1)];
    fn inet_aton(text: Text, to: *mut in_addr) -> c_int [reads_text(text)] result [writes_one(to, result != 0)];
    fn inet_addr(text: Text) -> c_uint [reads_text(text)] result [];
    fn getaddrinfo(node: Text, service: Text, hints: *const addrinfo, place: *mut *mut addrinfo) -> c_int [reads_text(node), reads_text(service), reads_one(hints)] result [writes_one(place, result == 0)];
    fn getnameinfo(address: *const sockaddr, size: c_uint, host: Room, host_room: c_uint, service: Room, service_room: c_uint, flags: c_int) -> c_int [reads(address, size as usize)] result [writes_text(host, result == 0 && host_room > 0), writes_text(service, result == 0 && service_room > 0)];
    fn if_indextoname(index: c_uint, to: Room) -> Room [] result [writes_text(result, true)];
    fn if_nametoindex(name: Text) -> c_uint [reads_text(name)] index [];
    fn getifaddrs(place: *mut Memory) -> c_int [] result [writes_one(place, result == 0)];
    fn ether_aton_r(text: Text, to: *mut [u8; 6]) -> *mut [u8; 6] [reads_text(text)] result [writes_one(result, true)];
    fn ether_ntoa_r(address: *const [u8; 6], to: Room) -> Room [reads_one(address)] result [writes_text(result, true)];

    fn frexp(number: f64, to: *mut c_int) -> f64 [] result [writes_one(to, true)];
    fn frexpf(number: f32, to: *mut c_int) -> f32 [] result [writes_one(to, true)];
    fn modf(number: f64, to: *mut f64) -> f64 [] result [writes_one(to, true)];
    fn modff(number: f32, to: *mut f32) -> f32 [] result [writes_one(to, true)];
    fn remquo(one: f64, two: f64, to: *mut c_int) -> f64 [] result [writes_one(to, true)];
    fn remquof(one: f32, two: f32, to: *mut c_int) -> f32 [] result [writes_one(to, true)];
    fn lgamma_r(number: f64, to: *mut c_int) -> f64 [] result [writes_one(to, true)];
    fn lgammaf_r(number: f32, to: *mut c_int) -> f32 [] result [writes_one(to, true)];
    fn sincos(number: f64, sine: *mut f64, cosine: *mut f64) [] result [writes_one(sine, true), writes_one(cosine, true)];
    fn sincosf(number: f32, sine: *mut f32, cosine: *mut f32) [] result [writes_one(sine, true), writes_one(cosine, true)];
    fn rand_r(seed: *mut c_uint) -> c_int [writes_one(seed, true)] result [];
    fn random_r(state: *mut [u64; 6], to: *mut c_int) -> c_int [writes_one(state, true)] result [writes_one(to, result == 0)];
    fn drand48_r(state: *mut [u64; 3], to: *mut f64) -> c_int [writes_one(state, true)] result [writes_one(to, result == 0)];
    fn lrand48_r(state: *mut [u64; 3], to: *mut c_long) -> c_int [writes_one(state, true)] result [writes_one(to, result == 0)];

    fn qsort(array: Memory, count: usize, size: usize, compare: Compare) [sorts(array, count, size)] result [];
    fn qsort_r(array: Memory, count: usize, size: usize, compare: CompareWith, argument: Memory) [sorts(array, count, size)] result [];
}
