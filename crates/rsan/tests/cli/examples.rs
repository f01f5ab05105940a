//! The programs of `examples`: each bug is found where it is, the report fits a screen, and the program that has been
//! changed as the report's fix says (`-DFIXED`) has none. Needs gcc; what else a program needs is asked for.

use crate::common::{Run, root, rsan, scratch};
use crate::sanitizer::gcc_is_missing;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Example {
    file: &'static str,
    /// As README.md has them.
    args: &'static [&'static str],
    kind: &'static str,
    /// What stands in the two lines that the finding names.
    lines: [&'static str; 2],
    /// What stands in the lines that its fix names.
    fixes: &'static [&'static str],
    /// And what it says of them.
    says: &'static str,
    /// The machines that can show it, as the literature has them; none of a race that is one on every machine.
    machines: &'static [&'static str],
}

/// Message passing without release and acquire: x86 orders stores, and loads.
const WEAK: &[&str] = &["armv8", "riscv", "power", "armv7"];
/// Store buffering with release and acquire: x86 delays stores, and `ldar` does not overtake `stlr`.
const BUFFERED: &[&str] = &["x86", "armv8+ldapr", "riscv", "power", "armv7"];

const EXAMPLES: [Example; 10] = [
    Example {
        file: "spsc-relaxed.c",
        args: &[],
        kind: "data-race",
        lines: ["slots[at % SLOTS] = value", "value = slots[at % SLOTS]"],
        fixes: &["&tail, at + 1"],
        says: "release",
        machines: WEAK,
    },
    Example {
        file: "dekker.c",
        args: &["--exhaustive"],
        kind: "weak-behaviour",
        lines: ["load_explicit(&wants", "store_explicit(&wants"],
        fixes: &["store_explicit(&wants", "load_explicit(&wants"],
        says: "seq_cst fence",
        machines: BUFFERED,
    },
    Example {
        file: "double-checked.cpp",
        args: &["--sched=pct", "--runs=100"],
        kind: "data-race",
        lines: ["glyph(letter)->width", "new Glyph"],
        fixes: &["slot.store(known", "slot.load(lookup"],
        says: "acquire",
        machines: WEAK,
    },
    Example {
        file: "refcount.c",
        args: &[],
        kind: "data-race",
        lines: ["free(buffer)", "fetch_sub"],
        fixes: &["fetch_sub"],
        says: "acq_rel",
        machines: &[],
    },
    Example {
        file: "hazard-pointer.c",
        args: &["--exhaustive"],
        kind: "weak-behaviour",
        lines: ["load_explicit(&hazard", "store_explicit(&hazard, node"],
        fixes: &["store_explicit(&hazard, node", "load_explicit(&hazard"],
        says: "seq_cst fences",
        machines: BUFFERED,
    },
    Example {
        file: "shared-lock.cpp",
        args: &["-std=c++17"],
        kind: "data-race",
        lines: ["hits++", "hits++"],
        fixes: &["hits++"],
        says: "exclusively",
        machines: &[],
    },
    Example {
        file: "seqlock.c",
        args: &["--exhaustive"],
        kind: "weak-behaviour",
        lines: ["unsigned after", "&sequence, 1"],
        fixes: &["load_explicit(&pair"],
        says: "acquire",
        machines: WEAK,
    },
    Example {
        file: "coroutine.cpp",
        args: &["-std=c++20"],
        kind: "data-race",
        lines: ["hops = 1", "return hops"],
        fixes: &["hops = 1", "return hops"],
        says: "order",
        machines: &[],
    },
    Example {
        file: "openmp-sum.c",
        args: &["-fopenmp"],
        kind: "data-race",
        lines: ["sum +=", "sum +="],
        fixes: &["sum +="],
        says: "atomic",
        machines: &[],
    },
    Example {
        file: "barrier.c",
        args: &[],
        kind: "data-race",
        lines: ["neighbour = row", "row[me] ="],
        fixes: &["neighbour = row", "row[me] ="],
        says: "wait in between",
        machines: &[],
    },
];

