//! Kinds of instructions.

use std::ffi::c_int;

/// What an instruction is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Opcode {
    Ret,
    Br,
    Invoke,
    CallBr,
    Integer,
    Add,
    Sub,
    Xor,
    Alloca,
    Load,
    Store,
    GetElementPtr,
    Trunc,
    Extend,
    FromFloat,
    PtrToInt,
    IntToPtr,
    BitCast,
    ICmp,
    Phi,
    Call,
    Select,
    ExtractElement,
    InsertElement,
    ShuffleVector,
    ExtractValue,
    InsertValue,
    Fence,
    CompareExchange,
    AtomicRmw,
    LandingPad,
    AddrSpaceCast,
    Freeze,
    /// Anything else.
    Other,
}

impl Opcode {
    /// By LLVM's number.
    pub(crate) fn of(number: c_int) -> Self {
        match number {
            1 => Self::Ret,
            2 => Self::Br,
            5 => Self::Invoke,
            67 => Self::CallBr,
            8 => Self::Add,
            10 => Self::Sub,
            12 | 14 | 15 | 17 | 18 | 20..=24 => Self::Integer,
            25 => Self::Xor,
            26 => Self::Alloca,
            27 => Self::Load,
            28 => Self::Store,
            29 => Self::GetElementPtr,
            30 => Self::Trunc,
            31 | 32 => Self::Extend,
            33 | 34 => Self::FromFloat,
            39 => Self::PtrToInt,
            40 => Self::IntToPtr,
            41 => Self::BitCast,
            42 => Self::ICmp,
            44 => Self::Phi,
            45 => Self::Call,
            46 => Self::Select,
            50 => Self::ExtractElement,
            51 => Self::InsertElement,
            52 => Self::ShuffleVector,
            53 => Self::ExtractValue,
            54 => Self::InsertValue,
            55 => Self::Fence,
            56 => Self::CompareExchange,
            57 => Self::AtomicRmw,
            59 => Self::LandingPad,
            60 => Self::AddrSpaceCast,
            68 => Self::Freeze,
            _ => Self::Other,
        }
    }

    /// Calls something.
    pub fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Invoke | Self::CallBr)
    }
}
