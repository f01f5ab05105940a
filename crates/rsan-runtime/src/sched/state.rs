//! What is known of the threads, and who of them goes on.

use super::lent::Lent;
use super::queues::Queues;
use super::reuse::{self, Asked};
use super::run::Weak;
use super::spin;
use super::switch::{Carrier, Saved};
pub(crate) use super::threads::{For, Hold, Need, Values};
pub(super) use super::threads::{Locks, Status, Thread};
use super::trace::Trace;
use super::weak::Memory;
use super::{run, stuck};
use rsan_model::ThreadId;
use rsan_schedule::{Candidate, End, Kind, Local, Op, Step};
use std::sync::atomic::AtomicU32;

/// The scheduler.
#[derive(Debug)]
pub(super) struct State {
    pub(super) strategy: Asked,
    /// By number.
    pub(super) threads: Vec<Option<Box<Thread>>>,
    pub(super) current: usize,
    /// The kernel thread that carries it.
    pub(super) executor: *const Carrier,
    /// Nobody could go on but those outside.
    pub(super) vacant: bool,
    /// Kernel threads that carry nobody.
    pub(super) idle: Vec<*const Carrier>,
    pub(super) ready: Vec<Candidate>,
    /// What some of these would read, as states and values.
    pub(super) would_read: Vec<(ThreadId, u64, u64)>,
    pub(super) trace: Trace,
    /// What threads get from outside must not depend on the schedule.
    pub(super) steady: bool,
    /// Threads are switched without a system call.
    pub(super) cheap: bool,
    /// Steps before the run is cut off.
    pub(super) limit: u64,
    pub(super) locks: Locks,
    pub(super) queues: Queues,
    /// How often loops were tried again because nobody could go on.
    pub(super) retries: u32,
    /// The steps there were before that, if nothing has come of it.
    pub(super) before_retries: Option<u64>,
    /// Steps that the current thread has made without another in between, though others could have gone on.
    pub(super) turn: u64,
    /// Steps after which it is taken as one that waits in a loop that is not recognised: others should go on.
    pub(super) longest_turn: u64,
    /// Nobody but who ends the process could go on.
    pub(super) last: bool,
    /// Threads that were joined.
    pub(super) joined: usize,
    /// Since the last step somebody was about to write on another thread's stack.
    pub(super) lent: bool,
    /// How a weak run goes.
    pub(super) how: Option<Weak>,
    /// Its memory.
    pub(super) weak: Option<Box<Memory>>,
}

// SAFETY: what a context holds is used by the one kernel thread that carries it.
unsafe impl Send for State {}

/// Bytes of a lock, a semaphore or the like, at most.
const OBJECT: usize = 64;
const PAGE: usize = 4096;

impl State {
    pub(super) fn thread(&mut self, number: usize) -> Option<&mut Thread> {
        self.threads.get_mut(number)?.as_deref_mut()
    }

    /// Whether a thread that is ready has what it needs.
    fn has(&self, number: usize, need: Need) -> bool {
        let ended = |number: usize| {
            let thread = self.threads.get(number).and_then(Option::as_deref);
            thread.is_none_or(|thread| thread.status == Status::Finished)
        };
        let holder = |lock: usize| self.locks.0.get(&lock);
        match need {
            Need::Nothing => true,
            // A lock of a thread that has ended may be taken, if the system says so.
            Need::Free { lock, again } => holder(lock).is_none_or(|held| {
                let owner = held.owner;
                owner.is_some_and(|owner| ended(owner) || again && owner == number)
            }),
            Need::Unwritten(lock) => holder(lock).is_none_or(|held| held.owner.is_none()),
            // SAFETY: the program's semaphore, whose count comes first in glibc.
            Need::Count(semaphore) => (unsafe { (semaphore as *const u32).read_volatile() }) != 0,
            Need::Value {
                address,
                bytes,
                values,
            } => values.contains(word(address, bytes)),
            Need::End(thread) => ended(thread.index()),
            Need::Signal(queue) => self.queues.is_signalled(queue, number),
        }
    }

    pub(super) fn longest_waiting(&mut self, is: impl Fn(&Thread) -> bool) -> Option<&mut Thread> {
        let waiting = self.threads.iter_mut().flatten();
        let waiting = waiting.filter(|thread| is(thread));
        waiting
            .min_by_key(|thread| thread.since)
            .map(|thread| &mut **thread)
    }

    /// Wakes all threads that wait for something.
    pub(super) fn wake(&mut self, wait: For) {
        for thread in self.threads.iter_mut().flatten() {
            if thread.status == Status::Blocked(wait) {
                thread.status = Status::Ready;
            }
        }
    }

