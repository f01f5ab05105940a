//! Where a thread is: a stack of call sites, and a number for each distinct stack.
//!
//! The compiler announces every function's entry (with the address it returns to) and exit. A stack is numbered
//! lazily, when an access in it is recorded: the number is a node of a tree of calling contexts that all threads
//! share, and is kept in the frame and in a small cache of the thread.
//!
//! **Deviations**: frames beyond [`DEPTH`] are counted, not shown, and recursion is folded (`contexts.rs`). A thread that
//! switches stacks by itself (`swapcontext` without announcing fibers) has one stack of calls; callers in it may be those of
//! another.

mod contexts;

pub use contexts::Callee;
pub(crate) use contexts::lock as contexts_lock;

use crate::shadow::map_zeroed;
use contexts::{Call, child};

/// Frames that are kept per thread.
pub const DEPTH: usize = 1 << 16;
/// Stacks that a thread finds without a lock; a power of two.
const CACHE: usize = 1 << 13;
/// Frames that a report shows.
const SHOWN: usize = 64;

/// A distinct stack of call sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Node(pub u32);

impl Node {
    /// Not known.
    pub const UNKNOWN: Self = Self(0);
    /// The empty stack.
    const ROOT: Self = Self(1);
}

/// Where an access was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Site {
    /// The stack of its function.
    pub node: Node,
    /// The return address of the call into the runtime.
    pub pc: usize,
}

impl Node {
    /// The stack with these return addresses, innermost first.
    pub fn of(stack: &[usize]) -> Self {
        let outermost = stack.iter().rev();
        outermost.fold(Self::ROOT, |parent, pc| child(parent, Call::access(*pc)))
    }

    /// Return addresses, innermost first.
    pub fn stack(self) -> Vec<usize> {
        let mut stack = Vec::new();
        self.append_to(&mut stack);
        stack
    }

    /// The innermost return address apart from the others, if it is a site as one number.
    pub fn as_site(self) -> Site {
        let mut last = contexts::outward(self, 1);
        last.pop().unwrap_or_default()
    }

    fn append_to(self, stack: &mut Vec<usize>) {
        let sites = contexts::outward(self, SHOWN - stack.len());
        stack.extend(sites.iter().map(|site| site.pc));
    }
}

impl Site {
    /// Return addresses, innermost first.
    pub fn stack(self) -> Vec<usize> {
        let mut stack = vec![self.pc];
        self.node.append_to(&mut stack);
        stack
    }
}

/// A stack that was looked up. Valid when all bytes are zero: then it is none.
#[derive(Clone, Copy, Debug)]
struct Cached {
    pc: usize,
    parent: Node,
    node: Node,
}

#[inline(always)]
fn cached_child(cache: &mut [Cached; CACHE], parent: Node, call: Call) -> Node {
    let pc = call.pc;
    let cached = &mut cache[(pc ^ (parent.0 as usize).wrapping_mul(0x9e37_79b9)) % CACHE];
    if cached.parent != parent || cached.pc != pc {
        look_up(cached, parent, call);
    }
    cached.node
}

#[cold]
fn look_up(cached: &mut Cached, parent: Node, call: Call) {
    let node = child(parent, call);
    let pc = call.pc;
    *cached = Cached { pc, parent, node };
}

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    pc: usize,
    callee: Callee,
    node: Node,
}

/// A stack to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    depth: usize,
    node: Node,
}

/// The stack of one thread. Used by that thread only.
#[derive(Debug)]
pub struct Stack {
    /// [`DEPTH`] frames in zeroed memory.
    frames: *mut Frame,
    depth: usize,
    /// Where `setjmp` was called: the stack pointer then, and the depth.
    jumps: Vec<(usize, usize)>,
    /// In zeroed memory.
    cache: &'static mut [Cached; CACHE],
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            frames: map_zeroed(DEPTH),
            depth: 0,
            jumps: Vec::new(),
            // SAFETY: fresh zeroed memory, of which nobody else knows.
            cache: unsafe { &mut *map_zeroed::<[Cached; CACHE]>(1) },
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: made by `map_zeroed` with these sizes, and owned.
        unsafe {
            libc::syscall(libc::SYS_munmap, self.frames, DEPTH * size_of::<Frame>());
            let cache = std::ptr::from_mut(self.cache);
            libc::syscall(libc::SYS_munmap, cache, size_of::<[Cached; CACHE]>());
        }
    }
}

