//! From the creation of a thread to its end.

use super::registry::{Entry, Handle, REGISTRY};
use super::{Body, Context, Entered, current, start_runtime};
use crate::horizon;
use crate::stack::Site;
use crate::system::{ALL_SIGNALS, block_signals};
use crate::tls::{self, ABSENT, PROBING};
use crate::trail::{Act, Place, Step};
use libc::{c_void, pthread_t};
use rsan_clocks::write_log::Rules;
use rsan_model::{RmwOrd, ThreadId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// What the register of the main thread points to, above its thread-local variables; 0 until it has a context.
static MAIN_POINTER: AtomicUsize = AtomicUsize::new(0);

/// The same, for reports.
pub fn main_pointer() -> usize {
    // ORDERING: relaxed; a number that is written once.
    MAIN_POINTER.load(Ordering::Relaxed)
}

/// Gives the calling thread a context, if it has none and is not about to end.
#[cold]
pub fn attach() -> Option<&'static Context> {
    if tls::context_word() != 0 {
        return current();
    }
    if !crate::awake::is_awake() {
        return None;
    }
    tls::set_context_word(ABSENT);
    // A handler that leaves by a jump would leave a lock locked.
    let signals = block_signals(ALL_SIGNALS);
    let context = create();
    if let Some(context) = context {
        adopt(context);
    }
    block_signals(signals);
    current()
}

/// A context for the calling thread, which nobody was seen to create.
fn create() -> Option<*mut Context> {
    start_runtime();
    let context = {
        let mut registry = REGISTRY.lock();
        let registry = registry.as_mut()?;
        registry.notice_stranger();
        let context = registry.create(None);
        // SAFETY: no arguments.
        let me = unsafe { libc::pthread_self() };
        if registry.threads.is_empty() && crate::system::is_main_thread() {
            // ORDERING: relaxed; a number that is written once. In libc for x86-64, a handle is what the register points to.
            MAIN_POINTER.store(me as usize, Ordering::Relaxed);
        }
        let entry = Entry {
            context: Handle(context),
            detached: false,
            finished: false,
        };
        registry.threads.insert(me, entry);
        context
    };
    Some(context)
}

/// Makes `context` that of the calling thread.
fn adopt(context: *mut Context) {
    wait_round(ROUNDS);
    tls::set_context_word(context as usize);
}

/// How many rounds of destructors a thread's end has left.
const ROUNDS: usize = 4;

/// By this, libc tells when a thread ends.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Sets the key whose destructor is called at the end of each thread. To be called once, before any context exists.
pub(crate) fn set_key(key: u32) {
    // ORDERING: relaxed; published with the start of the runtime.
    KEY.store(key, Ordering::Relaxed);
}

fn wait_round(rounds: usize) {
    // ORDERING: relaxed; set before any context exists.
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key was created; the value is a number and never followed.
    unsafe { libc::pthread_setspecific(key, rounds as *const c_void) };
}

/// Whether the destructors of the calling thread come to an end; if not, the key's is called again.
pub(crate) fn is_last_round(rounds: usize) -> bool {
    if rounds > 1 {
        wait_round(rounds - 1);
    }
    rounds <= 1
}

/// A context for a thread that is about to be created.
#[derive(Debug)]
pub struct Newborn(Handle);

/// Prepares the creation of a thread by this one.
pub fn spawn(me: &mut Entered) -> Option<Newborn> {
    let site = crate::unwind::complete(me.site());
    let place = Place::leaf(me.leaf_of(site));
    let body = &mut **me;
    body.dirty = true;
    let mut registry = REGISTRY.lock();
    let context = registry.as_mut()?.create(Some((&mut body.state, site)));
    drop(registry);
    // SAFETY: nobody else has seen the context.
    let child = unsafe { &mut (*(*context).body.get()) };
    let relaxed = RmwOrd::Relaxed;
    let create = Step::new(&body.state, &body.trail, Act::Create, relaxed, place);
    let mut begin = Step::new(&child.state, &child.trail, Act::Begin, relaxed, place);
    begin.position = begin.position.wrapping_add(1);
    child.trail.note(&begin, 0, &[create]);
    Some(Newborn(Handle(context)))
}

impl Newborn {
    /// The word to hand to the new thread, for [`begin`].
    pub fn word(&self) -> usize {
        self.0.0 as usize
    }

    /// Its number.
    pub fn id(&self) -> ThreadId {
        // SAFETY: the thread does not run yet.
        unsafe { (*(*self.0.0).body.get()).state.id() }
    }

    /// The thread exists, and can be found from now on.
    pub fn announce(self, handle: pthread_t, detached: bool) {
        let mut registry = REGISTRY.lock();
        if let Some(registry) = registry.as_mut() {
            let entry = Entry {
                context: self.0,
                detached,
                finished: false,
            };
            registry.threads.insert(handle, entry);
        }
        // SAFETY: the thread waits for this before it does anything else, so its context is still there.
        let context = unsafe { &*self.0.0 };
        // ORDERING: release, with the acquire in `begin`.
        context.ready.store(true, Ordering::Release);
    }

