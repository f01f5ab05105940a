//! What was instrumented before, by content.
//!
//! An entry is an object file, and behind it its length and a hash. It appears whole under its name, and several builds share it: two that make the same
//! one are no harm. What is cut off or changed later is noticed when it is read, and made again. The entries that were used least recently go when
//! there are too many; those of the last hour stay, for a build may have seen that they are there.

use crate::sanitizer::library;
use crate::sanitizer::scratch::{self, Scratch};
use rsan_llvm::Depth;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Changes whenever instrumented code does.
const VERSION: &str = "12";
/// How many bytes of entries are too many, and how many are left then.
const MOST: u64 = 2 << 30;
const LEFT: u64 = 3 << 29;
/// What was used since then is in use.
const IN_USE: Duration = Duration::from_secs(3600);
/// What stands behind an object: its length, and a hash.
const TRAILER: usize = 8 + 16;

/// Tells builds of this command apart that instrument in another way, or link another library.
pub(crate) fn version() -> String {
    format!("{}-{VERSION}", env!("RSAN_RUNTIME_HASH"))
}

/// The cache of a user.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The user's.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn open() -> Result<Self, String> {
        let folder = library::cache_folder()?.join("rust");
        let cache = Self { folder };
        cache.folder("objects")?;
        Ok(cache)
    }

    /// A folder in it.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| self.failed(&folder, &error))?;
        Ok(folder)
    }

    /// A folder for temporary files, from which they can be renamed into the cache.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn scratch(&self) -> Result<Scratch, String> {
        Scratch::within(&self.folder("scratch")?)
    }

    /// A file that cannot be written, in words.
    pub(crate) fn failed(&self, file: &Path, error: &dyn std::fmt::Display) -> String {
        format!(
            "{}: {error}; what is instrumented is kept in {}, XDG_CACHE_HOME names another place",
            file.display(),
            self.folder.display()
        )
    }

    fn object(&self, key: &Key) -> PathBuf {
        self.folder.join("objects").join(format!("{}.o", key.0))
    }

    /// Whether there is an entry. It may be damaged.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.object(key).is_file()
    }

    /// An entry, unless there is none or it is damaged.
    pub(crate) fn load(&self, key: &Key) -> Option<Vec<u8>> {
        let file = self.object(key);
        let bytes = fs::read(&file).ok()?;
        let object = unsealed(bytes);
        match object {
            Some(_) => touch(&file),
            // It is in the way of a better one.
            None => drop(fs::remove_file(&file)),
        }
        object
    }

    /// Makes an object an entry; its file is gone then.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn adopt(&self, key: &Key, object: &Path) -> Result<(), String> {
        let adopt = || {
            let trailer = trailer(&fs::read(object)?);
            let mut file = OpenOptions::new().append(true).open(object)?;
            file.write_all(&trailer)?;
            fs::rename(object, self.object(key))
        };
        adopt().map_err(|error: io::Error| self.failed(object, &error))
    }

    /// Removes what was not used for the longest time, if there is too much, and what builds that were killed have left. What cannot be
    /// removed stays.
    pub(crate) fn tidy(&self) {
        scratch::sweep_in(&self.folder.join("scratch"));
        let entries = ["objects", "std"].map(|name| fs::read_dir(self.folder.join(name)));
        let entries = entries.into_iter().flatten().flatten().flatten();
        let entries = entries.filter_map(|entry| Entry::new(entry.path()));
        for old in superfluous(entries.collect(), SystemTime::now(), MOST, LEFT) {
            let _ = match old.is_dir() {
                true => fs::remove_dir_all(&old),
                false => fs::remove_file(&old),
            };
        }
    }
}

/// A file or folder in the cache.
#[derive(Debug)]
struct Entry {
    used: SystemTime,
    size: u64,
    path: PathBuf,
}

