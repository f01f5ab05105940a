//! Weak compare-and-swaps may fail for no reason. Where a proof is claimed, it has to be known what the program does then.
//!
//! **Decides** whether the program only tries again: in a child ([`super::process`]) the compare-and-swap fails although it
//! finds what it expects, and the program comes back to it in the same state (place, arguments, registers, stack, and
//! all memory that it wrote), without a visible step in between.
//!
//! **Why that is enough**: what happens between the two equal states are reads, fences, and writes of what was there. An execution
//! with them is one without them that takes longer, as [`super`] says of waits. So executions with such failures need not be
//! explored.
//!
//! **Deviations**: none that is unsound. Whatever else the program does is not decided, also if it tries again in another state: it may
//! have counted its attempts.
//!
//! **Cost**: a copy of the process for each weak compare-and-swap that succeeds; only with
//! [`Options::exact`](crate::options::Options::exact).

use super::answer::Answer;
use super::question::{Kind, Question};
use super::{Reply, State, child, run};

/// What the program does when a weak compare-and-swap fails for no reason.
#[derive(Debug)]
pub(crate) enum Failure {
    /// This is the child, in which it fails.
    Happens,
    /// It only tries again.
    Retries,
    /// It does something else, or that is not known: a text about "the program".
    Matters(String),
}

/// A weak compare-and-swap that would succeed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Success {
    /// Where the program makes it.
    pub(crate) pc: usize,
    /// Where in memory.
    pub(crate) address: usize,
    /// How much.
    pub(crate) bytes: usize,
    /// What is there.
    pub(crate) value: u128,
    /// The state of the thread.
    pub(crate) state: u64,
    /// Where the thread's stack begins.
    pub(crate) outermost: usize,
}

/// Asks the program what it does if the compare-and-swap fails. No lock may be held.
pub(crate) fn ask(success: Success) -> Failure {
    let question = Question {
        pc: success.pc,
        address: success.address,
        bytes: success.bytes,
        kind: Kind::Load,
        handed: success.value,
        current: success.value,
        failed_in: Some((success.state, success.outermost)),
        ..Question::NONE
    };
    let text = match run(&State::UNKNOWN, question).0 {
        Reply::Handed(_) => return Failure::Happens,
        Reply::Answer(Answer::Iterates) => return Failure::Retries,
        Reply::Answer(Answer::Passes(step)) => format!("goes on with {}", step.name()),
        Reply::Answer(Answer::Unknown(why)) => {
            format!("is not known to try again: {}", why.name())
        }
        Reply::Answer(_) => "tries again in another state".to_owned(),
    };
    Failure::Matters(text)
}

/// In a child: the program comes to a weak compare-and-swap. `state` is that of the thread, given where its stack begins.
pub(crate) fn arrive(state: impl FnOnce(usize) -> Option<u64>) {
    child::come_back(state);
}
