//! Sizes that the readers refuse to go beyond, so that absurd input costs neither time nor memory.

/// Longest text that is read, in bytes.
pub(crate) const SOURCE_BYTES: usize = 1 << 20;
/// Most threads of a program.
pub(crate) const THREADS: usize = 64;
/// Most shared locations, array elements counted one by one.
pub(crate) const LOCATIONS: usize = 1024;
/// Most registers of a thread, array elements and temporaries counted one by one.
pub(crate) const REGISTERS: usize = 1024;
/// Most instructions of a thread.
pub(crate) const INSTRUCTIONS: usize = 10_000;
/// Deepest nesting of blocks and parentheses: the readers recurse on these.
pub(crate) const NESTING: u32 = 64;
/// Tallest expression: everything that evaluates one recurses on its height.
pub(crate) const HEIGHT: u32 = 256;
/// Most errors that are reported for one text.
pub(crate) const ERRORS: usize = 20;
