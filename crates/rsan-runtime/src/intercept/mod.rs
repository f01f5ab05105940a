//! What the program calls in libc, and we look at first.
//!
//! An interceptor calls the real function ([`crate::real`]) outside the runtime, and tells the monitor before
//! (what it gives away) or after (what it gets).

pub mod guards;
pub mod locks;
pub mod memory;
pub mod threads;
