//! One file of Rust as a program, for `rsan check`.

use super::session::Session;
use super::toolchain::TARGET;
use super::words::{self, Name};
use super::{flags, prepare, rustc, wrapper};
use crate::files;
use crate::input::failure;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Compiles a file into a program; the messages of the compiler are the user's.
///
/// # Errors
/// The complete message for the user, when it is not the compiler who fails.
pub(crate) fn compile(
    file: &str,
    program: &Path,
    level: &str,
    flags: &[OsString],
) -> Result<ExitStatus, String> {
    let fail = |message: String| failure(file, &message);
    let rustc = rustc();
    let text = files::read_text(Path::new(file), files::TEXT);
    let text = text.map_err(|error| failure(file, &error))?;
    let words = command_line(&text, level, flags, Path::new(file), program);
    let session = Session::new(&rustc).map_err(fail)?;
    let plan = flags::plan(&words, &session).map_err(fail)?;
    let plan = plan.ok_or_else(|| fail("procedural macros are no programs".to_owned()))?;
    prepare(&session.toolchain).map_err(fail)?;
    let (name, value) = session.variable();
    let mut command = Command::new(&rustc);
    wrapper::planned(command.env(name, value), &rustc, &plan, &session).map_err(fail)
}

/// The words for rustc: a program, or the tests in a file that is none.
fn command_line(
    text: &str,
    level: &str,
    flags: &[OsString],
    file: &Path,
    program: &Path,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["-g".into(), format!("-Copt-level={level}").into()];
    let own = words::parse(flags);
    if words::last(&own, Name::Edition).is_none() {
        words.push("--edition=2024".into());
    }
    if words::last(&own, Name::Target).is_none() {
        words.push(format!("--target={TARGET}").into());
    }
    if !has_main(text) {
        words.push("--test".into());
    }
    words.extend(flags.iter().cloned());
    words.extend([OsStr::new("-o"), program.as_os_str()].map(OsString::from));
    // A name that begins with a dash is no option.
    words.push(Path::new(".").join(file).into());
    words
}

/// Whether there is a function to start with. Examples in comments are none.
fn has_main(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let mut code = lines.filter(|line| !line.starts_with("//"));
    code.any(|line| {
        let after = line.split("fn main").nth(1);
        after.is_some_and(|after| after.trim_start().starts_with(['(', '<']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_main_is_a_file_of_tests() {
        assert!(has_main("use std::io;\nfn main() {}"));
        assert!(has_main("pub fn main () {}"));
        assert!(!has_main("//! fn main() {}\n#[test]\nfn main_loop() {}"));
    }

    #[test]
    fn the_users_edition_is_the_only_one() {
        let line = |flags: &[&str]| {
            let flags: Vec<_> = flags.iter().map(OsString::from).collect();
            let words = command_line("fn main() {}", "0", &flags, "-a.rs".as_ref(), "a".as_ref());
            words
                .join(OsStr::new(" "))
                .into_string()
                .unwrap_or_default()
        };
        assert!(line(&[]).contains("--edition=2024"));
        assert!(!line(&["--edition", "2018"]).contains("2024"));
        assert!(line(&[]).ends_with(" ./-a.rs"));
    }
}
