//! What a program can ask about a finding while it is told of it.
//!
//! A program may define `__tsan_on_report(void *report)`; it is called after each new finding, and may ask about the
//! two accesses and their threads. Violations of robustness and misuses are told of too, with `data-race`, `robustness` or
//! the name of the misuse as the description. Pointers that are handed out are good until the function returns.

use crate::entry::entries;
use crate::finding::{Finding, Side};
use crate::report;
use crate::symbols::{self, Definer};
use crate::thread;
use crate::upcall::answers;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A finding as these functions see it.
#[derive(Debug)]
struct Report {
    description: &'static CStr,
    accesses: Vec<Asked>,
}

#[derive(Debug)]
struct Asked {
    thread: c_int,
    address: usize,
    bytes: usize,
    writes: bool,
    atomic: bool,
    stack: Vec<usize>,
    parent: c_int,
    created: Vec<usize>,
}

/// The finding that the program is told of.
static CURRENT: AtomicPtr<Report> = AtomicPtr::new(std::ptr::null_mut());

impl Asked {
    fn new(side: &Side, address: usize, bytes: usize) -> Self {
        let created = side.thread.and_then(thread::info).and_then(|i| i.created);
        Self {
            thread: side.thread.map_or(-1, |thread| thread.0 as c_int),
            address,
            bytes,
            writes: side.operation.writes(),
            atomic: side.order.is_some() || side.operation.is_atomic_half(),
            stack: side.site.stack(),
            parent: created.map_or(-1, |(parent, _)| parent.0 as c_int),
            created: created.map_or(Vec::new(), |(_, site)| site.stack()),
        }
    }
}

/// The program's function, or 0. Asking the loader for it when something is found could wait for a thread that waits for us.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Looks for the function; the loader calls.
pub(crate) fn look_up() {
    if let Some((function, definer)) = symbols::first(c"__tsan_on_report")
        && definer != Definer::Runtime
    {
        // ORDERING: relaxed, as in `announce`.
        WANTED.store(function, Ordering::Relaxed);
    }
}

answers! {
    "rsan_up_announce" report::announce => announce;
}

/// Tells the program of a finding, if it wants to know.
fn announce(finding: &Finding) {
    // ORDERING: relaxed; the address of a function.
    let wanted = WANTED.load(Ordering::Relaxed);
    if wanted == 0 {
        return;
    }
    let description = match finding {
        Finding::Race { .. } => c"data-race",
        Finding::Violation { .. } => c"robustness",
        Finding::Misuse { what, .. } => what.kind().c_name(),
        Finding::Inversion { .. } => c"lock-order-inversion",
    };
    let (address, bytes) = finding.extent();
    let sides = finding.sides().into_iter().take(2);
    let accesses = sides.map(|(_, side)| Asked::new(&side, address, bytes));
    let mut report = Report {
        description,
        accesses: accesses.collect(),
    };
    let report = &raw mut report;
    // ORDERING: release, with the acquire in `current`; the program's function runs in this thread.
    CURRENT.store(report, Ordering::Release);
    type Told = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the program's function of that name, whose type the interface says.
    unsafe { std::mem::transmute::<usize, Told>(wanted)(report.cast()) };
    // ORDERING: release, as above.
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}

extern "C" fn current() -> usize {
    // ORDERING: acquire, with the release in `announce`.
    CURRENT.load(Ordering::Acquire) as usize
}

/// Writes an answer where the program wants it.
///
/// # Safety
/// `place` is null or valid.
unsafe fn answer<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(value) };
    }
}

/// Writes a stack, ended by 0 if there is room.
///
/// # Safety
/// `place` is null or has room for `room` words.
unsafe fn answer_stack(place: *mut usize, room: usize, stack: &[usize]) {
    let words = stack.iter().copied().chain(std::iter::once(0));
    for (index, word) in words.take(room).enumerate() {
        // SAFETY: the caller's promise.
        unsafe { answer(place.wrapping_add(index), word) };
    }
}

/// # Safety
/// The report is the one that the program was given; pointers are null or valid.
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn data(
    report: *const Report,
    description: *mut *const c_char,
    count: *mut c_int,
    stacks: *mut c_int,
    accesses: *mut c_int,
    locations: *mut c_int,
    mutexes: *mut c_int,
    threads: *mut c_int,
    unique: *mut c_int,
    sleep: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: the program's pointers.
    unsafe {
        let sides = (&*report).accesses.len() as c_int;
        answer(description, (*report).description.as_ptr());
        answer(count, 1);
        answer(stacks, sides);
        answer(accesses, sides);
        answer(locations, 0);
        answer(mutexes, 0);
        answer(threads, sides);
        answer(unique, sides);
        answer_stack(sleep, room.min(1), &[]);
    }
    1
}

