//! What an address of data is, for reports: a variable, a block of the allocator, or the stack of a thread.

use crate::descriptor::{self, Descriptor};
use crate::heap::{self, HeapBlock};
use crate::modules::{self, Module};
use crate::thread::{self, StackPart};
use rsan_model::ThreadId;

/// The memory of an access.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// A global or static variable: its module, and the address in the module's file.
    Global {
        /// The module's file.
        module: &'a str,
        /// The address in it.
        offset: usize,
    },
    /// A block of the allocator, perhaps freed.
    Heap(HeapBlock),
    /// No memory, but a file descriptor.
    Descriptor(Descriptor),
    /// The stack of a thread.
    Stack(ThreadId),
    /// Thread-local storage of a thread.
    ThreadLocal(ThreadId),
    /// Not known.
    Unknown,
}

impl<'a> Memory<'a> {
    /// What is at an address.
    pub fn at(address: usize, modules: &'a [Module]) -> Self {
        if let Some(descriptor) = descriptor::at(address) {
            return Self::Descriptor(descriptor);
        }
        if let Some((module, offset)) = modules::find_data(modules, address) {
            let module = module.path.as_str();
            return Self::Global { module, offset };
        }
        if let Some(block) = heap::find(address) {
            return Self::Heap(block);
        }
        match thread::stack_at(address) {
            Some((thread, StackPart::Frames)) => Self::Stack(thread),
            Some((thread, StackPart::ThreadLocal)) => Self::ThreadLocal(thread),
            None if is_main_thread_local(address, modules) => Self::ThreadLocal(ThreadId(0)),
            None if is_main_stack(address) => Self::Stack(ThreadId(0)),
            None => Self::Unknown,
        }
    }
}

/// Whether an address lies where the loader puts the main thread's variables: below the word that the thread's register
/// points to.
fn is_main_thread_local(address: usize, modules: &[Module]) -> bool {
    let bytes = modules.iter().map(|module| module.thread_local).sum();
    let end = thread::main_pointer();
    address < end && end - address <= bytes
}

/// Whether an address lies in what the system calls the stack.
fn is_main_stack(address: usize) -> bool {
    mapping(address).is_some_and(|line| line.ends_with("[stack]"))
}

/// Whether an address lies in memory that is of no file, as the allocator's is.
pub(crate) fn is_anonymous(address: usize) -> bool {
    // The range, what may be done, an offset, the device, and the number of the file.
    let file = |line: &String| line.split(' ').nth(4).map(str::to_owned);
    mapping(address).as_ref().and_then(file).as_deref() == Some("0")
}

/// What the system says about the memory at an address.
fn mapping(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let contains = |line: &&str| {
        let range = line.split(' ').next().and_then(|r| r.split_once('-'));
        let number = |text: &str| usize::from_str_radix(text, 16).unwrap_or(0);
        range.is_some_and(|(start, end)| (number(start)..number(end)).contains(&address))
    };
    maps.lines().find(contains).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    static VARIABLE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(7);

    #[test]
    fn variables_and_stacks_are_told_apart() {
        let modules = modules::modules();
        let address = VARIABLE.as_ptr() as usize;
        let Memory::Global { offset, .. } = Memory::at(address, &modules) else {
            panic!("a variable of this program");
        };
        assert_eq!(modules[0].bias + offset, address);
        let nothing = Memory::at(16, &modules);
        assert!(matches!(nothing, Memory::Unknown), "{nothing:?}");
    }
}
