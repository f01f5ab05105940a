//! What is left of a run, as lines.

use super::super::alternatives::{Choice, Writer};
use super::super::branches::{Branches, Slot};
use super::super::graph::{Graph, INIT, NONE};
use super::super::text::{Fields, Lines, LoadError, index, unsound, value};
use super::{Unready, write_event};
use std::fmt::Write as _;

pub(super) fn write(text: &mut String, branches: &Branches) {
    let (event, write) = branches.current;
    let _ = writeln!(text, "run event={event} write={}", u8::from(write));
    let graph = &branches.graph;
    for (&initial, &uniform) in graph.initial.iter().zip(&graph.uniform) {
        let (initial, uniform) = (value(initial), u8::from(uniform));
        let _ = writeln!(text, "object initial={initial} uniform={uniform}");
    }
    for slot in &branches.slots {
        let _ = writeln!(
            text,
            "slot event={} write={} count={} weight={:016x}",
            slot.event,
            u8::from(slot.write),
            slot.count,
            slot.weight.to_bits(),
        );
    }
    for (choice, weight) in &branches.choices {
        write_choice(text, *choice, *weight);
    }
    for event in &graph.events {
        write_event(text, event, Unready::Diverges);
    }
}

fn write_choice(text: &mut String, choice: Choice, weight: f64) {
    let nobody = Writer {
        rf: NONE,
        wrote: None,
        unready: Unready::Diverges,
    };
    let (kind, writer, read, after, flags) = match choice {
        Choice::Place(after) => ("place", nobody, NONE, after, ""),
        Choice::Source(rf) => ("source", Writer { rf, ..nobody }, NONE, NONE, ""),
        Choice::Read {
            rf,
            writes,
            guessed,
        } => {
            let flags = match (writes, guessed) {
                (false, false) => "",
                (true, false) => "w",
                (false, true) => "g",
                (true, true) => "wg",
            };
            ("read", Writer { rf, ..nobody }, NONE, NONE, flags)
        }
        Choice::Failure { rf, guessed } => {
            let flags = if guessed { "g" } else { "" };
            ("failure", Writer { rf, ..nobody }, NONE, NONE, flags)
        }
        Choice::Writer(writer) => ("writer", writer, NONE, NONE, ""),
        Choice::Reader {
            writer,
            read,
            fails,
        } => ("reader", writer, read, NONE, failing(fails)),
        Choice::ReaderAt {
            writer,
            read,
            after,
            fails,
        } => ("reader-at", writer, read, after, failing(fails)),
    };
    let _ = writeln!(
        text,
        "choice kind={kind} rf={} read={} after={} flags={flags} wrote={} unready={} weight={:016x}",
        index(writer.rf),
        index(read),
        index(after),
        value(writer.wrote),
        writer.unready as u8,
        weight.to_bits(),
    );
}

fn failing(fails: bool) -> &'static str {
    match fails {
        true => "f",
        false => "",
    }
}

impl Fields<'_> {
    fn slot(&self) -> Option<Slot> {
        Some(Slot {
            event: self.number("event")?,
            write: self.flag("write")?,
            count: self.number("count")?,
            weight: self.weight()?,
        })
    }

    fn choice(&self) -> Option<(Choice, f64)> {
        let flags = self.text("flags")?;
        let (rf, read, after) = (self.index("rf")?, self.index("read")?, self.index("after")?);
        let writer = Writer {
            rf,
            wrote: self.optional("wrote")?,
            unready: self.unready()?,
        };
        let choice = match self.text("kind")? {
            "place" => Choice::Place(after),
            "source" => Choice::Source(rf),
            "read" => Choice::Read {
                rf,
                writes: flags.contains('w'),
                guessed: flags.contains('g'),
            },
            "failure" => Choice::Failure {
                rf,
                guessed: flags.contains('g'),
            },
            "writer" => Choice::Writer(writer),
            "reader" => Choice::Reader {
                writer,
                read,
                fails: flags.contains('f'),
            },
            "reader-at" => Choice::ReaderAt {
                writer,
                read,
                after,
                fails: flags.contains('f'),
            },
            _ => return None,
        };
        Some((choice, self.weight()?))
    }
}

impl Lines<'_> {
    /// Reads a run that was made.
    pub(super) fn branches(&mut self) -> Result<Branches, LoadError> {
        let start = self.number;
        let current = self.fields("run", |f| Some((f.number("event")?, f.flag("write")?)))?;
        let (mut initial, mut uniform) = (Vec::new(), Vec::new());
        while self.starts_with("object") {
            let read = |f: &Fields<'_>| Some((f.optional("initial")?, f.flag("uniform")?));
            let (value, same) = self.fields("object", read)?;
            initial.push(value);
            uniform.push(same);
        }
        let (mut slots, mut choices, mut events) = (Vec::new(), Vec::new(), Vec::new());
        while self.starts_with("slot") {
            slots.push(self.fields("slot", Fields::slot)?);
        }
        while self.starts_with("choice") {
            choices.push(self.fields("choice", Fields::choice)?);
        }
        while self.starts_with("event") {
            events.push(self.fields("event", Fields::event)?.0);
        }
        let graph = Graph::from_parts(events, initial, uniform).ok_or(unsound(start))?;
        if !fits(&graph, current, &slots, &choices) {
            return Err(unsound(start));
        }
        Ok(Branches::new(graph, slots, choices, current))
    }
}

/// Whether all numbers are those of events that are there and do what they have to.
fn fits(
    graph: &Graph,
    (current, _): (u32, bool),
    slots: &[Slot],
    choices: &[(Choice, f64)],
) -> bool {
    let object = |e: u32| match graph.events.get(e as usize) {
        Some(event) => event.object,
        None => NONE,
    };
    let write = |w: u32| {
        let event = graph.events.get(w as usize);
        w == INIT || event.is_some_and(|w| w.writes && w.object == object(current))
    };
    let read = |r: u32| {
        let event = graph.events.get(r as usize);
        event.is_some_and(|r| r.reads() && r.object == object(current))
    };
    let source = |writer: Writer| writer.rf == NONE || write(writer.rf);
    let sound = |&(choice, _): &(Choice, f64)| match choice {
        Choice::Place(w)
        | Choice::Source(w)
        | Choice::Read { rf: w, .. }
        | Choice::Failure { rf: w, .. } => write(w),
        Choice::Writer(writer) => source(writer),
        Choice::Reader {
            writer, read: r, ..
        } => source(writer) && read(r),
        Choice::ReaderAt {
            writer,
            read: r,
            after,
            ..
        } => source(writer) && read(r) && write(after),
    };
    let slots = slots.iter().all(|slot| object(slot.event) != NONE);
    let here = choices.is_empty() || object(current) != NONE;
    slots && here && choices.iter().all(sound)
}
