//! The enumerator against the plainest definition there is: all ways to give each read a write of its
//! location and each location a permutation of its writes (and each RC20 graph a permutation of its SC fences),
//! of which the consistent ones are counted.
//!
//! For programs whose every instruction makes one event, whatever it reads.

mod common;

use common::program;
use common::random::{Rng, STRAIGHT, text};
use rsan_axioms::{Limits, consistent, executions};
use rsan_model::{
    Event, EventId, Graph, Instr, Label, LocId, Model, Pc, Place, Program, ThreadId, Value,
};
use std::ops::ControlFlow;

/// Where an event stands: thread and instruction, or the initial write of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spot {
    Init(usize),
    At(usize, usize),
}

struct Candidate<'p> {
    program: &'p Program,
    reads: Vec<Spot>,
    writes: Vec<Vec<Spot>>,
    fences: Vec<Spot>,
    rf: Vec<Spot>,
    mo: Vec<Vec<Spot>>,
}

fn location(instr: &Instr) -> Option<usize> {
    match instr.place()? {
        Place::Loc(loc) => Some(loc.index()),
        Place::Element { .. } => None,
    }
}

fn reads(instr: &Instr) -> bool {
    matches!(instr, Instr::Load { .. } | Instr::Rmw { .. })
}

impl<'p> Candidate<'p> {
    fn new(program: &'p Program) -> Self {
        let spots = || {
            program
                .instructions()
                .map(|(t, pc, i)| (Spot::At(t.index(), pc.index()), i))
        };
        let writes = |l| {
            let of = move |i: &Instr| i.may_write() && location(i) == Some(l);
            spots()
                .filter(move |(_, i)| of(i))
                .map(|(s, _)| s)
                .collect()
        };
        Self {
            program,
            reads: spots().filter(|(_, i)| reads(i)).map(|(s, _)| s).collect(),
            writes: (0..program.locations.len()).map(writes).collect(),
            fences: spots()
                .filter(|(_, i)| matches!(i, Instr::Fence(o) if o.is_sc()))
                .map(|(s, _)| s)
                .collect(),
            rf: Vec::new(),
            mo: Vec::new(),
        }
    }

    fn instr(&self, spot: Spot) -> Option<&'p Instr> {
        match spot {
            Spot::Init(_) => None,
            Spot::At(t, pc) => Some(&self.program.threads[t].code[pc]),
        }
    }

    /// Calls `f` with every choice of `rf`, `mo` and, if they count, order of fences.
    fn for_all(&mut self, order_fences: bool, f: &mut dyn FnMut(&Self, &[Spot])) {
        if let Some(&read) = self.reads.get(self.rf.len()) {
            let loc = self.instr(read).and_then(location).expect("a read");
            let sources = std::iter::once(Spot::Init(loc)).chain(self.writes[loc].clone());
            for write in sources.collect::<Vec<_>>() {
                self.rf.push(write);
                self.for_all(order_fences, f);
                self.rf.pop();
            }
        } else if let Some(writes) = self.writes.get(self.mo.len()) {
            for order in permutations(&writes.clone()) {
                self.mo.push(order);
                self.for_all(order_fences, f);
                self.mo.pop();
            }
        } else if order_fences {
            let orders = permutations(&self.fences);
            orders.iter().for_each(|order| f(self, order));
        } else {
            f(self, &[]);
        }
    }

    /// The graph, its events in an order in which causes come first; `None` when there is no such order.
    fn graph(&self, fence_order: &[Spot]) -> Option<Graph> {
        let program = self.program;
        let mut graph = Graph::initial(program.locations.iter().map(|l| l.init));
        let mut ids: Vec<Vec<EventId>> = vec![Vec::new(); program.threads.len()];
        let find = |ids: &[Vec<EventId>], spot| match spot {
            Spot::Init(l) => Some(EventId::new(l)),
            Spot::At(t, pc) => ids[t].get(pc).copied(),
        };
        let total = program.instructions().count();
        for _ in 0..total {
            let next = (0..program.threads.len()).find_map(|t| {
                let pc = ids[t].len();
                let instr = program.threads[t].code.get(pc)?;
                let spot = Spot::At(t, pc);
                let source = match self.reads.iter().position(|&r| r == spot) {
                    Some(i) => Some(find(&ids, self.rf[i])?),
                    None => None,
                };
                if let Some(i) = fence_order.iter().position(|&f| f == spot) {
                    fence_order[..i]
                        .iter()
                        .try_for_each(|&f| find(&ids, f).map(|_| ()))?;
                }
                Some((t, pc, instr, source))
            });
            let (t, pc, instr, source) = next?;
            let value = source.and_then(|w| graph.label(w).value_written());
            let id = graph.push(Event {
                thread: Some(ThreadId::new(t)),
                pc: Pc::new(pc),
                label: label(instr, value),
            });
            source.into_iter().for_each(|w| graph.set_rf(id, w));
            ids[t].push(id);
        }
        for (l, order) in self.mo.iter().enumerate() {
            for (i, &spot) in order.iter().enumerate() {
                graph.insert_mo(find(&ids, spot)?, LocId::new(l), i + 1);
            }
        }
        Some(graph)
    }
}

fn label(instr: &Instr, seen: Option<Value>) -> Label {
    let loc = LocId::new(location(instr).unwrap_or(0));
    let constant = |e: &rsan_model::Expr| e.as_const().expect("constants only");
    match (instr, seen) {
        (Instr::Load { ord, .. }, Some(value)) => Label::Read {
            loc,
            value,
            ord: *ord,
        },
        (Instr::Store { value, ord, .. }, None) => Label::Write {
            loc,
            value: constant(value) as Value,
            ord: *ord,
        },
        (
            Instr::Rmw {
                op, operand, ord, ..
            },
            Some(read),
        ) => Label::Rmw {
            loc,
            read,
            written: op.apply(read, constant(operand)) as Value,
            ord: *ord,
        },
        (Instr::Fence(ord), None) => Label::Fence(*ord),
        other => panic!("not a straight-line instruction: {other:?}"),
    }
}

fn permutations(of: &[Spot]) -> Vec<Vec<Spot>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for i in 0..of.len() {
        let mut rest = of.to_vec();
        let first = rest.remove(i);
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

#[test]
fn the_enumerator_finds_exactly_the_consistent_candidates() {
    let mut rng = Rng::new(2024);
    let mut compared = 0;
    for _ in 0..100 {
        let p = program(&text(&mut rng, &STRAIGHT));
        for model in Model::ALL {
            let as_given = p.for_model(model);
            let ordered = matches!(model, Model::Ra | Model::Rc20);
            let mut expected = 0;
            Candidate::new(&as_given).for_all(ordered, &mut |candidate, fences| {
                if let Some(graph) = candidate.graph(fences) {
                    expected += u64::from(consistent(model, &graph).is_ok());
                }
            });
            let count = executions(&p, model, &Limits::default(), &mut |e| {
                assert!(e.all_ended());
                ControlFlow::Continue(())
            });
            let count = count.expect("small").executions;
            assert_eq!(count, expected, "{model}: {}", p.name);
            compared += count;
        }
    }
    assert!(compared > 2_000, "only {compared} executions");
}
