//! What is known of a thread, from its creation to its end.
//!
//! The context of a thread is found through its TLS word ([`tls`]): 0 is a thread that was not seen yet, 1 one
//! that is being attached or has ended (the runtime only does what the program asks for), anything else is the
//! address of its [`Context`]. The context belongs to the thread; only who joins the thread looks at it later.
//!
//! Slots of the clocks are given out by [`SlotTable`].

pub mod fiber;
mod names;
pub(crate) mod owners;

use crate::atomic::LoadCache;
use crate::horizon;
use crate::lock::Lock;
use crate::options::Options;
use crate::probe::Trusted;
use crate::report::{Key, KnownPlaces};
use crate::stack::{Node, Site, Stack};
use crate::tls::{self, ABSENT, PROBING};
use crate::trail::{Act, Place, Step, Trail};
use libc::pthread_t;
use names::Names;
pub use owners::owner;
use rsan_clocks::write_log::{Epoch, Rules, SlotTable, ThreadState};
use rsan_model::{RmwOrd, ThreadId};
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, compiler_fence};

/// A thread.
#[derive(Debug)]
pub struct Context {
    /// What the thread does as for the runtime: [`IDLE`], [`BUSY`] or [`WATCHED`].
    busy: AtomicU8,
    /// Set by the creator when others can find the thread.
    ready: AtomicBool,
    stack: UnsafeCell<Stack>,
    body: UnsafeCell<Body>,
}

/// Outside the runtime.
const IDLE: u8 = 0;
/// Inside the runtime.
const BUSY: u8 = 1;
/// Outside, and every plain access is to be looked at in full.
const WATCHED: u8 = 2;

/// What the thread knows; used while it is busy.
#[derive(Debug)]
pub struct Body {
    /// The monitor's state.
    pub state: ThreadState,
    /// A slot and epoch for the cells of the shadow: nobody had reached this epoch when it was chosen. It may be older
    /// than the present one, for what was published since then is published after what it stands for.
    pub own: u64,
    /// Something was published since `own` was chosen, so that the next recorded access needs another one.
    pub dirty: bool,
    /// Plain accesses are not to be looked at while this is not 0.
    pub ignored: u32,
    /// What the thread does is no finding while this is not 0.
    pub benign: u32,
    /// Loads that would change nothing if they were repeated.
    pub loads: Box<LoadCache>,
    /// Where the program called the runtime. Kept here, for the TLS word changes when the runtime itself copies
    /// memory.
    pub caller: usize,
    /// The settings.
    pub options: &'static Options,
    /// What this thread has reported.
    pub reported: HashSet<Key>,
    /// Violations that need no report any more.
    pub known: KnownPlaces,
    /// Loads that need no question for a while.
    pub trusted: Trusted,
    /// The last request for what it knows that it answered; see `horizon`.
    pub answered: u64,
    /// From whom it learnt, for reports.
    pub trail: Trail,
    /// Where its stack begins, if the schedule is ours, else 0; see [`crate::sched`].
    pub outermost: usize,
    /// It has written elsewhere than on its stack since this was last unset.
    pub wrote: bool,
}

/// A thread as reports name it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Who created it, and where.
    pub created: Option<(ThreadId, Site)>,
    /// Its stack: the lowest address, the outermost frame, and the end, above which there is nothing of the thread.
    pub stack: Option<[usize; 3]>,
}

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
struct Handle(*mut Context);

// SAFETY: the registry only passes handles on; who may use the context is said at `Context`.
unsafe impl Send for Handle {}

#[derive(Debug)]
struct Entry {
    context: Handle,
    detached: bool,
    finished: bool,
}

#[derive(Debug)]
struct Registry {
    slots: SlotTable,
    options: &'static Options,
    threads: HashMap<pthread_t, Entry>,
    names: Names,
}

static REGISTRY: Lock<Option<Registry>> = Lock::new(None);

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
        threads: HashMap::new(),
        names: Names::default(),
    });
}

