//! Compare-exchanges that may fail for no reason.
//!
//! LLVM's pass does not tell weak ones from strong ones, and what it calls returns the old value only: that it failed although the value was the expected one cannot be
//! said. So weak ones become calls of the runtime's own functions before, which return what the instruction does: the old value, and whether it succeeded.
//!
//! **Whose they are.** Those of the standard library's own loops stay strong ones: locks, channels and threads only try again. Its generic functions are in the
//! modules of programs, so the debug information has to tell: of the functions that the instruction was inlined into, the innermost that is not in the file of the atomic
//! types themselves. What is not known counts as the program's. Where nothing was inlined (`opt-level = 0`) the few functions of the atomic types that make weak compare-exchanges are
//! inlined for that first.

use crate::ffi::TypeRef;
use crate::module::{Block, Module};
use crate::patch::Builder;
use crate::read::debug;
use crate::title::title;
use crate::value::Value;
use std::ffi::{CStr, CString, c_int};

/// Inlines what has the attribute, and nothing else.
const INLINE: &CStr = c"always-inline";
const ATTRIBUTE: &str = "alwaysinline";

/// Makes calls of the weak compare-exchanges of a module that are not the standard library's.
pub(crate) fn call(module: &mut Module<'_>) -> Result<(), String> {
    if weak(module).next().is_none() {
        return Ok(());
    }
    module.set_attribute_where(ATTRIBUTE, |symbol| is_of_atomics(&title(symbol)));
    module.run_passes(INLINE)?;
    let weak: Vec<Value<'_>> = weak(module).filter(|at| is_programs(module, *at)).collect();
    let builder = Builder::new(module);
    for at in weak {
        let size = at
            .operand(1)
            .and_then(|value| module.layout().store_size(value.ty()));
        // The runtime's functions have the old value in one register.
        let Some(size @ (1 | 2 | 4 | 8)) = size else {
            continue;
        };
        let name = format!("__rsan_atomic{}_compare_exchange_weak", 8 * size);
        if let Ok(name) = CString::new(name) {
            builder.call_for_compare_exchange(at, &name);
        }
    }
    Ok(())
}

fn weak<'m>(module: &'m Module<'_>) -> impl Iterator<Item = Value<'m>> {
    let blocks = module.functions().flat_map(Value::blocks);
    let instructions = blocks.flat_map(Block::instructions);
    instructions.filter(|at| at.is_weak())
}

/// Whether a function of the atomic types makes weak compare-exchanges for its caller.
fn is_of_atomics(name: &str) -> bool {
    let at_start = ["core::sync::atomic::", "<core::sync::atomic::"];
    let name = match name
        .strip_suffix('>')
        .and_then(|name| name.rsplit_once("::<"))
    {
        Some((function, _)) => function,
        None => name,
    };
    let last = name.rsplit("::").next().unwrap_or(name);
    let names = [
        "atomic_compare_exchange_weak",
        "compare_exchange_weak",
        "fetch_update",
        "try_update",
        "update",
    ];
    at_start.iter().any(|start| name.starts_with(start)) && names.contains(&last)
}

/// Whether a compare-exchange is the program's.
fn is_programs(module: &Module<'_>, at: Value<'_>) -> bool {
    let files = debug::files_of(module.context(), at);
    let caller = files.iter().find(|file| !is_atomics_file(file));
    caller.is_none_or(|file| !is_standard_file(file))
}

/// As the compilers of distributions name it, and where `rust-src` is installed.
fn is_standard_file(file: &str) -> bool {
    let is_virtual = file.starts_with("/rustc/") && file.contains("/library/");
    is_virtual || file.contains("/lib/rustlib/src/rust/library/")
}

fn is_atomics_file(file: &str) -> bool {
    is_standard_file(file) && file.ends_with("/library/core/src/sync/atomic.rs")
}

/// The number of an order in C, as the functions of sanitizers take it.
pub(crate) fn order_in_c(order: c_int) -> u64 {
    match order {
        4 => 2,
        5 => 3,
        6 => 4,
        7 => 5,
        _ => 0,
    }
}

/// What such a call needs of its instruction.
pub(crate) struct Parts<'m> {
    /// Address, expected value, new value.
    pub(crate) operands: [Value<'m>; 3],
    /// As C numbers them, for success and failure.
    pub(crate) orders: [u64; 2],
    /// A pair: the old value, and whether it succeeded.
    pub(crate) result: TypeRef,
}

impl<'m> Parts<'m> {
    /// Of a compare-exchange.
    pub(crate) fn of(at: Value<'m>) -> Option<Self> {
        Some(Self {
            operands: [at.operand(0)?, at.operand(1)?, at.operand(2)?],
            orders: [at.ordering()?, at.failure_ordering()?].map(order_in_c),
            result: at.ty().raw,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_atomic_types_and_files_of_the_standard_library_are_known() {
        for name in [
            "core::sync::atomic::AtomicUsize::compare_exchange_weak",
            "core::sync::atomic::AtomicPtr<T>::compare_exchange_weak",
            "<core::sync::atomic::AtomicPtr<user::Node<u8>>>::compare_exchange_weak",
            "<core::sync::atomic::AtomicUsize>::fetch_update::<user::main::{closure#0}>",
            "core::sync::atomic::atomic_compare_exchange_weak::<usize>",
        ] {
            assert!(is_of_atomics(name), "{name}");
        }
        for name in [
            "core::sync::atomic::AtomicUsize::compare_exchange",
            "user::sync::atomic::Cell::compare_exchange_weak",
            "core::sync::atomic::AtomicUsize::fetch_add",
        ] {
            assert!(!is_of_atomics(name), "{name}");
        }
        assert!(is_atomics_file(
            "/rustc/abc/library/core/src/sync/atomic.rs"
        ));
        assert!(is_standard_file(
            "/t/lib/rustlib/src/rust/library/std/src/sync/mpmc/list.rs"
        ));
        assert!(!is_standard_file("/home/library/core/src/sync/atomic.rs"));
    }
}
