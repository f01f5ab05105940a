//! Where a Rust program's own code begins: in its `main`, after the standard library has set itself up.

use crate::ffi::value_kind;
use crate::module::{Block, Module};
use crate::patch::Builder;
use crate::value::Value;

/// What the runtime is told there. Runs under controlled scheduling begin with it.
const BEGIN: &std::ffi::CStr = c"__rsan_main";

/// The standard library's function that sets it up and calls the program's `main`.
const START: &str = "lang_start";

/// Has the program's `main` tell the runtime that it begins, if it is in this module: the C function `main` hands it to the standard library.
pub(crate) fn mark(module: &Module<'_>) {
    let c_main = module.functions().find(|value| value.name() == "main");
    let Some(first) = c_main.and_then(handed_over).and_then(first_instruction) else {
        return;
    };
    Builder::new(module).call(first, BEGIN);
}

/// The function without parameters that `main` hands to the standard library: as an argument, or, where that function was inlined, in memory.
fn handed_over(main: Value<'_>) -> Option<Value<'_>> {
    let instructions: Vec<_> = main.blocks().flat_map(Block::instructions).collect();
    let callees = instructions.iter().filter_map(|value| value.callee());
    let starts = callees.map(Value::name).any(|name| name.contains(START));
    let is_main = |value: &Value<'_>| !value.is_declaration() && value.parameters().is_empty();
    let operands = instructions.into_iter().flat_map(|value| {
        let callee = value.callee();
        value
            .operands()
            .filter(move |operand| Some(*operand) != callee)
    });
    operands
        .filter(|value| value.kind() == value_kind::FUNCTION)
        .find(is_main)
        .filter(|_| starts)
}

fn first_instruction(function: Value<'_>) -> Option<Value<'_>> {
    function.blocks().next()?.instructions().next()
}