impl Registry {
    /// A context for a thread that `parent` creates, or that was there before.
    fn create(&mut self, parent: Option<(&mut ThreadState, Site)>) -> *mut Context {
        let id = self.names.next();
        let rules = Rules::c20();
        let place = self.slots.assign(parent.as_ref().map(|p| &*p.0), rules);
        let (state, created) = match parent {
            Some((parent, site)) => (parent.spawn(id, place, rules), Some((parent.id(), site))),
            None => (ThreadState::initial(id, place, rules), None),
        };
        if self.options.log_cap == 0 {
            horizon::begin(&state);
        }
        let info = Info {
            created,
            stack: None,
        };
        self.names.add(info);
        owners::add(state.stamp(), id);
        let mut body = Body {
            state,
            own: 0,
            dirty: true,
            ignored: 0,
            benign: 0,
            loads: Box::default(),
            caller: 0,
            options: self.options,
            reported: HashSet::new(),
            known: KnownPlaces::default(),
            trusted: Trusted::default(),
            answered: 0,
            trail: Trail::default(),
            outermost: 0,
            wrote: false,
        };
        body.refresh();
        Box::into_raw(Box::new(Context {
            busy: AtomicU8::new(IDLE),
            ready: AtomicBool::new(false),
            stack: UnsafeCell::default(),
            body: UnsafeCell::new(body),
        }))
    }

    /// A thread has ended.
    fn retire(&mut self, thread: &ThreadState) {
        self.slots.retire(thread);
        if let Some(slot) = self.names.end(thread.id(), thread.stamp().slot) {
            owners::forget_first(slot);
        }
        if self.options.log_cap == 0 {
            horizon::end(thread.id());
        }
    }
}

impl Body {
    fn refresh(&mut self) {
        let stamp = self.state.stamp();
        if stamp.epoch.is_exhausted() {
            say_exhausted(self.state.id());
        }
        self.own = crate::race::stamp(stamp.slot, stamp.epoch);
    }

    /// Makes `own` a stamp that nobody else knows yet.
    #[inline]
    pub fn make_private(&mut self) {
        if self.dirty {
            self.state.private_epoch(Rules::c20());
            self.dirty = false;
            self.refresh();
        }
    }

    /// The thread has made an atomic write, with an epoch of its own that was not published before it.
    #[inline]
    pub fn has_written(&mut self, releases: bool) {
        if self.dirty {
            self.refresh();
        }
        self.dirty = releases;
    }
}

/// Says, once, that a thread has come to the end of its epochs. The lock of a location may be held, against the rule; nobody
/// waits for it who would have to read this first.
#[cold]
fn say_exhausted(thread: ThreadId) {
    static SAID: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed; a flag that is only ever set.
    if !SAID.load(Ordering::Relaxed) && !SAID.swap(true, Ordering::Relaxed) {
        let text = format!(
            "rsan: thread {thread} has made more writes and fences than can be counted; nothing is concluded from what it does from now on\n"
        );
        crate::report::write_to(2, text.as_bytes());
    }
}

/// The context of the calling thread, if it has one.
#[inline(always)]
pub fn current() -> Option<&'static Context> {
    let word = tls::context_word();
    // SAFETY: larger words are contexts of the calling thread, which live until its end.
    (word > PROBING).then(|| unsafe { &*(word as *const Context) })
}

impl Context {
    /// Whether the thread is inside the runtime.
    #[inline]
    pub fn is_busy(&self) -> bool {
        // ORDERING: relaxed; only this thread and its signal handlers use it.
        self.busy.load(Ordering::Relaxed) == BUSY
    }

    /// What a plain access needs to see that there is nothing to do: the thread's stamp, if it is private and
    /// accesses are looked at.
    #[inline]
    pub fn private_stamp(&self) -> Option<u64> {
        // ORDERING: relaxed; see `is_busy`.
        if self.busy.load(Ordering::Relaxed) != IDLE {
            return None;
        }
        // SAFETY: the thread is not busy, so nobody has a mutable reference.
        let body = unsafe { &*self.body.get() };
        (!body.dirty).then_some(body.own)
    }

    /// What a load needs to see that there is nothing to do, if the thread is not busy.
    #[inline]
    pub fn idle(&self) -> Option<&Body> {
        // SAFETY: the thread is not busy, so nobody has a mutable reference.
        (!self.is_busy()).then(|| unsafe { &*self.body.get() })
    }

    /// Makes the thread busy for a plain access, if that is to be looked at, and nothing has to be done first. Where
    /// the program called the runtime is not noted.
    #[inline(always)]
    pub fn enter_plain(&'static self) -> Option<Entered> {
        // ORDERING: relaxed, as in `enter`.
        if self.busy.load(Ordering::Relaxed) != IDLE {
            return None;
        }
        self.busy.store(BUSY, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let context = self;
        let me = Entered { context, was: IDLE };
        let needs_more = me.dirty || me.ignored != 0 || me.outermost != 0;
        if needs_more {
            return None;
        }
        tls::set_stamp(Some(me.own));
        Some(me)
    }

    /// The stack of calls.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn stack(&self) -> &mut Stack {
        // SAFETY: only the thread itself uses it, and not across calls. A signal handler that comes in between
        // enters and leaves as many functions, so it leaves the stack as it was.
        unsafe { &mut *self.stack.get() }
    }

