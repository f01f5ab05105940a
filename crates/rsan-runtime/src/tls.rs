//! Four words per thread, reached in two instructions.
//!
//! `thread_local!` in a shared library calls `__tls_get_addr`, on every access of the program. The library is always
//! loaded with the program, so its words can live in the static TLS block (the initial-exec model), which stable
//! Rust does not offer but assembly does.
//!
//! `rsan_tls_pc` is where the program called us: an entry stores its return address there and jumps on, which works
//! for every signature (see `entry`). The word behind it is the stack pointer of that call. `rsan_tls_stamp` is for plain accesses that are known already
//! ([`crate::shadow::plain`]).

use std::arch::{asm, global_asm};

/// The context word of a thread that is being attached, or has ended.
pub const ABSENT: usize = 1;
/// The context word of the thread in a child that finds something out; see [`crate::probe`].
pub const PROBING: usize = 2;

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 8",
    ".globl rsan_tls_context",
    ".hidden rsan_tls_context",
    ".type rsan_tls_context, @object",
    ".size rsan_tls_context, 8",
    "rsan_tls_context:",
    ".zero 8",
    ".globl rsan_tls_pc",
    ".hidden rsan_tls_pc",
    ".type rsan_tls_pc, @object",
    ".size rsan_tls_pc, 16",
    "rsan_tls_pc:",
    ".zero 16",
    ".popsection",
    ".pushsection .tdata,\"awT\",@progbits",
    ".balign 8",
    ".globl rsan_tls_stamp",
    ".hidden rsan_tls_stamp",
    ".type rsan_tls_stamp, @object",
    ".size rsan_tls_stamp, 8",
    "rsan_tls_stamp:",
    ".quad {no_stamp}",
    ".popsection",
    no_stamp = const NO_STAMP,
);

/// Says that no plain access is known already; see [`set_stamp`]. The bit is that of atomic accesses, which are in no cell.
const NO_STAMP: u64 = 2;

/// The word that says which thread this is; see [`crate::thread::Context`].
#[inline(always)]
pub fn context_word() -> usize {
    let word: usize;
    // SAFETY: reads this thread's own word; both instructions are the ABI's initial-exec access.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_context@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// Sets the stamp of plain accesses that need not be looked at if a cell has it: that of the thread's context, as long
/// as it is private. `None` is always right.
#[inline(always)]
pub fn set_stamp(stamp: Option<u64>) {
    // SAFETY: writes this thread's own word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_stamp@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) stamp.unwrap_or(NO_STAMP),
            options(nostack, preserves_flags),
        );
    }
}

/// Where the word is that [`set_stamp`] sets, from the thread's pointer on.
pub(crate) fn stamp_offset() -> usize {
    let offset: usize;
    // SAFETY: reads a word that the loader has set.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_stamp@GOTTPOFF]",
            out(reg) offset,
            options(nostack, preserves_flags, readonly),
        );
    }
    offset
}

/// Sets the word that [`context_word`] reads.
#[inline]
pub fn set_context_word(word: usize) {
    set_stamp(None);
    // SAFETY: writes this thread's own word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_context@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) word,
            options(nostack, preserves_flags),
        );
    }
}

/// Where the program called the runtime last: a return address.
#[inline(always)]
pub fn caller() -> usize {
    let pc: usize;
    // SAFETY: reads this thread's own word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) pc,
            options(nostack, preserves_flags, readonly),
        );
    }
    pc
}

/// The program's stack pointer in that call, or, if the runtime itself has called one of its entries since, a lower one.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads this thread's own word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0} + 8]",
            out(reg) pointer,
            options(nostack, preserves_flags, readonly),
        );
    }
    pointer
}

/// Sets what [`caller`] and [`stack_pointer`] answer; returns what they did.
#[inline(always)]
pub(crate) fn swap_trace([mut pc, mut pointer]: [usize; 2]) -> [usize; 2] {
    // SAFETY: exchanges this thread's own words.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
            "xchg qword ptr fs:[{0}], {1}",
            "xchg qword ptr fs:[{0} + 8], {2}",
            out(reg) _,
            inout(reg) pc,
            inout(reg) pointer,
            options(nostack, preserves_flags),
        );
    }
    [pc, pointer]
}

/// Sets what [`caller`] answers.
#[inline]
pub fn set_caller(pc: usize) {
    // SAFETY: writes this thread's own word.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) pc,
            options(nostack, preserves_flags),
        );
    }
}

/// The base of the calling thread's memory.
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the thread's first word is its own address.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly)) };
    pointer
}
