//! `follow`: the threads and the values of a schedule, as far as they are possible.

use super::{Prefix, Readable, Reading, Strategy};
use crate::{Candidate, Origin, Schedule, Value};
use rsan_model::ThreadId;
use std::collections::BTreeMap;

/// A [`Prefix`] of a schedule's threads. A step that has a value of its own in the schedule gets it, whenever it is made: it is named
/// by its thread and its number there, as in [`Origin::Step`]. What is not possible is left out, so the run says what it did.
#[derive(Clone, Debug)]
pub struct Follow {
    threads: Prefix,
    values: BTreeMap<(ThreadId, u32), Value>,
    /// Steps that each thread was chosen for.
    made: BTreeMap<ThreadId, u32>,
}

impl Follow {
    /// Follows this schedule.
    pub fn new(schedule: &Schedule) -> Self {
        let steps = schedule.steps();
        let mut made: BTreeMap<ThreadId, u32> = BTreeMap::new();
        let mut values = BTreeMap::new();
        for step in steps {
            let number = made.entry(step.thread).or_default();
            if step.value != Value::Last {
                values.insert((step.thread, *number), step.value);
            }
            *number += 1;
        }
        Self {
            threads: Prefix::new(steps.iter().map(|step| step.thread).collect()),
            values,
            made: BTreeMap::new(),
        }
    }

    /// The value of the step that a thread makes now, the last one of those that it was chosen for.
    fn value(&self, thread: ThreadId) -> Value {
        let number = self.made.get(&thread).and_then(|made| made.checked_sub(1));
        let value = number.and_then(|number| self.values.get(&(thread, number)));
        value.copied().unwrap_or_default()
    }
}

impl Strategy for Follow {
    fn choose(&mut self, ready: &[Candidate], last: Option<ThreadId>) -> Option<usize> {
        let chosen = self.threads.choose(ready, last)?;
        // Not every step is told when it is done.
        *self.made.entry(ready[chosen].thread).or_default() += 1;
        Some(chosen)
    }

    fn read(&mut self, reading: &Reading, writes: &[Readable]) -> usize {
        let wanted = |origin: Origin| writes.iter().position(|write| write.origin == origin);
        let planned = match self.value(reading.thread) {
            Value::Stale(origin) => wanted(origin),
            Value::Last | Value::Spurious => None,
        };
        planned.unwrap_or(writes.len() - 1)
    }

    fn fails(&mut self, reading: &Reading) -> bool {
        self.value(reading.thread) == Value::Spurious
    }

    fn ends_last(&self) -> bool {
        self.threads.ends_last()
    }

    fn yielded(&mut self, thread: ThreadId) {
        self.threads.yielded(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Op};

    #[test]
    fn values_belong_to_steps_of_threads_whatever_comes_between() {
        let schedule =
            "rsan schedule 1\nT1: load\nT2: load<T1.0\nT1: load load<initial\nT2: compare!";
        let schedule: Schedule = schedule.parse().expect("a schedule");
        let mut follow = Follow::new(&schedule);
        let op = Op::new(Kind::Load, 8, 4);
        let threads = [1, 2].map(ThreadId);
        let ready = threads.map(|thread| Candidate { thread, op });
        let writes = [
            Origin::Initial,
            Origin::Step {
                thread: ThreadId(1),
                number: 0,
            },
            Origin::Step {
                thread: ThreadId(2),
                number: 0,
            },
        ];
        let writes = writes.map(|origin| Readable {
            origin,
            place: 0,
            known: false,
            leaves_sc: false,
        });
        let mut step = |ready: &[Candidate]| {
            let chosen = follow.choose(ready, None).expect("somebody goes on");
            let thread = ready[chosen].thread;
            let reading = Reading {
                thread,
                op,
                place: 0,
            };
            let made = (
                thread.0,
                follow.read(&reading, &writes),
                follow.fails(&reading),
            );
            made
        };
        assert_eq!(step(&ready), (1, 2, false));
        // Thread 2 is not ready when its turn comes, and reads later what it should have read then.
        assert_eq!(step(&ready[..1]), (1, 2, false));
        assert_eq!(step(&ready), (1, 0, false));
        assert_eq!(step(&ready), (2, 1, false));
        assert_eq!(step(&ready[1..]), (2, 2, true));
    }
}
