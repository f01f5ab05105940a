//! Owning the schedule: one thread of the program runs at a time, and a strategy says which.
//!
//! A thread comes here before every operation that others can see (`point`): atomic accesses, fences, locks,
//! creation and end of threads, sleeping and yielding. What it does next is then known of every thread, so the
//! `Strategy` can choose. The chosen thread does what it announced, and runs on to its next such point.
//!
//! Operations that wait (locks, joins, condition variables...) are tried; when they would wait, the thread is blocked
//! here until what it waits for may have come (`waits`). So the scheduler knows when nobody can go
//! on, which is a deadlock. A call that may wait for something outside the program is made `outside`: the others go
//! on meanwhile.
//!
//! * `switch`: how the processor gets from one thread to another. `trace`: what happened.
//! * `spin`: loops that only wait. `server`: many runs of one program, from a snapshot.
//! * `atomics`, `waits`: the program's operations, by way of the scheduler. `stuck`: nobody can go on.
//!
//! Nothing here costs a program that is not scheduled more than one test of a flag per operation.

pub(crate) mod atomics;
mod run;
pub mod server;
mod spin;
mod stuck;
mod switch;
mod trace;
pub(crate) mod waits;

pub(crate) use run::{begin_run, end_run};

use crate::lock::{Guard, Lock};
use crate::system::futex_wait;
use crate::thread;
use rsan_model::ThreadId;
use rsan_schedule::{Candidate, Kind, Op, Step, Strategy};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use switch::{Carrier, Saved};
use trace::{Outcome, Trace};

pub(crate) static ACTIVE: AtomicBool = AtomicBool::new(false);
static STATE: Lock<Option<State>> = Lock::new(None);

/// Whether a strategy says who runs.
#[inline(always)]
pub(crate) fn active() -> bool {
    // ORDERING: relaxed; set while there is one thread.
    ACTIVE.load(Ordering::Relaxed)
}

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    STATE.raw()
}

/// In a child that the program made: its only thread runs as it likes.
pub(crate) fn end_in_child() {
    // ORDERING: relaxed; there is one thread.
    ACTIVE.store(false, Ordering::Relaxed);
}

/// What a thread that does not run waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum For {
    /// A lock or the like, by its address.
    Object(usize),
    /// A change of one of the atomic words that the thread has read: by their addresses, as [`spin`] keeps them.
    Words,
    /// The end of a thread.
    Thread(ThreadId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    /// It can go on.
    Ready,
    /// It waits, and gives up after some time if `timed`.
    Blocked { wait: For, timed: bool },
    /// It is in a call that may wait for something outside the program.
    Outside,
    /// It has ended.
    Finished,
}

/// A thread of the program.
#[derive(Debug)]
struct Thread {
    /// Where it goes on.
    saved: Saved,
    /// 1: `saved` is complete. 0 while a kernel thread of its own has not left its stack yet.
    settled: AtomicU32,
    /// The kernel thread that libc made for it.
    carrier: Box<Carrier>,
    status: Status,
    /// What it does next.
    op: Op,
    /// When it was blocked; who waits longest is woken first.
    since: u64,
    /// Its wait ended because the time was over.
    timed_out: bool,
    /// What it has read in a loop that may only wait.
    spin: spin::Loop,
    /// Its last step, and where that is in the trace.
    step: (usize, Step),
    /// The kernel thread that carries it while it is outside.
    away: *const Carrier,
    /// Its record in the runtime, once it runs.
    context: Option<&'static thread::Context>,
    /// Where the program called last.
    pc: usize,
}

// SAFETY: what a context holds is used by the one kernel thread that carries it.
unsafe impl Send for State {}

#[derive(Debug)]
struct State {
    strategy: Box<dyn Strategy>,
    /// By number.
    threads: Vec<Option<Box<Thread>>>,
    current: usize,
    /// The kernel thread that carries it.
    executor: *const Carrier,
    /// Nobody could go on but those outside.
    vacant: bool,
    /// Kernel threads that carry nobody.
    idle: Vec<*const Carrier>,
    ready: Vec<Candidate>,
    trace: Trace,
    /// Threads are switched without a system call.
    cheap: bool,
    /// Steps before the run is cut off.
    limit: u64,
    /// Waits for a value stay unsuccessful: another run has the other order.
    stay_blocked: bool,
    /// How often loops were tried again because nobody could go on.
    retries: u32,
    /// Steps that the current thread has made without another in between.
    turn: u32,
}

/// Steps after which a thread is taken as one that waits in a loop that is not recognised: others should go on.
const LONGEST_TURN: u32 = 500;

