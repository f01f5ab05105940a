//! A process that makes runs of the program: it stops at `main`, and makes one for each line that it is sent. The
//! runtime's module `sched::server` is the other side.

use super::execution::{Execution, Files};
use super::near::Near;
use super::standing::Standing;
use crate::pause::pause;
use crate::sanitizer::execute::{self, Stdout};
use crate::sanitizer::verdict::ended;
use rsan_schedule::{Answer, Request, SEPARATOR, Settings};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What all servers of a campaign have in common.
pub(super) struct Setup<'a> {
    /// A name and arguments.
    program: &'a [OsString],
    /// Settings of the runtime beyond those that every run has.
    options: Settings<'static>,
    stdout: Stdout,
    /// Whether the program may read our standard input.
    alone: bool,
    stop: &'a AtomicBool,
    /// When all runs have to be over.
    deadline: Option<Instant>,
    standing: Arc<Standing>,
}

/// How a server was started: two of the same do the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    program: Vec<OsString>,
    options: Settings<'static>,
    stdout: Stdout,
    alone: bool,
}

impl<'a> Setup<'a> {
    /// # Errors
    /// The message for the user.
    pub(super) fn new(
        program: &'a [OsString],
        options: Settings<'static>,
        stdout: Stdout,
        alone: bool,
        stop: &'a AtomicBool,
        deadline: Option<Instant>,
        standing: Arc<Standing>,
    ) -> Result<Self, String> {
        if !is_there(Path::new(&program[0])) {
            let name = program[0].display();
            return Err(format!("{name}: there is no such program"));
        }
        Ok(Self {
            program,
            options,
            stdout,
            alone,
            stop,
            deadline,
            standing,
        })
    }

    /// Servers that others have left, and those that others may have.
    pub(super) fn standing(&self) -> &Standing {
        &self.standing
    }

    fn key(&self) -> Key {
        Key {
            program: self.program.to_vec(),
            options: self.options.clone(),
            stdout: self.stdout,
            alone: self.alone,
        }
    }

    /// A file of the campaign.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.standing.memory().join(name)
    }

    /// Whether the user asked to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the user asked to end, or the time is over.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopped() || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn command(&self, options: &str) -> Command {
        let mut command =
            execute::command(self.program, options, self.standing.library(), self.stdout);
        if !self.alone {
            command.stdin(Stdio::null());
        }
        if matches!(self.stdout, Stdout::Dropped | Stdout::Captured) {
            command.stderr(Stdio::null());
        }
        // Ctrl-C at a terminal is ours.
        command.process_group(0);
        command
    }
}

/// Whether a program can be found as the system would find it.
fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 || program.is_absolute() {
        return program.exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    folders.any(|folder| folder.join(program).exists())
}

/// Why a run could not be made.
#[derive(Debug)]
pub(super) enum Problem {
    /// The user asked to end, or the time is over.
    Stopped,
    /// The server is gone, or silent.
    Died,
    /// The program does not have the runtime, and ended.
    Unseen,
    /// Something that the user has to change.
    Message(String),
}

/// A server of a campaign.
pub(super) struct Server<'a> {
    setup: &'a Setup<'a>,
    process: Process,
    near: Near,
}

/// The process of a server.
pub(super) struct Process {
    key: Key,
    child: Child,
    stream: BufReader<UnixStream>,
    files: Files,
}

/// How long a program may take to come to `main`.
const START: Duration = Duration::from_secs(60);
/// How long a server may be silent after a run should have ended.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a server may take to end by itself.
const FAREWELL: Duration = Duration::from_millis(200);
/// How often it is looked whether the user asked to end, or the time is over.
const TICK: Duration = Duration::from_millis(50);

impl<'a> Server<'a> {
    /// A server that waits for runs, or a new one.
    pub(super) fn start(setup: &'a Setup<'a>) -> Result<Self, Problem> {
        let key = setup.key();
        let process = match setup.standing.take(&key) {
            Some(process) => process,
            None => Process::start(setup, key)?,
        };
        Ok(Self {
            setup,
            process,
            near: Near::default(),
        })
    }

    /// It has made the runs that it was asked for. The thread that asked is let go.
    pub(super) fn rest(self) -> Process {
        self.process
    }

    /// Makes the first of these runs, and perhaps others that follow it.
    pub(super) fn run(&mut self, requests: &[Request]) -> Result<Vec<Execution>, Problem> {
        let (line, asked) = together(requests);
        let timeout = requests[..asked]
            .iter()
            .filter_map(|request| request.timeout);
        let timeout = Duration::from_millis(timeout.sum());
        let sent = self.process.stream.get_mut().write_all(line.as_bytes());
        sent.map_err(|_| Problem::Died)?;
        let answer = self.answer(timeout + SILENCE)?;
        let (status, timed_out, kept) = match answer.parse() {
            Ok(Answer::End {
                status,
                timed_out,
                kept,
            }) => (ExitStatus::from_raw(status), timed_out, kept),
            Ok(Answer::Error(error)) => return Err(Problem::Message(error)),
            Err(_) => return Err(Problem::Died),
        };
        let files = &mut self.process.files;
        let message = |error: io::Error| Problem::Message(error.to_string());
        let mut made = match kept {
            0 => Vec::new(),
            kept => files.read_kept(kept).map_err(message)?,
        };
        let last = files.read(status, timed_out).map_err(message)?;
        self.near.follow(last.header.processor);
        made.push(last);
        match made.len() > asked {
            true => Err(Problem::Died),
            false => Ok(made),
        }
    }

