//! Threads that run the same code are interchangeable: of all states that differ only by who is who, one is
//! kept (docs/theory/finite.md, F12).
//!
//! Only what belongs to a thread tells threads apart in a state: its program counter, registers and slots, and the
//! race bits that say "this thread's access is not known". Swapping all of these between two threads with equal code
//! is an automorphism of the transition system, and it keeps every check. Threads of a group are therefore sorted
//! before a state is stored. Ties are left as they are, and race bits do not take part in the comparison: that
//! can only keep two states where one would do.

use crate::bits::Bits;
use crate::layout::{Layout, SlotKind};
use crate::mutation::Mutant;
use crate::state::State;
use rsan_clocks::AccessKind;
use rsan_model::{Instr, LocId, Program, RegId, Thread, ThreadId};
use std::cmp::Ordering;

/// The groups of interchangeable threads of a program.
#[derive(Clone, Debug)]
pub(crate) struct Symmetry {
    groups: Vec<Vec<usize>>,
    /// First register of each thread, and one past the last.
    bases: Vec<usize>,
    /// For each pair of threads that can be swapped: the race bits to swap.
    columns: Vec<Vec<Vec<(usize, usize)>>>,
}

impl Symmetry {
    pub(crate) fn new<const W: usize>(program: &Program, layout: &Layout<W>) -> Self {
        let threads = program.threads.len();
        let named = |i: &Instr| matches!(i, Instr::Spawn(_) | Instr::Join(_));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let asymmetric = program.instructions().any(|(_, _, i)| named(i));
        if !asymmetric && !layout.mutation.without_symmetry() {
            for t in 0..threads {
                let same = |&u: &usize| {
                    let (a, b) = (&program.threads[u], &program.threads[t]);
                    let stores = |i: &Instr| matches!(i, Instr::Store { .. });
                    let broken = || {
                        layout.breaks(Mutant::StoresIgnored)
                            && a.initial_registers() == b.initial_registers()
                            && a.code.len() == b.code.len()
                            && (a.code.iter().zip(&b.code))
                                .all(|(a, b)| a == b || stores(a) && stores(b))
                    };
                    interchangeable(a, b) || broken()
                };
                match groups.iter_mut().find(|g| same(&g[0])) {
                    Some(group) => group.push(t),
                    None => groups.push(vec![t]),
                }
            }
        }
        groups.retain(|g| g.len() > 1);
        let mut base = 0;
        let mut bases = vec![0];
        for thread in &program.threads {
            base += thread.registers.len();
            bases.push(base);
        }
        let mut columns = vec![vec![Vec::new(); threads]; threads];
        for group in &groups {
            for &a in group {
                for &b in group {
                    columns[a][b] = swapped_bits(program, layout, a, b);
                }
            }
        }
        Self {
            groups,
            bases,
            columns,
        }
    }

    /// Sorts the threads of each group; tells `swapped` which two change places, one pair after the other. `kept` gives
    /// the registers and slots that matter at a thread's program counter.
    #[inline]
    pub(crate) fn canonicalise<'k, const W: usize>(
        &self,
        layout: &Layout<W>,
        s: &mut State<W>,
        mut swapped: impl FnMut(ThreadId, ThreadId),
        kept: impl Fn(usize, u32) -> (&'k [RegId], &'k [usize]),
    ) {
        for group in &self.groups {
            for i in 1..group.len() {
                let mut j = i;
                while j > 0 {
                    let (a, b) = (group[j - 1], group[j]);
                    if self.compare(layout, s, a, b, &kept) != Ordering::Greater {
                        break;
                    }
                    self.swap(layout, s, a, b);
                    swapped(ThreadId::new(a), ThreadId::new(b));
                    j -= 1;
                }
            }
        }
    }

    fn compare<'k, const W: usize>(
        &self,
        layout: &Layout<W>,
        s: &State<W>,
        a: usize,
        b: usize,
        kept: &impl Fn(usize, u32) -> (&'k [RegId], &'k [usize]),
    ) -> Ordering {
        let pc = s.pcs[a];
        let order = pc.cmp(&s.pcs[b]);
        if order != Ordering::Equal {
            return order;
        }
        let ((regs, slots_a), (_, slots_b)) = (kept(a, pc), kept(b, pc));
        for r in regs {
            let (x, y) = (self.bases[a] + r.index(), self.bases[b] + r.index());
            let order = (s.regs[x], s.tainted[x]).cmp(&(s.regs[y], s.tainted[y]));
            if order != Ordering::Equal {
                return order;
            }
        }
        let locations = Bits::<W>::range(0, layout.psc_bits);
        for (&x, &y) in slots_a.iter().zip(slots_b) {
            let kind = layout.kinds[x];
            let (mut x, mut y) = (s.slots[x], s.slots[y]);
            if kind == SlotKind::Current {
                x.keep(locations);
                y.keep(locations);
            }
            let order = x.words().cmp(y.words());
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    fn swap<const W: usize>(&self, layout: &Layout<W>, s: &mut State<W>, a: usize, b: usize) {
        s.pcs.swap(a, b);
        for r in 0..self.bases[a + 1] - self.bases[a] {
            s.regs.swap(self.bases[a] + r, self.bases[b] + r);
            s.tainted.swap(self.bases[a] + r, self.bases[b] + r);
        }
        for (x, y) in layout.thread_range(a).zip(layout.thread_range(b)) {
            s.slots.swap(x, y);
        }
        let columns = &self.columns[a][b];
        if columns.is_empty() || layout.breaks(Mutant::RaceBitsNotSwapped) {
            return;
        }
        for (slot, kind) in s.slots.iter_mut().zip(&layout.kinds) {
            if *kind == SlotKind::Current {
                for &(x, y) in columns {
                    let (has_x, has_y) = (slot.contains(x), slot.contains(y));
                    if has_x != has_y {
                        slot.toggle(x);
                        slot.toggle(y);
                    }
                }
            }
        }
    }
}

/// Whether two threads differ in nothing but their names.
pub(crate) fn interchangeable(a: &Thread, b: &Thread) -> bool {
    a.code == b.code && a.initial_registers() == b.initial_registers()
}

/// The race bits of two threads with equal code, pairwise.
fn swapped_bits<const W: usize>(
    program: &Program,
    layout: &Layout<W>,
    a: usize,
    b: usize,
) -> Vec<(usize, usize)> {
    let bit = |loc, thread: usize, kind| layout.race_bit(loc, ThreadId::new(thread), kind);
    (0..program.locations.len())
        .map(LocId::new)
        .flat_map(|loc| AccessKind::ALL.map(|kind| (bit(loc, a, kind), bit(loc, b, kind))))
        .filter_map(|(x, y)| Some((x?, y?)))
        .filter(|(x, y)| x != y)
        .collect()
}
