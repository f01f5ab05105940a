//! The sanitizer's front end: compiles C and C++ with the instrumentation of `-fsanitize=thread`, links the runtime that
//! the command carries, runs programs and shows what the runtime logged.
//!
//! Decides nothing about memory models: findings come from the runtime.

mod as_written;
pub(crate) mod campaign;
mod chain;
pub(crate) mod compile;
pub(crate) mod compiler;
mod convert;
mod cycle;
pub(crate) mod execute;
mod findings;
pub(crate) mod guard;
mod handover;
mod invocation;
pub(crate) mod library;
mod log;
mod memory;
mod misuse;
pub(crate) mod mixed;
mod names;
mod preload;
mod processes;
mod race;
mod record;
mod repair;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod scratch;
mod sentence;
mod shorter;
pub(crate) mod sources;
mod standard;
mod suppress;
pub(crate) mod symbols;
mod verdict;
