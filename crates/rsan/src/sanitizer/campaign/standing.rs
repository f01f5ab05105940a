//! Servers that wait for more runs when the campaign that has started them is over.
//!
//! To start a server takes as long as many short runs: a program is loaded, and made ready for them. Campaigns of one program, one after the other, hand their servers
//! on. What a server has learnt from its runs changes how long others take, and nothing else ([`super::server`]).

use super::server::{Key, Process};
use crate::sanitizer::library;
use crate::sanitizer::scratch::Scratch;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Such servers, and the files of all of them.
pub(crate) struct Standing {
    /// They end before their files are gone.
    idle: Mutex<Vec<Process>>,
    scratch: Scratch,
    /// For what is written often.
    memory: Option<Scratch>,
    library: PathBuf,
    /// Servers that were started.
    started: AtomicUsize,
}

impl Standing {
    /// # Errors
    /// The message for the user.
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self {
            idle: Mutex::default(),
            scratch: Scratch::new()?,
            memory: Scratch::within(Path::new("/dev/shm")).ok(),
            library: library::folder()?,
            started: AtomicUsize::new(0),
        })
    }

    /// The folder of sockets, whose names must not be long.
    pub(super) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// The folder of what is written often.
    pub(super) fn memory(&self) -> &Path {
        self.memory.as_ref().unwrap_or(&self.scratch).path()
    }

    /// That of the runtime.
    pub(super) fn library(&self) -> &Path {
        &self.library
    }

    /// A number for a server that is about to be started.
    pub(super) fn number(&self) -> usize {
        self.started.fetch_add(1, Ordering::Relaxed)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server that was started in the same way, if one waits.
    pub(super) fn take(&self, key: &Key) -> Option<Process> {
        let mut idle = self.idle();
        let place = idle.iter().position(|process| process.key() == key)?;
        Some(idle.swap_remove(place))
    }

    /// The server has made all runs that it was asked for, and waits.
    pub(super) fn keep(&self, process: Process) {
        self.idle().push(process);
    }
}
