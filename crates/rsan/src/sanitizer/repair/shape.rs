//! The accesses of a chain as a straight-line program of the oracle.

use crate::machines::straight_line;
use rsan_axioms::{Limits, robustness};
use rsan_model::{Expr, FenceOrd, Instr, LocId, Model, Place, Program, RegId, RmwOp, RmwOrd};

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Load,
    Store,
    Rmw,
    Fence,
}

/// A step of a thread. Of its order only the halves that apply count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) order: RmwOrd,
    /// A number; fences have none.
    pub(super) location: u32,
}

impl Step {
    /// The orders of the model that are stronger.
    pub(super) fn stronger(self, model: Model) -> impl Iterator<Item = RmwOrd> {
        RmwOrd::ALL.into_iter().filter(move |order| {
            let keeps = (order.acquires() || !self.order.acquires())
                && (order.releases() || !self.order.releases())
                && (order.is_sc() || !self.order.is_sc());
            let makes_sense = match self.act {
                Act::Load => order.is_sc() || !order.releases(),
                Act::Store => order.is_sc() || !order.acquires(),
                Act::Rmw => true,
                Act::Fence => *order != RmwOrd::Relaxed,
            };
            let exists = !order.is_sc() || self.act == Act::Fence || model.has_sc_accesses();
            keeps && makes_sense && exists && *order != self.order
        })
    }

    fn instruction(self, value: i64, register: RegId) -> Instr {
        let place = Place::Loc(LocId(self.location));
        match self.act {
            Act::Load => Instr::Load {
                dst: register,
                place,
                ord: self.order.read(),
            },
            Act::Store => Instr::Store {
                place,
                value: Expr::Const(value),
                ord: self.order.write(),
            },
            Act::Rmw => Instr::Rmw {
                dst: Some(register),
                place,
                op: RmwOp::Exchange,
                operand: Expr::Const(value),
                ord: self.order,
            },
            Act::Fence => Instr::Fence(match self.order {
                RmwOrd::Relaxed | RmwOrd::Acquire => FenceOrd::Acquire,
                RmwOrd::Release => FenceOrd::Release,
                RmwOrd::AcqRel => FenceOrd::AcqRel,
                RmwOrd::SeqCst => FenceOrd::SeqCst,
            }),
        }
    }
}

/// Graphs after which the oracle gives up.
const GRAPHS: u64 = 50_000;

/// Whether threads that do these steps are robust against the model; `None` if the oracle gives up.
pub(super) fn is_robust(threads: &[Vec<Step>], model: Model) -> Option<bool> {
    let limits = Limits {
        max_graphs: GRAPHS,
        ..Limits::default()
    };
    let answer = robustness(&program(threads), model, &limits).ok()?;
    if answer.robust && answer.cut.is_some() {
        return None;
    }
    Some(answer.robust)
}

/// All writes write different values.
fn program(threads: &[Vec<Step>]) -> Program {
    let steps = || threads.iter().flatten();
    let locations = steps().map(|step| step.location + 1).max().unwrap_or(0);
    let mut value = 0;
    let threads = threads.iter().map(|steps| {
        let code = steps.iter().enumerate().map(|(register, step)| {
            value += 1;
            step.instruction(value, RegId::new(register))
        });
        code.collect()
    });
    straight_line("chain", locations, threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stronger_orders_keep_what_an_order_has() {
        let stronger = |act, order| {
            let location = 0;
            let step = Step {
                act,
                order,
                location,
            };
            step.stronger(Model::C20).collect::<Vec<_>>()
        };
        use RmwOrd::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        assert_eq!(stronger(Act::Load, Relaxed), [Acquire, SeqCst]);
        assert_eq!(stronger(Act::Store, Release), [SeqCst]);
        assert_eq!(stronger(Act::Rmw, Acquire), [AcqRel, SeqCst]);
        assert_eq!(stronger(Act::Fence, SeqCst), []);
        assert_eq!(
            stronger(Act::Rmw, Relaxed),
            [Acquire, Release, AcqRel, SeqCst]
        );
    }
}
