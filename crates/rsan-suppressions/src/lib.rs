//! Findings that a user does not want to see: a file of lines `kind:pattern`, as ThreadSanitizer takes it.
//!
//! A pattern is looked for in the names of functions, files and modules in the stacks of a finding, and in that of the
//! variable. It may stand anywhere in a name unless it begins with `^` or ends with `$`; `*` stands for any text. Empty lines and lines that begin with
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
    /// Threads that wait for each other, or that could.
    Deadlock,
    /// A thread that nobody waits for.
    Thread,
    /// A signal handler that does what it must not.
    Signal,
}

impl Subject {
    /// That of a finding by its name, as in a JSON document.
    pub fn of_kind(kind: &str) -> Self {
        match kind {
            "data-race" | "descriptor-race" => Self::Race,
            "weak-behaviour" => Self::Robustness,
            "lock-misuse" => Self::Lock,
            "deadlock" | "lock-order-inversion" => Self::Deadlock,
            "thread-leak" => Self::Thread,
            "signal-unsafe-call" | "signal-errno" => Self::Signal,
            _ => Self::Memory,
        }
    }
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
    /// Deadlocks, and locks that are taken in different orders.
    Deadlock,
    /// Threads that nobody waits for.
    Thread,
    /// Signal handlers that do what they must not.
    Signal,
    /// Findings with a match among the modules.
    Library,
}

/// Their names.
const KINDS: &str =
    "race, race_top, robustness, mutex, deadlock, thread, signal and called_from_lib";

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
            "signal" => Some(Self::Signal),
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

    /// Whether it matches a finding with these stacks, each innermost frame first, that is about this variable.
    pub fn matches(
        &self,
        subject: Subject,
        stacks: &[Vec<Frame<'_>>],
        variable: Option<&str>,
    ) -> bool {
        let mut all = stacks.iter().flatten();
        let race = matches!(subject, Subject::Race | Subject::Memory);
        let is_variable = || variable.is_some_and(|name| self.pattern.matches(name));
        let mut anywhere = |is_meant: bool| {
            let mut in_stacks = || all.any(|frame| self.source(frame) || self.module(frame));
            is_meant && (in_stacks() || is_variable())
        };
        match self.kind {
            Kind::Race => anywhere(race),
            Kind::Robustness => anywhere(subject == Subject::Robustness),
            Kind::Mutex => anywhere(subject == Subject::Lock),
            Kind::Deadlock => anywhere(subject == Subject::Deadlock),
            Kind::Thread => anywhere(subject == Subject::Thread),
            Kind::Signal => anywhere(subject == Subject::Signal),
            Kind::RaceTop => {
                let mut tops = stacks.iter().flat_map(|stack| innermost(stack));
                race && tops.any(|frame| self.source(frame))
            }
            Kind::Library => all.any(|frame| self.module(frame)),
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

/// The innermost frame of a stack; if that is only the name of a function of libc, the one that calls it, too.
fn innermost<'a, 'b>(stack: &'a [Frame<'b>]) -> &'a [Frame<'b>] {
    let is_name = |frame: &Frame<'_>| frame.file.is_none() && frame.module.is_none();
    let names = stack.iter().take_while(|frame| is_name(frame)).count();
    &stack[..stack.len().min(names + 1)]
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
    let kind = Kind::named(kind).ok_or_else(|| format!("no kind '{kind}'; there are {KINDS}"))?;
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
        let text = "# ours\n\nrace:a\n  robustness:^b$  \nmutex:c\nsignal:d\n";
        let read = parse("f", text).expect("a good file");
        let lines: Vec<_> = read.iter().map(Suppression::line).collect();
        assert_eq!(lines, [3, 4, 5, 6]);
        let wrong = parse("f", "race:a\nrace\nraces:b\nrace:\n");
        assert_eq!(
            wrong.expect_err("a bad file"),
            "f:2: expected kind:pattern, such as race:function\n\
             f:3: no kind 'races'; there are race, race_top, robustness, mutex, deadlock, thread, signal and called_from_lib\n\
             f:4: the pattern is empty; * matches everything"
        );
    }

    /// The subjects that a line matches, of a finding about the variable `queue.head`.
    fn matched(line: &str) -> Vec<Subject> {
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
        let all = parse("f", line).expect("a good line");
        let is_matched = |subject: &Subject| all[0].matches(*subject, &stacks, Some("queue.head"));
        ALL.into_iter().filter(is_matched).collect()
    }

    #[test]
    fn the_caller_of_a_function_of_libc_is_innermost_too() {
        let named = |function| Frame {
            function: Some(function),
            ..Frame::default()
        };
        let frame = |function| Frame {
            module: Some("/prog"),
            ..named(function)
        };
        let stacks = [vec![named("memcpy"), frame("copies"), frame("main")]];
        let matches = |line| {
            let all = parse("f", line).expect("a good line");
            all[0].matches(Subject::Race, &stacks, None)
        };
        assert!(matches("race_top:memcpy") && matches("race_top:copies"));
        assert!(!matches("race_top:main"));
    }

    const ALL: [Subject; 7] = [
        Subject::Race,
        Subject::Robustness,
        Subject::Memory,
        Subject::Lock,
        Subject::Deadlock,
        Subject::Thread,
        Subject::Signal,
    ];

    #[test]
    fn a_kind_decides_where_its_pattern_is_looked_for() {
        let races = [Subject::Race, Subject::Memory];
        for (line, expected) in [
            ("race:below", &races[..]),
            ("race:c.c", &races),
            ("race:x.so", &races),
            ("race:^queue", &races),
            ("race:absent", &[]),
            ("robustness:below", &[Subject::Robustness]),
            ("robustness:/prog$", &[Subject::Robustness]),
            ("robustness:queue.head", &[Subject::Robustness]),
            ("race_top:top", &races),
            ("race_top:c.c", &races),
            ("race_top:below", &[]),
            ("race_top:x.so", &[]),
            ("race_top:queue", &[]),
            ("called_from_lib:x.so", &ALL),
            ("called_from_lib:below", &[]),
            ("mutex:below", &[Subject::Lock]),
            ("mutex:queue", &[Subject::Lock]),
            ("mutex:absent", &[]),
            ("deadlock:top", &[Subject::Deadlock]),
            ("thread:other", &[Subject::Thread]),
            ("signal:below", &[Subject::Signal]),
            ("signal:absent", &[]),
        ] {
            assert_eq!(matched(line), expected, "{line}");
        }
    }

    #[test]
    fn findings_have_their_subjects_by_name() {
        for (kind, subject) in [
            ("data-race", Subject::Race),
            ("descriptor-race", Subject::Race),
            ("weak-behaviour", Subject::Robustness),
            ("use-after-free", Subject::Memory),
            ("lock-misuse", Subject::Lock),
            ("lock-order-inversion", Subject::Deadlock),
            ("deadlock", Subject::Deadlock),
            ("thread-leak", Subject::Thread),
            ("signal-unsafe-call", Subject::Signal),
            ("signal-errno", Subject::Signal),
        ] {
            assert_eq!(Subject::of_kind(kind), subject, "{kind}");
        }
    }
}
