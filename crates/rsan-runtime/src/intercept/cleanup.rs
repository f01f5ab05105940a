//! What is done when a thread ends in the middle of a call: by cancellation, or by `pthread_exit`.

use super::control;
use libc::{c_int, c_void};
use std::arch::naked_asm;

/// What libc runs then.
#[repr(C)]
struct Cleanup {
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    kind: c_int,
    previous: *mut c_void,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        routine: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

/// Where libc goes on when the thread ends itself: `__pthread_unwind_buf_t`.
#[repr(C, align(16))]
struct Target([usize; 14]);

unsafe extern "C" {
    fn __pthread_register_cancel(target: *mut Target);
    fn __pthread_unregister_cancel(target: *mut Target);
}

/// Calls a function with an argument. Returns also if the thread ends itself in it: libc then calls what is to be cleaned up, as for
/// an exception, and jumps to the target.
#[unsafe(naked)]
unsafe extern "C-unwind" fn catch(
    target: *mut Target,
    set_jump: usize,
    act: unsafe extern "C-unwind" fn(*mut c_void),
    argument: *mut c_void,
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbx, 0",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r12, 0",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r13, 0",
        "mov rbx, rdi",
        "mov r12, rdx",
        "mov r13, rcx",
        "mov rax, rsi",
        "xor esi, esi",
        "call rax",
        "test eax, eax",
        "jne 2f",
        "mov rdi, rbx",
        "call {register}",
        "mov rdi, r13",
        "call r12",
        "mov rdi, rbx",
        "call {unregister}",
        "2:",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r13",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r12",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbx",
        "ret",
        ".cfi_endproc",
        register = sym __pthread_register_cancel,
        unregister = sym __pthread_unregister_cancel,
    )
}

unsafe extern "C-unwind" fn act_of<F: FnMut()>(act: *mut c_void) {
    // SAFETY: from `until_exit`, whose frame is still there.
    unsafe { (*act.cast::<F>())() };
}

/// Runs `act`, and comes back also if the thread ends itself in it (`pthread_exit`). It owns nothing then.
pub(super) fn until_exit<F: FnMut()>(mut act: F) {
    let mut target = Target([0; 14]);
    // SAFETY: the target and what is run stay until the call returns, in one of two ways.
    unsafe {
        catch(
            &raw mut target,
            control::set_jump(),
            act_of::<F>,
            (&raw mut act).cast(),
        );
    }
}

unsafe extern "C" fn run<F: Fn()>(leaving: *mut c_void) {
    // SAFETY: from `on_leaving`, whose frame is still there.
    unsafe { (*leaving.cast::<F>())() };
}

/// Runs `act`, and `leaving` if the thread ends in it.
pub(super) fn on_leaving<F: Fn(), R>(leaving: F, act: impl FnOnce() -> R) -> R {
    let mut cleanup = Cleanup {
        routine: None,
        argument: std::ptr::null_mut(),
        kind: 0,
        previous: std::ptr::null_mut(),
    };
    let argument = (&raw const leaving).cast_mut().cast();
    // SAFETY: popped below, before the buffer goes; or run by libc, which then leaves this function.
    unsafe { _pthread_cleanup_push(&raw mut cleanup, run::<F>, argument) };
    let result = act();
    // SAFETY: pushed above.
    unsafe { _pthread_cleanup_pop(&raw mut cleanup, 0) };
    result
}
