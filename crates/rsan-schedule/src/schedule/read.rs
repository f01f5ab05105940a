//! The reader of schedule files.

use super::{HEADER, INITIAL, Origin, Planned, Schedule, Value, is_note_name};
use crate::Kind;
use rsan_model::ThreadId;
use std::fmt;
use std::str::FromStr;

/// Why a text is no schedule, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a schedule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The first line is not `rsan schedule 1`.
    Header,
    /// A line that starts neither with a thread (`T0:`) nor with `@` or `#`.
    Thread(String),
    /// No write like `T1.3` or `initial` stands behind `<`.
    Write(String),
    /// No operation has this name.
    Kind(String),
    /// What stands behind `*` is no number from 1 to [`Problem::MOST`].
    Count(String),
    /// `@` without a name made of letters, digits and `-`.
    Note(String),
    /// The note is there already.
    NoteTwice(String),
    /// The schedule has more steps than [`Problem::MOST`].
    TooLong,
}

impl Problem {
    /// Most steps of a schedule that is read.
    pub const MOST: usize = 10_000_000;
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        match &self.problem {
            Problem::Header => write!(f, "a schedule starts with the line `{HEADER}`"),
            Problem::Thread(found) => write!(f, "`{found}` is no thread like `T0:`"),
            Problem::Write(found) => {
                write!(f, "`{found}` is no write like `T1.3` or `{INITIAL}`")
            }
            Problem::Kind(found) => {
                let known: Vec<&str> = Kind::all().map(Kind::name).collect();
                write!(f, "no operation is called `{found}` (known: ")?;
                write!(f, "{})", known.join(", "))
            }
            Problem::Count(found) => {
                write!(f, "`{found}` is no number from 1 to {}", Problem::MOST)
            }
            Problem::Note(found) => write!(f, "`@{found}` is no note like `@seed 17`"),
            Problem::NoteTwice(name) => write!(f, "`@{name}` is there already"),
            Problem::TooLong => write!(f, "more than {} steps", Problem::MOST),
        }
    }
}

impl std::error::Error for ParseError {}

/// A word of a line, and the byte where it starts.
type Word<'t> = (usize, &'t str);

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut schedule = Self::default();
        let mut lines = text.lines().zip(1..);
        let header = lines.next().is_some_and(|(line, _)| line.trim() == HEADER);
        if !header {
            return Err(ParseError {
                line: 1,
                column: 1,
                problem: Problem::Header,
            });
        }
        for (line, number) in lines {
            schedule.line(line).map_err(|(at, problem)| ParseError {
                line: number,
                column: line[..at].chars().count() + 1,
                problem,
            })?;
        }
        Ok(schedule)
    }
}

impl Schedule {
    /// Reads a line; an error has the byte where it is.
    fn line(&mut self, line: &str) -> Result<(), (usize, Problem)> {
        let start = line.len() - line.trim_start().len();
        let rest = &line[start..];
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(());
        }
        match rest.strip_prefix('@') {
            Some(note) => self.read_note(note).map_err(|problem| (start, problem)),
            None => self.read_turn(line),
        }
    }

    fn read_note(&mut self, note: &str) -> Result<(), Problem> {
        let (name, value) = note.split_once(char::is_whitespace).unwrap_or((note, ""));
        if !is_note_name(name) {
            return Err(Problem::Note(name.to_owned()));
        }
        if self.note(name).is_some() {
            return Err(Problem::NoteTwice(name.to_owned()));
        }
        self.set_note(name, value);
        Ok(())
    }

    fn read_turn(&mut self, line: &str) -> Result<(), (usize, Problem)> {
        let code = line.split('#').next().unwrap_or_default();
        let mut words = words(code);
        let (at, first) = words.next().expect("the line is not blank");
        let thread = first.strip_suffix(':').and_then(thread);
        let thread = thread.ok_or_else(|| (at, Problem::Thread(first.to_owned())))?;
        for (at, word) in words {
            let (word, count) = word.split_once('*').unwrap_or((word, "1"));
            let (name, value) = value(word).map_err(|(inside, problem)| (at + inside, problem))?;
            let kind = Kind::from_name(name).ok_or_else(|| (at, Problem::Kind(name.to_owned())))?;
            let count: usize = count
                .parse()
                .ok()
                .filter(|n| (1..=Problem::MOST).contains(n))
                .ok_or_else(|| (at + word.len() + 1, Problem::Count(count.to_owned())))?;
            if self.steps.len() + count > Problem::MOST {
                return Err((at, Problem::TooLong));
            }
            let planned = Planned {
                thread,
                kind,
                value,
            };
            self.steps.extend(std::iter::repeat_n(planned, count));
        }
        Ok(())
    }
}

/// A thread like `T1`.
fn thread(word: &str) -> Option<ThreadId> {
    word.strip_prefix('T')?.parse().ok().map(ThreadId)
}

/// An operation's name, and where its value comes from; an error has the byte where it is.
fn value(word: &str) -> Result<(&str, Value), (usize, Problem)> {
    if let Some(name) = word.strip_suffix('!') {
        return Ok((name, Value::Spurious));
    }
    let Some((name, write)) = word.split_once('<') else {
        return Ok((word, Value::Last));
    };
    let step = || {
        let (writer, number) = write.split_once('.')?;
        let (thread, number) = (thread(writer)?, number.parse().ok()?);
        Some(Origin::Step { thread, number })
    };
    let origin = match write {
        INITIAL => Some(Origin::Initial),
        _ => step(),
    };
    let problem = || (name.len() + 1, Problem::Write(write.to_owned()));
    Ok((name, Value::Stale(origin.ok_or_else(problem)?)))
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_whitespace()
        .map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let parsed = text.parse::<Schedule>();
        parsed.expect_err("an error").to_string()
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(
            error(""),
            "1:1: a schedule starts with the line `rsan schedule 1`"
        );
        let error = |line: &str| error(&format!("rsan schedule 1\n\n{line}\n"));
        assert_eq!(error("load"), "3:1: `load` is no thread like `T0:`");
        assert_eq!(error("  T0 load"), "3:3: `T0` is no thread like `T0:`");
        assert!(
            error("T0: store lod").starts_with("3:11: no operation is called `lod` (known: begin,")
        );
        assert_eq!(
            error("T0: load*0"),
            "3:10: `0` is no number from 1 to 10000000"
        );
        assert_eq!(
            error("T0: load*"),
            "3:10: `` is no number from 1 to 10000000"
        );
        assert_eq!(
            error("T0: load<T1"),
            "3:10: `T1` is no write like `T1.3` or `initial`"
        );
        assert_eq!(error(" @ 3"), "3:2: `@` is no note like `@seed 17`");
        assert_eq!(error("@a\n @a"), "4:2: `@a` is there already");
        assert_eq!(
            error("T0: load*10000000 load"),
            "3:19: more than 10000000 steps"
        );
    }

    #[test]
    fn comments_and_blanks_do_not_count() {
        let text = " rsan schedule 1\r\n\n # T9: x\n T0: load # store\n@name  a # b \n";
        let schedule: Schedule = text.parse().expect("a schedule");
        assert_eq!(
            schedule.to_string(),
            "rsan schedule 1\n@name a # b\nT0: load\n"
        );
    }
}
