//! The solver of inclusion constraints.

use super::{ANY, Indirect, Object, ObjectId, Spot, Stopped, UNKNOWN, address_taken};
use crate::module::{FunctionId, Module};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What all threads can reach.
pub(super) const SHARED: u32 = 0;
/// What unknown code can reach, and change.
pub(super) const EXPOSED: u32 = 1;
/// What is stored through unknown pointers: any shared object may hold it.
const STORED_ANYWHERE: u32 = 2;
/// What the unknown object holds from the beginning.
pub(super) const STORED_ANYWHERE_SEED: u32 = 3;
const FIRST: u32 = 4;

/// More offsets of one object in one set than this are [`ANY`].
const OFFSETS: usize = 16;

#[derive(Default)]
struct Node {
    spots: BTreeSet<Spot>,
    fresh: Vec<Spot>,
    copies: Vec<(u32, Option<i32>)>,
    loads: Vec<u32>,
    stores: Vec<u32>,
    /// Everything in what it points to goes there.
    drains: Vec<u32>,
    /// What is in this node may be anywhere in what it points to.
    fills: Vec<u32>,
    calls: Vec<usize>,
}

/// Pointer sets and the constraints between them.
pub(super) struct Solver {
    nodes: Vec<Node>,
    cells: HashMap<Spot, u32>,
    cells_of: HashMap<ObjectId, Vec<u32>>,
    /// Nodes that get everything an object holds, cells that are made later included.
    readers_of: HashMap<ObjectId, Vec<u32>>,
    edges: HashSet<(u32, u32, Option<i32>)>,
    linked: HashSet<(usize, FunctionId)>,
    work: Vec<u32>,
}

/// How calls through pointers are connected with the functions they may call.
pub(super) struct Linker<'a> {
    pub(super) module: &'a Module,
    pub(super) parameters: &'a [u32],
    pub(super) returns: &'a [u32],
    pub(super) objects: &'a [Object],
    pub(super) indirect: &'a [Indirect],
}

impl Solver {
    pub(super) fn new() -> Self {
        let mut solver = Self {
            nodes: Vec::new(),
            cells: HashMap::new(),
            cells_of: HashMap::new(),
            readers_of: HashMap::new(),
            edges: HashSet::new(),
            linked: HashSet::new(),
            work: Vec::new(),
        };
        solver.nodes(FIRST as usize);
        solver.copy(EXPOSED, SHARED, Some(0));
        solver.copy(STORED_ANYWHERE, SHARED, Some(0));
        solver
    }

    /// So many new nodes; the first one's number.
    pub(super) fn nodes(&mut self, count: usize) -> u32 {
        let first = self.nodes.len() as u32;
        self.nodes
            .resize_with(self.nodes.len() + count, Node::default);
        first
    }

    /// What a node may point to, without what another place of it covers.
    pub(super) fn spots(&self, node: u32) -> Vec<Spot> {
        let spots = &self.nodes[node as usize].spots;
        let covered = |(object, offset): &Spot| *offset != ANY && spots.contains(&(*object, ANY));
        spots.iter().filter(|s| !covered(s)).copied().collect()
    }

    /// The objects that a node may point to.
    pub(super) fn reached(&self, node: u32) -> BTreeSet<ObjectId> {
        self.nodes[node as usize]
            .spots
            .iter()
            .map(|(object, _)| *object)
            .collect()
    }

    pub(super) fn add(&mut self, node: u32, spot: Spot) {
        let at = &mut self.nodes[node as usize];
        let (object, mut offset) = spot;
        if object == UNKNOWN {
            offset = ANY;
        }
        if at.spots.contains(&(object, ANY)) {
            return;
        }
        let known = at.spots.range((object, ANY)..=(object, i32::MAX)).count();
        if known >= OFFSETS {
            offset = ANY;
        }
        if at.spots.insert((object, offset)) {
            if at.fresh.is_empty() {
                self.work.push(node);
            }
            self.nodes[node as usize].fresh.push((object, offset));
        }
    }

    /// What `from` points to, moved by `by`, `to` does.
    pub(super) fn copy(&mut self, from: u32, to: u32, by: Option<i32>) {
        if (from == to && by == Some(0)) || !self.edges.insert((from, to, by)) {
            return;
        }
        self.nodes[from as usize].copies.push((to, by));
        let known: Vec<Spot> = self.nodes[from as usize].spots.iter().copied().collect();
        for spot in known {
            self.add(to, moved(spot, by));
        }
    }

    /// `to = *pointer`.
    pub(super) fn load(&mut self, pointer: u32, to: u32) {
        self.nodes[pointer as usize].loads.push(to);
        self.again(pointer);
    }

    /// `*pointer = from`.
    pub(super) fn store(&mut self, pointer: u32, from: u32) {
        self.nodes[pointer as usize].stores.push(from);
        self.again(pointer);
    }

    /// Everything in what `from` points to may be anywhere in what `to` points to.
    pub(super) fn copy_contents(&mut self, from: u32, to: u32) {
        let between = self.nodes(1);
        self.nodes[from as usize].drains.push(between);
        self.nodes[to as usize].fills.push(between);
        self.again(from);
        self.again(to);
    }

    /// The call of this number calls what `pointer` points to.
    pub(super) fn call(&mut self, pointer: u32, call: usize) {
        self.nodes[pointer as usize].calls.push(call);
        self.again(pointer);
    }

    /// A new constraint has to see what is there already.
    fn again(&mut self, node: u32) {
        let at = &mut self.nodes[node as usize];
        if at.fresh.is_empty() && !at.spots.is_empty() {
            self.work.push(node);
        }
        at.fresh = at.spots.iter().copied().collect();
    }

