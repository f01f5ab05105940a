//! Folders for temporary files, gone at the end. What processes that were killed have left is removed by a later one.

use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A folder that only this user may enter, removed with its contents when dropped.
pub(crate) struct Scratch {
    path: PathBuf,
    /// The folder itself. It is locked as long as this process lives, and by nobody afterwards.
    _lock: Option<File>,
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// How names begin.
const PREFIX: &str = "rsan-";
/// Between the making of a folder and its lock there is less time than this.
const FRESH: Duration = Duration::from_secs(60);

impl Scratch {
    /// A new folder among the system's temporary files.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn new() -> Result<Self, String> {
        Self::within(&std::env::temp_dir())
    }

    /// A new folder in another one.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn within(folder: &Path) -> Result<Self, String> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            let path = folder.join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                // Left behind by a process that was killed and had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
                Ok(()) => {
                    // Not every file system has locks; there the folder may stay behind.
                    let lock = locked(&path);
                    return Ok(Self { path, _lock: lock });
                }
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The folder, locked, unless somebody else has it.
fn locked(path: &Path) -> Option<File> {
    let folder = File::open(path).ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(folder)
}

/// Removes what processes of this user that are gone have left among the temporary files.
pub(crate) fn sweep() {
    for folder in [&std::env::temp_dir(), Path::new("/dev/shm")] {
        sweep_in(folder);
    }
}

/// Removes what processes of this user that are gone have left in a folder.
pub(crate) fn sweep_in(folder: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_ours) {
            continue;
        }
        // This does not follow links.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let age = metadata
            .modified()
            .ok()
            .and_then(|time| time.elapsed().ok());
        let left =
            metadata.is_dir() && metadata.uid() == user && age.is_some_and(|age| age > FRESH);
        if left && locked(&entry.path()).is_some() {
            // Somebody else may be doing the same.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A path as the user is to see it: of what is in a folder of this process there is only the name, for it is gone afterwards.
pub(crate) fn shown(path: &str) -> &str {
    let own = format!("{PREFIX}{}-", std::process::id());
    match path.rsplit_once('/') {
        Some((folder, name)) => match Path::new(folder).file_name().and_then(|f| f.to_str()) {
            Some(folder) if is_ours(folder) && folder.starts_with(&own) => name,
            _ => path,
        },
        None => path,
    }
}

/// Whether this is the name of such a folder: two numbers.
fn is_ours(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, own)| number(process) && number(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// Makes a folder look old.
    fn age(path: &Path) {
        let folder = File::open(path).expect("a folder");
        let past = SystemTime::now() - 2 * FRESH;
        folder.set_modified(past).expect("the folder is ours");
    }

    #[test]
    fn what_the_dead_have_left_is_removed() {
        let all = Scratch::new().expect("a folder");
        let make = |name: &str| {
            let path = all.path().join(name);
            fs::create_dir(&path).expect("a folder");
            fs::write(path.join("file"), "").expect("a file");
            age(&path);
            path
        };
        let (left, other, fresh) = (make("rsan-1-0"), make("rsan-1000"), make("rsan-1-1"));
        fs::write(fresh.join("new"), "").expect("a file");
        let alive = Scratch::within(all.path()).expect("a folder");
        age(alive.path());
        sweep_in(all.path());
        let there = [&*left, &*other, &*fresh, alive.path()].map(Path::exists);
        assert_eq!(there, [false, true, true, true]);
    }
}
