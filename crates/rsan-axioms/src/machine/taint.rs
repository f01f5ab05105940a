//! Which events a value depends on.

use rsan_model::machine::Machine;
use rsan_model::{EvalError, EventSet, Expr, Value};

/// The events of a thread that a value depends on, as indices into its trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Taint {
    /// Through values.
    pub(super) value: EventSet,
    /// Through at least one choice between values: ARMv8's pick dependencies.
    pub(super) pick: EventSet,
    /// Whether chance has a part in it: a store-exclusive may fail for no reason.
    chance: bool,
}

impl Taint {
    /// Of what chance decides.
    pub(super) const CHANCE: Self = Self {
        value: EventSet::EMPTY,
        pick: EventSet::EMPTY,
        chance: true,
    };

    /// Whether the value is the same in all executions.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Only what it depends on through choices.
    pub(super) fn picked(self) -> Self {
        Self {
            value: EventSet::EMPTY,
            ..self
        }
    }

    /// Of a value that `event` gives.
    pub(super) fn of(event: EventSet) -> Self {
        Self {
            value: event,
            ..Self::default()
        }
    }

    /// Of what depends on both.
    pub(super) fn join(self, other: Self) -> Self {
        Self {
            value: self.value.union(other.value),
            pick: self.pick.union(other.pick),
            chance: self.chance || other.chance,
        }
    }

    /// Of what is chosen by this.
    pub(super) fn picking(self) -> Self {
        Self {
            value: EventSet::EMPTY,
            pick: self.value.union(self.pick),
            ..self
        }
    }

    /// Without the event itself.
    pub(super) fn without(self, own: EventSet) -> Self {
        Self {
            value: self.value.minus(own),
            pick: self.pick.minus(own),
            ..self
        }
    }

    /// What the value of an expression depends on: every register in it, whatever the value. Where a machine tells
    /// choices apart, the side that is not chosen does not count and the condition is a pick.
    pub(super) fn of_expr(
        expr: &Expr,
        registers: &[Value],
        taints: &[Self],
        machine: Machine,
    ) -> Result<Self, EvalError> {
        let go = |e: &Expr| Self::of_expr(e, registers, taints, machine);
        Ok(match expr {
            Expr::Const(_) => Self::default(),
            Expr::Reg(r) => taints[r.index()],
            Expr::If(c, t, o) if machine == Machine::Armv8 => {
                let chosen = if c.eval(registers)? != 0 { t } else { o };
                go(chosen)?.join(go(c)?.picking())
            }
            Expr::If(c, t, o) => go(c)?.join(go(t)?).join(go(o)?),
            Expr::Unary(_, e) => go(e)?,
            Expr::Binary(_, l, r) => go(l)?.join(go(r)?),
            Expr::Element { base, len, index } => (base.0..base.0 + len)
                .map(|r| taints[r as usize])
                .fold(go(index)?, Self::join),
        })
    }
}
