//! Small programs that say in their first lines what must be found in them, compiled by gcc and by clang. They are in
//! `tests/data/suite`; those of the correct variants must be without a finding.
//!
//! ```c
//! // Two threads add to a counter without a lock.
//! // expect: data-race            one line for each finding, or `nothing`
//! // flags: -O2 -fopenmp          for the compiler
//! // options: exitcode=5          in RSAN_OPTIONS
//! // arguments: fast              for the program
//! // status: 4                    of `rsan run`; otherwise 1 with findings, and 0 without
//! // says: `counter`              a part of the report in words
//! ...
//!     counter++; // <- data-race  a place that a finding of this kind names
//! ```
//!
//! `RSAN_SUITE=locks/` runs only those with this text in their path.

use crate::common::{Run, rsan, scratch, tests_dir};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// What a program asks for in its comments.
#[derive(Default)]
struct Program {
    path: PathBuf,
    /// Kinds of findings, sorted.
    expected: Vec<String>,
    flags: Vec<String>,
    options: String,
    arguments: Vec<String>,
    status: i32,
    says: Vec<String>,
    /// Kinds of findings, and lines that they name.
    places: Vec<(String, u64)>,
}

impl Program {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).expect("a program");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let (mut program, mut status) = (Self::default(), None);
        let mut is_clean = false;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((_, kind)) = line.split_once("// <- ") {
                program.places.push((kind.trim().to_owned(), number));
            }
            let Some((name, value)) = line
                .strip_prefix("// ")
                .and_then(|line| line.split_once(": "))
            else {
                continue;
            };
            match name {
                "expect" if value == "nothing" => is_clean = true,
                "expect" => program.expected.push(value.to_owned()),
                "flags" => program.flags = words(value),
                "options" => value.clone_into(&mut program.options),
                "arguments" => program.arguments = words(value),
                "status" => status = Some(value.parse().expect("a status")),
                "says" => program.says.push(value.to_owned()),
                _ => {}
            }
        }
        assert!(
            is_clean == program.expected.is_empty(),
            "{}: it does not say what to expect",
            path.display()
        );
        program.expected.sort();
        program.status = status.unwrap_or(i32::from(!is_clean));
        program.path = path;
        program
    }

    /// What is wrong with it, compiled by this compiler; empty if nothing is.
    fn check(&self, Build { compiler, flags }: Build, executable: &str) -> String {
        let is_c = self.path.extension().is_some_and(|kind| kind == "c");
        let folder = self.path.parent().expect("a folder");
        let mut compile = rsan(folder);
        compile
            .arg(if is_c { "cc" } else { "c++" })
            .arg(format!("--rsan-compiler={compiler}"))
            .args(["-O1", "-pthread", "-o", executable])
            .arg(self.path.file_name().expect("a name"))
            .args(&self.flags)
            .args(flags);
        let compiled: Run = compile.output().expect("rsan starts").into();
        if compiled.code != 0 {
            return compiled.stderr;
        }
        let report = self.run(executable, "json");
        let Ok(document) = serde_json::from_str::<Value>(&report.stdout) else {
            return format!("no document\n{}{}", report.stdout, report.stderr);
        };
        let mut wrong = self.compare(&document);
        if report.code != self.status {
            let _ = writeln!(wrong, "status {} instead of {}", report.code, self.status);
        }
        if !self.says.is_empty() {
            // Sentences begin with capital letters, what programs say of them need not.
            let text = self.run(executable, "text").stdout;
            let lower = text.to_lowercase();
            let is_said = |part: &&String| lower.contains(&part.to_lowercase());
            for part in self.says.iter().filter(|part| !is_said(part)) {
                let _ = writeln!(wrong, "no {part:?} in\n{text}");
            }
        }
        if !wrong.is_empty() {
            let _ = writeln!(wrong, "{}{}", report.stdout, report.stderr);
        }
        wrong
    }

    fn run(&self, executable: &str, format: &str) -> Run {
        let mut command = rsan(Path::new(env!("CARGO_TARGET_TMPDIR")));
        command
            .args(["run", "--runs", "1", "--timeout", "60s"])
            .args(["-v", "--format", format, "--", executable])
            .args(&self.arguments)
            .env("RSAN_OPTIONS", &self.options);
        command.output().expect("rsan starts").into()
    }

    fn compare(&self, document: &Value) -> String {
        let none = Vec::new();
        // What a library does inside decides nothing.
        let findings = document["findings"].as_array().unwrap_or(&none).iter();
        let findings: Vec<_> = findings
            .filter(|finding| finding["in_libraries"] != true)
            .collect();
        let kind = |finding: &Value| finding["kind"].as_str().unwrap_or("-").to_owned();
        let mut kinds: Vec<_> = findings.iter().copied().map(kind).collect();
        kinds.sort();
        let mut wrong = String::new();
        if kinds != self.expected {
            let _ = writeln!(wrong, "{kinds:?} instead of {:?}", self.expected);
        }
        let file = self.path.file_name().and_then(|name| name.to_str());
        let file = file.expect("a name in UTF-8");
        for (of_kind, line) in &self.places {
            let named = findings
                .iter()
                .any(|finding| kind(finding) == *of_kind && names(finding, file, *line));
            if !named {
                let _ = writeln!(wrong, "no {of_kind} at line {line}");
            }
        }
        wrong
    }
}

