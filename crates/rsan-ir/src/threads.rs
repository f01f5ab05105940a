//! Which functions threads run.
//!
//! Each of them may run any number of times in parallel, except `main`, which runs once, and what is started only once.

use crate::alias::{Aliases, Effect, effect};
use crate::module::{Callee, Function, FunctionId, Instr, Module, Op};
use crate::port::{Assumption, Refusal, ThreadFunction};
use std::collections::BTreeMap;

/// A function that threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    /// Which, and why.
    pub(crate) thread: ThreadFunction,
    /// It runs only once.
    pub(crate) once: bool,
    /// The program begins with it.
    pub(crate) main: bool,
    /// Calls that start it are in the program.
    pub(crate) started: bool,
}

/// Functions that a user named; their parameters are not known.
pub(crate) fn named(module: &Module, names: &[String]) -> Result<Vec<FunctionId>, Refusal> {
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        for (id, function) in defined(module) {
            if function.name == *name
                || function.title == *name
                || base_name(&function.title) == name
            {
                found.push(id);
            }
        }
        if found.len() == before {
            return Err(Refusal::UnknownThread(name.clone()));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Functions that libraries call when a thread starts: known by their names.
pub(crate) fn invokers(module: &Module) -> Vec<FunctionId> {
    let is_invoker = |f: &Function| is_cpp_invoker(f) || is_rust_invoker(f);
    defined(module)
        .filter(|(_, f)| is_invoker(f))
        .map(|(id, _)| id)
        .collect()
}

/// The functions that threads run, with `main` where it starts them.
pub(crate) fn roots(
    module: &Module,
    named: &[FunctionId],
    aliases: &Aliases<'_>,
    assumptions: &mut Vec<Assumption>,
) -> Result<Vec<Root>, Refusal> {
    if !named.is_empty() {
        let root = |id: &FunctionId| Root {
            thread: ThreadFunction {
                function: *id,
                reason: "named by --thread".into(),
            },
            once: false,
            main: false,
            started: false,
        };
        return Ok(named.iter().map(root).collect());
    }
    let mut reasons: BTreeMap<FunctionId, String> = BTreeMap::new();
    for (id, function) in defined(module) {
        for instr in function.blocks.iter().flat_map(|b| &b.instrs) {
            started_by(module, aliases, id, instr, &mut reasons, assumptions);
        }
    }
    let mut main: Vec<FunctionId> = defined(module)
        .filter(|(_, f)| f.name == "main")
        .map(|(id, _)| id)
        .collect();
    for id in invokers(module) {
        let function = &module.functions[id.index()];
        if is_rust_invoker(function) && runs_main(module, id) {
            main.push(id);
        } else {
            reasons
                .entry(id)
                .or_insert_with(|| "what a new thread runs".into());
        }
    }
    if reasons.is_empty() {
        return Err(Refusal::NoThreads);
    }
    let threads = reasons.iter().map(|(id, reason)| Root {
        thread: ThreadFunction {
            function: *id,
            reason: reason.clone(),
        },
        once: false,
        main: false,
        started: reason.starts_with("started"),
    });
    let main = main
        .iter()
        .filter(|id| !reasons.contains_key(id))
        .map(|id| Root {
            thread: ThreadFunction {
                function: *id,
                reason: "starts the program".into(),
            },
            once: true,
            main: true,
            started: false,
        });
    Ok(threads.chain(main).collect())
}

fn started_by(
    module: &Module,
    aliases: &Aliases<'_>,
    id: FunctionId,
    instr: &Instr,
    reasons: &mut BTreeMap<FunctionId, String>,
    assumptions: &mut Vec<Assumption>,
) {
    let Op::Call {
        callee: Callee::Direct(callee),
        arguments,
    } = &instr.op
    else {
        return;
    };
    let callee = &module.functions[callee.index()];
    let Effect::Starts { function, .. } = effect(&callee.name) else {
        return;
    };
    let Some(Some(value)) = arguments.get(function) else {
        return;
    };
    let (known, unknown) = aliases.functions(id, *value);
    let at = instr.place.map(|p| {
        let file = module.files.get(p.file as usize);
        format!(" at {}:{}", file.map_or("?", |f| f.name.as_str()), p.line)
    });
    let reason = format!("started by {}{}", callee.name, at.unwrap_or_default());
    for f in known {
        if !module.functions[f.index()].blocks.is_empty() {
            reasons.entry(f).or_insert_with(|| reason.clone());
        }
    }
    if unknown {
        assumptions.push(Assumption {
            message: format!(
                "which function {} starts here is not known: name it with --thread",
                callee.name
            ),
            place: instr.place,
            unsound: true,
        });
    }
}

fn defined(module: &Module) -> impl Iterator<Item = (FunctionId, &Function)> {
    let all = module.functions.iter().enumerate();
    all.map(|(index, f)| (FunctionId(index as u32), f))
        .filter(|(_, f)| !f.blocks.is_empty())
}

/// `f(int)` and `ns::f` are found as `f`, too.
fn base_name(title: &str) -> &str {
    let before = title.split('(').next().unwrap_or(title);
    before.rsplit("::").next().unwrap_or(before)
}

/// `std::thread` of libstdc++ calls `_M_run` of the state it made, that of libc++ `__thread_proxy`.
fn is_cpp_invoker(function: &Function) -> bool {
    let name = &function.name;
    (name.contains("_State_impl") && name.contains("_M_run")) || name.contains("__thread_proxy")
}

/// Both `spawn` and the start of a Rust program call the user's closure through this function, which is never inlined.
fn is_rust_invoker(function: &Function) -> bool {
    function.name.contains("__rust_begin_short_backtrace")
}

fn runs_main(module: &Module, invoker: FunctionId) -> bool {
    defined(module).any(|(_, caller)| {
        let calls =
            caller.blocks.iter().flat_map(|b| &b.instrs).any(
                |i| matches!(&i.op, Op::Call { callee: Callee::Direct(f), .. } if *f == invoker),
            );
        calls && caller.name.contains("lang_start")
    })
}
