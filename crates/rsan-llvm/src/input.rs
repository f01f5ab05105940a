//! Files that IR is in: textual, bitcode, object files with a section of bitcode, archives of those.

use crate::error::Error;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::io::ErrorKind;

/// IR of a file.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The file, and the member of an archive.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

const BITCODE: &[u8] = b"BC\xC0\xDE";
const WRAPPED: &[u8] = b"\xDE\xC0\x17\x0B";
const ARCHIVE: &[u8] = b"!<arch>\n";
/// Where compilers put bitcode: ELF and COFF, Mach-O.
const SECTIONS: [&str; 2] = [".llvmbc", "__bitcode"];

/// The IR in a file.
///
/// # Errors
/// The file cannot be read, or has none.
pub(crate) fn pieces(file: &str) -> Result<Vec<Piece>, Error> {
    let bytes = std::fs::read(file).map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => Error::Memory,
        _ => Error::File {
            file: file.to_owned(),
            message: error.to_string(),
        },
    })?;
    let found = split(file, bytes)?;
    match found.is_empty() {
        true => Err(empty(file, "an archive of objects without bitcode")),
        false => Ok(found),
    }
}

fn empty(file: &str, message: &str) -> Error {
    Error::Empty {
        file: file.to_owned(),
        message: message.to_owned(),
    }
}

fn split(file: &str, bytes: Vec<u8>) -> Result<Vec<Piece>, Error> {
    if bytes.is_empty() {
        return Err(empty(file, "the file is empty"));
    }
    if bytes.starts_with(ARCHIVE) {
        return members(file, &bytes);
    }
    let name = file.to_owned();
    if bytes.starts_with(BITCODE) || bytes.starts_with(WRAPPED) {
        return Ok(vec![Piece { name, bytes }]);
    }
    if let Ok(found) = object::File::parse(&bytes[..]) {
        return match in_object(&found) {
            Some(bytes) => Ok(vec![Piece { name, bytes }]),
            None => Err(empty(file, "an object file without bitcode")),
        };
    }
    // Bitcode that lost its beginning has bytes that no text has; LLVM's words on it as text would lead astray.
    let head = &bytes[..bytes.len().min(4096)];
    if head.contains(&0) {
        return Err(empty(file, "neither bitcode nor text"));
    }
    Ok(vec![Piece { name, bytes }])
}

fn in_object(found: &object::File<'_>) -> Option<Vec<u8>> {
    let section = SECTIONS
        .iter()
        .find_map(|name| found.section_by_name(name))?;
    let bytes = section.data().ok()?;
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

fn members(file: &str, bytes: &[u8]) -> Result<Vec<Piece>, Error> {
    let corrupt = |error: object::Error| Error::Corrupt {
        file: file.to_owned(),
        message: format!("the archive is damaged: {error}"),
    };
    let archive = ArchiveFile::parse(bytes).map_err(corrupt)?;
    let mut pieces = Vec::new();
    for member in archive.members() {
        let member = member.map_err(corrupt)?;
        let data = member.data(bytes).map_err(corrupt)?;
        let name = format!("{file}({})", String::from_utf8_lossy(member.name()));
        // Archives have members of other kinds, too: metadata of a Rust crate.
        let is_bitcode = data.starts_with(BITCODE) || data.starts_with(WRAPPED);
        let found = match is_bitcode {
            true => Some(data.to_vec()),
            false => object::File::parse(data)
                .ok()
                .and_then(|found| in_object(&found)),
        };
        pieces.extend(found.map(|bytes| Piece { name, bytes }));
    }
    Ok(pieces)
}
