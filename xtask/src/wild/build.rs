//! Programs, built with either sanitizer.

use super::fetch::{Sources, done, make, work};
use super::manifest::{Case, folder};
use crate::bench::{rsan_command, runtime};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A sanitizer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    /// Ours.
    Rsan,
    /// ThreadSanitizer of the same compiler.
    Tsan,
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Rsan => "rsan",
            Self::Tsan => "tsan",
        }
    }

    /// The compilers as a user writes them.
    fn compilers(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::Rsan => [("CC", "rsan cc"), ("CXX", "rsan c++")],
            Self::Tsan => [
                ("CC", "gcc -fsanitize=thread -g -Wno-tsan"),
                ("CXX", "g++ -fsanitize=thread -g -Wno-tsan"),
            ],
        }
    }
}

/// The command and the library, as they are now.
pub(crate) struct Tools {
    pub(crate) rsan: PathBuf,
    /// The folder of the library; programs that were linked with an older one use this one.
    pub(crate) library: PathBuf,
}

impl Tools {
    /// Builds them.
    pub(crate) fn new() -> Result<Self, String> {
        let rsan = rsan_command()?;
        let library = runtime(true)?;
        let library = library
            .parent()
            .ok_or("the library is in no folder")?
            .to_owned();
        Ok(Self { rsan, library })
    }

    /// Builds a program unless it was built from the same sources in the same way; where.
    pub(crate) fn build(
        &self,
        case: &Case,
        sources: &Sources,
        variant: Variant,
    ) -> Result<PathBuf, String> {
        let place = work().join(variant.name()).join(&case.name);
        let stamp = place.with_extension("built");
        let how = format!("{}\n{}", sources.version(), case.build);
        if std::fs::read_to_string(&stamp).is_ok_and(|text| text == how) {
            return Ok(place);
        }
        let _ = std::fs::remove_dir_all(&place);
        make(&place)?;
        let mut shell = self.shell(&case.build, &place);
        shell.envs(sources.variables.iter().map(|(name, path)| (name, path)));
        for (name, command) in variant.compilers() {
            shell.env(name, command);
            shell.env(format!("{name}_PATH"), wrapper(variant, name, command)?);
        }
        done(&mut shell)?;
        std::fs::write(&stamp, how).map_err(|e| format!("{}: {e}", stamp.display()))?;
        Ok(place)
    }

    /// A shell that ends at the first error, with our command and our files at hand.
    pub(crate) fn shell(&self, script: &str, place: &Path) -> Command {
        let mut shell = Command::new("sh");
        let mut path = vec![self.rsan.parent().unwrap_or(Path::new("/")).to_owned()];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        path.extend(std::env::split_paths(&inherited));
        shell
            .args(["-eu", "-c", script])
            .current_dir(place)
            .env("WILD", folder())
            .env("LD_LIBRARY_PATH", &self.library);
        if let Ok(path) = std::env::join_paths(path) {
            shell.env("PATH", path);
        }
        shell
    }
}

/// A script that stands for a compiler of several words.
fn wrapper(variant: Variant, name: &str, command: &str) -> Result<PathBuf, String> {
    let place = work().join("bin");
    make(&place)?;
    let path = place.join(format!("{}-{}", variant.name(), name.to_lowercase()));
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::write(&path, format!("#!/bin/sh\nexec {command} \"$@\"\n")).map_err(failed)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(path)
}
