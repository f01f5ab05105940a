//! Programs from text, and short ways to ask about them.

use rsan_lang::{Format, mini};
use rsan_model::{Fault, Model, Program, Source, Verdict};
use rsan_verify::{Options, Outcome, Property, verify};
use std::path::Path;

/// A program in the compact notation.
pub(crate) fn program(text: &str) -> Program {
    let source = Source::new("test", text);
    mini::parse(&source).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

/// A TPL program.
pub(crate) fn tpl(text: &str) -> Program {
    parse(Format::Tpl, "test.tpl", text)
}

/// A C litmus test with these processes and initial state.
pub(crate) fn c(text: &str) -> Program {
    parse(Format::CLitmus, "test.litmus", &format!("C test\n{text}"))
}

/// The text of a program of the corpus.
pub(crate) fn corpus(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    std::fs::read_to_string(root.join(name)).expect("a file of the corpus")
}

fn parse(format: Format, name: &str, text: &str) -> Program {
    let source = Source::new(name, text);
    rsan_lang::parse(&source, format).unwrap_or_else(|e| panic!("{}", e.render(&source, false)))
}

/// The outcome with these options.
pub(crate) fn outcome(program: &Program, options: &Options<'_>) -> Outcome {
    verify(program, options, &mut |_| {}).expect("a program that can be verified")
}

/// The fault, or `None` when the program is robust.
pub(crate) fn fault(program: &Program, model: Model, property: Property) -> Option<Fault> {
    let options = Options {
        property,
        ..Options::new(model)
    };
    match outcome(program, &options).verdict {
        Verdict::Robust => None,
        Verdict::Violation(witness) => Some(witness.fault),
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

/// The kind of fault against robustness, or `None` when the program is robust.
pub(crate) fn robust(program: &Program, model: Model) -> Option<&'static str> {
    fault(program, model, Property::Robust).map(|f| f.kind())
}

/// The kind of fault under sequential consistency, or `None` when the program is safe.
pub(crate) fn safe(program: &Program) -> Option<&'static str> {
    fault(program, Model::Rc20, Property::Safe).map(|f| f.kind())
}

pub(crate) const WEAK: Option<&str> = Some("weak-behaviour");
pub(crate) const RACE: Option<&str> = Some("data-race");
pub(crate) const ASSERTION: Option<&str> = Some("assertion");
