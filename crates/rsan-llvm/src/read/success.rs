//! Blocks that branch on the success of a compare-exchange.

use super::values::Values;
use crate::module::Block;
use crate::opcode::Opcode;
use crate::value::Value;

/// The number of the compare-exchange whose success a block branches on, and whether success is the first successor.
pub(super) fn of<'m>(values: &Values<'m>, block: Block<'m>) -> Option<(u32, bool)> {
    let end = block.terminator()?;
    // Of a conditional branch the operands are the condition and both blocks; the C API has no such block in older versions that is
    // not a branch with two successors and an `i1` as its first operand.
    let condition =
        (end.operand_count() == 3 && block.successors().len() == 2).then(|| end.operand(0))??;
    if condition.ty().int_width() != Some(1) {
        return None;
    }
    let mut value = condition;
    let mut positive = true;
    loop {
        let operand = |index| value.operand(index);
        match value.opcode()? {
            Opcode::ExtractValue => {
                let exchange = operand(0)?;
                let found = exchange.is(Opcode::CompareExchange) && value.first_index() == Some(1);
                return found.then(|| Some((values.number(exchange)?, positive)))?;
            }
            Opcode::Freeze | Opcode::Trunc | Opcode::Extend => value = operand(0)?,
            Opcode::Xor if matches!(operand(1)?.integer(), Some(1 | -1)) => {
                positive = !positive;
                value = operand(0)?;
            }
            Opcode::ICmp => {
                let equal = value.is_equality()?;
                let (left, right) = (operand(0)?, operand(1)?);
                if let Some(exchange) = old_value(left, right).or_else(|| old_value(right, left)) {
                    return Some((values.number(exchange)?, positive == equal));
                }
                if right.integer()? != 0 {
                    return None;
                }
                // `!= 0` asks the same, `== 0` the opposite.
                positive = positive != equal;
                value = left;
            }
            _ => return None,
        }
    }
}

/// The compare-exchange whose old value is compared with what it expected: equal means success, unless it may fail for no reason.
fn old_value<'m>(old: Value<'m>, expected: Value<'m>) -> Option<Value<'m>> {
    let exchange = (old.is(Opcode::ExtractValue) && old.first_index() == Some(0))
        .then(|| old.operand(0))??;
    let same = exchange.is(Opcode::CompareExchange)
        && !exchange.is_weak()
        && exchange.operand(1) == Some(expected);
    same.then_some(exchange)
}
