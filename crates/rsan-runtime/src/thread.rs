//! What is known of a thread, from its creation to its end.
//!
//! The context of a thread is found through its TLS word ([`tls`]): 0 is a thread that was not seen yet, 1 one
//! that is being attached or has ended (the runtime only does what the program asks for), 2 the one of a process that only
//! finds something out ([`crate::probe`]), anything else is the address of its [`Context`].
//! The context belongs to the thread. While the thread runs, others read its number and nothing else; who joins it takes what it
//! knew; and under controlled scheduling, whoever runs may look at the stack of one that does not.
//!
//! Slots of the clocks are given out by [`rsan_clocks::write_log::SlotTable`].

pub(crate) mod accessed;
pub mod fiber;
mod hidden;
mod learning;
mod life;
mod names;
mod registry;
mod sleep;
mod trusted;

pub use crate::owners::owner;
pub use life::{Awaited, Newborn, attach, begin, detach, find, main_pointer, spawn};
pub(crate) use life::{end_others, finish, is_last_round, leaks, set_key};
pub use registry::{Info, StackPart, info, stack_at};
pub(crate) use registry::{NAME, live, name, registry_lock, set_name, set_stack, start};
pub use sleep::Slept;
pub(crate) use sleep::slept;
pub use trusted::Trusted;
pub(crate) use trusted::{dismiss, dismissed};

use crate::finding::{Key, KnownPlaces};
use crate::held::HeldLocks;
use crate::location::{FarParts, LoadCache};
use crate::options::Options;
use crate::order::KnownEdges;
use crate::stack::{Function, Node, Site, Stack};
use crate::tables::Set;
use crate::tls::{self, PROBING};
use crate::trail::Trail;
use crate::upcall::upcalls;
use accessed::Accessed;
use hidden::Hidden;
use rsan_clocks::write_log::{Rules, ThreadState};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, compiler_fence};

upcalls! {
    /// Starts the runtime, if that was not done yet.
    "rsan_up_start" fn start_runtime();
    /// Something could not be decided at a place.
    "rsan_up_undecided" fn undecided(options: &Options, site: Site, why: &str);
    /// A process that only finds something out calls a function of a library, which is its end.
    "rsan_up_probe_calls" fn probe_calls() -> !;
    /// Everybody who has released at an address comes before what the thread does next.
    "rsan_up_take_again" fn take_at(me: &mut Entered, address: usize);
}

/// A thread.
#[derive(Debug)]
pub struct Context {
    /// What the thread does as for the runtime: [`IDLE`], [`BUSY`] or [`WATCHED`].
    busy: AtomicU8,
    /// A signal waits until the thread is outside; see [`crate::intercept`].
    deferred: AtomicBool,
    /// The blocked signals to come back to then.
    mask: AtomicU64,
    /// The stack pointer where a signal that cannot wait found the thread inside; 0 if none did.
    interrupted: AtomicUsize,
    hidden: Hidden,
    /// Set by the creator when others can find the thread.
    ready: AtomicBool,
    stack: UnsafeCell<Stack>,
    body: UnsafeCell<Body>,
}

