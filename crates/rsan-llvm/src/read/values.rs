//! Where pointers of a function come from.
//!
//! Casts are looked through. What is made of several values by arithmetic may be each of them moved by an unknown number of
//! bytes; an aggregate or vector is any of its parts. Integers that are narrower than a pointer are no addresses by
//! themselves: if a pointer is made of such integers only, it is unknown.

use super::Names;
use super::calls::{self, Outcome};
use super::intrinsics::Flow;
use crate::ffi::{type_kind, value_kind};
use crate::module::Layout;
use crate::opcode::Opcode;
use crate::ty::Type;
use crate::value::Value;
use rsan_ir::module::{self as ir, ValueId};
use std::collections::HashMap;

/// Integers below are marks that programs keep in pointers, never addresses.
const LOWEST_ADDRESS: u64 = 4096;

pub(super) struct Values<'m> {
    layout: Layout<'m>,
    parameters: HashMap<Value<'m>, u32>,
    numbers: HashMap<Value<'m>, u32>,
    ids: HashMap<Value<'m>, ValueId>,
    nodes: Vec<Node>,
    /// Values that have an id and no definition yet.
    work: Vec<(ValueId, Value<'m>)>,
}

struct Node {
    value: ir::Value,
    how: How,
}

/// How a value is made, as far as it matters where integers become pointers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// As it says.
    Plain,
    /// Computed from several values.
    Computed,
    /// An integer that is too narrow for an address, but could be a part of one.
    Narrow,
    /// A pointer made from an integer.
    Made,
}

impl<'m> Values<'m> {
    /// `numbers` are those of the function's instructions.
    pub(super) fn new(
        layout: Layout<'m>,
        function: Value<'m>,
        numbers: HashMap<Value<'m>, u32>,
    ) -> Self {
        let parameters = function.parameters().into_iter().zip(0..).collect();
        Self {
            layout,
            parameters,
            numbers,
            ids: HashMap::new(),
            nodes: Vec::new(),
            work: Vec::new(),
        }
    }

    /// The number of an instruction.
    pub(super) fn number(&self, instruction: Value<'m>) -> Option<u32> {
        self.numbers.get(&instruction).copied()
    }

    /// The id of a value.
    pub(super) fn id(&mut self, value: Value<'m>) -> ValueId {
        let value = strip(value);
        if let Some(known) = self.ids.get(&value) {
            return *known;
        }
        let id = self.push(ir::Value::Unknown, How::Plain);
        self.ids.insert(value, id);
        self.work.push((id, value));
        id
    }

    /// The id of a value that may be or hold an address.
    pub(super) fn pointer(&mut self, value: Value<'m>) -> Option<ValueId> {
        let value = strip(value);
        let constant = is_plain_constant(value);
        (!constant && self.carries(value.ty())).then(|| self.id(value))
    }

