//! Waits without annotation: would the program, with an old value, only try again?
//!
//! **Decides** for an access that the monitor finds weak whether each old value that it could take leads the program
//! back to the same access and nowhere else. Then the weak behaviour is that a wait takes longer, which is no finding.
//!
//! **How**: the process is copied at the access (`process`), the copy is handed the old value, and the program runs in
//! it until its next visible step (`child`). The copy can do no harm and is gone when the answer is known.
//!
//! **What is visible**: stores that release or go to the location itself, read-modify-writes, compare-and-swaps that
//! succeed, locks, threads, allocation, system calls, and writes to memory that are left behind. **What is not**: loads
//! of other locations, which get the value that is there; compare-and-swaps that fail on what is there; fences; plain
//! reads; writes to the innermost part of the thread's own stack, and other plain or relaxed writes as long as memory
//! is as before when the access is made again; sleeping, yielding, `futex` waits (which return at once).
//!
//! **What the program is handed**: the old value at the access, and again at every later load of the location (or
//! compare-and-swap with the same expectation) until it has read the current value, since compilers copy loops. If it has
//! acquired something in between and that leads it elsewhere, the old value may have been out of reach there: then a
//! second child gets the old value at the same instruction only, and the current one at others (`seqlock_retry.c`).
//! If that still leads it elsewhere after the same instruction was handed the old value once more, the finding is a minor one (4) also if the program comes to
//! the same visible step with the old value once and the current one after that (`seqlock_attempts.c`).
//!
//! **Answers**
//! 1. *Iterates*: the location is read again in a state in which it was read before. The state is the place in the
//!    program, the stack, the registers and all memory.
//! 2. *Keeps iterating*: it is read again a thousand times, in ever new states (a counter of attempts).
//! 3. *Retries*: with the old value the program comes to a compare-and-swap of the location, which fails on the
//!    current value and could not succeed on the old one; then it comes back, to the load or to a compare-and-swap that
//!    expects the current value, and everything that it wrote outside of its stack before the failure it has
//!    written again. If the load acquires, the failure must, too. Another child, which is handed the current value,
//!    must come to a compare-and-swap that writes the same.
//! 4. *Passes*: something visible comes first. That is a finding. If the program comes to the same visible step with the
//!    current value, from the same callers, and has read the same plain memory and written the same until then, the finding
//!    says so: it is a minor one, and does not hide later ones at the same places (`stale_unused.c`). Of a compare-and-swap that can
//!    only be where it fails on either value (`stale_cas.c`).
//! 5. *Not known*: neither in the time allowed. That is a finding, marked as not recognised.
//!
//! **Why that is right**: the events of an iteration (1) are reads and fences between two equal states of a thread.
//! Taking them out of a consistent execution leaves an execution of the same program, with the same values everywhere
//! else, that is consistent too, for nothing reads from them, and taking out reads and fences takes away order only.
//! So every weak execution with such an iteration is one without it that takes longer, and what is weak in the rest is
//! found at other accesses. A read-modify-write that writes the value that it read (a test-and-set of a lock that is
//! held) may be taken out like a read, since what reads from it can read the same value from the write before.
//!
//! **Deviations**, all of which can lose findings, none of which invents one (whatever is reported is weak by the
//! monitor's definition):
//! 1. Loads of other locations in the iteration get what is there now, not what they could read or what will be there.
//!    A wait for two locations that a stale value of one lets through, together with another value of the other, is
//!    found when that value is there (`wait_two.c`, `wait_two_pass.c`); a reader of a seqlock that may see an old
//!    sequence number together with old data is not (`seqlock_retry.c`).
//! 2. Answer 2 trusts a loop that gives up after more than a thousand attempts (`wait_bounded.c` gives up earlier).
//! 3. Answer 3 does not look at what the program keeps in local variables (`cas_retry.c`).
//! 4. After [`crate::options::Options::probes`] answers at a place (an instruction with its innermost callers), the place is
//!    trusted: only the answers at twice as many occurrences, four times as many, and so on, are asked for
//!    (`ticket_long.c`).
//! 5. Memory that code without instrumentation writes is not seen to change.
//!
//! Where a proof is claimed ([`crate::options::Options::exact`]), none of this is good enough: `exact.rs` decides instead.
//!
//! **Cost**: a copy of the process per old value (a few ms in a process of a GiB), at most [`crate::options::Options::probes`] times per place and then
//! ever more seldom. Nothing for accesses that are not weak.

mod answer;
mod arrivals;
mod child;
pub(crate) mod exact;
mod maps;
mod operations;
mod plain;
mod process;
mod question;
mod sites;
mod trace;
mod way;
mod weak;
mod writes;