    /// What a run left that ended the server.
    pub(super) fn last(mut self) -> Result<Execution, Problem> {
        end(&mut self.process.child);
        let execution = self.process.files.read(ExitStatus::default(), false);
        let mut execution = execution.map_err(|error| Problem::Message(error.to_string()))?;
        execution.server_died = true;
        Ok(execution)
    }

    /// A line of the server.
    fn answer(&mut self, limit: Duration) -> Result<String, Problem> {
        let start = Instant::now();
        let mut line = Vec::new();
        loop {
            match self.process.stream.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => {
                    line.pop();
                    return Ok(String::from_utf8_lossy(&line).into_owned());
                }
                Ok(_) => return Err(Problem::Died),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut
                    | io::ErrorKind::Interrupted => {}
                    _ => return Err(Problem::Died),
                },
            }
            if self.setup.is_over() {
                return Err(Problem::Stopped);
            }
            if start.elapsed() > limit {
                return Err(Problem::Died);
            }
        }
    }
}

/// Bytes of requests that are sent together.
const TOGETHER: usize = 1 << 18;

/// The first of these requests, or several, as one line, and how many they are.
fn together(requests: &[Request]) -> (String, usize) {
    let mut line = String::new();
    let mut asked = 0;
    for request in requests {
        let text = request.to_string();
        let fits = line.len() + text.len() < TOGETHER && !text.contains(SEPARATOR);
        if asked > 0 && !fits {
            break;
        }
        if asked > 0 {
            line.push(SEPARATOR);
        }
        line.push_str(&text);
        asked += 1;
        if !fits {
            break;
        }
    }
    line.push('\n');
    (line, asked)
}

impl Process {
    fn start(setup: &Setup<'_>, key: Key) -> Result<Self, Problem> {
        let fail = |error: io::Error| Problem::Message(error.to_string());
        let (number, memory) = (setup.standing.number(), setup.standing.memory());
        let socket = setup.standing.folder().join(format!("socket-{number}"));
        let listener = UnixListener::bind(&socket).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let log = memory.join(format!("log-{number}"));
        let trace = memory.join(format!("trace-{number}"));
        let output = memory.join(format!("output-{number}"));
        let mut files = Files::create(&log, &trace).map_err(fail)?;
        let text = |path| execute::text_of(path).map_err(Problem::Message);
        let mut more = Settings::default();
        more.add("server", text(&socket)?);
        more.add("trace", text(&trace)?);
        more.extend(setup.options.clone());
        let options = execute::settings(&log, more).map_err(Problem::Message)?;
        let name = setup.program[0].display();
        let mut command = setup.command(&options);
        if setup.stdout == Stdout::Captured {
            command.stdout(files.keep_output(&output).map_err(fail)?);
        }
        let child = command.spawn();
        let mut child = child.map_err(|e| Problem::Message(format!("{name}: {e}")))?;
        let stream = match connection(setup, &listener, &mut child) {
            Ok(stream) => stream,
            Err(problem) => {
                end(&mut child);
                return Err(problem);
            }
        };
        stream.set_read_timeout(Some(TICK)).map_err(fail)?;
        let mut process = Self {
            key,
            child,
            stream: BufReader::new(stream),
            files,
        };
        process.files.begin().map_err(fail)?;
        Ok(process)
    }

    /// How it was started.
    pub(super) fn key(&self) -> &Key {
        &self.key
    }
}

impl Drop for Process {
    /// A server that nobody talks to any more ends, and waits for the process that makes its runs: only so does their CPU time count as
    /// that of a child of ours.
    fn drop(&mut self) {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
        let start = Instant::now();
        let mut pause = Duration::from_micros(50);
        while start.elapsed() < FAREWELL && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        end(&mut self.child);
    }
}

/// Waits until the runtime in the program asks what to do.
fn connection(
    setup: &Setup<'_>,
    listener: &UnixListener,
    child: &mut Child,
) -> Result<UnixStream, Problem> {
    let start = Instant::now();
    loop {
        if let Ok((stream, _)) = listener.accept() {
            let blocking = stream.set_nonblocking(false);
            return blocking
                .map(|()| stream)
                .map_err(|error| Problem::Message(error.to_string()));
        }
        if setup.is_over() {
            return Err(Problem::Stopped);
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(match status.code() {
                Some(126 | 127) => {
                    let name = setup.program[0].display();
                    Problem::Message(format!("{name}: {}", ended(status)))
                }
                _ => Problem::Unseen,
            });
        }
        if start.elapsed() > START {
            let seconds = START.as_secs();
            let message = format!("the program has not come to `main` after {seconds} seconds");
            return Err(Problem::Message(message));
        }
        pause(start, Duration::from_micros(100)..=Duration::from_millis(5));
    }
}

/// Ends a server, and the run that it makes.
fn end(child: &mut Child) {
    let id = child.id();
    let runs = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let runs = runs.unwrap_or_default();
    let runs = runs.split_whitespace().filter_map(|run| run.parse().ok());
    // It, or a run, may be gone already.
    let _ = child.kill();
    let groups = runs.chain(i32::try_from(id));
    for group in groups.filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
