//! What a repair may do, and what that orders.

use crate::effects::{Changes, raised};
use crate::flow::{Doing, EventId, Graph, NodeId};
use crate::module::{Change, FunctionId, Module, Order};
use crate::order::{self, Atom, Operation, Part, STATES, Side, State};
use crate::port::{Costs, Means, Placed, Question};
use rsan_cover::Clause;
use rsan_model::machine::Machine;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Paths of unordered pairs.
pub(super) type Paths = BTreeMap<(EventId, EventId), Vec<NodeId>>;

/// A stronger order, and where on a path.
type Raise = (usize, Choice);

/// Two choices that only together order a path: no more of them per path than this.
const COMBINATIONS: usize = 200;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Choice {
    /// A change of one instruction, or a fence before it.
    Change(FunctionId, u32, Change),
    /// Both of these.
    Both(usize, usize),
}

/// All choices that paths have shown so far.
pub(super) struct Choices<'a> {
    graph: &'a Graph,
    question: &'a Question,
    means: Means,
    costs: &'a Costs,
    list: Vec<Choice>,
    numbers: HashMap<Choice, usize>,
    /// How deep in loops an instruction is, at most.
    depth: BTreeMap<(FunctionId, u32), u8>,
    /// What is before the gap in the block, where the gap is its end.
    previous: BTreeMap<(FunctionId, u32), u32>,
    updates: BTreeSet<(FunctionId, u32)>,
    loads: BTreeSet<(FunctionId, u32)>,
}

