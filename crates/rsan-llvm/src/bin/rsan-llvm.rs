//! The child process by itself: for tests of this crate. `rsan` has the same in it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next().is_some_and(|word| word == rsan_llvm::NAME) {
        true => ExitCode::from(rsan_llvm::serve(&words.collect::<Vec<_>>())),
        false => ExitCode::from(2),
    }
}
