//! What is left at locks, barriers, semaphores and the like; [`crate::sync`] says what it means.

use crate::lock::Lock;
use crate::order::Lifetime;
use crate::stack::Site;
use crate::trail::Step;
use rsan_clocks::write_log::{Stamp, SyncClock};
use rsan_model::ThreadId;
use std::sync::Arc;

/// What threads left, and who was the last.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) clock: SyncClock,
    pub(crate) by: Option<Step>,
    /// When.
    pub(crate) at: Stamp,
}

/// What is left at a lock or the like.
#[derive(Debug, Default)]
pub struct SyncState {
    /// By writers of a reader-writer lock, and by everybody else.
    pub(crate) main: Left,
    /// By readers of a reader-writer lock.
    pub(crate) readers: Left,
    /// Who holds a reader-writer lock for writing.
    pub(crate) writer: Option<ThreadId>,
    /// Threads that a barrier waits for, and how many have come in all.
    pub(crate) barrier: (usize, usize),
    /// What threads left that came to the present round of a barrier.
    pub(crate) round: Option<Arc<Lock<Left>>>,
    /// Who holds a mutex, and the number by which libc knows the holder.
    pub(crate) holder: Option<(Done, u32)>,
    /// Who destroyed it, and what stood where it was marked then.
    pub(crate) destroyed: Option<(Done, u32)>,
    /// Its life as a lock, if it was taken.
    pub(crate) lifetime: Option<Lifetime>,
}

impl SyncState {
    /// Its memory was overwritten: if it is a lock, it is another one from now on.
    pub fn renew(&mut self) {
        self.lifetime = None;
        self.main.by = None;
        self.readers.by = None;
    }
}

/// Who did something to a lock or the like, and where.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: Site,
}
