//! Building the graph.

use super::calls::Matters;
use super::{Base, Class, Context, Doing, Event, Graph, Node, NodeId, Same};
use crate::alias::{ANY, Aliases, Object, Spot, Stopped, UNKNOWN};
use crate::module::{Access, Block, FunctionId, Instr, Module, Op, Order, Value, ValueId};
use crate::order::{Operation, Part};
use crate::port::Assumption;
use crate::threads::Root;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Bodies with more instructions than this are not copied.
const COPIED: usize = 300;
/// Calls in copied bodies are copied no deeper than this.
const DEPTH: usize = 8;
/// Nothing is copied in a graph of more nodes than this.
const NODES: usize = 60_000;

/// Builds the graph of all threads.
pub(crate) fn build(
    module: &Module,
    aliases: &Aliases<'_>,
    roots: Vec<Root>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Graph, Stopped> {
    let mut builder = Builder {
        module,
        aliases,
        graph: Graph::default(),
        spots: HashMap::new(),
        classes: HashMap::new(),
        matters: Matters::new(module, aliases, go_on)?,
        copies: BTreeMap::new(),
        frames: Vec::new(),
        said: BTreeMap::new(),
        go_on,
    };
    for (index, root) in roots.into_iter().enumerate() {
        let function = root.thread.function;
        let frame = builder.frame(Frame {
            root: index as u32,
            function,
            calls: Vec::new(),
            arguments: Arguments::Root,
            stack: vec![function],
        });
        let (entry, _) = builder.body(frame)?;
        builder.graph.roots.push((root, entry));
    }
    let Builder {
        mut graph,
        said,
        go_on,
        ..
    } = builder;
    graph.assumptions = said.into_values().collect();
    super::places::finish(&mut graph, go_on)?;
    Ok(graph)
}

/// Where the parameters of a function get their values.
#[derive(Clone, Debug)]
pub(super) enum Arguments {
    /// From whoever starts the thread: once.
    Root,
    /// From this frame's call.
    Call(u32, Vec<Option<ValueId>>),
    /// From many calls.
    Many,
}

/// A copy of a function's body.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) root: u32,
    pub(super) function: FunctionId,
    pub(super) calls: Vec<(FunctionId, u32)>,
    pub(super) arguments: Arguments,
    pub(super) stack: Vec<FunctionId>,
}

pub(super) struct Builder<'a> {
    pub(super) module: &'a Module,
    pub(super) aliases: &'a Aliases<'a>,
    pub(super) graph: Graph,
    spots: HashMap<(FunctionId, ValueId), Rc<Vec<Spot>>>,
    classes: HashMap<Class, u32>,
    pub(super) matters: Matters,
    /// Entry and exit of the one copy of a function that a root has.
    copies: BTreeMap<(u32, FunctionId), (NodeId, NodeId)>,
    pub(super) frames: Vec<Frame>,
    said: BTreeMap<String, Assumption>,
    go_on: &'a mut dyn FnMut() -> bool,
}

/// A block that is being built: where the next step comes from.
struct Chain {
    frame: u32,
    tail: Vec<NodeId>,
    previous: Option<u32>,
}

