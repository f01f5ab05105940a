//! An exploration as text, so that it can be stopped and gone on with.
//!
//! ```text
//! rsan exploration 2
//! bounds roots=1 runs=- steps=- preemptions=-
//! counts executions=3 blocked=0 excess=0 cut=0 failed=0 diverged=0 preempted=0 irregular=0 limited=0 mixed=0
//! share 3fe0000000000000
//! graph weight=3fd0000000000000 now=7 guessed=- open=2,4
//! event thread=0 kind=store object=- rf=- flags=w wrote=1 expected=0 added=3,4 peer=- unready=0
//! run event=7 write=0
//! object initial=0 uniform=1
//! slot event=3 write=0 count=2 weight=3fd0000000000000
//! choice kind=source rf=init read=- after=- flags= wrote=- unready=0 weight=3fc0000000000000
//! event thread=0 kind=store object=0 rf=- flags=w wrote=1 expected=0 added=3,4 peer=- unready=0
//! ```
//!
//! A `graph` is a plan; a `run` has been made, and what is left of its alternatives follows.
//! Weights are the bits of floating-point numbers: what is read is what was written.

mod run;

use super::graph::{Event, INIT, NONE};
use super::item::Item;
use super::{Bounds, Counts, Explorer, Unready, Waiting};
use crate::Kind;
use std::fmt::{self, Write as _};

/// First line.
const HEADER: &str = "rsan exploration 2";

/// Why a text is no exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    /// The line, from 1.
    pub line: usize,
    /// What should be there.
    pub expected: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl std::error::Error for LoadError {}

impl Explorer {
    /// The exploration as text. Jobs that are being made have to be made again by who loads it.
    pub fn save(&self) -> String {
        let mut text = format!("{HEADER}\n");
        let optional = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
        let bounds = &self.bounds;
        let preemptions = optional(bounds.preemptions.map(|n| n as u64));
        let _ = writeln!(
            text,
            "bounds roots={} runs={} steps={} preemptions={preemptions}",
            bounds.roots,
            optional(bounds.runs),
            optional(bounds.steps.map(u64::from)),
        );
        text += "counts";
        for (name, n) in named(&self.counts) {
            let _ = write!(text, " {name}={n}");
        }
        let _ = writeln!(text, "\nshare {:016x}", self.share.to_bits());
        for waiting in &self.waiting {
            match waiting {
                Waiting::Plan(item) => write_item(&mut text, item),
                Waiting::Branches(branches) => run::write(&mut text, branches),
            }
        }
        for item in self.running.values() {
            write_item(&mut text, item);
        }
        text
    }

    /// The exploration that was saved as this text.
    ///
    /// # Errors
    /// When the text is no exploration.
    pub fn load(text: &str) -> Result<Self, LoadError> {
        let mut lines = Lines::new(text);
        lines.header()?;
        let bounds = lines.fields("bounds", |f| {
            Some(Bounds {
                roots: f.number("roots")?,
                runs: f.optional("runs")?,
                steps: f.optional("steps")?,
                preemptions: f.optional("preemptions")?,
            })
        })?;
        let counts = lines.fields("counts", |f| {
            Some(Counts {
                executions: f.number("executions")?,
                blocked: f.number("blocked")?,
                excess: f.number("excess")?,
                cut: f.number("cut")?,
                failed: f.number("failed")?,
                diverged: f.number("diverged")?,
                preempted: f.number("preempted")?,
                irregular: f.number("irregular")?,
                limited: f.number("limited")?,
                mixed: f.number("mixed")?,
                undecided: 0,
            })
        })?;
        let share = lines.fields("share", |f| float(f.words.first()?))?;
        let mut waiting = Vec::new();
        while !lines.is_at_end() {
            waiting.push(match lines.starts_with("run") {
                true => Waiting::Branches(Box::new(lines.branches()?)),
                false => Waiting::Plan(lines.item()?),
            });
        }
        Ok(Self {
            waiting,
            share,
            counts,
            started: counts.runs(),
            ..Self::new(bounds)
        })
    }
}

