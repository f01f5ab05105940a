//! The log: a file that all processes of a run append lines to, each with one system call, so that none is torn.
//!
//! The file is opened at the start and kept at a high descriptor, for a program may run out of descriptors later. A
//! program that closes all its descriptors closes this one too; it may even have a file of its own there afterwards.
//! So the descriptor is compared with the file before each line, and the file is opened again when it is lost.
//!
//! What a line says is [`rsan_log`]'s.

use crate::lock::Lock;
use crate::modules;
use crate::options::Options;
use crate::output::{self, quietly, write_all};
use rsan_log::{Entry, Event, Line};
use std::ffi::CString;
use std::fmt::Write as _;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Where the descriptor goes, if the limit allows it: out of the way of programs that count on small numbers.
const HIGH: RawFd = 1000;

/// The file.
struct Journal {
    path: CString,
    descriptor: RawFd,
    /// Device and inode.
    identity: (u64, u64),
}

static JOURNAL: Lock<Option<Journal>> = Lock::new(None);
static LOST: AtomicBool = AtomicBool::new(false);
/// Lines that were to be appended.
static LINES: AtomicUsize = AtomicUsize::new(0);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    JOURNAL.raw()
}

/// Opens the log, if there is to be one, and says there that the process runs.
pub(crate) fn start(options: &Options) {
    if options.log.is_empty() {
        return;
    }
    // The program may change its folder, and then close the file.
    let path = std::path::absolute(&options.log).unwrap_or_else(|_| PathBuf::from(&options.log));
    let Ok(path) = CString::new(path.into_os_string().into_encoded_bytes()) else {
        return;
    };
    *JOURNAL.lock() = Some(Journal {
        path,
        descriptor: -1,
        identity: (0, 0),
    });
    if options.announce {
        say(Event::Start {
            program: modules::executable().into(),
            command: modules::command().into(),
            model: options.model,
        });
    } else if let Some(journal) = JOURNAL.lock().as_mut() {
        journal.reopen();
    }
}

/// Appends a line with what this process says. True if it is in the log.
pub(crate) fn say<'a>(entry: impl Into<Entry<'a>>) -> bool {
    append(&line(entry.into()))
}

fn line(entry: Entry<'_>) -> String {
    let pid = std::process::id();
    format!("{}\n", Line { pid, entry })
}

/// How many lines this process has said, and those that it is a copy of.
pub(crate) fn lines() -> usize {
    // ORDERING: relaxed; a count.
    LINES.load(Ordering::Relaxed)
}

/// Whether something that belongs into the log is not there.
pub(crate) fn lost() -> bool {
    // ORDERING: relaxed; a flag that is only ever set.
    LOST.load(Ordering::Relaxed)
}

/// Appends a line, or says why that is not possible. True if it is in the log.
fn append(line: &str) -> bool {
    // ORDERING: relaxed; a count.
    LINES.fetch_add(1, Ordering::Relaxed);
    let mut journal = JOURNAL.lock();
    let Some(journal) = journal.as_mut() else {
        return false;
    };
    let result = if journal.is_open() || journal.reopen() {
        quietly(|| write_all(journal.descriptor, line.as_bytes()))
    } else {
        Err(std::io::Error::last_os_error())
    };
    let Err(error) = result else { return true };
    // ORDERING: relaxed; see `lost`.
    if !LOST.swap(true, Ordering::Relaxed) {
        let path = journal.path.to_string_lossy();
        let message = format!("rsan: {path}: {error}; findings stand here instead\n");
        output::write_to(2, message.as_bytes());
    }
    false
}

/// Notes that the process ends because the runtime cannot go on. Memory may be what is missing: none is allocated.
pub(crate) fn fatal(message: &[&str]) {
    let mut text = Fixed::<MESSAGE>::default();
    // Messages are our own; what would need an escape is not worth one.
    let escaped = |c: char| c < ' ' || c == '"' || c == '\\';
    for c in message.iter().flat_map(|part| part.chars()) {
        let _ = text.write_char(if escaped(c) { ' ' } else { c });
    }
    let event = Event::Fatal {
        message: text.text().into(),
    };
    let (pid, entry) = (std::process::id(), event.into());
    let mut line = Fixed::<LINE>::default();
    if writeln!(line, "{}", Line { pid, entry }).is_err() {
        return;
    }
    // The holder of the lock may be the one who cannot go on.
    if let Some(mut journal) = JOURNAL.try_lock()
        && let Some(journal) = journal.as_mut()
        && (journal.is_open() || journal.reopen())
    {
        let _ = quietly(|| write_all(journal.descriptor, line.text().as_bytes()));
    }
}

