//! Plain accesses and ends of functions in a child, in exact mode: points at which the state of the program can be compared, and
//! writes to memory.

use super::answer::Answer;
use super::child;
use super::exact::Trial;
use super::weak::{Deed, Inside};
use crate::entry::REGISTERS;
use crate::shadow::Kind;
use crate::tls;
use crate::upcall::upcalls;
use std::arch::naked_asm;

/// Notes the registers that calls preserve, and the stack pointer, and goes on in a function of the same arguments. What calls it has
/// hardly anything on the stack.
macro_rules! with_registers {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),+) => $target:path) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) extern "C" fn $name($($argument: $type),+) {
            naked_asm!(
                crate::entry::note_registers!(),
                "jmp {target}",
                registers = sym REGISTERS,
                target = sym $target,
            )
        }
    };
}

upcalls! {
    /// A plain access of any size.
    "rsan_up_plain_access" fn plain_access(address: usize, bytes: usize, kind: Kind);
}

with_registers! {
    /// A plain access of a thread without a context, about to be made at `pc`.
    plain_entry(address: usize, bytes: usize, pc: usize, writes: bool) => plain
}

with_registers! {
    /// The end of a function in a thread without a context.
    exit(pc: usize) => exits
}

extern "C" fn plain(address: usize, bytes: usize, pc: usize, writes: bool) {
    let Some(inside) = Inside::enter() else {
        tls::set_caller(pc);
        let kind = if writes { Kind::WRITE } else { Kind::READ };
        return plain_access(address, bytes, kind);
    };
    let trial = &mut *inside.0;
    let operands = [address as u64, bytes as u64, u64::from(writes)];
    if !trial.is_on_stack(address, bytes) {
        trial.arrive((Deed::Plain, operands), pc);
        trial.writes(address, bytes, writes);
    }
}

/// A plain access of any size. Whether this is a trial.
pub(super) fn range(address: usize, bytes: usize, writes: bool) -> bool {
    let Some(inside) = Inside::enter() else {
        return false;
    };
    if !inside.0.is_on_stack(address, bytes) {
        inside.0.writes(address, bytes, writes);
    }
    true
}

impl Trial {
    fn is_on_stack(&self, address: usize, bytes: usize) -> bool {
        self.stack_start <= address && address + bytes <= self.stack_end
    }

    /// A plain access is about to be made; only a write is noted.
    fn writes(&mut self, address: usize, bytes: usize, writes: bool) {
        // SAFETY: the program is about to write there.
        if writes && unsafe { self.writes.note(address, bytes) }.is_none() {
            child::conclude(Answer::KeepsIterating);
        }
    }
}

extern "C" fn exits(pc: usize) {
    match Inside::enter() {
        Some(inside) => inside.0.arrive((Deed::Exit, [0; 3]), pc),
        None if child::is_probing() => child::leave(),
        None => {}
    }
}
