//! What an address of data is: a variable, a block of the allocator, the stack of a thread; or a descriptor.

use super::convert::Resolver;
use super::log;
use super::scratch;
use super::symbols::number;
use rsan_report::document::{Context, Memory, Thread};

fn context(logged: Option<&log::Context>, resolver: &mut Resolver) -> Option<Context> {
    logged.map(|logged| Context {
        thread: Thread::of_run(logged.thread),
        stack: resolver.symbols.stack(&logged.stack),
    })
}

/// What is there, and whether its values are numbers with a sign.
pub(super) fn described(
    logged: &log::Memory,
    address: &str,
    resolver: &mut Resolver,
) -> (Memory, bool) {
    let memory = match logged {
        log::Memory::Descriptor { number, created } => Memory::Descriptor {
            number: *number,
            created: context(created.as_ref(), resolver),
        },
        log::Memory::Global { module, offset } => {
            let known = number(offset).and_then(|at| resolver.names.variable(module, at));
            let signed = known.as_ref().is_some_and(|(_, signed)| *signed);
            let variable = Memory::Variable {
                name: known.map(|(name, _)| name),
                module: scratch::shown(module).to_owned(),
                offset: offset.clone(),
            };
            return (variable, signed);
        }
        log::Memory::Heap {
            start,
            size,
            allocated,
            freed,
        } => {
            let offset = number(address).zip(number(start));
            Memory::Heap {
                start: start.clone(),
                size: *size,
                offset: offset.map_or(0, |(at, start)| at.saturating_sub(start)),
                allocated: context(allocated.as_ref(), resolver),
                freed: context(freed.as_ref(), resolver),
            }
        }
        log::Memory::Stack { thread } => Memory::Stack {
            thread: Thread::of_run(*thread),
        },
        log::Memory::Tls { thread } => Memory::ThreadLocal {
            thread: Thread::of_run(*thread),
        },
    };
    (memory, false)
}

/// A value of so many bytes as its type has it.
pub(super) fn value(value: &str, bytes: u64, signed: bool) -> String {
    match value.parse::<u128>() {
        Ok(number) if signed && (1..=8).contains(&bytes) => {
            let unused = 128 - 8 * bytes as u32;
            ((number << unused) as i128 >> unused).to_string()
        }
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn values_have_the_sign_of_their_type() {
        assert_eq!(value("4294967295", 4, true), "-1");
        assert_eq!(value("2147483647", 4, true), "2147483647");
        assert_eq!(value("128", 1, true), "-128");
        assert_eq!(value("18446744073709551614", 8, true), "-2");
        assert_eq!(value("4294967295", 4, false), "4294967295");
        assert_eq!(value("4294967295", 0, true), "4294967295");
    }
}
