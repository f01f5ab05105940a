//! A program that is run, together with every process that it starts, and those start.
//!
//! Process groups would not do: a group of its own takes the terminal away from the program, and a daemon leaves its
//! group anyway. Instead this process becomes the parent of all orphans among its descendants (`PR_SET_CHILD_SUBREAPER`),
//! so that whoever the program started is found below it in `/proc`, however it was started. Between this process and the
//! program there is a [`guard`], for this process may be killed.

use super::guard;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long processes that got a signal are waited for.
const GRACE: Duration = Duration::from_secs(1);

/// What makes a command of a program and its arguments: their environment, and where their output goes.
pub(crate) type Build<'a> = &'a dyn Fn(&[OsString]) -> Command;

/// A program that runs.
pub(crate) struct Processes {
    main: Pid,
    /// How the program itself ended.
    status: Option<ExitStatus>,
    /// No process is left.
    gone: bool,
    /// Who ends them if this process is killed.
    guard: Option<Guard>,
}

/// The process of [`guard`], and what it says.
struct Guard {
    pid: Pid,
    stream: UnixStream,
    said: Vec<u8>,
}

impl Processes {
    /// Starts a program as `build` says, with a socket in this folder.
    ///
    /// # Errors
    /// Why it can't be started.
    pub(crate) fn start(program: &[OsString], build: Build<'_>, folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (main, guard) = match Guard::start(program, build, folder)? {
            Some((guard, main)) => (main, Some(guard)),
            // The command may have no file any more, or there is no `/proc`.
            None => (Pid::from_child(&build(program).spawn()?), None),
        };
        Ok(Self {
            main,
            status: None,
            gone: false,
            guard,
        })
    }

    /// The process that was started.
    pub(crate) fn id(&self) -> u32 {
        self.main.as_raw_nonzero().get().unsigned_abs()
    }

    /// How the program itself ended, if it did. Also lets go of ended orphans.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.main {
                        self.status = Some(ExitStatus::from_raw(status.as_raw()));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    // Orphans would be children of ours.
                    self.gone = error == Errno::CHILD;
                    break;
                }
            }
        }
        if let Some(guard) = &mut self.guard
            && self.status.is_none()
        {
            self.status = guard.status();
            if self.gone {
                // Whoever killed the guard killed the program too.
                let killed = ExitStatus::from_raw(Signal::KILL.as_raw());
                self.status.get_or_insert(killed);
            }
        }
        self.status
    }

    /// How many processes in which the runtime is at work are still there. It leaves a mapping of this name.
    pub(crate) fn instrumented(&self) -> usize {
        if self.gone {
            return 0;
        }
        let loaded = |pid: &i32| {
            let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
            let name = b"memfd:rsan-awake";
            maps.windows(name.len()).any(|window| window == name)
        };
        descendants().iter().filter(|pid| loaded(pid)).count()
    }

    /// The processes that have not ended. Without `/proc` only the program itself is known.
    fn alive(&self) -> Vec<i32> {
        let mut alive = descendants();
        let guard = self.guard.as_ref().map(|guard| guard.pid);
        alive.retain(|pid| Pid::from_raw(*pid) != guard);
        let main = self.main.as_raw_nonzero().get();
        if self.status.is_none() && !alive.contains(&main) {
            alive.push(main);
        }
        alive
    }

    /// Waits for all processes to end, for the user's Ctrl-C at a terminal has reached them too; then asks them to, then
    /// ends them.
    pub(crate) fn terminate(&mut self) {
        self.signal(None, false);
        self.signal(Some(Signal::TERM), false);
        self.kill();
    }

    /// Ends all processes.
    pub(crate) fn kill(&mut self) {
        self.signal(Some(Signal::KILL), true);
    }

    /// Sends a signal to all processes and waits until none is left, but not for long. With `again` those that were
    /// started meanwhile get it too.
    fn signal(&mut self, signal: Option<Signal>, again: bool) {
        let start = Instant::now();
        let mut first = true;
        loop {
            let alive = self.alive();
            for pid in alive.iter().filter_map(|pid| Pid::from_raw(*pid)) {
                if let Some(signal) = signal.filter(|_| first || again) {
                    // It may be gone already.
                    let _ = kill_process(pid, signal);
                }
            }
            first = false;
            self.status();
            if alive.is_empty() || start.elapsed() > GRACE {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if let Some(guard) = &mut self.guard {
            // It may be gone already.
            let _ = guard.stream.write_all(guard::DONE);
        }
    }
}

/// How long the guard may take to start the program; a machine may be busy.
const START: Duration = Duration::from_secs(60);

impl Guard {
    /// Starts a guard that starts the program; nothing if there can be no guard.
    fn start(
        program: &[OsString],
        build: Build<'_>,
        folder: &Path,
    ) -> io::Result<Option<(Self, Pid)>> {
        let socket = folder.join("guard");
        // That of another run.
        let _ = fs::remove_file(&socket);
        // The path may be too long for a socket.
        let Ok(listener) = UnixListener::bind(&socket) else {
            return Ok(None);
        };
        listener.set_nonblocking(true)?;
        let mut words = vec!["/proc/self/exe".into(), guard::NAME.into(), socket.into()];
        words.extend_from_slice(program);
        let Ok(mut child) = build(&words).spawn() else {
            return Ok(None);
        };
        let start = Instant::now();
        let stream = loop {
            if let Ok((stream, _)) = listener.accept() {
                break stream;
            }
            if matches!(child.try_wait(), Ok(Some(_))) {
                return Ok(None);
            }
            if start.elapsed() > START {
                let _ = child.kill();
                return Ok(None);
            }
            thread::sleep(Duration::from_micros(200));
        };
        stream.set_nonblocking(true)?;
        let pid = Pid::from_child(&child);
        let said = Vec::new();
        let mut guard = Self { pid, stream, said };
        let main = guard.started(start)?;
        Ok(Some((guard, main)))
    }

    /// The process of the program, as soon as it is there.
    fn started(&mut self, start: Instant) -> io::Result<Pid> {
        while start.elapsed() < START {
            let said = self.line();
            if let Some(pid) = said.as_deref().and_then(|line| number("started", line)) {
                return Pid::from_raw(pid).ok_or_else(|| ErrorKind::InvalidData.into());
            }
            if let Some(error) = said.as_deref().and_then(|line| number("failed", line)) {
                return Err(io::Error::from_raw_os_error(error));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Err(ErrorKind::TimedOut.into())
    }

    /// How the program ended, if that was said.
    fn status(&mut self) -> Option<ExitStatus> {
        let line = self.line()?;
        number("ended", &line).map(ExitStatus::from_raw)
    }

    /// The next line, if it is there.
    fn line(&mut self) -> Option<String> {
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = self.stream.read(&mut bytes) {
            self.said.extend_from_slice(&bytes[..count]);
        }
        let end = self.said.iter().position(|byte| *byte == b'\n')?;
        let line = self.said.drain(..=end).collect::<Vec<_>>();
        Some(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

/// The number after a word.
fn number(word: &str, line: &str) -> Option<i32> {
    line.strip_prefix(word)?.trim_start().parse().ok()
}

/// The processes below this one that have not ended.
pub(super) fn descendants() -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent(&String::from_utf8_lossy(&stat)) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend_from_slice(&below);
        next.extend(below);
    }
    found
}

/// The parent in the text of `/proc/PID/stat`, unless the process has ended. The name, which may contain anything, is in
/// parentheses.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z" && state != "X").then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn the_parent_stands_after_the_name() {
        assert_eq!(parent("12 (a) b) S 3 12 12 0"), Some(3));
        assert_eq!(parent("12 (a) Z 3 12 12 0"), None);
        assert_eq!(parent(""), None);
    }
}
