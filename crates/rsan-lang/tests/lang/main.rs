//! Tests of the readers through the crate's interface.

mod corpus;
