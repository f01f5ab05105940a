//! Tests of the readers through the crate's interface.

mod c;
mod c_control;
mod corpus;
mod detect;
mod emit;
mod errors;
mod fuzz;
mod interpreter;
mod limits;
mod mini;
mod tpl;
mod trencher;