/// Outside the runtime.
const IDLE: u8 = 0;
/// Inside the runtime.
const BUSY: u8 = 1;
/// Outside, and every plain access is to be looked at in full: always, or until the thread has been inside again.
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
    /// What the thread does orders nothing while this is not 0; see `crate::ignoring`.
    pub unsynced: u32,
    /// Handlers of asynchronous signals that it is in; see [`crate::intercept::signals`].
    pub handling: u32,
    /// The signal that it sends to itself, or -1 if it may be anyone.
    pub raising: i32,
    /// What the thread does is no finding while this is not 0.
    pub benign: u32,
    /// Loads that would change nothing if they were repeated.
    pub loads: Box<LoadCache>,
    /// Where parts of the locations that it accesses lie.
    pub far: Box<FarParts>,
    /// Where it has taken what others released, but reads only afterwards ([`take_again`]), else 0.
    pub(crate) again: usize,
    /// Where the program called the runtime. Kept here, for the TLS word changes when the runtime itself copies
    /// memory.
    pub caller: usize,
    /// The settings.
    pub options: &'static Options,
    /// What this thread has reported.
    pub reported: Set<Key>,
    /// Violations that need no report any more.
    pub known: KnownPlaces,
    /// Loads that need no question for a while.
    pub trusted: Trusted,
    /// The last request for what it knows that it answered; see `horizon`.
    pub answered: u64,
    /// From whom it learnt, for reports.
    pub trail: Trail,
    /// Where its stack begins, under controlled scheduling, else 0; see [`crate::sched`].
    pub outermost: usize,
    /// It has written elsewhere than on its stack since this was last unset.
    pub wrote: bool,
    /// It has accessed other memory than its stack, by plain accesses, since this was last unset, or its part of the heap has changed.
    pub touched: bool,
    /// What memory that was, from its first weak compare-and-swap on, where all executions are explored.
    pub(crate) accessed: Accessed,
    /// Registers that calls preserve, and the stack pointer, where it called its last operation that reads, under controlled scheduling.
    pub registers: [u64; 7],
    /// The stream that it is closing, or has closed last: when libc frees that, it does so for the program.
    pub closing: usize,
    /// The number by which libc knows it as the holder of a mutex; 0 before it has taken one.
    pub libc_number: u32,
    /// Where it slept last, and how far others were then.
    pub slept: Option<Box<Slept>>,
    /// The number by which the system and libc know it; 0 until it was asked for.
    pub number: u32,
    /// How often it had to wait for a mutex.
    pub waits: u32,
    /// A lock that it gave back last although it did not have it, else 0.
    pub gave_unheld: usize,
    /// The locks that it holds.
    pub held: HeldLocks,
    /// Orders of locks that need not be looked at again.
    pub known_edges: KnownEdges,
}

impl Body {
    /// The number by which the system and libc know the thread, which is the calling one.
    pub(crate) fn own_number(&mut self) -> u32 {
        if self.number == 0 {
            self.number = crate::system::thread_number();
        }
        self.number
    }

    fn refresh(&mut self) {
        if self.state.stamp().epoch.is_ending() {
            self.change_slot();
        }
        let stamp = self.state.stamp();
        self.own = crate::shadow::stamp(stamp.slot, stamp.epoch);
    }