    /// The thread could not be created.
    pub fn discard(self) {
        // SAFETY: nobody else has seen the context.
        let context = unsafe { Box::from_raw(self.0.0) };
        if let Some(registry) = REGISTRY.lock().as_mut() {
            registry.retire(&context.body.into_inner().state);
        }
    }
}

/// The new thread runs.
pub fn begin(word: usize) {
    tls::set_context_word(ABSENT);
    let context = word as *mut Context;
    // SAFETY: from `Newborn::word`, and freed only after the thread's end.
    let ready = unsafe { &(*context).ready };
    // ORDERING: acquire, with the release in `announce`.
    while !ready.load(Ordering::Acquire) {
        crate::system::give_way();
    }
    adopt(context);
}

/// The calling thread ends.
pub(crate) fn finish() {
    let word = tls::context_word();
    if word <= PROBING {
        return;
    }
    tls::set_context_word(ABSENT);
    // SAFETY: no arguments.
    let me = unsafe { libc::pthread_self() };
    let mut guard = REGISTRY.lock();
    let Some(registry) = guard.as_mut() else {
        return;
    };
    // The thread may have ended as a fiber.
    let own = registry.threads.get(&me).map(|entry| entry.context);
    let context = own.unwrap_or(Handle(word as *mut Context));
    // SAFETY: the thread no longer uses its context, and whoever joins it waits for its end.
    registry.retire(unsafe { &(*(*context.0).body.get()).state });
    if let Some(entry) = registry.threads.get_mut(&me) {
        entry.finished = true;
        if entry.detached {
            registry.threads.remove(&me);
            drop(guard);
            free(context);
        }
    }
}

pub(super) fn free(context: Handle) {
    // SAFETY: the thread has ended, and its entry was taken from the registry by the caller, so nobody else frees.
    drop(unsafe { Box::from_raw(context.0) });
}

/// A thread that somebody waits for.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    handle: pthread_t,
    context: Handle,
}

/// Looks a thread up before waiting for its end.
pub fn find(handle: pthread_t) -> Option<Awaited> {
    let registry = REGISTRY.lock();
    let entry = registry.as_ref()?.threads.get(&handle)?;
    Some(Awaited {
        handle,
        context: entry.context,
    })
}

impl Awaited {
    /// Its number.
    pub fn id(&self) -> ThreadId {
        // SAFETY: it has not been joined; its number never changes.
        unsafe { (*(*self.context.0).body.get()).state.id() }
    }

    /// The thread has ended and the calling thread has waited for it.
    pub fn join(self, me: Option<&mut Body>) {
        let taken = {
            let mut registry = REGISTRY.lock();
            let Some(registry) = registry.as_mut() else {
                return;
            };
            match registry.threads.get(&self.handle) {
                Some(entry) if entry.context == self.context && entry.finished => {
                    registry.threads.remove(&self.handle)
                }
                _ => None,
            }
        };
        let Some(entry) = taken else { return };
        if let Some(me) = me {
            // SAFETY: the thread has ended; the entry was ours to take.
            let child = unsafe { &(*(*entry.context.0).body.get()).state };
            me.state.join(child, Rules::c20());
        }
        free(entry.context);
    }
}

/// In the child of a fork: only the calling thread is left.
pub(crate) fn end_others() {
    if let Some(me) = current().and_then(Context::idle)
        && horizon::is_followed(me.options)
    {
        horizon::keep_only(me.state.id());
    }
}

/// Threads that have ended, and were neither joined nor detached: who was the first of those created at a place, and how many
/// have ended and still run.
pub(crate) fn leaks() -> Vec<(ThreadId, Site, [usize; 2])> {
    let guard = REGISTRY.lock();
    let Some(registry) = guard.as_ref() else {
        return Vec::new();
    };
    let mut places: BTreeMap<usize, (ThreadId, Site, [usize; 2])> = BTreeMap::new();
    for entry in registry.threads.values().filter(|entry| !entry.detached) {
        // SAFETY: it has not been joined; its number never changes.
        let id = unsafe { (*(*entry.context.0).body.get()).state.id() };
        let Some((_, site)) = registry.info(id).and_then(|info| info.created) else {
            continue;
        };
        let place = places.entry(site.pc).or_insert((id, site, [0; 2]));
        place.0 = place.0.min(id);
        place.2[usize::from(!entry.finished)] += 1;
    }
    let mut leaks: Vec<_> = places.into_values().filter(|leak| leak.2[0] > 0).collect();
    leaks.sort_unstable_by_key(|leak| leak.0);
    leaks
}

/// Nobody will wait for the thread.
pub fn detach(handle: pthread_t) {
    let mut guard = REGISTRY.lock();
    let Some(registry) = guard.as_mut() else {
        return;
    };
    let Some(entry) = registry.threads.get_mut(&handle) else {
        return;
    };
    entry.detached = true;
    if entry.finished
        && let Some(entry) = registry.threads.remove(&handle)
    {
        drop(guard);
        free(entry.context);
    }
}
