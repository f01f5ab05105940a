//! Functions of libraries, by name.

/// What an external function does, as far as pointers and threads are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Returns new memory.
    Allocates,
    /// Starts a thread with the function and the argument at these positions.
    Starts {
        /// Which argument is the function.
        function: usize,
        /// Which argument it gets.
        argument: usize,
        /// So many parameters come before it, and all later arguments go with it.
        skipped: usize,
    },
    /// Waits for the end of a thread.
    Joins,
    /// Takes the lock that its first argument points to.
    Locks,
    /// Gives it back.
    Unlocks,
    /// Keeps no pointer, returns none, and does nothing to shared memory that matters here.
    Harmless,
    /// Not known.
    Unknown,
}

/// What the function of this name does.
pub(crate) fn effect(name: &str) -> Effect {
    match name {
        "pthread_create" => Effect::Starts {
            function: 2,
            argument: 3,
            skipped: 0,
        },
        "thrd_create" => Effect::Starts {
            function: 1,
            argument: 2,
            skipped: 0,
        },
        "__kmpc_fork_call" => Effect::Starts {
            function: 2,
            argument: 3,
            skipped: 2,
        },
        "GOMP_parallel" => Effect::Starts {
            function: 0,
            argument: 1,
            skipped: 0,
        },
        "pthread_join" | "thrd_join" | "_ZNSt6thread4joinEv" => Effect::Joins,
        "pthread_mutex_lock" | "mtx_lock" | "pthread_spin_lock" => Effect::Locks,
        "pthread_mutex_unlock" | "mtx_unlock" | "pthread_spin_unlock" => Effect::Unlocks,
        _ if ALLOCATORS.contains(&name) || name.ends_with("__rust_alloc") => Effect::Allocates,
        _ if is_rust_allocator(name) => Effect::Allocates,
        _ if HARMLESS.contains(&name) || is_harmless_family(name) => Effect::Harmless,
        _ => Effect::Unknown,
    }
}

const ALLOCATORS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "valloc",
    "mmap",
    "mmap64",
    "_Znwm",
    "_Znam",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
];

/// `__rust_alloc` and its kin, mangled or not.
fn is_rust_allocator(name: &str) -> bool {
    ["__rust_alloc_zeroed", "__rust_realloc", "__rust_alloc"]
        .iter()
        .any(|known| name.contains(known))
}

const HARMLESS: &[&str] = &[
    "free",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdaPv",
    "_ZdaPvm",
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "fputs",
    "fflush",
    "perror",
    "exit",
    "_exit",
    "abort",
    "__assert_fail",
    "sched_yield",
    "thrd_yield",
    "usleep",
    "nanosleep",
    "sleep",
    "rand",
    "srand",
    "time",
    "clock_gettime",
    "strlen",
    "strcmp",
    "strncmp",
    "memcmp",
    "pthread_exit",
    "pthread_self",
    "pthread_equal",
    "pthread_detach",
    "__kmpc_global_thread_num",
    "omp_get_thread_num",
    "omp_get_num_threads",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "_ZSt9terminatev",
    "_Unwind_Resume",
];

/// What waits or wakes orders nothing here, which is sound; its memory is touched by the library alone.
fn is_harmless_family(name: &str) -> bool {
    [
        "pthread_mutex_",
        "pthread_cond_",
        "pthread_attr_",
        "pthread_barrier_",
        "pthread_rwlock_",
        "pthread_spin_",
        "sem_",
        "mtx_",
        "cnd_",
        "llvm.",
    ]
    .iter()
    .any(|family| name.starts_with(family))
        || name.contains("__rust_dealloc")
        || is_rust_panic(name)
}

/// Functions of Rust's libraries that never return, by either mangling.
fn is_rust_panic(name: &str) -> bool {
    let of_std = [
        "begin_panic",
        "rust_panic_with_hook",
        "rust_panic_without_hook",
        "resume_unwind",
    ];
    name.contains("4core9panicking")
        || (name.contains("3std9panicking") && of_std.iter().any(|f| name.contains(f)))
}

#[cfg(test)]
mod tests {
    use super::{Effect, effect};

    #[test]
    fn only_panics_of_rust_are_harmless() {
        for name in [
            "_ZN4core9panicking5panic17h0123456789abcdefE",
            "_RNvNtCs1234_4core9panicking9panic_fmt",
            "_ZN3std9panicking11begin_panic17h0123456789abcdefE",
        ] {
            assert_eq!(effect(name), Effect::Harmless, "{name}");
        }
        for name in ["panic_button", "_ZN3std9panicking3try17h0123456789abcdefE"] {
            assert_eq!(effect(name), Effect::Unknown, "{name}");
        }
    }
}
