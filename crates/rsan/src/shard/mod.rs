//! A part of the work, for several machines that share nothing but a folder.
//!
//! `--shard K/N` is part K of N. What a part leaves unfinished can be split again: `3/8.2/4` is the second quarter of what part 3/8 left.
//! Each part has a folder of its own below `--out`, with its result (`result.json`, written last, at once), the executions that it has seen, its
//! schedules, and the checkpoint of an exploration. Nobody writes into the folder of another part, so there is nothing to lock; two processes
//! that make the same part write the same.
//!
//! * `asked`: what all parts have in common. `kept`: a result in a file. `tree`: which parts there are, and which are missing.

mod asked;
mod kept;
mod tree;

pub(crate) use asked::{Asked, program};
pub(crate) use kept::{Answer, Kept, read_coverage};
pub(crate) use tree::{Open, Tree};

use rsan_report::{Document, Judgement};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Part `number`, from 1, of `of`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Part {
    pub(crate) of: usize,
    pub(crate) number: usize,
}

/// A part of the work: of the whole, or of what another part left. Parts of one work are ordered by their numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Shard {
    first: Part,
    more: Vec<Part>,
}

/// More parts are a typing error.
const MOST: usize = 100_000;
/// How often what is left can be split again.
const DEEPEST: usize = 16;

impl Shard {
    /// A part of the whole.
    pub(crate) fn new(part: Part) -> Self {
        let more = Vec::new();
        Self { first: part, more }
    }

    /// The parts, the largest first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// The smallest of them.
    pub(crate) fn last(&self) -> Part {
        self.more.last().copied().unwrap_or(self.first)
    }

    /// What it is a part of, unless that is the whole.
    pub(crate) fn parent(&self) -> Option<Self> {
        let mut parent = self.clone();
        parent.more.pop().map(|_| parent)
    }

    /// A part of what this one leaves.
    pub(crate) fn child(&self, part: Part) -> Self {
        let mut child = self.clone();
        child.more.push(part);
        child
    }

    /// Whether it can be split again.
    pub(crate) fn is_divisible(&self) -> bool {
        self.more.len() + 1 < DEEPEST
    }

    /// The name of its folder.
    fn name(&self) -> String {
        let name = |part: Part| format!("{}-of-{}", part.number, part.of);
        let parts: Vec<_> = self.parts().map(name).collect();
        format!("shard-{}", parts.join("."))
    }

    /// Its folder below another one.
    pub(crate) fn folder(&self, out: &Path) -> PathBuf {
        out.join(self.name())
    }

    /// The part whose folder has this name.
    pub(crate) fn of_folder(name: &str) -> Option<Self> {
        let parts = name.strip_prefix("shard-")?;
        parts.replace("-of-", "/").parse().ok()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.parts().map(|part| part.to_string()).collect();
        f.write_str(&parts.join("."))
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected K/N, part K of N, from 1/1 to {MOST}/{MOST}");
        let number = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| plain)
        };
        let (first, second) = text.split_once('/').ok_or_else(wrong)?;
        let (Some(number), Some(of)) = (number(first), number(second)) else {
            return Err(wrong());
        };
        let part = Self { of, number };
        let fits = (1..=part.of).contains(&part.number) && part.of <= MOST;
        fits.then_some(part).ok_or_else(wrong)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Result<Vec<Part>, String> = text.split('.').map(str::parse).collect();
        let mut parts = parts?.into_iter();
        let first = parts.next().ok_or("expected K/N")?;
        let more: Vec<_> = parts.collect();
        if more.len() >= DEEPEST {
            return Err(format!("split more than {DEEPEST} times"));
        }
        Ok(Self { first, more })
    }
}

/// What the answer of a part alone means: what it leaves is not known, and a part proves nothing of the whole.
pub(crate) fn tell(document: &mut Document, shard: &Shard, left: Option<&str>) {
    document.notes.push(match left {
        None => format!("shard {shard}, `rsan merge` says what all of them show"),
        Some(left) => format!("shard {shard} is unfinished: {left}"),
    });
    leave_open(document, left.is_some());
    let schedules = document.stats.schedules.as_mut();
    if let Some(exploration) = schedules.and_then(|all| all.exploration.as_mut()) {
        exploration.complete = false;
    }
    if document.verdict == Judgement::Robust {
        document.verdict = Judgement::NoFinding;
    }
}