/// Room for the message of a line without allocation, and for the line.
const MESSAGE: usize = 800;
const LINE: usize = MESSAGE + 200;

/// A text without allocation; what does not fit is left out.
struct Fixed<const ROOM: usize> {
    bytes: [u8; ROOM],
    used: usize,
}

impl<const ROOM: usize> Default for Fixed<ROOM> {
    fn default() -> Self {
        Self {
            bytes: [0; ROOM],
            used: 0,
        }
    }
}

impl<const ROOM: usize> Fixed<ROOM> {
    fn text(&self) -> &str {
        // Only whole characters are written.
        std::str::from_utf8(&self.bytes[..self.used]).unwrap_or_default()
    }
}

impl<const ROOM: usize> std::fmt::Write for Fixed<ROOM> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes[self.used..].get_mut(..text.len());
        room.ok_or(std::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

impl Journal {
    /// Whether the descriptor is still that of the file.
    fn is_open(&self) -> bool {
        self.descriptor >= 0 && identity(self.descriptor) == Some(self.identity)
    }

    /// Opens the file, at a high descriptor if possible. False, with the reason in `errno`, if that fails.
    fn reopen(&mut self) -> bool {
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let low = unsafe { libc::open(self.path.as_ptr(), flags, 0o644) };
        if low < 0 {
            return false;
        }
        // SAFETY: plain calls; the descriptor was just opened here.
        let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, highest()) };
        self.descriptor = if high < 0 {
            low
        } else {
            // SAFETY: opened above, and not needed any more.
            unsafe { libc::close(low) };
            high
        };
        self.identity = identity(self.descriptor).unwrap_or_default();
        true
    }
}

/// The number from which a descriptor is asked for.
fn highest() -> RawFd {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is filled in.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let last = limit.rlim_cur.saturating_sub(1);
    RawFd::try_from(last).unwrap_or(HIGH).min(HIGH)
}

fn identity(descriptor: RawFd) -> Option<(u64, u64)> {
    // SAFETY: all zeroes is a valid value, which is filled in.
    let mut stat = unsafe { std::mem::zeroed::<libc::stat>() };
    // SAFETY: any number may be asked about.
    let known = unsafe { libc::fstat(descriptor, &raw mut stat) } == 0;
    known.then_some((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_message_fits_a_line() {
        let mut text = Fixed::<MESSAGE>::default();
        while text.write_char('é').is_ok() {}
        assert_eq!(text.text().len(), MESSAGE);
        let event = Event::Fatal {
            message: text.text().into(),
        };
        let (pid, entry) = (u32::MAX, event.into());
        let mut line = Fixed::<LINE>::default();
        writeln!(line, "{}", Line { pid, entry }).expect("room");
        assert!(line.text().ends_with("é\"}\n"));
    }

    #[test]
    fn a_lost_descriptor_is_noticed() {
        let path = std::env::temp_dir().join(format!("rsan-journal-{}", std::process::id()));
        let mut journal = Journal {
            path: CString::new(path.to_str().expect("a UTF-8 path")).expect("no zero byte"),
            descriptor: -1,
            identity: (0, 0),
        };
        assert!(!journal.is_open());
        assert!(journal.reopen() && journal.is_open());
        let other = std::fs::File::open("/dev/null").expect("a device");
        let before = journal.descriptor;
        // SAFETY: both descriptors are open here; the journal's now belongs to another file.
        unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&other), before) };
        assert!(!journal.is_open());
        assert!(journal.reopen() && journal.is_open());
        // SAFETY: both were opened here.
        unsafe { (libc::close(before), libc::close(journal.descriptor)) };
        std::fs::remove_file(path).expect("the file is ours");
    }
}