fn named(counts: &Counts) -> [(&'static str, u64); 10] {
    [
        ("executions", counts.executions),
        ("blocked", counts.blocked),
        ("excess", counts.excess),
        ("cut", counts.cut),
        ("failed", counts.failed),
        ("diverged", counts.diverged),
        ("preempted", counts.preempted),
        ("irregular", counts.irregular),
        ("limited", counts.limited),
        ("mixed", counts.mixed),
    ]
}

/// A number of which the largest means that there is none, and the next one the initial write.
fn index(n: u32) -> String {
    match n {
        NONE => "-".to_owned(),
        INIT => "init".to_owned(),
        n => n.to_string(),
    }
}

fn write_item(text: &mut String, item: &Item) {
    let open: Vec<String> = item.open.iter().map(u32::to_string).collect();
    let _ = writeln!(
        text,
        "graph weight={:016x} now={} guessed={} open={}",
        item.weight.to_bits(),
        item.now,
        index(item.guessed),
        open.join(","),
    );
    for (event, &unready) in item.events.iter().zip(&item.unready) {
        write_event(text, event, unready);
    }
}

fn write_event(text: &mut String, event: &Event, unready: Unready) {
    let writes = if event.writes { "w" } else { "" };
    let waits = if event.waits { "b" } else { "" };
    let _ = writeln!(
        text,
        "event thread={} kind={} object={} rf={} flags={writes}{waits} wrote={} expected={} added={},{} peer={} unready={}",
        event.thread,
        event.kind,
        index(event.object),
        index(event.rf),
        value(event.wrote),
        event.expected,
        event.added,
        index(event.write_added),
        index(event.peer),
        unready as u8,
    );
}

fn value(value: Option<u64>) -> String {
    value.map_or("-".to_owned(), |n| n.to_string())
}

fn float(word: &str) -> Option<f64> {
    let number = f64::from_bits(u64::from_str_radix(word, 16).ok()?);
    (0.0..=1.001).contains(&number).then_some(number)
}

/// The words of a line behind the first.
struct Fields<'t> {
    words: Vec<&'t str>,
}

impl<'t> Fields<'t> {
    fn text(&self, name: &str) -> Option<&'t str> {
        let mut values = self.words.iter().filter_map(|w| w.split_once('='));
        values.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    fn optional<N: std::str::FromStr>(&self, name: &str) -> Option<Option<N>> {
        match self.text(name)? {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        }
    }

    fn index(&self, name: &str) -> Option<u32> {
        match self.text(name)? {
            "init" => Some(INIT),
            _ => Some(self.optional(name)?.unwrap_or(NONE)),
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.text(name)? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    fn weight(&self) -> Option<f64> {
        float(self.text("weight")?)
    }

    fn unready(&self) -> Option<Unready> {
        Unready::from_number(self.number("unready")?)
    }

    fn event(&self) -> Option<(Event, Unready)> {
        let flags = self.text("flags")?;
        let (added, write_added) = self.text("added")?.split_once(',')?;
        let event = Event {
            thread: self.number("thread")?,
            kind: Kind::from_name(self.text("kind")?)?,
            object: self.index("object")?,
            rf: self.index("rf")?,
            writes: flags.contains('w'),
            waits: flags.contains('b'),
            wrote: self.optional("wrote")?,
            expected: self.number("expected")?,
            added: added.parse().ok()?,
            write_added: match write_added {
                "-" => NONE,
                text => text.parse().ok()?,
            },
            peer: self.index("peer")?,
        };
        let unready = self.unready()?;
        Some((event, unready))
    }

    fn open(&self) -> Option<Vec<u32>> {
        let numbers = self.text("open")?.split(',').filter(|n| !n.is_empty());
        numbers.map(|n| n.parse().ok()).collect()
    }
}

/// The lines of a text.
struct Lines<'t> {
    lines: std::iter::Peekable<std::str::Lines<'t>>,
    /// The line that is read next.
    number: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            lines: text.lines().peekable(),
            number: 1,
        }
    }

    fn expected(&self, what: &str) -> LoadError {
        LoadError {
            line: self.number,
            expected: what.to_owned(),
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.lines.peek().is_none()
    }

    fn starts_with(&mut self, word: &str) -> bool {
        self.lines.peek().is_some_and(|line| line.starts_with(word))
    }

    fn header(&mut self) -> Result<(), LoadError> {
        if self.lines.next() != Some(HEADER) {
            return Err(self.expected(&format!("`{HEADER}`")));
        }
        self.number += 1;
        Ok(())
    }

    /// Reads a line that starts with this word.
    fn fields<T>(
        &mut self,
        first: &str,
        read: impl FnOnce(&Fields<'t>) -> Option<T>,
    ) -> Result<T, LoadError> {
        let mut words = self.lines.peek().unwrap_or(&"").split(' ');
        let named = words.next() == Some(first);
        let words = words.collect();
        let value = named.then(|| read(&Fields { words })).flatten();
        let value = value.ok_or_else(|| self.expected(&format!("a line `{first} ...`")))?;
        self.lines.next();
        self.number += 1;
        Ok(value)
    }

    fn item(&mut self) -> Result<Item, LoadError> {
        let start = self.number;
        let mut item = self.fields("graph", |f| {
            Some(Item {
                weight: f.weight()?,
                now: f.number("now")?,
                guessed: f.index("guessed")?,
                open: f.open()?,
                ..Item::default()
            })
        })?;
        while self.starts_with("event") {
            let (event, unready) = self.fields("event", Fields::event)?;
            item.events.push(event);
            item.unready.push(unready);
        }
        item.is_sound().then_some(item).ok_or(unsound(start))
    }
}

/// The lines from this one on do not fit together.
fn unsound(line: usize) -> LoadError {
    LoadError {
        line,
        expected: "a graph whose numbers fit together".to_owned(),
    }
}