/// Those of Rust, which the command finds as it is.
const RUST: [Example; 8] = [
    Example {
        file: "publish.rs",
        args: &[],
        kind: "data-race",
        lines: ["current().limit", "Box::new(config)"],
        fixes: &["CURRENT.store"],
        says: "`Release`",
        machines: WEAK,
    },
    Example {
        file: "ring.rs",
        args: &[],
        kind: "data-race",
        lines: [".take()", "= Some(value)"],
        fixes: &["self.tail.store", "self.tail.load(LOOK)"],
        says: "`Acquire`",
        machines: WEAK,
    },
    Example {
        file: "lazy.rs",
        args: &[],
        kind: "data-race",
        lines: ["table()[i]", "Box::new("],
        fixes: &["TABLE.load(LOOK)"],
        says: "`Acquire`",
        machines: WEAK,
    },
    Example {
        file: "shared.rs",
        args: &[],
        kind: "data-race",
        lines: ["Box::from_raw", "fetch_sub"],
        fixes: &["fetch_sub"],
        says: "`AcqRel`",
        machines: &[],
    },
    Example {
        file: "spin-lock.rs",
        args: &[],
        kind: "data-race",
        lines: ["counts.push", "counts.push"],
        fixes: &["self.locked.store"],
        says: "`Release`",
        machines: WEAK,
    },
    Example {
        file: "chase-lev.rs",
        args: &[],
        kind: "weak-behaviour",
        lines: [
            "self.top.load(Ordering::Relaxed)",
            "self.top.compare_exchange",
        ],
        fixes: &[
            "self.bottom.store(bottom, ",
            "self.top.load(Ordering::Relaxed)",
        ],
        says: "fence(Ordering::SeqCst)",
        machines: &["x86", "armv8", "riscv", "power", "armv7"],
    },
    Example {
        file: "seqlock.rs",
        args: &[],
        kind: "weak-behaviour",
        lines: ["let after", "sequence + "],
        fixes: &["half.store", "let pair"],
        says: "`Release`",
        machines: WEAK,
    },
    Example {
        file: "hazard-pointer.rs",
        args: &[],
        kind: "weak-behaviour",
        lines: ["hazard.load", "hazard.store(node"],
        fixes: &["hazard.store(node", "hazard.load"],
        says: "fence(Ordering::SeqCst)",
        machines: BUFFERED,
    },
];

/// Rows and columns of a screen, and rows for each finding after the first.
const SCREEN: (usize, usize) = (24, 100);
const ANOTHER: usize = 18;

impl Example {
    fn source(&self) -> String {
        let path = root().join("examples").join(self.file);
        std::fs::read_to_string(path).expect("the example is there")
    }

    /// The numbers of the lines with a text, from 1.
    fn numbers(&self, text: &str) -> Vec<u64> {
        let source = self.source();
        let lines = source.lines().zip(1..);
        let found = lines.filter(|(line, _)| line.contains(text));
        let found: Vec<_> = found.map(|(_, number)| number).collect();
        assert!(!found.is_empty(), "{}: no line with {text}", self.file);
        found
    }

    fn check(&self, compiler: &str, folder: &Path, extra: &[&str]) -> Run {
        let mut command = rsan(folder);
        let cxx = match compiler {
            "gcc" => "g++",
            _ => "clang++",
        };
        command
            .env("RSAN_CC", compiler)
            .env("RSAN_CXX", cxx)
            .arg("check")
            .args(self.args)
            .args(extra)
            .arg(self.file);
        command.output().expect("rsan starts").into()
    }

    /// What is wrong with the findings of a document; nothing if one is as it should be.
    fn compare(&self, document: &Value) -> Result<(), String> {
        let none = Vec::new();
        let findings = document["findings"].as_array().unwrap_or(&none);
        let mut wrong = String::from("no finding");
        for finding in findings {
            match self.compare_finding(finding) {
                Ok(()) => return Ok(()),
                Err(why) => wrong = why,
            }
        }
        Err(wrong)
    }

