//! The tree of calling contexts: a number for each distinct stack.
//!
//! Recursion is folded: of a function that is on the stack more than [`TURNS`] times, the outermost call and the innermost
//! one are kept; and when there are more than [`FEW`] stacks, new ones have the outermost only. So a program that recurses
//! has few distinct stacks, whatever way it takes through a tree. A function is known by the address from which it
//! announces its entry.

use super::learnt;
use super::{Node, SHOWN, Site};
use crate::lock::Lock;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How often a function can be on a numbered stack.
const TURNS: usize = 2;
/// Distinct stacks from which on there is no recursion in new ones.
const FEW: usize = 1 << 14;
/// Distinct stacks that are told apart, so that a program that recurses in many ways does not fill the memory with them.
const MANY: usize = 1 << 18;
/// Numbers of stacks: they have to fit in 24 bits, see [`crate::race`].
const MOST: usize = 1 << 24;

/// A function, by an address in it; what two functions have in common here only makes them fold as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Callee(pub(super) u32);

impl Callee {
    /// Not known, or no function.
    pub const UNKNOWN: Self = Self(0);

    /// The function in which this address is; always the same address of it.
    #[inline]
    pub fn at(pc: usize) -> Self {
        Self(pc as u32)
    }
}

/// Where something was called, or accessed, and what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) pc: usize,
    pub(super) callee: Callee,
}

impl Call {
    /// An access, or a call of something that is not known.
    pub(super) fn access(pc: usize) -> Self {
        let callee = Callee::UNKNOWN;
        Self { pc, callee }
    }
}

#[derive(Debug)]
struct Contexts {
    /// Node 2 and following: the stack of the caller, what was called, and where.
    nodes: Vec<(Node, Callee, usize)>,
    index: Option<HashMap<(Node, usize), Node, BuildHasherDefault<Mixer>>>,
}

/// A quick hash for keys that nobody chooses to collide.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

static CONTEXTS: Lock<Contexts> = Lock::new(Contexts {
    nodes: Vec::new(),
    index: None,
});

/// The lock of the tree, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    CONTEXTS.raw()
}

impl Contexts {
    fn get(&self, node: Node) -> Option<(Node, Call)> {
        let known = self.nodes.get((node.0 as usize).wrapping_sub(2));
        known.map(|&(parent, callee, pc)| (parent, Call { pc, callee }))
    }

    /// The stacks from this one on outwards that end in the function, with what comes before it. Frames far out are not
    /// looked at.
    fn calls_of(&self, callee: Callee, from: Node) -> impl Iterator<Item = (Node, Node)> {
        let outward =
            std::iter::successors(Some(from), |node| self.get(*node).map(|known| known.0));
        let known = outward
            .take(SHOWN)
            .filter_map(|node| Some((node, self.get(node)?)));
        known.filter_map(move |(node, (before, call))| {
            let same = call.callee == callee && callee != Callee::UNKNOWN;
            same.then_some((node, before))
        })
    }

    /// The stack that makes the call instead, if the function is on the stack too often already.
    fn folded(&self, parent: Node, callee: Callee) -> Option<Node> {
        let mut calls = self.calls_of(callee, parent);
        let last = calls.next()?;
        calls.nth(TURNS - 2).map(|_| last.1)
    }

    /// The stack without recursion, if there is some in it.
    fn flat(&self, node: Node) -> Option<Node> {
        let callee = self.get(node)?.1.callee;
        self.calls_of(callee, node)
            .skip(1)
            .last()
            .map(|call| call.0)
    }

    /// A stack that makes a call. When there are [`MANY`], new ones are without their callers.
    fn child(&mut self, parent: Node, call: Call) -> Node {
        let index = self.index.get_or_insert_default();
        if let Some(node) = index.get(&(parent, call.pc)) {
            return *node;
        }
        let count = index.len();
        if count >= MANY && parent != Node::ROOT {
            return self.child(Node::ROOT, call);
        }
        if count >= FEW {
            if let Some((known, _)) = self.calls_of(call.callee, parent).last() {
                return known;
            }
            if let Some(flat) = self.flat(parent) {
                return self.child(flat, call);
            }
        }
        let node = match self.folded(parent, call.callee) {
            Some(instead) => self.child(instead, call),
            None if self.nodes.len() + 2 >= MOST => return Node::ROOT,
            None => {
                self.nodes.push((parent, call.callee, call.pc));
                let node = Node(self.nodes.len() as u32 + 1);
                learnt::note(parent, call, node);
                node
            }
        };
        let index = self.index.get_or_insert_default();
        index.insert((parent, call.pc), node);
        node
    }
}

/// The number that the next stack gets.
pub(super) fn next() -> Node {
    Node(CONTEXTS.lock().nodes.len() as u32 + 2)
}

/// The stack of a call in another stack.
pub(super) fn child(parent: Node, call: Call) -> Node {
    CONTEXTS.lock().child(parent, call)
}

/// A stack and those of its callers, innermost first, each as the place of a call in another one.
pub(super) fn outward(from: Node, count: usize) -> Vec<Site> {
    let contexts = CONTEXTS.lock();
    let calls = std::iter::successors(contexts.get(from), |call| contexts.get(call.0));
    let site = |(node, call): (Node, Call)| Site { node, pc: call.pc };
    calls.take(count).map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Stack;
    use super::*;

    #[test]
    fn recursion_has_few_stacks() {
        let mut stack = Stack::default();
        stack.push(1, Callee(1));
        let mut nodes = std::collections::HashSet::new();
        // All ways through a tree, by a function that calls itself at four places.
        for way in 0..1 << 12 {
            let turns = (0..6).map(|level| 100 + (way >> (2 * level) & 3));
            turns.clone().for_each(|pc| stack.push(pc, Callee(2)));
            nodes.insert(stack.site(5).node);
            turns.for_each(|_| stack.pop());
        }
        assert_eq!(nodes.len(), 4 * 4);
        // Two functions that call each other, and something else beyond.
        for turn in 0..10 {
            stack.push(200 + turn, Callee(3));
            stack.push(300 + turn, Callee(4));
        }
        assert_eq!(stack.site(5).stack(), [5, 309, 209, 300, 200, 1]);
        stack.push(400, Callee(5));
        assert_eq!(stack.site(5).stack(), [5, 400, 309, 209, 300, 200, 1]);
    }
}
