//! The keeper: makes a run, puts everything back, asks for the next.

use super::calls::NEEDED;
use super::copy::Copy;
use super::left::{Action, Left, tell_action};
use super::pages::{Kept, PAGE, Pages};
use super::{Shared, Stage, filter};
use crate::sched::switch::{self, Saved};
use crate::{failing, journal, modules, real, tls, unwind};
use filter::call;
use libc::{c_int, c_void, siginfo_t};
use rsan_schedule::shared::{Header, KEPT, KEPT_AT, ROOM};
use rsan_schedule::{Answer, End};
use std::arch::naked_asm;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Bytes of the keeper's own stack, and of that of handlers.
const STACK: usize = 64 << 10;

/// What the keeper remembers, in memory of its own that is not put back.
#[repr(C, align(4096))]
pub(super) struct Keeper {
    stack: [u8; STACK],
    handlers: [u8; STACK],
    pub(super) pages: Pages,
    /// The program at the snapshot.
    snapshot: Saved,
    pub(super) shared: Option<&'static Shared>,
    stream: usize,
    process: usize,
    pub(super) left: Left,
    /// What is done with the signals that the keeper needs, as the system has it: before, and by the keeper.
    pub(super) earlier_actions: [Action; NEEDED.len()],
    pub(super) own_actions: [Action; NEEDED.len()],
    /// The signals that were blocked at the snapshot.
    blocked: u64,
    /// The run has changed that.
    pub(super) blocks: bool,
    /// The run has done what cannot be put back.
    pub(super) spoilt: bool,
    /// Variables of the runtime.
    pub(super) library: (usize, usize),
    pub(super) copy: Copy,
    /// Whether what programs print is seen by nobody.
    silent: bool,
    /// Where runs leave what they did.
    trace: usize,
    /// Lines of the log at the snapshot.
    lines: usize,
    /// The snapshot is that of the first choice ([`super::later`]).
    is_later: bool,
}

static KEEPER: AtomicPtr<Keeper> = AtomicPtr::new(std::ptr::null_mut());

/// The keeper, in its own process.
pub(super) fn keeper() -> Option<&'static mut Keeper> {
    // ORDERING: relaxed; set while there is one thread.
    let keeper = KEEPER.load(Ordering::Relaxed);
    // SAFETY: it stays, and one thread at a time is in a handler or in the keeper.
    unsafe { keeper.as_mut() }
}

/// Makes this process a keeper. Returns for each run, or once, if it cannot be one; then for the first run. `stream` is where requests come from.
pub(in crate::sched) fn stand(shared: &'static Shared, stream: usize, trace: *mut u8) {
    if let Some((snapshot, top)) = prepare(shared, stream, trace) {
        // SAFETY: the keeper's stack is its own; the caller goes on when the keeper says so.
        unsafe { depart(snapshot, top, first) };
    }
}

/// Makes this the snapshot of all runs to come. Returns for each, and for the present one.
pub(super) fn stand_here(keeper: &mut Keeper) {
    let (snapshot, top) = (&raw mut keeper.snapshot, keeper.top());
    // SAFETY: as in `stand`.
    unsafe { depart(snapshot, top, advance) };
}

