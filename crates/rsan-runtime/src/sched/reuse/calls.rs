//! System calls that come to the handler.

use super::filter::{self, call};
use super::keeper::{Keeper, keeper};
use super::left::{ACTION, Action, only_reads};
use super::pages::{PAGE, WRITABLE};
use crate::mapping;
use libc::{c_int, c_void, siginfo_t};

/// Signals that the keeper needs.
pub(super) const NEEDED: [c_int; 2] = [libc::SIGSEGV, libc::SIGSYS];

fn is_needed(signal: usize) -> bool {
    NEEDED.contains(&(signal as c_int))
}

/// Bytes that a call writes to.
struct Written {
    argument: usize,
    bytes: usize,
}

/// What the system writes about a file when it is asked in the new way.
const STATX: usize = 256;

/// What is written by a call that leaves nothing else behind.
fn harmless(number: i64, arguments: &[usize; 6]) -> Option<Written> {
    let written = |argument, bytes| Some(Written { argument, bytes });
    match number {
        libc::SYS_access
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_getegid
        | libc::SYS_geteuid
        | libc::SYS_getgid
        | libc::SYS_getppid
        | libc::SYS_getuid => written(0, 0),
        libc::SYS_fcntl if [libc::F_GETFD, libc::F_GETFL].contains(&(arguments[1] as c_int)) => {
            written(0, 0)
        }
        libc::SYS_getcwd => written(0, arguments[1]),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_fstat => written(1, size_of::<libc::stat>()),
        libc::SYS_statx => written(4, STATX),
        libc::SYS_readlink => written(1, arguments[2]),
        libc::SYS_readlinkat => written(2, arguments[3]),
        // Without waiting.
        libc::SYS_poll if arguments[2] == 0 => {
            written(0, arguments[1].saturating_mul(size_of::<libc::pollfd>()))
        }
        libc::SYS_rt_sigaction if arguments[1] == 0 && !is_needed(arguments[0]) => {
            written(2, ACTION)
        }
        libc::SYS_newfstatat => written(2, size_of::<libc::stat>()),
        libc::SYS_ioctl if arguments[1] == libc::TCGETS as usize => {
            written(2, size_of::<libc::termios>())
        }
        libc::SYS_getrandom => written(0, arguments[1]),
        libc::SYS_sched_getaffinity => written(2, arguments[1]),
        libc::SYS_gettimeofday => written(0, size_of::<libc::timeval>()),
        libc::SYS_wait4 => written(1, size_of::<c_int>()),
        // With a new limit it is another matter.
        libc::SYS_prlimit64 if arguments[2] == 0 => written(3, size_of::<libc::rlimit>()),
        libc::SYS_sysinfo => written(0, size_of::<libc::sysinfo>()),
        libc::SYS_uname => written(0, size_of::<libc::utsname>()),
        _ => None,
    }
}

/// A call came that is not known to be harmless by its number alone.
pub(super) unsafe extern "C" fn trap(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: what the system passes to a handler.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let number = registers[libc::REG_RAX as usize];
    let arguments = [
        libc::REG_RDI,
        libc::REG_RSI,
        libc::REG_RDX,
        libc::REG_R10,
        libc::REG_R8,
        libc::REG_R9,
    ]
    .map(|register| registers[register as usize] as usize);
    let result = match keeper() {
        Some(keeper) => keeper.decide(number, arguments),
        // SAFETY: the program's call.
        None => unsafe { call(number, arguments) },
    };
    registers[libc::REG_RAX as usize] = result as i64;
}

impl Keeper {
    pub(super) fn decide(&mut self, number: i64, arguments: [usize; 6]) -> isize {
        // SAFETY: the program's call, or one that differs in what is said below.
        let make = |arguments| unsafe { call(number, arguments) };
        if number == libc::SYS_exit_group {
            self.end_run(arguments[0]);
        }
        if self.is_copy() || self.is_undone(number, &arguments) {
            return make(arguments);
        }
        match number {
            libc::SYS_brk => self.pages.grow(arguments[0]),
            libc::SYS_kill | libc::SYS_tkill | libc::SYS_tgkill => {
                // The system puts it on a stack, and asks no handler.
                self.spoil(number);
                hold_signals();
                make(arguments)
            }
            libc::SYS_madvise if self.forgets(&arguments) => 0,
            libc::SYS_munmap if self.pages.lose(arguments[0], mapped_bytes(arguments[1])) => 0,
            libc::SYS_rt_sigprocmask => self.block(arguments),
            libc::SYS_sigaltstack => self.alternate(arguments),
            libc::SYS_mmap if is_private(&arguments) => {
                let place = make(arguments);
                self.left.unusual |= arguments[2] as i32 != WRITABLE;
                if place > 0 && !self.pages.map(place as usize, mapped_bytes(arguments[1])) {
                    self.spoil(number);
                }
                place
            }
            libc::SYS_rt_sigaction if is_needed(arguments[0]) => self.act(arguments),
            libc::SYS_rt_sigaction if self.left.keep_action(arguments[0]) => {
                self.touch(arguments[2], ACTION);
                make(arguments)
            }
            libc::SYS_open if only_reads(arguments[1]) => self.open(number, make(arguments)),
            libc::SYS_openat if only_reads(arguments[2]) => self.open(number, make(arguments)),
            _ => self.resign(number),
        }
    }

