//! Changes of a module, made in the C program and in what it was compiled to.

use rsan_axioms::port::{Side, insert_fence};
use rsan_ir::from_program::instruction;
use rsan_ir::module::{Change, Order};
use rsan_ir::port::Placed;
use rsan_mapping::{Table, Target};
use rsan_model::machine::{self, Fence, Kinds};
use rsan_model::{FenceOrd, Instr, Program, RmwOrd};

/// The functions with the orders that the changes give them.
pub(super) fn with_orders(set: &Program, changes: &[Placed]) -> Program {
    let mut set = set.clone();
    for placed in changes {
        if let Change::Order(order) = &placed.change {
            let code = &mut set.threads[placed.function.index()].code;
            raise(&mut code[instruction(placed.number).index()], *order);
        }
    }
    set
}

fn raise(instr: &mut Instr, order: Order) {
    match instr {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => *ord = rmw(order).read(),
        Instr::Store { ord, .. } => *ord = rmw(order).write(),
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => *ord = rmw(order),
        Instr::Cas { ord, fail, .. } => {
            *ord = rmw(order);
            *fail = (*fail).max(rmw(order).read());
        }
        other => panic!("{other:?} has no order"),
    }
}

fn rmw(order: Order) -> RmwOrd {
    match order {
        Order::Plain => panic!("no change makes an access plain"),
        Order::Relaxed => RmwOrd::Relaxed,
        Order::Acquire => RmwOrd::Acquire,
        Order::Release => RmwOrd::Release,
        Order::AcqRel => RmwOrd::AcqRel,
        Order::SeqCst => RmwOrd::SeqCst,
    }
}

/// Puts the fences of the changes into a compiled program whose threads run these functions.
pub(super) fn insert_fences(
    set: &Program,
    compiled: &mut machine::Program,
    functions: &[usize],
    changes: &[Placed],
    target: &Target,
) {
    for (thread, &function) in compiled.threads.iter_mut().zip(functions) {
        for placed in changes.iter().filter(|p| p.function.index() == function) {
            let (side, fence) = match &placed.change {
                Change::FenceBefore(order) => (Side::Before, of_order(*order, target)),
                Change::FenceAfter(order) => (Side::After, of_order(*order, target)),
                Change::MachineFenceBefore(text) => (Side::Before, Some(of_text(text))),
                Change::MachineFenceAfter(text) => (Side::After, Some(of_text(text))),
                Change::Order(_) => continue,
            };
            let code = &set.threads[function].code;
            if let Some(fence) = fence {
                let (origin, side) = place(code, placed.number, side);
                insert_fence(thread, origin, side, fence);
            }
        }
    }
}

/// Before the end of a block is before the jump that ends it, or behind its last instruction.
fn place(code: &[Instr], number: u32, side: Side) -> (u32, Side) {
    let pc = instruction(number);
    if number.is_multiple_of(2) {
        return (pc.0, side);
    }
    assert_eq!(side, Side::Before, "nothing is behind the end of a block");
    let jumps = matches!(
        code.get(pc.index()),
        Some(
            Instr::Branch { .. }
                | Instr::Jump(_)
                | Instr::Choose(_)
                | Instr::Assert(_)
                | Instr::Assume(_)
                | Instr::Halt
        )
    );
    (pc.0, if jumps { Side::Before } else { Side::After })
}

fn of_order(order: Order, target: &Target) -> Option<Fence> {
    let ord = match order {
        Order::Plain | Order::Relaxed => return None,
        Order::Acquire => FenceOrd::Acquire,
        Order::Release => FenceOrd::Release,
        Order::AcqRel => FenceOrd::AcqRel,
        Order::SeqCst => FenceOrd::SeqCst,
    };
    Table::of(target).fence(ord)
}

fn of_text(text: &str) -> Fence {
    match text {
        "dmb ish" => Fence::Dmb(Kinds::All),
        "dmb ishld" => Fence::Dmb(Kinds::Reads),
        "dmb ishst" => Fence::Dmb(Kinds::Writes),
        "mfence" => Fence::Mfence,
        "sync" => Fence::Sync,
        "lwsync" => Fence::Lwsync,
        other => panic!("a repair has the fence `{other}`"),
    }
}

/// The change with the next weaker fence that is another instruction on the target, if there is one.
pub(super) fn weaker(change: &Change, target: &Target) -> Option<Change> {
    const WEAKER: [Order; 3] = [Order::AcqRel, Order::Release, Order::Acquire];
    let (order, with): (Order, fn(Order) -> Change) = match change {
        Change::FenceBefore(order) => (*order, Change::FenceBefore),
        Change::FenceAfter(order) => (*order, Change::FenceAfter),
        _ => return None,
    };
    let weaker = |other: &Order| {
        let fence = of_order(*other, target);
        *other < order && fence.is_some() && fence != of_order(order, target)
    };
    WEAKER.into_iter().find(weaker).map(with)
}