pub use answer::Answer;
pub(crate) use child::is_probing;
pub(crate) use operations::{
    compare_exchange, enter, fence, free, load, pauses, plain, rmw, store,
};
pub(crate) use plain::{exit, plain_access, plain_entry};
pub(crate) use sites::{counts, lock};

use crate::benign;
use crate::chain::Search;
use crate::finding::{Finding, Side, Step, Unknown, Wait};
use crate::options::Approximation;
use crate::report;
use crate::sched::reuse::{self, memo, memo::Digest};
use crate::stack::Node;
use crate::thread::Entered;
use crate::tls;
use answer::Place;
use process::Fork;
use question::{Again, Kind, Question, Replaceable};
use rsan_clocks::Timestamp;
use rsan_clocks::write_log::{Stamp, ThreadState};
use rsan_model::{CasStrength, ReadOrd};
use std::arch::asm;

/// The sort of an access that can be weak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suspect {
    /// It writes whatever it reads.
    Writes,
    /// A load; whether it acquires.
    Load {
        /// Whether it acquires.
        acquires: bool,
    },
    /// A compare-and-swap.
    Cas {
        /// What it compares with.
        expected: u128,
        /// What it writes if it succeeds.
        new: u128,
        /// Whether it acquires when it fails.
        acquires: bool,
    },
    /// A read-modify-write.
    Rmw,
}

/// An old write that an access may take.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The write.
    pub side: Side,
    /// The access may write after it; otherwise it only reads it.
    pub follows: bool,
    /// The write, by its position in the modification order, and whose it is, unless it is the initial one.
    pub write: (Timestamp, Option<Stamp>),
}

/// An access that the monitor finds weak, before it is known whether that is a finding.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// Where in memory.
    pub address: usize,
    /// How much.
    pub bytes: usize,
    /// The access.
    pub access: Side,
    /// Where the access and the missed write are, as numbers.
    pub places: (Node, Node),
    /// Its sort.
    pub sort: Suspect,
    /// The write that every SC order puts before it.
    pub missed: Side,
    /// What it may take instead, newest first.
    pub candidates: Vec<Candidate>,
    /// Old values that a later compare-and-swap could replace, and whether one that is seq_cst could.
    pub replaceable: Vec<(u128, bool)>,
    /// What the chain of accesses that forces the order is looked for with.
    pub search: Option<Search>,
    /// In exact mode: what the thread knew before the access.
    pub before: Option<Box<ThreadState>>,
    /// The order of the access when it only reads.
    pub order: ReadOrd,
    /// What it compares with and writes, or what it makes of two values.
    pub operands: [u64; 2],
    /// It has changed the location.
    pub wrote: bool,
    /// The location knows of no seq_cst access or fence.
    pub is_free_of_sc: bool,
}

impl Suspicion {
    /// A read-modify-write that would leave an old value as it is only reads it.
    pub fn spare(&mut self, leaves: impl Fn(u128) -> bool) {
        for candidate in &mut self.candidates {
            candidate.follows &= !candidate.side.value.is_some_and(&leaves);
        }
    }

    /// What a compare-and-swap compares with and writes, all of it: the monitor compares numbers, which two values may
    /// share.
    pub fn compare(&mut self, bits: u128, written: u128, strength: CasStrength) {
        if let Suspect::Cas { expected, new, .. } = &mut self.sort {
            (*expected, *new) = (bits, written);
        }
        self.candidates.retain_mut(|candidate| {
            let equal = candidate.side.value == Some(bits);
            candidate.follows &= equal;
            candidate.follows || !equal || strength == CasStrength::Weak
        });
    }

    /// A finding of an access that found the value `current`.
    fn finding(&self, stale: Side, wait: Option<Wait>, current: u128) -> Box<Finding> {
        let loads = matches!(self.sort, Suspect::Load { .. });
        Box::new(Finding::Violation {
            address: self.address,
            bytes: self.bytes,
            access: Side {
                value: loads.then_some(current),
                ..self.access
            },
            missed: self.missed,
            stale,
            wait,
            search: self.search,
        })
    }
}

/// What is to be done about a suspicion.
#[derive(Debug)]
pub enum Judgement {
    /// Nothing: it only iterates, or is known.
    Nothing,
    /// A finding.
    Report(Box<Finding>),
    /// This is a child; the access is to return this old value, and a compare-and-swap is to fail.
    Handed(u128),
}

