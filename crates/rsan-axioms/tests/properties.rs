//! Laws on random programs, each from a fixed seed.

mod common;

use common::random::{MIX, PLAIN, Profile, Rng, SC_MIX, text};
use common::{loc, program};
use rsan_axioms::{
    Limits, Relations, consistent, executions, happens_before, outcomes, robustness, sc_order,
};
use rsan_model::{FenceOrd, Graph, Instr, Model, Place, Program, ReadOrd, RmwOp, RmwOrd, WriteOrd};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

fn programs(seed: u64, count: usize, profile: &Profile) -> Vec<Program> {
    let mut rng = Rng::new(seed);
    (0..count)
        .map(|_| program(&text(&mut rng, profile)))
        .collect()
}

/// The complete graphs of a program, with their final registers.
fn graphs(program: &Program, model: Model) -> Vec<Graph> {
    let mut graphs = Vec::new();
    let summary = executions(program, model, &Limits::default(), &mut |e| {
        graphs.push(e.graph.clone());
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap_or_else(|e| panic!("{}: {e}", program.name));
    assert_eq!(summary.executions, graphs.len() as u64);
    assert_eq!(summary.cut.reason(&Limits::default()), None);
    graphs
}

fn weaker_or_equal(program: &Program, stronger: Model, weaker: Model) {
    for graph in graphs(program, stronger) {
        let verdict = consistent(weaker, &graph);
        assert_eq!(verdict, Ok(()), "{stronger} ⊆ {weaker}: {}", program.name);
    }
}

#[test]
fn every_execution_is_visited_once() {
    for profile in [&MIX, &SC_MIX, &PLAIN] {
        for p in programs(1, 150, profile) {
            let graphs = graphs(&p, Model::C20);
            let distinct: HashSet<&Graph> = graphs.iter().collect();
            assert_eq!(distinct.len(), graphs.len(), "{}", p.name);
        }
    }
}

#[test]
fn models_are_ordered_by_strength() {
    let mut all = programs(2, 150, &MIX);
    all.extend(programs(3, 150, &SC_MIX));
    all.extend(programs(4, 150, &PLAIN));
    for p in &all {
        for weaker in [Model::Tso, Model::C20, Model::Rc11] {
            weaker_or_equal(p, Model::Sc, weaker);
        }
    }
    for p in programs(5, 150, &MIX) {
        weaker_or_equal(&p, Model::Ra, Model::Rc20);
    }
}

/// An SC graph is allowed by RC20 once its SC fences are numbered along an SC order; so every SC final state is
/// a final state of RC20 and RA.
#[test]
fn rc20_and_ra_have_every_sc_final_state() {
    for p in programs(6, 200, &MIX) {
        let states = |model| {
            outcomes(&p, model, &Limits::default())
                .expect("small")
                .states
        };
        let sc = states(Model::Sc);
        for model in [Model::Ra, Model::Rc20] {
            let weak = states(model);
            assert!(
                sc.keys().all(|s| weak.contains_key(s)),
                "{model}: {}",
                p.name
            );
        }
    }
}

/// On programs without seq_cst, RC20 and C++20 are the same model.
#[test]
fn rc20_and_c20_differ_in_seq_cst_only() {
    for mut p in programs(7, 200, &MIX) {
        for thread in &mut p.threads {
            for instr in &mut thread.code {
                if *instr == Instr::Fence(FenceOrd::SeqCst) {
                    *instr = Instr::Fence(FenceOrd::AcqRel);
                }
            }
        }
        assert_eq!(
            graphs(&p, Model::Rc20),
            graphs(&p, Model::C20),
            "{}",
            p.name
        );
    }
}

#[test]
fn a_program_is_robust_when_all_its_complete_graphs_are_sc() {
    for (model, profile) in [
        (Model::Rc20, &MIX),
        (Model::Ra, &MIX),
        (Model::C20, &SC_MIX),
        (Model::Rc11, &SC_MIX),
        (Model::Tso, &SC_MIX),
    ] {
        for p in programs(8, 150, profile) {
            let answer = robustness(&p, model, &Limits::default()).expect("small");
            let graphs = graphs(&p, model);
            let all_sc = graphs.iter().all(|g| sc_order(model, g).is_acyclic());
            assert_eq!(answer.robust, all_sc, "{model}: {}", p.name);
            if answer.robust {
                assert_eq!(answer.sc_graphs, graphs.len() as u64, "{model}: {}", p.name);
            }
        }
    }
}

/// Expanding an SC fence into acquire fence, RMW of a location of its own, release fence changes no verdict.
#[test]
fn the_reserved_location_can_be_spelled_out() {
    let fences = Profile {
        ops: &[
            "ld.rlx", "ld.acq", "st.rlx", "st.rel", "st.rlx", "ld.rlx", "fadd.rlx", "fence.sc",
            "fence.sc", "fence.sc",
        ],
        ..MIX
    };
    let mut weak = 0;
    for p in programs(9, 600, &fences) {
        let expanded = expand_fences(&p);
        let verdict = |p| robustness(p, Model::Rc20, &Limits::default()).expect("small");
        let (one, three) = (verdict(&p), verdict(&expanded));
        assert_eq!(one.robust, three.robust, "{}", p.name);
        if one.robust {
            assert_eq!(one.sc_graphs, three.sc_graphs, "{}", p.name);
        }
        weak += u32::from(!one.robust);
    }
    assert!(weak > 30, "only {weak} programs are not robust");
}

fn expand_fences(p: &Program) -> Program {
    let mut expanded = p.clone();
    let fresh = rsan_model::LocId::new(expanded.locations.len());
    expanded.locations.push(rsan_model::Location {
        name: "f".to_owned(),
        kind: rsan_model::LocKind::Atomic,
        init: 0,
    });
    for thread in &mut expanded.threads {
        let expand = |instr: &Instr| match instr {
            Instr::Fence(FenceOrd::SeqCst) => vec![
                Instr::Fence(FenceOrd::Acquire),
                Instr::Rmw {
                    dst: None,
                    place: Place::Loc(fresh),
                    op: RmwOp::Add,
                    operand: rsan_model::Expr::Const(0),
                    ord: RmwOrd::AcqRel,
                },
                Instr::Fence(FenceOrd::Release),
            ],
            other => vec![other.clone()],
        };
        thread.code = thread.code.iter().flat_map(expand).collect();
        thread.spans = vec![rsan_model::Span::default(); thread.code.len()];
    }
    expanded
}

#[test]
fn stronger_orders_never_add_behaviours() {
    let mut rng = Rng::new(10);
    for (models, profile) in [
        (&[Model::Rc20, Model::C20, Model::Rc11][..], &MIX),
        (&[Model::C20, Model::Rc11, Model::Tso][..], &SC_MIX),
    ] {
        for p in programs(11, 200, profile) {
            let stronger = strengthen_one(&p, &mut rng, profile.ops.contains(&"ld.sc"));
            for &model in models {
                let states = |p: &Program| {
                    outcomes(p, model, &Limits::default())
                        .expect("small")
                        .states
                };
                let (weak, strong) = (states(&p), states(&stronger));
                let added = strong.keys().find(|s| !weak.contains_key(s));
                assert_eq!(added, None, "{model}: {}", p.name);
            }
        }
    }
}

/// The program with one access or fence strengthened.
fn strengthen_one(p: &Program, rng: &mut Rng, seq_cst: bool) -> Program {
    let mut p = p.clone();
    let t = rng.below(p.threads.len());
    let i = rng.below(p.threads[t].code.len());
    let read = if seq_cst {
        ReadOrd::SeqCst
    } else {
        ReadOrd::Acquire
    };
    let write = if seq_cst {
        WriteOrd::SeqCst
    } else {
        WriteOrd::Release
    };
    let rmw = RmwOrd::from_halves(read, write);
    match &mut p.threads[t].code[i] {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => *ord = read,
        Instr::Store { ord, .. } => *ord = write,
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => *ord = rmw,
        Instr::Cas { ord, fail, .. } => {
            *ord = rmw;
            *fail = read;
        }
        Instr::Fence(ord) => *ord = FenceOrd::SeqCst,
        _ => {}
    }
    p
}

#[test]
fn relations_obey_their_laws() {
    for p in programs(12, 100, &PLAIN)
        .into_iter()
        .chain(programs(13, 100, &SC_MIX))
    {
        for g in graphs(&p, Model::C20) {
            let r = Relations::of(&g);
            assert_eq!(r.eco, g.eco());
            assert_eq!(r.fr, g.fr());
            assert_eq!(r.sc_order(), g.sc_order());
            assert_eq!(r.po.plus(), r.po);
            assert_eq!(r.mo.plus(), r.mo);
            assert_eq!(r.eco.plus(), r.eco);
            let hb = happens_before(Model::C20, &g);
            assert_eq!(hb.plus(), hb);
            assert!(hb.is_irreflexive() && r.po.minus(&hb).is_empty());
            // The longer release sequence of RC11 can only add to happens-before.
            assert!(hb.minus(&happens_before(Model::Rc11, &g)).is_empty());
            // (rf ∪ mo ∪ fr)+ = rf ∪ (mo ∪ fr) ; rf? on graphs that satisfy atomicity and coherence.
            let mo_fr = r.mo.union(&r.fr);
            assert_eq!(r.rf.union(&mo_fr.then(&r.rf.optional())), r.eco);
        }
    }
}

/// A read-modify-write takes place directly after the write it reads, whatever the model.
#[test]
fn rmws_are_adjacent_to_what_they_read() {
    for p in programs(14, 100, &MIX) {
        for model in Model::ALL {
            for g in graphs(&p, model) {
                let mut next: BTreeMap<_, _> = BTreeMap::new();
                for l in 0..g.locations() {
                    let order = g.modification_order(rsan_model::LocId::new(l));
                    next.extend(order.windows(2).map(|w| (w[1], w[0])));
                }
                for e in g.select(|l| l.is_rmw()).iter() {
                    assert_eq!(
                        g.reads_from(e),
                        next.get(&e).copied(),
                        "{model}: {}",
                        p.name
                    );
                }
            }
        }
    }
}

#[test]
fn memory_is_the_last_write() {
    let p = program("st.rlx x 1 ‖ st.rlx x 2");
    let x = loc(&p, "x");
    let mut seen = Vec::new();
    executions(&p, Model::Sc, &Limits::default(), &mut |e| {
        seen.push(e.memory(x));
        ControlFlow::Continue(())
    })
    .expect("small");
    seen.sort_unstable();
    assert_eq!(seen, [1, 2]);
}
