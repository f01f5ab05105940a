//! The body of a function: blocks, and what their instructions do to memory.

use super::values::Values;
use super::{Reading, calls, intrinsics, success};
use crate::opcode::Opcode;
use crate::value::Value;
use rsan_ir::module::{self as ir, Access, Block, BlockId, Instr, Op, Order};
use std::collections::HashMap;
use std::ffi::c_int;

/// Reads the body of a function, if it has one.
pub(super) fn body<'m>(reading: &mut Reading<'m>, function: Value<'m>, read: &mut ir::Function) {
    let blocks: Vec<crate::module::Block<'m>> = function.blocks().collect();
    let positions: HashMap<_, u32> = blocks.iter().map(|block| block.raw).zip(0..).collect();
    let numbered = numbered(function);
    let mut values = Values::new(
        reading.llvm.layout(),
        function,
        numbered.iter().copied().zip(0..).collect(),
    );
    let mut number = 0;
    for block in blocks {
        let mut instrs = Vec::new();
        let mut returns = None;
        let first = number;
        for instruction in block.instructions().filter(|i| !intrinsics::is_debug(*i)) {
            if let Some(op) = op(reading, &mut values, instruction) {
                instrs.push(instr(reading, instruction, number, op));
            }
            if instruction.is(Opcode::Ret) {
                returns = instruction
                    .operand(0)
                    .and_then(|value| values.pointer(value));
            }
            number += 1;
        }
        let successors = block.successors();
        let mut successors: Vec<BlockId> = successors
            .iter()
            .map(|block| BlockId(positions[&block.raw]))
            .collect();
        let success = success::of(&values, block);
        if success.is_some_and(|(_, first)| !first) {
            successors.reverse();
        }
        read.blocks.push(Block {
            instrs,
            successors,
            on_success: success.map(|(number, _)| number),
            returns,
            end: number.max(first + 1) - 1,
        });
    }
    read.values = values.finish(&reading.names);
}

/// The instructions of a function; their positions here are their numbers.
pub(crate) fn numbered(function: Value<'_>) -> Vec<Value<'_>> {
    function
        .blocks()
        .flat_map(crate::module::Block::instructions)
        .filter(|instruction| !intrinsics::is_debug(*instruction))
        .collect()
}

fn instr(reading: &mut Reading<'_>, instruction: Value<'_>, number: u32, op: Op) -> Instr {
    let (place, inlined) = reading.debug.place(instruction);
    Instr {
        number,
        op,
        place,
        inlined,
    }
}

fn op<'m>(reading: &mut Reading<'m>, values: &mut Values<'m>, value: Value<'m>) -> Option<Op> {
    let opcode = value.opcode()?;
    match opcode {
        Opcode::Load => {
            let access = access(reading, values, value, value.operand(0)?, value);
            Some(Op::Load(access))
        }
        Opcode::Store => {
            let stored = value.operand(0)?;
            let access = access(reading, values, value, value.operand(1)?, stored);
            let value = values.pointer(stored);
            Some(Op::Store { access, value })
        }
        Opcode::AtomicRmw | Opcode::CompareExchange => {
            let pointer = value.operand(0)?;
            if value.is_single_thread() {
                // Not even atomic for other threads.
                let place = Some(values.id(pointer));
                return Some(Op::Bulk {
                    to: place,
                    from: place,
                });
            }
            let last = if opcode == Opcode::AtomicRmw { 1 } else { 2 };
            let stored = value.operand(last)?;
            Some(Op::Update {
                access: access(reading, values, value, pointer, stored),
                value: values.pointer(stored),
                failure: match value.is_loop() {
                    // It can be thrown back like a compare-exchange, and is one on machines without such an instruction.
                    true => Some(Order::Relaxed),
                    false => value.failure_ordering().map(order),
                },
            })
        }
        Opcode::Fence => fence(&value.print()).map(Op::Fence),
        opcode if opcode.is_call() => calls::op(reading, values, value),
        _ => None,
    }
}

fn access<'m>(
    reading: &mut Reading<'m>,
    values: &mut Values<'m>,
    instruction: Value<'m>,
    pointer: Value<'m>,
    content: Value<'m>,
) -> Access {
    let size = reading.llvm.layout().store_size(content.ty());
    let ordered = instruction.ordering().map_or(Order::Plain, order);
    Access {
        pointer: values.id(pointer),
        size: size.and_then(|size| u32::try_from(size).ok()).unwrap_or(0),
        order: match instruction.is_single_thread() {
            // Other threads see no order.
            true => ordered.min(Order::Relaxed),
            false => ordered,
        },
        volatile: instruction.is_volatile(),
        kind: reading.types.of(instruction),
    }
}

/// An order by LLVM's number.
fn order(number: c_int) -> Order {
    match number {
        0 => Order::Plain,
        1 | 2 => Order::Relaxed,
        4 => Order::Acquire,
        5 => Order::Release,
        6 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// The order of a fence as LLVM prints it, because not all versions of the C API tell; `None` if it is not for other threads.
fn fence(printed: &str) -> Option<Order> {
    let mut words = printed
        .split_whitespace()
        .skip_while(|word| *word != "fence");
    let mut word = words.nth(1)?;
    if word.starts_with("syncscope(") {
        if word.contains("\"singlethread\"") {
            return None;
        }
        word = words.next()?;
    }
    match word.trim_end_matches(',') {
        "acquire" => Some(Order::Acquire),
        "release" => Some(Order::Release),
        "acq_rel" => Some(Order::AcqRel),
        _ => Some(Order::SeqCst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_as_they_are_printed() {
        assert_eq!(fence("  fence seq_cst"), Some(Order::SeqCst));
        assert_eq!(fence("  fence acq_rel, !dbg !4"), Some(Order::AcqRel));
        assert_eq!(fence("fence syncscope(\"singlethread\") seq_cst"), None);
        let scoped = "fence syncscope(\"agent\") acquire";
        assert_eq!(fence(scoped), Some(Order::Acquire));
    }
}