impl Builder<'_> {
    fn frame(&mut self, frame: Frame) -> u32 {
        let (root, calls) = (frame.root, frame.calls.clone());
        self.graph.contexts.push(Context { root, calls });
        self.frames.push(frame);
        self.frames.len() as u32 - 1
    }

    pub(super) fn node(&mut self, frame: u32, number: u32, doing: Doing, gap: bool) -> NodeId {
        self.graph.nodes.push(Node {
            function: self.frames[frame as usize].function,
            number,
            context: frame,
            doing,
            gap,
            previous: None,
        });
        self.graph.next.push(Vec::new());
        self.graph.nodes.len() as NodeId - 1
    }

    pub(super) fn edge(&mut self, from: NodeId, to: NodeId) {
        self.graph.next[from as usize].push((to, false));
    }

    /// Says something once per message.
    pub(super) fn assume(&mut self, message: String, instr: &Instr, unsound: bool) {
        let assumption = Assumption {
            message: message.clone(),
            place: instr.place,
            unsound,
        };
        self.said.entry(message).or_insert(assumption);
    }

    /// The body of a frame's function: its entry and its exit.
    fn body(&mut self, frame: u32) -> Result<(NodeId, NodeId), Stopped> {
        if !(self.go_on)() {
            return Err(Stopped);
        }
        let module = self.module;
        let function = &module.functions[self.frames[frame as usize].function.index()];
        let exit = self.node(frame, u32::MAX, Doing::Nothing, false);
        let first = |b: &Block| b.instrs.first().map_or(b.end, |i| i.number);
        let heads: Vec<NodeId> = function
            .blocks
            .iter()
            .map(|b| self.node(frame, first(b), Doing::Nothing, false))
            .collect();
        for (block, head) in function.blocks.iter().zip(&heads) {
            let mut chain = Chain {
                frame,
                tail: vec![*head],
                previous: None,
            };
            self.block(block, 0, &mut chain, &heads, exit, None)?;
        }
        Ok((heads[0], exit))
    }

    /// The steps of a block from the instruction at `from`; `outcome` is that of the compare-exchange that its branch asks for.
    fn block(
        &mut self,
        block: &Block,
        from: usize,
        chain: &mut Chain,
        heads: &[NodeId],
        exit: NodeId,
        outcome: Option<bool>,
    ) -> Result<(), Stopped> {
        for (index, instr) in block.instrs.iter().enumerate().skip(from) {
            if let Op::Update {
                access,
                failure: Some(failure),
                ..
            } = &instr.op
                && let Some((class, same)) = self.class(chain.frame, access.pointer, access)
            {
                let entry = self.step(chain, instr, Doing::Nothing);
                let failed = self.event(
                    chain.frame,
                    instr,
                    access,
                    (class, same),
                    Part::UpdateRead { succeeds: false },
                    Some(*failure),
                );
                self.edge(entry, failed);
                let read = self.event(
                    chain.frame,
                    instr,
                    access,
                    (class, same),
                    Part::UpdateRead { succeeds: true },
                    Some(*failure),
                );
                let write = self.event(
                    chain.frame,
                    instr,
                    access,
                    (class, same),
                    Part::UpdateWrite,
                    Some(*failure),
                );
                self.edge(entry, read);
                self.edge(read, write);
                if block.on_success == Some(instr.number) && block.successors.len() == 2 {
                    for (tail, succeeded) in [(write, true), (failed, false)] {
                        let mut rest = Chain {
                            frame: chain.frame,
                            tail: vec![tail],
                            previous: chain.previous,
                        };
                        self.block(block, index + 1, &mut rest, heads, exit, Some(succeeded))?;
                    }
                    return Ok(());
                }
                chain.tail = vec![write, failed];
                continue;
            }
            self.instruction(chain, instr)?;
        }
        // An `invoke` ends its block: there is nothing between it and the end.
        let gap = block.instrs.last().is_none_or(|i| i.number != block.end);
        let end = self.node(chain.frame, block.end, Doing::Nothing, gap);
        self.graph.nodes[end as usize].previous = chain.previous;
        for tail in std::mem::take(&mut chain.tail) {
            self.edge(tail, end);
        }
        let taken: &[_] = match outcome {
            Some(true) => &block.successors[..1],
            Some(false) => &block.successors[1..],
            None => &block.successors,
        };
        for successor in taken {
            self.edge(end, heads[successor.index()]);
        }
        if block.successors.is_empty() {
            self.edge(end, exit);
        }
        Ok(())
    }

    /// A step at the end of the chain.
    fn step(&mut self, chain: &mut Chain, instr: &Instr, doing: Doing) -> NodeId {
        let node = self.node(chain.frame, instr.number, doing, true);
        self.graph.nodes[node as usize].previous = chain.previous;
        self.append(chain, node);
        chain.previous = Some(instr.number);
        node
    }

    fn append(&mut self, chain: &mut Chain, node: NodeId) {
        for tail in std::mem::replace(&mut chain.tail, vec![node]) {
            self.edge(tail, node);
        }
    }

    fn instruction(&mut self, chain: &mut Chain, instr: &Instr) -> Result<(), Stopped> {
        let frame = chain.frame;
        match &instr.op {
            Op::Load(access) | Op::Store { access, .. } => {
                let part = if matches!(instr.op, Op::Load(_)) { Part::Load } else { Part::Store };
                if let Some(class) = self.class(frame, access.pointer, access) {
                    let node = self.event(frame, instr, access, class, part, None);
                    self.graph.nodes[node as usize].gap = true;
                    self.graph.nodes[node as usize].previous = chain.previous;
                    self.append(chain, node);
                    chain.previous = Some(instr.number);
                }
            }
            Op::Update { access, failure, .. } => {
                if let Some(class) = self.class(frame, access.pointer, access) {
                    self.step(chain, instr, Doing::Nothing);
                    let read = Part::UpdateRead { succeeds: true };
                    let read = self.event(frame, instr, access, class, read, *failure);
                    self.append(chain, read);
                    let write = self.event(frame, instr, access, class, Part::UpdateWrite, *failure);
                    self.append(chain, write);
                }
            }
            Op::Fence(order) => {
                self.step(chain, instr, Doing::Fence(Operation::fence(*order)));
            }
            Op::MachineFence(text) => {
                self.step(chain, instr, Doing::MachineFence(text.clone()));
            }
            Op::Bulk { to, from } => self.bulk(chain, instr, *to, *from),
            Op::Call { callee, arguments } => self.call(chain, instr, *callee, arguments)?,
            Op::Assembly(text) => self.assume(
                format!("the assembly `{text}` is not understood: it is taken to do nothing to shared memory"),
                instr,
                true,
            ),
        }
        Ok(())
    }

    /// Bytes are read and written one after the other, in any number.
    fn bulk(
        &mut self,
        chain: &mut Chain,
        instr: &Instr,
        to: Option<ValueId>,
        from: Option<ValueId>,
    ) {
        let whole = |pointer: ValueId| Access {
            pointer,
            size: 0,
            order: Order::Plain,
            volatile: false,
            kind: None,
        };
        let mut events = Vec::new();
        for (pointer, part) in [(from, Part::Load), (to, Part::Store)] {
            let Some(pointer) = pointer else { continue };
            let access = whole(pointer);
            if let Some((class, _)) = self.class(chain.frame, pointer, &access) {
                events.push(self.event(chain.frame, instr, &access, (class, None), part, None));
            }
        }
        let (Some(first), Some(last)) = (events.first().copied(), events.last().copied()) else {
            return;
        };
        let entry = self.step(chain, instr, Doing::Nothing);
        // What unknown code does is behind the call, not before it.
        self.graph.nodes[entry as usize].gap = !matches!(instr.op, Op::Call { .. });
        for event in &events {
            let node = &self.graph.nodes[*event as usize];
            if let Doing::Access(event) = node.doing {
                self.graph.events[event as usize].bulk = true;
            }
            self.append(chain, *event);
        }
        self.edge(last, first);
    }

    /// A node for an access.
    fn event(
        &mut self,
        frame: u32,
        instr: &Instr,
        access: &Access,
        (class, same): (u32, Option<Same>),
        part: Part,
        failure: Option<Order>,
    ) -> NodeId {
        let event = self.graph.events.len() as u32;
        let node = self.node(frame, instr.number, Doing::Access(event), false);
        self.graph.events.push(Event {
            node,
            operation: Operation {
                part,
                order: access.order,
                failure,
                size: access.size,
            },
            class,
            same,
            bulk: false,
            fixed_order: access.order == Order::Plain,
            volatile: access.volatile,
            live: true,
            place: instr.place,
        });
        node
    }

    /// A node for a lock that is taken or given back.
    pub(super) fn lock(
        &mut self,
        frame: u32,
        instr: &Instr,
        pointer: ValueId,
        part: Part,
    ) -> NodeId {
        let access = Access {
            pointer,
            size: 1,
            order: Order::Plain,
            volatile: false,
            kind: None,
        };
        match self.class(frame, pointer, &access) {
            Some((class, same)) => self.event(frame, instr, &access, (class, same), part, None),
            // Nobody else can reach it.
            None => self.node(frame, instr.number, Doing::Nothing, false),
        }
    }

    /// What an access may touch, if another thread may, too.
    fn class(
        &mut self,
        frame: u32,
        pointer: ValueId,
        access: &Access,
    ) -> Option<(u32, Option<Same>)> {
        let at = &self.frames[frame as usize];
        let (function, root) = (at.function, at.root);
        let spots = self.spots(function, pointer);
        if spots.is_empty() {
            return None;
        }
        // The unknown object stands for all shared ones.
        let unknown = spots.iter().any(|s| s.0 == UNKNOWN);
        let spots = if unknown {
            vec![(UNKNOWN, ANY)]
        } else {
            spots.to_vec()
        };
        let class = Class {
            spots,
            size: access.size,
            kind: access.kind,
            once: Some(root),
            held: Vec::new(),
        };
        let same = self.same(frame, pointer, access, &class);
        let next = self.classes.len() as u32;
        let number = *self.classes.entry(class.clone()).or_insert(next);
        if number == next {
            self.graph.classes.push(class);
        }
        Some((number, same))
    }

    fn spots(&mut self, function: FunctionId, pointer: ValueId) -> Rc<Vec<Spot>> {
        if let Some(known) = self.spots.get(&(function, pointer)) {
            return known.clone();
        }
        let mut spots = self.aliases.spots(function, pointer);
        spots.retain(|(object, _)| self.aliases.is_shared(*object));
        let spots = Rc::new(spots);
        self.spots.insert((function, pointer), spots.clone());
        spots
    }

    fn same(&self, frame: u32, pointer: ValueId, access: &Access, class: &Class) -> Option<Same> {
        if access.size == 0 {
            return None;
        }
        if let [(object, offset)] = class.spots[..]
            && offset != ANY
            && matches!(self.aliases.object(object), Object::Global(_))
        {
            let all = self
                .aliases
                .spots(self.frames[frame as usize].function, pointer);
            if all.len() == 1 {
                let base = Base::Object(object);
                return Some(Same {
                    base,
                    offset: i64::from(offset),
                    size: access.size,
                });
            }
        }
        let (base, offset) = self.origin(frame, pointer)?;
        Some(Same {
            base,
            offset,
            size: access.size,
        })
    }

    /// The value that a pointer is computed from by constant offsets, in this frame or in one that called it.
    fn origin(&self, mut frame: u32, mut value: ValueId) -> Option<(Base, i64)> {
        let mut offset = 0_i64;
        loop {
            let at = &self.frames[frame as usize];
            let function = &self.module.functions[at.function.index()];
            match (&function.values[value.index()], &at.arguments) {
                (Value::Offset(base, Some(by)), _) => {
                    offset = offset.checked_add(*by)?;
                    value = *base;
                }
                (Value::Parameter(p), Arguments::Call(caller, arguments)) => {
                    value = arguments.get(*p as usize).copied().flatten()?;
                    frame = *caller;
                }
                (Value::Parameter(p), Arguments::Root) => {
                    return Some((Base::Thread(frame, *p), offset));
                }
                (Value::Unknown | Value::Constant, _) => return None,
                // A recursive function has several activations at once.
                (_, Arguments::Many) if self.matters.is_recursive(at.function) => return None,
                (Value::Parameter(_), Arguments::Many)
                | (Value::OneOf(_), _)
                | (Value::Offset(_, None), _)
                | (Value::Result(_), _)
                | (Value::Alloca, _)
                | (Value::Global(_) | Value::Function(_), _) => {
                    return Some((Base::Value(frame, value.0), offset));
                }
            }
        }
    }

    /// The body of a function that is called: a copy of its own, or the one that all calls share.
    pub(super) fn callee(
        &mut self,
        frame: u32,
        instr: &Instr,
        callee: FunctionId,
        arguments: &[Option<ValueId>],
        directly: bool,
    ) -> Result<(NodeId, NodeId), Stopped> {
        let at = self.frames[frame as usize].clone();
        let function = &self.module.functions[callee.index()];
        let size: usize = function.blocks.iter().map(|b| b.instrs.len() + 1).sum();
        let mut calls = at.calls.clone();
        calls.push((at.function, instr.number));
        let copied = directly
            && size <= COPIED
            && at.stack.len() <= DEPTH
            && !at.stack.contains(&callee)
            && !matches!(at.arguments, Arguments::Many)
            && self.graph.nodes.len() < NODES;
        if copied {
            let mut stack = at.stack.clone();
            stack.push(callee);
            let frame = self.frame(Frame {
                root: at.root,
                function: callee,
                calls,
                arguments: Arguments::Call(frame, arguments.to_vec()),
                stack,
            });
            return self.body(frame);
        }
        if let Some(known) = self.copies.get(&(at.root, callee)) {
            return Ok(*known);
        }
        self.shared_copy(at.root, callee, calls)
    }

    fn shared_copy(
        &mut self,
        root: u32,
        callee: FunctionId,
        calls: Vec<(FunctionId, u32)>,
    ) -> Result<(NodeId, NodeId), Stopped> {
        let frame = self.frame(Frame {
            root,
            function: callee,
            calls,
            arguments: Arguments::Many,
            stack: vec![callee],
        });
        // Known before its body is built, which may call it.
        let (entry, exit) = (
            self.node(frame, u32::MAX, Doing::Nothing, false),
            self.node(frame, u32::MAX, Doing::Nothing, false),
        );
        self.copies.insert((root, callee), (entry, exit));
        let (first, last) = self.body(frame)?;
        self.edge(entry, first);
        self.edge(last, exit);
        Ok((entry, exit))
    }

    pub(super) fn call_step(
        &mut self,
        chain: (&mut Vec<NodeId>, u32),
        instr: &Instr,
        doing: Doing,
    ) -> NodeId {
        let (tail, frame) = chain;
        let node = self.node(frame, instr.number, doing, true);
        for before in std::mem::replace(tail, vec![node]) {
            self.edge(before, node);
        }
        node
    }

    fn call(
        &mut self,
        chain: &mut Chain,
        instr: &Instr,
        callee: crate::module::Callee,
        arguments: &[Option<ValueId>],
    ) -> Result<(), Stopped> {
        let frame = chain.frame;
        let unknown = self.follow(frame, &mut chain.tail, instr, callee, arguments)?;
        for pointer in unknown {
            self.bulk(chain, instr, Some(pointer), Some(pointer));
        }
        chain.previous = Some(instr.number);
        Ok(())
    }
}