/// Whether a stack of the finding has this line. How the threads and the memory came about does not count.
fn names(value: &Value, file: &str, line: u64) -> bool {
    match value {
        Value::Array(all) => all.iter().any(|value| names(value, file, line)),
        Value::Object(members) => {
            let is_here = value["line"] == line
                && value["file"].as_str().is_some_and(|at| at.ends_with(file));
            let below = members
                .iter()
                .filter(|(name, _)| !["created", "memory"].contains(&name.as_str()));
            is_here || below.into_iter().any(|(_, value)| names(value, file, line))
        }
        _ => false,
    }
}

fn programs() -> Vec<Program> {
    let root = tests_dir().join("data/suite");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    };
    let wanted = std::env::var("RSAN_SUITE").unwrap_or_default();
    let mut paths: Vec<_> = entries(&root)
        .iter()
        .flat_map(|area| entries(area))
        .collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.contains(&wanted)));
    paths.retain(|path| path.extension().is_none_or(|kind| kind != "h"));
    paths.sort();
    paths.into_iter().map(Program::read).collect()
}

/// How programs are compiled.
#[derive(Clone, Copy)]
struct Build {
    compiler: &'static str,
    flags: &'static [&'static str],
}

impl Build {
    /// Whether it has all that a program needs.
    fn can_build(self, program: &Program) -> bool {
        let mut command = Command::new(self.compiler);
        command.arg("-fsyntax-only").arg(&program.path);
        let output = command.args(&program.flags).args(self.flags).output();
        output.is_ok_and(|output| output.status.success())
    }
}

/// What is wrong with the programs, compiled by this compiler.
fn failures(compiler: &'static str) -> Vec<String> {
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("skipped: {compiler} is not installed");
        return Vec::new();
    }
    let flags = &[];
    failures_of(&programs(), Build { compiler, flags }, compiler)
}

fn failures_of(programs: &[Program], build: Build, by: &str) -> Vec<String> {
    let folder = scratch(&format!("suite-{by}"));
    std::fs::create_dir_all(&folder).expect("the scratch folder is writable");
    let (next, failures) = (Mutex::new(programs.iter()), Mutex::new(Vec::new()));
    let work = || {
        let take = || next.lock().expect("no panic").next();
        while let Some(program) = take() {
            let area = program.path.parent().and_then(Path::file_name);
            let (area, stem) = (area.expect("an area"), program.path.file_stem());
            let name = format!("{}-{}", area.display(), stem.expect("a name").display());
            let wrong = program.check(build, &format!("{folder}/{name}"));
            if !wrong.is_empty() {
                let text = format!("{name} by {by}: {wrong}");
                failures.lock().expect("no panic").push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    failures.into_inner().expect("no panic")
}

#[test]
fn programs_show_what_they_say_with_gcc() {
    let failures = failures("gcc");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn programs_show_what_they_say_with_clang() {
    let failures = failures("clang");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Correct programs that use the standard library, with that of LLVM. In wrong ones the mutexes inside libc++.so order more than
/// those of libstdc++: readers of a `std::shared_mutex`, for one.
#[test]
fn programs_show_what_they_say_with_libcxx() {
    let build = Build {
        compiler: "clang",
        flags: &["-stdlib=libc++"],
    };
    let mut programs = programs();
    programs.retain(|program| {
        let path = program.path.to_str();
        let is_standard = path.is_some_and(|path| path.contains("/standard/"));
        let wanted = is_standard && program.expected.is_empty();
        let possible = wanted && build.can_build(program);
        if wanted && !possible {
            eprintln!("skipped: libc++ for {}", program.path.display());
        }
        possible
    });
    let failures = failures_of(&programs, build, "libcxx");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
