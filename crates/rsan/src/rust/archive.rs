//! Archives of objects: read, and written again with other members.

use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use object::read::archive::ArchiveFile;
use std::io::Cursor;

/// A member of an archive.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Whether a file is an archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n")
}

/// The members, with the places of their bytes in the file.
///
/// # Errors
/// What is wrong with the archive.
pub(crate) fn members(bytes: &[u8]) -> Result<Vec<(String, std::ops::Range<usize>)>, String> {
    let archive = ArchiveFile::parse(bytes).map_err(|error| error.to_string())?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|error| error.to_string())?;
        let (start, size) = member.file_range();
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let (start, size) = (usize::try_from(start), usize::try_from(size));
        if let (Ok(start), Ok(size)) = (start, size) {
            members.push((name, start..start + size));
        }
    }
    Ok(members)
}

/// An archive of these members, with a table of symbols.
///
/// # Errors
/// The message of the writer.
pub(crate) fn write(members: Vec<Member>) -> Result<Vec<u8>, String> {
    let members: Vec<_> = members
        .into_iter()
        .map(|member| NewArchiveMember::new(member.bytes, &DEFAULT_OBJECT_READER, member.name))
        .collect();
    let mut out = Cursor::new(Vec::new());
    write_archive_to_stream(&mut out, &members, ArchiveKind::Gnu, false, None)
        .map_err(|error| error.to_string())?;
    Ok(out.into_inner())
}
