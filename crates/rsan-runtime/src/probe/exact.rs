//! Exact mode: whether an access that can be weak matters, decided, not sampled.
//!
//! An exploration of all executions claims a proof when nothing is found. So a weak access may be left out only if it is
//! certain that it makes no difference, and is a finding only if it is certain that it does. Everything else makes the answer undecided
//! ([`crate::report::undecided`]).
//!
//! **Decides** for a load (or a compare-and-swap that fails, or a read-modify-write that writes what it read) that may take a
//! stale write, whether every way in which its thread can go on from there only takes longer.
//!
//! **How**: one child is the *reference*: the thread goes on with the present values until its next visible step, and notes the
//! states that it is in. Further children are *trials*: the access takes a stale write, and each later read of the thread takes
//! any write that C++20 lets it take ([`rsan_clocks::write_log::Ahead`]); all combinations are tried, up to a limit. A trial ends
//! 1. when the thread is in a state in which it was in the trial before: what it did in between are reads and fences, which can be
//!    left out of the execution, and what comes then is tried elsewhere. If no way out of that loop ends as in 2, the thread
//!    waits there for ever with its stale value, which makes a difference;
//! 2. when it is in a state in which the reference is after n events, and its own last n events are the reference's: it came back
//!    to the access, and what it did before can be left out of the execution. A failed compare-and-swap that reads the same write counts as the
//!    load of the reference if it lets the thread know as much: loops that retry with what they found, and what a compiler makes the
//!    same of: `if (x == 0) cas(x, 0, 1);` without a look at the result is `for (r = x; r == 0;) if (cas(x, &r, 1)) break;`;
//! 3. with a visible step: the stale write makes a difference.
//!
//! Leaving reads and fences out of a consistent execution leaves a consistent one, for happens-before only gets smaller and
//! nobody reads from them. A read-modify-write that writes what it read counts as a read: who reads from it can read the same
//! value from the write before.
//!
//! **Why it is enough to let one thread go on**: in the runs of an exploration every set of writes that others can make without this
//! thread is there at some point. If one of the words that trials looked at, other than the accessed one, is written by
//! another thread later in the run, the answer for it might be another one; then it is undecided
//! ([`written`]).
//!
//! **Undecided** are also: a loop in ever new states (it counts its rounds), too many combinations, and a visible step that is
//! reached only by way of a second stale read where seq_cst operations are about, for which the reach is known too largely.
//!
//! **Deviations**: plain reads of a trial get what is in memory, and are not checked for races.

use super::answer::{Answer, Place};
use super::trace::{Sort, Trace};
use super::weak::{self, Choice, Deed};
use super::writes::Writes;
use super::{Candidate, Judgement, Suspect, Suspicion};
use crate::finding::{Step, Unknown, Wait};
use crate::lock::{Lock, RawLock};
use crate::options::Approximation;
use crate::report;
use crate::stack::Site;
use crate::thread::{Body, Entered};
use rsan_clocks::write_log::Ahead;
use rsan_model::ThreadId;

/// Choices of a trial that are remembered.
pub(super) const CHOICES: usize = 64;
/// Words that trials looked at.
const WORDS: usize = 32;
/// Trials for one access.
const TRIALS: usize = 400;
/// How much of the stack is looked at.
const WINDOW: usize = 64 << 10;

/// Why an answer is not clear.
const SECOND: &str =
    "what follows a stale read depends on another one, which seq_cst operations may forbid";

/// What a child is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// To go on with the present values.
    Reference,
    /// To go on with a stale one.
    Stale,
}

/// A child, and what it finds out.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) role: Role,
    /// Where the program is.
    pub(super) pc: usize,
    pub(super) ahead: Ahead,
    pub(super) reference: Trace,
    pub(super) own: Trace,
    pub(super) writes: Writes,
    /// What is to be chosen.
    pub(super) wanted: Vec<u8>,
    pub(super) chosen: usize,
    /// How many ways to go on there were at each choice.
    pub(super) options: [u8; CHOICES],
    /// Every message that was needed was there.
    pub(super) complete: bool,
    /// A visible step was left out of which it is not known whether it is possible.
    pub(super) is_unclear: bool,
    /// A rule that is broken, for tests.
    pub(super) breaks: Option<Approximation>,
    /// The word that the access is to.
    pub(super) word: usize,
    words: [(usize, usize); WORDS],
    word_count: usize,
    pub(super) stack_start: usize,
    pub(super) stack_end: usize,
    place: Option<Place>,
}

