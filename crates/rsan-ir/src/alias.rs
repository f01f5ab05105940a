//! Where pointers point: which accesses may touch the same memory, and which memory several threads can reach.
//!
//! *Decides*: for each pointer a set of places (an object and an offset) that holds every place it may point to in any run. Objects are
//! globals, functions, variables of frames, allocation sites, and one unknown object that stands for everything another
//! thread or unknown code can reach.
//!
//! *Method*: inclusion constraints (Andersen) without flow and context, with constant offsets as fields, solved by propagating
//! differences. An object that nothing shared points to is private to the thread that made it.
//!
//! *Assumptions*: a pointer that is computed from another one stays in its object. Functions that are not in the module touch only
//! what their arguments lead to.

mod external;
mod solver;

pub(crate) use external::{Effect, effect};

use crate::module::{AccessType, Callee, FunctionId, GlobalId, Module, Op, Value, ValueId};
use solver::Solver;
use std::collections::{BTreeSet, HashMap};

/// A number of an object.
pub(crate) type ObjectId = u32;

/// An offset that is not known.
pub(crate) const ANY: i32 = i32::MIN;

/// An object and an offset in it, [`ANY`] if it is not known.
pub(crate) type Spot = (ObjectId, i32);

/// The object that stands for all that is not known.
pub(crate) const UNKNOWN: ObjectId = 0;

/// Something that pointers point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Object {
    /// Whatever other threads or unknown code can reach.
    Unknown,
    /// A global variable.
    Global(GlobalId),
    /// A function.
    Function(FunctionId),
    /// A variable of a frame.
    Frame(FunctionId, ValueId),
    /// What the allocation of this number returns.
    Heap(FunctionId, u32),
}

/// What is known of all pointers of a module.
pub(crate) struct Aliases<'a> {
    module: &'a Module,
    objects: Vec<Object>,
    solver: Solver,
    nodes: Nodes,
    shared: BTreeSet<ObjectId>,
}

/// Where the pointers of a module are in the solver.
struct Nodes {
    values: Vec<u32>,
    parameters: Vec<u32>,
    returns: Vec<u32>,
    results: Vec<HashMap<u32, u32>>,
}

impl Nodes {
    fn value(&self, function: FunctionId, value: ValueId) -> u32 {
        self.values[function.index()] + value.0
    }
}

/// The time was up.
#[derive(Debug)]
pub(crate) struct Stopped;

