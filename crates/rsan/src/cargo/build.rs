//! Cargo, started with this command as compiler and linker.

use super::metadata::Metadata;
use super::record::RUNNER;
use super::rustc;
use crate::args::CargoWords;
use crate::rust::session::Session;
use crate::rust::{TARGET, prepare};
use crate::sanitizer::campaign::quoted;
use crate::sanitizer::scratch::Scratch;
use crate::status::Status;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// Tells reports what folder the user's sources are in.
const ROOT: &str = "RSAN_ROOT";

/// A build of packages.
pub(super) struct Build {
    pub(super) metadata: Metadata,
    pub(super) scratch: Scratch,
    cargo: OsString,
    /// The user's words for cargo, without those that are ours to say.
    words: Vec<OsString>,
    after: Option<Vec<OsString>>,
    /// Where cargo builds.
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl Build {
    /// Finds out what there is, and makes the standard library ready.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn new(given: &CargoWords) -> Result<Self, String> {
        let cargo = cargo();
        let (words, said) = ours(&given.cargo)?;
        let metadata = Metadata::ask(&cargo, &words)?;
        let mut session = Session::new(&rustc())?;
        session.wrapper = std::env::var_os("RUSTC_WRAPPER")
            .filter(|wrapper| !wrapper.is_empty())
            .map(PathBuf::from);
        prepare(&session.toolchain)?;
        let scratch = Scratch::new()?;
        let runner = scratch.path().join(RUNNER);
        let command = std::env::current_exe().map_err(|error| error.to_string())?;
        symlink(command, &runner).map_err(|error| format!("{}: {error}", runner.display()))?;
        let folder = said.unwrap_or_else(|| metadata.target_directory.clone());
        Ok(Self {
            folder: folder.join("rsan"),
            variables: variables(&session, runner.as_os_str()),
            metadata,
            scratch,
            cargo,
            words,
            after: given.after.clone(),
        })
    }

    /// A command of cargo, with words of ours before the user's.
    pub(super) fn command(&self, name: &str, own: &[&str]) -> Command {
        let mut command = self.bare();
        command.arg(name).args(own);
        self.finish(command)
    }

    /// Cargo itself, in the environment of the build.
    pub(super) fn bare(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        command
    }

    /// Adds where to build, and the user's words.
    pub(super) fn finish(&self, mut command: Command) -> Command {
        command
            .args(["--target", TARGET, "--target-dir"])
            .arg(&self.folder)
            .args(&self.words);
        if let Some(after) = &self.after {
            command.arg("--").args(after);
        }
        command
    }

    /// What stands in a command about one target after its options: those of the user's words that change what is built.
    pub(super) fn again(&self, target: &str) -> String {
        const WITH_VALUE: &[&str] = &["--features", "-F", "--profile", "--manifest-path"];
        const ALONE: &[&str] = &["--release", "-r", "--all-features", "--no-default-features"];
        let mut kept = Vec::new();
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let name = text.split('=').next().unwrap_or_default();
            if ALONE.contains(&&*text) || WITH_VALUE.contains(&name) {
                kept.push(quoted(&text));
            }
            if WITH_VALUE.contains(&&*text) {
                let value = words.next().map(|word| quoted(&word.to_string_lossy()));
                kept.extend(value);
            }
        }
        kept.push(target.to_owned());
        kept.join(" ")
    }

    /// Whether the user gave one of these options.
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.words.iter().any(|word| {
            let text = word.to_string_lossy();
            let name = text.split('=').next().unwrap_or_default();
            options.contains(&name)
        })
    }

    /// The environment without what is only for the build: a program may start cargo, too.
    pub(super) fn restore(&self, environment: &mut Vec<(OsString, OsString)>) {
        for (name, _) in &self.variables {
            environment.retain(|(known, _)| known != name);
            let before = std::env::var_os(name).map(|value| (name.clone(), value));
            environment.extend(before);
        }
        // Places are shown as rustc shows them.
        environment.retain(|(name, _)| name != ROOT);
        let root = self.metadata.workspace_root.clone().into_os_string();
        environment.push((ROOT.into(), root));
    }
}

/// Cargo, as it starts other commands, or as the user would.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Builds, and does nothing else.
///
/// # Errors
/// The message for the user.
pub(super) fn run(name: &str, words: &CargoWords) -> Result<Status, String> {
    let build = Build::new(words)?;
    let status = build.command(name, &[]).status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    Ok(match status.success() {
        true => Status::Clean,
        false => Status::BadInput,
    })
}

/// Removes what was built.
///
/// # Errors
/// The message for the user.
pub(super) fn clean(given: &CargoWords) -> Result<Status, String> {
    let cargo = cargo();
    let (words, said) = ours(&given.cargo)?;
    let folder = match said {
        Some(folder) => folder,
        None => Metadata::ask(&cargo, &words)?.target_directory,
    };
    let status = Command::new(&cargo)
        .arg("clean")
        .args(&words)
        .arg("--target-dir")
        .arg(folder.join("rsan"))
        .status()
        .map_err(|error| format!("{}: {error}", cargo.display()))?;
    Ok(match status.success() {
        true => Status::Clean,
        false => Status::BadInput,
    })
}

/// The user's words without those that are said anyway, and the target directory among them.
fn ours(words: &[OsString]) -> Result<(Vec<OsString>, Option<PathBuf>), String> {
    let (mut kept, mut folder) = (Vec::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (&*text, None),
        };
        if !["--target", "--target-dir"].contains(&name) {
            kept.push(word.clone());
            continue;
        }
        let value = value.or_else(|| words.next().cloned());
        let value = value.ok_or_else(|| format!("{name} needs a value"))?;
        match name {
            "--target" if value == TARGET => {}
            "--target" => {
                let value = value.display();
                return Err(format!("--target {value}: the sanitizer is for {TARGET}"));
            }
            _ => folder = Some(PathBuf::from(value)),
        }
    }
    Ok((kept, folder))
}

/// The environment of a build.
fn variables(session: &Session, runner: &OsStr) -> Vec<(OsString, OsString)> {
    let (name, value) = session.variable();
    let mut all: Vec<(OsString, OsString)> = vec![
        (name.into(), value),
        ("RUSTC_WRAPPER".into(), session.rustc().into()),
        ("CARGO_INCREMENTAL".into(), "0".into()),
        (
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER".into(),
            runner.into(),
        ),
    ];
    // For C code of the program; what runs while it is built is compiled by the user's compiler.
    let compilers = [
        ("CC", "rsan-cc", "RSAN_CC"),
        ("CXX", "rsan-c++", "RSAN_CXX"),
    ];
    for (name, ours, theirs) in compilers {
        let target = format!("{name}_{}", TARGET.replace('-', "_"));
        let names = [&*target, &format!("TARGET_{name}"), name];
        let mut given = names.iter().filter_map(std::env::var_os);
        let given = given.find(|given| !given.is_empty());
        if let Some(given) = given.filter(|_| std::env::var_os(theirs).is_none()) {
            all.push((theirs.into(), given));
        }
        all.push((target.into(), session.tools.join(ours).into()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_ours() {
        let ours = |line: &str| {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            ours(&words).map(|(words, folder)| (words.len(), folder))
        };
        let line = format!("--release --target {TARGET} --target-dir=x -p a");
        assert_eq!(ours(&line), Ok((3, Some("x".into()))));
        let other = ours("--target aarch64-unknown-linux-gnu");
        assert!(other.is_err_and(|error| error.contains(TARGET)));
        assert!(ours("--target").is_err());
    }
}
