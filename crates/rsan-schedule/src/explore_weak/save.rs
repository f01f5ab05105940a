//! An exploration of weak executions as text, so that it can be stopped and gone on with.
//!
//! ```text
//! rsan weak exploration 1
//! bounds roots=1 runs=- steps=- preemptions=-
//! counts executions=3 blocked=0 excess=0 cut=0 failed=0 diverged=0 preempted=0 irregular=0 limited=0 mixed=0 undecided=0
//! share 3fe0000000000000
//! shown 0123456789abcdef0123456789abcdef
//! graph weight=3fd0000000000000 now=7 open=-
//! event thread=0 kind=store object=- rf=- flags=w order=3 failure=- wrote=1 expected=0 added=3,4 peer=- unready=0
//! run event=7 write=0
//! object initial=0
//! slot event=3 write=0 count=2 weight=3fd0000000000000
//! choice kind=source read=- rf=init flags= wrote=- unready=0 weight=3fc0000000000000
//! event thread=0 kind=store object=0 rf=- flags=w order=3 failure=- wrote=1 expected=0 added=3,4 peer=- unready=0
//! ```
//!
//! As [`crate::explore`] has it, with the executions that were shown, and the memory orders of events.

use super::alternatives::Choice;
use super::branches::{Branches, Place, Slot};
use super::change::How;
use super::graph::{Event, Graph, NONE};
use super::item::Item;
use super::{Explorer, Waiting};
use crate::Kind;
use crate::explore::text::{Fields, Head, Lines, index, unsound, value};
use crate::explore::{LoadError, Unready};
use rsan_model::{ReadOrd, RmwOrd};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// First line.
const HEADER: &str = "rsan weak exploration 1";

impl Explorer {
    /// The exploration as text. Jobs that are being made have to be made again by who loads it.
    pub fn save(&self) -> String {
        let head = Head {
            bounds: self.bounds,
            counts: self.counts,
            share: self.share,
        };
        let mut text = head.to_text(HEADER);
        for execution in &self.shown {
            let _ = writeln!(text, "shown {execution:032x}");
        }
        let running = self.running.values().cloned().map(Waiting::Plan);
        for waiting in self.waiting.iter().cloned().chain(running) {
            match waiting {
                Waiting::Plan(item) => write_item(&mut text, &item),
                Waiting::Branches(branches) => write_branches(&mut text, &branches),
            }
        }
        text
    }

    /// The exploration that was saved as this text.
    ///
    /// # Errors
    /// When the text is no exploration.
    pub fn load(text: &str) -> Result<Self, LoadError> {
        let mut lines = Lines::new(text);
        let Head {
            bounds,
            counts,
            share,
        } = lines.head(HEADER)?;
        let mut explorer = Self::new(bounds);
        (explorer.counts, explorer.share) = (counts, share);
        explorer.started = counts.runs();
        explorer.shown = lines.shown()?;
        explorer.waiting.clear();
        while !lines.is_at_end() {
            explorer.waiting.push(match lines.starts_with("run") {
                true => Waiting::Branches(Box::new(lines.weak_branches()?)),
                false => Waiting::Plan(lines.weak_item()?),
            });
        }
        Ok(explorer)
    }
}

fn write_item(text: &mut String, item: &Item) {
    let _ = writeln!(
        text,
        "graph weight={:016x} now={} open={}",
        item.weight.to_bits(),
        item.now,
        index(item.open.unwrap_or(NONE)),
    );
    for (event, &unready) in item.events.iter().zip(&item.unready) {
        write_event(text, event, unready);
    }
}

fn write_branches(text: &mut String, branches: &Branches) {
    let flag = |place: Place| u8::from(place.write);
    let current = branches.current;
    let _ = writeln!(text, "run event={} write={}", current.event, flag(current));
    for &initial in &branches.graph.initial {
        let _ = writeln!(text, "object initial={}", value(initial));
    }
    for &Slot {
        place,
        count,
        weight,
    } in &branches.slots
    {
        let (event, write, weight) = (place.event, flag(place), weight.to_bits());
        let _ = writeln!(
            text,
            "slot event={event} write={write} count={count} weight={weight:016x}"
        );
    }
    for &(choice, weight) in &branches.choices {
        write_choice(text, choice, weight);
    }
    for event in &branches.graph.events {
        write_event(text, event, Unready::Diverges);
    }
}

/// The letters of what holds.
fn flags(all: &[(bool, char)]) -> String {
    let there = all.iter().filter(|(holds, _)| *holds);
    there.map(|(_, letter)| letter).collect()
}

fn write_choice(text: &mut String, choice: Choice, weight: f64) {
    let nothing = How {
        rf: NONE,
        writes: false,
        wrote: None,
        spurious: false,
        unready: Unready::Diverges,
    };
    let (kind, how, read, fails) = match choice {
        Choice::Source(rf) => ("source", How { rf, ..nothing }, NONE, false),
        Choice::Does(how) => ("does", how, NONE, false),
        Choice::Reader { how, read, fails } => ("reader", how, read, fails),
    };
    let flags = flags(&[(how.writes, 'w'), (how.spurious, 's'), (fails, 'f')]);
    let _ = writeln!(
        text,
        "choice kind={kind} read={} rf={} flags={flags} wrote={} unready={} weight={:016x}",
        index(read),
        index(how.rf),
        value(how.wrote),
        how.unready as u8,
        weight.to_bits(),
    );
}

