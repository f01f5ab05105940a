//! Explicit-state verification of robustness under sequential consistency.

mod options;

pub use options::{Options, Property, Stats};

use rsan_model::{Model, Pc, Program, ThreadId, Verdict};
use std::fmt;

/// The answer, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What it took.
    pub stats: Stats,
}

/// Why a program cannot be verified at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The model gives seq_cst accesses no meaning.
    ScAccess {
        /// The model.
        model: Model,
        /// Who.
        thread: ThreadId,
        /// The access.
        pc: Pc,
    },
    /// This engine does not know the model.
    Model(Model),
    /// The program is larger than the engine can take.
    TooLarge(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ScAccess { model, .. } => write!(
                f,
                "model `{model}` has no seq_cst accesses; use `--model c20`, which defines them"
            ),
            Self::Model(model) => write!(f, "`verify` does not know model `{model}`"),
            Self::TooLarge(what) => write!(f, "the program is too large: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Verifies a program. `progress` is called now and then during the search, at most a few times a second.
///
/// # Errors
/// When the program cannot be verified under the model at all.
pub fn verify(
    program: &Program,
    options: &Options<'_>,
    progress: &mut dyn FnMut(&Stats),
) -> Result<Outcome, Error> {
    let _ = (program, options, progress);
    Err(Error::Model(options.model))
}
