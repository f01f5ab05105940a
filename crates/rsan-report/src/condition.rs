//! Conditions and observables in herd's syntax.

use rsan_model::{Atom, Condition, Observable, Program, Prop, Quantifier};

/// `0:r1` or `x`: the name of an observable in conditions and states.
pub(crate) fn name(program: &Program, observable: Observable) -> String {
    match observable {
        Observable::Reg(thread, reg) => {
            let register = &program.threads[thread.index()].registers[reg.index()];
            format!("{}:{}", thread.0, register.name)
        }
        Observable::Loc(loc) => program.location_name(loc).to_owned(),
    }
}

/// The condition in herd's syntax, with no more brackets than it needs.
pub fn condition(program: &Program, condition: &Condition) -> String {
    format!(
        "{} ({})",
        quantifier(condition.quantifier),
        prop(program, &condition.prop, 0)
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
fn prop(program: &Program, p: &Prop, level: u8) -> String {
    let (text, own) = match p {
        Prop::True => ("true".to_owned(), 3),
        Prop::False => ("false".to_owned(), 3),
        Prop::Atom(Atom::Is(o, v)) => (format!("{}={v}", name(program, *o)), 3),
        Prop::Atom(Atom::Same(a, b)) => (format!("{}={}", name(program, *a), name(program, *b)), 3),
        // herd wants brackets after `~`, whatever follows.
        Prop::Not(p) => (format!("~({})", prop(program, p, 0)), 3),
        Prop::And(p, q) => (
            format!("{} /\\ {}", prop(program, p, 2), prop(program, q, 2)),
            2,
        ),
        Prop::Or(p, q) => (
            format!("{} \\/ {}", prop(program, p, 1), prop(program, q, 1)),
            1,
        ),
    };
    if own < level {
        format!("({text})")
    } else {
        text
    }
}
