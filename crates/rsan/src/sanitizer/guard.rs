//! A process between `rsan run` and the program, for the case that `rsan run` is killed: then all processes of the program are
//! ended, as they are when it is interrupted.
//!
//! It is this command again. It becomes the parent of all orphans below it, starts the program, and tells through a
//! socket how that goes, a line each:
//!
//! ```text
//! started PID
//! failed ERRNO        instead
//! ended STATUS        as `wait` has it
//! ```
//!
//! When the other side closes the socket without a word, whoever is left is killed. It says `done` to have them left alone.

use super::processes::descendants;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The word that calls for it.
pub(crate) const NAME: &str = "--guard--";
/// What is said so that processes are left alone.
pub(super) const DONE: &[u8] = b"done\n";

/// How often it is looked whether a process has ended; its signal normally comes first.
const TICK: Duration = Duration::from_millis(20);
/// How long processes that are killed are waited for.
const GRACE: Duration = Duration::from_secs(10);

/// Starts the program and looks after it; the words are the socket, the program and its arguments.
pub(crate) fn run(words: &[OsString]) -> u8 {
    let [socket, program, arguments @ ..] = words else {
        return 2;
    };
    let Ok(mut stream) = UnixStream::connect(socket) else {
        return 2;
    };
    match prepare(&stream).and_then(|()| Command::new(program).args(arguments).spawn()) {
        Ok(child) => {
            // If nobody listens any more, that is noticed below.
            let _ = writeln!(stream, "started {}", child.id());
            attend(&mut stream, Pid::from_child(&child));
            0
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(0);
            let _ = writeln!(stream, "failed {number}");
            2
        }
    }
}

fn prepare(stream: &UnixStream) -> io::Result<()> {
    // What a terminal sends to everybody does not end this process; programs that are started do not inherit that. The end of
    // a child interrupts reading.
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD] {
        flag::register(signal, Arc::default())?;
    }
    stream.set_read_timeout(Some(TICK))?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Waits until there is no process left, or nobody who is interested.
fn attend(stream: &mut UnixStream, main: Pid) {
    let mut said = Vec::new();
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == main => {
                    let _ = writeln!(stream, "ended {}", status.as_raw());
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let mut bytes = [0; 16];
        match stream.read(&mut bytes) {
            Ok(0) => return end_all(),
            Ok(count) => said.extend_from_slice(&bytes[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return end_all(),
            },
        }
        if said.starts_with(DONE) {
            return;
        }
    }
}

/// Kills all processes below this one, also those that are started meanwhile.
fn end_all() {
    let start = Instant::now();
    loop {
        let left = descendants();
        if left.is_empty() || start.elapsed() > GRACE {
            return;
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            // It may be gone already.
            let _ = kill_process(pid, Signal::KILL);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        thread::sleep(Duration::from_millis(1));
    }
}
