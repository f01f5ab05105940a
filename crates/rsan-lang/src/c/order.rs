//! Memory orders as arguments of calls.

use super::Parser;
use super::call::Call;
use super::expr::{Ast, Node};
use crate::diagnostic::{Diagnostic, Result};
use rsan_model::{FenceOrd, ReadOrd, RmwOrd, WriteOrd};

/// A `memory_order`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// As the order of a read-modify-write; all are legal.
    pub(super) fn for_rmw(self) -> RmwOrd {
        match self {
            Self::Relaxed => RmwOrd::Relaxed,
            Self::Consume | Self::Acquire => RmwOrd::Acquire,
            Self::Release => RmwOrd::Release,
            Self::AcqRel => RmwOrd::AcqRel,
            Self::SeqCst => RmwOrd::SeqCst,
        }
    }
}

impl<'a> Parser<'a> {
    /// Whether an argument is a memory order.
    pub(super) fn names_order(&self, e: &Ast<'a>) -> bool {
        self.order(e).is_ok()
    }

    pub(super) fn order(&self, e: &Ast<'a>) -> Result<Order> {
        let Node::Name(name) = &e.node else {
            return Err(Diagnostic::new(e.span, "expected a memory order"));
        };
        let short = match name.strip_prefix("memory_order_") {
            Some(short) => short,
            None if self.lookup(name).is_none() => name,
            None => return Err(Diagnostic::new(e.span, "expected a memory order")),
        };
        Ok(match short {
            "relaxed" => Order::Relaxed,
            "consume" => Order::Consume,
            "acquire" => Order::Acquire,
            "release" => Order::Release,
            "acq_rel" => Order::AcqRel,
            "seq_cst" => Order::SeqCst,
            _ => {
                return Err(
                    Diagnostic::new(e.span, format!("`{name}` is not a memory order")).with_help(
                        "one of memory_order_relaxed, consume, acquire, release, acq_rel, seq_cst",
                    ),
                );
            }
        })
    }

    pub(super) fn read_order(&self, call: &Call<'_, 'a>, at: usize) -> Result<ReadOrd> {
        let Some(argument) = call.order_argument(at) else {
            return Ok(ReadOrd::SeqCst);
        };
        match self.order(argument)? {
            Order::Relaxed => Ok(ReadOrd::Relaxed),
            Order::Consume | Order::Acquire => Ok(ReadOrd::Acquire),
            Order::SeqCst => Ok(ReadOrd::SeqCst),
            Order::Release | Order::AcqRel => Err(Diagnostic::new(
                argument.span,
                "a read cannot have release order",
            )
            .with_help("use relaxed, acquire or seq_cst")),
        }
    }

    pub(super) fn write_order(&self, call: &Call<'_, 'a>, at: usize) -> Result<WriteOrd> {
        let Some(argument) = call.order_argument(at) else {
            return Ok(WriteOrd::SeqCst);
        };
        match self.order(argument)? {
            Order::Relaxed => Ok(WriteOrd::Relaxed),
            Order::Release => Ok(WriteOrd::Release),
            Order::SeqCst => Ok(WriteOrd::SeqCst),
            Order::Consume | Order::Acquire | Order::AcqRel => Err(Diagnostic::new(
                argument.span,
                "a store cannot have acquire order",
            )
            .with_help("use relaxed, release or seq_cst")),
        }
    }

    pub(super) fn rmw_order(&self, call: &Call<'_, 'a>, at: usize) -> Result<RmwOrd> {
        match call.order_argument(at) {
            Some(argument) => Ok(self.order(argument)?.for_rmw()),
            None => Ok(RmwOrd::SeqCst),
        }
    }

    pub(super) fn fence_order(&self, call: &Call<'_, 'a>) -> Result<Option<FenceOrd>> {
        Ok(match self.order(&call.arguments[0])? {
            Order::Relaxed => None,
            Order::Consume | Order::Acquire => Some(FenceOrd::Acquire),
            Order::Release => Some(FenceOrd::Release),
            Order::AcqRel => Some(FenceOrd::AcqRel),
            Order::SeqCst => Some(FenceOrd::SeqCst),
        })
    }
}