impl Thread {
    fn is_blocked(&self) -> bool {
        matches!(self.status, Status::Blocked { .. })
    }

    /// Whether it waits in a function that says so, not in a loop.
    fn is_waiting_by_name(&self) -> bool {
        matches!(self.op.kind, Kind::Wait | Kind::WaitUpdate)
    }
}

/// The calling thread inside the runtime, also while others run. What the runtime itself copies is not taken for the
/// program's then, and does not change where the program called.
struct Inside {
    entered: thread::Entered,
    caller: usize,
}

impl Inside {
    /// `None` if the thread is inside already, or not to be seen.
    fn enter() -> Option<Self> {
        let caller = crate::tls::caller();
        let entered = thread::enter_access()?;
        Some(Self { entered, caller })
    }

    /// The thread's number.
    fn number(&self) -> usize {
        self.entered.state.id().index()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        crate::tls::set_caller(self.caller);
    }
}

/// The calling thread and the state, if it is scheduled. A thread that was outside waits for its turn.
fn scheduled() -> Option<(Inside, Guard<'static, Option<State>>)> {
    let inside = Inside::enter()?;
    let me = inside.number();
    let mut guard = STATE.lock();
    if guard.as_mut()?.thread(me)?.status == Status::Outside {
        come_back(me, guard);
        guard = STATE.lock();
    }
    let thread = guard.as_mut()?.thread(me)?;
    thread.pc = inside.caller;
    (thread.status != Status::Finished).then_some((inside, guard))
}

/// The number of the calling thread, if it is scheduled.
pub(crate) fn number() -> Option<ThreadId> {
    let inside = active().then(Inside::enter)??;
    Some(ThreadId::new(inside.number()))
}

/// A thread is about to write; on its own stack only it sees that.
#[cold]
pub(crate) fn note_write(me: &mut thread::Body, address: usize) {
    let here = 0u8;
    let stack = &raw const here as usize..me.outermost;
    me.wrote |= !stack.contains(&address);
}

/// The calling thread is about to do something that others can see.
#[inline]
pub(crate) fn point(kind: Kind, object: usize, bytes: usize) {
    if active() {
        stop_at(kind, object, bytes);
    }
}

#[cold]
fn stop_at(kind: Kind, object: usize, bytes: usize) {
    if let Some((inside, mut guard)) = scheduled() {
        let me = inside.number();
        if !matches!(kind, Kind::Fence | Kind::Yield)
            && let Some(thread) = guard.as_mut().and_then(|state| state.thread(me))
        {
            thread.spin.reset();
        }
        give_way(me, guard, op(kind, object, bytes), Status::Ready);
    }
}

fn op(kind: Kind, object: usize, bytes: usize) -> Op {
    Op {
        kind,
        object: object as u64,
        bytes: bytes as u8,
    }
}

/// The calling thread yields, sleeps, or spins: others should go on.
pub(crate) fn yielded() {
    if active()
        && let Some((inside, mut guard)) = scheduled()
    {
        let me = inside.number();
        if let Some(state) = guard.as_mut() {
            state.strategy.yielded(ThreadId::new(me));
        }
        give_way(me, guard, op(Kind::Yield, 0, 0), Status::Ready);
    }
}

