//! Running the built command and comparing what it prints.

use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The `tests` folder of this crate.
pub(crate) fn tests_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command, to be run in `dir` without anything inherited that changes its output.
pub(crate) fn rsan(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rsan"));
    command.current_dir(dir).env_remove("NO_COLOR");
    for name in ["RSAN_OPTIONS", "TSAN_OPTIONS", "RSAN_CC", "RSAN_CXX"] {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", scratch("cache"));
    command
}

/// What a run printed and how it ended.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            code: output.status.code().expect("the command was not killed"),
        }
    }
}

/// Runs the command on files of `tests/data`.
pub(crate) fn run(args: &[&str]) -> Run {
    let mut command = rsan(&tests_dir().join("data"));
    command.args(args).output().expect("rsan starts").into()
}

/// Whether goldens are to be rewritten rather than compared.
pub(crate) fn blessing() -> bool {
    std::env::var_os("RSAN_BLESS").is_some()
}

/// The text with what a clock or an allocator decides replaced by `_`.
pub(crate) fn blank_times(text: &str) -> String {
    text.split_inclusive('\n')
        .map(blank_times_of_line)
        .collect()
}

/// The same, and the figures of a search too: they change whenever the search becomes cleverer.
pub(crate) fn normalise(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let line = blank_times_of_line(line);
            let line = ["states\": ", "transitions\": ", "depth\": ", ", depth "]
                .iter()
                .fold(line, |line, key| blank_after(&line, key));
            [" states", " state,", " transitions", " transition,"]
                .iter()
                .fold(line, |line, unit| blank_before(&line, unit))
                .replace("_ state,", "_ states,")
                .replace("_ transition,", "_ transitions,")
        })
        .collect()
}

fn blank_times_of_line(line: &str) -> String {
    if let Some(rest) = line.strip_prefix("Time ") {
        let name = rest.rsplit_once(' ').map_or("", |(name, _)| name);
        return format!("Time {name} _\n");
    }
    let line = [
        "\"seconds\": ",
        "\"runs_per_second\": ",
        "\"memory_bytes\": ",
    ]
    .iter()
    .fold(line.to_owned(), |line, key| blank_after(&line, key));
    let line = [" s)", " s;", " s\n"]
        .iter()
        .fold(line, |line, unit| blank_before(&line, unit));
    ["B", "KiB", "MiB", "GiB"].iter().fold(line, |line, unit| {
        let unit = format!(" {unit} of states");
        blank_before(&line, &unit).replace(&format!("_{unit}"), "_ B of states")
    })
}

/// Replaces the number right after `key`.
fn blank_after(line: &str, key: &str) -> String {
    let Some(at) = line.find(key) else {
        return line.to_owned();
    };
    let (head, tail) = line.split_at(at + key.len());
    let rest = tail.trim_start_matches(|c| is_number(c) && c != ',');
    if rest.len() == tail.len() {
        return line.to_owned();
    }
    format!("{head}_{rest}")
}

/// Replaces the number right before `unit`.
fn blank_before(line: &str, unit: &str) -> String {
    let Some(at) = line.find(unit) else {
        return line.to_owned();
    };
    let (head, tail) = line.split_at(at);
    let kept = head.trim_end_matches(is_number);
    if kept.len() == head.len() {
        return line.to_owned();
    }
    format!("{kept}_{tail}")
}

fn is_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | '-')
}

/// Compares with a golden file, or writes it when blessing.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = tests_dir().join("golden").join(name);
    if blessing() {
        std::fs::write(&path, actual).expect("the golden can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs; RSAN_BLESS=1 rewrites it\n{}",
        TextDiff::from_lines(&expected, actual)
            .unified_diff()
            .header("expected", "actual")
    );
}

/// A path for a file that a test writes, in Cargo's own scratch folder.
pub(crate) fn scratch(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    path.to_str().expect("the path is UTF-8").to_owned()
}
