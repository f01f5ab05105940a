//! What an address of data is: a variable, a block of the allocator, the stack of a thread; or a descriptor.

use super::convert::Resolver;
use super::scratch;
use rsan_log::Address;
use rsan_report::document::{Context, Memory, Thread};

fn context(logged: Option<&rsan_log::Context<'_>>, resolver: &mut Resolver) -> Option<Context> {
    logged.map(|logged| Context {
        thread: Thread::of_run(logged.thread),
        stack: resolver.symbols.stack(&logged.stack),
    })
}

/// What is there, and whether its values are numbers with a sign.
pub(super) fn described(
    logged: &rsan_log::Memory<'_>,
    address: Option<Address>,
    resolver: &mut Resolver,
) -> (Memory, bool) {
    let memory = match logged {
        rsan_log::Memory::Descriptor { number, created } => Memory::Descriptor {
            number: *number,
            created: context(created.as_ref(), resolver),
        },
        rsan_log::Memory::Global { module, offset } => {
            let known = resolver.names.variable(module, offset.0);
            let signed = known.as_ref().is_some_and(|(_, signed)| *signed);
            let variable = Memory::Variable {
                name: known.map(|(name, _)| name),
                module: scratch::shown(module).to_owned(),
                offset: offset.to_string(),
            };
            return (variable, signed);
        }
        rsan_log::Memory::Heap {
            start,
            size,
            allocated,
            freed,
        } => Memory::Heap {
            start: start.to_string(),
            size: *size,
            offset: address.map_or(0, |address| address.0.saturating_sub(start.0)),
            allocated: context(allocated.as_ref(), resolver),
            freed: context(freed.as_ref(), resolver),
        },
        rsan_log::Memory::Stack { thread } => Memory::Stack {
            thread: Thread::of_run(*thread),
        },
        rsan_log::Memory::Tls { thread } => Memory::ThreadLocal {
            thread: Thread::of_run(*thread),
        },
    };
    (memory, false)
}

/// Numbers above are most likely pointers.
const POINTERS: u128 = 1 << 40;

/// A value of so many bytes as its type has it.
pub(super) fn value(number: u128, bytes: u64, signed: bool) -> String {
    if signed && (1..=8).contains(&bytes) {
        let unused = 128 - 8 * bytes as u32;
        return ((number << unused) as i128 >> unused).to_string();
    }
    match bytes {
        8 if number > POINTERS => format!("{number:#x}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn values_have_the_sign_of_their_type() {
        assert_eq!(value(4294967295, 4, true), "-1");
        assert_eq!(value(2147483647, 4, true), "2147483647");
        assert_eq!(value(128, 1, true), "-128");
        assert_eq!(value(18446744073709551614, 8, true), "-2");
        assert_eq!(value(4294967295, 4, false), "4294967295");
        assert_eq!(value(4294967295, 0, true), "4294967295");
        assert_eq!(value(0x7f00_0000_0010, 8, false), "0x7f0000000010");
    }
}