/// What came of the step that the calling thread was let make.
pub(crate) fn done(change: impl FnOnce(&mut Step)) {
    if let Some((inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        let me = inside.number();
        let Some(thread) = state.thread(me) else {
            return;
        };
        change(&mut thread.step.1);
        let (index, step) = thread.step;
        state.trace.set(index, &step);
        state.strategy.stepped(&step);
        let changes = step.writes && (step.op.kind != Kind::Update || step.read != step.wrote);
        if changes {
            if let Some(thread) = state.thread(me) {
                thread.spin.reset();
            }
            state.written(step.op.object as usize, usize::from(step.op.bytes));
        }
    }
}

/// Something that threads wait for may have come; at most so many of them try again, those first who wait longest.
/// Returns how many.
pub(crate) fn wake(wait: For, at_most: usize) -> usize {
    if !active() {
        return 0;
    }
    let _inside = Inside::enter();
    match STATE.lock().as_mut() {
        Some(state) => state.wake(wait, at_most),
        None => 0,
    }
}

/// The calling thread waits; others go on. False: the time was over. May be left by thread cancellation, unless it is a
/// lock that is waited for.
pub(crate) fn block(wait: For, timed: bool) -> bool {
    let Some((inside, mut guard)) = scheduled() else {
        return true;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else {
        return true;
    };
    let since = state.trace.steps();
    let Some(thread) = state.thread(me) else {
        return true;
    };
    (thread.since, thread.timed_out) = (since, false);
    let op = thread.op;
    give_way(me, guard, op, Status::Blocked { wait, timed });
    let mut guard = STATE.lock();
    let thread = guard.as_mut().and_then(|state| state.thread(me));
    let in_time = thread.is_none_or(|thread| !thread.timed_out);
    drop(guard);
    drop(inside);
    if op.kind != Kind::Lock {
        test_cancel();
    }
    in_time
}

/// A thread is to end where it waits.
pub(crate) fn cancel(number: ThreadId) {
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut().filter(|_| active())
        && let Some(thread) = state.thread(number.index())
        && matches!(thread.status, Status::Blocked { .. })
    {
        thread.status = Status::Ready;
    }
}

/// Ends the calling thread if somebody has asked for it.
pub(crate) fn test_cancel() {
    unsafe extern "C-unwind" {
        safe fn pthread_testcancel();
    }
    pthread_testcancel();
}

impl State {
    fn thread(&mut self, number: usize) -> Option<&mut Thread> {
        self.threads.get_mut(number)?.as_deref_mut()
    }

    fn longest_waiting(&mut self, is: impl Fn(Status) -> bool) -> Option<&mut Thread> {
        let waiting = self.threads.iter_mut().flatten();
        let waiting = waiting.filter(|thread| is(thread.status));
        waiting
            .min_by_key(|thread| thread.since)
            .map(|thread| &mut **thread)
    }

    fn wake(&mut self, wait: For, at_most: usize) -> usize {
        let is = |status| matches!(status, Status::Blocked { wait: its, .. } if its == wait);
        for woken in 0..at_most {
            match self.longest_waiting(is) {
                Some(thread) => thread.status = Status::Ready,
                None => return woken,
            }
        }
        at_most
    }

    /// Whether there is no other thread.
    fn is_alone(&self, me: usize) -> bool {
        let mut others = self.threads.iter().enumerate();
        others.all(|(number, thread)| {
            number == me
                || thread
                    .as_ref()
                    .is_none_or(|thread| thread.status == Status::Finished)
        })
    }

    /// An atomic word has another value, perhaps.
    fn written(&mut self, address: usize, bytes: usize) {
        for thread in self.threads.iter_mut().flatten() {
            if !thread.spin.reads(address, bytes) {
                continue;
            }
            thread.spin.changed = true;
            let (wait, timed) = (For::Words, false);
            if thread.status == (Status::Blocked { wait, timed }) && !self.stay_blocked {
                thread.status = Status::Ready;
            }
        }
    }

    /// Asks the strategy. `None` if nobody is ready.
    fn pick(&mut self) -> Option<usize> {
        self.ready.clear();
        for (number, thread) in self.threads.iter().enumerate() {
            if let Some(thread) = thread
                && thread.status == Status::Ready
            {
                self.ready.push(Candidate {
                    thread: ThreadId::new(number),
                    op: thread.op,
                });
            }
        }
        if self.ready.is_empty() {
            return None;
        }
        let last = Some(ThreadId::new(self.current));
        if self.turn == LONGEST_TURN {
            self.strategy.yielded(ThreadId::new(self.current));
            self.turn = 0;
        }
        match self.strategy.choose(&self.ready, last) {
            Some(chosen) => Some(self.ready.get(chosen)?.thread.index()),
            None => run::stop(self),
        }
    }

    /// The thread makes the step that it announced.
    fn advance(&mut self, next: usize) {
        let step = self.trace.steps() as usize;
        self.turn = if next == self.current {
            self.turn + 1
        } else {
            0
        };
        let Some(thread) = self.threads.get_mut(next).and_then(|t| t.as_deref_mut()) else {
            return;
        };
        thread.step = (step, Step::new(ThreadId::new(next), thread.op));
        self.trace.push(&thread.step.1);
        if self.trace.steps() > self.limit {
            run::cut_off(self);
        }
    }

    /// A kernel thread that carries nobody; the thread's own if threads stay with theirs, or if it is free.
    fn idle_carrier(&mut self, next: usize) -> *const Carrier {
        let own = self
            .thread(next)
            .map_or(std::ptr::null(), |thread| &raw const *thread.carrier);
        let place = self.idle.iter().position(|carrier| *carrier == own);
        match place {
            Some(place) => self.idle.swap_remove(place),
            None => self.idle.pop().unwrap_or(own),
        }
    }
}

/// Who goes on: lets waits time out, or ends the process if nobody can. `None` if threads outside are waited for (the
/// first that comes back takes over), or if all have ended.
fn choose(state: &mut State) -> Option<usize> {
    loop {
        if let Some(next) = state.pick() {
            state.advance(next);
            return Some(next);
        }
        let statuses = || state.threads.iter().flatten().map(|thread| thread.status);
        let all_ended = statuses().all(|status| status == Status::Finished);
        if all_ended || statuses().any(|status| status == Status::Outside) {
            state.vacant = true;
            return None;
        }
        let timed = |status| matches!(status, Status::Blocked { timed: true, .. });
        match state.longest_waiting(timed) {
            Some(thread) => {
                thread.timed_out = true;
                thread.status = Status::Ready;
            }
            None => stuck::end(state),
        }
    }
}

/// The calling thread has something to do, or waits; whoever is chosen goes on. Returns when it is chosen itself.
fn give_way(me: usize, mut guard: Guard<'static, Option<State>>, op: Op, status: Status) {
    let Some(state) = guard.as_mut() else { return };
    if let Some(thread) = state.thread(me) {
        thread.op = op;
        thread.status = status;
    }
    match choose(state) {
        Some(next) => go_on_as(me, next, guard),
        None => {
            let carrier = state.executor;
            state.idle.push(carrier);
            lie_down(me, carrier, guard);
        }
    }
}

/// The calling thread's kernel thread carries nobody from now on; the thread goes on when it is chosen.
fn lie_down(me: usize, carrier: *const Carrier, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let (save, settled) = state.context(me);
    // SAFETY: from `State::context`. ORDERING: relaxed; the lock is held, without which nobody looks.
    unsafe { &*settled }.store(0, Ordering::Relaxed);
    drop(guard);
    // SAFETY: this is the kernel thread that carries the thread; whoever goes on as it waits until it is settled.
    unsafe { switch::lie_down(save, carrier, settled) };
}

/// Another thread goes on, and the calling one when it is its turn again.
fn go_on_as(me: usize, next: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut().filter(|_| me != next) else {
        return;
    };
    state.current = next;
    state.trace.switched();
    let (cheap, executor) = (state.cheap, state.executor);
    let other = if cheap {
        executor
    } else {
        let other = state.idle_carrier(next);
        state.idle.push(executor);
        state.executor = other;
        other
    };
    let (save, _) = state.context(me);
    let (load, settled) = state.context(next);
    drop(guard);
    wait_until_settled(settled);
    // SAFETY: the thread was saved when it came here, or is saved now; only this kernel thread chooses who runs.
    unsafe {
        if cheap {
            switch::swap(save, load);
        } else {
            switch::hand_over(save, executor, other, load);
        }
    }
}

impl State {
    /// The run is over.
    fn end(&mut self, outcome: Outcome) {
        let diverged = self.strategy.divergence();
        let diverged = diverged.map_or(0, |divergence| divergence.step as u64 + 1);
        self.trace.end(outcome, diverged);
    }

    /// Where a thread is saved, and whether it is. Threads' records stay where they are until the process ends.
    fn context(&mut self, number: usize) -> (*mut Saved, *const AtomicU32) {
        match self.thread(number) {
            Some(thread) => (&raw mut thread.saved, &raw const thread.settled),
            None => crate::report::die(&["a thread is gone"]),
        }
    }
}

fn wait_until_settled(settled: *const AtomicU32) {
    // SAFETY: from `State::context`.
    let settled = unsafe { &*settled };
    // ORDERING: acquire, with the release of who left its stack.
    while settled.load(Ordering::Acquire) == 0 {
        futex_wait(settled, 0);
    }
}

/// A thread is about to be created by the calling one.
pub(crate) fn announce(child: ThreadId) {
    if let Some((_inside, mut guard)) = scheduled()
        && let Some(state) = guard.as_mut()
    {
        state.add(child.index(), 0);
    }
    done(|step| step.child = child);
}

/// It could not be created.
pub(crate) fn renounce(child: ThreadId) {
    let _inside = Inside::enter();
    if let Some(state) = STATE.lock().as_mut()
        && let Some(place) = state.threads.get_mut(child.index())
        && let Some(thread) = place.take()
    {
        let carrier = &raw const *thread.carrier;
        state.idle.retain(|idle| *idle != carrier);
    }
}

impl State {
    fn add(&mut self, number: usize, settled: u32) -> *const Carrier {
        let thread = Box::new(Thread {
            saved: Saved::new(),
            settled: AtomicU32::new(settled),
            carrier: Carrier::new(),
            status: Status::Ready,
            op: op(Kind::Begin, 0, 0),
            since: 0,
            timed_out: false,
            spin: spin::Loop::default(),
            step: (0, Step::new(ThreadId::new(number), op(Kind::Begin, 0, 0))),
            away: std::ptr::null(),
            context: None,
            pc: 0,
        });
        let carrier = &raw const *thread.carrier;
        if settled == 0 {
            self.idle.push(carrier);
        }
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, || None);
        }
        self.threads[number] = Some(thread);
        carrier
    }
}

