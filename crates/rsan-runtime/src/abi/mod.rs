//! What compilers call when they instrument for threads. Each entry notes its caller and goes on in safe code.

pub mod access;
pub mod annotations;
pub mod atomics;
pub mod common;
pub mod coverage;
pub mod external;
pub mod fibers;
pub mod header;
pub mod hooks;
pub mod libatomic;
pub mod plain;
pub mod query;
pub mod scopes;
pub mod symbolize;
pub mod syscalls;
pub mod testonly;
