//! What the program calls in libc, and we look at first.
//!
//! An interceptor calls the real function ([`crate::real`]) outside the runtime, and tells the monitor before
//! (what it gives away) or after (what it gets).

mod callers;
mod cleanup;
pub mod control;
mod deferred;
pub mod files;
pub mod glib;
pub mod guards;
pub(crate) mod imports;
pub(crate) mod lifetime;
pub mod locks;
pub mod memory;
pub mod openmp;
pub mod operators;
mod order;
pub mod outside;
pub mod pauses;
pub mod processes;
pub mod signals;
pub mod strings;
pub mod threads;

/// An instrumented file of the program or of a library is loaded.
pub(crate) fn instrumented() {
    callers::note();
    order::check();
}
