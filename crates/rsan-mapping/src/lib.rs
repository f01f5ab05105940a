//! What the atomics of C become on each architecture.
