//! Copies of the process that libc's `fork` does not make.
//!
//! libc tells us of its own forks (`fork`). `_Fork`, `clone` and the system calls tell nobody: a lock that another
//! thread holds at that time would stay locked in the child. So whatever copies the memory of the process is a fork.

use crate::entry::interceptors;
use crate::real::{self, Real};
use crate::thread::enter;
use crate::upcall::upcalls;
use libc::{c_int, c_long, c_void};
use std::arch::naked_asm;

upcalls! {
    /// Takes all locks. Signals wait until they are given back.
    "rsan_up_before_fork" fn before_fork();
    /// Gives them back in the child, which is another process from now on.
    "rsan_up_in_child" fn in_child();
    /// Gives them back in the parent.
    "rsan_up_in_parent" fn in_parent();
}

/// Copies the process by `copy`, which returns 0 in the child unless the child goes on elsewhere.
fn copying<R: Copy + PartialEq + From<u8>>(copy: impl FnOnce() -> R) -> R {
    // A process that only finds something out ends here.
    drop(enter());
    before_fork();
    let result = copy();
    if result == R::from(0) {
        in_child();
    } else {
        in_parent();
    }
    result
}

static FORK: Real = Real::new(c"fork");
static VFORK: Real = Real::new(c"vfork");

/// Looks up what must not be looked up later.
pub(crate) fn start() {
    FORK.look_up();
    VFORK.look_up();
}

/// A child that shared our memory would leave its calls on the parent's stack of calls. A fork is allowed instead.
extern "C" fn vfork_target() -> usize {
    let function = if crate::awake::is_awake() {
        &FORK
    } else {
        &VFORK
    };
    function.address()
}

/// Exported; `vfork` returns twice, so it must be jumped to with the caller's stack.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub extern "C" fn vfork() {
    naked_asm!("sub rsp, 8", "call {target}", "add rsp, 8", "jmp rax", target = sym vfork_target)
}

/// A fork of which the program's handlers are not told.
unsafe extern "C-unwind" fn fork_silently() -> c_int {
    // SAFETY: no arguments.
    copying(|| unsafe { real::_Fork() })
}

/// What a child of `clone` begins with. It lies on the stack of the parent, of which the child has a copy.
struct Start {
    function: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

extern "C" fn run(start: *mut c_void) -> c_int {
    // SAFETY: the child's copy of what `clone` put on the stack.
    let start = unsafe { &*start.cast::<Start>() };
    in_child();
    (start.function)(start.argument)
}

/// Whether a child with these flags of `clone` has memory of its own.
fn copies(flags: usize) -> bool {
    flags & libc::CLONE_VM as usize == 0
}

/// With memory of its own, the child is that of a fork; else it is a thread, which will be noticed when it does something.
unsafe extern "C-unwind" fn clone_process(
    function: extern "C" fn(*mut c_void) -> c_int,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut c_void,
    tls: *mut c_void,
    child: *mut c_void,
) -> c_int {
    if !copies(flags as usize) {
        // SAFETY: the program's call; arguments that it did not give are not looked at.
        return unsafe { real::clone(function, stack, flags, argument, parent, tls, child) };
    }
    copying(|| {
        let mut start = Start { function, argument };
        let start = (&raw mut start).cast();
        // SAFETY: the program's call, with a function and an argument that fit each other.
        unsafe { real::clone(run, stack, flags, start, parent, tls, child) }
    })
}

/// What the system call `clone3` is given first: flags, three pointers, a signal, and a stack.
type Clone3 = [u64; 6];

/// Whether a system call makes a copy of the process that goes on in its caller.
///
/// # Safety
/// The arguments are those of the system call.
unsafe fn is_fork(number: c_long, first: usize, second: usize) -> bool {
    match number {
        libc::SYS_fork => true,
        libc::SYS_clone => copies(first) && second == 0,
        libc::SYS_clone3 if second >= size_of::<Clone3>() => {
            // SAFETY: the caller's promise; what cannot be read is the program's mistake, which the system answers.
            unsafe { (first as *const Clone3).as_ref() }
                .is_some_and(|[flags, .., stack]| copies(*flags as usize) && *stack == 0)
        }
        _ => false,
    }
}

/// A system call of the program.
///
/// # Safety
/// As the system call.
pub(super) unsafe fn system_call(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the program's call; arguments that it did not give are not looked at.
    let call = || unsafe { real::syscall(number, a, b, c, d, e, f) };
    // SAFETY: as above.
    if unsafe { is_fork(number, a, b) } {
        copying(call)
    } else {
        call()
    }
}

interceptors! {
    _Fork => fork_silently;
    clone => clone_process;
}
