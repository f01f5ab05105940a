//! A stronger order never adds a violation: it only forbids execution graphs and orders more accesses.
//!
//! The one exception is RC20's (and RA's) SC fence: it is an update of a reserved location, so it adds events to the
//! graph, and its order can be observed (docs/theory/model.md, M9).

use rsan_crosscheck::{MODELS, Profile, Random, compare, generate};
use rsan_lang::mini;
use rsan_model::{FenceOrd, Instr, Model, Program, ReadOrd, RmwOrd, Source, Verdict, WriteOrd};
use rsan_verify::{Options, verify};

/// Programs for each model and profile.
const PROGRAMS: u64 = 60;

fn holds(program: &Program, model: Model) -> bool {
    let options = Options {
        workers: 1,
        ..Options::new(model)
    };
    let outcome = verify(program, &options, &mut |_| {}).expect("the program suits the model");
    outcome.verdict == Verdict::Robust
}

/// All ways to make one order of an instruction stronger.
fn stronger(instr: &Instr, model: Model) -> Vec<Instr> {
    let sc = model.has_sc_accesses();
    let with = |f: &dyn Fn(&mut Instr)| {
        let mut changed = instr.clone();
        f(&mut changed);
        changed
    };
    let mut found = Vec::new();
    match instr {
        Instr::Load { ord: old, .. } | Instr::Wait { ord: old, .. } => {
            found.extend(reads(*old, sc).map(|new| {
                with(&|i| match i {
                    Instr::Load { ord, .. } | Instr::Wait { ord, .. } => *ord = new,
                    _ => {}
                })
            }));
        }
        Instr::Store { ord: old, .. } => {
            let orders = WriteOrd::ALL.into_iter();
            let orders = orders.filter(|new| new > old && (sc || !new.is_sc()));
            found.extend(orders.map(|new| {
                with(&|i| {
                    if let Instr::Store { ord, .. } = i {
                        *ord = new;
                    }
                })
            }));
        }
        Instr::Rmw { ord: old, .. }
        | Instr::Bcas { ord: old, .. }
        | Instr::Cas { ord: old, .. } => {
            found.extend(rmws(*old, sc).map(|new| {
                with(&|i| match i {
                    Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } | Instr::Cas { ord, .. } => {
                        *ord = new;
                    }
                    _ => {}
                })
            }));
        }
        Instr::Fence(old) => {
            // Not to an SC fence of RC20: that is another event.
            let orders = FenceOrd::ALL.into_iter().filter(|new| {
                let more = new.acquires() >= old.acquires() && new.releases() >= old.releases();
                more && new != old && !old.is_sc() && (sc || !new.is_sc())
            });
            found.extend(orders.map(Instr::Fence));
        }
        _ => {}
    }
    if let Instr::Cas { fail: old, .. } = instr {
        found.extend(reads(*old, sc).map(|new| {
            with(&|i| {
                if let Instr::Cas { fail, .. } = i {
                    *fail = new;
                }
            })
        }));
    }
    found
}

fn reads(old: ReadOrd, sc: bool) -> impl Iterator<Item = ReadOrd> {
    let orders = ReadOrd::ALL.into_iter();
    orders.filter(move |new| *new > old && (sc || !new.is_sc()))
}

fn rmws(old: RmwOrd, sc: bool) -> impl Iterator<Item = RmwOrd> {
    RmwOrd::ALL.into_iter().filter(move |new| {
        let more = new.read() >= old.read() && new.write() >= old.write();
        more && *new != old && (sc || !new.is_sc())
    })
}

#[test]
fn a_stronger_order_never_adds_a_violation() {
    let (mut checked, mut gained) = (0, 0);
    for model in MODELS {
        for &profile in Profile::of(model) {
            for seed in 1..=PROGRAMS {
                let program = generate(&mut Random::new(seed), profile, model);
                let held = holds(&program, model);
                for (t, pc, instr) in program.instructions() {
                    for instr in stronger(instr, model) {
                        let mut changed = program.clone();
                        changed.threads[t.index()].code[pc.index()] = instr;
                        let holds = holds(&changed, model);
                        assert!(
                            holds || !held,
                            "{model}: {:?} at {t}{pc} of {:?}",
                            changed.threads[t.index()].code[pc.index()],
                            mini::print(&program)
                        );
                        checked += 1;
                        gained += u32::from(holds && !held);
                    }
                }
            }
        }
    }
    eprintln!("{checked} changes, {gained} of them repair a program");
    assert!(checked > 1000 && gained > 30);
}

#[test]
fn an_sc_fence_of_rc20_can_add_a_violation() {
    let program = |fence: &str| {
        let text =
            format!("{fence}; ld.rlx r0 x || st.rlx x 1; st.rlx y 1 || ld.rlx r0 y; {fence}");
        mini::parse(&Source::new("fences", text.as_str())).expect("a program")
    };
    let robust = |fence: &str, model| {
        let answers = compare(&program(fence), model, &Default::default()).expect("it is small");
        assert_eq!(answers.contradictions(), Vec::<String>::new());
        answers.oracle.robust
    };
    for (model, sc) in [(Model::Rc20, false), (Model::Ra, true), (Model::C20, true)] {
        assert!(robust("fence.acqrel", model), "{model}");
        assert_eq!(robust("fence.sc", model), sc, "{model}");
    }
}
