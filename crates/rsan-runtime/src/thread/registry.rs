//! All threads: who has which slot of the clocks, which context belongs to which handle, and what reports call them.

use super::names::Names;
use super::{Context, undecided};
use crate::horizon;
use crate::lock::Lock;
use crate::options::Options;
use crate::owners;
use crate::stack::Site;
use crate::tables::Map;
use libc::pthread_t;
use rsan_clocks::write_log::{Epoch, Rules, SlotTable, ThreadState};
use rsan_model::ThreadId;

/// A thread as reports name it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Who created it, and where.
    pub created: Option<(ThreadId, Site)>,
    /// Its stack: the lowest address, the outermost frame, and the end, above which there is nothing of the thread.
    pub stack: Option<[usize; 3]>,
    /// What the program calls it; up to 15 bytes, ended by zeros.
    pub name: [u8; NAME],
}

/// What the system keeps of a thread's name, with the zero at its end.
pub(crate) const NAME: usize = 16;

/// A part of the memory that libc calls a thread's stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackPart {
    /// Frames of functions.
    Frames,
    /// Thread-local variables, above the frames.
    ThreadLocal,
}

/// A context that only its thread uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle(pub(super) *mut Context);

// SAFETY: the registry only passes handles on; who may use the context is said at `Context`.
unsafe impl Send for Handle {}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) context: Handle,
    pub(super) detached: bool,
    pub(super) finished: bool,
}

#[derive(Debug)]
pub(super) struct Registry {
    slots: SlotTable,
    options: &'static Options,
    pub(super) threads: Map<pthread_t, Entry>,
    names: Names,
}

pub(super) static REGISTRY: Lock<Option<Registry>> = Lock::new(None);

/// The lock of the registry, for fork.
pub(crate) fn registry_lock() -> &'static crate::lock::RawLock {
    REGISTRY.raw()
}

/// Sets up the registry. To be called once, before any context exists.
pub(crate) fn start(options: &'static Options) {
    let mut slots = SlotTable::new(Some(options.slots.max(2)));
    slots.start_at(Epoch::new(options.first_epoch));
    *REGISTRY.lock() = Some(Registry {
        slots,
        options,
        threads: Map::default(),
        names: Names::default(),
    });
}

impl Registry {
    /// A context for a thread that `parent` creates, or that was there before.
    pub(super) fn create(&mut self, parent: Option<(&mut ThreadState, Site)>) -> *mut Context {
        let id = self.names.next();
        let rules = Rules::c20();
        let forced = self.slots.counts().forced;
        let place = self.slots.assign(parent.as_ref().map(|p| &*p.0), rules);
        if self.slots.counts().forced > forced {
            let site = parent.as_ref().map_or(Site::default(), |p| p.1);
            let why = "more threads were created than can be told from each other";
            undecided(self.options, site, why);
        }
        let (state, created) = match parent {
            Some((parent, site)) => (parent.spawn(id, place, rules), Some((parent.id(), site))),
            None => (ThreadState::initial(id, place, rules), None),
        };
        if horizon::is_followed(self.options) {
            horizon::begin(&state);
        }
        let info = Info {
            created,
            stack: None,
            name: [0; NAME],
        };
        self.names.add(info);
        owners::add(state.stamp(), id);
        let mut state = state;
        if state.stamp().epoch.is_ending() {
            self.renew_slot(&mut state);
        }
        Context::new(state, self.options)
    }

    /// A thread goes on in a slot that nobody had. False if there is none.
    fn renew_slot(&mut self, thread: &mut ThreadState) -> bool {
        let is_allowed = self.options.first_epoch != u32::MAX;
        let Some(place) = is_allowed.then(|| self.slots.fresh()).flatten() else {
            return false;
        };
        let start = thread.go_on_in(place);
        owners::add(start, thread.id());
        true
    }

    /// What is known of a thread's creation.
    pub(super) fn info(&self, thread: ThreadId) -> Option<&Info> {
        self.names.info(thread)
    }

    /// A thread is there that nobody was seen to create, unless it is the first: its order is not known, nor its schedule ours.
    pub(super) fn notice_stranger(&self) {
        if !self.threads.is_empty() {
            let why = "a thread runs that was created by a means that is not known";
            undecided(self.options, Site::default(), why);
        }
    }

    /// A thread has ended.
    pub(super) fn retire(&mut self, thread: &ThreadState) {
        self.slots.retire(thread);
        if let Some(slot) = self.names.end(thread.id(), thread.stamp().slot) {
            owners::forget_first(slot);
        }
        if horizon::is_followed(self.options) {
            horizon::end(thread.id());
        }
    }
}

/// A thread goes on in a slot that nobody had. False if there is none, or if it would have to wait for somebody to get one.
pub(super) fn renew_slot(thread: &mut ThreadState) -> bool {
    let Some(mut registry) = REGISTRY.try_lock() else {
        return false;
    };
    registry
        .as_mut()
        .is_some_and(|registry| registry.renew_slot(thread))
}

/// How many threads have not ended.
pub(crate) fn live() -> usize {
    let registry = REGISTRY.lock();
    let threads = registry.as_ref().map(|registry| registry.threads.values());
    threads.map_or(0, |all| all.filter(|entry| !entry.finished).count())
}

/// What is known of a thread's creation.
pub fn info(thread: ThreadId) -> Option<Info> {
    let registry = REGISTRY.lock();
    registry.as_ref()?.names.info(thread).copied()
}

/// What the program calls a thread, if it has given it a name.
pub(crate) fn name(thread: ThreadId) -> Option<String> {
    let name = info(thread)?.name;
    let text = name.split(|byte| *byte == 0).next()?;
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

/// The program has given a thread a name.
pub(crate) fn set_name(thread: ThreadId, name: [u8; NAME]) {
    let mut registry = REGISTRY.lock();
    let names = registry.as_mut().map(|registry| &mut registry.names);
    if let Some(info) = names.and_then(|names| names.info_mut(thread)) {
        info.name = name;
    }
}

/// Notes where the stack of a thread is.
pub(crate) fn set_stack(thread: ThreadId, stack: [usize; 3]) {
    let mut registry = REGISTRY.lock();
    let info = registry
        .as_mut()
        .and_then(|registry| registry.names.info_mut(thread));
    if let Some(info) = info {
        info.stack = Some(stack);
    }
}

/// The thread whose stack an address belongs to; the last one that had it.
pub fn stack_at(address: usize) -> Option<(ThreadId, StackPart)> {
    let registry = REGISTRY.lock();
    registry.as_ref()?.names.stack_at(address)
}
