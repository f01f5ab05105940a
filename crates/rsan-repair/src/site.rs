//! Where a program can be changed, and how.

use crate::Target;
use rsan_model::{
    FenceOrd, Instr, Model, Pc, Program, ReadOrd, RmwOrd, Thread, ThreadId, WriteOrd,
};
use std::collections::BTreeSet;

/// Whether a site gets a fence or a stronger order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A fence before the instruction, passed by everybody who comes there.
    Insert,
    /// A stronger order of the instruction itself.
    Raise,
}

/// A place that can be changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// Whose code.
    pub thread: ThreadId,
    /// The instruction, in the program as it was given.
    pub pc: Pc,
    /// What can be done.
    pub kind: Kind,
    /// The instructions it can get; never empty.
    pub options: Vec<Strengthened>,
}

/// One way to change a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strengthened {
    /// The fence, or the instruction with its new orders.
    pub instr: Instr,
    /// What it costs more than before.
    pub cost: u64,
    /// How much stronger it is; never 0.
    pub steps: u64,
}

/// What may be changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// Accesses are not made seq_cst: the language of the program cannot say it.
    pub no_sc_accesses: bool,
    /// Instructions whose orders the language does not let one choose.
    pub fixed: BTreeSet<(ThreadId, Pc)>,
    /// Instructions that no fence can stand before.
    pub unfenceable: BTreeSet<(ThreadId, Pc)>,
}

/// The option chosen at each site, if any.
pub type Chosen = Vec<Option<usize>>;

/// All sites of a program.
pub fn sites(program: &Program, model: Model, scope: &Scope, target: Target) -> Vec<Site> {
    let program = program.for_model(model);
    let mut sites = Vec::new();
    for (t, thread) in program.threads.iter().enumerate() {
        let t = ThreadId::new(t);
        let preceded = preceded(thread);
        for (pc, instr) in thread.code.iter().enumerate() {
            let at = (t, Pc::new(pc));
            let fences =
                preceded[pc] && instr.place().is_some() && !scope.unfenceable.contains(&at);
            let inserted = if fences {
                fences_for(model)
            } else {
                Vec::new()
            };
            let raised = if scope.fixed.contains(&at) {
                Vec::new()
            } else {
                raised(instr, model, scope)
            };
            for (kind, options, old) in [
                (Kind::Insert, inserted, None),
                (Kind::Raise, raised, Some(instr)),
            ] {
                let options: Vec<Strengthened> = options
                    .into_iter()
                    .map(|new| Strengthened {
                        cost: target.price(&new) - old.map_or(0, |i| target.price(i)),
                        steps: rank(&new) + u64::from(old.is_none()) - old.map_or(0, rank),
                        instr: new,
                    })
                    .collect();
                if !options.is_empty() {
                    sites.push(Site {
                        thread: t,
                        pc: at.1,
                        kind,
                        options,
                    });
                }
            }
        }
    }
    sites
}

/// For each instruction, whether a shared access can come before it.
fn preceded(thread: &Thread) -> Vec<bool> {
    let mut reached = vec![false; thread.code.len() + 1];
    let mut work: Vec<Pc> = Vec::new();
    for (pc, instr) in thread.code.iter().enumerate() {
        if instr.place().is_some() {
            work.extend(instr.successors(Pc::new(pc)));
        }
    }
    while let Some(pc) = work.pop() {
        if !std::mem::replace(&mut reached[pc.index()], true) {
            work.extend(thread.instr(pc).successors(pc));
            work.retain(|pc| pc.index() < reached.len());
        }
    }
    reached
}

/// The fences that mean something. Under RA all accesses release and acquire, so weaker ones have no effect.
fn fences_for(model: Model) -> Vec<Instr> {
    let orders = FenceOrd::ALL.into_iter();
    let orders = orders.filter(|ord| ord.is_sc() || model != Model::Ra);
    orders.map(Instr::Fence).collect()
}