impl<'a> Aliases<'a> {
    /// Solves the constraints of a module. `roots` are functions that are called from outside with unknown arguments.
    pub(crate) fn new(
        module: &'a Module,
        roots: &[FunctionId],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Stopped> {
        let mut builder = Builder::new(module);
        builder.constrain(roots);
        let Builder {
            mut solver,
            nodes,
            objects,
            indirect,
            ..
        } = builder;
        let linker = solver::Linker {
            module,
            parameters: &nodes.parameters,
            returns: &nodes.returns,
            objects: &objects,
            indirect: &indirect,
        };
        solver.solve(&linker, go_on)?;
        let shared = solver.reached(solver::SHARED);
        Ok(Self {
            module,
            objects,
            solver,
            nodes,
            shared,
        })
    }

    /// Where a value may point; never empty.
    pub(crate) fn spots(&self, function: FunctionId, value: ValueId) -> Vec<Spot> {
        let spots = self.solver.spots(self.nodes.value(function, value));
        if spots.is_empty() {
            vec![(UNKNOWN, ANY)]
        } else {
            spots
        }
    }

    /// What an object is.
    pub(crate) fn object(&self, object: ObjectId) -> Object {
        self.objects[object as usize]
    }

    /// Functions that a value may be, and whether it may be others, too.
    pub(crate) fn functions(
        &self,
        function: FunctionId,
        value: ValueId,
    ) -> (Vec<FunctionId>, bool) {
        let spots = self.solver.spots(self.nodes.value(function, value));
        let mut unknown = spots.is_empty();
        let mut known = Vec::new();
        for (object, _) in spots {
            match self.object(object) {
                Object::Function(f) => known.push(f),
                Object::Unknown => unknown = true,
                Object::Global(_) | Object::Frame(..) | Object::Heap(..) => {}
            }
        }
        (known, unknown)
    }

    /// Functions whose addresses are taken somewhere.
    pub(crate) fn address_taken(&self) -> BTreeSet<FunctionId> {
        address_taken(self.module)
    }

    /// Whether there is only one of it, for all threads.
    pub(crate) fn is_one(&self, object: ObjectId) -> bool {
        match self.object(object) {
            Object::Global(g) => !self.module.globals[g.index()].thread_local,
            Object::Unknown | Object::Function(_) | Object::Frame(..) | Object::Heap(..) => false,
        }
    }

    /// Whether another thread could reach it.
    pub(crate) fn is_shared(&self, object: ObjectId) -> bool {
        match self.object(object) {
            Object::Unknown => true,
            Object::Function(_) => false,
            Object::Global(g) => {
                let global = &self.module.globals[g.index()];
                !global.constant && (!global.thread_local || self.shared.contains(&object))
            }
            Object::Frame(..) | Object::Heap(..) => self.shared.contains(&object),
        }
    }
}

/// Whether accesses of these types may touch the same memory: one is a kind of the other.
pub(crate) fn types_meet(types: &[AccessType], a: Option<u32>, b: Option<u32>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return true;
    };
    let leads = |from: u32, to: u32| {
        let mut at = Some(from);
        // A chain longer than the table is a loop in bad input.
        for _ in 0..=types.len() {
            match at {
                Some(t) if t == to => return true,
                Some(t) => at = types.get(t as usize).and_then(|t| t.parent),
                None => return false,
            }
        }
        true
    };
    leads(a, b) || leads(b, a)
}

fn address_taken(module: &Module) -> BTreeSet<FunctionId> {
    let in_values = module.functions.iter().flat_map(|f| &f.values);
    let in_values = in_values.filter_map(|v| match v {
        Value::Function(f) => Some(*f),
        _ => None,
    });
    let in_globals = module
        .globals
        .iter()
        .flat_map(|g| g.functions.iter().copied());
    in_values.chain(in_globals).collect()
}

/// A call through a pointer, or of unknown code that may call back.
pub(crate) struct Indirect {
    /// Arguments.
    arguments: Vec<Option<u32>>,
    /// Where the result goes.
    result: u32,
    /// The called function gets unknown arguments, too.
    by_unknown_code: bool,
}

/// Makes the constraints of a module.
struct Builder<'a> {
    module: &'a Module,
    solver: Solver,
    nodes: Nodes,
    objects: Vec<Object>,
    numbers: HashMap<Object, ObjectId>,
    indirect: Vec<Indirect>,
}

impl<'a> Builder<'a> {
    fn new(module: &'a Module) -> Self {
        let mut solver = Solver::new();
        let mut nodes = Nodes {
            values: Vec::new(),
            parameters: Vec::new(),
            returns: Vec::new(),
            results: Vec::new(),
        };
        for function in &module.functions {
            nodes.values.push(solver.nodes(function.values.len()));
            nodes
                .parameters
                .push(solver.nodes(function.parameters as usize));
            nodes.returns.push(solver.nodes(1));
            let numbers = function.blocks.iter().flat_map(|b| &b.instrs);
            let results = numbers.map(|i| (i.number, solver.nodes(1)));
            nodes.results.push(results.collect());
        }
        let mut builder = Self {
            module,
            solver,
            nodes,
            objects: Vec::new(),
            numbers: HashMap::new(),
            indirect: Vec::new(),
        };
        builder.number(Object::Unknown);
        builder
    }

    fn number(&mut self, object: Object) -> ObjectId {
        let next = self.objects.len() as ObjectId;
        let number = *self.numbers.entry(object).or_insert(next);
        if number == next {
            self.objects.push(object);
        }
        number
    }

