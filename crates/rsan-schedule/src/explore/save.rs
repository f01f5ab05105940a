//! An exploration as text, so that it can be stopped and gone on with.
//!
//! ```text
//! rsan exploration 3
//! bounds roots=1 runs=- steps=- preemptions=-
//! counts executions=3 blocked=0 excess=0 cut=0 failed=0 diverged=0 preempted=0 irregular=0 limited=0 mixed=0 undecided=0
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

use super::graph::{Event, NONE};
use super::item::Item;
use super::learnt::Learnt;
use super::meetings::Meetings;
use super::text::{Fields, Head, Lines, LoadError, index, unsound, value};
use super::{Explorer, Unready, Waiting};
use crate::Kind;
use std::fmt::Write as _;

/// First line.
const HEADER: &str = "rsan exploration 3";

impl Explorer {
    /// The exploration as text. Jobs that are being made have to be made again by who loads it.
    pub fn save(&self) -> String {
        let head = Head {
            bounds: self.bounds,
            counts: self.counts,
            share: self.share,
        };
        let mut text = head.to_text(HEADER);
        for waiting in &self.waiting {
            match waiting {
                Waiting::Plan(item) => write_item(&mut text, item),
                Waiting::Branches(branches) => run::write(&mut text, branches),
            }
        }
        for item in self.running.values().chain(self.learnt.plans()) {
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
        let head = lines.head(HEADER)?;
        let mut waiting = Vec::new();
        while !lines.is_at_end() {
            waiting.push(match lines.starts_with("run") {
                true => Waiting::Branches(Box::new(lines.branches()?)),
                false => Waiting::Plan(lines.item()?),
            });
        }
        Ok(Self {
            meetings: Meetings::of(waiting.iter().flat_map(Waiting::events)),
            waiting,
            share: head.share,
            counts: head.counts,
            started: head.counts.runs(),
            learnt: Learnt::unknown(),
            ..Self::new(head.bounds)
        })
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
    let may_fail = if event.may_fail { "m" } else { "" };
    let spurious = if event.spurious { "s" } else { "" };
    let _ = writeln!(
        text,
        "event thread={} kind={} object={} rf={} flags={writes}{waits}{may_fail}{spurious} wrote={} expected={} added={},{} peer={} unready={}",
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

impl Fields<'_> {
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
            may_fail: flags.contains('m'),
            spurious: flags.contains('s'),
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

impl Lines<'_> {
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