    /// The thread goes on though what it waits for has not come.
    pub(super) fn release(&mut self, number: usize) {
        let Some(thread) = self.thread(number) else {
            return;
        };
        thread.status = Status::Ready;
        if let Need::Signal(queue) = std::mem::replace(&mut thread.need, Need::Nothing) {
            self.queues.leave(queue, number, false);
        }
    }

    /// Whether there is no other thread.
    pub(super) fn is_alone(&self, me: usize) -> bool {
        let mut others = self.threads.iter().enumerate();
        others.all(|(number, thread)| {
            number == me
                || thread
                    .as_ref()
                    .is_none_or(|thread| thread.status == Status::Finished)
        })
    }

    /// An atomic word has another value, perhaps.
    pub(super) fn written(&mut self, address: usize, bytes: usize) {
        for thread in self.threads.iter_mut().flatten() {
            let read = thread.spin.written(address, bytes);
            if read && thread.status == Status::Blocked(For::Words) {
                thread.status = Status::Ready;
            }
        }
    }

    /// A thread has made an atomic write: what others had written there is not theirs any more.
    pub(super) fn overwritten(&mut self, by: usize, address: usize, bytes: usize) {
        let threads = self.threads.iter_mut().enumerate();
        for (_, thread) in threads.filter(|(number, _)| *number != by) {
            if let Some(thread) = thread {
                thread.spin.overwritten(address, bytes);
            }
        }
    }

    /// Tells the strategy what the threads that are ready would read, where that matters to it.
    fn tell_what_threads_would_read(&mut self) {
        self.would_read.clear();
        for candidate in &self.ready {
            let number = candidate.thread.index();
            let state = self.threads[number].as_ref().map_or(0, |t| t.local.state);
            if state != 0 && self.strategy.looks_at(state) {
                let value = word(
                    candidate.op.object as usize,
                    usize::from(candidate.op.bytes),
                );
                self.would_read.push((candidate.thread, state, value));
            }
        }
        self.strategy.would_read(&self.would_read);
    }

    /// Asks the strategy. `None` if nobody is ready.
    fn pick(&mut self) -> Option<usize> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        for (number, thread) in self.threads.iter().enumerate() {
            if let Some(thread) = thread
                && thread.status == Status::Ready
                && self.has(number, thread.need)
            {
                ready.push(Candidate {
                    thread: ThreadId::new(number),
                    op: thread.op,
                });
            }
        }
        self.ready = ready;
        if self.ready.len() > 1 && self.strategy.is_noted() {
            reuse::come_to_choice(self);
        }
        self.tell_what_threads_would_read();
        if self.ready.is_empty() {
            return None;
        }
        let last = Some(ThreadId::new(self.current));
        if self.turn >= self.longest_turn {
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
        let choice = self.ready.len() > 1;
        self.turn = if next == self.current {
            self.turn + u64::from(choice)
        } else {
            0
        };
        let Some(thread) = self.threads.get_mut(next).and_then(|t| t.as_deref_mut()) else {
            return;
        };
        match thread.op.kind {
            Kind::Load | Kind::Update | Kind::Compare | Kind::Fence | Kind::Yield => {}
            _ => self.before_retries = None,
        }
        let op = thread.op;
        thread.step = (step, Step::new(ThreadId::new(next), op));
        thread.step.1.local = std::mem::take(&mut thread.local);
        thread.step.1.limited = thread.timed || thread.timed_out;
        thread.made = thread.made.saturating_add(1);
        self.trace.push(&thread.step.1, choice);
        if op.kind.may_write() && op.object != 0 {
            let address = op.object as usize;
            let bytes = match op.bytes {
                // The next page need not be there.
                0 => OBJECT.min(PAGE - address % PAGE),
                bytes => usize::from(bytes),
            };
            if spin::may_be_on_a_stack(address, bytes) {
                self.about_to_write(next, address, bytes);
            }
        }
        if self.trace.steps() > self.limit {
            run::cut_off(self);
        }
    }

