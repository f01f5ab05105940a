//! An access on its way: where it goes, what it may read, and what is noted of it.

use super::{Known, Memory, Mixed, PATIENCE, SAID, Target};
use crate::finding::{Side, StaleRead};
use crate::lock::Guard;
use crate::sched::state::State;
use crate::sched::{Inside, places, scheduled};
use crate::stack::{Node, frames};
use crate::{journal, modules, report};
use rsan_clocks::write_log::ThreadState;
use rsan_log::{Event, Operation};
use rsan_model::{ReadOrd, RmwOrd, ThreadId};
use rsan_schedule::{Origin, Readable, Reading, ReadsFrom};
use rsan_weak::{LocationId, WriteId};

/// What is known of a write: `step:32 thread:32 number:32 leaf:32`.
#[derive(Clone, Copy, Debug)]
struct Tag {
    step: u32,
    thread: u32,
    number: u32,
    leaf: u32,
}

impl Tag {
    fn pack(self) -> u128 {
        let words = [self.step, self.thread, self.number, self.leaf];
        words
            .iter()
            .fold(0, |all, word| all << 32 | u128::from(*word))
    }

    fn unpack(tag: u128) -> Self {
        let word = |index: u32| (tag >> (32 * index)) as u32;
        Self {
            step: word(3),
            thread: word(2),
            number: word(1),
            leaf: word(0),
        }
    }
}

/// An access of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
}

/// The calling thread at an access of a weak run.
pub(super) struct Accessor {
    inside: Inside,
    guard: Guard<'static, Option<State>>,
}

impl Accessor {
    pub(super) fn new() -> Option<Self> {
        let (inside, guard) = scheduled()?;
        guard.as_ref()?.weak.as_ref()?;
        Some(Self { inside, guard })
    }

    /// The scheduler, its memory, and what the thread knows.
    fn parts(&mut self) -> Option<(&mut State, Box<Memory>, &mut ThreadState)> {
        let state = self.guard.as_mut()?;
        let memory = state.weak.take()?;
        Some((state, memory, &mut self.inside.entered.state))
    }

    /// Runs something with the memory, and gives it back.
    pub(super) fn with<R>(&mut self, act: impl FnOnce(&mut Access<'_>) -> R) -> Option<R> {
        let leaf = self.inside.entered.leaf();
        let (number, caller) = (self.inside.number(), self.inside.caller);
        let (state, mut memory, thread) = self.parts()?;
        memory.prune(thread);
        let mut access = Access {
            state,
            memory: &mut memory,
            thread,
            number,
            leaf,
            caller,
        };
        let result = act(&mut access);
        self.guard.as_mut()?.weak = Some(memory);
        // What it has released is known to others from now on.
        self.inside.entered.dirty = true;
        Some(result)
    }
}

/// An access on its way.
pub(super) struct Access<'a> {
    pub(super) state: &'a mut State,
    pub(super) memory: &'a mut Memory,
    pub(super) thread: &'a mut ThreadState,
    pub(super) number: usize,
    pub(super) leaf: Node,
    pub(super) caller: usize,
}

