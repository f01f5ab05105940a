//! SC memory with monitors in step: a reference, other forms of it, and race detectors.

use super::forms::{Demand, Form, Variant, agree, compare_at};
use super::program::{Operand, outcomes};
use crate::races::{RaceClocks, ScFences};
use crate::{Access, AccessKind, Effect, Observer, RaceMonitor, Timestamp};
use rsan_model::{FenceOrd, LocId, Model, ThreadId, Value};

/// What happened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Start(ThreadId),
    Access(ThreadId, LocId, Effect),
    /// A plain access to a location that is never atomic.
    Plain(ThreadId, LocId, AccessKind),
    /// A plain write to an atomic location.
    Init(ThreadId, LocId, Value),
    Fence(ThreadId, FenceOrd),
    Spawn(ThreadId, ThreadId),
    Exit(ThreadId),
    Join(ThreadId, ThreadId),
    Forget(LocId, Value),
}

pub(super) struct Machine {
    pub(super) memory: Vec<Value>,
    writes: Vec<u64>,
    races: RaceClocks,
    pub(super) reference: Box<dyn Form>,
    pub(super) subjects: Vec<(Demand, Box<dyn Form>)>,
    trace: Vec<Event>,
}

impl Clone for Machine {
    fn clone(&self) -> Self {
        let subjects = self.subjects.iter();
        Self {
            memory: self.memory.clone(),
            writes: self.writes.clone(),
            races: self.races.clone(),
            reference: self.reference.copy(),
            subjects: subjects
                .map(|(demand, form)| (*demand, form.copy()))
                .collect(),
            trace: self.trace.clone(),
        }
    }
}

impl Machine {
    pub(super) fn new(
        locations: usize,
        reference: Variant,
        subjects: &[(Demand, Variant)],
    ) -> Self {
        let sc_fences = if reference.model == Model::C20 {
            ScFences::Local
        } else {
            ScFences::Synchronise
        };
        Self {
            memory: vec![0; locations],
            writes: vec![0; locations],
            races: RaceClocks::new(sc_fences),
            reference: reference.build(),
            subjects: subjects
                .iter()
                .map(|&(demand, variant)| (demand, variant.build()))
                .collect(),
            trace: Vec::new(),
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.trace.len()
    }

    pub(super) fn locations(&self) -> impl Iterator<Item = LocId> + use<> {
        (0..self.memory.len()).map(LocId::new)
    }

    /// What an access can do now.
    pub(super) fn outcomes(
        &self,
        loc: LocId,
        access: &Access<'_>,
        operand: Operand,
    ) -> Vec<(Effect, Value)> {
        outcomes(access, operand, self.memory[loc.index()])
    }

    /// Tells all monitors; an error says that a race detector disagrees.
    pub(super) fn tell(&mut self, event: Event) -> Result<(), String> {
        self.trace.push(event);
        notify(event, &mut self.races);
        notify(event, self.reference.as_mut());
        for (_, subject) in &mut self.subjects {
            notify(event, subject.as_mut());
        }
        match event {
            Event::Access(thread, loc, effect) => {
                if let Some(value) = effect.value_written() {
                    self.write(loc, value);
                }
                self.race(thread, loc, effect.access_kind())
            }
            Event::Init(thread, loc, value) => {
                self.write(loc, value);
                self.race(thread, loc, AccessKind::PlainWrite)
            }
            Event::Plain(thread, loc, kind) => self.race(thread, loc, kind),
            Event::Forget(loc, value) => {
                self.memory[loc.index()] = value;
                self.writes[loc.index()] = 0;
                Ok(())
            }
            Event::Start(_)
            | Event::Fence(..)
            | Event::Spawn(..)
            | Event::Exit(_)
            | Event::Join(..) => Ok(()),
        }
    }

    fn write(&mut self, loc: LocId, value: Value) {
        self.memory[loc.index()] = value;
        self.writes[loc.index()] += 1;
    }

    fn race(&mut self, thread: ThreadId, loc: LocId, kind: AccessKind) -> Result<(), String> {
        let expected = self.races.race(thread, loc, kind);
        for i in 0..self.subjects.len() {
            let (demand, subject) = &mut self.subjects[i];
            let Some(found) = subject.observe_race(thread, loc, kind) else {
                continue;
            };
            let fine = match demand {
                Demand::Equal | Demand::CappedAt2OrMore => found.is_some() == expected.is_some(),
                Demand::NoFalseAlarm => found.is_none() || expected.is_some(),
            };
            if !fine {
                return Err(self.explain(&format!("race: {expected:?}, found {found:?}")));
            }
        }
        Ok(())
    }

    pub(super) fn explain(&self, difference: &str) -> String {
        let recent = self.trace.len().saturating_sub(60);
        format!("{difference}\nafter {:#?}", &self.trace[recent..])
    }

    /// Compares the answers about an access that is about to happen.
    pub(super) fn compare_access(
        &self,
        thread: ThreadId,
        loc: LocId,
        access: &Access<'_>,
    ) -> Result<bool, String> {
        let expected = self.reference.check(thread, loc, access);
        let last = Timestamp(self.writes[loc.index()]);
        for (i, (demand, subject)) in self.subjects.iter().enumerate() {
            let found = subject.check(thread, loc, access);
            if !agree(*demand, access, expected, found, last) {
                let text = format!("{i}: {access:?} of {thread} at {loc}: {expected:?}, {found:?}");
                return Err(self.explain(&text));
            }
        }
        Ok(expected.is_some())
    }

    /// Compares all forms, for these threads and all locations.
    pub(super) fn compare(
        &self,
        threads: &[ThreadId],
        queries: &[Access<'static>],
    ) -> Result<(), String> {
        for (i, (demand, subject)) in self.subjects.iter().enumerate() {
            for &thread in threads {
                for loc in self.locations() {
                    let last = Timestamp(self.writes[loc.index()]);
                    let forms = (self.reference.as_ref(), subject.as_ref());
                    compare_at(*demand, forms, thread, loc, last, queries)
                        .map_err(|difference| self.explain(&format!("{i}: {difference}")))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn assert_invariants(&self) {
        for (_, subject) in &self.subjects {
            subject.assert_invariants();
        }
    }
}

fn notify(event: Event, observer: &mut dyn Observer) {
    match event {
        Event::Start(thread) => observer.start(thread),
        Event::Access(thread, loc, effect) => observer.apply(thread, loc, effect),
        Event::Plain(..) => {}
        Event::Init(thread, loc, value) => observer.plain_write(thread, loc, value),
        Event::Fence(thread, ord) => observer.fence(thread, ord),
        Event::Spawn(parent, child) => observer.spawn(parent, child),
        Event::Exit(thread) => observer.exit(thread),
        Event::Join(parent, child) => observer.join(parent, child),
        Event::Forget(loc, value) => observer.forget(loc, value),
    }
}
