//! The programs, with what is published of programs of their names; and programs of any size.

use crate::bench::table;
use crate::steps::root;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    program: Vec<Program>,
}

/// A program that moves from one machine to another.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// As published.
    pub(crate) name: String,
    /// Its file.
    pub(crate) file: String,
    /// Fences that the published naive scheme has for SC on x86.
    pub(crate) naive: u64,
    /// Fences that were there.
    pub(crate) fences: u64,
    /// Fences that were inserted, by the pair of machines: `x86-armv8`.
    pub(crate) inserted: BTreeMap<String, u64>,
}

impl Program {
    pub(crate) fn path(&self) -> PathBuf {
        folder().join(&self.file)
    }
}

fn folder() -> PathBuf {
    root().join("bench/port")
}

/// Those whose name contains the text, in the order of the table.
pub(crate) fn all(only: Option<&str>) -> Result<Vec<Program>, String> {
    let Manifest { mut program } = table::read(&folder())?;
    program.retain(|program| only.is_none_or(|text| program.file.contains(text)));
    Ok(program)
}

/// A program in LLVM's IR with about so many accesses to a few variables, in two thread functions of blocks that branch and
/// join; every tenth access is a release store or an acquire load.
pub(crate) fn generated(accesses: usize) -> String {
    const VARIABLES: usize = 64;
    let mut out = String::new();
    for variable in 0..VARIABLES {
        let _ = writeln!(out, "@v{variable} = global i32 0, align 4");
    }
    for function in 0..2 {
        let _ = writeln!(out, "define void @thread{function}() {{\n  br label %b0");
        let blocks = (accesses / 2).div_ceil(10).max(1);
        for block in 0..blocks {
            let _ = writeln!(out, "b{block}:");
            for slot in 0..10_usize.min(accesses / 2) {
                // Any spread of reads and writes does, if it is the same in every run.
                let mixed = (function * 7 + block * 13 + slot * 31) * 2_654_435_761_usize;
                let variable = mixed / 97 % VARIABLES;
                let store = (mixed / 7).is_multiple_of(3);
                let order = match (slot, store) {
                    (0, true) => "release",
                    (0, false) => "acquire",
                    _ => "monotonic",
                };
                let _ = match store {
                    true => writeln!(
                        out,
                        "  store atomic i32 1, ptr @v{variable} {order}, align 4"
                    ),
                    false => writeln!(
                        out,
                        "  %r{block}.{slot} = load atomic i32, ptr @v{variable} {order}, align 4"
                    ),
                };
            }
            let (next, skip) = (block + 1, (block + 2).min(blocks));
            let _ = writeln!(out, "  %c{block} = call i1 @choose()");
            let _ = writeln!(out, "  br i1 %c{block}, label %b{next}, label %b{skip}");
        }
        let _ = writeln!(out, "b{blocks}:\n  ret void\n}}");
    }
    out.push_str("declare i1 @choose() readnone\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_names_every_file() {
        let named: BTreeSet<String> = all(None)
            .expect("the table")
            .into_iter()
            .map(|p| p.file)
            .collect();
        let there = std::fs::read_dir(folder()).expect("the folder");
        let there = there.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let there: BTreeSet<String> = there.filter(|name| name.ends_with(".c")).collect();
        assert_eq!(named, there);
    }

    #[test]
    fn generated_programs_have_the_size_that_was_asked_for() {
        for size in [10, 100, 1000] {
            let text = generated(size);
            let accesses = text.matches("atomic").count();
            assert!(accesses.abs_diff(size) <= size / 10, "{accesses} of {size}");
        }
    }
}
