//! Tests of the engine on its own. That it shows what the axioms allow, no more and no less, is tested in `rsan-crosscheck`.

mod leaving;
mod memory;
mod mutants;

rsan_crosscheck::weak_memory!(crate::Engine, crate::LocationId, crate::WriteId);
