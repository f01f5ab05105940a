//! Type-based alias information: the chains of access types behind `!tbaa`.
//!
//! An access has a tag: the type of the object, the type of what is accessed in it, and the offset. Only the second one is kept, and
//! only if it is scalar: its node has a name and a parent. Two scalar types meet if one is an ancestor of the other.

use crate::module::Module;
use crate::value::Value;
use rsan_ir::module as ir;
use std::collections::HashMap;

/// No real chain is longer; metadata can have cycles.
const LONGEST: u32 = 64;

pub(super) struct Types<'m> {
    /// LLVM's number for `tbaa`.
    kind: u32,
    types: Vec<ir::AccessType>,
    by_node: HashMap<Value<'m>, Option<u32>>,
}

impl<'m> Types<'m> {
    pub(super) fn new(llvm: &Module<'_>) -> Self {
        Self {
            kind: llvm.metadata_kind("tbaa"),
            types: Vec::new(),
            by_node: HashMap::new(),
        }
    }

    pub(super) fn into_types(self) -> Vec<ir::AccessType> {
        self.types
    }

    /// The type that an access has.
    pub(super) fn of(&mut self, access: Value<'m>) -> Option<u32> {
        let tag = access.metadata(self.kind)?;
        if let Some(known) = self.by_node.get(&tag) {
            return *known;
        }
        let operands = tag.node()?;
        let first = (*operands.first()?)?;
        // A tag begins with a type; very old files have the type itself.
        let accessed = match first.string() {
            Some(_) => tag,
            None => (*operands.get(1)?)?,
        };
        let found = self.scalar(accessed, 0);
        self.by_node.insert(tag, found);
        found
    }

    fn scalar(&mut self, node: Value<'m>, depth: u32) -> Option<u32> {
        if let Some(known) = self.by_node.get(&node) {
            return *known;
        }
        let found = self.define(node, depth);
        self.by_node.insert(node, found);
        found
    }

    fn define(&mut self, node: Value<'m>, depth: u32) -> Option<u32> {
        let operands = node.node()?;
        let name = (*operands.first()?)?.string()?;
        let parent = match &operands[..] {
            [_] => None,
            // More operands are fields of a struct.
            [_, parent] | [_, parent, _] if depth < LONGEST => {
                Some(self.scalar((*parent)?, depth + 1)?)
            }
            _ => return None,
        };
        let id = u32::try_from(self.types.len()).ok()?;
        self.types.push(ir::AccessType { name, parent });
        Some(id)
    }
}

/// Types of different roots (of two languages) say nothing about each other: then none is kept.
pub(crate) fn drop_if_ambiguous(module: &mut ir::Module) {
    let roots = module.types.iter().filter(|ty| ty.parent.is_none());
    if roots.count() < 2 {
        return;
    }
    module.types.clear();
    let blocks = module.functions.iter_mut().flat_map(|f| &mut f.blocks);
    for instr in blocks.flat_map(|block| &mut block.instrs) {
        match &mut instr.op {
            ir::Op::Load(access) | ir::Op::Store { access, .. } | ir::Op::Update { access, .. } => {
                access.kind = None
            }
            _ => {}
        }
    }
}
