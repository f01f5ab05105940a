//! Explorations as text: what those of sequentially consistent and of weak executions have in common.

use super::graph::{INIT, NONE};
use super::{Bounds, Counts, Unready};
use std::fmt::{self, Write as _};

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

/// How far an exploration is, without what waits.
pub(crate) struct Head {
    pub(crate) bounds: Bounds,
    pub(crate) counts: Counts,
    pub(crate) share: f64,
}

impl Head {
    /// The first lines.
    pub(crate) fn to_text(&self, header: &str) -> String {
        let optional = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
        let bounds = &self.bounds;
        let mut text = format!(
            "{header}\nbounds roots={} runs={} steps={} preemptions={}\ncounts",
            bounds.roots,
            optional(bounds.runs),
            optional(bounds.steps.map(u64::from)),
            optional(bounds.preemptions.map(|n| n as u64)),
        );
        for (name, n) in named(&self.counts) {
            let _ = write!(text, " {name}={n}");
        }
        let _ = writeln!(text, "\nshare {:016x}", self.share.to_bits());
        text
    }
}

fn named(counts: &Counts) -> [(&'static str, u64); 11] {
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
        ("undecided", counts.undecided),
    ]
}

/// A number of which the largest means that there is none, and the next one the initial write.
pub(crate) fn index(n: u32) -> String {
    match n {
        NONE => "-".to_owned(),
        INIT => "init".to_owned(),
        n => n.to_string(),
    }
}

pub(crate) fn value(value: Option<u64>) -> String {
    value.map_or("-".to_owned(), |n| n.to_string())
}

pub(crate) fn float(word: &str) -> Option<f64> {
    let number = f64::from_bits(u64::from_str_radix(word, 16).ok()?);
    (0.0..=1.001).contains(&number).then_some(number)
}

/// The words of a line behind the first.
pub(crate) struct Fields<'t> {
    words: Vec<&'t str>,
}

impl<'t> Fields<'t> {
    /// The first word.
    pub(crate) fn first(&self) -> Option<&'t str> {
        self.words.first().copied()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'t str> {
        let mut values = self.words.iter().filter_map(|w| w.split_once('='));
        values.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    pub(crate) fn optional<N: std::str::FromStr>(&self, name: &str) -> Option<Option<N>> {
        match self.text(name)? {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        }
    }

    pub(crate) fn index(&self, name: &str) -> Option<u32> {
        match self.text(name)? {
            "init" => Some(INIT),
            _ => Some(self.optional(name)?.unwrap_or(NONE)),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.text(name)? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    pub(crate) fn weight(&self) -> Option<f64> {
        float(self.text("weight")?)
    }

    pub(crate) fn unready(&self) -> Option<Unready> {
        Unready::from_number(self.number("unready")?)
    }
}

/// The lines of a text.
pub(crate) struct Lines<'t> {
    lines: std::iter::Peekable<std::str::Lines<'t>>,
    /// The line that is read next.
    pub(crate) number: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
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

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.lines.peek().is_none()
    }

    pub(crate) fn starts_with(&mut self, word: &str) -> bool {
        self.lines.peek().is_some_and(|line| line.starts_with(word))
    }

    /// Reads the first lines.
    pub(crate) fn head(&mut self, header: &str) -> Result<Head, LoadError> {
        if self.lines.next() != Some(header) {
            return Err(self.expected(&format!("`{header}`")));
        }
        self.number += 1;
        let bounds = self.fields("bounds", |f| {
            Some(Bounds {
                roots: f.number("roots")?,
                runs: f.optional("runs")?,
                steps: f.optional("steps")?,
                preemptions: f.optional("preemptions")?,
            })
        })?;
        let counts = self.fields("counts", |f| {
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
                undecided: f.number("undecided")?,
            })
        })?;
        let share = self.fields("share", |f| float(f.first()?))?;
        Ok(Head {
            bounds,
            counts,
            share,
        })
    }

    /// Reads a line that starts with this word.
    pub(crate) fn fields<T>(
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
}

/// The lines from this one on do not fit together.
pub(crate) fn unsound(line: usize) -> LoadError {
    LoadError {
        line,
        expected: "a graph whose numbers fit together".to_owned(),
    }
}
