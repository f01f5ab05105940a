//! Jumps, other stacks, functions run at exit, libraries that are unloaded.

use super::deferred;
use crate::callers;
use crate::entry::interceptors;
use crate::real::{self, Real};
use crate::thread::{current, enter};
use crate::{shadow, sync};
use libc::{c_int, c_void};
use std::arch::{asm, naked_asm};

static SETJMP: Real = Real::new(c"setjmp");
static SETJMP_WITHOUT_MASK: Real = Real::new(c"_setjmp");
static SIGSETJMP: Real = Real::new(c"__sigsetjmp");

/// Looks up what must not be looked up later.
pub(crate) fn start() {
    for function in [&SETJMP, &SETJMP_WITHOUT_MASK, &SIGSETJMP] {
        function.look_up();
    }
}

/// libc's own `sigsetjmp`.
pub(super) fn set_jump() -> usize {
    SIGSETJMP.address()
}

/// Remembers where `setjmp` is called, and returns the real one.
fn jump_target(pointer: usize, function: &Real) -> usize {
    if let Some(context) = current()
        && let Some(_me) = context.enter()
    {
        context.stack().remember_jump(pointer);
    }
    function.address()
}

extern "C" fn setjmp_target(pointer: usize) -> usize {
    jump_target(pointer, &SETJMP)
}

extern "C" fn setjmp_without_mask_target(pointer: usize) -> usize {
    jump_target(pointer, &SETJMP_WITHOUT_MASK)
}

extern "C" fn sigsetjmp_target(pointer: usize) -> usize {
    jump_target(pointer, &SIGSETJMP)
}

/// Functions that return twice must be jumped to with the caller's stack: they get back their arguments, and the
/// target is told the stack pointer that the caller will have.
macro_rules! returning_twice {
    ($($name:ident => $target:path;)+) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[unsafe(naked)]
            #[doc = concat!("Exported; goes on in the real function after `", stringify!($target), "`.")]
            pub extern "C" fn $name() {
                naked_asm!(
                    "push rdi",
                    "push rsi",
                    "sub rsp, 8",
                    "lea rdi, [rsp + 32]",
                    "call {target}",
                    "add rsp, 8",
                    "pop rsi",
                    "pop rdi",
                    "jmp rax",
                    target = sym $target,
                )
            }
        )+
    };
}

returning_twice! {
    setjmp => setjmp_target;
    _setjmp => setjmp_without_mask_target;
    __sigsetjmp => sigsetjmp_target;
}

/// Where glibc keeps the stack pointer in a `jmp_buf`, as an index of words.
const POINTER: usize = 6;

/// The stack pointer that a jump goes to; glibc keeps it scrambled with a word of the thread.
unsafe fn pointer_of(environment: *const c_void) -> usize {
    // SAFETY: the program's environment.
    let mut pointer = unsafe { environment.cast::<usize>().add(POINTER).read() };
    // SAFETY: reads this thread's own word, which glibc set up.
    unsafe {
        asm!("ror {0}, 17", "xor {0}, qword ptr fs:[0x30]", inout(reg) pointer, options(nostack, readonly));
    }
    pointer
}

/// The functions in between are left without being announced.
unsafe extern "C-unwind" fn jump(environment: *mut c_void, value: c_int) -> ! {
    super::signals::leave();
    if let Some(context) = current() {
        // SAFETY: the program's environment.
        let target = unsafe { pointer_of(environment) };
        if context.is_busy() {
            deferred::jumps(context, target);
        }
        if !context.is_busy() {
            context.stack().jump(target);
        }
    }
    // SAFETY: the program's call.
    unsafe { real::longjmp(environment, value) }
}

/// Another stack runs until somebody comes back to this one, with calls of its own in between.
unsafe extern "C-unwind" fn swap(from: *mut c_void, to: *const c_void) -> c_int {
    super::signals::leave();
    let here = enter().map(|me| me.mark());
    // SAFETY: the program's call.
    let result = unsafe { real::swapcontext(from, to) };
    if let (Some(context), Some(here)) = (current().filter(|context| !context.is_busy()), here) {
        context.stack().restore(here);
    }
    result
}

/// What functions run at exit know of those who registered them.
static AT_EXIT: u64 = 0;

fn at_exit_clock() -> usize {
    &raw const AT_EXIT as usize
}

/// A function to run at exit, and its argument.
struct Routine {
    routine: unsafe extern "C-unwind" fn(*mut c_void),
    argument: *mut c_void,
}

/// Registering a function comes before running it, in whatever thread. Also what `atexit` calls.
unsafe extern "C-unwind" fn register_at_exit(
    routine: unsafe extern "C-unwind" fn(*mut c_void),
    argument: *mut c_void,
    library: *mut c_void,
) -> c_int {
    if current().is_none_or(|context| context.is_busy()) {
        // SAFETY: the program's call.
        return unsafe { real::__cxa_atexit(routine, argument, library) };
    }
    sync::release(at_exit_clock());
    let routine = Box::into_raw(Box::new(Routine { routine, argument }));
    // SAFETY: the program's call, with a function and an argument that fit each other.
    unsafe { real::__cxa_atexit(run_at_exit, routine.cast(), library) }
}

unsafe extern "C-unwind" fn run_at_exit(routine: *mut c_void) {
    // SAFETY: made by `register_at_exit`, and run once.
    let Routine { routine, argument } = *unsafe { Box::from_raw(routine.cast::<Routine>()) };
    sync::acquire(at_exit_clock());
    // SAFETY: as the program asked.
    unsafe { routine(argument) };
}

/// The memory of all loaded modules: from, up to.
fn loaded() -> Vec<(usize, usize)> {
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _: usize,
        ranges: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description, and the pointer is the one from `loaded`.
        let (info, ranges) = unsafe { (&*info, &mut *ranges.cast::<Vec<(usize, usize)>>()) };
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the loader says how many headers there are.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
        {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            ranges.push((start, start + header.p_memsz as usize));
        }
        0
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    // SAFETY: the callback gets back the pointer given here, during the call only.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut ranges).cast()) };
    ranges
}

/// What the library had in memory may be something else's next.
unsafe extern "C-unwind" fn unload(library: *mut c_void) -> c_int {
    let before = enter().map(|_me| loaded());
    // SAFETY: the program's call.
    let result = unsafe { real::dlclose(library) };
    if let (Some(before), Some(_me)) = (before, enter()) {
        let after = loaded();
        for (start, end) in before.into_iter().filter(|range| !after.contains(range)) {
            shadow::forget(start, end - start);
            callers::forget(start, end);
        }
    }
    result
}

interceptors! {
    longjmp => jump;
    _longjmp => jump;
    siglongjmp => jump;
    __longjmp_chk => jump;
    swapcontext => swap;
    __cxa_atexit => register_at_exit;
    dlclose => unload;
}