/// The first thing that a new thread does: it waits for its turn.
pub(crate) fn begin(outermost: usize) {
    if let Some(mut me) = thread::enter() {
        me.outermost = outermost;
    }
    thread::watch();
    if let Some((inside, mut guard)) = scheduled()
        && let me = inside.number()
        && let Some(thread) = guard.as_mut().and_then(|state| state.thread(me))
    {
        thread.context = thread::current();
        thread.spin.outermost = outermost;
        let carrier = &raw const *thread.carrier;
        lie_down(me, carrier, guard);
    }
}

/// The calling thread leaves the program's code for good: it ends in its own kernel thread, as libc wants it.
pub(crate) fn go_home() {
    if !active() {
        return;
    }
    stop_at(Kind::End, 0, 0);
    move_home();
}

/// The calling thread goes on in its own kernel thread.
fn move_home() {
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else { return };
    let executor = state.executor;
    let own = state
        .thread(me)
        .map_or(executor, |thread| &raw const *thread.carrier);
    if own == executor {
        return;
    }
    state.idle.retain(|carrier| *carrier != own);
    state.idle.push(executor);
    state.executor = own;
    let (saved, _) = state.context(me);
    drop(guard);
    // SAFETY: its own kernel thread sleeps: it carries nobody but the thread itself when that is outside.
    unsafe { switch::hand_over(saved, executor, own, saved) };
}