    fn compare_finding(&self, finding: &Value) -> Result<(), String> {
        if finding["kind"] != self.kind {
            return Err(format!("{} instead of {}", finding["kind"], self.kind));
        }
        let accesses = finding["accesses"].as_array().into_iter().flatten();
        let places: Vec<_> = accesses.take(2).map(|access| self.line(access)).collect();
        for text in self.lines {
            let numbers = self.numbers(text);
            let named = |line: &Option<u64>| line.is_some_and(|line| numbers.contains(&line));
            if !places.iter().any(named) {
                return Err(format!("lines {places:?}, not that of `{text}`"));
            }
        }
        let fix = finding["fix"]["message"].as_str().unwrap_or_default();
        let names = |line: u64| {
            let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
            let number = format!(":{line}");
            let mut found = fix.match_indices(&number);
            found.any(|(at, _)| is_end(&fix[at + number.len()..]))
        };
        for text in self.fixes {
            if !self.numbers(text).into_iter().any(names) {
                return Err(format!("the fix does not name `{text}`: {fix}"));
            }
        }
        if !fix.contains(self.says) {
            return Err(format!("no `{}` in {fix}", self.says));
        }
        let machines = finding["machines"].as_array().into_iter().flatten();
        let machines = machines.filter(|known| known["shows"] == "yes");
        let machines: Vec<_> = machines.map(machine).collect();
        match machines == self.machines {
            true => Ok(()),
            false => Err(format!("{machines:?} instead of {:?}", self.machines)),
        }
    }

    /// The line of the innermost frame in the example.
    fn line(&self, access: &Value) -> Option<u64> {
        let mut frames = access["stack"].as_array()?.iter();
        let own = |frame: &&Value| {
            frame["file"]
                .as_str()
                .is_some_and(|at| at.ends_with(self.file))
        };
        frames.find(own)?["line"].as_u64()
    }
}

/// `armv8+ldapr`
fn machine(known: &Value) -> String {
    let name = known["machine"].as_str().unwrap_or_default();
    match known["variant"].as_str() {
        Some(variant) => format!("{name}+{variant}"),
        None => name.to_owned(),
    }
}

/// A folder with the examples, since reports name the schedules that they leave beside them.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(scratch(name));
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let files = std::fs::read_dir(root().join("examples")).expect("the examples");
    for file in files.map(|file| file.expect("an entry").path()) {
        if file.is_file() {
            let name = file.file_name().expect("a name");
            std::fs::copy(&file, folder.join(name)).expect("the scratch folder is writable");
        }
    }
    folder
}

/// Whether a compiler can build a program of this example.
fn can_build(compiler: &str, example: &Example, folder: &Path) -> bool {
    let flags = example.args.iter().filter(|arg| !arg.starts_with("--"));
    let mut command = Command::new(compiler);
    command.args(flags).args(["-x"]);
    let (language, library) = match example.file.ends_with(".c") {
        true => ("c", "-lpthread"),
        false => ("c++", "-lstdc++"),
    };
    command.args([language, example.file, library, "-o", "/dev/null"]);
    let output = command.current_dir(folder).output();
    output.is_ok_and(|output| output.status.success())
}

/// The rows of a text on a screen, where long lines are wrapped.
fn rows(text: &str) -> usize {
    let rows = |line: &str| line.chars().count().div_ceil(SCREEN.1).max(1);
    text.lines().map(rows).sum()
}