impl Entry {
    fn new(path: PathBuf) -> Option<Self> {
        let metadata = fs::symlink_metadata(&path).ok()?;
        let files = fs::read_dir(&path).into_iter().flatten().flatten();
        let inside = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        Some(Self {
            used: metadata.modified().ok()?,
            size: metadata.len() + inside.sum::<u64>(),
            path,
        })
    }
}

/// Which entries go so that so many bytes are left, if there are too many.
fn superfluous(mut entries: Vec<Entry>, now: SystemTime, most: u64, left: u64) -> Vec<PathBuf> {
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    if total <= most {
        return Vec::new();
    }
    entries.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    let is_old = |entry: &Entry| now.duration_since(entry.used).is_ok_and(|age| age > IN_USE);
    let mut gone = Vec::new();
    for entry in entries.into_iter().filter(is_old) {
        if total <= left {
            break;
        }
        total -= entry.size;
        gone.push(entry.path);
    }
    gone
}

/// Marks an entry as used.
pub(crate) fn touch(path: &Path) {
    // It is only removed earlier otherwise.
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

fn trailer(object: &[u8]) -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    let (length, hash) = trailer.split_at_mut(8);
    length.copy_from_slice(&(object.len() as u64).to_le_bytes());
    hash.copy_from_slice(&xxh3_128(object).to_le_bytes());
    trailer
}

/// The object in an entry, if it is as it was.
fn unsealed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let length = bytes.len().checked_sub(TRAILER)?;
    let (object, found) = bytes.split_at(length);
    if found != trailer(object) {
        return None;
    }
    bytes.truncate(length);
    Some(bytes)
}

/// The name of an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key(String);

impl Key {
    /// Of bytes that are instrumented by the LLVM of a toolchain.
    pub(crate) fn new(bytes: &[u8], commit: &str, depth: Depth) -> Self {
        let mut hash = Xxh3::new();
        hash.update(bytes);
        hash.update(format!("{VERSION} {commit} {depth:?}").as_bytes());
        Self(format!("{:032x}", hash.digest128()))
    }

    /// As the name of a file.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, size: u64, age: u64) -> Entry {
        Entry {
            used: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age),
            size,
            path: name.into(),
        }
    }

    #[test]
    fn the_oldest_entries_go_and_those_in_use_stay() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let all = || {
            vec![
                entry("used", 50, 10),
                entry("old", 30, 9000),
                entry("oldest", 30, 10_000),
                entry("older", 30, 9500),
            ]
        };
        let gone = |most, left| superfluous(all(), now, most, left);
        assert_eq!(gone(140, 0), Vec::<PathBuf>::new());
        assert_eq!(gone(139, 110), [Path::new("oldest")]);
        assert_eq!(gone(139, 100), ["oldest", "older"].map(Path::new));
        assert_eq!(gone(10, 0), ["oldest", "older", "old"].map(Path::new));
    }

    #[test]
    fn damaged_entries_are_no_entries() {
        let folder = Scratch::new().expect("a folder");
        let cache = Cache {
            folder: folder.path().to_owned(),
        };
        cache.folder("objects").expect("a folder");
        let key = Key::new(b"bitcode", "commit", Depth::Full);
        let put = |bytes: &[u8]| {
            let object = folder.path().join("new.o");
            fs::write(&object, bytes).expect("a file");
            cache.adopt(&key, &object).expect("an entry");
        };
        put(b"an object");
        assert_eq!(cache.load(&key).as_deref(), Some(&b"an object"[..]));
        let file = cache.object(&key);
        let whole = fs::read(&file).expect("an entry");
        let mut changed = whole.clone();
        changed[2] ^= 1;
        for damaged in [
            &whole[..0],
            &whole[..10],
            &whole[..whole.len() - 1],
            &changed,
        ] {
            fs::write(&file, damaged).expect("an entry");
            assert_eq!(cache.load(&key), None);
            assert!(!cache.has(&key), "it is gone");
        }
        put(b"");
        assert_eq!(cache.load(&key).as_deref(), Some(&b""[..]));
    }
}
