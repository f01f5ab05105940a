//! Calls: of functions, of intrinsics, of inline assembly.

use super::Reading;
use super::intrinsics::{self, Flow, Intrinsic};
use super::values::{Values, strip};
use crate::assembly::{Effect, effect};
use crate::ffi::value_kind;
use crate::value::Value;
use rsan_ir::module::{Callee, Op};

/// What a call gives.
pub(super) enum Outcome {
    /// What the callee returns: the call is kept.
    Result,
    /// It is not kept.
    Flow(Flow),
    /// No one knows.
    Unknown,
}

/// Where the result of a call comes from.
pub(super) fn outcome(call: Value<'_>) -> Outcome {
    let Some(callee) = call.callee().map(strip) else {
        return Outcome::Unknown;
    };
    match callee.kind() {
        value_kind::ASSEMBLY => match effect(&callee.print()) {
            Effect::Nothing => Outcome::Flow(Flow::Mixed),
            Effect::Fence(_) | Effect::Unknown(_) => Outcome::Unknown,
        },
        value_kind::FUNCTION => match intrinsics::of(&callee.name()) {
            Intrinsic::No => Outcome::Result,
            Intrinsic::Nothing(flow) => Outcome::Flow(flow),
            _ => Outcome::Unknown,
        },
        _ => Outcome::Result,
    }
}

/// What a call does, if it does anything.
pub(super) fn op<'m>(
    reading: &Reading<'m>,
    values: &mut Values<'m>,
    call: Value<'m>,
) -> Option<Op> {
    let callee = strip(call.callee()?);
    if callee.kind() == value_kind::ASSEMBLY {
        return match effect(&callee.print()) {
            Effect::Nothing => None,
            Effect::Fence(name) => Some(Op::MachineFence(name)),
            Effect::Unknown(text) => Some(Op::Assembly(text)),
        };
    }
    let arguments = call.arguments();
    let mut argument = |index: usize| arguments.get(index).map(|value| values.id(*value));
    let intrinsic = match callee.kind() {
        value_kind::FUNCTION => intrinsics::of(&callee.name()),
        _ => Intrinsic::No,
    };
    let (to, from) = match intrinsic {
        Intrinsic::Nothing(_) => return None,
        Intrinsic::Fence(name) => return Some(Op::MachineFence(name.to_owned())),
        Intrinsic::Barrier(name) => {
            let kind = arguments.first().and_then(|value| value.integer());
            // An unknown kind is taken as none that orders less than a store fence: it is not understood.
            return Some(match kind.and_then(intrinsics::domain) {
                Some(domain) => Op::MachineFence(format!("{name} {domain}")),
                None => Op::Assembly(name.to_owned()),
            });
        }
        Intrinsic::Copy => (argument(0), argument(1)),
        Intrinsic::Set => (argument(0), None),
        Intrinsic::Read => (None, argument(0)),
        Intrinsic::Write => (argument(1), None),
        Intrinsic::No => return Some(plain(reading, values, callee, &arguments)),
    };
    Some(Op::Bulk { to, from })
}

fn plain<'m>(
    reading: &Reading<'m>,
    values: &mut Values<'m>,
    callee: Value<'m>,
    arguments: &[Value<'m>],
) -> Op {
    let callee = match reading.names.functions.get(&callee) {
        Some(function) => Callee::Direct(*function),
        None => Callee::Indirect(values.id(callee)),
    };
    let arguments = arguments.iter().map(|value| values.pointer(*value));
    Op::Call {
        callee,
        arguments: arguments.collect(),
    }
}
