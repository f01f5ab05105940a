//! Folders of programs.

#![allow(dead_code, reason = "every test binary uses its own part")]

use rsan_crosscheck::on_all_cores;
use rsan_lang::{Format, parse};
use rsan_model::{Instr, Program, Source};
use std::path::{Path, PathBuf};

/// Whether programs that take minutes are part of the run.
pub(crate) fn extended() -> bool {
    std::env::var_os("RSAN_EXTENDED").is_some_and(|v| v == "1")
}

/// All programs below a folder, sorted.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else {
        return found;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.ends_with("litmus/hardware") {
            // Assembly, which has a table of its own.
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if format(&path).is_some() {
            found.push(path);
        }
    }
    found
}

fn format(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "litmus" => Some(Format::CLitmus),
        "tpl" => Some(Format::Tpl),
        _ => None,
    }
}

/// Reads a program, and its text.
pub(crate) fn read(path: &Path) -> (Program, String) {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let source = Source::new(path.display().to_string(), text.as_str());
    let format = format(path).expect("a program");
    let program = parse(&source, format).unwrap_or_else(|e| panic!("{}", e.render(&source, false)));
    (program, text)
}

/// Whether no instruction goes backwards.
pub(crate) fn is_loop_free(program: &Program) -> bool {
    program.instructions().all(|(_, pc, instr)| {
        let mut targets = instr.successors(pc).into_iter();
        targets.all(|target| target > pc)
    })
}

/// Whether it has seq_cst accesses, which RA and RC20 do not know.
pub(crate) fn has_sc_accesses(program: &Program) -> bool {
    program
        .instructions()
        .any(|(_, _, i)| Instr::is_sc_access(i))
}

/// What `check` finds wrong with the items, which it is asked about on all cores; in the order of the items.
pub(crate) fn check_all<T: Sync>(
    items: &[T],
    check: impl Fn(&T) -> Vec<String> + Sync,
) -> Vec<String> {
    on_all_cores(items, check).concat()
}

/// Fails with all that was found wrong.
pub(crate) fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
