//! What compilers call when they instrument for threads. Each entry notes its caller and goes on in safe code.

pub mod access;
pub mod annotations;
pub mod atomics;
pub mod external;
pub mod fibers;
pub mod header;
pub mod libatomic;
pub mod plain;
pub mod query;
