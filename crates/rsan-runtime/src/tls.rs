//! Four words per thread, reached in two instructions.
//!
//! `thread_local!` in a shared library calls `__tls_get_addr`, on every access of the program. The library is always
//! loaded with the program, so its words can live in the static TLS block (the initial-exec model), which stable
//! Rust does not offer but assembly does.
//!
//! `rsan_tls_pc` is where the program called us: an entry stores its return address there and jumps on, which works
//! for every signature (see [`crate::entries`]). The word behind it is the stack pointer of that call. `rsan_tls_stamp` is for plain accesses that are known already
//! ([`crate::abi::plain`]).

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

/// Exported functions that note their caller and go on in a function of the same arguments.
///
/// `rax` and `r11` carry no argument, so nothing is disturbed. Unit tests do not get the exported names: they would
/// replace those of the test program itself.
#[macro_export]
#[doc(hidden)]
macro_rules! entries {
    ($($name:ident => $target:path;)+) => {
        $($crate::entries!(@one $name => $target, [], []);)+
    };
    // One of them, with lines of assembly in between and their operands.
    (@one $name:ident => $target:path, [$($line:expr,)*], [$($operand:tt)*]) => {
        $crate::entries!(@as stringify!($name), $name => $target, [$($line,)*], [$($operand)*]);
    };
    // The same, exported by another name than that of the function here.
    (@as $exported:expr, $name:ident => $target:path, [$($line:expr,)*], [$($operand:tt)*]) => {
        #[cfg_attr(not(test), unsafe(export_name = $exported))]
        #[unsafe(naked)]
        #[allow(non_snake_case)]
        #[doc = concat!("Exported; goes on in `", stringify!($target), "`.")]
        pub extern "C" fn $name() {
            ::core::arch::naked_asm!(
                "mov rax, qword ptr [rsp]",
                "mov r11, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
                "mov qword ptr fs:[r11], rax",
                "mov qword ptr fs:[r11 + 8], rsp",
                $($line,)*
                "jmp {target}",
                target = sym $target,
                $($operand)*
            )
        }
    };
}

/// [`entries`] in front of functions of libc. As with ThreadSanitizer, a program that has such a function of its own
/// reaches ours as `__interceptor_NAME`.
#[macro_export]
#[doc(hidden)]
macro_rules! interceptors {
    ($($name:ident => $target:path;)+) => {
        $crate::entries! { $($name => $target;)+ }
        $(#[cfg(not(test))]
        #[allow(unreachable_pub)]
        const _: () = {
            $crate::entries!(@as concat!("__interceptor_", stringify!($name)), alias => $target, [], []);
        };)+
    };
}

/// Exported functions that go on in a function of the same arguments, with their caller as the second one.
#[macro_export]
#[doc(hidden)]
macro_rules! entries_with_caller {
    ($($name:ident => $target:path;)+) => {
        $crate::entries_as_they_are!(["mov rsi, qword ptr [rsp]",] $($name => $target;)+);
    };
}

/// Exported functions that go on in a function of the same arguments.
#[macro_export]
#[doc(hidden)]
macro_rules! entries_as_they_are {
    ([$line:literal,] $($name:ident => $target:path;)+) => {
        $($crate::entries_as_they_are!(@one [$line,] $name => $target);)+
    };
    ($($name:ident => $target:path;)+) => {
        $($crate::entries_as_they_are!(@one [] $name => $target);)+
    };
    (@one [$($line:literal,)?] $name:ident => $target:path) => {
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[unsafe(naked)]
        #[allow(non_snake_case)]
        #[doc = concat!("Exported; goes on in `", stringify!($target), "`.")]
        pub extern "C" fn $name() {
            ::core::arch::naked_asm!($($line,)? "jmp {target}", target = sym $target)
        }
    };
}

/// Lines of assembly that note the registers that a call preserves, and the caller's stack pointer; `r11` and `rax` are used.
#[macro_export]
#[doc(hidden)]
macro_rules! note_registers {
    () => {
        concat!(
            "lea r11, [rip + {registers}]\n",
            "mov qword ptr [r11], rbx\n",
            "mov qword ptr [r11 + 8], rbp\n",
            "mov qword ptr [r11 + 16], r12\n",
            "mov qword ptr [r11 + 24], r13\n",
            "mov qword ptr [r11 + 32], r14\n",
            "mov qword ptr [r11 + 40], r15\n",
            "lea rax, [rsp + 8]\n",
            "mov qword ptr [r11 + 48], rax",
        )
    };
}

/// `entries` of atomic operations: where operations are scheduled, they also note the registers that a
/// call preserves, and the stack pointer.
#[macro_export]
#[doc(hidden)]
macro_rules! atomic_entries {
    ($($name:ident => $target:path;)+) => {
        $($crate::entries!(
            @one $name => $target,
            [
                "cmp byte ptr [rip + {active}], 0",
                "jne 2f",
                "jmp {target}",
                "2:",
                $crate::note_registers!(),
            ],
            [
                active = sym $crate::sched::ACTIVE,
                registers = sym $crate::sched::atomics::REGISTERS,
            ]
        );)+
    };
}
