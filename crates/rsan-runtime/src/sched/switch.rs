//! How the processor gets from one thread of the program to another.
//!
//! Every thread of the program has a kernel thread of its own, because libc makes one, with the stack and the
//! thread-local memory that belong to it. But a kernel thread can carry the program's threads in turn: it saves the
//! registers that a call preserves, takes the stack and the thread-local memory (the base of `fs`) of another one, and
//! goes on there. With the processor's FSGSBASE instructions that needs no system call. Without them each
//! kernel thread carries only its own, and wakes the next ([`hand_over`]).
//!
//! A kernel thread that carries nobody sleeps on a small stack of its own ([`Carrier`]), since the stack it came
//! with may be in use.

use crate::system::{
    ALL_SIGNALS, block_signals, futex_wait, futex_wake, is_main_thread, system_call,
};
use std::arch::naked_asm;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A thread of the program that does not run: where its stack is, with its registers on top, and its thread-local
/// memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    stack: usize,
    /// 0: leave it alone.
    local: usize,
}

impl Saved {
    pub(super) const fn new() -> Self {
        Self { stack: 0, local: 0 }
    }
}

/// Bytes of the stack that a kernel thread sleeps on. Signals are blocked there.
const STACK: usize = 8 << 10;

/// A kernel thread, to be woken with somebody to carry.
#[derive(Debug)]
pub(super) struct Carrier {
    /// 1: there is somebody to carry.
    called: AtomicU32,
    load: AtomicPtr<Saved>,
    /// There is no kernel thread yet; where its number goes when there is. Null: there is one.
    absent: AtomicPtr<u32>,
    /// Made when it is needed.
    stack: OnceLock<Box<UnsafeCell<MaybeUninit<Stack>>>>,
}

#[repr(align(16))]
#[derive(Debug)]
#[expect(dead_code, reason = "memory for the processor")]
struct Stack([u8; STACK]);

impl Carrier {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            called: AtomicU32::new(0),
            load: AtomicPtr::new(ptr::null_mut()),
            absent: AtomicPtr::new(ptr::null_mut()),
            stack: OnceLock::new(),
        })
    }

    /// A kernel thread that is not there until it is needed.
    pub(super) fn absent(number: *mut u32) -> Box<Self> {
        let mut carrier = Self::new();
        carrier.absent = AtomicPtr::new(number);
        carrier
    }

    /// Makes the kernel thread if it is not there. It sleeps.
    pub(super) fn be_there(&self) {
        // ORDERING: relaxed; the lock of the scheduler is held.
        let number = self.absent.swap(ptr::null_mut(), Ordering::Relaxed);
        if number.is_null() {
            return;
        }
        // It stays for the kernel thread, as the carrier does.
        let parting = Box::leak(Box::new(Parting {
            me: self,
            other: ptr::null(),
            load: ptr::null_mut(),
            left: ptr::null(),
        }));
        // SAFETY: the stack is the new kernel thread's own, and the word is libc's for its number.
        if unsafe { start(self.top(), parting, number) } < 0 {
            crate::fatal::die(&["the system does not give a thread"]);
        }
    }

    fn top(&self) -> usize {
        // Not filled: what is not used costs no memory.
        let make = || Box::new(UnsafeCell::new(MaybeUninit::uninit()));
        self.stack.get_or_init(make).get() as usize + STACK
    }

    /// Wakes the kernel thread with somebody to carry.
    fn call(&self, load: *mut Saved) {
        // ORDERING: release on the flag, with the acquire in `sleep`; it publishes the other.
        self.load.store(load, Ordering::Relaxed);
        self.called.store(1, Ordering::Release);
        futex_wake(&self.called);
    }
}

/// What the kernel thread does once it has left the stack it carried.
#[derive(Clone, Copy)]
struct Parting {
    /// Itself.
    me: *const Carrier,
    /// Who is to be woken, and with whom. Null: nobody.
    other: *const Carrier,
    load: *mut Saved,
    /// Set to 1 when the stack is left; null: nobody waits for that.
    left: *const AtomicU32,
}

