//! Compare-exchanges that may fail for no reason.
//!
//! LLVM's pass does not tell weak ones from strong ones, and what it calls returns the old value only: that it failed although the value was the expected one cannot be
//! said. So weak ones become calls of the runtime's own functions before, which return what the instruction does: the old value, and whether it succeeded.

use crate::ffi::TypeRef;
use crate::module::{Block, Module};
use crate::patch::Builder;
use crate::value::Value;
use std::ffi::{CString, c_int};

/// Makes calls of the weak compare-exchanges of a module.
pub(crate) fn call(module: &Module<'_>) {
    let blocks = module.functions().flat_map(Value::blocks);
    let instructions = blocks.flat_map(Block::instructions);
    let weak: Vec<Value<'_>> = instructions.filter(|at| at.is_weak()).collect();
    let builder = Builder::new(module);
    for at in weak {
        let size = at
            .operand(1)
            .and_then(|value| module.layout().store_size(value.ty()));
        // The runtime's functions have the old value in one register.
        let Some(size @ (1 | 2 | 4 | 8)) = size else {
            continue;
        };
        let name = format!("__rsan_atomic{}_compare_exchange_weak", 8 * size);
        if let Ok(name) = CString::new(name) {
            builder.call_for_compare_exchange(at, &name);
        }
    }
}

/// The number of an order in C, as the functions of sanitizers take it.
pub(crate) fn order_in_c(order: c_int) -> u64 {
    match order {
        4 => 2,
        5 => 3,
        6 => 4,
        7 => 5,
        _ => 0,
    }
}

/// What such a call needs of its instruction.
pub(crate) struct Parts<'m> {
    /// Address, expected value, new value.
    pub(crate) operands: [Value<'m>; 3],
    /// As C numbers them, for success and failure.
    pub(crate) orders: [u64; 2],
    /// A pair: the old value, and whether it succeeded.
    pub(crate) result: TypeRef,
}

impl<'m> Parts<'m> {
    /// Of a compare-exchange.
    pub(crate) fn of(at: Value<'m>) -> Option<Self> {
        Some(Self {
            operands: [at.operand(0)?, at.operand(1)?, at.operand(2)?],
            orders: [at.ordering()?, at.failure_ordering()?].map(order_in_c),
            result: at.ty().raw,
        })
    }
}
