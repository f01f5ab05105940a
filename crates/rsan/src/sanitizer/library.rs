//! The runtime library that is part of this executable, as a file that programs can be linked with.
//!
//! It is written once, into a folder of the user's cache that is named by its contents: programs that were linked with
//! an older version keep finding theirs. Without a cache that can be written, a folder among the temporary files does.
//!
//! What is there is loaded into programs, so nobody else may have put it there: the files are compared with what they should be,
//! and every folder on the way must belong to this user or to root, and only they may write to it (or remove what is not
//! theirs, as in `/tmp`). Files that are wrong are written again; a place that cannot be trusted is not used.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The library; empty on platforms that it does not support.
const CONTENTS: &[u8] = include_bytes!(env!("RSAN_RUNTIME"));

/// Its file.
const NAME: &str = "librsan_runtime.so";

/// What programs may include, and its file in a folder of its own.
const HEADER: &[u8] = include_bytes!("../../include/rsan.h");
const HEADER_NAME: &str = "include/rsan.h";

/// What is linked with programs themselves, and its file.
const ENTRIES: &[u8] = include_bytes!(env!("RSAN_ENTRIES"));
const ENTRIES_NAME: &str = "plain.o";

/// The folder, where this process or one that has started it has looked at it already.
static TAKEN: OnceLock<PathBuf> = OnceLock::new();

/// Takes the folder that the process which started this one has found: a suite of tests need not compare all of the library once for
/// each test.
pub(crate) fn take(folder: PathBuf) {
    // A second call would name the same folder.
    let _ = TAKEN.set(folder);
}

/// The object that programs are linked with, in the folder of the library.
pub(crate) fn entries(folder: &Path) -> PathBuf {
    folder.join(ENTRIES_NAME)
}

/// The folder that holds the header; written if it is not there.
///
/// # Errors
/// The message for the user.
pub(crate) fn include_folder() -> Result<PathBuf, String> {
    Ok(folder()?.join("include"))
}

/// The folder that holds the library; written if it is not there.
///
/// # Errors
/// The message for the user.
pub(crate) fn folder() -> Result<PathBuf, String> {
    if let Some(folder) = TAKEN.get() {
        return Ok(folder.clone());
    }
    if CONTENTS.is_empty() {
        return Err("the sanitizer needs Linux on x86-64 with glibc".to_owned());
    }
    let mut problems = Vec::new();
    for folder in [cache(), temporary()].into_iter().flatten() {
        let folder = folder.join(env!("RSAN_RUNTIME_HASH"));
        match install(&folder) {
            Ok(()) => return Ok(TAKEN.get_or_init(|| folder).clone()),
            Err(error) => problems.push(format!("{}: {error}", folder.display())),
        }
    }
    Err(format!(
        "no place for the runtime library, XDG_CACHE_HOME names one: {}",
        problems.join("; ")
    ))
}

/// The user's cache, or what takes its place; it is there, and nobody else can write to it.
///
/// # Errors
/// The message for the user.
pub(crate) fn cache_folder() -> Result<PathBuf, String> {
    let folder = folder()?;
    folder
        .parent()
        .map(Path::to_owned)
        .ok_or_else(|| format!("{}: no folder is above it", folder.display()))
}

/// A folder in the user's cache.
fn cache() -> Option<PathBuf> {
    // A relative path would make programs depend on where they are started.
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("rsan"))
}

/// A folder of the user's own among the temporary files. Another user may have made it first, to make us run something
/// else: then it is not taken.
fn temporary() -> Option<PathBuf> {
    Some(env::temp_dir().join(format!("rsan-{}", user())))
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn install(folder: &Path) -> io::Result<()> {
    let include = folder.join("include");
    repair(folder, &include);
    // Others who can read it may run programs that were linked with it.
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o755).create(&include)?;
    trust(&include)?;
    install_file(&folder.join(HEADER_NAME), HEADER)?;
    install_file(&entries(folder), ENTRIES)?;
    install_file(&folder.join(NAME), CONTENTS)
}