/// Asks the program, if need be. `current` is what the access found. No lock may be held.
#[cold]
pub fn judge(me: &mut Entered, suspicion: &Suspicion, current: u128) -> Judgement {
    let all = &suspicion.candidates;
    let Some(first) = all.first() else {
        return Judgement::Nothing;
    };
    // Another value says more than the same one. Without questions the newest write is named, whatever its value.
    let asks = me.options.probes > 0;
    let tells = |candidate: &&Candidate| asks && candidate.side.value != Some(current);
    let best = all.iter().find(tells).unwrap_or(first);
    let finding = suspicion.finding(best.side, None, current);
    if report::is_known(me, &finding) {
        if !finding.is_minor() {
            me.known.insert(suspicion.places);
        }
        return Judgement::Nothing;
    }
    if benign::covers(me, &finding) {
        return Judgement::Nothing;
    }
    let writes = suspicion.sort == Suspect::Writes;
    if let Some(candidate) = all.iter().find(|candidate| writes || candidate.follows) {
        let finding = suspicion.finding(candidate.side, None, current);
        return Judgement::Report(finding);
    }
    if !asks {
        let wait = Some(Wait::Unknown(Unknown::Off));
        return Judgement::Report(suspicion.finding(best.side, wait, current));
    }
    if me.options.exact && !me.options.breaks(Approximation::Waits) {
        return exact::judge(me, suspicion, current);
    }
    let leaf = suspicion.places.0;
    let loads = matches!(suspicion.sort, Suspect::Load { .. });
    let occurrences = if loads {
        me.trusted.occurrences(leaf)
    } else {
        1
    };
    let probes = me.options.probes;
    let until_due = sites::until_due(suspicion.access.site, occurrences, probes);
    if until_due > 0 {
        if loads {
            me.trusted.trust(leaf, until_due);
        }
        crate::thread::dismiss();
        return Judgement::Nothing;
    }
    let state = State::of(me);
    let mut unknown = None;
    let mut ordered: Vec<&Candidate> = all.iter().collect();
    ordered.sort_by_key(|candidate| !tells(candidate));
    for (index, candidate) in ordered.iter().enumerate() {
        let value = candidate.side.value;
        let mut before = ordered[..index].iter();
        if value.is_some() && before.any(|other| other.side.value == value) {
            continue;
        }
        let (answer, mark) = match value {
            Some(stale) => match ask(&state, suspicion, stale, current) {
                (Reply::Answer(answer), mark) => (answer, mark),
                (Reply::Handed(value), _) => return Judgement::Handed(value),
            },
            None => (Answer::Unknown(Unknown::NoValue), 0),
        };
        match answer {
            Answer::Iterates
            | Answer::Circles { .. }
            | Answer::Retries { .. }
            | Answer::Doubtful => {}
            Answer::KeepsIterating => sites::keep_iterating(),
            Answer::Passes(step) | Answer::PassesLater(step) => {
                let once = value.filter(|_| matches!(answer, Answer::PassesLater(_)));
                let wait = match is_alike(&state, suspicion, mark, current, once) {
                    Ok(true) => Wait::Alike(step),
                    Ok(false) => Wait::Passes(step),
                    Err(handed) => return Judgement::Handed(handed),
                };
                let finding = suspicion.finding(candidate.side, Some(wait), current);
                return Judgement::Report(finding);
            }
            Answer::Unknown(why) => unknown = unknown.or(Some((candidate.side, why))),
        }
    }
    match unknown {
        Some((side, why)) => {
            Judgement::Report(suspicion.finding(side, Some(Wait::Unknown(why)), current))
        }
        None => {
            crate::thread::dismiss();
            Judgement::Nothing
        }
    }
}

/// What comes of a question: an answer, or, in a child, the value to go on with.
enum Reply {
    Answer(Answer),
    Handed(u128),
}

/// The question what the program does with a value.
fn question(suspicion: &Suspicion, handed: u128, current: u128) -> Question {
    let (kind, acquires) = match suspicion.sort {
        Suspect::Load { acquires } => (Kind::Load, acquires),
        Suspect::Cas {
            expected, acquires, ..
        } => (Kind::Cas { expected }, acquires),
        Suspect::Rmw | Suspect::Writes => (Kind::Rmw, false),
    };
    let mut question = Question {
        pc: suspicion.access.site.pc,
        address: suspicion.address,
        bytes: suspicion.bytes,
        kind,
        acquires,
        handed,
        current,
        again: Again::Everywhere,
        ..Question::NONE
    };
    for (place, &(value, by_sc)) in question.replaceable.iter_mut().zip(&suspicion.replaceable) {
        *place = Some(Replaceable { value, by_sc });
    }
    question
}

/// What the program does with an old value, and the mark of a visible step.
fn ask(state: &State, suspicion: &Suspicion, stale: u128, current: u128) -> (Reply, u64) {
    let mut question = question(suspicion, stale, current);
    let (mut reply, mut mark) = run(state, question);
    if let Reply::Answer(Answer::Doubtful) = reply {
        question.again = Again::Here;
        (reply, mark) = run(state, question);
    }
    let Reply::Answer(Answer::Retries { new }) = reply else {
        return (reply, mark);
    };
    // Where does the program come with the current value?
    let expected = match suspicion.sort {
        Suspect::Cas {
            expected, new: own, ..
        } if expected == current => Reply::Answer(Answer::Retries { new: own }),
        _ => {
            question.handed = current;
            question.is_reference = true;
            run(state, question).0
        }
    };
    let reply = match expected {
        Reply::Answer(Answer::Retries { new: other }) if other == new => {
            Reply::Answer(Answer::Iterates)
        }
        Reply::Answer(_) => Reply::Answer(Answer::Passes(Step::Cas)),
        handed @ Reply::Handed(_) => handed,
    };
    (reply, 0)
}

