//! What can be said about a program without running it: who accesses what, which registers and views are
//! still needed at an instruction, and which instructions other threads can notice (docs/theory/finite.md, F9).

use crate::locks::Locks;
use crate::mutation::{Mutant, Mutation};
use rsan_model::{Instr, LocId, Model, Pc, Program, RegId, Thread, ThreadId, WriteOrd};

/// What is known about a shared location.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocFacts {
    /// The threads that may write it.
    pub(crate) writers: Vec<ThreadId>,
    /// The threads that may access it.
    pub(crate) accessors: Vec<ThreadId>,
    /// Some write of it is a read-modify-write.
    pub(crate) has_rmw: bool,
    /// Some write of it is a store, atomic or not.
    pub(crate) has_store: bool,
    /// Some store of it is atomic.
    pub(crate) has_atomic_store: bool,
    /// Somebody reads it atomically without updating it (load, wait, failed CAS).
    pub(crate) has_read: bool,
    /// A read of it may bring something into a view: it acquires, or an acquire fence may follow.
    pub(crate) message_matters: bool,
    /// Its value may be another one than at first.
    pub(crate) changes: bool,
    /// Some access of it is non-atomic, so all its accesses are race-checked.
    pub(crate) race_checked: bool,
    /// Every access takes it or gives it back.
    pub(crate) is_lock: bool,
}

/// What is known about an instruction of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct PcFacts {
    /// Registers whose value may still be used.
    pub(crate) live: Vec<RegId>,
    /// An acquire fence may follow.
    pub(crate) acquire_live: bool,
    /// A write that publishes the release view may follow.
    pub(crate) release_live: bool,
    /// Other threads can notice it, so it is a scheduling point.
    pub(crate) visible: bool,
    /// It is visible, but executed as soon as the thread gets there, unless it has to wait.
    pub(crate) at_once: bool,
    /// It takes a lock, and what follows is part of the same step.
    pub(crate) takes_lock: bool,
}

impl PcFacts {
    /// Whether a thread that gets there always rests.
    pub(crate) fn rests(&self) -> bool {
        self.visible && !self.at_once
    }
}

/// Everything known about a program.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) locations: Vec<LocFacts>,
    /// Per thread and instruction, the end of the code included.
    pub(crate) pcs: Vec<Vec<PcFacts>>,
    /// Some thread is joined by another.
    pub(crate) has_join: bool,
    pub(crate) has_spawn: bool,
    pub(crate) mutation: Mutation,
}

impl Facts {
    pub(crate) fn new(program: &Program, model: Model, mutation: Mutation) -> Self {
        let mut facts = Self {
            locations: vec![LocFacts::default(); program.locations.len()],
            pcs: Vec::new(),
            has_join: false,
            has_spawn: false,
            mutation,
        };
        for (thread, _, instr) in program.instructions() {
            facts.note(thread, instr);
        }
        for (t, thread) in program.threads.iter().enumerate() {
            let has_acquire_fence = thread
                .code
                .iter()
                .any(|i| matches!(i, Instr::Fence(ord) if ord.acquires()));
            for instr in &thread.code {
                facts.note_message(instr, has_acquire_fence);
            }
            let pcs = facts.thread_facts(ThreadId::new(t), thread, model);
            facts.pcs.push(pcs);
        }
        facts.note_locks(program);
        facts
    }

    /// What threads do at once: where they are alone because of a lock, or wait for what only they write.
    fn note_locks(&mut self, program: &Program) {
        if self.mutation.without_locks() {
            return;
        }
        let locks = Locks::new(program);
        for (facts, &is_lock) in self.locations.iter_mut().zip(&locks.is_lock) {
            facts.is_lock = is_lock;
        }
        for (t, pc, instr) in program.instructions() {
            let own_wait = matches!(instr, Instr::Wait { ord, .. } if !ord.is_sc())
                && instr.place().is_some_and(|p| {
                    p.candidates()
                        .all(|l| self.locations[l.index()].writers.iter().all(|&w| w == t))
                });
            let pcs = &mut self.pcs[t.index()][pc.index()];
            pcs.takes_lock = locks.takes(instr);
            pcs.at_once =
                pcs.visible && (own_wait || locks.is_alone(program, t.index(), pc.index()));
        }
    }

    fn note(&mut self, thread: ThreadId, instr: &Instr) {
        self.has_join |= matches!(instr, Instr::Join(_));
        self.has_spawn |= matches!(instr, Instr::Spawn(_));
        let Some(place) = instr.place() else { return };
        for loc in place.candidates() {
            let facts = &mut self.locations[loc.index()];
            if !facts.accessors.contains(&thread) {
                facts.accessors.push(thread);
            }
            if instr.may_write() && !facts.writers.contains(&thread) {
                facts.writers.push(thread);
                facts.changes = true;
            }
            match instr {
                Instr::Store { .. } => {
                    facts.has_store = true;
                    facts.has_atomic_store = true;
                }
                Instr::Rmw { .. } | Instr::Bcas { .. } => facts.has_rmw = true,
                Instr::Cas { .. } => {
                    facts.has_rmw = true;
                    facts.has_read = true;
                }
                Instr::Load { .. } | Instr::Wait { .. } => facts.has_read = true,
                Instr::PlainLoad { .. } => facts.race_checked = true,
                Instr::PlainStore { .. } => {
                    facts.race_checked = true;
                    facts.has_store = true;
                }
                _ => {}
            }
        }
    }