/// What an answer means if something of it may be missing.
pub(crate) fn leave_open(document: &mut Document, is_open: bool) {
    match document.verdict {
        Judgement::Violation => document.incomplete |= is_open,
        Judgement::Robust | Judgement::NoFinding if is_open => {
            document.verdict = Judgement::Unknown;
        }
        Judgement::Robust | Judgement::NoFinding | Judgement::Unknown => {}
    }
}

/// The runs of a part: every `step`-th of all runs from `start`, `len` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) len: usize,
}

impl Slice {
    /// All of so many.
    pub(crate) fn whole(len: usize) -> Self {
        let (start, step) = (0, 1);
        Self { start, step, len }
    }

    /// A part of what is left when the first `done` were made.
    pub(crate) fn part(self, done: usize, part: Part) -> Self {
        let done = done.min(self.len);
        let skipped = part.number - 1;
        Self {
            start: self.start + self.step * (done + skipped),
            step: self.step * part.of,
            len: (self.len - done).saturating_sub(skipped).div_ceil(part.of),
        }
    }

    /// The number among all runs of the one with this number here.
    pub(crate) fn index(self, run: usize) -> usize {
        self.start + self.step * run
    }
}

/// Which part of the work is asked for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Portion<'a> {
    /// `None`: the whole.
    pub(crate) shard: Option<&'a Shard>,
    /// Runs that the parts have made that this one is a part of, the largest first.
    pub(crate) done: &'a [usize],
    /// Where the exploration is that this one is a part of, unless that has not begun.
    pub(crate) left: Option<&'a Path>,
}

impl<'a> Portion<'a> {
    /// Of nothing that was begun.
    pub(crate) fn of(shard: Option<&'a Shard>) -> Self {
        Self {
            shard,
            ..Self::default()
        }
    }

    /// Whether it is all.
    pub(crate) fn is_whole(self) -> bool {
        self.shard.is_none()
    }

    /// Its runs, of so many.
    pub(crate) fn slice(self, runs: usize) -> Slice {
        let parts = self.shard.into_iter().flat_map(Shard::parts);
        // Nothing of the whole was made before it was split.
        let done = std::iter::once(0).chain(self.done.iter().copied());
        let steps = parts.zip(done);
        steps.fold(Slice::whole(runs), |slice, (part, done)| {
            slice.part(done, part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: usize, of: usize) -> Part {
        Part { of, number }
    }

    #[test]
    fn parts_have_names() {
        let shard: Shard = "3/8.2/4".parse().expect("a part of a part");
        assert_eq!(shard.to_string(), "3/8.2/4");
        assert_eq!(shard.name(), "shard-3-of-8.2-of-4");
        assert_eq!(Shard::of_folder(&shard.name()), Some(shard.clone()));
        assert_eq!(
            (shard.last(), shard.parent()),
            (part(2, 4), "3/8".parse().ok())
        );
        for wrong in [
            "", "1", "0/1", "2/1", "1/0", "1/100001", "a/b", "-1/2", "+1/2", "1/2.", "1/2/3",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        assert_eq!(Shard::of_folder("shard-1-of-2.old"), None);
    }

    /// Runs of parts, and of parts of what one of them left, are all runs, each once.
    #[test]
    fn every_run_is_in_one_part() {
        for (runs, of, done, again) in [(100, 3, 7, 4), (5, 8, 0, 2), (64, 8, 8, 3), (1, 1, 0, 1)] {
            let mut all = Vec::new();
            for number in 1..=of {
                let slice = Slice::whole(runs).part(0, part(number, of));
                let stops = if number == 1 { done } else { slice.len };
                all.extend((0..stops.min(slice.len)).map(|run| slice.index(run)));
                for number in 1..=again {
                    let rest = slice.part(stops, part(number, again));
                    all.extend((0..rest.len).map(|run| rest.index(run)));
                }
            }
            all.sort_unstable();
            assert_eq!(all, (0..runs).collect::<Vec<_>>(), "{runs} {of}");
        }
    }
}
