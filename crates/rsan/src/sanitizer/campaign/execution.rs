//! What a run left: how it ended, its steps, and what the runtime logged.

use crate::files;
use crate::sanitizer::record::Record;
use rsan_model::Model;
use rsan_schedule::explore::Trace;
use rsan_schedule::shared::{self, Header, LENGTH, ROOM};
use rsan_schedule::{End, Schedule, Step};
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
    /// What the program was judged by.
    pub(super) model: Option<Model>,
    /// What it wrote, if that is looked at and not too much.
    pub(super) output: Option<Vec<u8>>,
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
    log: File,
    /// What was read of it.
    read: u64,
    trace: File,
    /// What runs write to standard output.
    output: Option<File>,
    model: Option<Model>,
}

/// Length of a log that is emptied.
const LONG: u64 = 1 << 20;

/// Length of an output that is looked at.
const OUTPUT: u64 = 1 << 16;

impl Files {
    pub(super) fn create(log: &Path, trace: &Path, output: Option<&Path>) -> io::Result<Self> {
        let open = |path| {
            let mut options = File::options();
            let options = options.read(true).write(true).create(true);
            options.truncate(true).open(path)
        };
        let (log, trace) = (open(log)?, open(trace)?);
        trace.set_len(LENGTH as u64)?;
        let append = |path| {
            let mut options = File::options();
            options.read(true).append(true).create(true).open(path)
        };
        let output = output.map(append).transpose()?;
        Ok(Self {
            log,
            read: 0,
            trace,
            output,
            model: None,
        })
    }

    /// Where runs write to.
    pub(super) fn output(&self) -> Option<io::Result<File>> {
        self.output.as_ref().map(File::try_clone)
    }

    /// What the last run wrote; nothing if it is too much.
    fn written(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(output) = &self.output else {
            return Ok(None);
        };
        let length = output.metadata()?.len();
        let mut bytes = vec![0; length.min(OUTPUT) as usize];
        output.read_exact_at(&mut bytes, 0)?;
        // Whoever writes it appends.
        output.set_len(0)?;
        Ok((length <= OUTPUT).then_some(bytes))
    }

    /// What the server itself wrote belongs to no run.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.written()?;
        self.model = Record::new(&self.logged()?).model;
        Ok(())
    }

    /// What the last run wrote.
    pub(super) fn read(&mut self, status: ExitStatus, timed_out: bool) -> io::Result<Execution> {
        let mut bytes = [0; Header::BYTES];
        self.trace.read_exact_at(&mut bytes, 0)?;
        let header = Header::from_bytes(&bytes).unwrap_or_default();
        let records = header.steps.saturating_add(header.pending.into());
        let records = (records as usize).min(ROOM);
        let mut memory = vec![0; Header::BYTES + records * Step::BYTES];
        self.trace.read_exact_at(&mut memory, 0)?;
        // Whoever was killed may have left anything.
        let nothing = Trace {
            steps: Vec::new(),
            pending: Vec::new(),
            end: End::Silent,
        };
        let (header, trace) = shared::read(&memory).unwrap_or((header, nothing));
        Ok(Execution {
            status,
            timed_out,
            server_died: false,
            header,
            trace,
            record: Record::new(&self.logged()?),
            model: self.model,
            output: self.written()?,
        })
    }

    /// What was appended to the log.
    fn logged(&mut self) -> io::Result<String> {
        let length = self.log.metadata()?.len();
        // What is cut off leaves a line that cannot be read, which is told.
        let new = length.saturating_sub(self.read).min(files::RECORD);
        let mut bytes = vec![0; new as usize];
        self.log.read_exact_at(&mut bytes, self.read)?;
        self.read = length;
        if length > LONG {
            // Whoever writes it appends.
            self.log.set_len(0)?;
            self.read = 0;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
