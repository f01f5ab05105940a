//! Sets of values, and expressions over them.

use rsan_model::{BinOp, Expr, RegId, Value};
use std::collections::BTreeSet;

/// Values that are told apart, at most.
const MOST: usize = 16;

/// Combinations of registers' values that an expression is evaluated with, at most.
const COMBINATIONS: usize = 128;

/// A set of values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in super::super) enum Values {
    Few(BTreeSet<Value>),
    /// From the first to the last.
    Range(Value, Value),
}

impl Values {
    pub(super) const NONE: Self = Self::Few(BTreeSet::new());
    pub(super) const ANY: Self = Self::Range(Value::MIN, Value::MAX);

    pub(in super::super) fn one(value: Value) -> Self {
        Self::Few(BTreeSet::from([value]))
    }

    /// The value, if there is no other.
    pub(in super::super) fn only(&self) -> Option<Value> {
        match self {
            Self::Few(set) if set.len() == 1 => set.first().copied(),
            _ => None,
        }
    }

    /// The first and the last; `None` if there is none.
    fn bounds(&self) -> Option<(Value, Value)> {
        match self {
            Self::Few(set) => Some((*set.first()?, *set.last()?)),
            Self::Range(low, high) => Some((*low, *high)),
        }
    }

    pub(in super::super) fn contains(&self, value: Value) -> bool {
        match self {
            Self::Few(set) => set.contains(&value),
            Self::Range(low, high) => (*low..=*high).contains(&value),
        }
    }

    pub(in super::super) fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Few(some), others) | (others, Self::Few(some)) => {
                some.iter().any(|value| others.contains(*value))
            }
            (Self::Range(low, high), Self::Range(from, to)) => low <= to && from <= high,
        }
    }

    /// Adds other values; says whether there are more now.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        if let (Self::Few(mine), Self::Few(others)) = (&mut *self, other) {
            let before = mine.len();
            mine.extend(others);
            if mine.len() <= MOST {
                return mine.len() > before;
            }
        }
        let (Some((low, high)), Some((from, to))) = (self.bounds(), other.bounds()) else {
            if *other == Self::NONE {
                return false;
            }
            *self = other.clone();
            return true;
        };
        let all = Self::Range(low.min(from), high.max(to));
        let grows = *self != all;
        *self = all;
        grows
    }
}

/// The register that an expression compares with a number.
pub(super) fn equality(e: &Expr) -> Option<(RegId, i64)> {
    let Expr::Binary(BinOp::Eq, left, right) = e else {
        return None;
    };
    match (&**left, &**right) {
        (Expr::Reg(reg), n) | (n, Expr::Reg(reg)) => Some((*reg, n.as_const()?)),
        _ => None,
    }
}

pub(super) fn registers(e: &Expr) -> BTreeSet<RegId> {
    let mut used = BTreeSet::new();
    e.for_each_reg(&mut |reg| {
        used.insert(reg);
    });
    used
}

/// What an expression may be.
pub(super) fn results(e: &Expr, regs: &[Values], wrap: impl Fn(i64) -> Value) -> Values {
    if let Some(n) = e.as_const() {
        return Values::one(wrap(n));
    }
    let mut results = Values::NONE;
    let all = each(e, regs, &mut |_, result| {
        if let Some(n) = result {
            results.join(&Values::one(wrap(n)));
        }
    });
    if all {
        return results;
    }
    let is_value = |n: i64| i64::from(wrap(n)) == n;
    match range(e, regs) {
        // Values of which none wraps.
        Some((low, high)) if is_value(low) && is_value(high) => {
            Values::Range(wrap(low), wrap(high))
        }
        _ => Values::ANY,
    }
}

/// Bounds of an expression's value.
fn range(e: &Expr, regs: &[Values]) -> Option<(i64, i64)> {
    match e {
        Expr::Const(n) => Some((*n, *n)),
        Expr::Reg(reg) => {
            let (low, high) = regs[reg.index()].bounds()?;
            Some((i64::from(low), i64::from(high)))
        }
        Expr::Binary(op, left, right) => {
            let ((a, b), (c, d)) = (range(left, regs)?, range(right, regs)?);
            match op {
                BinOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
                BinOp::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Evaluates an expression with all values that its registers may have; says whether there are few enough.
pub(super) fn each(e: &Expr, regs: &[Values], told: &mut dyn FnMut(&[Value], Option<i64>)) -> bool {
    let mut all = vec![vec![0; regs.len()]];
    for reg in registers(e) {
        let Values::Few(values) = &regs[reg.index()] else {
            return false;
        };
        if all.len() * values.len() > COMBINATIONS {
            return false;
        }
        let with = |chosen: &Vec<Value>, value: Value| {
            let mut chosen = chosen.clone();
            chosen[reg.index()] = value;
            chosen
        };
        all = all
            .iter()
            .flat_map(|chosen| values.iter().map(move |value| with(chosen, *value)))
            .collect();
    }
    for chosen in all {
        told(&chosen, e.eval(&chosen).ok());
    }
    true
}
