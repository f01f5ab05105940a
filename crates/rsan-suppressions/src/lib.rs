//! Findings that a user does not want to see: a file of lines `kind:pattern`, as ThreadSanitizer takes it.
//!
//! A pattern is looked for in the names of functions, files and modules in the stacks of a finding. It may stand anywhere in
//! a name unless it begins with `^` or ends with `$`; `*` stands for any text. Empty lines and lines that begin with
//! `#` say nothing.
//!
//! Reads no file and knows no finding: whoever has one says what its stacks are.

mod pattern;

use pattern::Pattern;
use std::fmt::Write as _;

/// What a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A data race.
    Race,
    /// An access that can be weak.
    Robustness,
    /// Memory that is used after its end.
    Memory,
    /// A lock or the like that is used wrongly.
    Lock,
    /// Threads that wait for ever, or locks taken in orders that can lead to that.
    Deadlock,
    /// A thread that nobody joins.
    Thread,
}

/// A frame of a stack; what is not known is left out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The function.
    pub function: Option<&'a str>,
    /// The source file.
    pub file: Option<&'a str>,
    /// The program or library.
    pub module: Option<&'a str>,
}

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Data races, and memory that is used after its end, as in ThreadSanitizer.
    Race,
    /// The same with a match in the innermost frame of a stack.
    RaceTop,
    /// Accesses that can be weak.
    Robustness,
    /// Locks and the like that are used wrongly.
    Mutex,
    /// Deadlocks, and lock orders that can lead to one.
    Deadlock,
    /// Threads that nobody joins.
    Thread,
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
            "mutex" => Some(Self::Mutex),
            "deadlock" => Some(Self::Deadlock),
            "thread" => Some(Self::Thread),
            "signal" => Some(Self::Foreign),
            _ => None,
        }
    }
}

/// A line.
#[derive(PartialEq, Eq, Debug)]
pub struct Suppression {
    line: usize,
    kind: Kind,
    pattern: Pattern,
}

impl Suppression {
    /// Its place in the file, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Whether it can match anything that rsan reports.
    pub fn is_ours(&self) -> bool {
        self.kind != Kind::Foreign
    }

    /// Whether it matches a finding with these stacks, each innermost frame first.
    pub fn matches(&self, subject: Subject, stacks: &[Vec<Frame<'_>>]) -> bool {
        let mut all = stacks.iter().flatten();
        let race = matches!(subject, Subject::Race | Subject::Memory);
        let mut anywhere =
            |is_meant: bool| is_meant && all.any(|frame| self.source(frame) || self.module(frame));
        match self.kind {
            Kind::Race => anywhere(race),
            Kind::Robustness => anywhere(subject == Subject::Robustness),
            Kind::Mutex => anywhere(subject == Subject::Lock),
            Kind::Deadlock => anywhere(subject == Subject::Deadlock),
            Kind::Thread => anywhere(subject == Subject::Thread),
            Kind::RaceTop => {
                let mut tops = stacks.iter().filter_map(|stack| stack.first());
                race && tops.any(|frame| self.source(frame))
            }
            Kind::Library => all.any(|frame| self.module(frame)),
            Kind::Foreign => false,
        }
    }

    fn source(&self, frame: &Frame<'_>) -> bool {
        let mut names = [frame.function, frame.file].into_iter().flatten();
        names.any(|name| self.pattern.matches(name))
    }

    fn module(&self, frame: &Frame<'_>) -> bool {
        frame.module.is_some_and(|name| self.pattern.matches(name))
    }
}

/// Reads the text of a file.
///
/// # Errors
/// Everything that is wrong, one line `file:line: message` each.
pub fn parse(file: &str, text: &str) -> Result<Vec<Suppression>, String> {
    let (mut all, mut wrong) = (Vec::new(), String::new());
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match suppression(line, text) {
            Ok(suppression) => all.push(suppression),
            Err(message) => {
                let newline = if wrong.is_empty() { "" } else { "\n" };
                let _ = write!(wrong, "{newline}{file}:{line}: {message}");
            }
        }
    }
    if wrong.is_empty() {
        Ok(all)
    } else {
        Err(wrong)
    }
}