/// Whether a load, or a compare-and-swap that fails on either value, leads the program to the visible step with this mark with the current value, too; or
/// to the one to which the old value leads that it is handed `once`. An error, in a child, is the value to go on with.
fn is_alike(
    state: &State,
    suspicion: &Suspicion,
    mark: u64,
    current: u128,
    once: Option<u128>,
) -> Result<bool, u128> {
    let only_reads = match suspicion.sort {
        Suspect::Load { .. } => true,
        Suspect::Cas { expected, .. } => expected != current,
        Suspect::Rmw | Suspect::Writes => false,
    };
    if mark == 0 || !only_reads {
        return Ok(false);
    }
    let mark_of = |question| match run(state, question) {
        (Reply::Answer(Answer::Passes(_) | Answer::PassesLater(_)), mark) => Ok(Some(mark)),
        (Reply::Answer(_), _) => Ok(None),
        (Reply::Handed(value), _) => Err(value),
    };
    let Some(expected) = mark_of(question(suspicion, current, current))? else {
        return Ok(false);
    };
    match once {
        Some(stale) if expected != mark => {
            let question = Question {
                again: Again::Never,
                ..question(suspicion, stale, current)
            };
            Ok(expected != 0 && mark_of(question)? == Some(expected))
        }
        _ => Ok(expected == mark),
    }
}

/// The state of a thread that asks, as far as it is not in memory.
struct State {
    /// A digest of it, if it is known.
    digest: Option<Digest>,
    /// Where the stack of the program ends, and begins.
    stack: usize,
    outermost: usize,
}

impl State {
    const UNKNOWN: Self = Self {
        digest: None,
        stack: 0,
        outermost: 0,
    };

    fn of(me: &Entered) -> Self {
        let stack = me.registers[6] as usize;
        if !reuse::is_keeper() || stack == 0 || stack >= me.outermost {
            return Self::UNKNOWN;
        }
        // SAFETY: the end of the thread's stack at an access: where that returns to, if these are its registers.
        let caller = unsafe { ((stack - size_of::<usize>()) as *const usize).read() };
        let (mut control, pointer) = (0u32, tls::thread_pointer());
        // SAFETY: a place for the register.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack)) };
        let more = [caller as u64, pointer as u64, u64::from(control)];
        let digest = Digest::NONE.with(&me.registers).with(&more);
        Self {
            digest: (caller == me.caller).then_some(digest),
            stack,
            outermost: me.outermost,
        }
    }

    /// The question in this state, if the same one may be asked again.
    fn asks(&self, question: &Question) -> Option<memo::Question> {
        let key = self.digest?.with(&question.words());
        memo::Question::new(question.pc, key, self.stack, self.outermost)
    }
}

/// Lets a child find something out, unless it did before. The number is the mark of the visible step that the program comes to.
fn run(state: &State, question: Question) -> (Reply, u64) {
    let nothing = (Reply::Answer(Answer::Unknown(Unknown::NoProcess)), 0);
    let again = state.asks(&question);
    let known = again.as_ref().and_then(memo::Question::recall);
    if let Some((answer, mark)) = known.and_then(Answer::of_memo) {
        sites::count_question();
        return (Reply::Answer(answer), mark);
    }
    let Some(place) = Place::new() else {
        return nothing;
    };
    sites::count_question();
    match process::fork(false) {
        Fork::Child => {
            let dead = again.as_ref().map(memo::Question::dead);
            child::start(question, place, dead);
            (Reply::Handed(question.handed), 0)
        }
        Fork::Parent(pid) => {
            let answer = process::wait(pid, &place);
            let mark = place.mark();
            if let (Some(again), Some(lasting)) = (again, place.lasting()) {
                again.remember(place.touched(), lasting);
            }
            place.free();
            (Reply::Answer(answer), mark)
        }
        Fork::Failed => {
            place.free();
            nothing
        }
    }
}

/// Makes a child of exact mode, and waits for its answer; `None` in the child.
fn fork_exact(place: Place) -> Option<Answer> {
    sites::count_question();
    match process::fork(true) {
        Fork::Child => {
            child::start_exact(place);
            None
        }
        Fork::Parent(pid) => Some(process::wait(pid, &place)),
        Fork::Failed => Some(Answer::Unknown(Unknown::NoProcess)),
    }
}
