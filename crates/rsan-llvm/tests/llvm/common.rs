//! Readers, data, folders.

use rsan_llvm::{Error, Limits, Read, Reader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One whose children are this crate's own program.
pub(crate) fn reader() -> Reader {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_rsan-llvm"));
    Reader::with(program, vec![rsan_llvm::NAME.into()])
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Reads within a time that nothing here needs.
pub(crate) fn read(files: &[PathBuf]) -> Result<Read, Error> {
    let limits = Limits {
        time: Some(Duration::from_secs(60)),
        memory: None,
    };
    reader().limited(limits).read(files, &mut || true)
}

/// Whether this machine has an LLVM that reads the data of these tests: pointers without types are known since 15.
pub(crate) fn has_llvm() -> bool {
    match rsan_llvm::find() {
        Ok(library) => library.version().major >= 15,
        Err(Error::Missing { looked }) => {
            assert!(!looked.is_empty(), "places are named");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// A folder that is removed again.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Whatever is left does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
