//! Events in a new order: threads, events and times are numbered anew, so that equal graphs are written alike.

use crate::by_thread::ByThread;

/// No event: nothing is read, or no object is accessed.
pub(crate) const NONE: u32 = u32::MAX;
/// The initial write of an object.
pub(crate) const INIT: u32 = u32::MAX - 1;

/// The new numbers.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    places: Vec<u32>,
    times: Vec<u32>,
    threads: ByThread<u32>,
    roots: u32,
}

impl Numbers {
    /// For so many events, of which threads that nobody creates keep their numbers: the first `roots`.
    pub(crate) fn new(events: usize, roots: u32) -> Self {
        Self {
            places: vec![NONE; events],
            roots,
            ..Self::default()
        }
    }

    /// The event with this number is the next one, added at these times; perhaps it creates a thread.
    pub(crate) fn add(&mut self, event: u32, place: u32, times: &[u32], creates: Option<u32>) {
        self.places[event as usize] = place;
        self.times.extend(times);
        if let Some(thread) = creates {
            let next = self.roots + self.threads.len() as u32;
            self.threads.or_insert(thread, next);
        }
    }

    /// All are there.
    pub(crate) fn finish(mut self) -> Self {
        self.times.sort_unstable();
        self.times.dedup();
        self
    }

    /// The new number of an event.
    pub(crate) fn place(&self, event: u32) -> u32 {
        self.places[event as usize]
    }

    /// The new number of what an event reads.
    pub(crate) fn source(&self, rf: u32) -> u32 {
        match rf {
            w if w >= INIT => w,
            w => self.place(w),
        }
    }

    /// The new number of a time.
    pub(crate) fn time(&self, time: u32) -> u32 {
        self.times.partition_point(|&earlier| earlier < time) as u32
    }

    /// How many times there are.
    pub(crate) fn times(&self) -> u32 {
        self.times.len() as u32
    }

    /// The new number of a thread.
    pub(crate) fn thread(&self, thread: u32) -> u32 {
        self.threads.get(thread).copied().unwrap_or(thread)
    }

    /// The same of one that is created or joined, if one is.
    pub(crate) fn peer(&self, thread: u32) -> u32 {
        match thread {
            NONE => NONE,
            thread => self.thread(thread),
        }
    }
}