    /// Whether the call leaves nothing behind that is not undone. What it writes to is kept.
    fn is_undone(&mut self, number: i64, arguments: &[usize; 6]) -> bool {
        if let Some(Written { argument, bytes }) = harmless(number, arguments) {
            self.touch(arguments[argument], bytes);
            return true;
        }
        let [start, bytes, how, ..] = *arguments;
        if filter::FILES.contains(&number) {
            // What others see of it happens in each run, then.
            self.left.unusual |= !self.left.is_open(start);
            return true;
        }
        if [libc::SYS_read, libc::SYS_pread64].contains(&number) && self.left.is_open(start) {
            self.touch(bytes, how);
            return true;
        }
        let is_mapped = self.pages.is_mapped(start, mapped_bytes(bytes));
        let inherits = [libc::MADV_DONTFORK, libc::MADV_DOFORK].contains(&(how as c_int));
        match number {
            libc::SYS_close => self.left.forget(start),
            libc::SYS_munmap => self.pages.unmap(start, mapped_bytes(bytes)),
            libc::SYS_mprotect => {
                self.left.unusual |= is_mapped;
                is_mapped
            }
            // Advice that is taken back: for a copy that finds something out.
            libc::SYS_madvise => {
                self.left.unusual |= is_mapped && !is_usual(how as c_int);
                is_mapped || inherits
            }
            // Such a copy: the runtime makes it, and waits for its end.
            libc::SYS_clone => start == 0,
            _ => false,
        }
    }

    /// The runtime has no use for what is in memory of its own: it reads as zero from now on. False if it is not that, or there is too much of it to be put back.
    fn forgets(&mut self, &[start, bytes, how, ..]: &[usize; 6]) -> bool {
        let end = start + bytes;
        let mut own = mapping::own();
        let is_own = own.any(|(from, to)| from <= start && end <= to);
        is_own && how as c_int == libc::MADV_DONTNEED && self.pages.wipe(start, end)
    }

    /// The program has opened a file to read it.
    fn open(&mut self, number: i64, file: isize) -> isize {
        match usize::try_from(file) {
            Ok(file) if !self.left.open(file) => self.resign(number),
            _ => file,
        }
    }

    /// The signals that the keeper needs are never blocked.
    fn block(&mut self, mut arguments: [usize; 6]) -> isize {
        let needed = NEEDED.map(|signal| 1_u64 << (signal - 1));
        let place = arguments[1] as *const u64;
        // SAFETY: null, or the program's set of signals.
        let set = unsafe { place.as_ref() }.map(|set| set & !needed[0] & !needed[1]);
        if let Some(set) = &set {
            arguments[1] = &raw const *set as usize;
        }
        self.blocks = true;
        self.touch(arguments[2], size_of::<u64>());
        // SAFETY: the program's call, with other signals.
        unsafe { call(libc::SYS_rt_sigprocmask, arguments) }
    }

    /// Sets the action of a signal that the keeper needs: the program is about to end by it, or looks after it, and this run is the last one. Who
    /// asks for the action is told the one that was there before the keeper.
    fn act(&mut self, arguments: [usize; 6]) -> isize {
        let number = libc::SYS_rt_sigaction;
        self.touch(arguments[2], ACTION);
        if arguments[1] != 0 {
            self.spoil(number);
        }
        // SAFETY: the program's call.
        let result = unsafe { call(number, arguments) };
        // SAFETY: null, or the program's memory for the action, which the system has filled in.
        let told = unsafe { (arguments[2] as *mut Action).as_mut() };
        if let Some(told) = told.filter(|_| result == 0) {
            let own = self.own_actions.iter().zip(&self.earlier_actions);
            if let Some((_, earlier)) = own.into_iter().find(|(own, _)| own[0] == told[0]) {
                *told = *earlier;
            }
        }
        result
    }

    /// Pages that the system is about to write to are kept first: it asks no handler.
    fn touch(&mut self, start: usize, bytes: usize) {
        let mut at = start & !(PAGE - 1);
        while start != 0 && at < start.saturating_add(bytes) {
            self.pages.keep(at);
            at += PAGE;
        }
    }

    /// Handlers have the keeper's stack, whatever the program says; who asks is told that there is one, and need not make another.
    fn alternate(&mut self, [_, old, ..]: [usize; 6]) -> isize {
        if old != 0 {
            // SAFETY: the program's memory for the answer. A write to a page of the snapshot comes to the handler.
            unsafe { *(old as *mut libc::stack_t) = self.handler_stack() };
        }
        0
    }
}

/// Signals that are sent from here on come when the handler returns, where the program is: the system lets them in then.
fn hold_signals() {
    let all = u64::MAX;
    let place = &raw const all as usize;
    // SAFETY: a set of signals.
    unsafe {
        call(
            libc::SYS_rt_sigprocmask,
            [libc::SIG_SETMASK as usize, place, 0, 8, 0, 0],
        )
    };
}

/// Whether a mapping is fresh memory wherever the system likes.
fn is_private(arguments: &[usize; 6]) -> bool {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    arguments[0] == 0 && arguments[3] as c_int & (kind | libc::MAP_FIXED) == kind
}

/// Whether advice changes nothing but what is in memory, and how the system keeps it.
fn is_usual(advice: c_int) -> bool {
    let usual = [
        libc::MADV_DONTFORK,
        libc::MADV_DOFORK,
        libc::MADV_DONTNEED,
        libc::MADV_HUGEPAGE,
        libc::MADV_NOHUGEPAGE,
    ];
    usual.contains(&advice)
}

fn mapped_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}
