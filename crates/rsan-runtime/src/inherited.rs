//! Settings for a program that lost its environment on the way.
//!
//! `rsan run` passes its settings in `RSAN_OPTIONS`. A test harness may clear the environment, as `env -i` and `sudo` do;
//! the findings would then be missing from the report. So `rsan run` also leaves the settings in a file beside this
//! library, in the folder `runs`, with its own process and that process's time of start as the name (`PID-TIME`). A process
//! without `RSAN_OPTIONS` takes them if it descends from the process of such a file.

use crate::system::system_call;
use crate::{files, modules};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The line of ancestors is followed this far.
const MAX_DEPTH: usize = 256;

/// The settings that an ancestor left, if there are any.
pub(crate) fn options() -> Option<String> {
    let folder = folder()?;
    // There is normally no such folder, or nothing in it.
    if !has_files(&folder) {
        return None;
    }
    let mut pid = std::process::id();
    for _ in 0..MAX_DEPTH {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (parent, started) = parse(&stat)?;
        if let Ok(text) = files::read(folder.join(format!("{pid}-{started}")), files::SETTINGS) {
            return Some(text);
        }
        pid = parent;
    }
    None
}

/// Whether there is something in a folder. `opendir` would allocate, and this may be inside the program's allocator.
fn has_files(folder: &Path) -> bool {
    let Ok(path) = CString::new(folder.as_os_str().as_bytes()) else {
        return false;
    };
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let arguments = [path.as_ptr() as usize, flags as usize, 0, 0, 0, 0];
    // SAFETY: a C string.
    let folder = unsafe { system_call(libc::SYS_open, arguments) };
    let Ok(folder) = usize::try_from(folder) else {
        return false;
    };
    let mut entries = [0u64; 128];
    let arguments = [
        folder,
        entries.as_mut_ptr() as usize,
        size_of_val(&entries),
        0,
        0,
        0,
    ];
    // SAFETY: room for some entries; the folder is closed once.
    let bytes = unsafe {
        let bytes = system_call(libc::SYS_getdents64, arguments);
        system_call(libc::SYS_close, [folder, 0, 0, 0, 0, 0]);
        bytes
    };
    // The folder itself and the one above, with 24 bytes each.
    bytes > 2 * 24
}

/// Where the files are.
fn folder() -> Option<PathBuf> {
    let modules = modules::modules();
    let (library, _) = modules::find(&modules, folder as *const () as usize)?;
    Some(PathBuf::from(&library.path).parent()?.join("runs"))
}

/// The parent and the time of start in the text of `/proc/PID/stat`. The name, which may contain anything, is in
/// parentheses.
fn parse(stat: &str) -> Option<(u32, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    // The state is the third field.
    let field = |number: usize| fields.get(number - 3);
    Some((field(4)?.parse().ok()?, field(22)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_folders_are_told() {
        let folder = std::env::temp_dir().join(format!("rsan-inherited-{}", std::process::id()));
        assert!(!has_files(&folder));
        fs::create_dir(&folder).expect("a folder of the test's own");
        let empty = has_files(&folder);
        fs::write(folder.join("1-2"), "").expect("a file in it");
        let filled = has_files(&folder);
        fs::remove_dir_all(&folder).expect("the folder is removed");
        assert_eq!((empty, filled), (false, true));
    }

    #[test]
    fn parents_and_times_are_read() {
        let stat = "7 (a) b) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 0";
        assert_eq!(parse(stat), Some((3, 987_654)));
        assert_eq!(parse("7 (a) S 3"), None);
        let own = fs::read_to_string("/proc/self/stat").expect("this process");
        let parent = std::os::unix::process::parent_id();
        assert_eq!(parse(&own).map(|found| found.0), Some(parent));
    }
}