    /// Who goes on: lets waits time out, or ends the process if nobody can, or lets who ends it go on. `None` if threads outside
    /// are waited for (the first that comes back takes over), or if all have ended.
    pub(super) fn choose(&mut self) -> Option<usize> {
        self.has_written();
        loop {
            if let Some(next) = self.pick() {
                self.advance(next);
                return Some(next);
            }
            if self.threads.iter().flatten().any(|t| t.is_starved()) {
                run::stop(self);
            }
            let statuses = || self.threads.iter().flatten().map(|thread| thread.status);
            let all_ended = statuses().all(|status| status == Status::Finished);
            let away = statuses().any(|status| status == Status::Outside);
            if all_ended || away {
                // Nobody knows when those outside come back, and what they do then.
                let ends = self.who_ends();
                self.vacant = ends.is_none();
                return ends;
            }
            if !self.let_time_pass() && !stuck::try_again(self) {
                let ends = self.who_ends();
                self.last = ends.is_some();
                return Some(ends.unwrap_or_else(|| stuck::end(self)));
            }
        }
    }

    /// A kernel thread that carries nobody; the thread's own if threads stay with theirs, or if it is free.
    pub(super) fn idle_carrier(&mut self, next: usize) -> *const Carrier {
        let own = self
            .thread(next)
            .map_or(std::ptr::null(), |thread| &raw const *thread.carrier);
        let place = self.idle.iter().position(|carrier| *carrier == own);
        let carrier = match place {
            Some(place) => self.idle.swap_remove(place),
            None => self.idle.pop().unwrap_or(own),
        };
        // SAFETY: kernel threads' records live as long as the process.
        if let Some(carrier) = unsafe { carrier.as_ref() } {
            carrier.be_there();
        }
        carrier
    }

    /// The run is over. Who has not ended is left in the trace, unless the program has ended by itself before the others.
    pub(super) fn end(&mut self, end: End) {
        let diverged = self.strategy.divergence();
        let diverged = diverged.map_or(0, |divergence| divergence.step as u64 + 1);
        if end != End::Ended {
            for (number, thread) in self.threads.iter().enumerate() {
                let Some(thread) = thread else { continue };
                // Others may have come to end the process, too.
                let is_last = end == End::EndedLast && number == self.current;
                let waits_to = matches!(end, End::EndedLast | End::Stopped)
                    && thread.status == Status::Blocked(For::End);
                let ends = is_last || waits_to;
                if thread.status != Status::Finished && !ends {
                    let mut step = Step::new(ThreadId::new(number), thread.op);
                    step.writes = false;
                    if let Need::Value { values, .. } = thread.need {
                        step.expected = values.list[0];
                    }
                    self.trace.leave(&step);
                }
            }
        }
        self.trace.end(end, diverged);
    }

    /// Where a thread is saved, and whether it is. Threads' records stay where they are until the process ends.
    pub(super) fn context(&mut self, number: usize) -> (*mut Saved, *const AtomicU32) {
        match self.thread(number) {
            Some(thread) => (&raw mut thread.saved, &raw const thread.settled),
            None => crate::fatal::die(&["a thread is gone"]),
        }
    }

    /// Adds a thread that is lent. It has no kernel thread.
    pub(super) fn add_lent(&mut self, number: usize, lent: &Lent) {
        self.add(number, 1, Carrier::absent(lent.number));
        if let Some(thread) = self.thread(number) {
            thread.saved = lent.saved;
        }
    }

    /// Adds a thread. It is running if it is settled, else its kernel thread is about to lie down.
    pub(super) fn add(
        &mut self,
        number: usize,
        settled: u32,
        carrier: Box<Carrier>,
    ) -> *const Carrier {
        let op = Op::bare(Kind::Begin);
        let home = match number == self.current {
            true => Some(0),
            false => self.next_home(),
        };
        let mut scope = 0;
        if let Some(creator) = self.thread(self.current) {
            creator.children += 1;
            scope = std::mem::take(&mut creator.opens);
        }
        let thread = Box::new(Thread {
            saved: Saved::new(),
            settled: AtomicU32::new(settled),
            carrier,
            status: Status::Ready,
            op,
            need: Need::Nothing,
            since: 0,
            timed: false,
            timed_out: false,
            spin: spin::Loop::below(0),
            step: (0, Step::new(ThreadId::new(number), op)),
            away: std::ptr::null(),
            context: None,
            pc: 0,
            home: home.filter(|_| self.steady),
            children: 0,
            drawn: 0,
            made: 0,
            arrivals: 0,
            scope,
            opens: 0,
            local: Local::default(),
            reads_last: false,
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

/// The word at an address; wider ones are compared by their first bytes.
fn word(address: usize, bytes: usize) -> u64 {
    // SAFETY: the program waits for this word or is about to read it, aligned as its type is.
    unsafe {
        match bytes {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_volatile()),
            4 => u64::from((address as *const u32).read_volatile()),
            _ => (address as *const u64).read_volatile(),
        }
    }
}
