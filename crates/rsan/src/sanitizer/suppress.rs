//! Suppressions: findings that the user does not want to see, by a file of lines `kind:pattern` as ThreadSanitizer takes it.
//!
//! A pattern is looked for in the functions, files and modules of the stacks of a finding. It may stand anywhere in such a
//! name unless it begins with `^` or ends with `$`; `*` stands for any text. Empty lines and lines that begin with `#` say
//! nothing.

use super::findings::Finding;
use super::symbols::Frame;
use std::fmt::Write as _;
use std::path::Path;

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Data races.
    Race,
    /// Data races with a match in the innermost frame of a stack.
    RaceTop,
    /// Accesses that can be weak.
    Robustness,
    /// Findings with a match among the modules.
    Library,
    /// What ThreadSanitizer knows and rsan never reports.
    Foreign,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        match name {
            "race" => Some(Self::Race),
            "race_top" => Some(Self::RaceTop),
            "robustness" => Some(Self::Robustness),
            "called_from_lib" => Some(Self::Library),
            "thread" | "mutex" | "deadlock" | "signal" => Some(Self::Foreign),
            _ => None,
        }
    }
}

/// A text with gaps.
#[derive(PartialEq, Eq, Debug)]
struct Pattern {
    /// Whether the text begins with the first part.
    start: bool,
    /// Whether it ends with the last one.
    end: bool,
    parts: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (start, text) = text
            .strip_prefix('^')
            .map_or((false, text), |rest| (true, rest));
        let (end, text) = text
            .strip_suffix('$')
            .map_or((false, text), |rest| (true, rest));
        Self {
            start,
            end,
            parts: text.split('*').map(str::to_owned).collect(),
        }
    }

    fn matches(&self, mut text: &str) -> bool {
        for (index, part) in self.parts.iter().enumerate() {
            let first = self.start && index == 0;
            let last = self.end && index + 1 == self.parts.len();
            let rest = match (first, last) {
                (true, true) => return text == part,
                (false, true) => return text.ends_with(part),
                (true, false) => text.strip_prefix(part.as_str()),
                (false, false) => text.split_once(part.as_str()).map(|(_, rest)| rest),
            };
            match rest {
                Some(rest) => text = rest,
                None => return false,
            }
        }
        true
    }
}

#[derive(Debug)]
struct Row {
    line: usize,
    kind: Kind,
    pattern: Pattern,
    matched: bool,
}

impl Row {
    fn matches(&self, finding: &Finding) -> bool {
        let race = finding.is_race();
        let stacks = || finding.stacks();
        let anywhere = || {
            stacks()
                .flatten()
                .any(|frame| self.function(frame) || self.module(frame))
        };
        match self.kind {
            Kind::Race => race && anywhere(),
            Kind::Robustness => !race && anywhere(),
            Kind::RaceTop => {
                let mut tops = stacks().filter_map(<[Frame]>::first);
                race && tops.any(|frame| self.function(frame))
            }
            Kind::Library => stacks().flatten().any(|frame| self.module(frame)),
            Kind::Foreign => false,
        }
    }

    fn function(&self, frame: &Frame) -> bool {
        let names = [&frame.function, &frame.file];
        names.into_iter().flatten().any(|n| self.pattern.matches(n))
    }

    fn module(&self, frame: &Frame) -> bool {
        let module = frame.module.as_ref();
        module.is_some_and(|module| self.pattern.matches(module))
    }
}

/// The suppressions of a file.
#[derive(Default, Debug)]
pub(crate) struct Suppressions {
    file: String,
    rows: Vec<Row>,
}

impl Suppressions {
    /// Reads a file.
    ///
    /// # Errors
    /// The message for the user, with the place of everything that is wrong.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        Self::parse(&name, &text)
    }

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let (mut rows, mut wrong) = (Vec::new(), String::new());
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match row(line, line_number) {
                Ok(row) => rows.push(row),
                Err(message) => {
                    let newline = if wrong.is_empty() { "" } else { "\nerror: " };
                    let _ = write!(wrong, "{newline}{file}:{line_number}: {message}");
                }
            }
        }
        if wrong.is_empty() {
            let file = file.to_owned();
            Ok(Self { file, rows })
        } else {
            Err(wrong)
        }
    }

    /// Whether a finding is suppressed.
    pub(crate) fn suppresses(&self, finding: &Finding) -> bool {
        self.rows.iter().any(|row| row.matches(finding))
    }

    /// Takes the suppressed findings out, and returns how many they are.
    pub(crate) fn apply(&mut self, findings: &mut Vec<Finding>) -> usize {
        let before = findings.len();
        findings.retain(|finding| {
            let mut suppressed = false;
            for row in &mut self.rows {
                let matches = row.matches(finding);
                row.matched |= matches;
                suppressed |= matches;
            }
            !suppressed
        });
        before - findings.len()
    }

    /// The places of the lines that matched nothing so far.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = |row: &&Row| !row.matched && row.kind != Kind::Foreign;
        let rows = self.rows.iter().filter(unused);
        rows.map(|row| format!("{}:{}", self.file, row.line))
            .collect()
    }
}

fn row(text: &str, line: usize) -> Result<Row, String> {
    let (kind, pattern) = text
        .split_once(':')
        .ok_or("expected kind:pattern, such as race:function")?;
    let kind = Kind::named(kind).ok_or_else(|| {
        format!("no kind '{kind}'; there are race, race_top, robustness and called_from_lib")
    })?;
    if pattern.trim_matches(['^', '$']).is_empty() {
        return Err("the pattern is empty; * matches everything".to_owned());
    }
    Ok(Row {
        line,
        kind,
        pattern: Pattern::new(pattern),
        matched: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_those_of_the_thread_sanitizer() {
        for (pattern, text, expected) in [
            ("foo", "a::foo(int)", true),
            ("foo", "a::fo", false),
            ("^foo", "foobar", true),
            ("^foo", "a::foo", false),
            ("foo$", "a::foo", true),
            ("foo$", "foobar", false),
            ("^foo$", "foo", true),
            ("a*c", "xabcx", true),
            ("a*c", "xcba", false),
            ("^lib*.so$", "libx.so", true),
            ("^lib*.so$", "libx.so.1", false),
            ("*", "", true),
            ("a*a$", "a", false),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_file_is_read_or_all_of_its_errors_are_told() {
        let read = Suppressions::parse("f", "# ours\n\nrace:a\n  robustness:^b$  \nmutex:c\n");
        let read = read.expect("a good file");
        assert_eq!(read.rows.len(), 3);
        assert_eq!(read.unused(), ["f:3", "f:4"]);
        let wrong = Suppressions::parse("f", "race:a\nrace\nraces:b\nrace:\n");
        assert_eq!(
            wrong.expect_err("a bad file"),
            "f:2: expected kind:pattern, such as race:function\n\
             error: f:3: no kind 'races'; there are race, race_top, robustness and called_from_lib\n\
             error: f:4: the pattern is empty; * matches everything"
        );
    }
}