/// Where the program at the snapshot goes, and the keeper's stack.
fn prepare(shared: &'static Shared, stream: usize, trace: *mut u8) -> Option<(*mut Saved, usize)> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let size = size_of::<Keeper>();
    let arguments = [0, size, protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: a new mapping; zeroes are a keeper.
    let (place, keeper) = unsafe {
        let place = call(libc::SYS_mmap, arguments);
        let place = usize::try_from(place).ok()?;
        (place, &mut *(place as *mut Keeper))
    };
    keeper.shared = Some(shared);
    unwind::remember();
    keeper.trace = trace as usize;
    keeper.lines = journal::lines();
    keeper.library = own_variables();
    keeper.silent = [libc::STDOUT_FILENO, libc::STDERR_FILENO]
        .into_iter()
        .all(is_nowhere);
    // Out of the program's way.
    let far = [stream, libc::F_DUPFD_CLOEXEC as usize, 1000, 0, 0, 0];
    // SAFETY: a second number of a file, and the first one is gone.
    unsafe {
        keeper.stream = usize::try_from(call(libc::SYS_fcntl, far)).ok()?;
        call(libc::SYS_close, [stream, 0, 0, 0, 0, 0]);
        keeper.process = call(libc::SYS_getpid, [0; 6]) as usize;
    }
    let mask = [
        libc::SIG_BLOCK as usize,
        0,
        &raw mut keeper.blocked as usize,
        8,
        0,
        0,
    ];
    // SAFETY: asks for the blocked signals.
    unsafe { call(libc::SYS_rt_sigprocmask, mask) };
    // ORDERING: relaxed; there is one thread.
    KEEPER.store(keeper, Ordering::Relaxed);
    let ready = is_left_alone()
        && keeper.install_handlers()
        && keeper
            .pages
            .find((place, place + size.next_multiple_of(PAGE)))
        && filter::install();
    if !ready {
        // ORDERING: relaxed, as above.
        KEEPER.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
    ready.then(|| (&raw mut keeper.snapshot, keeper.top()))
}

impl Keeper {
    fn top(&self) -> usize {
        self.stack.as_ptr() as usize + STACK
    }

    /// The stack of handlers, as the system is told of it.
    pub(super) fn handler_stack(&mut self) -> libc::stack_t {
        libc::stack_t {
            ss_sp: self.handlers.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: STACK,
        }
    }

    /// Handlers run on memory of the keeper's.
    fn install_handlers(&mut self) -> bool {
        let stack = self.handler_stack();
        // SAFETY: all zeroes are valid values, which are filled in; memory and handlers stay.
        let installed = unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut install = |signal, handler: Handler| {
                action.sa_sigaction = handler as *const () as usize;
                real::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0
            };
            libc::syscall(libc::SYS_sigaltstack, &raw const stack, 0) == 0
                && tell_actions(&mut self.earlier_actions)
                && install(libc::SIGSEGV, fault)
                && install(libc::SIGSYS, super::calls::trap)
        };
        installed && tell_actions(&mut self.own_actions)
    }

    /// Whether this is a copy of the keeper, which somebody made to find something out.
    pub(super) fn is_copy(&self) -> bool {
        // SAFETY: no arguments.
        (unsafe { call(libc::SYS_getpid, [0; 6]) }) as usize != self.process
    }

    /// Where the stack's memory begins, if it is known how all memory of the program has come to be what it is.
    pub(super) fn knows_all(&self, stack: usize, outermost: usize) -> Option<usize> {
        let (start, end) = self.pages.range(stack)?;
        let is_own = stack < outermost && outermost <= end;
        let knows = is_own && !self.spoilt && !self.copy.is_one() && self.pages.is_told();
        knows.then_some(start)
    }

    /// Whether the snapshot can be made anew where the present run is: nothing that it has done so far is seen outside, and it can tell all that it would
    /// have to put back.
    pub(super) fn can_advance(&self) -> bool {
        let is_usual = self.silent && !self.blocks && self.left.is_settled();
        is_usual && !self.is_later && !self.spoilt && self.pages.can_advance() && !self.is_copy()
    }

    /// Whether it would, if it could.
    pub(super) fn wants_to_advance(&self) -> bool {
        self.silent && !self.is_later && !self.spoilt
    }

    /// The run does what cannot be put back: it is the last one, as in a copy of its own.
    pub(super) fn spoil(&mut self, number: i64) {
        if !self.spoilt {
            self.spoilt = true;
            self.pages.give_up();
            if let Some(shared) = self.shared {
                // ORDERING: relaxed; for who looks at it later.
                shared.spoiler.store(number as u32, Ordering::Relaxed);
            }
        }
    }

    /// The run cannot be made here.
    pub(super) fn resign(&self, number: i64) -> ! {
        if let Some(shared) = self.shared {
            // ORDERING: relaxed; for who looks at it later.
            shared.spoiler.store(number as u32, Ordering::Relaxed);
            shared.set(Stage::GivenUp);
        }
        end(0)
    }

    /// The process ends: in the keeper, another run begins.
    pub(super) fn end_run(&mut self, status: usize) -> ! {
        if self.spoilt || self.is_copy() {
            end(status);
        }
        // SAFETY: the keeper's stack is not in use: it was left for the run.
        unsafe { change_stack(self.top(), next, status) }
    }

    /// The program goes on from the snapshot.
    fn resume(&self) -> ! {
        // SAFETY: saved when the program left for the keeper; its memory is as it was then.
        unsafe { switch::go(&raw const self.snapshot) }
    }

    /// Keeps what the run has left, if that is all there is to say of it, and somebody has asked for another one. False if not.
    fn passes_on(&self, status: usize, shared: &Shared) -> bool {
        let is_plain = status & 0xff == 0 && self.silent && journal::lines() == self.lines;
        if !is_plain {
            return false;
        }
        let mut header = [0; Header::BYTES];
        let from = self.trace as *const u8;
        // SAFETY: the mapping begins with the header.
        unsafe { std::ptr::copy_nonoverlapping(from, header.as_mut_ptr(), header.len()) };
        let Some(header) = Header::from_bytes(&header) else {
            return false;
        };
        let (at, length) = (shared.kept() as usize, header.length());
        let is_whole = header.end != End::Silent && header.steps <= ROOM as u64;
        if !is_whole || at + length > KEPT || !shared.pass_on(length) {
            return false;
        }
        // SAFETY: so many bytes were written there, and there is room for them; the parts of the mapping do not overlap.
        unsafe {
            let to = (self.trace + KEPT_AT + at) as *mut u8;
            std::ptr::copy_nonoverlapping(from, to, length);
        }
        true
    }

    /// Tells how the run ended.
    fn answer(&self, status: usize, shared: &Shared) {
        let mut line = Line::default();
        let answer = Answer::End {
            status: (status as c_int & 0xff) << 8,
            timed_out: false,
            kept: shared.kept(),
        };
        let _ = writeln!(line, "{answer}");
        let mut rest = &line.bytes[..line.length];
        while !rest.is_empty() {
            let place = rest.as_ptr() as usize;
            let how = libc::MSG_NOSIGNAL as usize;
            // SAFETY: bytes of ours.
            let sent = unsafe {
                call(
                    libc::SYS_sendto,
                    [self.stream, place, rest.len(), how, 0, 0],
                )
            };
            match usize::try_from(sent) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(_) if -sent == libc::EINTR as isize => {}
                Err(_) => end(0),
            }
        }
    }

    /// Waits for the next request.
    fn ask(&self, shared: &Shared) {
        let mut length = 0;
        loop {
            let place = shared.room() as usize + length;
            let room = super::ROOM - length;
            // SAFETY: room for a request.
            let read = unsafe { call(libc::SYS_recvfrom, [self.stream, place, room, 0, 0, 0]) };
            match usize::try_from(read) {
                Ok(0) => end(0),
                Ok(read) => length += read,
                Err(_) if -read == libc::EINTR as isize => continue,
                Err(_) => end(0),
            }
            // SAFETY: just read.
            let last = unsafe { *shared.room().add(length - 1) };
            if last == b'\n' {
                break;
            }
            if length == super::ROOM {
                end(0);
            }
        }
        shared.begin_line(length - 1);
        shared.set(Stage::Running);
    }
}

