//! LLVM by its C API, loaded at run time from the Rust toolchain or the system; a small safe wrapper.
