//! Which steps commute, and which need not be explored because of it (docs/theory/finite.md, F11).
//!
//! Two steps of different threads commute when no location that one of them writes is touched by the other: the
//! program's values, the monitor's sets and both checks come out the same in either order. Let `s` be reached from
//! `p` by a step of thread `j`, and let `i` be a thread of lower rank whose next step commutes with it. Then whatever
//! `i` leads to from `s` is also reached from `p` by `i` first and `j` second, so `i` may sleep in `s`.
//!
//! *Sound*: every state is still found, at the same depth, and every check is still made. (Two orders may leave
//! different race bits of accesses that a plain write has superseded; such states have the same future, and one of them
//! is found.) For a sleeping pair `(s, i)` let `q` be the state that `i` leads to from `p`. It is found, by induction on the number of the state (`p` has a
//! smaller one than `s`); and what `j` leads to from `q` is found, by induction on the rank of the thread (`j` has a
//! greater one than `i`). Since ranks only grow, no two pairs justify each other. Interchangeable threads have the same
//! rank, so renaming them ([`crate::symmetry`]) changes nothing. The check of `i` in `s` has the answer that it has in
//! `p`. A sleeping thread is asleep once for all ways to reach `s` that were known when `s` was expanded: each alone is
//! reason enough.

use crate::facts::Facts;
use crate::forgetting::Forgetting;
use crate::mutation::{Mutant, Mutation};
use crate::symmetry::interchangeable;
use rsan_model::{Instr, Pc, Program, Thread, ThreadId};

/// A set of the first threads of a program; further ones are never asleep.
pub(crate) type ThreadSet = u16;

/// Whether a thread is in the set.
#[inline]
pub(crate) fn is_asleep(set: ThreadSet, thread: ThreadId) -> bool {
    thread.index() < ThreadSet::BITS as usize && set >> thread.index() & 1 != 0
}

/// Makes two threads of a set change places; a thread that is never asleep is in none.
#[inline]
pub(crate) fn swap_names(set: &mut ThreadSet, a: ThreadId, b: ThreadId) {
    let bit = |t: ThreadId| (1 as ThreadSet).checked_shl(t.0).unwrap_or(0);
    if is_asleep(*set, a) != is_asleep(*set, b) {
        *set ^= bit(a) | bit(b);
    }
}

/// The locations that a step touches, as bits; the last bit is the reserved location of SC fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Touched {
    reads: u64,
    writes: u64,
}

impl Touched {
    fn union(self, other: Self) -> Self {
        Self {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
        }
    }

    fn commutes(self, other: Self, mutation: Mutation) -> bool {
        let reads = self.writes & other.reads == 0 && other.writes & self.reads == 0;
        self.writes & other.writes == 0
            && (reads || mutation.breaks(Mutant::WritesCommuteWithReads))
    }
}

/// What the next step of each thread touches, wherever it rests.
#[derive(Clone, Debug)]
pub(crate) struct Commutation {
    /// Per thread and program counter; empty when the program is too wide, or creates threads.
    touched: Vec<Vec<Touched>>,
    /// Equal for interchangeable threads.
    ranks: Vec<usize>,
    mutation: Mutation,
}

impl Commutation {
    pub(crate) fn new(program: &Program, facts: &Facts, forgetting: Option<&Forgetting>) -> Self {
        let mutation = facts.mutation;
        let usable = program.locations.len() < 63
            && !facts.has_spawn
            && !facts.has_join
            && !mutation.without_commutation();
        let touched = |(t, thread): (usize, &Thread)| next_steps(thread, facts, forgetting, t);
        let threads = &program.threads;
        let same = |a: usize, b: usize| interchangeable(&threads[a], &threads[b]);
        Self {
            touched: if usable {
                threads.iter().enumerate().map(touched).collect()
            } else {
                Vec::new()
            },
            ranks: (0..threads.len())
                .map(|t| (0..t).find(|&u| same(u, t)).unwrap_or(t))
                .collect(),
            mutation,
        }
    }