/// What a child hands over, beside its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    own: Trace,
    options: [u8; CHOICES],
    chosen: usize,
    is_exact: bool,
    is_unclear: bool,
    words: [(usize, usize); WORDS],
    word_count: usize,
}

impl Outcome {
    pub(super) const NONE: Self = Self {
        own: Trace::NONE,
        options: [0; CHOICES],
        chosen: 0,
        is_exact: false,
        is_unclear: false,
        words: [(0, 0); WORDS],
        word_count: 0,
    };

    /// All choices of a trial that was to make these.
    fn made(&self, wanted: &[u8]) -> Vec<u8> {
        let choice = |i: usize| wanted.get(i).copied().unwrap_or(0);
        (0..self.chosen).map(choice).collect()
    }

    /// The choices that come after these, if there are more.
    fn next(&self, wanted: &[u8]) -> Option<Vec<u8>> {
        let choice = |i: usize| wanted.get(i).copied().unwrap_or(0);
        let last = (0..self.chosen)
            .rev()
            .find(|&i| choice(i) + 1 < self.options[i])?;
        let kept = (0..last).map(choice);
        Some(kept.chain([choice(last) + 1]).collect())
    }
}

/// Loops that trials came to, by the choices that lead there.
#[derive(Debug, Default)]
struct Loops {
    /// With whether that is possible for certain.
    entered: Vec<(Vec<u8>, bool)>,
    /// The choices that lead to where the stale value makes no difference.
    left: Vec<Vec<u8>>,
}

impl Loops {
    fn clear(&mut self) {
        self.entered.clear();
        self.left.clear();
    }

    fn enter(&mut self, choices: Vec<u8>, certain: bool) {
        self.entered.push((choices, certain));
    }

    fn leave(&mut self, choices: Vec<u8>) {
        self.left.push(choices);
    }

    /// Whether there is a loop that no trial leaves, and if so, whether one is possible for certain.
    fn endless(&self) -> Option<bool> {
        let is_left = |way: &[u8]| self.left.iter().any(|all| all.starts_with(way));
        let endless = self.entered.iter().filter(|(way, _)| !is_left(way));
        endless.map(|(_, certain)| *certain).max()
    }
}

impl Trial {
    /// The program looks at a word.
    pub(super) fn looks_at(&mut self, address: usize, bytes: usize) {
        let word = (address, bytes);
        let known = &self.words[..self.word_count];
        if address == self.word || known.contains(&word) {
            return;
        }
        match self.words.get_mut(self.word_count) {
            Some(place) => *place = word,
            None => super::child::conclude(Answer::KeepsIterating),
        }
        self.word_count += 1;
    }

    pub(super) fn hand_over(&self) {
        let Some(place) = self.place else { return };
        place.hand_over(&Outcome {
            own: self.own,
            options: self.options,
            chosen: self.chosen,
            is_exact: self.ahead.is_exact() && self.complete,
            is_unclear: self.is_unclear,
            words: self.words,
            word_count: self.word_count,
        });
    }
}

/// Words that a decision relies on not being written any more, for whom and where.
static RELIED_ON: Lock<Vec<Reliance>> = Lock::new(Vec::new());

#[derive(Clone, Copy, Debug)]
struct Reliance {
    thread: ThreadId,
    word: (usize, usize),
    site: Site,
}

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    RELIED_ON.raw()
}

