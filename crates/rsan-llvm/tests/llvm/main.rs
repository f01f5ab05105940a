//! IR read and changed by the LLVM of this machine. On a machine without one, the message that says so is all that is tested here.

mod common;
mod contained;
mod patching;
mod reading;
mod render;
