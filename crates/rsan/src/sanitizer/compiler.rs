//! The compiler that the user has.

use super::library;
use crate::files::checksum;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// A language, for the choice of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
}

/// The kinds of compilers, whose options differ a little.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// gcc and g++.
    Gcc,
    /// clang, and what calls itself otherwise.
    Clang,
}

impl Language {
    /// The variable that chooses the compiler.
    fn variable(self) -> &'static str {
        match self {
            Self::C => "RSAN_CC",
            Self::Cpp => "RSAN_CXX",
        }
    }

    /// The compilers' names.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::C => ["gcc", "clang"],
            Self::Cpp => ["g++", "clang++"],
        }
    }

    /// The name of a compiler that the user named as one of C, such as `clang-14`.
    fn own_name(self, name: &str) -> Option<String> {
        let (family, version) = match name.split_once('-') {
            Some((family, version)) => (family, format!("-{version}")),
            None => (name, String::new()),
        };
        let [gcc, clang] = self.names();
        match family {
            "gcc" | "g++" => Some(format!("{gcc}{version}")),
            "clang" | "clang++" => Some(format!("{clang}{version}")),
            _ => None,
        }
    }
}

/// Versions that are looked for when no compiler has its plain name, the newest first.
const GCC_VERSIONS: std::ops::RangeInclusive<u32> = 9..=20;
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 14..=30;

/// A compiler: a program and its first arguments.
pub(crate) struct Compiler {
    program: OsString,
    first: Vec<OsString>,
    pub(crate) family: Family,
}

/// What is kept of an option: whether the compiler takes it.
const KNOWN: &[u8] = b"taken\n";
const UNKNOWN: &[u8] = b"refused\n";

impl Compiler {
    /// The compiler that an option chose, or the variable, or else one that is installed.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) fn find(language: Language, option: Option<&str>) -> Result<Self, String> {
        if let Some(name) = option {
            let own = language.own_name(name);
            return Self::named(own.as_deref().unwrap_or(name));
        }
        let variable = language.variable();
        let chosen = env::var(variable).unwrap_or_default();
        if !chosen.trim().is_empty() {
            return Self::named(&chosen).map_err(|error| format!("{variable}: {error}"));
        }
        let [gcc, clang] = language.names();
        let plain = [gcc.to_owned(), clang.to_owned()];
        let gccs = GCC_VERSIONS.rev().map(|n| format!("{gcc}-{n}"));
        let clangs = CLANG_VERSIONS.rev().map(|n| format!("{clang}-{n}"));
        let mut names = plain.into_iter().chain(gccs).chain(clangs);
        let name = names
            .find(|name| path_of(OsStr::new(name)).is_some())
            .ok_or_else(|| {
                format!("neither {gcc} nor {clang} is installed; {variable} names another compiler")
            })?;
        Self::named(&name)
    }

    /// The clang that the variable names, or that is installed; none if there is none.
    ///
    /// # Errors
    /// The message for the user, if the variable names something else.
    pub(crate) fn clang(language: Language) -> Result<Option<Self>, String> {
        let variable = language.variable();
        let chosen = env::var(variable).unwrap_or_default();
        if !chosen.trim().is_empty() {
            let named = Self::named(&chosen).map_err(|error| format!("{variable}: {error}"))?;
            return match named.family {
                Family::Clang => Ok(Some(named)),
                Family::Gcc => Err(format!(
                    "{variable} names gcc, which does not write LLVM's IR: name a clang, or give the program as .bc or .ll files"
                )),
            };
        }
        let [_, clang] = language.names();
        let versions = CLANG_VERSIONS.rev().map(|n| format!("{clang}-{n}"));
        let mut names = std::iter::once(clang.to_owned()).chain(versions);
        let name = names.find(|name| path_of(OsStr::new(name)).is_some());
        name.map(|name| Self::named(&name)).transpose()
    }

    /// What runs the compiler.
    pub(crate) fn command(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.first).args(words);
        command
    }

    /// A compiler by name or path, perhaps with first arguments.
    fn named(text: &str) -> Result<Self, String> {
        // A path may have blanks.
        let (program, first) = if Path::new(text).is_file() {
            (OsString::from(text), Vec::new())
        } else {
            let mut words = text.split_whitespace().map(OsString::from);
            (words.next().unwrap_or_default(), words.collect())
        };
        let path = path_of(&program);
        if is_this_command(path.as_deref()) {
            return Err(
                "this is rsan itself; the compiler that it calls is to be named".to_owned(),
            );
        }
        // In `ccache gcc` it is the second one that compiles.
        let compiler = first.iter().rev().find(|word| !is_option(word));
        let family = match compiler {
            Some(compiler) => family(path_of(compiler).as_deref(), compiler),
            None => family(path.as_deref(), &program),
        };
        Ok(Self {
            program,
            first,
            family,
        })
    }

    /// Whether the compiler knows an option. To ask it takes as long as to compile a small file, so the answer is kept.
    pub(crate) fn takes(&self, option: &str) -> bool {
        let memory = self.memory(option);
        let known = memory.as_deref().and_then(|file| fs::read(file).ok());
        match known.as_deref() {
            Some(KNOWN) => return true,
            Some(UNKNOWN) => return false,
            _ => {}
        }
        let mut command = Command::new(&self.program);
        command.args(&self.first).arg(option);
        command.args(["-x", "c", "-fsyntax-only", "/dev/null"]);
        let Ok(output) = command.stdin(Stdio::null()).output() else {
            return false;
        };
        let takes = output.status.success();
        if let Some(file) = memory.filter(|_| output.status.code().is_some()) {
            // If that is not possible, it is asked again.
            let _ = library::install_file(&file, if takes { KNOWN } else { UNKNOWN });
        }
        takes
    }

    /// The file that keeps what the compiler says to an option. Its name stands for the compiler as it is now; none if that is a script, or
    /// calls another program, which may be another one tomorrow.
    fn memory(&self, option: &str) -> Option<PathBuf> {
        let path = fs::canonicalize(path_of(&self.program)?).ok()?;
        let name = path.file_name()?.to_string_lossy();
        let compiles = ["gcc", "g++", "clang"]
            .iter()
            .any(|part| name.contains(part));
        let mut magic = [0; 4];
        fs::File::open(&path).ok()?.read_exact(&mut magic).ok()?;
        if !compiles || !self.first.is_empty() || magic != *b"\x7fELF" {
            return None;
        }
        let file = fs::metadata(&path).ok()?;
        let changed = [
            file.mtime(),
            file.mtime_nsec(),
            file.ctime(),
            file.ctime_nsec(),
        ];
        let others = ["GCC_EXEC_PREFIX", "COMPILER_PATH"].map(env::var_os);
        let key = (
            path,
            file.dev(),
            file.ino(),
            file.len(),
            changed,
            others,
            option,
        );
        let name = format!("option-{}", checksum(format!("{key:?}").as_bytes()));
        Some(library::folder().ok()?.join(name))
    }

    /// Runs the compiler.
    ///
    /// # Errors
    /// The message for the user, when it cannot be started.
    pub(crate) fn run(&self, words: &[OsString]) -> Result<ExitStatus, String> {
        let status = self.command(words).status();
        status.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{} is not installed", self.program.display()),
            _ => format!("{}: {error}", self.program.display()),
        })
    }
}