/// The calling thread has written these bytes, in exact mode.
#[cold]
pub(crate) fn written(me: &mut Body, address: usize, bytes: usize) {
    let writer = me.state.id();
    let mut all = RELIED_ON.lock();
    let hit = |reliance: &mut Reliance| {
        let (start, size) = reliance.word;
        reliance.thread != writer && address < start + size && start < address + bytes
    };
    let hits: Vec<Reliance> = all.extract_if(.., hit).collect();
    drop(all);
    for reliance in hits {
        report::undecided(
            me,
            reliance.site,
            "a stale value only waits there, but another word that the loop reads is written later",
        );
    }
}

/// An answer, or, in a child, the value to go on with.
enum Reply {
    Answer(Answer, Box<Outcome>),
    Handed,
}

fn run(mut trial: Box<Trial>) -> Reply {
    let nothing = || Reply::Answer(Answer::Unknown(Unknown::NoProcess), Box::new(Outcome::NONE));
    let Some(place) = Place::new() else {
        return nothing();
    };
    trial.place = Some(place);
    weak::prepare(Some(trial));
    let reply = match super::fork_exact(place) {
        None => Reply::Handed,
        Some(answer) => Reply::Answer(answer, Box::new(place.handed_over())),
    };
    if !matches!(reply, Reply::Handed) {
        weak::prepare(None);
        place.free();
    }
    reply
}

/// Decides whether a suspicion is a finding.
#[cold]
pub(super) fn judge(me: &mut Entered, suspicion: &Suspicion, current: u128) -> Judgement {
    let Some(before) = &suspicion.before else {
        return Judgement::Nothing;
    };
    let site = suspicion.access.site;
    let (pc, registers, breaks) = (me.caller, me.registers, me.options.approximate);
    let stack = registers[6] as usize;
    let stack_end = me.outermost.min(stack + WINDOW);
    let deed = suspicion.deed();
    let start = weak::with_memory(weak::state(deed, pc, &registers, stack_end), &Writes::NONE);
    let mut reference = Trace::NONE;
    let _ = reference.arrive(start, 0);
    let make = |role, reference: &Trace, wanted: &[u8]| {
        Box::new(Trial {
            role,
            pc,
            ahead: Ahead::new(before),
            reference: *reference,
            own: Trace::NONE,
            writes: Writes::NONE,
            wanted: wanted.to_vec(),
            chosen: 0,
            options: [0; CHOICES],
            complete: true,
            is_unclear: false,
            breaks,
            word: suspicion.address,
            words: [(0, 0); WORDS],
            word_count: 0,
            stack_start: stack.saturating_sub(WINDOW),
            stack_end,
            place: None,
        })
    };
    if !suspicion.wrote {
        let mut trial = make(Role::Reference, &Trace::NONE, &[]);
        let _ = trial.own.arrive(start, 0);
        trial.takes_first(suspicion, None);
        match run(trial) {
            Reply::Handed => return Judgement::Handed(current),
            Reply::Answer(_, outcome) => {
                if !outcome.own.points().is_empty() {
                    reference = outcome.own;
                }
            }
        }
    }
    let mut unclear = None;
    let mut loops = Loops::default();
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut trials = 0;
    for candidate in &suspicion.candidates {
        let Some(stale) = candidate.side.value else {
            unclear = Some(Unknown::NoValue.name());
            continue;
        };
        let mut wanted = Some(Vec::new());
        loops.clear();
        while let Some(choices) = wanted {
            trials += 1;
            if trials > TRIALS {
                return undecided(
                    me,
                    site,
                    "there are too many ways to go on with a stale value",
                );
            }
            let mut trial = make(Role::Stale, &reference, &choices);
            trial.takes_first(suspicion, Some(candidate));
            let (answer, outcome) = match run(trial) {
                Reply::Handed => return Judgement::Handed(stale),
                Reply::Answer(answer, outcome) => (answer, outcome),
            };
            match answer {
                Answer::Iterates => loops.leave(outcome.made(&choices)),
                Answer::Circles { after } => {
                    let mut made = outcome.made(&choices);
                    made.truncate(after as usize);
                    loops.enter(made, outcome.is_exact);
                }
                Answer::Passes(step) if outcome.is_exact && step != Step::Mixed => {
                    let wait = Some(Wait::Passes(step));
                    return Judgement::Report(suspicion.finding(candidate.side, wait, current));
                }
                Answer::Passes(_) | Answer::PassesLater(_) => unclear = Some(SECOND),
                Answer::KeepsIterating => {
                    unclear = Some("a stale value lets a loop go round in ever new states");
                }
                Answer::Unknown(why) => unclear = Some(why.name()),
                Answer::Retries { .. } | Answer::Doubtful => {
                    unreachable!("children in exact mode do not answer so")
                }
            }
            if outcome.is_unclear {
                unclear = Some(SECOND);
            }
            words.extend(&outcome.words[..outcome.word_count]);
            wanted = outcome.next(&choices);
        }
        let endless = loops.endless();
        match endless.filter(|_| breaks != Some(Approximation::Loops)) {
            Some(true) => {
                let wait = Some(Wait::Passes(Step::Loop));
                return Judgement::Report(suspicion.finding(candidate.side, wait, current));
            }
            Some(false) => unclear = Some(SECOND),
            None => {}
        }
    }
    if let Some(why) = unclear {
        return undecided(me, site, why);
    }
    rely_on(me, &words, site);
    crate::thread::dismiss();
    Judgement::Nothing
}

