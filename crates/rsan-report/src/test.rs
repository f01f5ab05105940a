//! What an answer about a litmus test needs to know of it, whatever it is written in.

use crate::describe;
use rsan_model::{Condition, LocId, Observable, Pc, Program, RegId, ThreadId, Value, machine};
use std::fmt;

/// A litmus test.
pub trait Test: fmt::Debug {
    /// Its name.
    fn name(&self) -> &str;

    /// Its final condition.
    fn condition(&self) -> Option<&Condition>;

    /// `0:r1` or `x`: the name of an observable in conditions and states.
    fn observable(&self, observable: Observable) -> String;

    /// The location whose address a value is.
    fn location_at(&self, value: Value) -> Option<&str>;

    /// `P0 at FILE:LINE:COLUMN`: a thread, and where its instruction stands.
    fn place(&self, thread: ThreadId, pc: Pc) -> String;
}

/// The name of an observable, from those of registers and locations.
fn named<'n>(
    observable: Observable,
    register: impl Fn(ThreadId, RegId) -> &'n str,
    location: impl Fn(LocId) -> &'n str,
) -> String {
    match observable {
        Observable::Reg(thread, reg) => format!("{}:{}", thread.0, register(thread, reg)),
        Observable::Loc(loc) => location(loc).to_owned(),
    }
}

impl Test for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    fn observable(&self, observable: Observable) -> String {
        let register = |t: ThreadId, r: RegId| &*self.threads[t.index()].registers[r.index()].name;
        named(observable, register, |loc| self.location_name(loc))
    }

    fn location_at(&self, _: Value) -> Option<&str> {
        None
    }

    fn place(&self, thread: ThreadId, pc: Pc) -> String {
        let name = &self.threads[thread.index()].name;
        let place = describe::at(self, describe::span(self, thread, pc));
        format!("{name}{place}")
    }
}

impl Test for machine::Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    fn location_at(&self, value: Value) -> Option<&str> {
        let location = machine::location_at(value, self.locations.len())?;
        Some(&self.locations[location.index()].name)
    }

    fn observable(&self, observable: Observable) -> String {
        let register = |t: ThreadId, r: RegId| &*self.threads[t.index()].registers[r.index()].name;
        named(observable, register, |loc| {
            &self.locations[loc.index()].name
        })
    }

    fn place(&self, thread: ThreadId, _: Pc) -> String {
        self.threads[thread.index()].name.clone()
    }
}
