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
mod frames;
pub(crate) mod learnt;

pub(crate) use frames::{call_sites, frames};

pub use contexts::Callee;
pub(crate) use contexts::lock as contexts_lock;

use crate::lock::Lock;
use crate::mapping::{self, map_zeroed};
use contexts::{Call, child};
use std::ffi::{CStr, c_char};

/// Frames that are kept per thread.
pub const DEPTH: usize = 1 << 16;
/// Stacks that a thread finds without a lock; a power of two.
const CACHE: usize = 1 << 13;
/// Calls of functions of libc that a thread finds without a look-up; a power of two.
const CALLS: usize = 1 << 7;
/// Stacks, where a process lives for a few steps only and pays for each page; see `Stack::economise`.
const SMALL_CACHE: usize = 1 << 7;
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

/// A function of libc that accesses memory for its caller: the innermost frame of such an access, by its name. Of no bytes if there
/// is none.
///
/// On a numbered stack it is a call at an address that no code has: that of the name, with the highest bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function(&'static CStr);

const IS_FUNCTION: usize = 1 << 63;

impl Function {
    /// The program itself makes the access.
    pub const NONE: Self = Self(c"");

    /// The function of this name.
    pub const fn named(name: &'static CStr) -> Self {
        Self(name)
    }

    /// Its name, if there is one.
    pub fn name(self) -> Option<&'static str> {
        let name = self.0.to_str().unwrap_or_default();
        (!name.is_empty()).then_some(name)
    }

    fn is_some(self) -> bool {
        !self.0.is_empty()
    }

    fn pc(self) -> usize {
        self.0.as_ptr() as usize | IS_FUNCTION
    }

    fn of_pc(pc: usize) -> Option<Self> {
        // SAFETY: only `pc` makes such numbers, of names that live as long as the process.
        let name = || unsafe { CStr::from_ptr((pc & !IS_FUNCTION) as *const c_char) };
        (pc & IS_FUNCTION != 0).then(|| Self(name()))
    }
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
        self.as_call().0
    }

    /// The same, and the function of libc that makes the access there.
    pub fn as_call(self) -> (Site, Function) {
        let innermost = contexts::outward(self, 2);
        let site = |index: usize| innermost.get(index).copied().unwrap_or_default();
        match Function::of_pc(site(0).pc) {
            Some(function) => (site(1), function),
            None => (site(0), Function::NONE),
        }
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

/// A call of a function of libc that was looked up. Valid when all bytes are zero: then it is none.
#[derive(Clone, Copy, Debug)]
struct Called {
    at: Site,
    by: usize,
    node: Node,
}

/// Stacks that a thread has looked up.
#[derive(Debug)]
struct Cache {
    entries: *mut Cached,
    /// Their number, a power of two, less 1.
    mask: usize,
}

impl Cache {
    /// The one that uses few pages of a thread's memory.
    fn small(memory: *mut Memory) -> Self {
        // SAFETY: within the memory of the stack.
        let entries = unsafe {
            let entries = (&raw mut (*memory).cache).cast::<Cached>();
            entries.add(CACHE - SMALL_CACHE)
        };
        let mask = SMALL_CACHE - 1;
        Self { entries, mask }
    }

    /// Where a call in a stack is kept, if it is.
    #[inline(always)]
    fn entry(&mut self, parent: Node, pc: usize) -> &mut Cached {
        let index = (pc ^ (parent.0 as usize).wrapping_mul(0x9e37_79b9)) & self.mask;
        // SAFETY: there are so many entries, which only this thread uses.
        unsafe { &mut *self.entries.add(index) }
    }

    #[inline(always)]
    fn child(&mut self, parent: Node, call: Call) -> Node {
        let cached = self.entry(parent, call.pc);
        if !cached.is(parent, call.pc) {
            look_up(cached, parent, call);
        }
        cached.node
    }
}

impl Cached {
    #[inline(always)]
    fn is(&self, parent: Node, pc: usize) -> bool {
        self.parent == parent && self.pc == pc
    }
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

/// Memory of one thread's stack. Valid when all bytes are zero, or when another thread has used it.
#[repr(C)]
struct Memory {
    /// So that the last entries of the cache and the first frames share a page.
    gap: [u8; SMALL_CACHE * size_of::<Cached>()],
    cache: [Cached; CACHE],
    frames: [Frame; DEPTH],
    calls: [Called; CALLS],
}

/// Memory that no thread has.
#[derive(Debug)]
struct Spare {
    memory: Vec<usize>,
    /// New threads have small caches.
    economise: bool,
}

static SPARE: Lock<Spare> = Lock::new(Spare {
    memory: Vec::new(),
    economise: false,
});

/// Memory of ended threads that is kept for new ones.
const SPARES: usize = 16;

/// The lock of the spare memory, for fork.
pub(crate) fn spare_lock() -> &'static crate::lock::RawLock {
    SPARE.raw()
}

/// Has memory for so many threads that come later.
pub(crate) fn prepare(threads: usize) {
    let memory = (0..threads).map(|_| map_zeroed::<Memory>(1) as usize);
    SPARE.lock().memory.extend(memory);
}

/// Threads that come later, and one that is there, find this stack without a look-up where they use few pages.
fn warm(own: Option<&Stack>, parent: Node, pc: usize, node: Node) {
    let own = own.map(|stack| stack.memory);
    let spare = SPARE.lock();
    let others = spare.memory.iter().map(|place| *place as *mut Memory);
    for memory in others.chain(own) {
        *Cache::small(memory).entry(parent, pc) = Cached { pc, parent, node };
    }
}

/// The stack of one thread. Used by that thread only.
#[derive(Debug)]
pub struct Stack {
    /// [`DEPTH`] frames.
    frames: *mut Frame,
    depth: usize,
    /// Where `setjmp` was called: the stack pointer then, and the depth.
    jumps: Vec<(usize, usize)>,
    cache: Cache,
    memory: *mut Memory,
}

impl Default for Stack {
    fn default() -> Self {
        let (memory, economise) = {
            let mut spare = SPARE.lock();
            (spare.memory.pop(), spare.economise)
        };
        let memory = memory.map_or_else(|| map_zeroed::<Memory>(1), |place| place as *mut Memory);
        // SAFETY: memory of which nobody else knows.
        let (frames, entries) = unsafe { (&raw mut (*memory).frames, &raw mut (*memory).cache) };
        let mut stack = Self {
            frames: frames.cast(),
            depth: 0,
            jumps: Vec::new(),
            cache: Cache {
                entries: entries.cast(),
                mask: CACHE - 1,
            },
            memory,
        };
        if economise {
            stack.use_small_cache();
        }
        stack
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut spare = SPARE.lock();
        if spare.memory.len() < SPARES {
            spare.memory.push(self.memory as usize);
            return;
        }
        mapping::forget(self.memory as usize);
        // SAFETY: made by `map_zeroed` with this size, and owned.
        unsafe { libc::syscall(libc::SYS_munmap, self.memory, size_of::<Memory>()) };
    }
}

impl Stack {
    /// From now on this stack and those of new threads use few pages.
    pub fn economise(&mut self) {
        SPARE.lock().economise = true;
        self.use_small_cache();
    }

    fn use_small_cache(&mut self) {
        self.cache = Cache::small(self.memory);
    }

    /// Functions that were entered and not left.
    pub fn depth(&self) -> usize {
        self.depth
    }

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
        let node = self.known_node().unwrap_or_else(|| self.node());
        Site { node, pc }
    }

    /// The number of the present stack, if it has one.
    #[inline(always)]
    fn known_node(&self) -> Option<Node> {
        let top = self.depth.wrapping_sub(1);
        // SAFETY: within the mapping; this thread's own.
        let node = (top < DEPTH).then(|| unsafe { (*self.frames.add(top)).node })?;
        (node != Node::UNKNOWN).then_some(node)
    }

    /// The present stack with the place of a call in the innermost function, as one number, if that was asked for lately.
    #[inline(always)]
    pub fn known_leaf(&mut self, pc: usize) -> Option<Node> {
        let node = self.known_node()?;
        let cached = self.cache.entry(node, pc);
        cached.is(node, pc).then_some(cached.node)
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
            node = self.cache.child(node, Call { pc, callee });
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
        self.cache.child(site.node, Call::access(site.pc))
    }

    /// The same as [`Self::leaf`] for an access that a function of libc makes there.
    #[inline(always)]
    pub fn call_leaf(&mut self, pc: usize, function: Function) -> Node {
        if !function.is_some() {
            return self.leaf(pc);
        }
        let (site, function) = (self.site(pc), function.pc());
        let index = (pc ^ function) % CALLS;
        // SAFETY: within the memory of the stack, which only this thread uses.
        let known = unsafe { &raw mut (*self.memory).calls[index] };
        // SAFETY: as above.
        let Called { at, by, node } = unsafe { known.read() };
        if at == site && by == function {
            return node;
        }
        let leaf = self.leaf_of(site);
        let node = self.cache.child(leaf, Call::access(function));
        let by = function;
        // SAFETY: as above.
        unsafe { known.write(Called { at: site, by, node }) };
        node
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
    fn a_function_of_libc_is_apart_from_where_it_is_called() {
        let mut stack = Stack::default();
        stack.push(10, Callee::UNKNOWN);
        let leaf = stack.call_leaf(5, Function::named(c"memcpy"));
        assert_eq!(leaf.as_site().stack(), [5, 10]);
        assert_eq!(leaf.as_call().1.name(), Some("memcpy"));
        let plain = stack.call_leaf(5, Function::NONE);
        assert_eq!(
            (plain.as_site(), plain.as_call().1.name()),
            (leaf.as_site(), None)
        );
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