/// Takes folders of ours back that others could write, and all that is in them, for it may be anything.
fn repair(folder: &Path, include: &Path) {
    let shared = |path: &Path| {
        let metadata = fs::symlink_metadata(path).ok()?;
        let ours = metadata.is_dir() && metadata.uid() == user();
        (ours && distrust(&metadata, user()).is_some()).then(|| metadata.permissions())
    };
    let above = folder
        .parent()
        .and_then(|above| Some((above, shared(above)?)));
    let inside = [folder, include]
        .into_iter()
        .any(|path| shared(path).is_some());
    // If that is not possible, the place is not trusted.
    if let Some((above, mut permissions)) = above.clone() {
        permissions.set_mode(permissions.mode() & !OTHERS_WRITE);
        let _ = fs::set_permissions(above, permissions);
    }
    if above.is_some() || inside {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Checks that nobody else can change what is in a folder, or put another one in its place.
fn trust(folder: &Path) -> io::Result<()> {
    // Links on the way count by where they lead, and by who can change them.
    let real = fs::canonicalize(folder)?;
    for path in folder.ancestors().chain(real.ancestors()) {
        let metadata = fs::metadata(path)?;
        if let Some(problem) = distrust(&metadata, user()) {
            let message = format!("cannot be trusted, for {} {problem}", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
    }
    Ok(())
}

/// The permissions of others to write.
const OTHERS_WRITE: u32 = 0o022;

/// Why a folder cannot be trusted by a user.
fn distrust(metadata: &fs::Metadata, user: u32) -> Option<String> {
    const STICKY: u32 = 0o1000;
    if ![user, 0].contains(&metadata.uid()) {
        return Some(format!("belongs to user {}", metadata.uid()));
    }
    let shared = metadata.mode() & OTHERS_WRITE != 0 && metadata.mode() & STICKY == 0;
    shared.then(|| "can be written by other users".to_owned())
}

/// Whether a file is what it should be, and nobody else can change it.
fn is_intact(file: &Path, contents: &[u8]) -> bool {
    let ours = |metadata: &fs::Metadata| {
        let size = metadata.len() == contents.len() as u64;
        metadata.is_file() && size && distrust(metadata, user()).is_none()
    };
    if !fs::symlink_metadata(file).is_ok_and(|metadata| ours(&metadata)) {
        return false;
    }
    File::open(file).is_ok_and(|file| begins_with(file, contents))
}

/// Whether what can be read begins so. It is looked at in parts: memory for all of it would cost more than reading it.
fn begins_with(mut file: impl Read, contents: &[u8]) -> bool {
    let mut found = vec![0; contents.len().min(PART)];
    contents.chunks(PART).all(|part| {
        let found = &mut found[..part.len()];
        file.read_exact(found).is_ok() && found == part
    })
}

/// Bytes that are compared at a time.
const PART: usize = 1 << 16;

/// Writes a file that appears whole under its name, unless it is there.
///
/// # Errors
/// The system's.
pub(crate) fn install_file(file: &Path, contents: &[u8]) -> io::Result<()> {
    if is_intact(file, contents) {
        return Ok(());
    }
    // Several compilers of one build may do this at the same time, even on several machines: each writes a file of its
    // own, and renaming is atomic.
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_nanos());
    let own = file.with_extension(format!("{}.{now}", std::process::id()));
    let written = write(&own, contents).and_then(|()| fs::rename(&own, file));
    if written.is_err() {
        // The disk may be full: what was written of it is in the way of others.
        let _ = fs::remove_file(&own);
    }
    written
}

/// Writes a new file, and waits until it is on the disk: after a crash the name has all of it or nothing.
fn write(file: &Path, contents: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(file)?;
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::scratch::Scratch;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn folders_that_others_can_write_are_not_trusted() {
        let all = Scratch::new().expect("a folder");
        let folder = all.path().join("a/b");
        fs::create_dir_all(&folder).expect("a folder");
        let problem = || trust(&folder).err().map(|error| error.to_string());
        let between = all.path().join("a");
        for (mode, shared) in [
            (0o755, false),
            (0o775, true),
            (0o757, true),
            (0o1777, false),
        ] {
            set_mode(&between, mode);
            assert_eq!(problem().is_some(), shared, "{mode:o}: {:?}", problem());
        }
        let metadata = fs::metadata(&folder).expect("a folder");
        let other = user() + 1;
        let said = format!("belongs to user {}", user());
        let expected = (user() != 0).then_some(said);
        assert_eq!(distrust(&metadata, other), expected);
    }

    #[test]
    fn folders_of_ours_are_taken_back() {
        let all = Scratch::new().expect("a folder");
        let folder = all.path().join("rsan/1234");
        let include = folder.join("include");
        for shared in [&folder, &include, &all.path().join("rsan")] {
            fs::create_dir_all(&include).expect("a folder");
            fs::write(include.join("stdio.h"), "anything").expect("a file");
            set_mode(shared, 0o777);
            install(&folder).expect("it can be repaired");
            assert!(!include.join("stdio.h").exists(), "{}", shared.display());
            assert!(is_intact(&folder.join(HEADER_NAME), HEADER));
        }
    }

    #[test]
    fn files_that_are_wrong_are_written_again() {
        let all = Scratch::new().expect("a folder");
        let file = all.path().join("file");
        let check = |wrong: &str| {
            assert!(!is_intact(&file, b"right"), "{wrong}");
            install_file(&file, b"right").expect("a file");
            assert!(is_intact(&file, b"right"), "{wrong}");
        };
        check("it is not there");
        fs::write(&file, "wrong").expect("a file");
        check("another text of this length");
        set_mode(&file, 0o666);
        check("others can write it");
        fs::rename(&file, all.path().join("other")).expect("a file");
        std::os::unix::fs::symlink(all.path().join("other"), &file).expect("a link");
        check("a link");
    }
}