/// The instruction with all stronger orders.
fn raised(instr: &Instr, model: Model, scope: &Scope) -> Vec<Instr> {
    let sc = model.has_sc_accesses() && !scope.no_sc_accesses;
    let reads = || ReadOrd::ALL.into_iter().filter(|o| sc || !o.is_sc());
    let updates = || RmwOrd::ALL.into_iter().filter(|o| sc || !o.is_sc());
    let mut all: Vec<Instr> = Vec::new();
    let mut add = |set: &dyn Fn(&mut Instr)| {
        let mut new = instr.clone();
        set(&mut new);
        all.push(new);
    };
    match instr {
        Instr::Load { .. } | Instr::Wait { .. } => reads().for_each(|new| {
            add(&|i| {
                if let Instr::Load { ord, .. } | Instr::Wait { ord, .. } = i {
                    *ord = new;
                }
            });
        }),
        Instr::Store { .. } => {
            for new in WriteOrd::ALL.into_iter().filter(|o| sc || !o.is_sc()) {
                add(&|i| {
                    if let Instr::Store { ord, .. } = i {
                        *ord = new;
                    }
                });
            }
        }
        Instr::Rmw { .. } | Instr::Bcas { .. } => updates().for_each(|new| {
            add(&|i| {
                if let Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } = i {
                    *ord = new;
                }
            });
        }),
        // A failure reads as strongly as a success: it is the same instruction on all machines.
        Instr::Cas { .. } => updates().for_each(|new| {
            add(&|i| {
                if let Instr::Cas { ord, fail, .. } = i {
                    *ord = new;
                    *fail = (*fail).max(new.read());
                }
            });
        }),
        Instr::Fence(_) => fences_for(model)
            .into_iter()
            .for_each(|new| add(&|i| *i = new.clone())),
        _ => {}
    }
    all.retain(|new| new != instr && weaker_or_equal(instr, new));
    all
}

/// Whether the orders of `a` are at most those of `b`; both are the same instruction otherwise.
pub(crate) fn weaker_or_equal(a: &Instr, b: &Instr) -> bool {
    strength(a)
        .into_iter()
        .zip(strength(b))
        .all(|(a, b)| a <= b)
}

/// What the orders of an instruction give, each kind by itself: reading, writing, failing, being SC.
fn strength(instr: &Instr) -> [u64; 4] {
    match instr {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => [*ord as u64, 0, 0, 0],
        Instr::Store { ord, .. } => [0, *ord as u64, 0, 0],
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => update_strength(*ord, None),
        Instr::Cas { ord, fail, .. } => update_strength(*ord, Some(*fail)),
        Instr::Fence(ord) => [
            u64::from(ord.acquires()),
            u64::from(ord.releases()),
            0,
            u64::from(ord.is_sc()),
        ],
        _ => [0; 4],
    }
}

fn update_strength(ord: RmwOrd, fail: Option<ReadOrd>) -> [u64; 4] {
    [
        u64::from(ord.acquires()),
        u64::from(ord.releases()),
        fail.map_or(0, |f| f as u64),
        u64::from(ord.is_sc()),
    ]
}

fn rank(instr: &Instr) -> u64 {
    strength(instr).into_iter().sum()
}

/// The program with the chosen options. Jumps to an instruction pass the fence before it.
pub fn apply(program: &Program, sites: &[Site], chosen: &[Option<usize>]) -> Program {
    let mut changed = program.clone();
    let options = |wanted: Kind| {
        let both = sites.iter().zip(chosen).rev();
        both.filter_map(move |(site, option)| {
            let option = &site.options[(*option)?];
            (site.kind == wanted).then_some((site, &option.instr))
        })
    };
    for (site, instr) in options(Kind::Raise) {
        changed.threads[site.thread.index()].code[site.pc.index()] = instr.clone();
    }
    // From the end of a thread to its beginning, so that the places of the rest stay what they are.
    for (site, instr) in options(Kind::Insert) {
        let at = site.pc.index();
        let thread = &mut changed.threads[site.thread.index()];
        thread.for_each_target(|pc| {
            if pc.index() > at {
                pc.0 += 1;
            }
        });
        let span = thread.spans[at];
        thread.code.insert(at, instr.clone());
        thread.spans.insert(at, span);
    }
    changed
}
