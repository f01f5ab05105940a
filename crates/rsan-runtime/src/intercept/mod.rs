//! What the program calls in libc, and we look at first.
//!
//! An interceptor calls the real function ([`crate::real`]) outside the runtime, and tells the monitor before
//! (what it gives away) or after (what it gets).

pub mod attributes;
pub mod barriers;
mod call;
mod channels;
mod cleanup;
pub mod control;
pub mod copies;
mod deferred;
pub mod descriptors;
pub mod files;
mod format;
pub mod glib;
pub mod guards;
pub mod keys;
pub mod libcxx;
pub(crate) mod lifetime;
mod lives;
pub mod locks;
pub mod memory;
pub mod numbers;
pub mod openmp;
pub mod operators;
mod order;
pub mod outside;
pub mod pauses;
pub mod processes;
pub mod signals;
pub mod sockets;
pub mod stdio;
pub mod steady;
pub mod strings;
pub mod system;
mod table;
pub mod texts;
pub mod threads;
mod variadic;
pub mod wide;

pub(crate) use call::Call;

/// Where the functions of all tables are.
pub(crate) static TABLES: &[&[&crate::real::Real]] = &[
    descriptors::ALL,
    outside::ALL,
    stdio::ALL,
    stdio::FORMATTING,
    numbers::ALL,
    system::ALL,
    system::STATS,
    texts::ALL,
    wide::ALL,
];

/// An instrumented file of the program or of a library is loaded.
pub(crate) fn instrumented() {
    crate::callers::note();
    order::check();
}