    /// Few epochs are left: the thread goes on in another slot, now or next time. The lock of a location may be held, so nobody is waited for.
    #[cold]
    fn change_slot(&mut self) {
        if !registry::renew_slot(&mut self.state) && self.state.stamp().epoch.is_exhausted() {
            say_exhausted(self);
        }
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

    /// Begins a new epoch: what is recorded from now on is told from what was before.
    #[inline]
    pub fn begin_epoch(&mut self) {
        self.state.new_epoch();
        self.dirty = false;
        self.refresh();
        tls::set_stamp(None);
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
fn say_exhausted(me: &Body) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let (thread, pc) = (me.state.id(), me.caller);
    let node = Node::UNKNOWN;
    let why = "a thread has made more writes and fences than can be counted";
    undecided(me.options, Site { node, pc }, why);
    // ORDERING: relaxed; a flag that is only ever set.
    if !SAID.load(Ordering::Relaxed) && !SAID.swap(true, Ordering::Relaxed) {
        let text = format!(
            "rsan: thread {thread} has made more writes and fences than can be counted; nothing is concluded from what it does from now on\n"
        );
        crate::output::write_to(2, text.as_bytes());
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
    /// A context for a thread in this state.
    fn new(state: ThreadState, options: &'static Options) -> *mut Self {
        let mut body = Body {
            state,
            own: 0,
            dirty: true,
            ignored: 0,
            unsynced: 0,
            handling: 0,
            raising: 0,
            benign: 0,
            loads: Box::default(),
            far: Box::default(),
            again: 0,
            caller: 0,
            options,
            reported: Set::default(),
            known: KnownPlaces::default(),
            trusted: Trusted::default(),
            answered: 0,
            trail: Trail::default(),
            outermost: 0,
            wrote: false,
            touched: false,
            accessed: Accessed::NONE,
            registers: [0; 7],
            closing: 0,
            libc_number: 0,
            slept: None,
            number: 0,
            waits: 0,
            gave_unheld: 0,
            held: HeldLocks::default(),
            known_edges: KnownEdges::default(),
        };
        body.refresh();
        Box::into_raw(Box::new(Self {
            busy: AtomicU8::new(if options.exact { WATCHED } else { IDLE }),
            deferred: AtomicBool::new(false),
            mask: AtomicU64::new(0),
            interrupted: AtomicUsize::new(0),
            hidden: Hidden::new(),
            ready: AtomicBool::new(false),
            stack: UnsafeCell::default(),
            body: UnsafeCell::new(body),
        }))
    }

    /// Whether the thread is inside the runtime.
    #[inline]
    pub fn is_busy(&self) -> bool {
        // ORDERING: relaxed; only this thread and its signal handlers use it.
        self.busy.load(Ordering::Relaxed) == BUSY
    }

    /// What a plain access needs to see that there is nothing to do: the thread's stamp, if it is private and the
    /// thread is neither inside the runtime nor watched.
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

    /// A signal waits, and all that can wait are blocked, until the thread is outside. `mask` is what was blocked before.
    pub(crate) fn defer(&self, mask: u64) {
        // ORDERING: relaxed; see `is_busy`. The others come back to the same mask.
        if !self.deferred.load(Ordering::Relaxed) {
            // ORDERING: relaxed, as above.
            self.mask.store(mask, Ordering::Relaxed);
            // ORDERING: relaxed, as above.
            self.deferred.store(true, Ordering::Relaxed);
        }
    }

    /// Lets the signals come that waited: their handlers run before this returns, if it does.
    #[cold]
    #[inline(never)]
    fn deliver(&self) {
        // ORDERING: relaxed; see `is_busy`.
        self.deferred.store(false, Ordering::Relaxed);
        // ORDERING: relaxed, as above.
        crate::system::block_signals(self.mask.load(Ordering::Relaxed));
    }

    /// A signal that cannot wait found the thread inside, with this stack pointer.
    pub(crate) fn set_interrupted(&self, pointer: usize) {
        // ORDERING: relaxed; see `is_busy`.
        self.interrupted.store(pointer, Ordering::Relaxed);
    }

    /// Where such a signal found it.
    pub(crate) fn interrupted(&self) -> Option<usize> {
        // ORDERING: relaxed; see `is_busy`.
        Some(self.interrupted.load(Ordering::Relaxed)).filter(|pointer| *pointer != 0)
    }

    /// The functions that were inside are left by a jump.
    pub(crate) fn abandon(&'static self) {
        tls::set_stamp(None);
        // SAFETY: the thread was inside, and nobody there comes back.
        let exact = unsafe { &*self.body.get() }.options.exact;
        let was = if exact { WATCHED } else { IDLE };
        // ORDERING: relaxed; see `is_busy`.
        self.interrupted.store(0, Ordering::Relaxed);
        self.hidden.abandon();
        drop(Entered { context: self, was });
    }

    /// The stack of calls.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn stack(&self) -> &mut Stack {
        // SAFETY: only the thread itself uses it, and not across calls. A signal handler that comes in between
        // enters and leaves as many functions, so it leaves the stack as it was.
        unsafe { &mut *self.stack.get() }
    }

    /// The number of the calling thread, which may be anywhere in the runtime, and never goes on.
    pub(crate) fn number_at_end(&self) -> rsan_model::ThreadId {
        // SAFETY: whoever has a reference to it stands still for good.
        unsafe { (*self.body.get()).state.id() }
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
        if was == WATCHED {
            entered.take_again();
        }
        Some(entered)
    }
}

/// The calling thread has taken what was released at an address for a read that it is about to make. What it reads may be released until
/// then, so it takes that, too, when it comes back.
pub(crate) fn take_again(address: usize) {
    if let Some(mut me) = enter() {
        me.again = address;
        me.was = WATCHED;
        tls::set_stamp(None);
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

    #[cold]
    fn take_again(&mut self) {
        let address = std::mem::take(&mut self.again);
        if address != 0 {
            self.was = IDLE;
            take_at(self, address);
        }
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

    /// The same for an access that a function of libc makes there.
    #[inline]
    pub fn call_leaf(&mut self, function: Function) -> Node {
        self.context.stack().call_leaf(self.caller, function)
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
        compiler_fence(Ordering::SeqCst);
        // ORDERING: relaxed, as above. A signal that comes before the store is seen here; a later one does not wait.
        if self.context.deferred.load(Ordering::Relaxed) {
            self.context.deliver();
        }
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
        PROBING if visible => probe_calls(),
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