    fn constrain(&mut self, roots: &[FunctionId]) {
        let closed = self
            .module
            .functions
            .iter()
            .any(|f| f.name == "main" && !f.blocks.is_empty());
        self.solver
            .add(solver::STORED_ANYWHERE_SEED, (UNKNOWN, ANY));
        for (index, global) in self.module.globals.iter().enumerate() {
            let object = self.number(Object::Global(GlobalId(index as u32)));
            if !global.thread_local {
                self.solver.add(solver::SHARED, (object, ANY));
            }
            if !closed && !global.internal && !global.constant {
                self.solver.add(solver::EXPOSED, (object, ANY));
            }
            let cell = self.solver.cell((object, ANY));
            for held in &global.globals {
                let held = self.number(Object::Global(*held));
                self.solver.add(cell, (held, ANY));
            }
            for held in &global.functions {
                let held = self.number(Object::Function(*held));
                self.solver.add(cell, (held, 0));
            }
        }
        for index in 0..self.module.functions.len() {
            let id = FunctionId(index as u32);
            let function = &self.module.functions[index];
            let from_outside =
                roots.contains(&id) || function.name == "main" || (!closed && !function.internal);
            if from_outside {
                self.unknown_parameters(id);
            }
            self.values(id);
            self.instructions(id);
        }
    }

    fn unknown_parameters(&mut self, id: FunctionId) {
        let first = self.nodes.parameters[id.index()];
        for parameter in 0..self.module.functions[id.index()].parameters {
            self.solver.add(first + parameter, (UNKNOWN, ANY));
        }
    }

    fn values(&mut self, id: FunctionId) {
        let function = &self.module.functions[id.index()];
        for (index, value) in function.values.iter().enumerate() {
            let here = ValueId(index as u32);
            let node = self.nodes.value(id, here);
            match value {
                Value::Parameter(p) if *p < function.parameters => {
                    self.solver
                        .copy(self.nodes.parameters[id.index()] + p, node, Some(0));
                }
                Value::Parameter(_) | Value::Unknown => self.solver.add(node, (UNKNOWN, ANY)),
                Value::Alloca => {
                    let object = self.number(Object::Frame(id, here));
                    self.solver.add(node, (object, 0));
                }
                Value::Global(g) => {
                    let object = self.number(Object::Global(*g));
                    self.solver.add(node, (object, 0));
                }
                Value::Function(f) => {
                    let object = self.number(Object::Function(*f));
                    self.solver.add(node, (object, 0));
                }
                Value::Offset(base, by) => {
                    let by = by.map(|by| i32::try_from(by).unwrap_or(ANY));
                    let by = by.filter(|by| *by != ANY);
                    self.solver.copy(self.nodes.value(id, *base), node, by);
                }
                Value::OneOf(values) => {
                    for value in values {
                        self.solver
                            .copy(self.nodes.value(id, *value), node, Some(0));
                    }
                }
                Value::Result(number) => match self.nodes.results[id.index()].get(number) {
                    Some(result) => self.solver.copy(*result, node, Some(0)),
                    None => self.solver.add(node, (UNKNOWN, ANY)),
                },
                Value::Constant => {}
            }
        }
    }

