//! Tests of Rust side by side: rsan, loom, shuttle and Miri on the same small tests, with a bug that only weak memory shows, and
//! without it. loom and shuttle run them with types of their own, rsan and Miri as they are.

use super::crates::{Built, Strategy};
use super::miri::Miri;
use super::ours::Ours;
use super::outcome::Outcome;
use super::programs::{Case, folder};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The tests, as `broken.rs` calls them; each has a twin that ends in `-fixed`.
pub(super) const TESTS: [&str; 7] = [
    "publication",
    "dekker",
    "unlock",
    "last-owner",
    "lazy",
    "torn-pair",
    "deque",
];

/// What is there, and how long it may take.
pub(super) struct Tools<'a> {
    pub(super) ours: &'a Ours,
    pub(super) loom: &'a Result<Built, String>,
    pub(super) shuttle: &'a Result<Built, String>,
    pub(super) miri: Result<Miri, String>,
    pub(super) limit: u64,
    pub(super) runs: usize,
}

/// What a tool says of a test: in words, and for how many executions, or why it is not there.
type Answer = Result<Outcome, String>;

impl Tools<'_> {
    /// The table, in Markdown.
    pub(super) fn table(&self, only: Option<&str>, work: &Path) -> Result<String, String> {
        let columns = [
            "`rsan check`",
            "`rsan check --exhaustive`",
            "loom",
            "shuttle, PCT",
            "Miri",
        ];
        let mut text = format!("| test | {} |\n", columns.join(" | "));
        let _ = writeln!(text, "| --- |{}", " --- |".repeat(columns.len()));
        let tests = TESTS
            .iter()
            .filter(|test| only.is_none_or(|o| test.contains(o)));
        for name in tests.flat_map(|test| [(*test).to_owned(), format!("{test}-fixed")]) {
            eprintln!("xtask: {name}");
            let case = Case {
                program: name,
                threads: 2,
                weak: true,
            };
            let cells: Vec<String> = self.ask(&case, work)?.iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} |", case.program, cells.join(" | "));
        }
        Ok(text)
    }

    /// All answers, in the order of the columns.
    fn ask(&self, case: &Case, work: &Path) -> Result<[Answer; 5], String> {
        let file = write(case, work)?;
        let of_crate = |built: &Result<Built, String>, strategy| match built {
            Ok(built) => built.explore(case, strategy),
            Err(why) => Err(why.clone()),
        };
        Ok([
            self.ours.free(&file),
            self.ours.exhaustive(&file, self.limit),
            of_crate(self.loom, Strategy::All(self.limit)),
            of_crate(self.shuttle, Strategy::Pct(self.runs)),
            match &self.miri {
                Ok(miri) => miri.run(case),
                Err(why) => Err(why.clone()),
            },
        ])
    }
}

/// One file for rsan.
fn write(case: &Case, work: &Path) -> Result<PathBuf, String> {
    let path = work.join(format!("{}.rs", case.program.replace('-', "_")));
    let module = |name: &str| {
        let file = folder().join(format!("{name}.rs"));
        format!("#[path = {file:?}]\n#[allow(dead_code, unused_imports)]\nmod {name};\n")
    };
    let text = format!(
        "{}{}\nfn main() {{\n    broken::named({:?}).unwrap()({});\n}}\n",
        module("broken"),
        module("shim"),
        case.program,
        case.threads
    );
    std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    Ok(path)
}

/// What it reports, executions, and seconds of CPU.
pub(super) fn cell(answer: &Answer) -> String {
    let outcome = match answer {
        Ok(outcome) => outcome,
        Err(_) => return "not there".to_owned(),
    };
    let says = match (&outcome.error, outcome.findings) {
        (_, Some(1)) => "1 finding".to_owned(),
        (_, Some(n)) if n > 1 => format!("{n} findings"),
        (Some(error), _) => format!("*{}*", short(error)),
        (None, _) if outcome.complete => "nothing, all executions".to_owned(),
        (None, _) => "nothing".to_owned(),
    };
    let executions = match outcome.executions {
        Some(executions) => format!("{} run", executions + outcome.others),
        None => "no run".to_owned(),
    };
    let plural = if executions.starts_with("1 ") {
        ""
    } else {
        "s"
    };
    format!("{says}; {executions}{plural}, {:.2} s", outcome.cost.cpu)
}

/// The beginning of a message.
fn short(message: &str) -> String {
    let message = message.replace('|', "/");
    match message.char_indices().nth(48) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}
