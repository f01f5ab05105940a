//! What an instruction asks of an atomic location, and what then happens, in the words of the monitors.

use rsan_clocks::{Access, Effect};
use rsan_model::{CasStrength, Domain, Expr, Instr, ReadOrd, RmwOrd, Value, WriteOrd};

/// An atomic access that is about to be made, with its operands evaluated.
pub(crate) struct Attempt {
    kind: Kind,
    /// What it does; nothing when it blocks.
    effect: Option<Effect>,
    /// What else it can do: a weak compare-and-swap fails.
    spurious: Option<Effect>,
}

enum Kind {
    Load(ReadOrd),
    Store(WriteOrd),
    Rmw(RmwOrd),
    Cas {
        expected: Value,
        ord: RmwOrd,
        fail: ReadOrd,
        strength: CasStrength,
    },
    Wait {
        values: Vec<Value>,
        ord: ReadOrd,
    },
    Bcas {
        expected: Value,
        ord: RmwOrd,
    },
}

impl Attempt {
    /// The access `instr` of a location that holds `old`.
    pub(crate) fn new(
        instr: &Instr,
        old: Value,
        eval: impl Fn(&Expr) -> Value,
        domain: Domain,
    ) -> Self {
        let mut spurious = None;
        let (kind, effect) = match instr {
            Instr::Load { ord, .. } => (Kind::Load(*ord), Some(Effect::Read(*ord))),
            Instr::Store { value, ord, .. } => {
                let (value, ord) = (eval(value), *ord);
                (Kind::Store(ord), Some(Effect::Write { value, ord }))
            }
            Instr::Rmw {
                op, operand, ord, ..
            } => {
                let value = domain.wrap(op.apply(old, i64::from(eval(operand))));
                let effect = Effect::Rmw { value, ord: *ord };
                (Kind::Rmw(*ord), Some(effect))
            }
            Instr::Cas {
                expected,
                new,
                ord,
                fail,
                strength,
                ..
            } => {
                let (expected, value) = (eval(expected), eval(new));
                let (ord, fail, strength) = (*ord, *fail, *strength);
                let effect = if old == expected {
                    spurious = (strength == CasStrength::Weak).then_some(Effect::Read(fail));
                    Effect::Rmw { value, ord }
                } else {
                    Effect::Read(fail)
                };
                let kind = Kind::Cas {
                    expected,
                    ord,
                    fail,
                    strength,
                };
                (kind, Some(effect))
            }
            Instr::Wait { values, ord, .. } => {
                let values: Vec<Value> = values.iter().map(eval).collect();
                let effect = values.contains(&old).then_some(Effect::Read(*ord));
                (Kind::Wait { values, ord: *ord }, effect)
            }
            Instr::Bcas {
                expected, new, ord, ..
            } => {
                let (expected, value, ord) = (eval(expected), eval(new), *ord);
                let effect = (old == expected).then_some(Effect::Rmw { value, ord });
                (Kind::Bcas { expected, ord }, effect)
            }
            _ => unreachable!("an atomic access"),
        };
        Self {
            kind,
            effect,
            spurious,
        }
    }

    /// What the monitors are asked about.
    pub(crate) fn access(&self) -> Access<'_> {
        match self.kind {
            Kind::Load(ord) => Access::Load(ord),
            Kind::Store(ord) => Access::Store(ord),
            Kind::Rmw(ord) => Access::Rmw(ord),
            Kind::Cas {
                expected,
                ord,
                fail,
                strength,
            } => Access::Cas {
                expected,
                ord,
                fail,
                strength,
            },
            Kind::Wait { ref values, ord } => Access::Wait { values, ord },
            Kind::Bcas { expected, ord } => Access::Bcas { expected, ord },
        }
    }

    /// What can happen; nothing when it blocks.
    pub(crate) fn effects(&self) -> impl Iterator<Item = Effect> {
        self.effect.into_iter().chain(self.spurious)
    }
}