    /// The threads that may sleep in the state that thread `j` leads to, given where all threads rest before.
    #[inline]
    pub(crate) fn asleep_after(&self, j: usize, pcs: &[u32]) -> ThreadSet {
        let step = |t: usize| self.touched.get(t)?.get(pcs[t] as usize).copied();
        let Some(mine) = step(j) else { return 0 };
        let mut asleep = 0;
        for i in 0..pcs.len().min(ThreadSet::BITS as usize) {
            let lower = self.ranks[i] < self.ranks[j]
                || i != j && self.mutation.breaks(Mutant::RankIgnored);
            if lower && step(i).is_some_and(|other| mine.commutes(other, self.mutation)) {
                asleep |= 1 << i;
            }
        }
        asleep
    }
}

/// What a step from each program counter touches: a visible instruction and the invisible ones up to the next
/// rest; from a choice, also the invisible ones before the visible one, on any branch.
fn next_steps(
    thread: &Thread,
    facts: &Facts,
    forgetting: Option<&Forgetting>,
    t: usize,
) -> Vec<Touched> {
    let n = thread.code.len() + 1;
    let pcs = &facts.pcs[t];
    let is_choice = |pc: usize| matches!(thread.instr(Pc::new(pc)), Instr::Choose(_));
    let own: Vec<Touched> = (0..n)
        .map(|pc| {
            let asked = Touched {
                reads: forgetting.map_or(0, |c| c.asked_at(t, pc)),
                writes: 0,
            };
            touches(thread.instr(Pc::new(pc)), facts.mutation).union(asked)
        })
        .collect();
    let successors: Vec<Vec<usize>> = (0..n)
        .map(|pc| {
            let next = thread.instr(Pc::new(pc)).successors(Pc::new(pc));
            next.into_iter().map(|to| to.index().min(n - 1)).collect()
        })
        .collect();
    let all = |sets: &[Touched], pc: usize| {
        successors[pc]
            .iter()
            .fold(Touched::default(), |acc, &to| acc.union(sets[to]))
    };
    let fixpoint = |f: &dyn Fn(&[Touched], usize) -> Touched| {
        let mut sets = vec![Touched::default(); n];
        loop {
            let next: Vec<Touched> = (0..n).map(|pc| f(&sets, pc)).collect();
            if next == sets {
                return sets;
            }
            sets = next;
        }
    };
    // Invisible instructions from here to the next rest.
    let tail = fixpoint(&|sets, pc| {
        if pcs[pc].rests() || is_choice(pc) {
            Touched::default()
        } else {
            own[pc].union(all(sets, pc))
        }
    });
    // From here through the next visible instruction, with what `after` says about those that follow it.
    let through = |after: &[Touched], locks: &[Touched]| {
        fixpoint(&|sets, pc| {
            if pcs[pc].takes_lock {
                own[pc].union(all(locks, pc))
            } else if pcs[pc].rests() {
                own[pc].union(all(after, pc))
            } else if is_choice(pc) {
                Touched::default()
            } else {
                own[pc].union(all(sets, pc))
            }
        })
    };
    // Taking a lock goes on through one more.
    let single = through(&tail, &tail);
    let whole = through(&tail, &single);
    (0..n)
        .map(|pc| {
            if is_choice(pc) {
                all(&whole, pc)
            } else {
                whole[pc]
            }
        })
        .collect()
}

fn touches(instr: &Instr, mutation: Mutation) -> Touched {
    let reserved = if mutation.breaks(Mutant::ScFencesCommute) {
        0
    } else {
        1 << 63
    };
    match instr {
        Instr::Fence(ord) if ord.is_sc() => Touched {
            reads: reserved,
            writes: reserved,
        },
        _ => {
            let places = instr.place().into_iter().flat_map(|p| p.candidates());
            let places = places.fold(0, |set, loc| set | 1 << loc.index());
            Touched {
                reads: places,
                writes: if instr.may_write() { places } else { 0 },
            }
        }
    }
}