    /// The node of what is in a place.
    pub(super) fn cell(&mut self, (object, offset): Spot) -> u32 {
        if object == UNKNOWN {
            return STORED_ANYWHERE;
        }
        if let Some(cell) = self.cells.get(&(object, offset)) {
            return *cell;
        }
        let cell = self.nodes(1);
        self.cells.insert((object, offset), cell);
        self.cells_of.entry(object).or_default().push(cell);
        for reader in self.readers_of.get(&object).cloned().unwrap_or_default() {
            self.copy(cell, reader, Some(0));
        }
        cell
    }

    /// Everything in an object goes to `reader`.
    fn drain(&mut self, object: ObjectId, reader: u32) {
        let readers = self.readers_of.entry(object).or_default();
        if readers.contains(&reader) {
            return;
        }
        readers.push(reader);
        for cell in self.cells_of.get(&object).cloned().unwrap_or_default() {
            self.copy(cell, reader, Some(0));
        }
        self.copy(STORED_ANYWHERE, reader, Some(0));
    }

    pub(super) fn solve(
        &mut self,
        linker: &Linker<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stopped> {
        let taken = address_taken(linker.module);
        let mut turns = 0_u32;
        while let Some(node) = self.work.pop() {
            turns += 1;
            if turns.is_multiple_of(256) && !go_on() {
                return Err(Stopped);
            }
            let fresh = std::mem::take(&mut self.nodes[node as usize].fresh);
            for spot in &fresh {
                self.propagate(node, *spot);
            }
            let calls = self.nodes[node as usize].calls.clone();
            for call in calls {
                for (object, _) in &fresh {
                    self.link(call, *object, linker, &taken);
                }
            }
        }
        Ok(())
    }

    fn propagate(&mut self, node: u32, spot: Spot) {
        let (object, offset) = spot;
        for index in 0..self.nodes[node as usize].copies.len() {
            let (to, by) = self.nodes[node as usize].copies[index];
            self.add(to, moved(spot, by));
        }
        for index in 0..self.nodes[node as usize].loads.len() {
            let to = self.nodes[node as usize].loads[index];
            if object == UNKNOWN {
                self.copy(STORED_ANYWHERE_SEED, to, Some(0));
            } else if offset == ANY {
                self.drain(object, to);
                continue;
            } else {
                let (exact, any) = (self.cell(spot), self.cell((object, ANY)));
                self.copy(exact, to, Some(0));
                self.copy(any, to, Some(0));
            }
            self.copy(STORED_ANYWHERE, to, Some(0));
        }
        for index in 0..self.nodes[node as usize].stores.len() {
            let from = self.nodes[node as usize].stores[index];
            let cell = self.cell(spot);
            self.copy(from, cell, Some(0));
        }
        for index in 0..self.nodes[node as usize].drains.len() {
            let to = self.nodes[node as usize].drains[index];
            if object == UNKNOWN {
                self.copy(STORED_ANYWHERE_SEED, to, Some(0));
            }
            self.drain(object, to);
        }
        for index in 0..self.nodes[node as usize].fills.len() {
            let from = self.nodes[node as usize].fills[index];
            let cell = self.cell((object, ANY));
            self.copy(from, cell, Some(0));
        }
        if node == SHARED || node == EXPOSED {
            self.drain(object, node);
        }
        if node == EXPOSED && object != UNKNOWN {
            let cell = self.cell((object, ANY));
            self.add(cell, (UNKNOWN, ANY));
        }
    }

    /// The call of this number may call `object`.
    fn link(
        &mut self,
        call: usize,
        object: ObjectId,
        linker: &Linker<'_>,
        taken: &BTreeSet<FunctionId>,
    ) {
        let site = &linker.indirect[call];
        match linker.objects[object as usize] {
            Object::Function(f) => self.link_function(call, f, linker),
            Object::Unknown => {
                if site.by_unknown_code {
                    return;
                }
                for argument in site.arguments.iter().flatten() {
                    self.copy(*argument, EXPOSED, Some(0));
                }
                self.add(site.result, (UNKNOWN, ANY));
                for f in taken {
                    let parameters = linker.module.functions[f.index()].parameters as usize;
                    if parameters == site.arguments.len() {
                        self.link_function(call, *f, linker);
                    }
                }
            }
            Object::Global(_) | Object::Frame(..) | Object::Heap(..) => {}
        }
    }

    fn link_function(&mut self, call: usize, f: FunctionId, linker: &Linker<'_>) {
        let function = &linker.module.functions[f.index()];
        if !self.linked.insert((call, f)) {
            return;
        }
        let site = &linker.indirect[call];
        if function.blocks.is_empty() {
            for argument in site.arguments.iter().flatten() {
                self.copy(*argument, EXPOSED, Some(0));
            }
            self.add(site.result, (UNKNOWN, ANY));
            return;
        }
        let first = linker.parameters[f.index()];
        for parameter in 0..function.parameters {
            if site.by_unknown_code {
                self.add(first + parameter, (UNKNOWN, ANY));
            } else if let Some(Some(argument)) = site.arguments.get(parameter as usize) {
                self.copy(*argument, first + parameter, Some(0));
            }
        }
        self.copy(linker.returns[f.index()], site.result, Some(0));
    }
}

fn moved((object, offset): Spot, by: Option<i32>) -> Spot {
    let sum = by
        .filter(|_| offset != ANY)
        .and_then(|by| offset.checked_add(by));
    (object, sum.filter(|sum| *sum != ANY).unwrap_or(ANY))
}
