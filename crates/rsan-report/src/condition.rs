//! Conditions and observables in herd's syntax.

use crate::test::Test;
use rsan_model::{Atom, Condition, Prop, Quantifier, Value};

/// The condition in herd's syntax, with no more brackets than it needs.
pub fn condition(test: &dyn Test, condition: &Condition) -> String {
    format!(
        "{} ({})",
        quantifier(condition.quantifier),
        prop(test, &condition.prop, 0)
    )
}

/// The keyword.
pub(crate) fn quantifier(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    }
}

/// `level` is how tightly the context binds: 0 for none, 1 inside `\/`, 2 inside `/\`, 3 inside `~`.
fn prop(test: &dyn Test, p: &Prop, level: u8) -> String {
    let (text, own) = match p {
        Prop::True => ("true".to_owned(), 3),
        Prop::False => ("false".to_owned(), 3),
        Prop::Atom(Atom::Is(o, v)) => (format!("{}={}", test.observable(*o), value(test, *v)), 3),
        Prop::Atom(Atom::Same(a, b)) => (
            format!("{}={}", test.observable(*a), test.observable(*b)),
            3,
        ),
        // herd wants brackets after `~`, whatever follows.
        Prop::Not(p) => (format!("~({})", prop(test, p, 0)), 3),
        Prop::And(p, q) => (format!("{} /\\ {}", prop(test, p, 2), prop(test, q, 2)), 2),
        Prop::Or(p, q) => (format!("{} \\/ {}", prop(test, p, 1), prop(test, q, 1)), 1),
    };
    if own < level {
        format!("({text})")
    } else {
        text
    }
}

fn value(test: &dyn Test, value: Value) -> String {
    let location = test.location_at(value);
    location.map_or_else(|| value.to_string(), str::to_owned)
}
