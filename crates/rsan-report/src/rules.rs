//! What each kind of finding means and what to do about it: the help that code scanning shows beside a finding.

use crate::document::{Kind, Severity};

/// The help for a kind of finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// What that means for the program.
    pub meaning: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// How severe such findings are at most.
    pub severity: Severity,
}

impl Rule {
    /// The help for a kind.
    pub fn of(kind: Kind) -> Self {
        let (summary, meaning, fix) = words(kind);
        Self {
            summary,
            meaning,
            fix,
            severity: if kind.is_weak() {
                Severity::Warning
            } else {
                Severity::Error
            },
        }
    }
}

/// Summary, meaning and fix.
fn words(kind: Kind) -> (&'static str, &'static str, &'static str) {
    match kind {
        Kind::WeakBehaviour
        | Kind::ObservedWeakBehaviour
        | Kind::TriangularRace
        | Kind::Reordering => weak(kind),
        Kind::DataRace
        | Kind::DescriptorRace
        | Kind::Deadlock
        | Kind::LockOrderInversion
        | Kind::LockMisuse
        | Kind::ThreadLeak => threads(kind),
        Kind::Assertion
        | Kind::Trap
        | Kind::Crash
        | Kind::Failure
        | Kind::Hang
        | Kind::Condition
        | Kind::UseAfterFree
        | Kind::DoubleFree
        | Kind::InvalidFree
        | Kind::UseAfterReturn
        | Kind::SignalUnsafeCall
        | Kind::SignalErrno => failure(kind),
    }
}

fn weak(kind: Kind) -> (&'static str, &'static str, &'static str) {
    match kind {
        Kind::TriangularRace => (
            "A load with an unfenced store before it races with a store of another thread.",
            "On x86 the store can wait in the store buffer while the load reads memory. A program without such races \
             behaves as if it were sequentially consistent.",
            "Put a full fence between the store and the load, or make the store seq_cst.",
        ),
        Kind::Reordering => (
            "Two accesses that one machine keeps in order may be swapped on another one, where threads can see it.",
            "The program may rely on an order that the machine it was tested on gives for nothing. On the weaker machine there is an \
             execution that the stronger one does not have.",
            "Put a fence between the accesses, or make one of them an acquire load or a release store; `rsan port --fix` finds the \
             cheapest change.",
        ),
        Kind::ObservedWeakBehaviour => (
            "An access can do what no interleaving of the threads shows, and the program uses the result.",
            "The memory model allows an execution that is not sequentially consistent, and its outcome depends on a value \
             that no sequentially consistent execution gives.",
            "Strengthen the orders of the accesses that are named, or put a seq_cst fence between them; `rsan fence` finds the \
             cheapest change.",
        ),
        _ => (
            "An access can do what no interleaving of the threads shows.",
            "The program is not robust: the memory model allows an execution that is not sequentially consistent, such as a load \
             that returns a stale value. Reasoning about the code as if its threads took turns is not enough here.",
            "Strengthen the orders of the accesses that are named, or put a seq_cst fence between them. If the stale value does no \
             harm, say so with a suppression or an annotation of rsan.h.",
        ),
    }
}

fn threads(kind: Kind) -> (&'static str, &'static str, &'static str) {
    match kind {
        Kind::DescriptorRace => (
            "A file descriptor is closed and used by two threads without an order.",
            "The number may belong to another file by the time that it is used.",
            "Order the close after the last use: join the thread, or take a lock for both.",
        ),
        Kind::Deadlock => (
            "Threads wait for each other for ever.",
            "Each of them waits for something that only another one of them could do.",
            "Take locks in one order everywhere, or release what is held before waiting.",
        ),
        Kind::LockOrderInversion => (
            "Locks are taken in orders that can end in a deadlock.",
            "One thread takes the first lock and then the second, another one the second and then the first. If both get their \
             first lock, neither goes on.",
            "Take the locks in one order everywhere, or take both at once, as std::scoped_lock does.",
        ),
        Kind::LockMisuse => (
            "A lock, a barrier or the like is used wrongly.",
            "Locking what is destroyed, releasing what is not held and the like have undefined behaviour.",
            "Create, use and destroy the object in this order, and order its destruction after its last use.",
        ),
        Kind::ThreadLeak => (
            "A thread has ended, and nobody joined or detached it.",
            "Its stack and its entry in the table of threads are kept until the process ends.",
            "Join the thread, or detach it.",
        ),
        _ => (
            "Two threads access the same memory, one of them writes, one access is not atomic, and nothing orders them.",
            "A data race is undefined behaviour in C and C++: the compiler may assume that there is none.",
            "Order the accesses by a lock or by a release store that an acquire load reads, or make both of them atomic.",
        ),
    }
}

fn failure(kind: Kind) -> (&'static str, &'static str, &'static str) {
    match kind {
        Kind::Assertion => (
            "An assertion fails.",
            "There is an execution of the program that reaches the assertion with a false condition.",
            "Follow the schedule of the finding to the assertion.",
        ),
        Kind::Trap => (
            "An expression has no value.",
            "A division by zero, an index outside of its array or the like.",
            "Follow the schedule of the finding to the expression.",
        ),
        Kind::Crash => (
            "The program ends by a signal.",
            "There is an execution that accesses memory that is not there, calls abort or the like.",
            "Replay the run of the finding, and follow it from its first stale read.",
        ),
        Kind::Failure => (
            "The program ends with a status that is not 0.",
            "There is an execution that the program itself takes for a failure.",
            "Replay the run of the finding, and follow it from its first stale read.",
        ),
        Kind::Hang => (
            "The program does not end.",
            "There is an execution that goes on long after others have ended: threads wait for a value that does not come.",
            "Replay the run of the finding, and see which value its loops wait for.",
        ),
        Kind::Condition => (
            "The condition of a litmus test does not hold.",
            "The final states that the memory model allows are not those that the condition describes.",
            "Compare the final states with the condition.",
        ),
        Kind::UseAfterFree => (
            "Memory is used after its free.",
            "The block may belong to something else by the time that it is used.",
            "Order the free after the last use: count references with acq_rel, or join the threads that use the block.",
        ),
        Kind::DoubleFree => (
            "A block is freed twice.",
            "The second free damages the allocator, or frees what belongs to somebody else.",
            "Let one owner free the block.",
        ),
        Kind::InvalidFree => (
            "What is freed is no block of the allocator.",
            "Only the start of a block that malloc, new or the like returned can be freed.",
            "Free the pointer that the allocator returned.",
        ),
        Kind::UseAfterReturn => (
            "Memory on a stack is used after its function returned or its thread ended.",
            "Other frames use the same memory by then.",
            "Keep what threads share on the heap, or wait for them before the function returns.",
        ),
        Kind::SignalUnsafeCall => (
            "A signal handler calls a function that is not async-signal-safe.",
            "The signal may have interrupted the same function while it held a lock or changed its data.",
            "Only set a flag or write to a pipe in the handler, and do the work outside of it.",
        ),
        _ => (
            "A signal handler changes errno.",
            "The interrupted code may be about to read errno, and sees the handler's value.",
            "Save errno at the start of the handler, and restore it at its end.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_its_own_words() {
        let rules: Vec<_> = Kind::ALL.into_iter().map(Rule::of).collect();
        let summaries: BTreeSet<_> = rules.iter().map(|rule| rule.summary).collect();
        assert_eq!(summaries.len(), Kind::ALL.len());
        for rule in rules {
            for text in [rule.summary, rule.meaning, rule.fix] {
                assert!(text.ends_with('.') && !text.contains("  "), "{text}");
            }
        }
    }
}
