//! What changes cost, per machine: rough, but in the right order.

use crate::port::Costs;
use rsan_model::machine::Machine;

impl Costs {
    /// The costs on a machine; a change in a loop counts ten times per level.
    pub fn of(machine: Machine) -> Self {
        let fences = Self {
            full_fence: 10.0,
            acquire_fence: 10.0,
            release_fence: 10.0,
            acq_rel_fence: 10.0,
            store_fence: None,
            acquire_load: 10.0,
            seq_cst_load: 10.0,
            release_store: 10.0,
            seq_cst_store: 10.0,
            update: 10.0,
            in_loop: 10.0,
        };
        match machine {
            Machine::Sc => fences,
            Machine::X86 => Self {
                seq_cst_store: 8.0,
                ..fences
            },
            Machine::Armv8 => Self {
                acquire_fence: 6.0,
                acquire_load: 2.0,
                seq_cst_load: 3.0,
                release_store: 3.0,
                seq_cst_store: 3.0,
                update: 2.0,
                ..fences
            },
            Machine::Riscv => Self {
                acquire_fence: 5.0,
                release_fence: 5.0,
                acq_rel_fence: 8.0,
                acquire_load: 5.0,
                seq_cst_load: 15.0,
                release_store: 5.0,
                seq_cst_store: 5.0,
                update: 2.0,
                ..fences
            },
            Machine::Armv7 => Self {
                seq_cst_store: 20.0,
                ..fences
            },
            Machine::Power => fences,
        }
    }

    /// Every change costs 1, wherever it is: for counting fences.
    pub fn unit() -> Self {
        Self {
            full_fence: 1.0,
            acquire_fence: 1.0,
            release_fence: 1.0,
            acq_rel_fence: 1.0,
            store_fence: None,
            acquire_load: 1.0,
            seq_cst_load: 1.0,
            release_store: 1.0,
            seq_cst_store: 1.0,
            update: 1.0,
            in_loop: 1.0,
        }
    }
}
