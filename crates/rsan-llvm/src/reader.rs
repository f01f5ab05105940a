//! The parent's side: has a child process work with LLVM, within limits.

use crate::error::Error;
use crate::instrument::Unit;
use crate::read::Read;
use crate::serve::{Line, NAME, Request};
use rsan_ir::module::Edit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read as _, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the caller is asked whether to go on.
const TICK: Duration = Duration::from_millis(20);
/// How much of what the child prints is kept.
const PRINTED: u64 = 64 * 1024;

/// How a patched module is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Form {
    /// Textual IR.
    Text,
    /// Bitcode.
    Bitcode,
}

/// What a child may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time until the answer.
    pub time: Option<Duration>,
    /// Bytes of memory. LLVM itself takes some 20 megabytes of it.
    pub memory: Option<u64>,
}

/// Runs LLVM in child processes.
#[derive(Clone, Debug)]
pub struct Reader {
    program: PathBuf,
    words: Vec<OsString>,
    limits: Limits,
}

impl Reader {
    /// One whose children are this very program, called with [`NAME`] as the first word; it has to call [`crate::serve()`] with the words after it.
    ///
    /// # Errors
    /// The system does not say which program this is.
    pub fn new() -> io::Result<Self> {
        Ok(Self::with(std::env::current_exe()?, vec![NAME.into()]))
    }

    /// One whose children are this program with these words before those for [`crate::serve()`].
    pub fn with(program: PathBuf, words: Vec<OsString>) -> Self {
        Self {
            program,
            words,
            limits: Limits::default(),
        }
    }

    /// The same with limits for each child.
    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Reads files as one program. `go_on` is asked all the time; if it says no, the child is killed.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn read(&self, files: &[PathBuf], go_on: &mut dyn FnMut() -> bool) -> Result<Read, Error> {
        let files = files.to_vec();
        self.ask(&Request::Read { files }, go_on)
    }

    /// Writes a file's module, changed, to another file.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn patch(
        &self,
        file: &Path,
        edits: &[Edit],
        output: &Path,
        form: Form,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let edits: Vec<_> = edits.iter().map(|edit| (0, edit.clone())).collect();
        self.patch_all(&[file.to_owned()], &edits, output, form, go_on)
    }

    /// Writes the modules of several files, changed, as one module. Each edit comes with the unit of its function, which
    /// [`Read::unit_of`] has.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn patch_all(
        &self,
        files: &[PathBuf],
        edits: &[(u32, Edit)],
        output: &Path,
        form: Form,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let request = Request::Patch {
            files: files.to_vec(),
            edits: edits.to_vec(),
            output: output.to_owned(),
            form,
        };
        self.ask(&request, go_on)
    }

    /// Instruments modules, by the LLVM that fits their bitcode. Objects that were written before an error are whole.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn instrument(
        &self,
        units: &[Unit],
        library: &Path,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let request = Request::Instrument {
            units: units.to_vec(),
            library: library.to_owned(),
        };
        self.ask(&request, go_on)
    }

    fn ask<T: DeserializeOwned>(
        &self,
        request: &Request,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<T, Error> {
        let request = serde_json::to_vec(request).map_err(failed)?;
        let end = self.run(request, go_on)?;
        let mut at = None;
        for line in end.output.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Line::At(name)) => at = Some(name),
                Ok(Line::Done(answer)) => return Ok(answer),
                Ok(Line::Failed(error)) => return Err(error),
                // The end of what a child wrote that was ended.
                Err(error) if !line.is_empty() && end.status.success() => {
                    return Err(failed(error));
                }
                Err(_) => {}
            }
        }
        Err(self.fallen(&end, at))
    }

    /// What it means that a child ended without an answer.
    fn fallen(&self, end: &End, at: Option<String>) -> Error {
        let printed = String::from_utf8_lossy(&end.printed);
        let memory = [
            "out of memory",
            "allocation failed",
            "bad_alloc",
            "memory allocation of",
        ];
        if self.limits.memory.is_some() && memory.iter().any(|words| printed.contains(words)) {
            return Error::Memory;
        }
        let how = match end.status.signal() {
            Some(signal) => format!("LLVM crashed on it (signal {signal})"),
            None => format!("LLVM gave up ({})", end.status),
        };
        let first = printed.lines().find(|line| !line.trim().is_empty());
        let message = match first {
            Some(line) => format!("{how}: {}", line.trim()),
            None => how,
        };
        match at {
            Some(file) => Error::Corrupt { file, message },
            None => Error::Child { message },
        }
    }

    fn run(&self, request: Vec<u8>, go_on: &mut dyn FnMut() -> bool) -> Result<End, Error> {
        let started = Instant::now();
        let memory = self.limits.memory.unwrap_or(0);
        let mut child = Command::new(&self.program)
            .args(&self.words)
            .arg(memory.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the parent to handle.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (sender, receiver) = mpsc::channel();
        let talk = Talk::begin(&mut child, request, sender);
        let refused = loop {
            match receiver.recv_timeout(TICK) {
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => break None,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if !go_on() {
                break Some(Error::Interrupted);
            }
            if self
                .limits
                .time
                .is_some_and(|limit| started.elapsed() >= limit)
            {
                break Some(Error::Time);
            }
        };
        if refused.is_some() {
            // It may have ended by itself.
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        let (output, printed) = talk.end();
        match refused {
            Some(error) => Err(error),
            None => Ok(End {
                status,
                output,
                printed,
            }),
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Child {
        message: error.to_string(),
    }
}

/// How a child ended.
struct End {
    status: ExitStatus,
    output: Vec<u8>,
    printed: Vec<u8>,
}

/// Threads that talk with a child: none of its pipes may fill up.
struct Talk {
    output: thread::JoinHandle<Vec<u8>>,
    printed: thread::JoinHandle<Vec<u8>>,
}

impl Talk {
    /// `ended` is told when the child has closed its output.
    fn begin(child: &mut Child, request: Vec<u8>, ended: mpsc::Sender<()>) -> Self {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        thread::spawn(move || {
            // A child that fell does not read it.
            stdin.map(|mut stdin| stdin.write_all(&request))
        });
        let output = thread::spawn(move || {
            let bytes = stdout.map(|pipe| all(pipe, u64::MAX)).unwrap_or_default();
            // Nobody waits any more if the child was killed.
            let _ = ended.send(());
            bytes
        });
        let printed =
            thread::spawn(move || stderr.map(|pipe| all(pipe, PRINTED)).unwrap_or_default());
        Self { output, printed }
    }

    fn end(self) -> (Vec<u8>, Vec<u8>) {
        (
            self.output.join().unwrap_or_default(),
            self.printed.join().unwrap_or_default(),
        )
    }
}

/// All that comes, of which so much is kept.
fn all(mut pipe: impl io::Read, keep: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What came before an error is as good as it gets.
    let _ = pipe.by_ref().take(keep).read_to_end(&mut bytes);
    let _ = io::copy(&mut pipe, &mut io::sink());
    bytes
}
