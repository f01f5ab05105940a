//! Threads as reports name them: who created them and where their stacks are.
//!
//! Known of all that run, and of the last [`KEPT`] that have ended: memory does not grow with the number of threads.

use super::{Info, StackPart};
use rsan_clocks::write_log::Slot;
use rsan_model::ThreadId;
use std::collections::{BTreeMap, VecDeque};

/// Ended threads that are remembered.
const KEPT: usize = 10_000;

/// What is known of threads.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// How many threads there were.
    count: usize,
    infos: BTreeMap<ThreadId, Info>,
    /// Who has ended, the first one first.
    ended: VecDeque<(ThreadId, Slot)>,
}

impl Names {
    /// The number of the next thread.
    pub(super) fn next(&self) -> ThreadId {
        ThreadId::new(self.count)
    }

    /// The next thread is there.
    pub(super) fn add(&mut self, info: Info) {
        let id = self.next();
        self.count += 1;
        self.infos.insert(id, info);
    }

    /// A thread has ended. Those that had the same slot before it have ended before it. Returns the slot of another one
    /// that is forgotten, which had it first.
    pub(super) fn end(&mut self, thread: ThreadId, slot: Slot) -> Option<Slot> {
        self.ended.push_back((thread, slot));
        let is_full = self.ended.len() > KEPT;
        let (oldest, slot) = is_full.then(|| self.ended.pop_front())??;
        self.infos.remove(&oldest);
        Some(slot)
    }

    /// What is known of a thread.
    pub(super) fn info(&self, thread: ThreadId) -> Option<&Info> {
        self.infos.get(&thread)
    }

    /// The same, to be changed.
    pub(super) fn info_mut(&mut self, thread: ThreadId) -> Option<&mut Info> {
        self.infos.get_mut(&thread)
    }

    /// The thread whose stack an address belongs to; the last one that had it.
    pub(super) fn stack_at(&self, address: usize) -> Option<(ThreadId, StackPart)> {
        self.infos.iter().rev().find_map(|(&thread, info)| {
            let [lowest, outermost, end] = info.stack?;
            let part = if address < outermost {
                StackPart::Frames
            } else {
                StackPart::ThreadLocal
            };
            (lowest..end).contains(&address).then_some((thread, part))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::registry::NAME;
    use super::*;

    #[test]
    fn the_oldest_ended_threads_are_forgotten() {
        let mut names = Names::default();
        let info = |lowest| Info {
            created: None,
            stack: Some([lowest, lowest + 8, lowest + 9]),
            name: [0; NAME],
        };
        names.add(info(100));
        for number in 1..=KEPT + 2 {
            let id = names.next();
            names.add(info(200));
            let forgotten = names.end(id, Slot(1));
            assert_eq!(forgotten, (number > KEPT).then_some(Slot(1)));
        }
        let known = |number| names.info(ThreadId::new(number)).is_some();
        assert_eq!([0, 1, 2, 3].map(known), [true, false, false, true]);
        let frames = (ThreadId::new(0), StackPart::Frames);
        assert_eq!(names.stack_at(107), Some(frames));
        let last = (ThreadId::new(KEPT + 2), StackPart::ThreadLocal);
        assert_eq!(names.stack_at(208), Some(last));
        assert_eq!(names.stack_at(99), None);
    }
}
