//! Programs as processors run them: registers, addresses, dependencies, fences.
//!
//! One form for all architectures. A reader of assembly, or the compiler's table for C, turns each instruction into one or
//! few operations; a register that an expression mentions is a dependency, whatever the value. What the operations may do
//! together is for the models of `rsan-axioms` to say.

use crate::{Condition, Expr, LocId, Observable, Prop, RegId, Register, Source, Span, Value};
use std::fmt;
use std::str::FromStr;

/// A kind of processor, or rather its memory model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Machine {
    /// One access after the other: no processor, but what others are compared with.
    Sc,
    /// x86-TSO.
    X86,
    /// 64-bit Arm, multi-copy atomic.
    Armv8,
    /// 32-bit Arm before version 8.
    Armv7,
    /// RISC-V with RVWMO.
    Riscv,
    /// IBM Power.
    Power,
}

impl Machine {
    /// All of them, the stronger ones first.
    pub const ALL: [Self; 6] = [
        Self::Sc,
        Self::X86,
        Self::Armv8,
        Self::Riscv,
        Self::Armv7,
        Self::Power,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::X86 => "x86",
            Self::Armv8 => "armv8",
            Self::Armv7 => "armv7",
            Self::Riscv => "riscv",
            Self::Power => "power",
        }
    }

    /// The name that people write.
    pub fn title(self) -> &'static str {
        match self {
            Self::Sc => "SC",
            Self::X86 => "x86",
            Self::Armv8 => "ARMv8",
            Self::Armv7 => "ARMv7",
            Self::Riscv => "RISC-V",
            Self::Power => "Power",
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Machine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|m| m.name() == text);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown machine `{text}` (known: {names})")
        })
    }
}

/// A program of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name: the litmus header, or the file's stem.
    pub name: String,
    /// Where it was read from; `None` for programs that were built in memory.
    pub source: Option<Source>,
    /// What it is written for.
    pub machine: Machine,
    /// The shared locations.
    pub locations: Vec<Location>,
    /// The threads; all run from the beginning.
    pub threads: Vec<Thread>,
    /// The final condition, if any.
    pub condition: Option<Condition>,
    /// Only final states with this count (herd's `filter`).
    pub filter: Option<Prop>,
    /// What `locations [..]` adds to the observed final state.
    pub observed: Vec<Observable>,
}

/// A shared location. Its address is [`address`] of its number: registers and memory hold it as a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Its initial value.
    pub init: Value,
}

/// The value that stands for the address of a location. Locations are far apart: no small offset leads from one to another.
pub fn address(loc: LocId) -> Value {
    ADDRESSES + (loc.index() as Value) * STRIDE
}

/// The location at an address, if there is one.
pub fn location_at(address: Value, locations: usize) -> Option<LocId> {
    let offset = address.checked_sub(ADDRESSES)?;
    let index = usize::try_from(offset / STRIDE).ok()?;
    (offset >= 0 && offset % STRIDE == 0 && index < locations).then(|| LocId::new(index))
}

const ADDRESSES: Value = 0x4000_0000;
const STRIDE: Value = 0x1000;

/// A thread of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name (`P0`).
    pub name: String,
    /// Its registers, flags included.
    pub registers: Vec<Register>,
    /// Its operations; targets of branches index here. Running off the end ends the thread.
    pub code: Vec<Op>,
    /// Where each operation stands in the source; as long as `code`.
    pub spans: Vec<Span>,
    /// Which instruction each operation is a part of, counted from 0; as long as `code`. For assembly a line of the thread's
    /// column, for compiled C the `Pc` of the instruction it comes from.
    pub origins: Vec<u32>,
}

/// How a read or write is ordered by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Strength {
    /// Of a read; on RISC-V the `aq` bit, which an AMO's write has, too.
    pub acquire: Acquire,
    /// Of a write (`stlr`, `stlxr`); on RISC-V the `rl` bit, which an AMO's read has, too.
    pub release: bool,
}

/// How a read orders what follows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Acquire {
    /// Not at all.
    #[default]
    No,
    /// Before everything later, but an earlier release may be overtaken (`ldapr`).
    Pc,
    /// Before everything later, and after every earlier release (`ldar`, `lr.aq`).
    Sc,
}