fn suppression(line: usize, text: &str) -> Result<Suppression, String> {
    let (kind, pattern) = text
        .split_once(':')
        .ok_or("expected kind:pattern, such as race:function")?;
    let kind = Kind::named(kind).ok_or_else(|| {
        format!(
            "no kind '{kind}'; there are race, race_top, robustness, mutex, deadlock, thread and called_from_lib"
        )
    })?;
    if pattern.trim_matches(['^', '$']).is_empty() {
        return Err("the pattern is empty; * matches everything".to_owned());
    }
    Ok(Suppression {
        line,
        kind,
        pattern: Pattern::new(pattern),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_or_all_of_its_errors_are_told() {
        let read = parse(
            "f",
            "# ours\n\nrace:a\n  robustness:^b$  \nmutex:c\nsignal:d\n",
        )
        .expect("a good file");
        let lines: Vec<_> = read.iter().map(|s| (s.line(), s.is_ours())).collect();
        assert_eq!(lines, [(3, true), (4, true), (5, true), (6, false)]);
        let wrong = parse("f", "race:a\nrace\nraces:b\nrace:\n");
        assert_eq!(
            wrong.expect_err("a bad file"),
            "f:2: expected kind:pattern, such as race:function\n\
             f:3: no kind 'races'; there are race, race_top, robustness, mutex, deadlock, thread and called_from_lib\n\
             f:4: the pattern is empty; * matches everything"
        );
    }

    #[test]
    fn deadlocks_and_threads_have_kinds_of_their_own() {
        let stack = vec![Frame {
            function: Some("work"),
            ..Frame::default()
        }];
        let subjects = [Subject::Lock, Subject::Deadlock, Subject::Thread];
        let matches = |line: &str| {
            let all = parse("f", line).expect("a good line");
            subjects.map(|subject| all[0].matches(subject, std::slice::from_ref(&stack)))
        };
        assert_eq!(matches("deadlock:work"), [false, true, false]);
        assert_eq!(matches("thread:work"), [false, false, true]);
        assert_eq!(matches("thread:other"), [false; 3]);
    }

    #[test]
    fn a_kind_decides_where_its_pattern_is_looked_for() {
        let frame = |function, file, module| Frame {
            function: Some(function),
            file: Some(file),
            module: Some(module),
        };
        let stacks = [
            vec![
                frame("top", "a.c", "/lib/x.so"),
                frame("below", "b.c", "/prog"),
            ],
            vec![frame("other", "c.c", "/prog")],
            Vec::new(),
        ];
        let matches = |line: &str, subject| {
            let all = parse("f", line).expect("a good line");
            all[0].matches(subject, &stacks)
        };
        for (line, race, weak, lock) in [
            ("race:below", true, false, false),
            ("race:c.c", true, false, false),
            ("race:x.so", true, false, false),
            ("race:absent", false, false, false),
            ("robustness:below", false, true, false),
            ("robustness:/prog$", false, true, false),
            ("race_top:top", true, false, false),
            ("race_top:c.c", true, false, false),
            ("race_top:below", false, false, false),
            ("race_top:x.so", false, false, false),
            ("called_from_lib:x.so", true, true, true),
            ("called_from_lib:below", false, false, false),
            ("mutex:below", false, false, true),
            ("mutex:absent", false, false, false),
            ("signal:below", false, false, false),
        ] {
            let found = [
                Subject::Race,
                Subject::Memory,
                Subject::Robustness,
                Subject::Lock,
            ];
            let others = [Subject::Deadlock, Subject::Thread];
            let others = others.map(|subject| matches(line, subject));
            let found = found.map(|subject| matches(line, subject));
            assert_eq!(found, [race, race, weak, lock], "{line}");
            let everything = race && weak && lock;
            assert_eq!(others, [everything; 2], "{line}");
        }
    }
}
