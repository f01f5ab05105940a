//! Final-state conditions of litmus tests.

use crate::{LocId, RegId, ThreadId, Value};

/// Something whose final value a condition can mention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observable {
    /// A register of a thread: `0:r1`.
    Reg(ThreadId, RegId),
    /// A shared location: `x`.
    Loc(LocId),
}

/// `observable = value`, or `observable = observable`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// Equal to a constant.
    Is(Observable, Value),
    /// Equal to each other.
    Same(Observable, Observable),
}

/// A propositional formula over final values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Prop {
    /// Always true.
    True,
    /// Always false.
    False,
    /// An equality.
    Atom(Atom),
    /// Negation.
    Not(Box<Prop>),
    /// `/\`
    And(Box<Prop>, Box<Prop>),
    /// `\/`
    Or(Box<Prop>, Box<Prop>),
}

/// How a condition quantifies over the allowed final states.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// `exists`: some final state satisfies it.
    Exists,
    /// `~exists`: none does.
    NotExists,
    /// `forall`: every one does.
    Forall,
}

/// The final condition of a litmus test.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    /// The quantifier.
    pub quantifier: Quantifier,
    /// The formula.
    pub prop: Prop,
}

impl Prop {
    /// Whether the formula holds when `value` gives the final value of each observable.
    pub fn holds(&self, value: &dyn Fn(Observable) -> Value) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Atom(Atom::Is(o, v)) => value(*o) == *v,
            Self::Atom(Atom::Same(a, b)) => value(*a) == value(*b),
            Self::Not(p) => !p.holds(value),
            Self::And(p, q) => p.holds(value) && q.holds(value),
            Self::Or(p, q) => p.holds(value) || q.holds(value),
        }
    }

    /// Calls `f` for every observable mentioned, in source order, repetitions included.
    pub fn for_each_observable(&self, f: &mut dyn FnMut(Observable)) {
        match self {
            Self::True | Self::False => {}
            Self::Atom(Atom::Is(o, _)) => f(*o),
            Self::Atom(Atom::Same(a, b)) => {
                f(*a);
                f(*b);
            }
            Self::Not(p) => p.for_each_observable(f),
            Self::And(p, q) | Self::Or(p, q) => {
                p.for_each_observable(f);
                q.for_each_observable(f);
            }
        }
    }
}