impl<'a> Choices<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        question: &'a Question,
        means: Means,
        costs: &'a Costs,
    ) -> Self {
        let mut choices = Self {
            graph,
            question,
            means,
            costs,
            list: Vec::new(),
            numbers: HashMap::new(),
            depth: BTreeMap::new(),
            previous: BTreeMap::new(),
            updates: BTreeSet::new(),
            loads: BTreeSet::new(),
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            let place = (node.function, node.number);
            let depth = choices.depth.entry(place).or_default();
            *depth = (*depth).max(graph.depth[index]);
            if let (Doing::Nothing, true, Some(previous)) = (&node.doing, node.gap, node.previous) {
                choices.previous.insert(place, previous);
            }
            if let Doing::Access(event) = node.doing {
                match graph.events[event as usize].operation.part {
                    Part::UpdateRead { .. } | Part::UpdateWrite => choices.updates.insert(place),
                    Part::Load => choices.loads.insert(place),
                    Part::Store | Part::Fence => false,
                };
            }
        }
        choices
    }

    fn number(&mut self, choice: Choice) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry(choice.clone()).or_insert(next);
        if number == next {
            self.list.push(choice);
        }
        number
    }

    pub(super) fn is_combination(&self, choice: usize) -> bool {
        matches!(self.list[choice], Choice::Both(..))
    }

    /// Whether it gives an access a stronger order.
    pub(super) fn raises(&self, choice: usize) -> bool {
        matches!(self.list[choice], Choice::Change(_, _, Change::Order(_)))
    }

    pub(super) fn place(&self, choice: usize) -> Option<(FunctionId, u32)> {
        match &self.list[choice] {
            Choice::Change(function, number, _) => Some((*function, *number)),
            Choice::Both(..) => None,
        }
    }

    /// The cost that is compared: of two equal ones the one in fewer loops, or the weaker one, is better.
    pub(super) fn cost(&self, choice: usize) -> f64 {
        const LITTLE: f64 = 1.0 / 1024.0;
        match &self.list[choice] {
            Choice::Both(..) => 0.0,
            Choice::Change(function, number, change) => {
                let depth = self.depth.get(&(*function, *number)).copied().unwrap_or(0);
                let strong = match change {
                    Change::FenceBefore(Order::SeqCst) => 0.5,
                    Change::FenceBefore(Order::AcqRel) => 0.25,
                    Change::MachineFenceBefore(_) | Change::MachineFenceAfter(_) => 0.75,
                    _ => 0.0,
                };
                self.price(choice) + LITTLE * (f64::from(depth) + strong)
            }
        }
    }

    /// What it costs.
    pub(super) fn price(&self, choice: usize) -> f64 {
        let Choice::Change(function, number, change) = &self.list[choice] else {
            return 0.0;
        };
        let place = (*function, *number);
        let depth = self.depth.get(&place).copied().unwrap_or(0);
        let costs = self.costs;
        let price = match change {
            Change::FenceBefore(order) | Change::FenceAfter(order) => match order {
                Order::Acquire => costs.acquire_fence,
                Order::Release => costs.release_fence,
                Order::AcqRel => costs.acq_rel_fence,
                Order::SeqCst | Order::Plain | Order::Relaxed => costs.full_fence,
            },
            Change::MachineFenceBefore(_) | Change::MachineFenceAfter(_) => {
                costs.store_fence.unwrap_or(costs.full_fence)
            }
            Change::Order(order) if self.updates.contains(&place) => match order {
                Order::Acquire | Order::Release | Order::Plain | Order::Relaxed => costs.update,
                Order::AcqRel => 2.0 * costs.update,
                Order::SeqCst => 2.5 * costs.update,
            },
            Change::Order(Order::SeqCst) if self.loads.contains(&place) => costs.seq_cst_load,
            Change::Order(_) if self.loads.contains(&place) => costs.acquire_load,
            Change::Order(Order::SeqCst) => costs.seq_cst_store,
            Change::Order(_) => costs.release_store,
        };
        price * costs.in_loop.powi(i32::from(depth))
    }

    /// The choices as changes.
    pub(super) fn changes(&self, chosen: &[usize]) -> Changes {
        let mut changes = Changes::new();
        for choice in chosen {
            if let Choice::Change(function, number, change) = &self.list[*choice] {
                changes
                    .entry((*function, *number))
                    .or_default()
                    .push(change.clone());
            }
        }
        changes
    }

    /// Of each access at most one new order.
    pub(super) fn exclusive(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<(FunctionId, u32), Vec<usize>> = BTreeMap::new();
        for (index, choice) in self.list.iter().enumerate() {
            if let Choice::Change(function, number, Change::Order(_)) = choice {
                groups.entry((*function, *number)).or_default().push(index);
            }
        }
        groups.into_values().filter(|g| g.len() > 1).collect()
    }

    /// The change for the user: a fence at the end of a block is one after the instruction before it.
    pub(super) fn placed(&self, module: &Module, choice: usize) -> Placed {
        let Choice::Change(function, number, change) = &self.list[choice] else {
            unreachable!("a combination is no change");
        };
        let instrs = || {
            module.functions[function.index()]
                .blocks
                .iter()
                .flat_map(|b| &b.instrs)
        };
        let place = |number: u32| instrs().find(|i| i.number == number).and_then(|i| i.place);
        let is_end = instrs().all(|i| i.number != *number);
        let (number, change) = match (change, self.previous.get(&(*function, *number))) {
            (Change::FenceBefore(order), Some(previous)) if is_end => {
                (*previous, Change::FenceAfter(*order))
            }
            (Change::MachineFenceBefore(text), Some(previous)) if is_end => {
                (*previous, Change::MachineFenceAfter(text.clone()))
            }
            (change, _) => (*number, change.clone()),
        };
        Placed {
            function: *function,
            number,
            change,
            place: place(number),
        }
    }

    /// Fences that the machine `to` has. Where the program comes from x86, a weak one is better than a seq_cst one: that would order more
    /// on x86, too.
    fn fences(&self) -> Vec<Change> {
        let orders: &[Order] = match self.question.to {
            Machine::Sc | Machine::X86 | Machine::Power => &[Order::SeqCst],
            Machine::Armv8 | Machine::Armv7 | Machine::Riscv => {
                &[Order::SeqCst, Order::Acquire, Order::Release, Order::AcqRel]
            }
        };
        let store = self
            .costs
            .store_fence
            .filter(|_| self.question.to == Machine::Armv8);
        let store = store.map(|_| Change::MachineFenceBefore("dmb ishst".into()));
        orders
            .iter()
            .map(|o| Change::FenceBefore(*o))
            .chain(store)
            .collect()
    }

    /// The weakest fence for a pair, by kinds.
    pub(super) fn fence_for(&self, first_writes: bool, second_writes: bool) -> Change {
        let from_x86 = self.question.from == Machine::X86;
        let order = match (self.question.to, first_writes, second_writes) {
            (Machine::Armv8 | Machine::Riscv | Machine::Armv7, false, _) => Order::Acquire,
            (Machine::Armv8 | Machine::Riscv | Machine::Armv7, true, true) => Order::Release,
            (Machine::Armv8 | Machine::Armv7, true, false) if from_x86 => Order::AcqRel,
            _ => Order::SeqCst,
        };
        Change::FenceBefore(order)
    }

    /// What a fence is relied on for: what C says of it, and no more, even if the machine does more. From x86, `acq_rel` is what the
    /// machine makes of it: the only fence that orders everything there, and nothing new on x86.
    fn relied_on(&self, order: Order) -> Vec<Atom> {
        let (to, rcpc) = (self.question.to, self.question.rcpc);
        let by_machine = to == Machine::Power
            || to == Machine::X86
            || (order == Order::AcqRel && self.question.from == Machine::X86);
        let machine = if by_machine { to } else { Machine::Riscv };
        order::atoms(machine, Side::Must, rcpc, Operation::fence(order))
    }

    /// Stronger orders for an access that could help on the machine `to`, and that do not let the machine `from` order more than
    /// that one does.
    fn orders(&self, operation: Operation) -> Vec<Change> {
        let to = self.question.to;
        let own = self.question.from != Machine::X86 || matches!(to, Machine::Armv7);
        let wanted: &[Order] = match (operation.part, to) {
            (Part::Load, Machine::X86) => &[],
            (Part::Load, Machine::Power) => &[Order::SeqCst],
            (Part::Load, _) => &[Order::Acquire, Order::SeqCst],
            (Part::Store, Machine::X86) => &[Order::SeqCst],
            (Part::Store, Machine::Power) if own => &[Order::SeqCst],
            (Part::Store, Machine::Power) => &[],
            (Part::Store, Machine::Armv7) => &[Order::Release, Order::SeqCst],
            (Part::Store, _) => &[Order::Release],
            (Part::UpdateRead { .. } | Part::UpdateWrite, Machine::X86) => &[],
            (Part::UpdateRead { .. } | Part::UpdateWrite, _) => {
                &[Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst]
            }
            (Part::Fence, _) => &[],
        };
        let has = operation.order;
        let stronger = |order: &&Order| match has {
            Order::Acquire => matches!(order, Order::AcqRel | Order::SeqCst),
            _ => **order > has,
        };
        wanted
            .iter()
            .filter(stronger)
            .map(|o| Change::Order(*o))
            .collect()
    }

    /// What a node does on the machine `to` by itself, with a new order if there is one.
    fn atoms(&self, node: NodeId, raise: Option<&Change>) -> Vec<Atom> {
        let (to, rcpc) = (self.question.to, self.question.rcpc);
        match &self.graph.nodes[node as usize].doing {
            Doing::Access(event) => {
                let operation = self.graph.events[*event as usize].operation;
                let raise = raise.map_or(&[][..], std::slice::from_ref);
                order::atoms(to, Side::Must, rcpc, raised(operation, raise))
            }
            Doing::Fence(operation) => order::atoms(to, Side::Must, rcpc, *operation),
            Doing::MachineFence(text) => order::machine_fence(to, Side::Must, text),
            Doing::Nothing | Doing::Start(_) | Doing::Join(_) => Vec::new(),
        }
    }

    fn fence_atoms(&self, fence: &Change) -> Vec<Atom> {
        match fence {
            Change::FenceBefore(order) | Change::FenceAfter(order) => self.relied_on(*order),
            Change::MachineFenceBefore(text) | Change::MachineFenceAfter(text) => {
                order::machine_fence(self.question.to, Side::Must, text)
            }
            Change::Order(_) => Vec::new(),
        }
    }

    /// What has to hold so that the ends of a path are ordered: one of the choices that order them, and what combinations mean. `None`
    /// if no choice does.
    pub(super) fn clauses(&mut self, path: &[NodeId]) -> Option<Vec<Clause>> {
        let walk = Walk::new(self, path);
        let fences = self.fences();
        let mut wanted = BTreeSet::new();
        let (mut releases, mut acquires) = (Vec::new(), Vec::new());
        for (index, node) in path.iter().enumerate() {
            let at = &self.graph.nodes[*node as usize];
            let place = (at.function, at.number);
            if at.gap && index > 0 {
                for fence in &fences {
                    if walk.fence_orders(index, &self.fence_atoms(fence)) {
                        wanted.insert(Choice::Change(place.0, place.1, fence.clone()));
                    }
                }
            }
            let Doing::Access(event) = at.doing else {
                continue;
            };
            let event = &self.graph.events[event as usize];
            if self.means == Means::Fences || event.fixed_order {
                continue;
            }
            for change in self.orders(event.operation) {
                let choice = Choice::Change(place.0, place.1, change.clone());
                if walk.raise_orders(index, &self.atoms(*node, Some(&change))) {
                    wanted.insert(choice);
                    continue;
                }
                match change {
                    Change::Order(Order::Release) => releases.push((index, choice)),
                    Change::Order(Order::SeqCst) => acquires.push((index, choice)),
                    _ => {}
                }
            }
        }
        let mut wanted: Vec<usize> = wanted.into_iter().map(|c| self.number(c)).collect();
        let mut clauses = self.combined(path, (&releases, &acquires), &mut wanted);
        if wanted.is_empty() {
            return None;
        }
        clauses.push(Clause::one_of(wanted));
        Some(clauses)
    }

    /// Whether two new orders together order the ends of a path.
    fn both_order(&self, path: &[NodeId], raises: [(usize, &Choice); 2]) -> bool {
        let mut state: State = 0;
        for (index, node) in path.iter().enumerate() {
            let raise = raises.iter().find_map(|(at, choice)| match choice {
                Choice::Change(_, _, change) if *at == index => Some(change),
                _ => None,
            });
            let atoms = self.atoms(*node, raise);
            if index == 0 {
                state = order::start(self.question.to, Side::Must, &atoms);
                continue;
            }
            let (next, ordered) = order::step(state, Side::Must, &atoms);
            if index + 1 == path.len() {
                return ordered;
            }
            state = next;
        }
        false
    }

    /// A release and a later acquire that waits for it, where neither alone orders the path.
    fn combined(
        &mut self,
        path: &[NodeId],
        (releases, acquires): (&[Raise], &[Raise]),
        wanted: &mut Vec<usize>,
    ) -> Vec<Clause> {
        let mut clauses = Vec::new();
        let nearest = releases
            .iter()
            .flat_map(|r| acquires.iter().map(move |a| (r, a)));
        for ((at, release), (later, acquire)) in nearest.filter(|(r, a)| r.0 < a.0) {
            if clauses.len() >= 2 * COMBINATIONS {
                break;
            }
            if !self.both_order(path, [(*at, release), (*later, acquire)]) {
                continue;
            }
            let (one, other) = (self.number(release.clone()), self.number(acquire.clone()));
            if self.place(one) == self.place(other) {
                continue;
            }
            let both = self.number(Choice::Both(one, other));
            wanted.push(both);
            clauses.push(Clause {
                wanted: vec![one],
                unless: vec![both],
            });
            clauses.push(Clause {
                wanted: vec![other],
                unless: vec![both],
            });
        }
        clauses
    }
}

