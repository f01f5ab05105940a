//! Critical cycles, as `diy` makes tests of them (Alglave, Maranget, Sarkar and Sewell, "Fences in weak memory models", CAV 2010).
//!
//! A cycle is a sequence of steps between accesses: from one thread to the next by `rfe`, `fre` or `coe`, or within a thread to another
//! location. It has at most two accesses per thread, and at least two steps within threads. All that SC forbids contains
//! such a cycle (Shasha and Snir 1988). On a machine that is multi-copy atomic it can happen if and only if one of the steps
//! within a thread is not kept: that is what [`Cycle::allowed`] says by a table of its own.

use super::shape::{Barrier, Dependency, Item, Shape, Source};
use crate::Random;
use rsan_model::machine::{Acquire, Machine};
use rsan_model::{Atom, LocId, Observable, Prop, RegId, ThreadId, Value};

/// A critical cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its accesses.
    accesses: Vec<Access>,
    /// The step from each access to the next, the last one to the first.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    write: bool,
    acquire: Acquire,
    release: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// To another thread, the same location.
    External,
    /// In the same thread, to another location.
    Internal(Option<Link>),
}

/// What stands between two accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    Barrier(Barrier),
    Depends(Dependency),
}

/// Where an access stands, and its value.
struct Placed {
    thread: usize,
    loc: usize,
    value: Value,
}

impl Cycle {
    /// A random cycle of two to four threads.
    pub fn random(random: &mut Random) -> Self {
        let threads = random.weighted(&[0, 0, 5, 4, 2]);
        // Two threads have two accesses each; of more, one or two may have one.
        let mut double = vec![true; threads];
        for _ in 2..threads {
            if random.chance(60) {
                double[random.below(threads)] = false;
            }
        }
        let mut cycle = Self {
            accesses: Vec::new(),
            steps: Vec::new(),
        };
        for &two in &double {
            for last in [!two, true].into_iter().skip(usize::from(!two)) {
                cycle.accesses.push(Access {
                    write: random.chance(50),
                    acquire: Acquire::No,
                    release: false,
                });
                cycle.steps.push(match last {
                    true => Step::External,
                    false => Step::Internal(None),
                });
            }
        }
        cycle.conflict(random);
        cycle.decorate(random);
        cycle
    }

    /// Makes one of two accesses a write where none is, so that they conflict.
    fn conflict(&mut self, random: &mut Random) {
        let n = self.accesses.len();
        for i in 0..n {
            let next = (i + 1) % n;
            let reads = !self.accesses[i].write && !self.accesses[next].write;
            if self.steps[i] == Step::External && reads {
                let one = if random.chance(50) { i } else { next };
                self.accesses[one].write = true;
            }
        }
    }

    /// Adds fences, dependencies and orders.
    fn decorate(&mut self, random: &mut Random) {
        let n = self.accesses.len();
        for i in 0..n {
            if random.chance(20) {
                let strong = random.chance(50);
                let access = &mut self.accesses[i];
                access.release = access.write;
                access.acquire = match (access.write, strong) {
                    (true, _) => Acquire::No,
                    (false, true) => Acquire::Sc,
                    (false, false) => Acquire::Pc,
                };
            }
            if !matches!(self.steps[i], Step::Internal(_)) || random.chance(25) {
                continue;
            }
            let barriers = [
                Barrier::Full,
                Barrier::Light,
                Barrier::Loads,
                Barrier::Stores,
            ];
            let mut links = barriers.map(Link::Barrier).to_vec();
            if !self.accesses[i].write {
                let kinds = [Dependency::Addr, Dependency::Ctrl, Dependency::CtrlIsync];
                links.extend(kinds.map(Link::Depends));
                if self.accesses[(i + 1) % n].write {
                    links.push(Link::Depends(Dependency::Data));
                }
            }
            self.steps[i] = Step::Internal(Some(random.pick(&links)));
        }
    }

    /// The same cycle with a full fence in each step within a thread.
    #[must_use]
    pub fn fenced(&self) -> Self {
        let full = Step::Internal(Some(Link::Barrier(Barrier::Full)));
        let step = |&s: &Step| if s == Step::External { s } else { full };
        Self {
            accesses: self.accesses.clone(),
            steps: self.steps.iter().map(step).collect(),
        }
    }

