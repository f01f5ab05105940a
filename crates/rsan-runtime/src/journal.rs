//! The log: a file that all processes of a run append lines to, each with one system call, so that none is torn.
//!
//! The file is opened at the start and kept at a high descriptor, for a program may run out of descriptors later. A
//! program that closes all its descriptors closes this one too; it may even have a file of its own there afterwards.
//! So the descriptor is compared with the file before each line, and the file is opened again when it is lost.
//!
//! Besides findings ([`crate::report`]) there are lines about the process itself:
//!
//! ```text
//! {"schema":"rsan-runtime/1","pid":N,"kind":"start","program":"path","command":"…","model":"c20"}   with announce=1, at the start
//! {"schema":"rsan-runtime/1","pid":N,"kind":"suppressed"}                   with announce=1, for a finding left out
//! {"schema":"rsan-runtime/1","pid":N,"kind":"foreign","modules":["…",…]}   with announce=1, with the first race: not instrumented
//! {"schema":"rsan-runtime/1","pid":N,"kind":"forked"}    its schedule is ours, and it made a process whose schedule is not
//! {"schema":"rsan-runtime/1","pid":N,"kind":"diverged","stack":FRAMES}      a thread did not do what was planned
//! {"schema":"rsan-runtime/1","pid":N,"kind":"refused","message":"…","stack":FRAMES}   not for this model
//! {"schema":"rsan-runtime/1","pid":N,"kind":"undecided","message":"…","stack":FRAMES}   with exact=1: no proof, for this reason
//! {"schema":"rsan-runtime/1","pid":N,"kind":"fatal","message":"…"}          the runtime could not go on
//! ```

use crate::lock::Lock;
use crate::modules;
use crate::options::Options;
use crate::output::{self, quietly, write_all};
use std::ffi::CString;
use std::fmt::Write as _;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

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
        let program = output::quote(&modules::executable());
        let model = options.model;
        let command = output::quote(&modules::command());
        let rest = format!(",\"program\":{program},\"command\":{command},\"model\":\"{model}\"");
        append(line("start", &rest).as_bytes());
    } else if let Some(journal) = JOURNAL.lock().as_mut() {
        journal.reopen();
    }
}

/// Notes that a finding was left out.
pub(crate) fn suppressed() {
    append(line("suppressed", "").as_bytes());
}

/// Notes which modules are not instrumented.
pub(crate) fn foreign(names: &[&str]) {
    let names: Vec<_> = names.iter().map(|name| output::quote(name)).collect();
    let rest = format!(",\"modules\":[{}]", names.join(","));
    append(line("foreign", &rest).as_bytes());
}

/// Notes that this process, whose schedule is ours, made another one, whose schedule is not.
pub(crate) fn forked() {
    append(line("forked", "").as_bytes());
}

/// Notes where the thread is that does not do what it should.
pub(crate) fn diverged(stack: &str) {
    append(line("diverged", &format!(",\"stack\":{stack}")).as_bytes());
}

/// Notes that the process ends because it does what the model does not have.
pub(crate) fn refused(message: &str, stack: &str) {
    let message = output::quote(message);
    let rest = format!(",\"message\":{message},\"stack\":{stack}");
    append(line("refused", &rest).as_bytes());
}

/// Notes that something could not be decided, and where.
pub(crate) fn undecided(message: &str, stack: &str) {
    let message = output::quote(message);
    let rest = format!(",\"message\":{message},\"stack\":{stack}");
    append(line("undecided", &rest).as_bytes());
}

/// A line about the process.
fn line(kind: &str, rest: &str) -> String {
    let pid = std::process::id();
    format!("{{\"schema\":\"rsan-runtime/1\",\"pid\":{pid},\"kind\":\"{kind}\"{rest}}}\n")
}

/// Whether something that belongs into the log is not there.
pub(crate) fn lost() -> bool {
    // ORDERING: relaxed; a flag that is only ever set.
    LOST.load(Ordering::Relaxed)
}

/// Appends a line, or says why that is not possible. True if it is in the log.
pub(crate) fn append(line: &[u8]) -> bool {
    let mut journal = JOURNAL.lock();
    let Some(journal) = journal.as_mut() else {
        return false;
    };
    let result = if journal.is_open() || journal.reopen() {
        quietly(|| write_all(journal.descriptor, line))
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
    let mut text = Fixed::default();
    let pid = std::process::id();
    let _ = write!(
        text,
        "{{\"schema\":\"rsan-runtime/1\",\"pid\":{pid},\"kind\":\"fatal\",\"message\":\""
    );
    for c in message.iter().flat_map(|part| part.chars()) {
        // Messages are our own; what would need an escape is not worth one.
        let _ = text.write_char(if c < ' ' || c == '"' || c == '\\' {
            ' '
        } else {
            c
        });
    }
    text.end("\"}\n");
    // The holder of the lock may be the one who cannot go on.
    if let Some(mut journal) = JOURNAL.try_lock()
        && let Some(journal) = journal.as_mut()
        && (journal.is_open() || journal.reopen())
    {
        let _ = quietly(|| write_all(journal.descriptor, &text.bytes[..text.used]));
    }
}

/// A line without allocation; what does not fit is left out.
struct Fixed {
    bytes: [u8; 1024],
    used: usize,
}

impl Default for Fixed {
    fn default() -> Self {
        Self {
            bytes: [0; 1024],
            used: 0,
        }
    }
}

impl Fixed {
    /// Room that is kept for the end.
    const END: usize = 8;

    fn end(&mut self, end: &str) {
        debug_assert!(end.len() <= Self::END);
        self.bytes[self.used..][..end.len()].copy_from_slice(end.as_bytes());
        self.used += end.len();
    }
}

impl std::fmt::Write for Fixed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.used + text.len() > self.bytes.len() - Self::END {
            return Err(std::fmt::Error);
        }
        self.bytes[self.used..][..text.len()].copy_from_slice(text.as_bytes());
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
    fn a_fixed_line_keeps_room_for_its_end() {
        let mut text = Fixed::default();
        while text.write_str("0123456789").is_ok() {}
        text.end("\"}\n");
        assert!(text.bytes[..text.used].ends_with(b"9\"}\n"));
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
