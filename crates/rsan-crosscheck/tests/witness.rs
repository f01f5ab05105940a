//! A violation that the verifier reports is real: the oracle's axioms accept its graph, SC does not.

use rsan_axioms::{consistent, races, sc_order};
use rsan_crosscheck::{MODELS, Profile, Random, generate};
use rsan_model::{Edge, EventId, Fault, Label, Model, Program, StaleAccess, Verdict, Witness};
use rsan_verify::{Options, Property, verify};

fn witness(program: &Program, model: Model, property: Property) -> Option<Witness> {
    let options = Options {
        property,
        workers: 1,
        ..Options::new(model)
    };
    let outcome = verify(program, &options, &mut |_| {}).expect("random programs suit their model");
    match outcome.verdict {
        Verdict::Robust => None,
        Verdict::Violation(witness) => Some(*witness),
        Verdict::Unknown(why) => panic!("a small program has an answer: {why}"),
    }
}

/// The graph is one that the model allows and SC forbids, and the cycle is one of its cycles.
fn assert_weak(model: Model, witness: &Witness, access: StaleAccess, what: &str) {
    let graph = &witness.graph;
    assert_eq!(consistent(model, graph), Ok(()), "{what}\n{witness:#?}");
    let order = sc_order(model, graph);
    assert!(!order.is_acyclic(), "{what}: the graph is SC\n{witness:#?}");
    let cycle = &witness.cycle;
    assert!(cycle.len() > 1, "{what}: no cycle\n{witness:#?}");
    let mut kinds = Vec::new();
    for (i, &(from, edge)) in cycle.iter().enumerate() {
        let to = cycle[(i + 1) % cycle.len()].0;
        assert!(
            has_edge(model, witness, from, edge, to),
            "{what}: {from} -{edge}-> {to}\n{witness:#?}"
        );
        kinds.push(edge);
    }
    assert!(
        cycle.iter().any(|&(e, _)| e == access.access),
        "{what}: the access is not on the cycle"
    );
    assert!(
        kinds.iter().any(|&e| e != Edge::Po),
        "{what}: a cycle of program order"
    );
    let written = graph.label(access.stale).value_written();
    assert_eq!(written, Some(access.stale_value), "{what}");
    let loc = graph
        .label(access.access)
        .loc()
        .expect("an access has a location");
    let position = |e: EventId| graph.modification_order(loc).iter().position(|&w| w == e);
    assert!(
        position(access.stale) < position(access.missed),
        "{what}: nothing is missed"
    );
}

fn has_edge(model: Model, witness: &Witness, from: EventId, edge: Edge, to: EventId) -> bool {
    let graph = &witness.graph;
    match edge {
        Edge::Po => graph.po().contains(from, to),
        Edge::Asw => graph.asw().contains(from, to),
        Edge::Rf => graph.rf().contains(from, to),
        Edge::Mo => graph.mo().contains(from, to),
        Edge::Fr => graph.fr().contains(from, to),
        Edge::ScFence => {
            model != Model::C20 && [from, to].iter().all(|&e| graph.label(e).is_sc_fence())
        }
    }
}

/// What the witness says happens in the program; the run before the fault is SC.
fn assert_real(program: &Program, model: Model, witness: &Witness, what: &str) {
    for step in &witness.schedule {
        let event = witness.graph.event(step.event);
        assert_eq!(
            (event.thread, event.pc),
            (Some(step.thread), step.pc),
            "{what}"
        );
        let instr = program.threads[step.thread.index()].instr(step.pc);
        assert_eq!(
            instr.place().is_some(),
            event.label.loc().is_some(),
            "{what}"
        );
    }
    match &witness.fault {
        Fault::Weak(access) => assert_weak(model, witness, *access, what),
        Fault::Observed { access, .. } => assert_weak(model, witness, *access, what),
        Fault::Race { first, second } => {
            let races = races(model, &witness.graph);
            let pair = [(*first, *second), (*second, *first)];
            assert!(
                races.iter().any(|r| pair.contains(r)),
                "{what}: {first} and {second} do not race\n{witness:#?}"
            );
        }
        Fault::Assertion { .. } => {
            assert!(
                sc_order(model, &witness.graph).is_acyclic(),
                "{what}: the run is not SC"
            );
        }
        Fault::Trap { .. } | Fault::Deadlock { .. } => panic!("{what}: not asked for"),
    }
}

fn check(property: Property, programs: u64) -> [u64; 4] {
    let mut seen = [0; 4];
    for model in MODELS {
        for &profile in Profile::of(model) {
            for seed in 0..programs {
                let program = generate(&mut Random::new(seed), profile, model);
                let Some(witness) = witness(&program, model, property) else {
                    continue;
                };
                let what = format!("{model} {} seed {seed}", profile.name());
                assert_real(&program.for_model(model), model, &witness, &what);
                seen[match witness.fault {
                    Fault::Weak(_) => 0,
                    Fault::Observed { .. } => 1,
                    Fault::Race { .. } => 2,
                    _ => 3,
                }] += 1;
            }
        }
    }
    seen
}

#[test]
fn witnesses_of_robustness_violations_are_real() {
    let [weak, observed, race, assertion] = check(Property::Robust, 400);
    assert!(
        weak > 500 && race > 300 && assertion > 0,
        "{weak} {race} {assertion}"
    );
    assert_eq!(observed, 0);
}

#[test]
fn witnesses_of_observational_violations_are_real() {
    let [weak, observed, _, _] = check(Property::Observational, 400);
    assert!(weak > 100 && observed > 20, "{weak} {observed}");
}

#[test]
fn a_shortest_schedule_is_found() {
    // Two stores and a load before the load of thread 1 that may be stale: SB needs no more.
    let program = generate_sb();
    let witness = witness(&program, Model::C20, Property::Robust).expect("SB is not robust");
    assert_eq!(witness.schedule.len(), 3);
    assert!(matches!(
        witness.graph.label(EventId::new(witness.graph.len() - 1)),
        Label::Read { .. }
    ));
}

fn generate_sb() -> Program {
    let text = "st.rlx x 1; ld.rlx r0 y || st.rlx y 1; ld.rlx r0 x";
    let source = rsan_model::Source::new("sb.mini", text);
    rsan_lang::parse(&source, rsan_lang::Format::Mini).expect("the notation is right")
}