impl Access<'_> {
    /// What there is to say of a write that the thread makes now.
    pub(super) fn tag(&mut self) -> u128 {
        let number = self.number;
        let made = self.state.thread(number).map_or((0, 0), |thread| {
            let step = u32::try_from(thread.step.0).unwrap_or(u32::MAX);
            (step, thread.made.saturating_sub(1))
        });
        Tag {
            step: made.0,
            thread: number as u32,
            number: made.1,
            leaf: self.leaf.0,
        }
        .pack()
    }

    /// Where an access goes; `memory` is what is there.
    fn target(&mut self, place: Place, memory: impl FnOnce() -> u128) -> Target {
        let Place { address, bytes } = place;
        if let Some(known) = self.memory.locations.get(&address)
            && known.bytes == bytes
        {
            return Target::Location(known.location);
        }
        let end = address + bytes;
        let is_mixed = |mixed: &Mixed| mixed.start < end && address < mixed.end;
        if let Some(index) = self.memory.mixed.iter().position(is_mixed) {
            return Target::Mixed(index);
        }
        if self.memory.within(address, bytes).next().is_some() {
            self.say_mixed();
            return Target::Mixed(self.memory.mix(address, bytes));
        }
        let location = self.memory.engine.location(address as u64, memory);
        let known = Known { bytes, location };
        self.memory.locations.insert(address, known);
        Target::Location(location)
    }

    /// The location of an access. Where there is none, memory is read: the access takes over what was released there, and leaves what the
    /// thread knows if it writes.
    pub(super) fn location(
        &mut self,
        place: Place,
        writes: bool,
        memory: impl FnOnce() -> u128,
    ) -> Option<LocationId> {
        match self.target(place, memory) {
            Target::Location(location) => Some(location),
            Target::Mixed(index) => {
                let mixed = &mut self.memory.mixed[index];
                self.thread.synchronise(&mixed.released);
                if writes {
                    mixed.released.join(self.thread.publish());
                }
                None
            }
        }
    }

    /// Logs where the access is.
    #[cold]
    fn say_access(&mut self) {
        let Some(thread) = self.state.thread(self.number) else {
            return;
        };
        let (step, address) = (thread.step.0 as u64, thread.step.1.op.object as usize);
        self.memory.said += 1;
        report::accessed(step, address, self.leaf.as_site());
    }

    #[cold]
    pub(super) fn say_mixed(&self) {
        let modules = modules::modules();
        journal::say(Event::Undecided {
            message: "accesses of different sizes, or volatile and atomic ones: no stale value is read here".into(),
            stack: frames(self.leaf.as_site(), &modules),
        });
    }

    /// Notes the order of the access in its step.
    pub(super) fn note_order(&mut self, order: RmwOrd, failure: Option<ReadOrd>) {
        if let Some(thread) = self.state.thread(self.number) {
            (thread.step.1.order, thread.step.1.failure) = (Some(order), failure);
        }
        if self.memory.explains && self.memory.said < SAID {
            self.say_access();
        }
    }

    /// Asks for one of the writes, the last of which is made if the thread has waited long enough.
    pub(super) fn choose(&mut self, place: Place, at: LocationId, writes: &[WriteId]) -> WriteId {
        let last = writes[writes.len() - 1];
        let chosen = match writes.len() {
            1 => last,
            _ if self.is_impatient(at) => last,
            _ => self.ask(at, writes),
        };
        let stale = chosen != last;
        self.count(at, chosen, stale);
        if stale && self.memory.explains {
            self.explain(place, at, chosen, last);
        }
        self.note_source(at, chosen, stale);
        chosen
    }

    /// Notes in the step which write it reads.
    pub(super) fn note_source(&mut self, at: LocationId, chosen: WriteId, stale: bool) {
        let write = self.memory.engine.write(at, chosen);
        let from = match write.stamp {
            None => ReadsFrom::Initial,
            Some(_) => ReadsFrom::Step(Tag::unpack(write.tag).step),
        };
        if let Some(thread) = self.state.thread(self.number) {
            (thread.step.1.from, thread.step.1.stale) = (from, stale);
            thread.spin.reads_stale(stale);
        }
    }

    /// Whether the thread has read stale values often enough.
    pub(super) fn is_impatient(&mut self, at: LocationId) -> bool {
        if !self.state.strategy.goes_round() {
            return false;
        }
        let reader = ThreadId::new(self.number);
        let often = self.memory.repeated.get(&(reader, at));
        let often = often.is_some_and(|(_, times)| *times >= PATIENCE);
        often
            || self
                .state
                .thread(self.number)
                .is_some_and(|thread| thread.reads_last)
    }

    fn count(&mut self, at: LocationId, chosen: WriteId, stale: bool) {
        let reader = (ThreadId::new(self.number), at);
        if !stale {
            self.memory.repeated.remove(&reader);
            return;
        }
        let tag = self.memory.engine.write(at, chosen).tag;
        let repeated = self.memory.repeated.entry(reader).or_insert((tag, 0));
        *repeated = match repeated.0 == tag {
            true => (tag, repeated.1 + 1),
            false => (tag, 1),
        };
    }

    /// Asks the strategy.
    fn ask(&mut self, at: LocationId, writes: &[WriteId]) -> WriteId {
        let mut readable = std::mem::take(&mut self.memory.readable);
        readable.clear();
        for write in writes {
            let engine = &mut self.memory.engine;
            let known = engine.is_known(self.thread, at, *write);
            let leaves_sc = engine.leaves_sc(self.thread, at, *write);
            let made = engine.write(at, *write);
            let tag = Tag::unpack(made.tag);
            let (origin, place) = match made.stamp {
                None => (Origin::Initial, 0),
                Some(_) => {
                    let thread = ThreadId(tag.thread);
                    let number = tag.number;
                    let pc = Node(tag.leaf).as_site().pc;
                    (Origin::Step { thread, number }, places::of(pc))
                }
            };
            readable.push(Readable {
                origin,
                place,
                known,
                leaves_sc,
            });
        }
        let reading = self.reading();
        let chosen = self.state.strategy.read(&reading, &readable);
        let chosen = chosen.min(writes.len() - 1);
        if readable[chosen].leaves_sc && !self.memory.has_deviated {
            self.memory.has_deviated = true;
            self.state.trace.deviate(reading.place);
        }
        self.memory.readable = readable;
        writes[chosen]
    }

    pub(super) fn reading(&mut self) -> Reading {
        let thread = ThreadId::new(self.number);
        let op = self.state.thread(self.number).map(|thread| thread.op);
        Reading {
            thread,
            op: op.unwrap_or_else(|| rsan_schedule::Op::bare(rsan_schedule::Kind::Load)),
            place: places::of(self.caller),
        }
    }

    /// Logs a stale read.
    #[cold]
    fn explain(&mut self, place: Place, at: LocationId, chosen: WriteId, last: WriteId) {
        let engine = &self.memory.engine;
        let side = |write: WriteId| {
            let write = engine.write(at, write);
            let tag = Tag::unpack(write.tag);
            let made = write.stamp.is_some();
            let operation = match made {
                true => Operation::Store,
                false => Operation::Initial,
            };
            let thread = made.then_some(ThreadId(tag.thread));
            let site = match made {
                true => Node(tag.leaf).as_site(),
                false => crate::stack::Site::default(),
            };
            Side {
                value: Some(write.value),
                ..Side::plain(thread, operation, site)
            }
        };
        let step = self
            .state
            .threads
            .get(self.number)
            .and_then(Option::as_deref);
        let reader = Some(ThreadId::new(self.number));
        let site = self.leaf.as_site();
        let read = StaleRead {
            step: step.map_or(0, |thread| thread.step.0 as u64),
            address: place.address,
            bytes: place.bytes,
            access: Side {
                order: step.and_then(|thread| thread.step.1.order),
                ..Side::plain(reader, Operation::Load, site)
            },
            read: side(chosen),
            last: side(last),
        };
        report::stale(&read);
    }
}
impl Access<'_> {
    /// A weak compare-and-swap fails although it finds what it expects.
    pub(super) fn fail_for_no_reason(&mut self, at: LocationId, write: WriteId, failure: ReadOrd) {
        let readable = self.memory.engine.readable(self.thread, at, failure);
        let write = if readable.contains(&write) {
            write
        } else {
            readable[readable.len() - 1]
        };
        self.memory.engine.read(self.thread, at, write, failure);
        if let Some(thread) = self.state.thread(self.number) {
            thread.step.1.spurious = true;
            thread.spin.reads_stale(true);
        }
    }
}
