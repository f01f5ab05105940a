//! The sanitizer's runtime: the functions that `-fsanitize=thread` lets a compiler call, on top of the monitors of
//! [`rsan_clocks`].
//!
//! A program compiled with `gcc -fsanitize=thread -c` or `clang -fsanitize=thread -c` is linked with this shared
//! library instead of libtsan. Every atomic operation is then executed under a lock of its location, so the run is
//! sequentially consistent by construction, and at each of them the write-log monitor says whether weak memory
//! would have allowed something else. Plain accesses are checked for data races with the same clocks.
//!
//! # Modules
//! * [`abi`]: what compilers call; `entries/` has what of it is linked with programs themselves. [`intercept`]: what the program calls in libc, and we look at first.
//! * [`atomic`]: one atomic operation from lock to unlock. [`race`]: one plain access. [`sync`]: locks and the like.
//! * [`location`]: what is known of an atomic location. [`shadow`]: what is known of memory.
//! * [`model`]: what the memory models do differently.
//! * [`thread`]: what is known of a thread. [`stack`]: where it is.
//! * [`probe`]: whether an access that can be weak is a wait, which is no finding. [`benign`]: what the program says is
//!   none. `ignoring`: synchronisation that it says is none.
//! * [`report`]: findings. [`journal`]: where they go. [`ending`]: the end of the process.
//! * [`memory`]: what an address is. [`heap`]: who allocated a block. [`descriptor`]: the lives of file descriptors.
//! * [`trail`]: from whom a thread learnt what comes before. [`chain`]: the way back to a write.
//! * [`sched`]: who runs, when the schedule is ours.
//! * [`options`]: settings. [`runtime`]: start, end and fork.
//! * [`tls`], [`lock`], [`real`], [`allocator`], [`modules`], [`unwind`]: what the others stand on.
//!
//! # Ground rules
//! 1. *No panic leaves the library.* Entries are `extern "C"`, so a panic aborts the process with its message.
//!    Functions that may be unwound by thread cancellation are `extern "C-unwind"` and own nothing meanwhile.
//! 2. *No recursion into the interceptors.* Our own memory comes from mappings of our own
//!    ([`allocator`]). While a thread is inside the runtime its context is *busy* ([`thread::enter`]), and every
//!    entry and interceptor then does only what the program asked for. A signal that comes meanwhile waits until the thread
//!    leaves; the handler of a fault runs at once, and what it does is executed, but not seen.
//! 3. *No lock is held while calling out*: findings are written, threads created, and blocking calls made without
//!    any. A thread holds at most one location's lock, and takes no other lock under it but those of [`stack`]'s
//!    contexts, of blocks, of [`order`] and of [`allocator`], which take none of the others.
//! 4. *Nothing asks the loader, or allocates in libc, before the program runs or while another thread may wait for us in the
//!    loader*: functions of libc are found at the start, by `symbols`.
//! 5. *Asleep* ([`runtime`]) until instrumented code is there: the library may be preloaded into any program.
//! 6. *fork*: all locks are taken before and given back after, so the child goes on with a consistent state
//!    ([`runtime`]). The other threads do not exist in the child; nothing waits for them.
//! 7. *Nothing on the path of an access is global*: a context per thread, a lock per 8 bytes.
//!
//! # Limits of this version
//! * Atomic accesses of several sizes that overlap carry order, but their robustness is not checked.
//! * Logs are cut at [`options::Options::log_cap`] writes; older ones lose violations, never invent them. Without a limit they
//!   are exact and grow while a live thread sleeps.
//! * Threads made by the system call `clone` are taken as unrelated to their creator.
//! * What the handler of a fault does while it interrupts the runtime is not seen.
//! * A thread's epochs end after 2^32 writes and fences; nothing is concluded from later ones, which is said once.
//! * x86-64 Linux with glibc only; elsewhere the crate is empty.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

pub mod abi;
pub mod allocator;
pub mod atomic;
mod awake;
pub mod benign;
pub mod chain;
mod deadlock;
pub mod descriptor;
mod elf;
pub mod ending;
pub mod fatal;
mod files;
pub mod finding;
pub mod heap;
pub mod held;
mod hooks;
mod horizon;
mod ignoring;
mod imports;
mod inherited;
pub mod intercept;
pub mod journal;
pub mod location;
pub mod lock;
pub mod memory;
pub mod model;
pub mod modules;
pub mod options;
pub mod order;
pub mod output;
pub mod probe;
pub mod race;
pub mod real;
pub mod report;
pub mod runtime;
pub mod sched;
pub mod shadow;
pub mod stack;
mod suppress;
mod symbols;
pub mod sync;
mod system;
pub mod tables;
pub mod thread;
pub mod tls;
pub mod trail;
pub mod unwind;
mod upcall;
