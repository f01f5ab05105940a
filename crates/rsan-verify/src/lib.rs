//! Explicit-state verification of robustness under sequential consistency.
