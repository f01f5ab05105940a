//! What Rust's standard library does for threads, and no program sees: counters of its own, which it changes where the program ends a thread, drops a handle or
//! waits for a scope.
//!
//! Where threads are scheduled, the runtime is told of it, and these functions are private from their first instruction to where they return: otherwise each order
//! of their read-modify-writes would be an execution. Nothing changes in runs that are not scheduled. What is generic is found in the modules of programs, under either way
//! to write symbols; where it was inlined, it is seen.

use crate::module::{Block, Module};
use crate::opcode::Opcode;
use crate::patch::Builder;
use crate::value::Value;
use std::ffi::CStr;

/// Begins and ends what is private.
const BEGIN: &CStr = c"__rsan_private_begin";
const END: &CStr = c"__rsan_private_end";

/// A function of the standard library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// A scope begins to count a thread: its parameter.
    Open,
    /// A scope does not count a thread any more: its parameter.
    CountDown,
    /// A packet with a thread's result is let go of.
    LetGo,
    /// A handle of a thread, or what a scope is kept in, is dropped.
    Drop,
}

impl Part {
    /// What the runtime is told before, and whether it is told the first parameter.
    fn told(self) -> Option<(&'static CStr, bool)> {
        match self {
            Self::Open => Some((c"__rsan_scope_open", true)),
            Self::CountDown => Some((c"__rsan_scope_count_down", true)),
            Self::LetGo => Some((c"__rsan_packet_let_go", false)),
            Self::Drop => None,
        }
    }

    fn of(symbol: &str) -> Option<Self> {
        if !symbol.contains("thread") {
            return None;
        }
        let symbol = symbol.split_once(".llvm.").map_or(symbol, |(name, _)| name);
        let name = format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?);
        if name.contains("::ScopeData") {
            if name.ends_with("::increment_num_running_threads") {
                return Some(Self::Open);
            }
            if name.ends_with("::decrement_num_running_threads") {
                return Some(Self::CountDown);
            }
        }
        if name.starts_with("<alloc::sync::Arc<std::thread::thread::Inner")
            && name.ends_with(">>::drop_slow")
        {
            return Some(Self::Drop);
        }
        let dropped = DROPS.iter().find_map(|drop| name.strip_prefix(drop))?;
        Self::of_drop(dropped.strip_prefix('<')?.strip_suffix('>')?)
    }

    /// That drops a value of this type.
    fn of_drop(name: &str) -> Option<Self> {
        if DROPPED.contains(&name) {
            return Some(Self::Drop);
        }
        let packet = name.strip_prefix("alloc::sync::Arc<std::thread::")?;
        let packet = packet.strip_prefix("lifecycle::").unwrap_or(packet);
        let result = packet.strip_prefix("Packet<")?.strip_suffix(">>")?;
        PLAIN.contains(&result).then_some(Self::LetGo)
    }
}

/// Ways to write the function that drops a value.
const DROPS: [&str; 4] = [
    "core::ptr::drop_in_place::",
    "core::ptr::drop_in_place",
    "core::ptr::drop_glue::",
    "core::ptr::drop_glue",
];

/// Types whose values are dropped in private. A handle is one only where the last owner's part has a name of its own, as above.
const DROPPED: [&str; 6] = [
    "std::thread::thread::Thread",
    "std::thread::scoped::Scope",
    "alloc::sync::Arc<std::thread::scoped::ScopeData>",
    "core::option::Option<alloc::sync::Arc<std::thread::scoped::ScopeData>>",
    "std::thread::scoped::ScopeData",
    "alloc::sync::ArcInner<std::thread::scoped::ScopeData>",
];

/// Types of results that have nothing to drop.
const PLAIN: [&str; 16] = [
    "()", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f64",
];

/// Marks such functions of a module.
pub(crate) fn mark(module: &Module<'_>) {
    let defined = module.functions().filter(|value| !value.is_declaration());
    let found: Vec<(Value<'_>, Part)> = defined
        .filter_map(|value| Some((value, Part::of(&value.name())?)))
        .collect();
    if found.is_empty() {
        return;
    }
    let builder = Builder::new(module);
    for (function, part) in found {
        mark_function(&builder, function, part);
    }
}

fn mark_function(builder: &Builder<'_>, function: Value<'_>, part: Part) {
    let instructions = || function.blocks().flat_map(Block::instructions);
    let Some(first) = instructions().next() else {
        return;
    };
    let ends = |value: &Value<'_>| {
        value.is(Opcode::Ret) || value.print().trim_start().starts_with("resume ")
    };
    let ends: Vec<Value<'_>> = function
        .blocks()
        .filter_map(Block::terminator)
        .filter(ends)
        .collect();
    if let Some((told, with_parameter)) = part.told() {
        let parameter = function.parameters().into_iter().next();
        match parameter.filter(|_| with_parameter) {
            Some(parameter) => builder.call_with(first, told, parameter),
            None => builder.call(first, told),
        }
    }
    builder.call(first, BEGIN);
    for end in ends {
        builder.call(end, END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_either_way_to_write_symbols() {
        let parts = [
            (
                "_RNvMNtNtCs1_3std6thread6scopedNtB2_9ScopeData29increment_num_running_threads",
                Part::Open,
            ),
            (
                "_RNvMNtNtCsjrHSEGnQ3l9_3std6thread6scopedNtB2_9ScopeData29decrement_num_running_threads",
                Part::CountDown,
            ),
            (
                "_ZN4core3ptr91drop_in_place$LT$alloc..sync..Arc$LT$std..thread..lifecycle..Packet$LT$$LP$$RP$$GT$$GT$$GT$17h531e53cad6386803E",
                Part::LetGo,
            ),
            (
                "_ZN4core3ptr80drop_in_place$LT$alloc..sync..Arc$LT$std..thread..Packet$LT$u32$GT$$GT$$GT$17h531e53cad6386803E",
                Part::LetGo,
            ),
            (
                "_ZN4core3ptr48drop_in_place$LT$std..thread..thread..Thread$GT$17h0a1e38dc6991ba68E",
                Part::Drop,
            ),
            (
                "_ZN4core3ptr47drop_in_place$LT$std..thread..scoped..Scope$GT$17h0d6bf01db3980902E",
                Part::Drop,
            ),
        ];
        for (symbol, part) in parts {
            assert_eq!(Part::of(symbol), Some(part), "{symbol}");
        }
    }

    #[test]
    fn results_with_destructors_and_other_types_are_seen() {
        for symbol in [
            "_ZN4core3ptr80drop_in_place$LT$alloc..sync..Arc$LT$std..thread..lifecycle..Packet$LT$alloc..string..String$GT$$GT$$GT$17h531e53cad6386803E",
            "_ZN4core3ptr48drop_in_place$LT$std..thread..Thread$GT$17h0a1e38dc6991ba68E",
            "_ZN4core3ptr70drop_in_place$LT$std..thread..lifecycle..JoinInner$LT$$LP$$RP$$GT$$GT$17h0e628d1286e82880E",
            "_ZN4user6thread6scoped5scope17h0e628d1286e82880E",
        ] {
            assert_eq!(Part::of(symbol), None, "{symbol}");
        }
    }
}
