//! The standard library of a toolchain, instrumented: once for each toolchain.
//!
//! Only its atomic accesses are seen, so its synchronisation is; plain accesses of its own are not looked at.

use super::cache::{Cache, Key};
use super::objects::{self, Instrumenter, Parts};
use super::toolchain::Toolchain;
use crate::session::eprint;
use rsan_llvm::Depth;
use std::fs;
use std::path::{Path, PathBuf};

/// Has what the compiler itself calls, the sanitizer's runtime included.
const LEFT_ALONE: &[&str] = &["libcompiler_builtins-", "libprofiler_builtins-"];

/// The instrumented form of a library of the toolchain; none for what is left alone.
pub(crate) fn library(toolchain: &Toolchain, cache: &Cache, file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let ours = file.parent()? == toolchain.libraries() && name.ends_with(".rlib");
    if !ours || LEFT_ALONE.iter().any(|start| name.starts_with(start)) {
        return None;
    }
    let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
    let text = format!("{name} {size}");
    let key = Key::new(text.as_bytes(), &toolchain.commit, Depth::Atomics, true);
    Some(cache.library(key))
}

/// Instruments the standard library, if that was not done before.
///
/// # Errors
/// The message for the user.
pub(crate) fn prepare(toolchain: &Toolchain) -> Result<(), String> {
    let cache = Cache::open()?;
    cache.folder("std")?;
    let folder = toolchain.libraries();
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut wanted: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let file = entry.path();
            let instrumented = library(toolchain, &cache, &file)?;
            (!instrumented.exists()).then_some((file, instrumented))
        })
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    wanted.sort();
    eprint(&format!(
        "rsan: instrumenting the standard library of Rust {} (once per toolchain)\n",
        toolchain.release
    ));
    let instrumenter = Instrumenter {
        toolchain,
        cache: &cache,
        depth: Depth::Atomics,
        optimise: true,
    };
    let mut all = Vec::new();
    for (file, instrumented) in wanted {
        let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parts = instrumenter.parts(&file, &bytes)?;
        all.push((bytes, parts, instrumented));
    }
    let units = objects::units(all.iter().map(|(_, parts, _)| parts));
    objects::instrument(units, &toolchain.llvm)?;
    for (bytes, parts, instrumented) in &all {
        let archive = match parts {
            Parts::Archive(parts) => objects::rebuild(parts, bytes)?,
            Parts::Plain | Parts::Bitcode(_) => bytes.clone(),
        };
        crate::sanitizer::library::install_file(instrumented, &archive)
            .map_err(|error| format!("{}: {error}", instrumented.display()))?;
    }
    Ok(())
}