    fn note_message(&mut self, instr: &Instr, has_acquire_fence: bool) {
        let matters = match instr {
            Instr::Load { ord, .. } | Instr::Wait { ord, .. } => {
                let fence = has_acquire_fence && !self.breaks(Mutant::MessagesIgnoreFences);
                ord.acquires() || fence
            }
            // An RMW continues the release sequence, so it needs the old message in any case.
            Instr::Rmw { .. } | Instr::Cas { .. } | Instr::Bcas { .. } => {
                !self.breaks(Mutant::MessagesIgnoreRmws)
            }
            _ => false,
        };
        if let (true, Some(place)) = (matters, instr.place()) {
            for loc in place.candidates() {
                self.locations[loc.index()].message_matters = true;
            }
        }
    }

    fn thread_facts(&self, t: ThreadId, thread: &Thread, model: Model) -> Vec<PcFacts> {
        let n = thread.code.len() + 1;
        let mut pcs: Vec<PcFacts> = (0..n)
            .map(|pc| PcFacts {
                visible: self.is_visible(t, thread.instr(Pc::new(pc)), model),
                ..PcFacts::default()
            })
            .collect();
        let mut live = vec![vec![false; thread.registers.len()]; n];
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (0..n).rev() {
                let instr = thread.instr(Pc::new(pc));
                let successors = instr.successors(Pc::new(pc));
                let mut now = vec![false; thread.registers.len()];
                let (mut acquire, mut release) = (false, false);
                for next in successors {
                    let next = next.index().min(n - 1);
                    now.iter_mut().zip(&live[next]).for_each(|(a, &b)| *a |= b);
                    acquire |= pcs[next].acquire_live;
                    release |= pcs[next].release_live;
                }
                instr.for_each_written_reg(&mut |r| now[r.index()] = false);
                if !self.reads_nothing(instr) {
                    instr.for_each_read_reg(&mut |r| now[r.index()] = true);
                }
                if let Instr::Fence(ord) = instr {
                    acquire |= ord.acquires();
                    release &= !ord.releases();
                }
                release |= publishes_release_view(instr);
                changed |= now != live[pc]
                    || acquire != pcs[pc].acquire_live
                    || release != pcs[pc].release_live;
                live[pc] = now;
                pcs[pc].acquire_live = acquire;
                pcs[pc].release_live = release;
            }
        }
        for (facts, live) in pcs.iter_mut().zip(live) {
            facts.live = (0..live.len())
                .filter(|&r| live[r])
                .map(RegId::new)
                .collect();
        }
        pcs
    }

    /// Whether other threads can notice an instruction of `t`, or it can notice them.
    ///
    /// A load that is not seq_cst, of a location that no other thread writes, is neither: what it reads is
    /// the thread's own, its check cannot fail, and what it feeds is consumed by writers of the location only.
    /// Fences are thread-local but for the SC fences of RA and RC20, which meet at a reserved location.
    fn is_visible(&self, t: ThreadId, instr: &Instr, model: Model) -> bool {
        match instr {
            Instr::Fence(ord) => {
                ord.is_sc() && model != Model::C20 && !self.breaks(Mutant::ScFenceInvisible)
            }
            Instr::Join(_) => true,
            Instr::Load { place, ord, .. } => place.candidates().any(|loc| {
                let writers = &self.locations[loc.index()].writers;
                let foreign = writers.iter().any(|&w| w != t);
                let own_sc = ord.is_sc() && !writers.is_empty();
                foreign && !self.breaks(Mutant::ForeignLoadInvisible)
                    || own_sc && !self.breaks(Mutant::OwnScLoadInvisible)
            }),
            _ => instr.is_atomic_access(),
        }
    }

    /// Whether some location could have a data race.
    pub(crate) fn has_races(&self) -> bool {
        let may_race = |l: &LocFacts| l.race_checked && !l.writers.is_empty();
        self.locations.iter().any(may_race)
    }

    /// Whether a test says that the registers which the instruction reads are dead.
    fn reads_nothing(&self, instr: &Instr) -> bool {
        match instr {
            Instr::Branch { .. } => self.breaks(Mutant::BranchReadsNothing),
            _ => instr.place().is_some() && self.breaks(Mutant::AccessReadsNothing),
        }
    }

    /// Whether a test broke this rule.
    fn breaks(&self, mutant: Mutant) -> bool {
        self.mutation.breaks(mutant)
    }

    /// Whether the location is ever written.
    pub(crate) fn is_written(&self, loc: LocId) -> bool {
        !self.locations[loc.index()].writers.is_empty()
    }
}

/// Whether the instruction may publish the view of the last release fence.
fn publishes_release_view(instr: &Instr) -> bool {
    match instr {
        Instr::Store { ord, .. } => *ord == WriteOrd::Relaxed,
        Instr::Rmw { ord, .. } | Instr::Cas { ord, .. } | Instr::Bcas { ord, .. } => {
            !ord.releases()
        }
        _ => false,
    }
}