/// Whether threads can be switched without a system call.
pub(super) fn is_cheap() -> bool {
    const FSGSBASE: u64 = 2;
    // SAFETY: asks the kernel's table of this process.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & FSGSBASE != 0
}

/// Goes on as `load`; the caller goes on when somebody goes on as `save`. Needs [`is_cheap`].
///
/// # Safety
/// `load` was saved, and runs nowhere. Nothing of either is locked.
pub(super) unsafe fn swap(save: *mut Saved, load: *const Saved) {
    // SAFETY: the caller's promise.
    unsafe { swap_registers(save, load) };
}

/// The other kernel thread goes on as `load`, and this one sleeps; the caller goes on when somebody carries `save`.
///
/// # Safety
/// As [`swap`]; `me` is the running kernel thread, and `other` one that sleeps.
pub(super) unsafe fn hand_over(
    save: *mut Saved,
    me: *const Carrier,
    other: *const Carrier,
    load: *mut Saved,
) {
    let parting = Parting {
        me,
        other,
        load,
        left: ptr::null(),
    };
    // SAFETY: the caller's promise.
    unsafe { part(save, &parting) };
}

/// This kernel thread sleeps, and tells so by `left`; the caller goes on when somebody carries `save`.
///
/// # Safety
/// As [`swap`]; `me` is the running kernel thread, and `left` lives until it is set.
pub(super) unsafe fn lie_down(save: *mut Saved, me: *const Carrier, left: *const AtomicU32) {
    let parting = Parting {
        me,
        other: ptr::null(),
        load: ptr::null_mut(),
        left,
    };
    // SAFETY: the caller's promise.
    unsafe { part(save, &parting) };
}

/// Lets another kernel thread carry somebody, while this one goes on by itself.
///
/// # Safety
/// `load` was saved and runs nowhere; `other` sleeps.
pub(super) unsafe fn send(other: *const Carrier, load: *mut Saved) {
    // SAFETY: the caller's promise.
    unsafe { (*other).call(load) };
}

unsafe fn part(save: *mut Saved, parting: &Parting) {
    let cheap = usize::from(is_cheap());
    // SAFETY: the stack belongs to the running kernel thread, which uses it only here; the rest is the caller's
    // promise.
    unsafe {
        let top = (*parting.me).top();
        leave_stack(save, top, ptr::from_ref(parting), cheap);
    }
}

/// On the kernel thread's own stack, until it is called. There is no thread-local memory here that could be relied on.
unsafe extern "C" fn sleep(parting: *const Parting) -> ! {
    // SAFETY: it lies on the stack that was left, which nobody uses before the lines below.
    let Parting {
        me,
        other,
        load,
        left,
    } = unsafe { *parting };
    // SAFETY: kernel threads' records live as long as they do.
    let me = unsafe { &*me };
    if !other.is_null() {
        // SAFETY: as above, and from `hand_over`.
        unsafe { (*other).call(load) };
    }
    if !left.is_null() {
        // SAFETY: from `lie_down`; nobody waits once it is set, and waking an address is harmless.
        let left = unsafe { &*left };
        // ORDERING: release, with the acquire of who waits; what was saved is visible then.
        left.store(1, Ordering::Release);
        futex_wake(left);
    }
    let signals = block_signals(ALL_SIGNALS);
    // ORDERING: acquire, with the release in `call`.
    while me.called.load(Ordering::Acquire) == 0 {
        futex_wait(&me.called, 0);
    }
    // ORDERING: relaxed; the next call comes after this thread has carried somebody.
    me.called.store(0, Ordering::Relaxed);
    wait_until_gone();
    block_signals(signals);
    // SAFETY: from `call`: saved, and runs nowhere.
    unsafe { resume(me.load.load(Ordering::Relaxed)) }
}

