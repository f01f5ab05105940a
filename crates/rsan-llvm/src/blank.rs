//! Variables begin with zeros where nothing was optimised.
//!
//! What an earlier call has left on the stack is part of what such code copies: the bytes of a `None` that has no value, padding, and moved structs. It means
//! nothing to the program, but it differs from run to run and from round to round. Whoever compares what two runs write, or whether a loop comes back
//! to the same state, would take it for a difference. No program may rely on such bytes, so any value is right.
//!
//! Large variables are left alone: they are mostly buffers, and clearing them at each call costs time.

use crate::module::{Block, Module};
use crate::patch::Builder;
use crate::value::Value;

/// Bytes of the largest variable that is cleared.
const LARGEST: u64 = 256;

/// Clears the variables of all functions. To be done after the pass that instruments: these stores are not the program's.
pub(crate) fn variables(module: &Module<'_>) {
    let defined = module.functions().filter(|value| !value.is_declaration());
    let entries = defined.filter_map(|function| function.blocks().next());
    let variables: Vec<(Value<'_>, u64)> = entries
        .flat_map(Block::instructions)
        .filter_map(|variable| Some((variable, size(module, variable)?)))
        .collect();
    let builder = Builder::new(module);
    for (variable, bytes) in variables {
        builder.clear(variable, bytes);
    }
}

/// Bytes of a variable that is to be cleared.
fn size(module: &Module<'_>, variable: Value<'_>) -> Option<u64> {
    let ty = variable.allocated_type()?;
    let single = variable.operand(0)?.integer() == Some(1);
    let bytes = module.layout().stride(ty).filter(|_| single)?;
    (1..=LARGEST).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;
    use crate::library::find;

    #[test]
    fn small_variables_are_cleared_where_they_begin() {
        // Pointers without types are known since 15.
        let Some(library) = find().ok().filter(|found| found.version().major >= 15) else {
            return;
        };
        let context = Context::new(&library);
        let source = "define void @f() {
  %small = alloca [12 x i8], align 4
  %one = alloca i8
  %large = alloca [4096 x i8], align 16
  %many = alloca i64, i32 2
  store i8 1, ptr %one
  ret void
}
";
        let module = context.parse("f", source.as_bytes()).expect("it is right");
        variables(&module);
        module.verify().expect("it is right afterwards");
        let text = module.print();
        let stores: Vec<&str> = text.lines().filter(|line| line.contains("store")).collect();
        assert_eq!(stores.len(), 1 + 4 + 1 + 1, "{text}");
        assert!(stores[0].contains("i64 0"), "{text}");
        assert!(stores.last().is_some_and(|line| line.contains("i8 1")));
    }
}
