//! The programs that cargo has built, and how the user names them.

use super::metadata::Metadata;
use crate::sanitizer::campaign::quoted;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A program with tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub(super) executable: PathBuf,
    pub(super) package: String,
    kind: Kind,
    name: String,
    /// The compiler keeps every access of the source.
    pub(super) as_written: bool,
}

/// What a program is to cargo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Library,
    Binary,
    Test,
    Example,
    Bench,
}

/// A line of what cargo prints for programs.
#[derive(Deserialize)]
struct Message {
    package_id: Option<String>,
    target: Option<Built>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Built {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    opt_level: String,
}

/// The programs that cargo told about.
pub(super) fn targets(text: &str, metadata: &Metadata) -> Vec<Target> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let messages = lines.filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let target = |message: Message| {
        let built = message.target?;
        Some(Target {
            executable: message.executable?,
            package: metadata.name(&message.package_id?)?.to_owned(),
            kind: kind(&built.kind),
            name: built.name,
            as_written: message.profile?.opt_level == "0",
        })
    };
    messages.filter_map(target).collect()
}

fn kind(names: &[String]) -> Kind {
    match names.first().map(String::as_str) {
        Some("bin") => Kind::Binary,
        Some("test") => Kind::Test,
        Some("example") => Kind::Example,
        Some("bench") => Kind::Bench,
        // There are several kinds of libraries.
        _ => Kind::Library,
    }
}

impl Target {
    /// What makes cargo choose it, among several packages or in the only one.
    pub(super) fn chosen(&self, is_only_package: bool) -> String {
        let name = quoted(&self.name);
        let target = match self.kind {
            Kind::Library => "--lib".to_owned(),
            Kind::Binary => format!("--bin {name}"),
            Kind::Test => format!("--test {name}"),
            Kind::Example => format!("--example {name}"),
            Kind::Bench => format!("--bench {name}"),
        };
        match is_only_package {
            true => target,
            false => format!("-p {} {target}", quoted(&self.package)),
        }
    }

    /// A name for one of its tests, or for itself: `queue::spsc`. Tests of a library have those of its modules.
    pub(super) fn label(&self, test: Option<&str>, is_only_package: bool) -> String {
        let package = (!is_only_package).then_some(&*self.package);
        let own = match self.kind {
            Kind::Library => test.is_none().then_some(&*self.name),
            Kind::Binary | Kind::Test | Kind::Example | Kind::Bench => Some(&*self.name),
        };
        let mut parts: Vec<_> = [package, own, test].into_iter().flatten().collect();
        // A program is often called as its package.
        if parts.len() > 2 {
            parts.dedup();
        }
        parts.join("::")
    }

    /// Whether it has libtest's main function, or one that takes the same options: their help says so.
    pub(super) fn has_harness(&self) -> bool {
        has_harness(&self.executable)
    }
}

/// What the help of libtest says of `--list`.
const LIST: &[u8] = b"List all tests and benchmarks";

fn has_harness(executable: &Path) -> bool {
    let bytes = std::fs::read(executable).unwrap_or_default();
    bytes.windows(LIST.len()).any(|window| window == LIST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_named_as_cargo_names_them() {
        let target = |kind, name: &str| Target {
            executable: PathBuf::new(),
            package: "pool".to_owned(),
            kind,
            name: name.to_owned(),
            as_written: true,
        };
        let library = target(Kind::Library, "pool");
        assert_eq!(library.chosen(true), "--lib");
        assert_eq!(library.label(Some("tests::one"), true), "tests::one");
        assert_eq!(library.label(Some("tests::one"), false), "pool::tests::one");
        let test = target(Kind::Test, "stress");
        assert_eq!(test.chosen(false), "-p pool --test stress");
        assert_eq!(test.label(Some("one"), true), "stress::one");
        assert_eq!(test.label(None, false), "pool::stress");
        let binary = target(Kind::Binary, "pool");
        assert_eq!(binary.label(Some("one"), false), "pool::one");
    }
}
