//! A schedule: which thread made each step, as readable text.
//!
//! ```text
//! rsan schedule 1
//! @strategy pct:depth=3
//! @seed 17
//! # T0 creates both threads
//! T0: begin spawn*2
//! T2: begin store load
//! T1: begin store
//! ```
//!
//! A line is one thread's turn: the kinds of its operations, in order, `*n` for n equal ones. In a weak execution, `load<T1.3` reads
//! what T1 wrote in its step 3, counted from 0, and `load<initial` the initial value, where a later write could have been read; a
//! `compare!` fails although it finds what it expects. Lines with `@` are notes, a name
//! and a value, which this crate only keeps; `#` starts a comment. Objects are not named: addresses change from build to build.

mod read;

pub use read::{ParseError, Problem};

use crate::{Kind, ReadsFrom, Step};
use rsan_model::ThreadId;
use std::collections::BTreeMap;
use std::fmt;

/// One step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Planned {
    /// Who makes it.
    pub thread: ThreadId,
    /// What it is; a replay says when the program does something else.
    pub kind: Kind,
    /// Where its value comes from, in a weak execution.
    pub value: Value,
}

impl Planned {
    /// A step that reads the last write, if it reads.
    pub fn new(thread: ThreadId, kind: Kind) -> Self {
        let value = Value::Last;
        Self {
            thread,
            kind,
            value,
        }
    }
}

/// Where the value that a step reads comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Value {
    /// The last write that it may read.
    #[default]
    Last,
    /// An older write.
    Stale(Origin),
    /// The last write, and a compare-and-swap fails all the same.
    Spurious,
}

/// A write, named so that it has the same name in other schedules of the same threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// The initial value of the object.
    Initial,
    /// A step of a thread.
    Step {
        /// The thread.
        thread: ThreadId,
        /// How many steps it made before.
        number: u32,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initial => f.write_str(INITIAL),
            Self::Step { thread, number } => write!(f, "{thread}.{number}"),
        }
    }
}

impl fmt::Display for Planned {
    /// Without its thread.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Last => write!(f, "{}", self.kind),
            Value::Stale(origin) => write!(f, "{}<{origin}", self.kind),
            Value::Spurious => write!(f, "{}!", self.kind),
        }
    }
}

/// The initial value of an object, in a schedule file.
const INITIAL: &str = "initial";

/// Which thread made each step.
///
/// ```
/// use rsan_schedule::Schedule;
/// let text = "rsan schedule 1\n@seed 17\nT0: store load*2\nT1: load\n";
/// let schedule: Schedule = text.parse()?;
/// assert_eq!(schedule.len(), 4);
/// assert_eq!(schedule.switches(), 1);
/// assert_eq!(schedule.note("seed"), Some("17"));
/// assert_eq!(schedule.to_string(), text);
/// # Ok::<(), rsan_schedule::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    notes: Vec<(String, String)>,
    steps: Vec<Planned>,
}

impl Origin {
    /// The names of all steps of a run.
    pub fn of(trace: &[Step]) -> Vec<Self> {
        let mut made = BTreeMap::new();
        let name = |step: &Step| {
            let made = made.entry(step.thread).or_insert(0);
            let number = *made;
            *made += 1;
            let thread = step.thread;
            Self::Step { thread, number }
        };
        trace.iter().map(name).collect()
    }
}

impl Schedule {
    /// The schedule with these steps.
    pub fn new(steps: Vec<Planned>) -> Self {
        let notes = Vec::new();
        Self { notes, steps }
    }

    /// The schedule of a run.
    pub fn of(trace: &[Step]) -> Self {
        let origins = Origin::of(trace);
        let planned = |step: &Step| Planned {
            thread: step.thread,
            kind: step.op.kind,
            value: match step.from {
                _ if step.spurious => Value::Spurious,
                ReadsFrom::Initial if step.stale => Value::Stale(Origin::Initial),
                ReadsFrom::Step(from) if step.stale => {
                    let origin = origins.get(from as usize);
                    origin.map_or(Value::Last, |origin| Value::Stale(*origin))
                }
                _ => Value::Last,
            },
        };
        Self::new(trace.iter().map(planned).collect())
    }