    fn push(&mut self, value: ir::Value, how: How) -> ValueId {
        let id = ValueId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { value, how });
        id
    }

    /// Whether a value of this type has room for an address.
    fn carries(&self, ty: Type<'_>) -> bool {
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            match ty.kind() {
                type_kind::POINTER => return true,
                type_kind::INTEGER => {
                    let bits = ty.int_width().map_or(0, u64::from);
                    if bits >= self.layout.pointer_size() * 8 {
                        return true;
                    }
                }
                type_kind::STRUCT => {
                    work.extend((0..ty.fields().unwrap_or(0)).filter_map(|i| ty.field(i)));
                }
                _ => work.extend(ty.element()),
            }
        }
        false
    }

    /// Defines all values that were asked for.
    pub(super) fn finish(mut self, names: &Names<'m>) -> Vec<ir::Value> {
        while let Some((id, value)) = self.work.pop() {
            let node = self.define(names, value);
            self.nodes[id.index()] = node;
        }
        self.distrust();
        self.nodes.into_iter().map(|node| node.value).collect()
    }

    fn define(&mut self, names: &Names<'m>, value: Value<'m>) -> Node {
        let plain = |value| Node {
            value,
            how: How::Plain,
        };
        match value.kind() {
            value_kind::ARGUMENT => plain(match self.parameters.get(&value) {
                Some(index) => ir::Value::Parameter(*index),
                None => ir::Value::Unknown,
            }),
            value_kind::FUNCTION => plain(match names.functions.get(&value) {
                Some(id) => ir::Value::Function(*id),
                None => ir::Value::Unknown,
            }),
            value_kind::GLOBAL => plain(match names.globals.get(&value) {
                Some(id) => ir::Value::Global(*id),
                None => ir::Value::Unknown,
            }),
            value_kind::IFUNC => plain(ir::Value::Unknown),
            value_kind::ARRAY | value_kind::STRUCT | value_kind::VECTOR => {
                plain(self.one_of(value.operands().collect()))
            }
            value_kind::INSTRUCTION | value_kind::EXPRESSION => self.compute(value),
            _ => plain(ir::Value::Constant),
        }
    }

    fn compute(&mut self, value: Value<'m>) -> Node {
        let opcode = value.opcode().unwrap_or(Opcode::Other);
        let operands = || value.operands().collect::<Vec<_>>();
        if !self.carries(value.ty()) {
            return Node {
                value: ir::Value::Constant,
                how: How::Narrow,
            };
        }
        let computed = match opcode {
            Opcode::GetElementPtr => self.gep(value),
            Opcode::Phi => self.one_of(value.incoming()),
            Opcode::Select => self.one_of(value.operands().skip(1).collect()),
            Opcode::InsertValue | Opcode::ShuffleVector => {
                self.one_of(value.operands().take(2).collect())
            }
            Opcode::InsertElement => self.one_of(value.operands().take(2).collect()),
            // Numbers that people calculate with.
            Opcode::FromFloat => ir::Value::Constant,
            Opcode::Alloca => ir::Value::Alloca,
            Opcode::Load | Opcode::AtomicRmw | Opcode::CompareExchange => self.result(value),
            Opcode::Add | Opcode::Sub => return self.sum(value, opcode),
            Opcode::Integer | Opcode::Xor => return self.mixed(operands()),
            Opcode::IntToPtr => return self.made(value),
            Opcode::Trunc | Opcode::Extend => return self.resized(value),
            opcode if opcode.is_call() => return self.call(value),
            _ => ir::Value::Unknown,
        };
        Node {
            value: computed,
            how: How::Plain,
        }
    }

    fn result(&self, value: Value<'m>) -> ir::Value {
        match self.number(value) {
            Some(number) => ir::Value::Result(number),
            None => ir::Value::Unknown,
        }
    }

    fn one_of(&mut self, values: Vec<Value<'m>>) -> ir::Value {
        let mut ids: Vec<ValueId> = values.into_iter().map(|value| self.id(value)).collect();
        ids.sort();
        ids.dedup();
        ir::Value::OneOf(ids)
    }

    fn gep(&mut self, value: Value<'m>) -> ir::Value {
        let offset = offset(self.layout, value);
        match value.operand(0) {
            // A vector of pointers with offsets of their own.
            Some(base) if value.ty().kind() == type_kind::POINTER => {
                ir::Value::Offset(self.id(base), offset)
            }
            Some(base) => ir::Value::Offset(self.id(base), None),
            None => ir::Value::Unknown,
        }
    }

    fn sum(&mut self, value: Value<'m>, opcode: Opcode) -> Node {
        let (Some(left), Some(right)) = (value.operand(0), value.operand(1)) else {
            return self.mixed(Vec::new());
        };
        let (base, constant) = match (left.integer(), right.integer()) {
            (Some(constant), None) if opcode == Opcode::Add => (right, Some(constant)),
            (None, Some(constant)) if opcode == Opcode::Add => (left, Some(constant)),
            (None, Some(constant)) => (left, constant.checked_neg()),
            _ => return self.mixed(vec![left, right]),
        };
        let id = self.id(base);
        Node {
            value: ir::Value::Offset(id, constant),
            how: How::Plain,
        }
    }

    /// Made of these by arithmetic.
    fn mixed(&mut self, operands: Vec<Value<'m>>) -> Node {
        let bases: Vec<ValueId> = operands
            .into_iter()
            .filter(|operand| !is_plain_constant(strip(*operand)))
            .map(|operand| self.id(operand))
            .collect();
        let moved =
            |values: &mut Self, base| values.push(ir::Value::Offset(base, None), How::Plain);
        let value = match &bases[..] {
            [] => ir::Value::Constant,
            [one] => ir::Value::Offset(*one, None),
            several => ir::Value::OneOf(several.iter().map(|base| moved(self, *base)).collect()),
        };
        Node {
            value,
            how: How::Computed,
        }
    }

    fn resized(&mut self, value: Value<'m>) -> Node {
        let Some(operand) = value.operand(0) else {
            return self.mixed(Vec::new());
        };
        if !self.carries(operand.ty()) {
            return Node {
                value: ir::Value::Constant,
                how: How::Narrow,
            };
        }
        let id = self.id(operand);
        Node {
            value: ir::Value::Offset(id, Some(0)),
            how: How::Plain,
        }
    }

    fn made(&mut self, value: Value<'m>) -> Node {
        let how = How::Made;
        let Some(operand) = value.operand(0).map(strip) else {
            return self.mixed(Vec::new());
        };
        let value = match operand.integer() {
            Some(number) if number.unsigned_abs() < LOWEST_ADDRESS => ir::Value::Constant,
            Some(_) => ir::Value::Unknown,
            None => ir::Value::Offset(self.id(operand), Some(0)),
        };
        Node { value, how }
    }

    fn call(&mut self, value: Value<'m>) -> Node {
        let plain = |value| Node {
            value,
            how: How::Plain,
        };
        match calls::outcome(value) {
            Outcome::Result => plain(self.result(value)),
            Outcome::Flow(Flow::First) => match value.arguments().first() {
                Some(first) => {
                    let id = self.id(*first);
                    plain(ir::Value::Offset(id, Some(0)))
                }
                None => plain(ir::Value::Unknown),
            },
            Outcome::Flow(Flow::Mixed) => self.mixed(value.arguments()),
            Outcome::Flow(Flow::None) | Outcome::Unknown => plain(ir::Value::Unknown),
        }
    }

    /// Pointers that are made of integers which may be put together from narrow parts are unknown.
    fn distrust(&mut self) {
        if !self.nodes.iter().any(|node| node.how == How::Made) {
            return;
        }
        // An integer with a narrow part is an address if another part is one: an index. That is looked at first.
        let mut address: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| is_address(&node.value))
            .collect();
        spread(&self.nodes, &mut address, |_, _| true);
        let mut parts: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| node.how == How::Narrow)
            .collect();
        spread(&self.nodes, &mut parts, |id, node| {
            node.how != How::Computed || !address[id]
        });
        for (node, parts) in self.nodes.iter_mut().zip(parts) {
            if node.how == How::Made && parts {
                node.value = ir::Value::Unknown;
            }
        }
    }
}