/// A fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// x86 `mfence`. (`lfence` and `sfence` order nothing here that x86 does not order anyway: readers leave them out.)
    Mfence,
    /// Arm `dmb`, and `dsb`, which is at least as strong.
    Dmb(Kinds),
    /// Arm `isb`.
    Isb,
    /// RISC-V `fence predecessors, successors`.
    Riscv {
        /// What has to come before it.
        before: Kinds,
        /// What has to come after it.
        after: Kinds,
    },
    /// RISC-V `fence.tso`.
    RiscvTso,
    /// RISC-V `fence.i`.
    RiscvI,
    /// Power `sync`.
    Sync,
    /// Power `lwsync`.
    Lwsync,
    /// Power `eieio`.
    Eieio,
    /// Power `isync`.
    Isync,
}

/// Which accesses a fence is about. Arm: full, `Reads` for `ld` (reads before it, everything after it), `Writes` for `st` (writes
/// before and after it).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kinds {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both.
    All,
    /// Neither (RISC-V fences of input and output only).
    None,
}

/// An operation. An instruction that does several things is several operations with one origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// `dst := value`. What `value` depends on, `dst` does.
    Assign {
        /// Receives the value.
        dst: RegId,
        /// The value.
        value: Expr,
    },
    /// A read.
    Load {
        /// Receives the value.
        dst: RegId,
        /// Where.
        address: Expr,
        /// Its order.
        strength: Strength,
        /// Whether it reserves the location for the next [`Op::StoreExclusive`].
        exclusive: bool,
    },
    /// A write.
    Store {
        /// Where.
        address: Expr,
        /// What.
        value: Expr,
        /// Its order.
        strength: Strength,
    },
    /// A write that happens only if the location was not written since the thread's last exclusive load of it; it may fail
    /// for no reason, too.
    StoreExclusive {
        /// Receives `on_success`, or the other one of 0 and 1.
        status: Option<RegId>,
        /// What success is told as: 0 on Arm and RISC-V, 1 on Power (there a flag).
        on_success: Value,
        /// Where.
        address: Expr,
        /// What.
        value: Expr,
        /// Its order.
        strength: Strength,
    },
    /// One instruction that reads and then writes, with nothing in between: `lock xadd`, `ldadd`, `cas`, `amoswap`.
    Update {
        /// Receives the value that was read; it is set before `condition` and `value` are evaluated.
        dst: RegId,
        /// Whether the program sees `dst`: the read of `stadd` orders less on Arm.
        returns: bool,
        /// Where.
        address: Expr,
        /// Writes only if this is not 0 (compare-and-swap).
        condition: Option<Expr>,
        /// What is written; may mention `dst`.
        value: Expr,
        /// Order of the read.
        read: Strength,
        /// Order of the write.
        write: Strength,
    },
    /// A fence.
    Fence(Fence),
    /// Goes on at `target` if `condition` is not 0, else behind. What follows depends on the condition.
    Branch {
        /// Decides.
        condition: Expr,
        /// An index into the code; its length is the end.
        target: usize,
    },
    /// Goes on at `target`.
    Jump {
        /// An index into the code; its length is the end.
        target: usize,
    },
    /// Any of the targets may be next; for programs of which more is not known.
    Choose {
        /// Indices into the code.
        targets: Vec<usize>,
    },
    /// Only executions count in which this is not 0; a branch for what follows. A loop that waits is a load and this.
    Await(Expr),
}

impl Program {
    /// A program without threads, to be filled in.
    pub fn new(name: impl Into<String>, machine: Machine) -> Self {
        Self {
            name: name.into(),
            source: None,
            machine,
            locations: Vec::new(),
            threads: Vec::new(),
            condition: None,
            filter: None,
            observed: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_back_to_their_locations() {
        for index in [0, 1, 7] {
            assert_eq!(location_at(address(LocId(index)), 8), Some(LocId(index)));
        }
        assert_eq!(location_at(address(LocId(8)), 8), None);
        assert_eq!(location_at(address(LocId(1)) + 4, 8), None);
        assert_eq!(location_at(0, 8), None);
    }
}
