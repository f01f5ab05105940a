//! What an order costs on a machine.
//!
//! The figures are relative weights, not cycles: what compilers emit for the order, beyond what a relaxed access is. A
//! change costs the difference of its two orders.
//!
//! | operation | ARMv8 | RISC-V | x86 |
//! | --- | --- | --- | --- |
//! | acquire load | `ldapr` 1 | `fence r,rw` 2 | 0 |
//! | seq_cst load | `ldar` 2 | two fences 6 | 0 |
//! | release store | `stlr` 2 | `fence rw,w` 2 | 0 |
//! | seq_cst store | `stlr` 2 | two fences 6 | `xchg` 8 |
//! | acquire, release update | `a`, `l` 1 each | `.aq`, `.rl` 1 each | 0 |
//! | seq_cst update | 2 | 2 | 0 |
//! | acquire fence | `dmb ishld` 3 | `fence r,rw` 2 | 0 |
//! | release fence | `dmb ish` 5 | `fence rw,w` 2 | 0 |
//! | acq_rel fence | `dmb ish` 5 | `fence.tso` 3 | 0 |
//! | seq_cst fence | `dmb ish` 5 | `fence rw,rw` 4 | `mfence` 8 |

use rsan_model::{FenceOrd, Instr, ReadOrd, RmwOrd, WriteOrd};
use std::fmt;
use std::str::FromStr;

/// A machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Target {
    /// ARMv8.3 and later, with LSE atomics.
    #[default]
    Armv8,
    /// RISC-V with the A extension.
    RiscV,
    /// x86.
    X86,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Armv8, Self::RiscV, Self::X86];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Armv8 => "armv8",
            Self::RiscV => "riscv",
            Self::X86 => "x86",
        }
    }

    /// What the orders of an instruction cost; 0 for relaxed accesses and all that is not atomic.
    pub fn price(self, instr: &Instr) -> u64 {
        match instr {
            Instr::Load { ord, .. } | Instr::Wait { ord, .. } => self.read(*ord),
            Instr::Store { ord, .. } => self.write(*ord),
            Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => self.update(*ord),
            // One instruction does both, so a failure acquires at the price of a success.
            Instr::Cas { ord, fail, .. } => {
                self.update(RmwOrd::from_halves(ord.read().max(*fail), ord.write()))
            }
            Instr::Fence(ord) => self.fence(*ord),
            _ => 0,
        }
    }

    fn read(self, ord: ReadOrd) -> u64 {
        match (self, ord) {
            (_, ReadOrd::Relaxed) | (Self::X86, _) => 0,
            (Self::Armv8, ReadOrd::Acquire) => 1,
            (Self::Armv8, ReadOrd::SeqCst) | (Self::RiscV, ReadOrd::Acquire) => 2,
            (Self::RiscV, ReadOrd::SeqCst) => 6,
        }
    }

    fn write(self, ord: WriteOrd) -> u64 {
        match (self, ord) {
            (_, WriteOrd::Relaxed) | (Self::X86, WriteOrd::Release) => 0,
            (Self::Armv8, _) | (Self::RiscV, WriteOrd::Release) => 2,
            (Self::RiscV, WriteOrd::SeqCst) => 6,
            (Self::X86, WriteOrd::SeqCst) => 8,
        }
    }

    fn update(self, ord: RmwOrd) -> u64 {
        match self {
            Self::X86 => 0,
            Self::Armv8 | Self::RiscV => u64::from(ord.acquires()) + u64::from(ord.releases()),
        }
    }

    fn fence(self, ord: FenceOrd) -> u64 {
        match (self, ord) {
            (Self::Armv8, FenceOrd::Acquire) => 3,
            (Self::Armv8, FenceOrd::Release | FenceOrd::AcqRel | FenceOrd::SeqCst) => 5,
            (Self::RiscV, FenceOrd::Acquire | FenceOrd::Release) => 2,
            (Self::RiscV, FenceOrd::AcqRel) => 3,
            (Self::RiscV, FenceOrd::SeqCst) => 4,
            (Self::X86, FenceOrd::SeqCst) => 8,
            (Self::X86, FenceOrd::Acquire | FenceOrd::Release | FenceOrd::AcqRel) => 0,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|t| t.name() == text);
        known.ok_or_else(|| format!("unknown target `{text}` (known: armv8, riscv, x86)"))
    }
}
