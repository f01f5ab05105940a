//! Files with bitcode in them become files with instrumented objects.

use super::archive::{self, Member};
use super::cache::{Cache, Key};
use super::toolchain::Toolchain;
use object::{Object, ObjectSection};
use rsan_llvm::{Depth, Reader, Unit};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

const BITCODE: &[u8] = b"BC\xC0\xDE";

/// How files are instrumented.
pub(crate) struct Instrumenter<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) cache: &'a Cache,
    pub(crate) depth: Depth,
    pub(crate) optimise: bool,
}

/// What a file consists of.
pub(crate) enum Parts {
    /// Nothing to instrument.
    Plain,
    /// A module.
    Bitcode(Unit),
    /// An archive.
    Archive(Vec<Part>),
}

/// A member of an archive.
pub(crate) struct Part {
    name: String,
    /// The module to take instead.
    unit: Option<Unit>,
    range: Range<usize>,
}

impl Instrumenter<'_> {
    /// What is in a file.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn parts(&self, file: &Path, bytes: &[u8]) -> Result<Parts, String> {
        if bytes.starts_with(BITCODE) {
            let name = file.display().to_string();
            return Ok(Parts::Bitcode(self.unit(name, file, bytes, 0..bytes.len())));
        }
        if !archive::is_archive(bytes) {
            return Ok(Parts::Plain);
        }
        let fail = |error: String| format!("{}: {error}", file.display());
        let mut parts = Vec::new();
        for (name, range) in archive::members(bytes).map_err(fail)? {
            let inside = bytes.get(range.clone()).and_then(bitcode);
            let unit = inside.map(|inside| {
                let start = range.start + inside.start;
                let name = format!("{}({name})", file.display());
                self.unit(name, file, bytes, start..range.start + inside.end)
            });
            parts.push(Part { name, unit, range });
        }
        match parts.iter().any(|part| part.unit.is_some()) {
            true => Ok(Parts::Archive(parts)),
            false => Ok(Parts::Plain),
        }
    }

    fn unit(&self, name: String, file: &Path, bytes: &[u8], range: Range<usize>) -> Unit {
        let key = Key::new(
            &bytes[range.clone()],
            &self.toolchain.commit,
            self.depth,
            self.optimise,
        );
        Unit {
            name,
            file: file.to_owned(),
            start: range.start as u64,
            size: range.len() as u64,
            depth: self.depth,
            optimise: self.optimise,
            output: self.cache.object(key),
        }
    }
}

/// Where the bitcode of a member is: all of it, or a section of an object.
fn bitcode(member: &[u8]) -> Option<Range<usize>> {
    if member.starts_with(BITCODE) {
        return Some(0..member.len());
    }
    let found = object::File::parse(member).ok()?;
    let section = found.section_by_name(".llvmbc")?;
    let (start, size) = section.file_range()?;
    let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
    (size > 0).then_some(start..start + size)
}

/// The modules of several files.
pub(crate) fn units<'a>(all: impl IntoIterator<Item = &'a Parts>) -> Vec<Unit> {
    let of = |parts: &Parts| match parts {
        Parts::Plain => Vec::new(),
        Parts::Bitcode(unit) => vec![unit.clone()],
        Parts::Archive(parts) => parts.iter().filter_map(|part| part.unit.clone()).collect(),
    };
    all.into_iter().flat_map(of).collect()
}

/// Instruments what the cache does not have, on all cores. `done` is told of the bytes that are ready and of all bytes.
///
/// # Errors
/// The message for the user.
pub(crate) fn instrument(units: Vec<Unit>, library: &Path) -> Result<(), String> {
    let mut missing: Vec<_> = units
        .into_iter()
        .filter(|unit| !unit.output.exists())
        .collect();
    missing.sort_by_key(|unit| std::cmp::Reverse(unit.size));
    missing.dedup_by(|a, b| a.output == b.output);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut shares = vec![Vec::new(); workers.min(missing.len())];
    let mut loads = vec![0; shares.len()];
    for unit in missing {
        let least = (0..loads.len()).min_by_key(|i| loads[*i]).unwrap_or(0);
        loads[least] += unit.size;
        shares[least].push(unit);
    }
    let reader = Reader::new().map_err(|error| error.to_string())?;
    thread::scope(|scope| {
        let workers: Vec<_> = shares
            .iter()
            .map(|share| scope.spawn(|| reader.instrument(share, library, &mut || true)))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            let answer = worker.join().map_err(|_| "a worker panicked".to_owned())?;
            answer.map_err(|error| error.to_string())
        })
    })
}

/// An archive with the objects of its modules, which are instrumented.
///
/// # Errors
/// The message for the user.
pub(crate) fn rebuild(parts: &[Part], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let members = parts.iter().map(|part| {
        let bytes = match &part.unit {
            Some(unit) => fs::read(&unit.output)
                .map_err(|error| format!("{}: {error}", unit.output.display()))?,
            None => bytes[part.range.clone()].to_vec(),
        };
        let name = part.name.clone();
        Ok(Member { name, bytes })
    });
    archive::write(members.collect::<Result<_, String>>()?)
}

/// The object of a file that is one module.
pub(crate) fn object(unit: &Unit) -> PathBuf {
    unit.output.clone()
}
