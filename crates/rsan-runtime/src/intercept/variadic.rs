//! Functions with a variable number of arguments: an entry leaves its registers on the stack, as a C function does that has a
//! `va_list`, and calls a function that gets the list with all arguments.
//!
//! **Source**: System V Application Binary Interface, AMD64 Architecture Processor Supplement, section 3.5.7.

use std::ffi::c_void;

/// A `va_list`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments {
    /// Where the next one is among those that came in general registers.
    general: u32,
    /// The same for vector registers.
    vector: u32,
    /// The next one of those that came on the stack.
    others: *const u64,
    /// Those that came in registers.
    registers: *const u8,
}

/// Bytes of the general registers, and of both kinds.
const GENERAL: u32 = 48;
const ALL: u32 = 176;

impl Arguments {
    /// # Safety
    /// There is such an argument.
    unsafe fn on_stack(&mut self) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            let value = self.others.read();
            self.others = self.others.add(1);
            value
        }
    }

    /// The next argument, which is a number or a pointer.
    ///
    /// # Safety
    /// There is such an argument.
    pub(super) unsafe fn word(&mut self) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            if self.general >= GENERAL {
                return self.on_stack();
            }
            let value = self.registers.add(self.general as usize).cast::<u64>();
            self.general += 8;
            value.read()
        }
    }

    /// Leaves out a `double`.
    ///
    /// # Safety
    /// There is such an argument.
    pub(super) unsafe fn skip_double(&mut self) {
        if self.vector < ALL {
            self.vector += 16;
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.on_stack() };
        }
    }

    /// Leaves out a `long double`, which is on the stack.
    pub(super) fn skip_long_double(&mut self) {
        let place = (self.others as usize).next_multiple_of(16) + 16;
        self.others = place as *const u64;
    }

    /// The next argument as a pointer.
    ///
    /// # Safety
    /// There is such an argument.
    pub(super) unsafe fn pointer<T>(&mut self) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.word() as *mut T }
    }

    /// As C passes it.
    pub(super) fn as_c(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }
}

/// Exported functions that note their caller and go on in a function of their arguments as a list.
///
/// `al` says whether there are vector registers. The list is at the stack pointer, the registers 32 bytes above it.
macro_rules! variadic_entries {
    ($($name:ident => $target:path;)+) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[unsafe(naked)]
            #[allow(non_snake_case)]
            #[doc = concat!("Exported; goes on in `", stringify!($target), "`.")]
            pub extern "C" fn $name() {
                ::core::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov r10, qword ptr [rsp]",
                    "mov r11, qword ptr [rip + rsan_tls_pc@GOTTPOFF]",
                    "mov qword ptr fs:[r11], r10",
                    "mov qword ptr fs:[r11 + 8], rsp",
                    "sub rsp, 216",
                    ".cfi_adjust_cfa_offset 216",
                    "mov qword ptr [rsp + 32], rdi",
                    "mov qword ptr [rsp + 40], rsi",
                    "mov qword ptr [rsp + 48], rdx",
                    "mov qword ptr [rsp + 56], rcx",
                    "mov qword ptr [rsp + 64], r8",
                    "mov qword ptr [rsp + 72], r9",
                    "test al, al",
                    "je 2f",
                    "movaps xmmword ptr [rsp + 80], xmm0",
                    "movaps xmmword ptr [rsp + 96], xmm1",
                    "movaps xmmword ptr [rsp + 112], xmm2",
                    "movaps xmmword ptr [rsp + 128], xmm3",
                    "movaps xmmword ptr [rsp + 144], xmm4",
                    "movaps xmmword ptr [rsp + 160], xmm5",
                    "movaps xmmword ptr [rsp + 176], xmm6",
                    "movaps xmmword ptr [rsp + 192], xmm7",
                    "2:",
                    "mov dword ptr [rsp], 0",
                    "mov dword ptr [rsp + 4], 48",
                    "lea rax, [rsp + 224]",
                    "mov qword ptr [rsp + 8], rax",
                    "lea rax, [rsp + 32]",
                    "mov qword ptr [rsp + 16], rax",
                    "mov rdi, rsp",
                    "call {target}",
                    "add rsp, 216",
                    ".cfi_adjust_cfa_offset -216",
                    "ret",
                    ".cfi_endproc",
                    target = sym $target,
                )
            }
        )+
    };
}

pub(super) use variadic_entries;