fn write_event(text: &mut String, event: &Event, unready: Unready) {
    let number = |at: Option<usize>| value(at.map(|at| at as u64));
    let place = |order| RmwOrd::ALL.iter().position(|known| *known == order);
    let failure = |order| ReadOrd::ALL.iter().position(|known| *known == order);
    let flags = flags(&[
        (event.writes, 'w'),
        (event.waits, 'b'),
        (event.vain, 'v'),
        (event.spurious, 's'),
        (event.may_fail, 'f'),
    ]);
    let _ = write!(
        text,
        "event thread={} kind={} object={} rf={} flags={flags} ",
        event.thread,
        event.kind,
        index(event.object),
        index(event.rf),
    );
    let _ = writeln!(
        text,
        "order={} failure={} wrote={} expected={} added={},{} peer={} unready={}",
        number(event.order.and_then(place)),
        number(event.failure.and_then(failure)),
        value(event.wrote),
        event.expected,
        event.added,
        event.write_added,
        index(event.peer),
        unready as u8,
    );
}

impl Fields<'_> {
    /// One of these, by its place; or none.
    fn one_of<T: Copy>(&self, name: &str, all: &[T]) -> Option<Option<T>> {
        match self.optional::<usize>(name)? {
            None => Some(None),
            Some(at) => all.get(at).map(|one| Some(*one)),
        }
    }

    fn weak_event(&self) -> Option<(Event, Unready)> {
        let flags = self.text("flags")?;
        let (added, write_added) = self.text("added")?.split_once(',')?;
        let event = Event {
            thread: self.number("thread")?,
            kind: Kind::from_name(self.text("kind")?)?,
            object: self.index("object")?,
            rf: self.index("rf")?,
            writes: flags.contains('w'),
            waits: flags.contains('b'),
            vain: flags.contains('v'),
            spurious: flags.contains('s'),
            may_fail: flags.contains('f'),
            order: self.one_of("order", &RmwOrd::ALL)?,
            failure: self.one_of("failure", &ReadOrd::ALL)?,
            wrote: self.optional("wrote")?,
            expected: self.number("expected")?,
            added: added.parse().ok()?,
            write_added: write_added.parse().ok()?,
            peer: self.index("peer")?,
        };
        Some((event, self.unready()?))
    }

    fn weak_choice(&self) -> Option<(Choice, f64)> {
        let flags = self.text("flags")?;
        let (rf, read) = (self.index("rf")?, self.index("read")?);
        let how = How {
            rf,
            writes: flags.contains('w'),
            wrote: self.optional("wrote")?,
            spurious: flags.contains('s'),
            unready: self.unready()?,
        };
        let fails = flags.contains('f');
        let choice = match self.text("kind")? {
            "source" => Choice::Source(rf),
            "does" => Choice::Does(how),
            "reader" => Choice::Reader { how, read, fails },
            _ => return None,
        };
        Some((choice, self.weight()?))
    }

    fn place(&self) -> Option<Place> {
        Some(Place {
            event: self.number("event")?,
            write: self.flag("write")?,
        })
    }

    fn weak_slot(&self) -> Option<Slot> {
        Some(Slot {
            place: self.place()?,
            count: self.number("count")?,
            weight: self.weight()?,
        })
    }
}

impl Lines<'_> {
    fn shown(&mut self) -> Result<BTreeSet<u128>, LoadError> {
        let mut shown = BTreeSet::new();
        while self.starts_with("shown") {
            let number = self.fields("shown", |f| u128::from_str_radix(f.first()?, 16).ok())?;
            shown.insert(number);
        }
        Ok(shown)
    }

    fn weak_item(&mut self) -> Result<Item, LoadError> {
        let start = self.number;
        let mut item = self.fields("graph", |f| {
            Some(Item {
                weight: f.weight()?,
                now: f.number("now")?,
                open: f.optional("open")?,
                ..Item::default()
            })
        })?;
        while self.starts_with("event") {
            let (event, unready) = self.fields("event", Fields::weak_event)?;
            item.events.push(event);
            item.unready.push(unready);
        }
        item.is_sound().then_some(item).ok_or(unsound(start))
    }

    /// Reads a run that was made.
    fn weak_branches(&mut self) -> Result<Branches, LoadError> {
        let start = self.number;
        let current = self.fields("run", Fields::place)?;
        let (mut initial, mut slots) = (Vec::new(), Vec::new());
        let (mut choices, mut events) = (Vec::new(), Vec::new());
        while self.starts_with("object") {
            initial.push(self.fields("object", |f| f.optional("initial"))?);
        }
        while self.starts_with("slot") {
            slots.push(self.fields("slot", Fields::weak_slot)?);
        }
        while self.starts_with("choice") {
            choices.push(self.fields("choice", Fields::weak_choice)?);
        }
        while self.starts_with("event") {
            events.push(self.fields("event", Fields::weak_event)?.0);
        }
        let graph = Graph::from_parts(events, initial).ok_or(unsound(start))?;
        let branches = Branches {
            graph,
            slots,
            choices,
            current,
        };
        branches
            .is_sound()
            .then_some(branches)
            .ok_or(unsound(start))
    }
}