/// Sets the flag of each node that is made of a flagged one, where `may` lets it.
fn spread(nodes: &[Node], flags: &mut [bool], may: impl Fn(usize, &Node) -> bool) {
    let mut changed = true;
    while changed {
        changed = false;
        for (id, node) in nodes.iter().enumerate() {
            let from = match &node.value {
                ir::Value::Offset(base, _) => flags[base.index()],
                ir::Value::OneOf(of) => of.iter().any(|value| flags[value.index()]),
                _ => false,
            };
            if from && !flags[id] && may(id, node) {
                flags[id] = true;
                changed = true;
            }
        }
    }
}

fn is_address(value: &ir::Value) -> bool {
    match value {
        ir::Value::Offset(..) | ir::Value::OneOf(_) | ir::Value::Constant => false,
        ir::Value::Parameter(_)
        | ir::Value::Alloca
        | ir::Value::Global(_)
        | ir::Value::Function(_)
        | ir::Value::Result(_)
        | ir::Value::Unknown => true,
    }
}

/// A constant without an address in it.
fn is_plain_constant(value: Value<'_>) -> bool {
    !matches!(
        value.kind(),
        value_kind::ARGUMENT
            | value_kind::FUNCTION
            | value_kind::ALIAS
            | value_kind::IFUNC
            | value_kind::GLOBAL
            | value_kind::EXPRESSION
            | value_kind::ARRAY
            | value_kind::STRUCT
            | value_kind::VECTOR
            | value_kind::POINTER_AUTHENTICATION
            | value_kind::INSTRUCTION
    )
}

/// What a value is before casts that change nothing, and before it was put into or taken out of an aggregate.
pub(super) fn strip(mut value: Value<'_>) -> Value<'_> {
    loop {
        let inner = match value.kind() {
            value_kind::ALIAS => value.aliasee(),
            value_kind::POINTER_AUTHENTICATION => value.operand(0),
            value_kind::INSTRUCTION | value_kind::EXPRESSION => through(value),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

fn through(value: Value<'_>) -> Option<Value<'_>> {
    let first = || value.operand(0);
    match value.opcode()? {
        Opcode::BitCast => first().filter(|inner| !is_float(inner.ty())),
        Opcode::AddrSpaceCast
        | Opcode::Freeze
        | Opcode::PtrToInt
        | Opcode::ExtractValue
        | Opcode::ExtractElement => first(),
        Opcode::IntToPtr => first().filter(|inner| inner.opcode() == Some(Opcode::PtrToInt)),
        Opcode::GetElementPtr => {
            let still = value
                .operands()
                .skip(1)
                .all(|index| index.integer() == Some(0));
            first().filter(|_| still && value.ty().kind() == type_kind::POINTER)
        }
        _ => None,
    }
}

fn is_float(ty: Type<'_>) -> bool {
    let ty = ty.element().unwrap_or(ty);
    (type_kind::HALF..type_kind::INTEGER).contains(&ty.kind())
}

/// How far a `getelementptr` moves; `None` if that is not constant.
fn offset(layout: Layout<'_>, value: Value<'_>) -> Option<i64> {
    let mut ty = value.gep_source()?;
    let mut indices = value.operands().skip(1);
    let times = |index: Value<'_>, ty| {
        index
            .integer()?
            .checked_mul(layout.stride(ty)?.try_into().ok()?)
    };
    let mut total = times(indices.next()?, ty)?;
    for index in indices {
        let step = match ty.kind() {
            type_kind::STRUCT => {
                let field = u32::try_from(index.integer()?).ok()?;
                let at = layout.field(ty, field)?;
                ty = ty.field(field)?;
                i64::try_from(at).ok()?
            }
            _ => {
                ty = ty.element()?;
                times(index, ty)?
            }
        };
        total = total.checked_add(step)?;
    }
    Some(total)
}