/// A path, and what each state at each of its nodes leads to.
struct Walk {
    machine: Machine,
    /// The state before each node.
    before: Vec<State>,
    /// The states before each node with which the ends are ordered.
    good: Vec<u32>,
}

impl Walk {
    fn new(choices: &Choices<'_>, path: &[NodeId]) -> Self {
        let machine = choices.question.to;
        let atoms: Vec<Vec<Atom>> = path.iter().map(|n| choices.atoms(*n, None)).collect();
        let mut before = vec![0; path.len()];
        let mut state = order::start(machine, Side::Must, &atoms[0]);
        for (index, atoms) in atoms.iter().enumerate().skip(1) {
            before[index] = state;
            state = order::step(state, Side::Must, atoms).0;
        }
        let mut good = vec![0_u32; path.len() + 1];
        for index in (1..path.len()).rev() {
            let is_last = index + 1 == path.len();
            for state in 0..STATES as State {
                let (next, ordered) = order::step(state, Side::Must, &atoms[index]);
                let leads = if is_last {
                    ordered
                } else {
                    good[index + 1] & (1 << next) != 0
                };
                good[index] |= u32::from(leads) << state;
            }
        }
        Self {
            machine,
            before,
            good,
        }
    }

    /// Whether a fence before a node orders the ends.
    fn fence_orders(&self, index: usize, fence: &[Atom]) -> bool {
        let state = order::step(self.before[index], Side::Must, fence).0;
        self.good[index] & (1 << state) != 0
    }

    /// Whether the ends are ordered if a node does this instead.
    fn raise_orders(&self, index: usize, atoms: &[Atom]) -> bool {
        if index == 0 {
            let state = order::start(self.machine, Side::Must, atoms);
            return self.good[1] & (1 << state) != 0;
        }
        let (next, ordered) = order::step(self.before[index], Side::Must, atoms);
        let is_last = index + 1 == self.before.len();
        if is_last {
            ordered
        } else {
            self.good[index + 1] & (1 << next) != 0
        }
    }
}
