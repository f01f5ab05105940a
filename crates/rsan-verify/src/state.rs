//! A state of the search, unpacked.

use crate::bits::Bits;
use rsan_model::{Program, Start, Value};

/// Program counters beyond the code.
pub(crate) const HALTED: u32 = u32::MAX;
/// An `assume` failed, or the thread runs for ever without touching shared memory.
pub(crate) const STUCK: u32 = u32::MAX - 1;
/// Not spawned yet.
pub(crate) const UNBORN: u32 = u32::MAX - 2;

/// Values of everything, and the monitor's slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State<const W: usize> {
    /// One per thread; an instruction, or one of the constants above.
    pub(crate) pcs: Vec<u32>,
    /// The registers of all threads, one after the other; dead ones are 0.
    pub(crate) regs: Vec<Value>,
    /// Which of them hold a value that weak memory might have made different (observational robustness).
    pub(crate) tainted: Vec<bool>,
    /// The shared locations.
    pub(crate) memory: Vec<Value>,
    /// The monitor's slots ([`crate::layout`]).
    pub(crate) slots: Vec<Bits<W>>,
}

impl<const W: usize> State<W> {
    /// Everything at its initial value; the slots are the monitor's.
    pub(crate) fn initial(program: &Program, slots: Vec<Bits<W>>) -> Self {
        let regs: Vec<Value> = program
            .threads
            .iter()
            .flat_map(|t| t.registers.iter().map(|r| r.init))
            .collect();
        Self {
            pcs: program
                .threads
                .iter()
                .map(|t| match t.start {
                    Start::Initial => 0,
                    Start::Spawned => UNBORN,
                })
                .collect(),
            tainted: vec![false; regs.len()],
            regs,
            memory: program.locations.iter().map(|l| l.init).collect(),
            slots,
        }
    }

    /// Becomes a copy of `other`, without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.pcs.copy_from_slice(&other.pcs);
        self.regs.copy_from_slice(&other.regs);
        self.tainted.copy_from_slice(&other.tainted);
        self.memory.copy_from_slice(&other.memory);
        self.slots.copy_from_slice(&other.slots);
    }
}
