//! Readers for C litmus tests and TPL programs.