    /// Makes the thread busy.
    #[inline]
    pub fn enter(&'static self) -> Option<Entered> {
        // ORDERING: relaxed; see `is_busy`. The compiler fence is for signal handlers of this thread.
        let was = self.busy.load(Ordering::Relaxed);
        if was == BUSY {
            return None;
        }
        self.busy.store(BUSY, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let mut entered = Entered { context: self, was };
        entered.caller = tls::caller();
        Some(entered)
    }
}

/// From now on every plain access of the calling thread is looked at in full.
pub(crate) fn watch() {
    if let Some(context) = current() {
        tls::set_stamp(None);
        // ORDERING: relaxed; see `Context::is_busy`.
        context.busy.store(WATCHED, Ordering::Relaxed);
    }
}

/// The calling thread, inside the runtime.
#[derive(Debug)]
pub struct Entered {
    context: &'static Context,
    /// What it was before.
    was: u8,
}

impl Entered {
    /// Where the program called the runtime.
    pub fn site(&mut self) -> Site {
        self.context.stack().site(self.caller)
    }

    /// The present stack of calls, to come back to.
    pub fn mark(&self) -> crate::stack::Mark {
        self.context.stack().mark()
    }

    /// The same as one number.
    #[inline]
    pub fn leaf(&mut self) -> Node {
        self.context.stack().leaf(self.caller)
    }

    /// The same for a call from this place, if it is known without a look-up.
    #[inline(always)]
    pub fn known_leaf(&self, pc: usize) -> Option<Node> {
        self.context.stack().known_leaf(pc)
    }

    /// A site as one number.
    pub fn leaf_of(&mut self, site: Site) -> Node {
        self.context.stack().leaf_of(site)
    }
}

impl Deref for Entered {
    type Target = Body;

    #[inline]
    fn deref(&self) -> &Body {
        // SAFETY: the thread is busy, so this is the only way to its body.
        unsafe { &*self.context.body.get() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut Body {
        // SAFETY: the thread is busy, so this is the only way to its body.
        unsafe { &mut *self.context.body.get() }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.dirty {
            tls::set_stamp(None);
        }
        compiler_fence(Ordering::SeqCst);
        // ORDERING: relaxed; see `Context::is_busy`.
        self.context.busy.store(self.was, Ordering::Relaxed);
    }
}

/// Enters the runtime; `None` if the thread is inside already, or has ended. A new thread is attached. To a process
/// that only finds something out ([`crate::probe`]), this is the end.
#[inline]
pub fn enter() -> Option<Entered> {
    match current() {
        Some(context) => context.enter(),
        None => enter_first(true),
    }
}

/// The same for accesses, fences and whatever else such a process may do.
#[inline]
pub fn enter_access() -> Option<Entered> {
    match current() {
        Some(context) => context.enter(),
        None => enter_first(false),
    }
}

#[cold]
fn enter_first(visible: bool) -> Option<Entered> {
    match tls::context_word() {
        0 => attach()?.enter(),
        PROBING if visible => crate::probe::passes(crate::probe::Step::Call),
        _ => None,
    }
}

/// Enters the runtime, unless the thread was not seen yet; for functions that are called before the start.
#[inline]
pub fn enter_if_attached() -> Option<Entered> {
    match current() {
        Some(context) => context.enter(),
        None if tls::context_word() == PROBING => enter_first(true),
        None => None,
    }
}

/// Gives the calling thread a context, if it has none and is not about to end.
#[cold]
pub fn attach() -> Option<&'static Context> {
    if tls::context_word() != 0 {
        return current();
    }
    tls::set_context_word(ABSENT);
    crate::runtime::start();
    let context = {
        let mut registry = REGISTRY.lock();
        let registry = registry.as_mut()?;
        let context = registry.create(None);
        // SAFETY: no arguments.
        let me = unsafe { libc::pthread_self() };
        let entry = Entry {
            context: Handle(context),
            detached: false,
            finished: false,
        };
        registry.threads.insert(me, entry);
        context
    };
    adopt(context);
    current()
}

/// Makes `context` that of the calling thread.
fn adopt(context: *mut Context) {
    crate::runtime::notice_end_of_thread();
    tls::set_context_word(context as usize);
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
    begin.position += 1;
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

fn free(context: Handle) {
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
        && me.options.log_cap == 0
    {
        horizon::keep_only(me.state.id());
    }
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

/// What is known of a thread's creation.
pub fn info(thread: ThreadId) -> Option<Info> {
    let registry = REGISTRY.lock();
    registry.as_ref()?.names.info(thread).copied()
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
