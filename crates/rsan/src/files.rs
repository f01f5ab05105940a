//! Files of the user's: reading has a limit, for a file may have no end, and writing leaves the old file or the new one.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Longest text that people write: programs, suppressions, costs, arguments of compilers.
pub(crate) const TEXT: u64 = 16 << 20;
/// Longest schedule, and longest log of a run.
pub(crate) const RECORD: u64 = 256 << 20;
/// Longest checkpoint, and largest module that names are looked for in.
pub(crate) const LARGE: u64 = 4 << 30;

/// What is in a file.
///
/// # Errors
/// As the system says, or that the file is too large.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if path.is_dir() {
        let message = "this is a directory; name the files in it";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, message));
    }
    read_from(File::open(path)?, limit)
}

/// The same of something that is open.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_from(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// A text in UTF-8, without the mark that some editors put before it.
///
/// # Errors
/// As [`read`], or that it is no text.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::from_utf8(read(path, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the text is not UTF-8"))?;
    skip_mark(&mut text);
    Ok(text)
}

/// Takes the byte order mark off a text.
pub(crate) fn skip_mark(text: &mut String) {
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
}

/// Writes a file. Whoever reads it meanwhile, or finds it after a crash, has the old one or all of the new one.
///
/// # Errors
/// As the system says; the old file is there then.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe or a device cannot be replaced.
        return fs::write(path, contents);
    }
    let new = beside(path);
    let written = write_through(&new, contents)
        .and_then(|()| fs::rename(&new, path))
        .inspect(|()| sync_folder(path));
    if written.is_err() {
        // The disk may be full: what was written of it is in the way.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Writes a file that is new, and waits until it is on the disk.
fn write_through(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// Waits until the new name is on the disk. Not every file system lets folders be waited for, and the file is there all the same.
fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// A name in the same folder that no other process uses, on this machine or on another one.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    name.push(format!(".{host}-{}.new", std::process::id()));
    name.into()
}

/// Stands for contents: equal ones have the same, and others another one. It is the same on every machine.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_files_are_not_read_to_their_end() {
        let error = read(Path::new("/dev/zero"), 1 << 20).expect_err("it has no end");
        assert_eq!(error.to_string(), "larger than 1 MiB");
        assert!(read(Path::new("/dev/null"), 1 << 20).is_ok_and(|bytes| bytes.is_empty()));
        let exactly = read_from([0; 8].as_slice(), 8).expect("as large as it may be");
        assert_eq!(exactly.len(), 8);
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let mut text = "\u{feff}a\u{feff}".to_owned();
        skip_mark(&mut text);
        assert_eq!(text, "a\u{feff}");
    }
}
