//! What a repair may do, and what that orders.

use crate::effects::{Changes, raised};
use crate::flow::{Doing, Graph, NodeId};
use crate::module::{Change, FunctionId, Module, Order};
use crate::order::{self, ALL_AFTER, Atom, Operation, Part, Side};
use crate::port::{Costs, Means, Placed, Question};
use rsan_cover::Clause;
use rsan_model::machine::Machine;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Paths of unordered pairs.
pub(super) type Paths = BTreeSet<Vec<NodeId>>;

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

    /// What a node does on the machine `to`, with some changes.
    fn atoms(&self, node: NodeId, changes: &[(FunctionId, u32, &Change)]) -> Vec<Atom> {
        let at = &self.graph.nodes[node as usize];
        let (to, rcpc) = (self.question.to, self.question.rcpc);
        let here = changes
            .iter()
            .filter(|(f, n, _)| (*f, *n) == (at.function, at.number));
        let mut atoms = Vec::new();
        let mut raises = Vec::new();
        for (_, _, change) in here {
            match change {
                Change::FenceBefore(order) if at.gap => {
                    atoms.extend(self.relied_on(*order));
                }
                Change::MachineFenceBefore(text) if at.gap => {
                    atoms.extend(order::machine_fence(to, Side::Must, text));
                }
                Change::Order(_) => raises.push((*change).clone()),
                _ => {}
            }
        }
        match &at.doing {
            Doing::Access(event) => {
                let operation = raised(self.graph.events[*event as usize].operation, &raises);
                atoms.extend(order::atoms(to, Side::Must, rcpc, operation));
            }
            Doing::Fence(operation) => atoms.extend(order::atoms(to, Side::Must, rcpc, *operation)),
            Doing::MachineFence(text) => atoms.extend(order::machine_fence(to, Side::Must, text)),
            Doing::Nothing | Doing::Start(_) | Doing::Join(_) => {}
        }
        atoms
    }

    /// Whether these changes order the ends of a path.
    fn orders_path(&self, path: &[NodeId], changes: &[(FunctionId, u32, &Change)]) -> bool {
        let mut state = order::start(self.question.to, Side::Must, &self.atoms(path[0], changes));
        for (index, node) in path.iter().enumerate().skip(1) {
            if state & ALL_AFTER == ALL_AFTER {
                return true;
            }
            let (next, ordered) = order::step(state, Side::Must, &self.atoms(*node, changes));
            if index + 1 == path.len() {
                return ordered;
            }
            state = next;
        }
        false
    }

    /// What has to hold so that the ends of a path are ordered: one of the choices that order them, and what combinations mean.
    pub(super) fn clauses(&mut self, path: &[NodeId]) -> Vec<Clause> {
        let mut candidates: BTreeSet<(FunctionId, u32, Change)> = BTreeSet::new();
        let (mut releases, mut acquires) = (Vec::new(), Vec::new());
        for (index, node) in path.iter().enumerate() {
            let at = &self.graph.nodes[*node as usize];
            let here = |change: Change| (at.function, at.number, change);
            if at.gap && index > 0 {
                candidates.extend(self.fences().into_iter().map(here));
            }
            if self.means == Means::Fences {
                continue;
            }
            if let Doing::Access(event) = at.doing {
                let event = &self.graph.events[event as usize];
                if event.fixed_order {
                    continue;
                }
                for change in self.orders(event.operation) {
                    let raised = here(change.clone());
                    match change {
                        Change::Order(Order::Release) => releases.push((index, raised.clone())),
                        Change::Order(Order::SeqCst) => acquires.push((index, raised.clone())),
                        _ => {}
                    }
                    candidates.insert(raised);
                }
            }
        }
        let mut wanted = Vec::new();
        for (function, number, change) in candidates {
            if self.orders_path(path, &[(function, number, &change)]) {
                wanted.push(self.number(Choice::Change(function, number, change)));
            }
        }
        let mut clauses = self.combined(path, &releases, &acquires, &mut wanted);
        clauses.push(Clause::one_of(wanted));
        clauses
    }

    /// A release and a later acquire that waits for it, where neither alone orders the path.
    fn combined(
        &mut self,
        path: &[NodeId],
        releases: &[(usize, (FunctionId, u32, Change))],
        acquires: &[(usize, (FunctionId, u32, Change))],
        wanted: &mut Vec<usize>,
    ) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for (at, (f, n, release)) in releases {
            for (later, (g, m, acquire)) in acquires {
                if later <= at || (f, n) == (g, m) || clauses.len() >= 2 * COMBINATIONS {
                    continue;
                }
                let one = self.number(Choice::Change(*f, *n, release.clone()));
                let other = self.number(Choice::Change(*g, *m, acquire.clone()));
                let alone = wanted.contains(&one) || wanted.contains(&other);
                if alone || !self.orders_path(path, &[(*f, *n, release), (*g, *m, acquire)]) {
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
        }
        clauses
    }
}
