//! The standard library of a toolchain, instrumented: once for each toolchain.
//!
//! Only its atomic accesses are seen, so its synchronisation is; plain accesses of its own are not looked at. All libraries are in one folder, with a
//! table of their lengths and hashes. The folder gets its name when it is complete.

use super::cache::{self, Cache, Key};
use super::objects::Work;
use super::toolchain::{Instrumentation, Toolchain};
use crate::files;
use crate::session::eprint;
use rsan_llvm::Depth;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Have what the compiler itself calls, the sanitizer's runtime included.
const LEFT_ALONE: &[&str] = &["compiler_builtins-", "profiler_builtins-"];
/// The table of a folder.
const TABLE: &str = "table.json";

/// Whether a member of an archive is one of the toolchain's, by its name.
pub(crate) fn is_member(name: &str) -> bool {
    name.ends_with(".rcgu.o") && !is_left_alone(name)
}

fn is_left_alone(name: &str) -> bool {
    LEFT_ALONE.iter().any(|start| name.starts_with(start))
}

/// The instrumented libraries of a toolchain.
pub(crate) struct Standard {
    /// Where the toolchain has them.
    plain: PathBuf,
    /// Where they are instrumented.
    folder: PathBuf,
    table: Table,
}

/// Files of a folder.
#[derive(Default, Serialize, Deserialize)]
struct Table {
    files: BTreeMap<String, Sum>,
}

/// What a file has to be.
#[derive(Serialize, Deserialize)]
struct Sum {
    length: u64,
    hash: String,
}

/// How well a folder is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Every link does that.
    Lengths,
    /// Every command does that once.
    Contents,
}

impl Standard {
    /// The libraries, which are made if they are not there.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn ready(toolchain: &Toolchain, cache: &Cache) -> Result<Self, String> {
        Self::with(toolchain, cache, Care::Lengths)
    }

    fn with(toolchain: &Toolchain, cache: &Cache, care: Care) -> Result<Self, String> {
        let plain = toolchain.libraries();
        let files = libraries(&plain)?;
        let key = Key::new(
            format!("{files:?}").as_bytes(),
            &toolchain.commit,
            Depth::Atomics,
        );
        let all = cache.folder("std")?;
        let folder = all.join(key.name());
        let there = || Table::read(&folder, care);
        let table = match there() {
            Some(table) => table,
            None => {
                let _lock = lock(&all.join(format!("{}.lock", key.name())));
                // Whoever had the lock may have done it.
                match there() {
                    Some(table) => table,
                    None => make(toolchain, cache, &files, &folder)?,
                }
            }
        };
        cache::touch(&folder);
        Ok(Self {
            plain,
            folder,
            table,
        })
    }

    /// The instrumented form of a library of the toolchain; none of what is left alone.
    pub(crate) fn library(&self, file: &Path) -> Option<PathBuf> {
        let name = file.file_name()?.to_str()?;
        let ours = file.parent()? == self.plain && self.table.files.contains_key(name);
        ours.then(|| self.folder.join(name))
    }
}

impl Table {
    /// The table of a folder, if all is there that it says.
    fn read(folder: &Path, care: Care) -> Option<Self> {
        let text = fs::read_to_string(folder.join(TABLE)).ok()?;
        let table: Self = serde_json::from_str(&text).ok()?;
        let is_intact = |(name, sum): (&String, &Sum)| {
            let file = folder.join(name);
            match care {
                Care::Lengths => fs::metadata(file).is_ok_and(|found| found.len() == sum.length),
                Care::Contents => fs::read(file).is_ok_and(|b| files::checksum(&b) == sum.hash),
            }
        };
        table.files.iter().all(is_intact).then_some(table)
    }
}

/// The names and lengths of the libraries that are instrumented, in order.
fn libraries(folder: &Path) -> Result<BTreeMap<String, u64>, String> {
    let fail = |error: std::io::Error| {
        format!(
            "{}: {error}; the standard library of Rust belongs there",
            folder.display()
        )
    };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let of = name
            .strip_prefix("lib")
            .filter(|rest| rest.ends_with(".rlib"));
        if of.is_some_and(|rest| !is_left_alone(rest)) {
            files.insert(name, entry.metadata().map_err(fail)?.len());
        }
    }
    match files.keys().any(|name| name.starts_with("libstd-")) {
        true => Ok(files),
        false => Err(format!("{}: no standard library of Rust", folder.display())),
    }
}

/// A lock, so that two builds do not do the same; without locks they do.
fn lock(file: &Path) -> Option<File> {
    let file = File::create(file).ok()?;
    flock(&file, FlockOperation::LockExclusive).ok()?;
    Some(file)
}

fn make(
    toolchain: &Toolchain,
    cache: &Cache,
    files: &BTreeMap<String, u64>,
    folder: &Path,
) -> Result<Table, String> {
    eprint(&format!(
        "rsan: instrumenting the standard library of Rust {} (once per toolchain)\n",
        toolchain.release
    ));
    let scratch = cache.scratch()?;
    let work = Work {
        toolchain,
        cache,
        scratch: scratch.path(),
        optimise: true,
    };
    let plain = toolchain.libraries();
    let mut inputs = Vec::new();
    for name in files.keys() {
        inputs.extend(work.read(&plain.join(name))?.map(|input| (name, input)));
    }
    if inputs.is_empty() {
        eprint(&format!(
            "rsan: warning: {}\n",
            lost("its files have no bitcode")
        ));
    }
    work.instrument(inputs.iter().map(|(_, input)| input))?;
    let new = scratch.path().join("std");
    fs::create_dir(&new).map_err(|error| cache.failed(&new, &error))?;
    let mut table = Table::default();
    for (name, input) in inputs {
        let file = new.join(name);
        work.write(&input, &file)?;
        let bytes = fs::read(&file).map_err(|error| cache.failed(&file, &error))?;
        let sum = Sum {
            length: bytes.len() as u64,
            hash: files::checksum(&bytes),
        };
        table.files.insert(name.clone(), sum);
    }
    let text = serde_json::to_string(&table).unwrap_or_default();
    fs::write(new.join(TABLE), text).map_err(|error| cache.failed(&new, &error))?;
    // What is there is damaged, or was made at the same time by somebody whom the lock did not hold back.
    let _ = fs::remove_dir_all(folder);
    match fs::rename(&new, folder) {
        Err(error) if Table::read(folder, Care::Lengths).is_none() => {
            Err(cache.failed(folder, &error))
        }
        Ok(()) | Err(_) => Ok(table),
    }
}

/// What a standard library that is not instrumented means.
fn lost(why: &str) -> String {
    format!(
        "the standard library is not instrumented ({why}): what its locks, channels and other types order is not seen, and findings may be false"
    )
}

/// Instruments the standard library, if that was not done before, and removes from the cache what is too much.
///
/// # Errors
/// The message for the user.
pub(crate) fn prepare(toolchain: &Toolchain) -> Result<(), String> {
    let cache = Cache::open()?;
    cache.tidy();
    match &toolchain.instrumentation {
        Instrumentation::Bitcode { .. } => {
            Standard::with(toolchain, &cache, Care::Contents).map(drop)
        }
        Instrumentation::Sanitizer { .. } => {
            let why = format!(
                "Rust {} in {} has no LLVM that can be loaded, so its own -Zsanitizer=thread is used",
                toolchain.release,
                toolchain.sysroot.display()
            );
            eprint(&format!("rsan: warning: {}\n", lost(&why)));
            Ok(())
        }
    }
}
