//! How programs get into the runtime: the macros that define exported functions.
//!
//! * [`entries`]: what compilers and programs call. [`interceptors`]: the same in front of functions of libc.
//! * [`entries_with_caller`], [`entries_as_they_are`]: those that leave no trace of their caller.
//! * [`atomic_entries`]: those of atomic operations. [`note_registers`]: what they, and others, note under controlled scheduling.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// Whether a strategy says who runs; see [`crate::sched`].
pub(crate) static SCHEDULED: AtomicBool = AtomicBool::new(false);

/// Registers that calls preserve, and the stack pointer, of the program where it called an atomic operation last.
///
/// One place for all threads, since one runs at a time; an entry fills it when operations are scheduled.
pub(crate) static REGISTERS: [AtomicU64; 7] = [const { AtomicU64::new(0) }; 7];

/// Exported functions that note their caller and go on in a function of the same arguments.
///
/// `rax` and `r11` carry no argument, so nothing is disturbed. Unit tests do not get the exported names: they would
/// replace those of the test program itself.
macro_rules! entries {
    ($($name:ident => $target:path;)+) => {
        $($crate::entry::entries!(@one $name => $target, [], []);)+
    };
    // One of them, with lines of assembly in between and their operands.
    (@one $name:ident => $target:path, [$($line:expr,)*], [$($operand:tt)*]) => {
        $crate::entry::entries!(@as stringify!($name), $name => $target, [$($line,)*], [$($operand)*]);
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
macro_rules! interceptors {
    ($($name:ident => $target:path;)+) => {
        $crate::entry::entries! { $($name => $target;)+ }
        $(#[cfg(not(test))]
        #[allow(unreachable_pub)]
        const _: () = {
            $crate::entry::entries!(@as concat!("__interceptor_", stringify!($name)), alias => $target, [], []);
        };)+
    };
}

/// Exported functions that go on in a function of the same arguments, with their caller as the second one.
macro_rules! entries_with_caller {
    ($($name:ident => $target:path;)+) => {
        $crate::entry::entries_as_they_are!(["mov rsi, qword ptr [rsp]",] $($name => $target;)+);
    };
}

/// Exported functions that go on in a function of the same arguments.
macro_rules! entries_as_they_are {
    ([$line:literal,] $($name:ident => $target:path;)+) => {
        $($crate::entry::entries_as_they_are!(@one [$line,] $name => $target);)+
    };
    ($($name:ident => $target:path;)+) => {
        $($crate::entry::entries_as_they_are!(@one [] $name => $target);)+
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
macro_rules! atomic_entries {
    ($($name:ident => $target:path;)+) => {
        $($crate::entry::entries!(
            @one $name => $target,
            [
                "cmp byte ptr [rip + {active}], 0",
                "jne 2f",
                "jmp {target}",
                "2:",
                $crate::entry::note_registers!(),
            ],
            [
                active = sym $crate::entry::SCHEDULED,
                registers = sym $crate::entry::REGISTERS,
            ]
        );)+
    };
}

pub(crate) use {
    atomic_entries, entries, entries_as_they_are, entries_with_caller, interceptors, note_registers,
};
