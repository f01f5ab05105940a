//! Threads that wait for a signal: of a condition variable, or at a futex.
//!
//! A signal is for one of the threads that wait when it comes, and it is not said for which: whoever of them goes on
//! first has it. So every choice of the thread that wakes up is a schedule. A signal is lost if there are no more
//! threads than signals for them. Nobody wakes up without a signal.

use std::collections::BTreeMap;

/// The queues, by the addresses of what is waited for.
#[derive(Debug, Default)]
pub(super) struct Queues(BTreeMap<usize, Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// Who waits, in the order of their tickets.
    waiting: Vec<Waiter>,
    /// Signals that nobody has taken yet, each for those with lower tickets than its number; ascending.
    ///
    /// There are never more than threads that can take them: the threads of an earlier one are also those of a later
    /// one, and each was added when there were more threads than signals. Whoever takes the earliest that it can take
    /// leaves it so.
    signals: Vec<u64>,
    tickets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: usize,
    ticket: u64,
}

impl Queues {
    /// The thread waits from now on.
    pub(super) fn enter(&mut self, queue: usize, thread: usize) {
        let queue = self.0.entry(queue).or_default();
        let ticket = queue.tickets;
        queue.tickets += 1;
        queue.waiting.push(Waiter { thread, ticket });
    }

    /// Signals for at most so many of those who wait; returns for how many.
    pub(super) fn signal(&mut self, queue: usize, at_most: usize) -> usize {
        let Some(queue) = self.0.get_mut(&queue) else {
            return 0;
        };
        let free = queue.waiting.len() - queue.signals.len();
        let count = free.min(at_most);
        let signals = std::iter::repeat_n(queue.tickets, count);
        queue.signals.extend(signals);
        count
    }

    /// The signal that the thread would take.
    fn signal_for(&self, queue: usize, thread: usize) -> Option<usize> {
        let queue = self.0.get(&queue)?;
        let mut waiting = queue.waiting.iter();
        let ticket = waiting.find(|waiter| waiter.thread == thread)?.ticket;
        queue.signals.iter().position(|&before| ticket < before)
    }

    /// Whether there is a signal that the thread can take.
    pub(super) fn is_signalled(&self, queue: usize, thread: usize) -> bool {
        self.signal_for(queue, thread).is_some()
    }

    /// The thread waits no longer. It takes a signal with it if it `wakes` up.
    pub(super) fn leave(&mut self, object: usize, thread: usize, wakes: bool) {
        let signal = self.signal_for(object, thread).filter(|_| wakes);
        let Some(queue) = self.0.get_mut(&object) else {
            return;
        };
        if let Some(signal) = signal {
            queue.signals.remove(signal);
        }
        queue.waiting.retain(|waiter| waiter.thread != thread);
        // What was for nobody but the thread is lost.
        let mut place = 0;
        while let Some(&before) = queue.signals.get(place) {
            let takers = queue.waiting.iter().filter(|w| w.ticket < before).count();
            if takers > place {
                place += 1;
            } else {
                queue.signals.remove(place);
            }
        }
        if queue.waiting.is_empty() {
            self.0.remove(&object);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signalled(queues: &Queues) -> Vec<usize> {
        (0..4).filter(|&t| queues.is_signalled(8, t)).collect()
    }

    #[test]
    fn a_signal_is_for_one_of_those_who_wait() {
        let mut queues = Queues::default();
        assert_eq!(queues.signal(8, 1), 0);
        queues.enter(8, 0);
        queues.enter(8, 1);
        assert_eq!(queues.signal(8, 1), 1);
        queues.enter(8, 2);
        assert_eq!(signalled(&queues), [0, 1]);
        queues.leave(8, 1, true);
        assert!(signalled(&queues).is_empty());
        assert_eq!(queues.signal(8, usize::MAX), 2);
        assert_eq!(signalled(&queues), [0, 2]);
        assert_eq!(queues.signal(8, usize::MAX), 0);
    }

    #[test]
    fn later_signals_are_left_to_those_who_came_later() {
        let mut queues = Queues::default();
        queues.enter(8, 0);
        queues.signal(8, 1);
        queues.enter(8, 1);
        queues.signal(8, 1);
        queues.leave(8, 0, true);
        assert_eq!(signalled(&queues), [1]);
    }

    #[test]
    fn who_leaves_without_a_signal_leaves_it_to_the_others() {
        let mut queues = Queues::default();
        queues.enter(8, 0);
        queues.enter(8, 1);
        queues.signal(8, 1);
        queues.leave(8, 0, false);
        assert_eq!(signalled(&queues), [1]);
        queues.enter(8, 2);
        queues.leave(8, 1, false);
        assert!(signalled(&queues).is_empty());
    }
}
