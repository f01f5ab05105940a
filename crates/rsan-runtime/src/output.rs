//! Where findings are printed: standard error, another descriptor, or a file of each process.

use crate::lock::{Lock, RawLock};
use crate::system::{SIGNAL_SET, own_call, system_call};
use std::ffi::{CString, c_char, c_int};
use std::os::fd::RawFd;

struct Output {
    /// The name of the file without the number of the process; none if it is a descriptor.
    path: Option<String>,
    /// The name of the file.
    name: Option<CString>,
    /// The process that opened it.
    process: u32,
    descriptor: c_int,
}

static OUTPUT: Lock<Output> = Lock::new(Output {
    path: None,
    name: None,
    process: 0,
    descriptor: libc::STDERR_FILENO,
});

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static RawLock {
    OUTPUT.raw()
}

/// Findings are printed to this file from now on, with the number of the process behind its name; `stdout` and `stderr` are no
/// files, and an empty name says nothing.
pub(crate) fn set_path(path: &str) {
    match path {
        "" => {}
        "stdout" => set_descriptor(libc::STDOUT_FILENO),
        "stderr" => set_descriptor(libc::STDERR_FILENO),
        file => {
            let mut output = OUTPUT.lock();
            output.path = Some(file.to_owned());
            output.open();
        }
    }
}

/// Findings are printed to this descriptor from now on.
pub(crate) fn set_descriptor(descriptor: c_int) {
    let mut output = OUTPUT.lock();
    (output.path, output.name) = (None, None);
    output.descriptor = descriptor;
}

/// The name of the file; `stdout` or `stderr` for a descriptor. It is there for ever.
pub(crate) fn path() -> *const c_char {
    let output = OUTPUT.lock();
    match (&output.name, output.descriptor) {
        (Some(name), _) => name.clone().into_raw(),
        (None, libc::STDOUT_FILENO) => c"stdout".as_ptr(),
        (None, _) => c"stderr".as_ptr(),
    }
}

/// Prints.
pub(crate) fn write_text(bytes: &[u8]) {
    let mut output = OUTPUT.lock();
    if output.path.is_some() && output.process != std::process::id() {
        output.open();
    }
    write_to(output.descriptor, bytes);
}

impl Output {
    /// Opens the file of this process. Without it, standard error has to do.
    fn open(&mut self) {
        self.process = std::process::id();
        let name = format!(
            "{}.{}",
            self.path.as_deref().unwrap_or_default(),
            self.process
        );
        let name = CString::new(name).unwrap_or_default();
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
        let (folder, file) = (libc::AT_FDCWD as usize, name.as_ptr() as usize);
        let arguments = [folder, file, flags as usize, 0o666, 0, 0];
        // SAFETY: a C string.
        let opened = unsafe { system_call(libc::SYS_openat, arguments) } as c_int;
        self.name = Some(name);
        self.descriptor = match opened {
            failed if failed < 0 => libc::STDERR_FILENO,
            opened => opened,
        };
    }
}

/// Writes everything, without a buffer; what cannot be written is lost.
pub fn write_to(file: i32, bytes: &[u8]) {
    let _ = quietly(|| write_all(file, bytes));
}

/// Writes a line, normally by one call.
pub(crate) fn write_all(descriptor: RawFd, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let arguments = [
            descriptor as usize,
            bytes.as_ptr() as usize,
            bytes.len(),
            0,
            0,
            0,
        ];
        // SAFETY: the buffer is valid.
        let written = unsafe { own_call(libc::SYS_write, arguments) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) if -written == libc::EINTR as isize => {}
            Err(_) => return Err(std::io::Error::from_raw_os_error(-written as i32)),
        }
    }
    Ok(())
}

/// Writes without the signals that a failed write raises: the program did not write, so it must not get them.
pub(crate) fn quietly<R>(write: impl FnOnce() -> R) -> R {
    let raised = 1u64 << (libc::SIGPIPE - 1) | 1 << (libc::SIGXFSZ - 1);
    let mask = |how: c_int, set: u64| {
        let mut before = 0u64;
        let [set, place] = [&raw const set as usize, &raw mut before as usize];
        // SAFETY: two sets; only this thread's mask changes, and it is restored.
        unsafe {
            own_call(
                libc::SYS_rt_sigprocmask,
                [how as usize, set, place, SIGNAL_SET, 0, 0],
            )
        };
        before
    };
    let before = mask(libc::SIG_BLOCK, raised);
    let mut pending = 0u64;
    let place = &raw mut pending as usize;
    // SAFETY: a place for a set.
    unsafe { own_call(libc::SYS_rt_sigpending, [place, SIGNAL_SET, 0, 0, 0, 0]) };
    let result = write();
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        let one = 1u64 << (signal - 1);
        // One that was pending before is the program's.
        if pending & one == 0 {
            let now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let [set, time] = [&raw const one as usize, &raw const now as usize];
            // SAFETY: a set and a time.
            unsafe { own_call(libc::SYS_rt_sigtimedwait, [set, 0, time, SIGNAL_SET, 0, 0]) };
        }
    }
    mask(libc::SIG_SETMASK, before);
    result
}

/// A text with nothing in it that a terminal obeys: names of files and of what the program has may be anything.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}