impl Stack {
    /// A function was entered that returns to `pc`.
    #[inline]
    pub fn push(&mut self, pc: usize, callee: Callee) {
        if self.depth < DEPTH {
            let node = Node::UNKNOWN;
            // SAFETY: within the mapping.
            unsafe {
                self.frames
                    .add(self.depth)
                    .write(Frame { pc, callee, node })
            };
        }
        self.depth += 1;
    }

    /// A function was left.
    #[inline]
    pub fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// `setjmp` is called with this stack pointer.
    pub fn remember_jump(&mut self, pointer: usize) {
        // Functions that have returned can't be jumped to.
        let (depth, inner) = (self.depth, |at: usize| at <= pointer);
        self.jumps.retain(|jump| jump.1 <= depth && !inner(jump.0));
        self.jumps.push((pointer, depth));
    }

    /// `longjmp` goes to where the stack pointer was this: the functions called since are left.
    pub fn jump(&mut self, pointer: usize) {
        if let Some(jump) = self.jumps.iter().rev().find(|jump| jump.0 == pointer) {
            self.depth = self.depth.min(jump.1);
        }
    }

    /// The present stack, to come back to.
    pub fn mark(&mut self) -> Mark {
        Mark {
            depth: self.depth,
            node: self.node(),
        }
    }

    /// Comes back to a stack after others were used in between.
    pub fn restore(&mut self, mark: Mark) {
        self.depth = mark.depth;
        if (1..=DEPTH).contains(&mark.depth) {
            // SAFETY: within the mapping; this thread's own.
            unsafe { (*self.frames.add(mark.depth - 1)).node = mark.node };
        }
    }

    /// The present stack, with the place of an access in the innermost function.
    #[inline(always)]
    pub fn site(&mut self, pc: usize) -> Site {
        let top = self.depth.wrapping_sub(1);
        if top < DEPTH {
            // SAFETY: within the mapping; this thread's own.
            let node = unsafe { (*self.frames.add(top)).node };
            if node != Node::UNKNOWN {
                return Site { node, pc };
            }
        }
        Site {
            node: self.node(),
            pc,
        }
    }

    #[inline(never)]
    fn node(&mut self) -> Node {
        let depth = self.depth.min(DEPTH);
        // SAFETY: within the mapping, which is zeroed; this thread's own.
        let frames = unsafe { std::slice::from_raw_parts_mut(self.frames, depth) };
        let known = frames.iter().rposition(|f| f.node != Node::UNKNOWN);
        let mut node = known.map_or(Node::ROOT, |i| frames[i].node);
        for frame in &mut frames[known.map_or(0, |i| i + 1)..] {
            let (pc, callee) = (frame.pc, frame.callee);
            node = cached_child(self.cache, node, Call { pc, callee });
            frame.node = node;
        }
        node
    }

    /// The present stack with the place of a call in the innermost function, as one number.
    #[inline(always)]
    pub fn leaf(&mut self, pc: usize) -> Node {
        let site = self.site(pc);
        self.leaf_of(site)
    }

    /// A site as one number.
    #[inline(always)]
    pub fn leaf_of(&mut self, site: Site) -> Node {
        cached_child(self.cache, site.node, Call::access(site.pc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_equal_nodes() {
        let (mut one, mut two) = (Stack::default(), Stack::default());
        one.push(10, Callee::UNKNOWN);
        one.push(20, Callee::UNKNOWN);
        two.push(10, Callee::UNKNOWN);
        two.push(30, Callee::UNKNOWN);
        two.pop();
        two.push(20, Callee::UNKNOWN);
        assert_eq!(one.site(5), two.site(5));
        assert_eq!(one.site(5).stack(), [5, 20, 10]);
        two.pop();
        assert_eq!(two.site(6).stack(), [6, 10]);
        two.pop();
        two.pop();
        assert_eq!(two.site(6).stack(), [6]);
    }

    #[test]
    fn too_deep_a_stack_is_cut() {
        let mut stack = Stack::default();
        (0..DEPTH + 10).for_each(|pc| stack.push(pc, Callee::UNKNOWN));
        assert_eq!(stack.site(1).stack().len(), SHOWN);
        (0..DEPTH + 10).for_each(|_| stack.pop());
        assert_eq!(stack.site(1).stack(), [1]);
    }
}