fn is_option(word: &OsStr) -> bool {
    word.to_string_lossy().starts_with('-')
}

/// The file that a name stands for, found as a shell finds it.
fn path_of(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

fn is_this_command(path: Option<&Path>) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let this = env::current_exe().ok().and_then(|path| real(&path));
    this.is_some() && path.and_then(real) == this
}

/// Judged by the name, or for `cc` and `c++` by what that is a link to.
fn family(path: Option<&Path>, name: &OsStr) -> Family {
    let real = path.and_then(|path| fs::canonicalize(path).ok());
    let names = [
        Path::new(name).file_name(),
        real.as_ref().and_then(|path| path.file_name()),
    ];
    let is = |part: &str| {
        let mut names = names.iter().flatten();
        names.any(|name| name.to_string_lossy().contains(part))
    };
    if (is("gcc") || is("g++")) && !is("clang") {
        Family::Gcc
    } else {
        Family::Clang
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_named_for_both_languages_at_once() {
        let own = |language: Language, name| language.own_name(name);
        assert_eq!(own(Language::C, "gcc").as_deref(), Some("gcc"));
        assert_eq!(own(Language::Cpp, "gcc-12").as_deref(), Some("g++-12"));
        assert_eq!(
            own(Language::Cpp, "clang-14").as_deref(),
            Some("clang++-14")
        );
        assert_eq!(own(Language::C, "clang++").as_deref(), Some("clang"));
        assert_eq!(own(Language::Cpp, "/opt/bin/gcc"), None);
    }

    #[test]
    fn the_family_follows_from_the_name() {
        let family = |name: &str| family(None, OsStr::new(name));
        for gcc in ["gcc", "g++-12", "/usr/bin/x86_64-linux-gnu-gcc"] {
            assert_eq!(family(gcc), Family::Gcc, "{gcc}");
        }
        for clang in ["clang", "clang++-14", "icx"] {
            assert_eq!(family(clang), Family::Clang, "{clang}");
        }
    }
}