    /// Number of reads that do not take the last write, and of failures without a reason.
    pub fn stale_reads(&self) -> usize {
        let stale = self.steps.iter().filter(|step| step.value != Value::Last);
        stale.count()
    }

    /// The steps.
    pub fn steps(&self) -> &[Planned] {
        &self.steps
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How often a step is made by another thread than the one before.
    pub fn switches(&self) -> usize {
        self.steps
            .windows(2)
            .filter(|w| w[0].thread != w[1].thread)
            .count()
    }

    /// A note's value.
    pub fn note(&self, name: &str) -> Option<&str> {
        let mut notes = self.notes.iter();
        notes.find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// All notes, in order.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notes.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// Adds a note, or replaces the one with this name. Line ends in the value become spaces; blanks around it are left out.
    ///
    /// # Panics
    /// When the name is not made of letters, digits and `-`.
    pub fn set_note(&mut self, name: &str, value: &str) {
        assert!(is_note_name(name), "a note's name is a word: {name:?}");
        let value = value.replace(['\n', '\r'], " ").trim().to_owned();
        match self.notes.iter_mut().find(|(n, _)| n == name) {
            Some(note) => note.1 = value,
            None => self.notes.push((name.to_owned(), value)),
        }
    }

    /// The turns: maximal runs of steps of one thread.
    pub fn turns(&self) -> impl Iterator<Item = &[Planned]> {
        self.steps.chunk_by(|a, b| a.thread == b.thread)
    }
}

/// First line of a schedule file.
const HEADER: &str = "rsan schedule 1";

fn is_note_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Lines are broken before they get longer than this, where that is possible.
const WIDTH: usize = 120;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        for (name, value) in &self.notes {
            match value.is_empty() {
                true => writeln!(f, "@{name}")?,
                false => writeln!(f, "@{name} {value}")?,
            }
        }
        for turn in self.turns() {
            let mut line = format!("{}:", turn[0].thread);
            for equal in turn.chunk_by(|a, b| a == b) {
                let word = match equal.len() {
                    1 => format!(" {}", equal[0]),
                    n => format!(" {}*{n}", equal[0]),
                };
                if line.len() + word.len() > WIDTH {
                    writeln!(f, "{line}")?;
                    line = format!("{}:", turn[0].thread);
                }
                line += &word;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn random_schedule(random: &mut Random) -> Schedule {
        let mut schedule = Schedule::default();
        let mut thread = ThreadId(0);
        for _ in 0..random.below(300) {
            if random.below(3) == 0 {
                thread = ThreadId(random.below(4) as u32);
            }
            let kind = Kind::from_number(random.below(16) as u8).expect("a kind");
            let origin = Origin::Step {
                thread: ThreadId(random.below(3) as u32),
                number: random.below(100) as u32,
            };
            let value = random.pick(&[
                Value::Last,
                Value::Last,
                Value::Stale(Origin::Initial),
                Value::Stale(origin),
                Value::Spurious,
            ]);
            let planned = Planned {
                thread,
                kind,
                value,
            };
            for _ in 0..=random.below(3) {
                schedule.steps.push(planned);
            }
        }
        for i in 0..random.below(4) {
            let value = ["", "17", "a b  c", " # no comment\n"][random.below(4)];
            schedule.set_note(&format!("note-{i}"), value);
        }
        schedule
    }

    #[test]
    fn schedules_survive_being_written_and_read() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let schedule = random_schedule(&mut random);
            let text = schedule.to_string();
            assert!(text.lines().all(|line| line.len() <= WIDTH));
            assert_eq!(text.parse(), Ok(schedule));
        }
    }

    #[test]
    fn switches_are_changes_of_thread() {
        let steps = |threads: &[u32]| {
            let planned = |&t: &u32| Planned::new(ThreadId(t), Kind::Load);
            Schedule::new(threads.iter().map(planned).collect())
        };
        assert_eq!(steps(&[]).switches(), 0);
        assert_eq!(steps(&[1]).switches(), 0);
        assert_eq!(steps(&[0, 0, 1, 0, 2, 2]).switches(), 3);
        assert_eq!(steps(&[0, 0, 1, 0, 2, 2]).turns().count(), 4);
    }
}
