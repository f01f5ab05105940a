//! A program that is run, together with every process that it starts, and those start.
//!
//! Process groups would not do: a group of its own takes the terminal away from the program, and a daemon leaves its
//! group anyway. Instead this process becomes the parent of all orphans among its descendants (`PR_SET_CHILD_SUBREAPER`),
//! so that whoever the program started is found below it in `/proc`, however it was started.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long processes that got a signal are waited for.
const GRACE: Duration = Duration::from_secs(1);

/// A program that runs.
pub(crate) struct Processes {
    main: Pid,
    /// How the program itself ended.
    status: Option<ExitStatus>,
    /// No process is left.
    gone: bool,
}

impl Processes {
    /// Starts a program.
    ///
    /// # Errors
    /// Why it can't be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let child = command.spawn()?;
        Ok(Self {
            main: Pid::from_child(&child),
            status: None,
            gone: false,
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

/// The processes below this one that have not ended.
fn descendants() -> Vec<i32> {
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