    /// The program, and the condition that shows the cycle.
    pub fn program(&self) -> (Shape, Prop) {
        let placed = self.place();
        let threads = placed.iter().map(|p| p.thread).max().map_or(0, |t| t + 1);
        let locations = placed.iter().map(|p| p.loc).max().map_or(0, |l| l + 1);
        let mut shape = Shape {
            locations,
            threads: vec![Vec::new(); threads],
        };
        let mut prop = Prop::True;
        let mut and = |observable, value| {
            let atom = Prop::Atom(Atom::Is(observable, value));
            prop = Prop::And(Box::new(prop.clone()), Box::new(atom));
        };
        for (i, (access, p)) in self.accesses.iter().zip(&placed).enumerate() {
            let register = shape.registers(p.thread);
            let items = &mut shape.threads[p.thread];
            let before = (i + self.steps.len() - 1) % self.steps.len();
            let mut source = None;
            match self.steps[before] {
                Step::Internal(Some(Link::Barrier(barrier))) => items.push(Item::Fence(barrier)),
                Step::Internal(Some(Link::Depends(kind))) => {
                    source = Some(Source { register: 0, kind });
                }
                Step::Internal(None) | Step::External => {}
            }
            items.push(match access.write {
                true => Item::Write {
                    loc: p.loc,
                    value: p.value,
                    release: access.release,
                    source,
                },
                false => Item::Read {
                    loc: p.loc,
                    acquire: access.acquire,
                    source,
                },
            });
            if !access.write {
                let register = RegId::new(register);
                and(Observable::Reg(ThreadId::new(p.thread), register), p.value);
            }
        }
        for loc in 0..locations {
            let writes = self.accesses.iter().zip(&placed);
            let writes = writes.filter(|(a, p)| a.write && p.loc == loc);
            let last = writes.map(|(_, p)| p.value).max();
            and(Observable::Loc(LocId::new(loc)), last.unwrap_or(0));
        }
        (shape, prop)
    }

    /// Threads, locations and values: along the cycle the writes of a location come in the order of their values, and a read sees
    /// the write before it.
    fn place(&self) -> Vec<Placed> {
        let n = self.accesses.len();
        let internal = self.steps.iter().filter(|&&s| s != Step::External).count();
        // The cycle begins behind a step to another thread; the accesses of the first location may stand at its end, too.
        let mut placed = Vec::with_capacity(n);
        let (mut thread, mut loc) = (0, 0);
        for step in &self.steps {
            placed.push(Placed {
                thread,
                loc: loc % internal,
                value: 0,
            });
            match step {
                Step::External => thread += 1,
                Step::Internal(_) => loc += 1,
            }
        }
        let starts = |i: usize| self.steps[(i + n - 1) % n] != Step::External;
        let first = (0..n).find(|&i| starts(i)).expect("a step within a thread");
        let mut value = 0;
        for i in (first..first + n).map(|i| i % n) {
            if starts(i) {
                value = 0;
            }
            value += Value::from(self.accesses[i].write);
            placed[i].value = value;
        }
        placed
    }

    /// Whether a location has so many writes that its last value does not tell their order.
    pub fn is_ambiguous(&self) -> bool {
        self.place()
            .iter()
            .zip(&self.accesses)
            .any(|(p, a)| a.write && p.value > 2)
    }

    /// Whether a multi-copy-atomic machine shows the cycle; `None` for the others.
    pub fn allowed(&self, machine: Machine) -> Option<bool> {
        if matches!(machine, Machine::Armv7 | Machine::Power) {
            return None;
        }
        let n = self.accesses.len();
        let kept = |i: usize| match self.steps[i] {
            Step::External => true,
            Step::Internal(link) => {
                keeps(machine, self.accesses[i], link, self.accesses[(i + 1) % n])
            }
        };
        Some(!(0..n).all(kept))
    }
}

/// Whether a machine keeps the order of two accesses of different locations with this between them.
fn keeps(machine: Machine, first: Access, link: Option<Link>, second: Access) -> bool {
    let by_barrier = |barrier| match barrier {
        Barrier::Full => true,
        Barrier::Light => !first.write || second.write,
        Barrier::Loads => !first.write,
        Barrier::Stores => first.write && second.write,
    };
    let by_link = match link {
        None => false,
        Some(Link::Barrier(barrier)) => by_barrier(barrier),
        Some(Link::Depends(Dependency::Addr | Dependency::Data)) => true,
        Some(Link::Depends(Dependency::Ctrl)) => second.write,
        Some(Link::Depends(Dependency::CtrlIsync)) => second.write || machine == Machine::Armv8,
    };
    // Plain accesses of RISC-V are RCpc.
    let rcsc = machine == Machine::Armv8 && first.release && second.acquire == Acquire::Sc;
    let by_order = first.acquire != Acquire::No || second.release || rcsc;
    match machine {
        Machine::Sc => true,
        Machine::X86 => {
            let mfence = link == Some(Link::Barrier(Barrier::Full));
            !first.write || second.write || mfence
        }
        _ => by_link || by_order,
    }
}
