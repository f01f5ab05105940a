//! Instructions of threads, and the places that they access.

use crate::expr::checked_index;
use crate::{
    EvalError, Expr, FenceOrd, LocId, Pc, ReadOrd, RegId, RmwOrd, ThreadId, Value, WriteOrd,
};

/// A shared location, possibly an array element chosen at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// This very location.
    Loc(LocId),
    /// Element `index` of the array of `len` elements that starts at `base`.
    Element {
        /// First element.
        base: LocId,
        /// Number of elements.
        len: u32,
        /// Which one.
        index: Expr,
    },
}

/// What a read-modify-write computes from the old value and its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RmwOp {
    /// The operand alone.
    Exchange,
    /// `old + operand`
    Add,
    /// `old - operand`
    Sub,
    /// `old & operand`
    And,
    /// `old | operand`
    Or,
    /// `old ^ operand`
    Xor,
}

/// Whether a compare-and-swap may fail although the expected value is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CasStrength {
    /// Fails only on another value.
    Strong,
    /// May fail spuriously.
    Weak,
}

impl CasStrength {
    /// As in the names of C's functions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
        }
    }
}

/// One instruction of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instr {
    /// Atomic load.
    Load {
        /// Receives the value.
        dst: RegId,
        /// What is read.
        place: Place,
        /// Its order.
        ord: ReadOrd,
    },
    /// Atomic store.
    Store {
        /// What is written.
        place: Place,
        /// The value.
        value: Expr,
        /// Its order.
        ord: WriteOrd,
    },
    /// Unconditional atomic read-modify-write.
    Rmw {
        /// Receives the old value.
        dst: Option<RegId>,
        /// What is updated.
        place: Place,
        /// How.
        op: RmwOp,
        /// With what.
        operand: Expr,
        /// Its order.
        ord: RmwOrd,
    },
    /// Compare-and-swap. A failed one is a read with order `fail`.
    Cas {
        /// Receives the value read, whether it succeeded or not.
        dst: Option<RegId>,
        /// Receives 1 on success, else 0.
        success: Option<RegId>,
        /// What is updated.
        place: Place,
        /// The value it must hold.
        expected: Expr,
        /// The value it gets.
        new: Expr,
        /// Order on success.
        ord: RmwOrd,
        /// Order on failure.
        fail: ReadOrd,
        /// Strong or weak.
        strength: CasStrength,
    },
    /// Blocks until the location holds one of the values, then reads it.
    Wait {
        /// Receives the value.
        dst: Option<RegId>,
        /// What is read.
        place: Place,
        /// The values that let it pass.
        values: Vec<Expr>,
        /// Its order.
        ord: ReadOrd,
    },
    /// Blocks until the location holds `expected`, then writes `new`, in one step.
    Bcas {
        /// What is updated.
        place: Place,
        /// The value it must hold.
        expected: Expr,
        /// The value it gets.
        new: Expr,
        /// Its order.
        ord: RmwOrd,
    },
    /// Non-atomic load.
    PlainLoad {
        /// Receives the value.
        dst: RegId,
        /// What is read.
        place: Place,
    },
    /// Non-atomic store.
    PlainStore {
        /// What is written.
        place: Place,
        /// The value.
        value: Expr,
    },
    /// Thread fence.
    Fence(FenceOrd),
    /// Local computation.
    Assign {
        /// Receives the value.
        dst: RegId,
        /// The value.
        value: Expr,
    },
    /// Goes to `then` when `cond` is not 0, else to `otherwise`.
    Branch {
        /// The condition.
        cond: Expr,
        /// Where to on non-zero.
        then: Pc,
        /// Where to on zero.
        otherwise: Pc,
    },
    /// Goes to another instruction.
    Jump(Pc),
    /// Goes to one of these, non-deterministically. Never empty.
    Choose(Vec<Pc>),
    /// Fails when the expression is 0.
    Assert(Expr),
    /// Ends the thread when the expression is 0 (it blocks for ever, silently).
    Assume(Expr),
    /// Makes the value count as observed (`verify` of TPL); otherwise nothing.
    Observe(Expr),
    /// Starts a thread whose [`Start`](crate::Start) is `Spawned`. At most one spawn of each thread is executed.
    Spawn(ThreadId),
    /// Blocks until a spawned thread has ended.
    Join(ThreadId),
    /// Ends the thread.
    Halt,
}

impl Place {
    /// The location meant, given the thread's registers.
    ///
    /// # Errors
    /// When the index has no value or is out of bounds.
    pub fn resolve(&self, regs: &[Value]) -> Result<LocId, EvalError> {
        match self {
            Self::Loc(loc) => Ok(*loc),
            Self::Element { base, len, index } => {
                let offset = checked_index(index.eval(regs)?, *len)?;
                Ok(LocId(base.0 + offset as u32))
            }
        }
    }

    /// Every location that it can mean.
    pub fn candidates(&self) -> impl Iterator<Item = LocId> + use<> {
        let (base, len) = match self {
            Self::Loc(loc) => (loc.0, 1),
            Self::Element { base, len, .. } => (base.0, *len),
        };
        (base..base + len).map(LocId)
    }

