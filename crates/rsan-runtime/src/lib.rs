//! The sanitizer's runtime: the functions that `-fsanitize=thread` lets a compiler call, on top of the monitors of
//! [`rsan_clocks`].
//!
//! A program compiled with `gcc -fsanitize=thread -c` or `clang -fsanitize=thread -c` is linked with this shared
//! library instead of libtsan. Every atomic operation is then executed under a lock of its location, so the run is
//! sequentially consistent by construction, and at each of them the write-log monitor says whether weak memory
//! would have allowed something else. Plain accesses are checked for data races with the same clocks.
//!
//! # Layers
//! A module names only modules before it in this table; what it has to call in a later one is an `upcall`. A test (`layers`)
//! reads the sources.
//!
//! | layer | modules, lowest first |
//! | --- | --- |
//! | system | `tables`, `upcall`, `system`, `lock`, `files`, `elf`, `modules`, `symbols`, `awake`, `imports`, `callers`, `tls`, `entry`, `word`, `output`, `options`, `inherited`, `journal`, `hooks`, `fatal`, `mapping`, `real` |
//! | state | `stack`, `unwind`, `horizon`, `owners`, `held`, `trail`, `order`, `chain`, `finding`, `shadow`, `location`, `thread`, `allocator`, `heap`, `descriptor` |
//! | report | `benign`, `memory`, `suppress`, `report` |
//! | check | `model`, `failing`, `sched`, `ignoring`, `probe`, `race`, `atomic`, `handler`, `sync`, `volatile`, `deadlock` |
//! | interface | `ending`, `intercept`, `abi`, `fork`, `runtime` |
//!
//! * *System*: what the others stand on. System calls, the loader's tables, files, settings, text, the log, and `real`: the
//!   functions of libc that we stand in front of. `entry` has the macros for what is exported, `callers` which code is instrumented.
//! * *State*: what is known. [`thread`], [`stack`]: of a thread, and where it is. [`shadow`], [`location`]: of memory, and of an
//!   atomic location, lock or the like in it. [`heap`], [`descriptor`]: of blocks and descriptors. [`trail`]: from whom a
//!   thread learnt what comes before; [`chain`]: the way back to a write. [`finding`]: findings as values.
//! * *Report*: [`report`] writes findings, unless the user (`suppress`) or the program ([`benign`]) says that they are none.
//!   [`memory`]: what an address is.
//! * *Check*: [`atomic`]: one atomic operation from lock to unlock, by the rules of a [`model`]. [`race`]: one plain access.
//!   [`sync`]: locks and the like. [`probe`]: whether an access that can be weak only waits, which is no finding. `deadlock`:
//!   threads that wait for each other. `failing`: how the program fails. [`sched`]: who runs, under controlled scheduling. `handler`: signal handlers.
//!   `ignoring`: synchronisation that the program says is none. `volatile`: accesses that count as atomic ones.
//! * *Interface*: [`abi`]: what compilers call; `entries/` has what of it is linked with programs themselves. [`intercept`]: what the
//!   program calls in libc. `fork`, [`runtime`] and [`ending`]: copies, start and end of the process.
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
//! 5. *Asleep* (`awake`) until instrumented code is there: the library may be preloaded into any program.
//! 6. *fork*: all locks are taken before and given back after, so the child goes on with a consistent state
//!    (`fork`). The other threads do not exist in the child; nothing waits for them.
//! 7. *Nothing on the path of an access is global*: a context per thread, a lock per 8 bytes.
//!
//! # Limits of this version
//! * Atomic accesses of several sizes that overlap carry order, but their robustness is not checked.
//! * Logs are cut at [`options::Options::log_cap`] writes; older ones lose violations, never invent them. Without a limit they
//!   are exact and grow while a live thread sleeps.
//! * Threads made by the system call `clone` are taken as unrelated to their creator.
//! * What the handler of a fault does while it interrupts the runtime is not seen.
//! * A thread goes on in another slot of the clocks after 2^32 writes and fences. When there are no more than 2^16 of these, nothing is
//!   concluded from later ones, which is said once.
//! * x86-64 Linux with glibc only; elsewhere the crate is empty.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

pub mod abi;
pub mod allocator;
pub mod atomic;
mod awake;
pub mod benign;
mod callers;
pub mod chain;
mod deadlock;
pub mod descriptor;
mod elf;
pub mod ending;
mod entry;
mod failing;
pub mod fatal;
mod files;
pub mod finding;
mod fork;
mod handler;
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
mod mapping;
pub mod memory;
pub mod model;
pub mod modules;
pub mod options;
pub mod order;
pub mod output;
mod owners;
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
mod volatile;
pub mod word;

#[cfg(test)]
mod layers;
#[cfg(test)]
mod sources;