/// The thread has ended, and its kernel thread is about to.
pub(crate) fn ended(number: ThreadId) {
    let mut guard = STATE.lock();
    let Some(state) = guard.as_mut().filter(|_| active()) else {
        return;
    };
    let Some(thread) = state.thread(number.index()) else {
        return;
    };
    thread.status = Status::Finished;
    state.wake(For::Thread(number), usize::MAX);
    if let Some(next) = choose(state) {
        pass_on(next, guard);
    }
}

/// Another kernel thread carries the next thread; the calling one goes its own way.
fn pass_on(next: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let carrier = state.idle_carrier(next);
    (state.current, state.executor) = (next, carrier);
    state.trace.switched();
    let (load, settled) = state.context(next);
    drop(guard);
    wait_until_settled(settled);
    // SAFETY: the thread is saved, and its kernel thread, or another one, carries nobody.
    unsafe { switch::send(carrier, load) };
}

/// Whether a thread has ended.
pub(crate) fn has_ended(number: ThreadId) -> bool {
    let _inside = Inside::enter();
    let mut guard = STATE.lock();
    let thread = guard
        .as_mut()
        .and_then(|state| state.thread(number.index()));
    thread.is_none_or(|thread| thread.status == Status::Finished)
}

/// Makes a call that may wait for something outside the program. The others go on meanwhile.
pub(crate) fn outside<R>(call: impl FnOnce() -> R) -> R {
    if !active() {
        return call();
    }
    move_home();
    leave();
    let result = call();
    // Whoever comes back waits for its turn.
    drop(scheduled());
    result
}

/// The other threads go on without the calling one.
pub(crate) fn leave() {
    let Some((inside, mut guard)) = scheduled() else {
        return;
    };
    let me = inside.number();
    let Some(state) = guard.as_mut() else { return };
    if state.is_alone(me) {
        return;
    }
    let executor = state.executor;
    if let Some(thread) = state.thread(me) {
        thread.status = Status::Outside;
        thread.op = op(Kind::Yield, 0, 0);
        thread.away = executor;
    }
    if let Some(next) = choose(state) {
        pass_on(next, guard);
    }
}

/// The calling thread was outside, and waits for its turn.
#[cold]
fn come_back(me: usize, mut guard: Guard<'static, Option<State>>) {
    let Some(state) = guard.as_mut() else { return };
    let Some(thread) = state.thread(me) else {
        return;
    };
    thread.status = Status::Ready;
    let carrier = thread.away;
    if !std::mem::take(&mut state.vacant) {
        state.idle.push(carrier);
        lie_down(me, carrier, guard);
        return;
    }
    (state.current, state.executor) = (me, carrier);
    if let Some(next) = choose(state) {
        go_on_as(me, next, guard);
    }
}
