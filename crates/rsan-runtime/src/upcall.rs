//! Calls from a lower layer to a higher one.
//!
//! The lower module declares the function it needs ([`upcalls`]); the higher one says which of its functions that is
//! ([`answers`]). The linker brings them together, as it does for the panic handler of `core`. So nothing has to be
//! set before the first call, which may come before any constructor of this library has run; and the cost is a jump.
//! The names are hidden: programs neither see nor replace them.

/// Declares functions that a higher layer has, with the names by which the linker finds them.
macro_rules! upcalls {
    ($($(#[$doc:meta])* $symbol:literal fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) $(-> $result)? {
            unsafe extern "Rust" {
                #[link_name = $symbol]
                fn answer($($argument: $type),*) $(-> $result)?;
            }
            // SAFETY: there is one function of this name, and `answers!` has compared its type.
            unsafe { answer($($argument),*) }
        }
    )+};
}

/// Says which function a declared one is: `"name" path::to::the::declared => this one;`.
macro_rules! answers {
    ($($symbol:literal $declared:path => $target:path;)+) => {$(
        // Two functions are of one type in a list only if their signatures are the same.
        const _: () = {
            let _ = [$declared, $target];
        };
        std::arch::global_asm!(
            ".pushsection .text",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @function"),
            concat!($symbol, ":"),
            "jmp {target}",
            concat!(".size ", $symbol, ", . - ", $symbol),
            ".popsection",
            target = sym $target,
        );
    )+};
}

pub(crate) use {answers, upcalls};
