//! The child's side: does with LLVM what the parent asks for, and answers on its standard output.
//!
//! Lines of JSON: `{"at":NAME}` before each module that LLVM sees, and at last `{"done":…}` or `{"failed":…}`. If there is no last line, LLVM ended the
//! process.

use crate::context::Context;
use crate::error::Error;
use crate::instrument::{self, Unit};
use crate::library::{Library, find};
use crate::module::Module;
use crate::patch;
use crate::read;
use crate::reader::Form;
use rsan_ir::module::Edit;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The first word of the command line that calls for [`serve`].
pub const NAME: &str = "--llvm--";

/// What the loader says when a limit of memory leaves no room for a library.
const NO_ROOM: [&str; 3] = [
    "failed to map segment",
    "cannot map zero-fill pages",
    "cannot allocate memory",
];

/// What the parent asks for, on the child's standard input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Read files.
    Read {
        /// Which.
        files: Vec<PathBuf>,
    },
    /// Instrument modules for the sanitizer.
    Instrument {
        /// Which.
        units: Vec<Unit>,
        /// The library that fits their bitcode.
        library: PathBuf,
    },
    /// Write changed files as one module.
    Patch {
        /// Which.
        files: Vec<PathBuf>,
        /// How: the module, in the order of reading, and the change.
        edits: Vec<(u32, Edit)>,
        /// Where to.
        output: PathBuf,
        /// Text or bitcode.
        form: Form,
    },
}

/// A line of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<T> {
    /// LLVM is going to see this module.
    At(String),
    /// The answer.
    Done(T),
    /// Why there is none.
    Failed(Error),
}

/// Answers the request on the standard input; the only word is the limit of memory in bytes, or 0. Gives the exit status: 0 if an answer was
/// written, be it an error.
pub fn serve(words: &[OsString]) -> u8 {
    let memory = words.first().and_then(|word| word.to_str()?.parse().ok());
    confine(memory.unwrap_or(0));
    let Ok(request) = serde_json::from_reader(io::stdin().lock()) else {
        return 2;
    };
    let mut output = BufWriter::new(io::stdout().lock());
    let written = match request {
        Request::Read { files } => {
            let answer = with_context(|context| {
                read::files(context, &files, &mut |name| announce(&mut output, name))
            });
            finish(&mut output, answer)
        }
        Request::Instrument { units, library } => {
            let begin = &mut |name: &str| announce(&mut output, name);
            let answer = Library::load(&library)
                .map_err(|reason| Error::Missing {
                    looked: vec![format!("{}: {reason}", library.display())],
                })
                .and_then(|library| {
                    // A context for each: what one module needs is free again before the next one.
                    units
                        .iter()
                        .try_for_each(|unit| instrument::unit(&Context::new(&library), unit, begin))
                });
            finish(&mut output, answer)
        }
        Request::Patch {
            files,
            edits,
            output: to,
            form,
        } => {
            let begin = &mut |name: &str| announce(&mut output, name);
            let answer = with_context(|context| {
                let module = patch::files(context, &files, &edits, begin)?;
                write(&module, &to, form)
            });
            finish(&mut output, answer)
        }
    };
    match written {
        Ok(()) => 0,
        Err(_) => 2,
    }
}

/// A line that is lost only makes a later message less exact.
fn announce(output: &mut impl Write, name: &str) {
    let line: Line<()> = Line::At(name.to_owned());
    let written = serde_json::to_writer(&mut *output, &line).is_ok()
        && output.write_all(b"\n").is_ok()
        && output.flush().is_ok();
    let _ = written;
}

fn finish<T: Serialize>(output: &mut impl Write, answer: Result<T, Error>) -> io::Result<()> {
    let line = answer.map_or_else(Line::Failed, Line::Done);
    serde_json::to_writer(&mut *output, &line)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn no_room(text: &str) -> bool {
    NO_ROOM.iter().any(|words| text.contains(words))
}

fn with_context<T>(work: impl FnOnce(&Context<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let library = find().map_err(|error| match &error {
        // A library that does not fit below the limit.
        Error::Missing { looked } if looked.iter().any(|text| no_room(text)) => Error::Memory,
        _ => error,
    })?;
    let context = Context::new(&library);
    let answer = work(&context);
    // The process ends now: freeing a large module node by node takes longer than that.
    std::mem::forget(context);
    answer
}

fn write(module: &Module<'_>, output: &Path, form: Form) -> Result<(), Error> {
    let bytes = match form {
        Form::Text => module.print().into_bytes(),
        Form::Bitcode => module.bitcode(),
    };
    std::fs::write(output, bytes).map_err(|error| Error::File {
        file: output.display().to_string(),
        message: error.to_string(),
    })
}

/// Limits memory, leaves no core file, and ends with the parent. What the system refuses is done without: the parent has its limits, too.
fn confine(memory: u64) {
    let limit = |resource, bytes| {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        // SAFETY: a limit of this process.
        unsafe { libc::setrlimit(resource, &limit) };
    };
    limit(libc::RLIMIT_CORE, 0);
    // A file that may not become larger is an error of whoever writes it.
    // SAFETY: only says that this process ignores a signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    if memory > 0 {
        // What it may write to, not what it maps: LLVM's file is large.
        #[cfg(target_os = "linux")]
        limit(libc::RLIMIT_DATA, memory);
        #[cfg(not(target_os = "linux"))]
        limit(libc::RLIMIT_AS, memory);
    }
    #[cfg(target_os = "linux")]
    // SAFETY: only says which signal this process gets.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}
