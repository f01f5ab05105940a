//! Files that settings name: reading has a limit, for a file may have no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest list of suppressions.
pub(crate) const TEXT: u64 = 16 << 20;
/// Longest schedule.
pub(crate) const SCHEDULE: u64 = 256 << 20;
/// Longest list of settings.
pub(crate) const SETTINGS: u64 = 1 << 20;

/// The text in a file, without the byte order mark that some editors put before it.
pub(crate) fn read(path: impl AsRef<Path>, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(limit + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > limit {
        let message = format!("larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    const MARK: char = '\u{feff}';
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_files_are_not_read_to_their_end() {
        let error = read("/dev/zero", 1 << 20).expect_err("it has no end");
        assert_eq!(error.to_string(), "larger than 1 MiB");
        assert_eq!(read("/dev/null", 1 << 20).expect("empty"), "");
    }
}