    fn instructions(&mut self, id: FunctionId) {
        let function = &self.module.functions[id.index()];
        for block in &function.blocks {
            if let Some(value) = block.returns {
                let returned = self.nodes.returns[id.index()];
                self.solver
                    .copy(self.nodes.value(id, value), returned, Some(0));
            }
            for instr in &block.instrs {
                let result = self.nodes.results[id.index()][&instr.number];
                let node = |value: ValueId| self.nodes.value(id, value);
                match &instr.op {
                    Op::Load(access) => self.solver.load(node(access.pointer), result),
                    Op::Store { access, value } => {
                        if let Some(value) = value {
                            self.solver.store(node(access.pointer), node(*value));
                        }
                    }
                    Op::Update { access, value, .. } => {
                        let (pointer, value) = (node(access.pointer), value.map(node));
                        self.solver.load(pointer, result);
                        if let Some(value) = value {
                            self.solver.store(pointer, value);
                        }
                    }
                    Op::Bulk {
                        to: Some(to),
                        from: Some(from),
                    } => {
                        let (to, from) = (node(*to), node(*from));
                        self.solver.copy_contents(from, to);
                    }
                    Op::Bulk { .. } | Op::Fence(_) | Op::MachineFence(_) | Op::Assembly(_) => {}
                    Op::Call { callee, arguments } => {
                        self.call(id, instr.number, *callee, arguments, result);
                    }
                }
            }
        }
    }

    fn call(
        &mut self,
        id: FunctionId,
        number: u32,
        callee: Callee,
        arguments: &[Option<ValueId>],
        result: u32,
    ) {
        let nodes: Vec<Option<u32>> = arguments
            .iter()
            .map(|a| a.map(|a| self.nodes.value(id, a)))
            .collect();
        match callee {
            Callee::Indirect(value) => {
                let call = Indirect {
                    arguments: nodes,
                    result,
                    by_unknown_code: false,
                };
                self.indirect.push(call);
                let pointer = self.nodes.value(id, value);
                self.solver.call(pointer, self.indirect.len() - 1);
            }
            Callee::Direct(f) => {
                let target = &self.module.functions[f.index()];
                if target.blocks.is_empty() {
                    self.external(id, number, &target.name, target.pure, &nodes, result);
                    return;
                }
                let first = self.nodes.parameters[f.index()];
                for (index, node) in nodes.iter().take(target.parameters as usize).enumerate() {
                    if let Some(node) = node {
                        self.solver.copy(*node, first + index as u32, Some(0));
                    }
                }
                self.solver
                    .copy(self.nodes.returns[f.index()], result, Some(0));
            }
        }
    }

    fn external(
        &mut self,
        id: FunctionId,
        number: u32,
        name: &str,
        pure: bool,
        arguments: &[Option<u32>],
        result: u32,
    ) {
        match effect(name) {
            Effect::Allocates => {
                let object = self.number(Object::Heap(id, number));
                self.solver.add(result, (object, 0));
                if let Some(Some(old)) = arguments.first().filter(|_| name.contains("realloc")) {
                    // Moved, or not: what was in it stays.
                    self.solver.copy(*old, result, None);
                }
            }
            Effect::Starts {
                function,
                argument,
                skipped,
            } => {
                let until = if skipped == 0 {
                    argument + 1
                } else {
                    arguments.len()
                };
                let given = arguments.iter().take(until).skip(argument).copied();
                let given: Vec<Option<u32>> =
                    vec![None; skipped].into_iter().chain(given).collect();
                for argument in given.iter().flatten() {
                    self.solver.copy(*argument, solver::SHARED, Some(0));
                }
                if let Some(Some(function)) = arguments.get(function) {
                    let call = Indirect {
                        arguments: given,
                        result,
                        by_unknown_code: false,
                    };
                    self.indirect.push(call);
                    self.solver.call(*function, self.indirect.len() - 1);
                }
            }
            Effect::Joins | Effect::Locks | Effect::Unlocks | Effect::Harmless => {}
            Effect::Unknown => {
                for argument in arguments.iter().flatten() {
                    if pure {
                        self.solver.copy(*argument, result, None);
                        continue;
                    }
                    self.solver.copy(*argument, solver::EXPOSED, Some(0));
                    let call = Indirect {
                        arguments: Vec::new(),
                        result,
                        by_unknown_code: true,
                    };
                    self.indirect.push(call);
                    self.solver.call(*argument, self.indirect.len() - 1);
                }
                self.solver.add(result, (UNKNOWN, ANY));
            }
        }
    }
}