unsafe extern "C" fn tag(_: *const Report, tag: *mut usize) -> c_int {
    // SAFETY: the program's pointer.
    unsafe { answer(tag, 0) };
    1
}

/// # Safety
/// The report is the one that the program was given.
unsafe fn access<'a>(report: *const Report, index: usize) -> Option<&'a Asked> {
    // SAFETY: the caller's promise.
    unsafe { (&*report).accesses.get(index) }
}

unsafe extern "C" fn stack(
    report: *const Report,
    index: usize,
    trace: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: the program's pointers.
    unsafe {
        let Some(access) = access(report, index) else {
            return 0;
        };
        answer_stack(trace, room, &access.stack);
    }
    1
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn mop(
    report: *const Report,
    index: usize,
    thread: *mut c_int,
    address: *mut usize,
    bytes: *mut c_int,
    writes: *mut c_int,
    atomic: *mut c_int,
    trace: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: the program's pointers.
    unsafe {
        let Some(access) = access(report, index) else {
            return 0;
        };
        answer(thread, access.thread);
        answer(address, access.address);
        answer(bytes, access.bytes as c_int);
        answer(writes, c_int::from(access.writes));
        answer(atomic, c_int::from(access.atomic));
        answer_stack(trace, room, &access.stack);
    }
    1
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn thread_of(
    report: *const Report,
    index: usize,
    thread: *mut c_int,
    os_id: *mut usize,
    running: *mut c_int,
    name: *mut *const c_char,
    parent: *mut c_int,
    trace: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: the program's pointers.
    unsafe {
        let Some(access) = access(report, index) else {
            return 0;
        };
        answer(thread, access.thread);
        answer(os_id, 0);
        answer(running, 1);
        answer(name, c"".as_ptr());
        answer(parent, access.parent);
        answer_stack(trace, room, &access.created);
    }
    1
}

unsafe extern "C" fn unique_thread(
    report: *const Report,
    index: usize,
    thread: *mut c_int,
) -> c_int {
    // SAFETY: the program's pointers.
    unsafe {
        let Some(access) = access(report, index) else {
            return 0;
        };
        answer(thread, access.thread);
    }
    1
}

/// Locations, mutexes and blocks of the heap are not listed: there is none at any index.
extern "C" fn none() -> c_int {
    0
}

/// What kind of memory an address is; only variables of the program and its libraries are known.
unsafe extern "C" fn locate(
    address: usize,
    name: *mut c_char,
    room: usize,
    start: *mut usize,
    bytes: *mut usize,
) -> *const c_char {
    // SAFETY: all bytes zero is a valid value, and is filled in.
    let mut info = unsafe { std::mem::zeroed::<libc::Dl_info>() };
    // SAFETY: any address may be asked about; the other pointers are the program's.
    unsafe {
        let known = libc::dladdr(address as *const c_void, &raw mut info) != 0;
        let symbol = if known && !info.dli_sname.is_null() {
            CStr::from_ptr(info.dli_sname)
        } else {
            c""
        };
        if room > 0 && !name.is_null() {
            let text = &symbol.to_bytes()[..symbol.to_bytes().len().min(room - 1)];
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
            name.add(text.len()).write(0);
        }
        answer(start, info.dli_saddr as usize);
        answer(bytes, 0);
        if known { c"global" } else { c"" }.as_ptr()
    }
}

extern "C" fn ignored(_: usize) {}

entries! {
    __tsan_on_report => ignored;
    __tsan_get_current_report => current;
    __tsan_get_report_data => data;
    __tsan_get_report_tag => tag;
    __tsan_get_report_stack => stack;
    __tsan_get_report_mop => mop;
    __tsan_get_report_loc => none;
    __tsan_get_report_loc_object_type => none;
    __tsan_get_report_mutex => none;
    __tsan_get_report_thread => thread_of;
    __tsan_get_report_unique_tid => unique_thread;
    __tsan_get_alloc_stack => none;
    __tsan_locate_address => locate;
}