fn all(compiler: &str) {
    let folder = folder(&format!("examples-{compiler}"));
    for example in &EXAMPLES {
        if !can_build(compiler, example, &folder) {
            eprintln!("skipped: {} with {compiler}", example.file);
            continue;
        }
        let file = example.file;
        let run = example.check(compiler, &folder, &["--format", "json"]);
        let document: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{file}: {}{}", run.stdout, run.stderr));
        if let Err(wrong) = example.compare(&document) {
            panic!("{file} with {compiler}: {wrong}\n{}", run.stdout);
        }
        assert_eq!(run.code, 1, "{file} with {compiler}");
        std::fs::write(folder.join("answer.json"), &run.stdout).expect("the folder is writable");
        let mut report = rsan(&folder);
        report.args(["report", "answer.json"]);
        let text: Run = report.output().expect("rsan starts").into();
        let findings = document["findings"].as_array().into_iter().flatten();
        let notes = findings.clone().filter(|f| f["severity"] == "note");
        let notes = notes.count();
        let fit = SCREEN.0 + ANOTHER * (findings.count() - notes - 1) + 3 * notes;
        let rows = rows(&text.stdout);
        assert!(rows <= fit, "{file}: {rows} rows\n{}", text.stdout);
        let fixed = example.check(compiler, &folder, &["-DFIXED", "--format", "json"]);
        let what = format!("{file} with {compiler}");
        only_notes(&fixed, &what);
    }
    let mut correct = rsan(&folder);
    correct.env("RSAN_CC", compiler);
    correct.args(["check", "--format", "json", "spsc-correct.c"]);
    only_notes(&correct.output().expect("rsan starts").into(), compiler);
}

/// A correct program may read stale values that make no difference, and nothing else.
fn only_notes(run: &Run, what: &str) {
    let document: Value = serde_json::from_str(&run.stdout).expect("a document");
    let findings = document["findings"].as_array().into_iter().flatten();
    let mut severities = findings.map(|finding| &finding["severity"]);
    let notes = severities.all(|severity| severity == "note");
    assert!(notes, "{what}: {}", run.stdout);
    let is_failed = document["stats"]["failures"] != 0;
    assert!(run.code < 2 && !is_failed, "{what}: {}", run.stdout);
}

#[test]
fn bugs_are_found_and_their_fixes_help_with_gcc() {
    if !gcc_is_missing() {
        all("gcc");
    }
}

#[test]
fn bugs_are_found_and_their_fixes_help_with_clang() {
    let clang = Command::new("clang").arg("--version").output();
    if gcc_is_missing() || clang.is_err() {
        eprintln!("skipped: clang is not installed");
        return;
    }
    all("clang");
}

/// As for C: kind, places and fix of a finding, and nothing but notes in the fixed form.
#[test]
fn bugs_of_rust_are_found_and_their_fixes_help() {
    if gcc_is_missing() {
        return;
    }
    let folder = folder("examples-rust");
    for example in &RUST {
        let file = example.file;
        let run = example.check("gcc", &folder, &["--format", "json"]);
        let document: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{file}: {}{}", run.stdout, run.stderr));
        if let Err(wrong) = example.compare(&document) {
            panic!("{file}: {wrong}\n{}", run.stdout);
        }
        assert_eq!(run.code, 1, "{file}");
        let fixed = example.check("gcc", &folder, &["--cfg", "fixed", "--format", "json"]);
        only_notes(&fixed, file);
    }
}

/// The table of README.md has every program, with the command that the test runs.
#[test]
fn the_table_has_every_example() {
    let table = std::fs::read_to_string(root().join("examples/README.md")).expect("it is there");
    for example in EXAMPLES.iter().chain(&RUST) {
        let args: String = example.args.iter().map(|arg| format!("{arg} ")).collect();
        let command = format!("`rsan check {args}{}` |", example.file);
        assert!(table.contains(&command), "no {command}");
    }
    let files = std::fs::read_dir(root().join("examples")).expect("the examples");
    for file in files.map(|file| file.expect("an entry").path()) {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("-");
        let is_program = [".c", ".cpp", ".rs"].iter().any(|end| name.ends_with(end));
        assert!(
            !is_program || table.contains(&format!("({name})")),
            "{name}"
        );
    }
}
