//! The layers of this crate, lowest first. A module may name those before it: of its own layer, or of a lower one. What a lower
//! one has to call in a higher one is an [`upcall`](crate::upcall).

use crate::sources::{Source, sources};

/// The layers and their modules, each after all that it stands on.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "system",
        &[
            "tables",
            "upcall",
            "system",
            "lock",
            "files",
            "elf",
            "modules",
            "symbols",
            "awake",
            "imports",
            "callers",
            "tls",
            "entry",
            "word",
            "output",
            "options",
            "inherited",
            "journal",
            "hooks",
            "fatal",
            "mapping",
            "real",
        ],
    ),
    (
        "state",
        &[
            "stack",
            "unwind",
            "horizon",
            "owners",
            "held",
            "trail",
            "order",
            "chain",
            "finding",
            "shadow",
            "location",
            "thread",
            "allocator",
            "heap",
            "descriptor",
        ],
    ),
    ("report", &["benign", "memory", "suppress", "report"]),
    (
        "check",
        &[
            "model", "failing", "sched", "ignoring", "probe", "race", "atomic", "handler", "sync",
            "volatile", "deadlock",
        ],
    ),
    (
        "interface",
        &["ending", "intercept", "abi", "fork", "runtime"],
    ),
];

/// Those that are in no layer: the list of all modules, and tests.
const OUTSIDE: [&str; 3] = ["lib", "layers", "sources"];

/// Modules in their order.
fn order() -> Vec<&'static str> {
    LAYERS
        .iter()
        .flat_map(|(_, modules)| *modules)
        .copied()
        .collect()
}

/// The module of this crate that a file belongs to.
fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

/// The first names of the paths that follow `crate::`: of one, or of each in braces.
fn heads(after: &str) -> Vec<&str> {
    let name = |text: &str| {
        text.len()
            - text
                .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                .len()
    };
    let Some(list) = after.strip_prefix('{') else {
        return vec![&after[..name(after)]];
    };
    let mut heads = Vec::new();
    let (mut depth, mut at_start) = (1, true);
    for (index, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => at_start = true,
            c if at_start && !c.is_whitespace() => {
                at_start = false;
                heads.push(&list[index..][..name(&list[index..])]);
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// The modules of this crate that a file names: by paths from the crate on, or from as many modules above it as there are.
fn named(source: &Source) -> Vec<&str> {
    let above = "super::".repeat(source.module.split("::").count());
    ["crate::", above.as_str()]
        .iter()
        .flat_map(|start| source.code.match_indices(start))
        .flat_map(|(index, start)| heads(&source.code[index + start.len()..]))
        .collect()
}

/// What is wrong: modules without a layer, and those that name what is not below them.
fn violations(sources: &[Source]) -> Vec<String> {
    let order = order();
    let place = |module: &str| order.iter().position(|known| *known == module);
    let mut wrong = Vec::new();
    for source in sources {
        let module = top(&source.module);
        if OUTSIDE.contains(&module) {
            continue;
        }
        let Some(own) = place(module) else {
            wrong.push(format!("{module} is in no layer"));
            continue;
        };
        for other in named(source) {
            if other != module && place(other).is_some_and(|other| other > own) {
                wrong.push(format!(
                    "{} names {other}, which is above it",
                    source.module
                ));
            }
        }
    }
    wrong
}

#[test]
fn modules_name_only_what_is_below_them() {
    let sources = sources();
    assert_eq!(violations(&sources), [""; 0]);
    for module in order() {
        let is_there = sources.iter().any(|source| source.module == module);
        assert!(is_there, "{module} is in the table only");
    }
}

#[test]
fn a_path_upwards_is_found_in_whatever_form() {
    let source = |module: &str, code: &str| Source {
        module: module.to_owned(),
        code: code.to_owned(),
    };
    let upwards = [
        source("lock", "use crate::system;\nuse crate::race::Kind;"),
        source(
            "thread::life",
            "use crate::{\n    lock::{Lock, RawLock},\n    sched,\n};",
        ),
        source("stack", "fn f() { crate::report::report() }"),
        source("entry", "macro_rules! m { () => { $crate::abi::f!() } }"),
        source("shadow::kept", "use super::super::runtime;"),
        source("novelty", "use crate::lock;"),
    ];
    let found = violations(&upwards);
    assert_eq!(
        found,
        [
            "lock names race, which is above it",
            "thread::life names sched, which is above it",
            "stack names report, which is above it",
            "entry names abi, which is above it",
            "shadow::kept names runtime, which is above it",
            "novelty is in no layer",
        ]
    );
    let downwards = source(
        "runtime",
        "use crate::{abi, intercept::{self, report}};\nuse super::lock;",
    );
    assert_eq!(violations(&[downwards]), [""; 0]);
    assert_eq!(heads("{a, b::{c, d}, e_1::f}; g"), ["a", "b", "e_1"]);
    assert_eq!(heads("real::exit(status)"), ["real"]);
}

/// The documentation of the crate has the same table.
#[test]
fn the_documentation_lists_the_layers() {
    let text = include_str!("lib.rs");
    let lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | "))
        .filter_map(|row| row.trim_end_matches(" |").split_once(" | "))
        .filter_map(|(layer, modules)| Some((layer, modules.strip_prefix('`')?)))
        .map(|(layer, modules)| {
            (
                layer,
                modules
                    .trim_end_matches('`')
                    .split("`, `")
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    let expected: Vec<_> = LAYERS
        .iter()
        .map(|(layer, modules)| (*layer, modules.to_vec()))
        .collect();
    assert_eq!(lines, expected);
}
