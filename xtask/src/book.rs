//! `cargo xtask book`: the documentation as HTML, by mdBook.

use crate::steps::root;
use std::io::ErrorKind;
use std::process::{Command, ExitCode};

/// Where docs/book.toml has it built.
const INDEX: &str = "target/book/index.html";

/// Builds the book.
pub(crate) fn run() -> ExitCode {
    let status = Command::new("mdbook")
        .args(["build", "docs"])
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => {
            eprintln!("xtask: the book is {}", root().join(INDEX).display());
            ExitCode::SUCCESS
        }
        Ok(_) => ExitCode::FAILURE,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("xtask: mdbook is not installed; to have it: cargo install mdbook");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("xtask: cannot run mdbook: {error}");
            ExitCode::FAILURE
        }
    }
}
