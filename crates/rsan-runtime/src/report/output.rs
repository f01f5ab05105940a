//! Where findings are printed: standard error, another descriptor, or a file of each process.

use crate::lock::{Lock, RawLock};
use crate::system::system_call;
use std::ffi::{CString, c_char, c_int};

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
pub(super) fn lock() -> &'static RawLock {
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
    super::write_to(output.descriptor, bytes);
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
