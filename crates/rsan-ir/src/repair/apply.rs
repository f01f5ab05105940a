//! A program with the changes of a repair.

use crate::effects::raised;
use crate::module::{Change, Function, Instr, Module, Op, Order};
use crate::order::{Operation, Part};
use crate::port::{Placed, Repair};

/// The program with the changes of a repair. A fence that is put in has the number of its neighbour.
pub fn apply(module: &Module, repair: &Repair) -> Module {
    let mut changed = module.clone();
    for (index, function) in changed.functions.iter_mut().enumerate() {
        let mine = |placed: &&Placed| placed.function.index() == index;
        let mine: Vec<&Placed> = repair.changes.iter().filter(mine).collect();
        if !mine.is_empty() {
            change(function, &mine);
        }
    }
    changed
}

fn change(function: &mut Function, changes: &[&Placed]) {
    let fences = |number: u32, after: bool| {
        let here = changes.iter().filter(move |p| p.number == number);
        here.filter_map(move |placed| {
            let op = match (&placed.change, after) {
                (Change::FenceBefore(order), false) | (Change::FenceAfter(order), true) => {
                    Op::Fence(*order)
                }
                (Change::MachineFenceBefore(text), false)
                | (Change::MachineFenceAfter(text), true) => Op::MachineFence(text.clone()),
                _ => return None,
            };
            Some(Instr {
                number,
                op,
                place: placed.place,
                inlined: Vec::new(),
            })
        })
    };
    for block in &mut function.blocks {
        let ends_with_call = block.instrs.last().is_some_and(|i| i.number == block.end);
        let mut instrs = Vec::new();
        for mut instr in std::mem::take(&mut block.instrs) {
            let number = instr.number;
            instrs.extend(fences(number, false));
            for placed in changes.iter().filter(|p| p.number == number) {
                if let Change::Order(order) = placed.change {
                    raise(&mut instr.op, order);
                }
            }
            instrs.push(instr);
            instrs.extend(fences(number, true));
        }
        if !ends_with_call {
            instrs.extend(fences(block.end, false));
        }
        block.instrs = instrs;
    }
}

fn raise(op: &mut Op, order: Order) {
    let (access, failure) = match op {
        Op::Load(access) | Op::Store { access, .. } => (access, None),
        Op::Update {
            access, failure, ..
        } => (access, failure.as_mut()),
        _ => return,
    };
    let before = Operation {
        part: Part::UpdateWrite,
        order: access.order,
        failure: failure.as_deref().copied(),
        size: access.size,
    };
    let after = raised(before, &[Change::Order(order)]);
    access.order = after.order;
    if let (Some(failure), Some(raised)) = (failure, after.failure) {
        *failure = raised;
    }
}