    /// Calls `f` for every register its address depends on.
    pub fn for_each_reg(&self, f: &mut dyn FnMut(RegId)) {
        if let Self::Element { index, .. } = self {
            index.for_each_reg(f);
        }
    }
}

impl RmwOp {
    /// The new value, before wrapping.
    pub fn apply(self, old: Value, operand: i64) -> i64 {
        let old = i64::from(old);
        match self {
            Self::Exchange => operand,
            Self::Add => old.wrapping_add(operand),
            Self::Sub => old.wrapping_sub(operand),
            Self::And => old & operand,
            Self::Or => old | operand,
            Self::Xor => old ^ operand,
        }
    }
}

impl Instr {
    /// The shared place it accesses, if it accesses one.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Load { place, .. }
            | Self::Store { place, .. }
            | Self::Rmw { place, .. }
            | Self::Cas { place, .. }
            | Self::Wait { place, .. }
            | Self::Bcas { place, .. }
            | Self::PlainLoad { place, .. }
            | Self::PlainStore { place, .. } => Some(place),
            Self::Fence(_)
            | Self::Assign { .. }
            | Self::Branch { .. }
            | Self::Jump(_)
            | Self::Choose(_)
            | Self::Assert(_)
            | Self::Assume(_)
            | Self::Observe(_)
            | Self::Spawn(_)
            | Self::Join(_)
            | Self::Halt => None,
        }
    }

    /// Whether it may write the place it accesses.
    pub fn may_write(&self) -> bool {
        matches!(
            self,
            Self::Store { .. }
                | Self::Rmw { .. }
                | Self::Cas { .. }
                | Self::Bcas { .. }
                | Self::PlainStore { .. }
        )
    }

    /// Whether it is an atomic access (of any kind, blocking ones included).
    pub fn is_atomic_access(&self) -> bool {
        self.place().is_some() && !matches!(self, Self::PlainLoad { .. } | Self::PlainStore { .. })
    }

    /// Whether one of its labels is a seq_cst access.
    pub fn is_sc_access(&self) -> bool {
        match self {
            Self::Load { ord, .. } | Self::Wait { ord, .. } => ord.is_sc(),
            Self::Store { ord, .. } => ord.is_sc(),
            Self::Rmw { ord, .. } | Self::Bcas { ord, .. } => ord.is_sc(),
            Self::Cas { ord, fail, .. } => ord.is_sc() || fail.is_sc(),
            _ => false,
        }
    }

    /// Calls `f` for every register that it reads.
    pub fn for_each_read_reg(&self, f: &mut dyn FnMut(RegId)) {
        if let Some(place) = self.place() {
            place.for_each_reg(f);
        }
        match self {
            Self::Store { value, .. }
            | Self::PlainStore { value, .. }
            | Self::Assign { value, .. } => value.for_each_reg(f),
            Self::Rmw { operand, .. } => operand.for_each_reg(f),
            Self::Cas { expected, new, .. } | Self::Bcas { expected, new, .. } => {
                expected.for_each_reg(f);
                new.for_each_reg(f);
            }
            Self::Wait { values, .. } => values.iter().for_each(|v| v.for_each_reg(f)),
            Self::Branch { cond, .. } => cond.for_each_reg(f),
            Self::Assert(e) | Self::Assume(e) | Self::Observe(e) => e.for_each_reg(f),
            Self::Load { .. }
            | Self::PlainLoad { .. }
            | Self::Fence(_)
            | Self::Jump(_)
            | Self::Choose(_)
            | Self::Spawn(_)
            | Self::Join(_)
            | Self::Halt => {}
        }
    }

    /// Calls `f` for every register that it writes.
    pub fn for_each_written_reg(&self, f: &mut dyn FnMut(RegId)) {
        match self {
            Self::Load { dst, .. } | Self::PlainLoad { dst, .. } | Self::Assign { dst, .. } => {
                f(*dst);
            }
            Self::Rmw { dst, .. } | Self::Wait { dst, .. } => dst.iter().for_each(|r| f(*r)),
            Self::Cas { dst, success, .. } => dst.iter().chain(success).for_each(|r| f(*r)),
            _ => {}
        }
    }

    /// Where control can go from the instruction at `pc`.
    pub fn successors(&self, pc: Pc) -> Vec<Pc> {
        match self {
            Self::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Self::Jump(to) => vec![*to],
            Self::Choose(to) => to.clone(),
            Self::Halt => vec![],
            _ => vec![Pc(pc.0 + 1)],
        }
    }

    /// Every order at least release or acquire.
    pub(crate) fn raise_to_release_acquire(&mut self) {
        let read = |ord: &mut ReadOrd| *ord = (*ord).max(ReadOrd::Acquire);
        let rmw = |ord: &mut RmwOrd| {
            if !ord.is_sc() {
                *ord = RmwOrd::AcqRel;
            }
        };
        match self {
            Self::Load { ord, .. } | Self::Wait { ord, .. } => read(ord),
            Self::Store { ord, .. } => *ord = (*ord).max(WriteOrd::Release),
            Self::Rmw { ord, .. } | Self::Bcas { ord, .. } => rmw(ord),
            Self::Cas { ord, fail, .. } => {
                rmw(ord);
                read(fail);
            }
            _ => {}
        }
    }
}