/// The present actions of the signals that the keeper needs.
fn tell_actions(actions: &mut [Action; NEEDED.len()]) -> bool {
    let mut all = NEEDED.iter().zip(actions);
    all.all(|(signal, action)| tell_action(*signal as usize, action))
}

/// Whether what is written to a file is gone.
fn is_nowhere(file: c_int) -> bool {
    // SAFETY: all zeroes is a valid value, which is filled in.
    unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        let place = &raw mut status as usize;
        call(libc::SYS_fstat, [file as usize, place, 0, 0, 0, 0]) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFCHR
            && status.st_rdev == libc::makedev(1, 3)
    }
}

/// The process ends.
fn end(status: usize) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { call(libc::SYS_exit_group, [status, 0, 0, 0, 0, 0]) };
    }
}

/// A line without memory of the program's.
struct Line {
    bytes: [u8; 64],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            bytes: [0; 64],
            length: 0,
        }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end);
        place
            .ok_or(std::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// On the keeper's stack, before the first run.
extern "C" fn first(_: usize) -> ! {
    let Some(keeper) = keeper() else { end(0) };
    let pages = &mut keeper.pages;
    if !pages.protect() {
        pages.give_up();
        keeper.spoilt = true;
    }
    keeper.resume()
}

/// On the keeper's stack, where the first choice of a run is about to be made.
extern "C" fn advance(_: usize) -> ! {
    let Some(keeper) = keeper() else { end(0) };
    keeper.is_later = true;
    keeper.left.settle();
    if !keeper.pages.advance() {
        keeper.pages.give_up();
        keeper.spoilt = true;
    }
    keeper.resume()
}

/// On the keeper's stack, after a run.
extern "C" fn next(status: usize) -> ! {
    let Some(keeper) = keeper() else { end(0) };
    let Some(shared) = keeper.shared else { end(0) };
    if !shared.claim(Stage::Idle) {
        end(0);
    }
    // ORDERING: relaxed; a count.
    let runs = shared.runs.fetch_add(1, Ordering::Relaxed) + 1;
    let has_lesson = shared.has_lesson(runs);
    let passes_on = !has_lesson && keeper.passes_on(status, shared);
    if !passes_on {
        keeper.answer(status, shared);
    }
    if has_lesson {
        end(0);
    }
    keeper.pages.restore();
    keeper.left.undo();
    if std::mem::take(&mut keeper.blocks) {
        let place = &raw const keeper.blocked as usize;
        // SAFETY: the signals that were blocked at the snapshot.
        unsafe {
            call(
                libc::SYS_rt_sigprocmask,
                [libc::SIG_SETMASK as usize, place, 0, 8, 0, 0],
            )
        };
    }
    match passes_on {
        true => shared.set(Stage::Running),
        false => keeper.ask(shared),
    }
    keeper.resume()
}

/// Where the runtime's own variables are.
fn own_variables() -> (usize, usize) {
    let modules = modules::modules();
    let parts = modules.iter().flat_map(|module| &module.data);
    let address = &raw const KEEPER as usize;
    let own = parts
        .copied()
        .find(|&(start, end)| start <= address && address < end);
    own.map_or((0, 0), |(start, end)| {
        (start & !(PAGE - 1), end.next_multiple_of(PAGE))
    })
}

/// What libc passes to the system with the memory of its restartable sequences.
const SIGNATURE: usize = 0x5305_3053;
const UNREGISTER: usize = 1;

/// The system does not write to the thread's memory by itself any more, as it does to say where the thread runs: it asks no handler.
/// False if it cannot be told.
fn is_left_alone() -> bool {
    // SAFETY: names of libc's, or nothing. They are numbers that do not change.
    let [offset, size] = [c"__rseq_offset", c"__rseq_size"]
        .map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    if offset.is_null() || size.is_null() {
        return true;
    }
    // SAFETY: as above.
    let (offset, size) = unsafe { (*offset.cast::<isize>(), *size.cast::<u32>() as usize) };
    let place = tls::thread_pointer().wrapping_add_signed(offset);
    // Libc tells how much of it is used; it may have announced more.
    let announced = [size.max(32), size, size.next_multiple_of(32)];
    size == 0
        || announced.iter().any(|&bytes| {
            let arguments = [place, bytes, UNREGISTER, SIGNATURE, 0, 0];
            // SAFETY: the memory that libc has announced.
            (unsafe { call(libc::SYS_rseq, arguments) }) == 0
        })
}

type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// A page is written to for the first time, or the program does what it must not.
unsafe extern "C" fn fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: what the system passes to a handler.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(keeper) = keeper() {
        match keeper.let_in(address) {
            None => {}
            Some(true) => return,
            // It is blocked when the handler returns, and ends the copy then.
            Some(false) => {
                // SAFETY: what the system passes to a handler, as below; the system's set is the first word of libc's.
                unsafe {
                    let blocked = &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask;
                    *blocked.cast::<u64>() |= 1 << (libc::SIGSEGV - 1);
                }
                return;
            }
        }
        match keeper.pages.keep(address) {
            Kept::Now => return,
            Kept::NoRoom => return keeper.spoil(0),
            Kept::NotOurs => {}
        }
    }
    // SAFETY: as the system would have called it.
    unsafe { failing::come(signal, info, context) }
}

/// Goes on in `then` on another stack; the caller goes on when somebody goes on as `save`.
#[unsafe(naked)]
unsafe extern "C" fn depart(save: *mut Saved, top: usize, then: extern "C" fn(usize) -> !) {
    naked_asm!(
        switch::save!(),
        "rdfsbase rax",
        "mov [rdi], rsp",
        "mov [rdi + 8], rax",
        "mov rsp, rsi",
        "call rdx",
        "ud2",
    )
}

/// Goes on in `then` on another stack, for good.
#[unsafe(naked)]
unsafe extern "C" fn change_stack(
    top: usize,
    then: extern "C" fn(usize) -> !,
    argument: usize,
) -> ! {
    naked_asm!("mov rsp, rdi", "mov rdi, rdx", "call rsi", "ud2")
}
