//! What a run left: how it ended, its steps, and what the runtime logged.

use crate::files;
use crate::sanitizer::record::Record;
use rsan_model::Model;
use rsan_schedule::explore::Trace;
use rsan_schedule::shared::{self, Header, KEPT, KEPT_AT, LENGTH, ROOM};
use rsan_schedule::{End, Schedule};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitStatus;

/// A run that was made.
pub(super) struct Execution {
    pub(super) status: ExitStatus,
    pub(super) timed_out: bool,
    /// It ended the process that makes runs.
    pub(super) server_died: bool,
    pub(super) header: Header,
    pub(super) trace: Trace,
    pub(super) record: Record,
    /// What it printed, if that is kept.
    pub(super) output: Option<String>,
    /// What the program was judged by.
    pub(super) model: Option<Model>,
}

impl Execution {
    /// How it ended: what its process says, unless more is known.
    pub(super) fn end(&self) -> End {
        use std::os::unix::process::ExitStatusExt;
        if self.server_died {
            return End::ServerDied;
        }
        if self.timed_out {
            return End::Timeout;
        }
        if self.record.fatal.is_some() {
            return End::Fatal;
        }
        match self.header.end {
            End::CutOff => End::CutOff,
            _ if !self.status.success() => End::Failed(self.status.into_raw()),
            _ if self.record.forked => End::Forked,
            said => said,
        }
    }

    /// Whether all steps are known.
    pub(super) fn is_complete(&self) -> bool {
        self.header.steps <= ROOM as u64
    }

    /// Its schedule.
    pub(super) fn schedule(&self) -> Schedule {
        let mut schedule = Schedule::of(&self.trace.steps);
        if !self.is_complete() {
            let steps = self.header.steps;
            schedule.set_note("steps-in-all", &steps.to_string());
        }
        schedule
    }
}

/// The files that a server's runs write.
pub(super) struct Files {
    log: Growing,
    output: Option<Growing>,
    trace: File,
    /// What was read of it for the last run.
    memory: Vec<u8>,
    model: Option<Model>,
}

/// A file that is appended to.
struct Growing {
    file: File,
    /// What was read of it.
    read: u64,
}

/// Length of a file that is emptied.
const LONG: u64 = 1 << 20;

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create(true);
    options.truncate(true).open(path)
}

impl Growing {
    fn new(file: File) -> Self {
        Self { file, read: 0 }
    }

    /// What was appended.
    fn next(&mut self, most: u64) -> io::Result<String> {
        let length = self.file.metadata()?.len();
        // What is cut off leaves a line that cannot be read, which is told.
        let new = length.saturating_sub(self.read).min(most);
        let mut bytes = vec![0; new as usize];
        self.file.read_exact_at(&mut bytes, self.read)?;
        self.read = length;
        if length > LONG {
            // Whoever writes it appends.
            self.file.set_len(0)?;
            self.read = 0;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Files {
    pub(super) fn create(log: &Path, trace: &Path) -> io::Result<Self> {
        let (log, trace) = (open(log)?, open(trace)?);
        trace.set_len(LENGTH as u64)?;
        Ok(Self {
            log: Growing::new(log),
            output: None,
            trace,
            memory: vec![0; Header::BYTES],
            model: None,
        })
    }

    /// A file for what runs print, which is kept with them.
    pub(super) fn keep_output(&mut self, path: &Path) -> io::Result<File> {
        self.output = Some(Growing::new(open(path)?));
        File::options().append(true).open(path)
    }

    /// What the server itself wrote belongs to no run.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.model = Record::new(&self.log.next(files::RECORD)?).model;
        self.output()?;
        Ok(())
    }

    /// What the runs wrote that are kept in so many bytes: each came to its end, and nothing was logged.
    pub(super) fn read_kept(&mut self, bytes: u64) -> io::Result<Vec<Execution>> {
        let mut memory = vec![0; usize::try_from(bytes).unwrap_or(KEPT).min(KEPT)];
        self.trace.read_exact_at(&mut memory, KEPT_AT as u64)?;
        let runs = shared::kept(&memory).ok_or(io::ErrorKind::InvalidData)?;
        let execution = |(header, trace)| Execution {
            status: ExitStatus::default(),
            timed_out: false,
            server_died: false,
            header,
            trace,
            record: Record::new(""),
            output: None,
            model: self.model,
        };
        Ok(runs.into_iter().map(execution).collect())
    }

    /// What the last run wrote.
    pub(super) fn read(&mut self, status: ExitStatus, timed_out: bool) -> io::Result<Execution> {
        // Most runs are about as long as the one before.
        self.trace.read_exact_at(&mut self.memory, 0)?;
        let header = self.memory.first_chunk();
        let header = header.and_then(Header::from_bytes).unwrap_or_default();
        let (known, length) = (self.memory.len(), header.length());
        self.memory.resize(length, 0);
        if let Some(more) = self.memory.get_mut(known..) {
            self.trace.read_exact_at(more, known as u64)?;
        }
        // Whoever was killed may have left anything.
        let nothing = Trace {
            steps: Vec::new(),
            pending: Vec::new(),
            end: End::Silent,
            overwrites: false,
        };
        let (header, trace) = shared::read(&self.memory).unwrap_or((header, nothing));
        Ok(Execution {
            status,
            timed_out,
            server_died: false,
            header,
            trace,
            record: Record::new(&self.log.next(files::RECORD)?),
            output: self.output()?,
            model: self.model,
        })
    }

    /// What was printed since it was last asked for.
    fn output(&mut self) -> io::Result<Option<String>> {
        let output = self.output.as_mut();
        output.map(|output| output.next(LONG)).transpose()
    }
}