fn undecided(me: &Entered, site: Site, why: &str) -> Judgement {
    report::undecided(me, site, why);
    Judgement::Nothing
}

fn rely_on(me: &Entered, words: &[(usize, usize)], site: Site) {
    let thread = me.state.id();
    let mut all = RELIED_ON.lock();
    for &word in words {
        let known = |other: &Reliance| (other.thread, other.word) == (thread, word);
        if !all.iter().any(known) {
            all.push(Reliance { thread, word, site });
        }
    }
}

impl Suspicion {
    /// What the program was about to do, for the digest of its state.
    fn deed(&self) -> (Deed, [u64; 3]) {
        let address = self.address as u64;
        let [first, second] = self.operands;
        match self.sort {
            Suspect::Load { .. } => (Deed::Load, [address, self.bytes as u64, 0]),
            Suspect::Cas { .. } => (Deed::Cas, [address, first, second]),
            Suspect::Rmw | Suspect::Writes => (Deed::Rmw, [address, first, second]),
        }
    }
}

impl Trial {
    /// The access itself: of a stale write, or of the present one.
    fn takes_first(&mut self, suspicion: &Suspicion, stale: Option<&Candidate>) {
        let choice = stale.map(|candidate| Choice {
            write: candidate.write.0,
            by: candidate.write.1,
            is_old: true,
            is_free_of_sc: suspicion.is_free_of_sc,
        });
        let sort = match suspicion.sort {
            Suspect::Load { .. } => Sort::Load,
            Suspect::Cas { .. } => Sort::Failure,
            Suspect::Rmw | Suspect::Writes => Sort::Rmw,
        };
        self.takes((sort, suspicion.address), choice, suspicion.order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_choices_are_made_in_turn() {
        // Two ways first; behind the first way three more, behind the second none.
        let mut made = Vec::new();
        let mut wanted = Some(Vec::new());
        while let Some(choices) = wanted {
            let mut outcome = Outcome::NONE;
            let second = choices.first() == Some(&1);
            outcome.options[..2].copy_from_slice(&[2, 3]);
            outcome.chosen = if second { 1 } else { 2 };
            made.push(outcome.made(&choices));
            wanted = outcome.next(&choices);
        }
        assert_eq!(made, [vec![0, 0], vec![0, 1], vec![0, 2], vec![1]]);
    }

    #[test]
    fn a_loop_is_endless_unless_a_way_leads_out() {
        let mut loops = Loops::default();
        assert_eq!(loops.endless(), None);
        loops.enter(vec![0], true);
        loops.enter(vec![1, 1], false);
        assert_eq!(loops.endless(), Some(true));
        loops.leave(vec![0, 2]);
        assert_eq!(loops.endless(), Some(false));
        loops.leave(vec![1]);
        assert_eq!(loops.endless(), Some(false), "that is not behind it");
        loops.leave(vec![1, 1]);
        assert_eq!(loops.endless(), None);
    }
}
