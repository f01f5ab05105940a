//! What can go wrong, as data: it travels from the child to the parent.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Error {
    /// There is no LLVM that can be loaded.
    Missing {
        /// Where one was looked for, and why what was found there does not do.
        looked: Vec<String>,
    },
    /// A file cannot be read or written.
    File {
        /// Which.
        file: String,
        /// The system's message.
        message: String,
    },
    /// LLVM does not accept a file.
    Corrupt {
        /// Which.
        file: String,
        /// What LLVM says; of text it begins with line and column.
        message: String,
    },
    /// A file is of a newer LLVM than the one that was loaded.
    TooNew {
        /// Which.
        file: String,
        /// What LLVM says.
        message: String,
        /// The version that was loaded.
        version: String,
    },
    /// A file has no IR in it.
    Empty {
        /// Which.
        file: String,
        /// What it has instead.
        message: String,
    },
    /// An edit cannot be made.
    Edit {
        /// Where.
        place: Place,
        /// Why not.
        message: String,
    },
    /// The limit of time is reached.
    Time,
    /// The limit of memory is reached.
    Memory,
    /// The caller did not want to go on.
    Interrupted,
    /// The child process cannot be started, or does not talk as it should.
    Child {
        /// What happened.
        message: String,
    },
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Its function.
    pub function: String,
    /// Its number there.
    pub number: u32,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { looked } => {
                write!(
                    f,
                    "no LLVM was found: install the Rust toolchain (rustup), or LLVM's library (`apt install libllvm19`, `dnf install llvm-libs`, \
                     `brew install llvm`), or name it with RSAN_LLVM=/path/to/libLLVM.so"
                )?;
                looked
                    .iter()
                    .try_for_each(|place| write!(f, "\n  looked for {place}"))
            }
            Self::File { file, message } => write!(f, "{file}: {message}"),
            // LLVM's words on text begin with line and column.
            Self::Corrupt { file, message }
                if message.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                write!(f, "{file}:{message}")
            }
            Self::Corrupt { file, message } => {
                write!(f, "{file}: LLVM does not accept this file: {message}")
            }
            Self::TooNew {
                file,
                message,
                version,
            } => write!(
                f,
                "{file}: written by a newer LLVM than {version}, the newest one here: {message}; RSAN_LLVM=/path/to/libLLVM.so names another one"
            ),
            Self::Empty { file, message } => write!(
                f,
                "{file}: no LLVM IR in it: {message}; `clang -c -emit-llvm` and `rustc --emit=llvm-bc` write it"
            ),
            Self::Edit { place, message } => write!(
                f,
                "instruction {} of `{}`: {message}",
                place.number, place.function
            ),
            Self::Time => f.write_str("LLVM needs more time than the limit allows"),
            Self::Memory => f.write_str("LLVM needs more memory than the limit allows"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Child { message } => write!(f, "the process that runs LLVM failed: {message}"),
        }
    }
}

impl std::error::Error for Error {}
