//! What each step of a graph does to the state of a path, on both machines.

use crate::flow::{Doing, EventId, Graph, NodeId};
use crate::module::{Change, FunctionId, Order};
use crate::order::{self, ALL_AFTER, Atom, Operation, Part, STATES, Side, State};
use crate::port::Question;
use rsan_model::machine::Machine;
use std::collections::{BTreeMap, HashMap};

/// Changes of a program, by the instruction: fences before it, and its order.
pub(crate) type Changes = BTreeMap<(FunctionId, u32), Vec<Change>>;

/// What a step does on one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Effect {
    /// By the state before it.
    next: [State; STATES],
    /// The states in which its access is ordered, as a set of bits.
    ordered: u32,
    /// The state of a path that begins with it.
    start: State,
}

/// One machine's side.
#[derive(Debug)]
pub(crate) struct Sided {
    effects: Vec<Effect>,
    of: Vec<u32>,
}

impl Sided {
    /// The state after a step.
    pub(crate) fn next(&self, node: NodeId, state: State) -> State {
        self.effects[self.of[node as usize] as usize].next[state as usize]
    }

    /// Whether the access of a step is ordered in a state.
    pub(crate) fn ordered(&self, node: NodeId, state: State) -> bool {
        self.effects[self.of[node as usize] as usize].ordered & (1 << state) != 0
    }

    /// The state after the first access of a path.
    pub(crate) fn start(&self, node: NodeId) -> State {
        self.effects[self.of[node as usize] as usize].start
    }

    fn states(&self, starts: impl Iterator<Item = State>) -> Vec<State> {
        let mut seen = [false; STATES];
        let mut work: Vec<State> = starts.collect();
        while let Some(state) = work.pop() {
            if !std::mem::replace(&mut seen[state as usize], true) {
                work.extend(self.effects.iter().map(|e| e.next[state as usize]));
            }
        }
        (0..STATES as State).filter(|s| seen[*s as usize]).collect()
    }
}

/// Both machines' sides.
#[derive(Debug)]
pub(crate) struct Effects {
    /// The machine that may order.
    pub(crate) from: Sided,
    /// The machine that must.
    pub(crate) to: Sided,
}

impl Effects {
    /// Of a program with some changes.
    pub(crate) fn new(graph: &Graph, question: &Question, changes: &Changes) -> Self {
        let side = |machine: Machine, side: Side| {
            let mut maker = Maker {
                machine,
                side,
                rcpc: question.rcpc,
                known: HashMap::new(),
                effects: Vec::new(),
            };
            let of = graph.nodes.iter().map(|node| {
                let here = changes
                    .get(&(node.function, node.number))
                    .map_or(&[][..], |c| c);
                let fences = if node.gap { fences(here) } else { Vec::new() };
                let operation = match &node.doing {
                    Doing::Access(event) => {
                        let event = &graph.events[*event as usize];
                        Key::Operation(raised(event.operation, here))
                    }
                    Doing::Fence(operation) => Key::Operation(*operation),
                    Doing::MachineFence(text) => Key::MachineFence(text.clone()),
                    Doing::Nothing | Doing::Start(_) | Doing::Join(_) => Key::Nothing,
                };
                maker.effect(fences, operation)
            });
            let of = of.collect();
            Sided {
                effects: maker.effects,
                of,
            }
        };
        Self {
            from: side(question.from, Side::May),
            to: side(question.to, Side::Must),
        }
    }

    /// States that paths can be in on the machine that may order.
    pub(crate) fn states(&self, graph: &Graph) -> Vec<State> {
        let starts = graph.events.iter().map(|e| self.from.start(e.node));
        self.from.states(starts)
    }

    /// The states on both machines after the first access.
    pub(crate) fn start(&self, graph: &Graph, event: EventId) -> (State, State) {
        let node = graph.events[event as usize].node;
        (self.from.start(node), settled(self.to.start(node)))
    }
}

/// All states in which everything is ordered are one.
pub(crate) fn settled(state: State) -> State {
    if state & ALL_AFTER == ALL_AFTER {
        STATES as State - 1
    } else {
        state
    }
}

/// The weakest order that is as strong as both.
pub(crate) fn joined(a: Order, b: Order) -> Order {
    match (a, b) {
        (Order::Acquire, Order::Release) | (Order::Release, Order::Acquire) => Order::AcqRel,
        _ => a.max(b),
    }
}

/// The operation with the order that changes give it.
pub(crate) fn raised(mut operation: Operation, changes: &[Change]) -> Operation {
    for change in changes {
        if let Change::Order(order) = change {
            operation.order = joined(operation.order, *order);
            let failure = match order {
                Order::SeqCst => Order::SeqCst,
                Order::AcqRel | Order::Acquire => Order::Acquire,
                Order::Plain | Order::Relaxed | Order::Release => Order::Relaxed,
            };
            operation.failure = operation.failure.map(|f| f.max(failure));
        }
    }
    operation
}

/// The fences before a step.
fn fences(changes: &[Change]) -> Vec<Change> {
    changes
        .iter()
        .filter(|c| !matches!(c, Change::Order(_)))
        .cloned()
        .collect()
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Nothing,
    Operation(Operation),
    MachineFence(String),
}

struct Maker {
    machine: Machine,
    side: Side,
    rcpc: bool,
    known: HashMap<(Vec<Change>, Key), u32>,
    effects: Vec<Effect>,
}

impl Maker {
    fn effect(&mut self, fences: Vec<Change>, key: Key) -> u32 {
        let key = (fences, key);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut atoms = Vec::new();
        for change in &key.0 {
            match change {
                Change::FenceBefore(order) => atoms.extend(self.atoms(Operation::fence(*order))),
                Change::MachineFenceBefore(text) => {
                    atoms.extend(order::machine_fence(self.machine, self.side, text));
                }
                Change::FenceAfter(_) | Change::MachineFenceAfter(_) | Change::Order(_) => {
                    unreachable!("a fence is before some step, and an order is no fence")
                }
            }
        }
        match &key.1 {
            Key::Nothing => {}
            Key::Operation(operation) => atoms.extend(self.atoms(*operation)),
            Key::MachineFence(text) => {
                atoms.extend(order::machine_fence(self.machine, self.side, text));
            }
        }
        let mut effect = Effect {
            next: [0; STATES],
            ordered: 0,
            start: order::start(self.machine, self.side, &atoms),
        };
        for state in 0..STATES {
            let (next, ordered) = order::step(state as State, self.side, &atoms);
            effect.next[state] = next;
            effect.ordered |= u32::from(ordered) << state;
        }
        self.effects.push(effect);
        let number = self.effects.len() as u32 - 1;
        self.known.insert(key, number);
        number
    }

    fn atoms(&self, operation: Operation) -> Vec<Atom> {
        order::atoms(self.machine, self.side, self.rcpc, operation)
    }
}

/// Whether an operation is stronger than relaxed.
pub(crate) fn is_strong(operation: Operation) -> bool {
    operation.order > Order::Relaxed || operation.part == Part::Fence
}