/// Goes on as `load`, for good.
///
/// # Safety
/// As [`swap`].
pub(super) unsafe fn go(load: *const Saved) -> ! {
    // SAFETY: the caller's promise.
    unsafe { resume(load) }
}

/// A kernel thread as libc would make it.
const KIND: i32 = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID;

/// Makes a kernel thread that goes on in [`sleep`] on its stack; a negative result is an error.
#[unsafe(naked)]
unsafe extern "C" fn start(top: usize, parting: *const Parting, number: *mut u32) -> isize {
    naked_asm!(
        "mov r9, rsi",
        "mov rsi, rdi",
        "mov r10, rdx",
        "xor r8d, r8d",
        "mov edi, {kind}",
        "mov eax, {clone}",
        "syscall",
        "test rax, rax",
        "jz 2f",
        "ret",
        "2:",
        "xor ebp, ebp",
        "mov rdi, r9",
        "call {sleep}",
        "ud2",
        kind = const KIND,
        clone = const libc::SYS_clone,
        sleep = sym sleep,
    )
}

/// A kernel thread that is about to end; 0: none.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// The calling kernel thread is about to end. What libc does then comes before whatever the next one does.
pub(super) fn is_ending() {
    // The first thread is there as long as the process.
    if !is_main_thread() {
        // SAFETY: no arguments.
        let thread = unsafe { system_call(libc::SYS_gettid, [0; 6]) };
        // ORDERING: relaxed; published by the call of another kernel thread.
        ENDING.store(thread as u32, Ordering::Relaxed);
    }
}

fn wait_until_gone() {
    // ORDERING: relaxed; see `is_ending`.
    let thread = ENDING.swap(0, Ordering::Relaxed);
    if thread == 0 {
        return;
    }
    // SAFETY: no arguments.
    let process = unsafe { system_call(libc::SYS_getpid, [0; 6]) };
    let arguments = [process as usize, thread as usize, 0, 0, 0, 0];
    // SAFETY: no signal, only the question whether the thread is there.
    while unsafe { system_call(libc::SYS_tgkill, arguments) } == 0 {
        crate::system::give_way();
    }
}

/// Registers that a call preserves, and the modes of floating point.
macro_rules! save {
    () => {
        "push rbp\n push rbx\n push r12\n push r13\n push r14\n push r15\n sub rsp, 8\n stmxcsr [rsp]\n fnstcw [rsp + 4]"
    };
}

pub(super) use save;

macro_rules! restore {
    () => {
        "ldmxcsr [rsp]\n fldcw [rsp + 4]\n add rsp, 8\n pop r15\n pop r14\n pop r13\n pop r12\n pop rbx\n pop rbp\n ret"
    };
}

#[unsafe(naked)]
unsafe extern "C" fn swap_registers(save: *mut Saved, load: *const Saved) {
    naked_asm!(
        save!(),
        "rdfsbase rax",
        "mov [rdi], rsp",
        "mov [rdi + 8], rax",
        "mov rax, [rsi + 8]",
        "mov rsp, [rsi]",
        "wrfsbase rax",
        restore!(),
    )
}

/// Saves, and goes on in [`sleep`] on another stack.
#[unsafe(naked)]
unsafe extern "C" fn leave_stack(
    save: *mut Saved,
    top: usize,
    parting: *const Parting,
    cheap: usize,
) {
    naked_asm!(
        save!(),
        "xor eax, eax",
        "test rcx, rcx",
        "jz 2f",
        "rdfsbase rax",
        "2:",
        "mov [rdi], rsp",
        "mov [rdi + 8], rax",
        "mov rsp, rsi",
        "mov rdi, rdx",
        "call {sleep}",
        "ud2",
        sleep = sym sleep,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn resume(load: *const Saved) -> ! {
    naked_asm!(
        "mov rax, [rdi + 8]",
        "mov rsp, [rdi]",
        "test rax, rax",
        "jz 2f",
        "wrfsbase rax",
        "2:",
        restore!(),
    )
}
