//! The tests of a program, and the words that run one of them.

use super::record::Started;
use crate::sanitizer::library;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// What the user said to the tests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Wishes {
    /// Which tests: filters, and how they are meant.
    choice: Vec<OsString>,
    /// For a test that is run.
    others: Vec<OsString>,
    /// Tests that are ignored are wanted.
    ignored: bool,
    /// Their output is wanted, whatever comes of them.
    pub(super) shown: bool,
    /// Tests at a time.
    pub(super) threads: Option<usize>,
    /// The names of the tests are all that is wanted.
    pub(super) list: bool,
}

/// A test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    /// The source says that it is not run unless that is asked.
    pub(super) ignored: bool,
}

impl Wishes {
    /// Understands the words of a program with libtest's main function.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn of(words: &[OsString]) -> Result<Self, String> {
        let mut wishes = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (&*text, None),
            };
            let mut value = || {
                let next = || words.next().map(|word| word.to_string_lossy().into_owned());
                let value = value.clone().or_else(next);
                value.ok_or_else(|| format!("{name} needs a value"))
            };
            match name {
                "--list" => wishes.list = true,
                "--test-threads" => {
                    let value = value()?;
                    let number = value.parse().ok().filter(|number| *number > 0);
                    let number =
                        number.ok_or_else(|| format!("--test-threads {value}: no number"))?;
                    wishes.threads = Some(number);
                }
                "--nocapture" | "--no-capture" | "--show-output" => {
                    wishes.shown = true;
                    wishes.others.push(word.clone());
                }
                "--ignored" | "--include-ignored" => {
                    wishes.ignored = true;
                    wishes.choice.push(word.clone());
                }
                "--skip" => {
                    let value = value()?;
                    wishes.choice.extend(["--skip".into(), value.into()]);
                }
                // How it answers is not the user's any more.
                "-q" | "--quiet" => {}
                "--format" | "--color" | "--logfile" => drop(value()?),
                "--exact" => wishes.choice.push(word.clone()),
                _ if name.starts_with('-') => wishes.others.push(word.clone()),
                _ => wishes.choice.push(word.clone()),
            }
        }
        Ok(wishes)
    }

    /// The words that run one test.
    pub(super) fn for_test(&self, name: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![name.into(), "--exact".into()];
        // Without it libtest waits with a time limit for the threads of tests.
        words.push("--test-threads=1".into());
        if self.ignored {
            words.push("--include-ignored".into());
        }
        words.extend(self.others.iter().cloned());
        words
    }

    /// The tests that the user wants of a program.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn tests(&self, started: &Started) -> Result<Vec<Listed>, String> {
        let all = self.names(started, &[])?;
        let ignored = match self.ignored {
            true => Vec::new(),
            false => self.names(started, &["--ignored"])?,
        };
        let listed = all.into_iter().map(|name| Listed {
            ignored: ignored.contains(&name),
            name,
        });
        Ok(listed.collect())
    }

    /// What a program lists with more words.
    fn names(&self, started: &Started, more: &[&str]) -> Result<Vec<String>, String> {
        let program = &started.program[0];
        let fail = |what: String| {
            let name = program.display();
            format!("{name} does not list its tests: {what}")
        };
        let output = command(started)?
            .args(&self.choice)
            .args(more)
            .args(["--list", "--format", "terse"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| fail(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(fail(format!("{}, {}", output.status, said.trim())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(named).map(str::to_owned).collect())
    }
}

/// A program of the build, without arguments, in cargo's environment; it reports nothing.
pub(super) fn command(started: &Started) -> Result<Command, String> {
    let library = library::folder()?;
    let mut path = library.into_os_string();
    let given = started.environment.iter();
    let given = given.filter(|(name, _)| name == "LD_LIBRARY_PATH");
    for (_, value) in given {
        path.push(OsStr::new(":"));
        path.push(value);
    }
    let mut command = Command::new(&started.program[0]);
    let environment = started.environment.iter();
    command
        .current_dir(&started.folder)
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .env("LD_LIBRARY_PATH", path)
        .env("RSAN_OPTIONS", "text=0:exitcode=0:summary=0");
    Ok(command)
}

/// The name of a line of a list; benchmarks are run once, as tests.
fn named(line: &str) -> Option<&str> {
    line.strip_suffix(": test")
        .or_else(|| line.strip_suffix(": benchmark"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_tests_are_understood() {
        let line = "queue:: --skip slow --nocapture --test-threads=3 --ignored --format json -q";
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        let wishes = Wishes::of(&words).expect("they are right");
        let choice = ["queue::", "--skip", "slow", "--ignored"].map(OsString::from);
        assert_eq!(wishes.choice, choice);
        assert!(wishes.shown && wishes.ignored && !wishes.list);
        assert_eq!(wishes.threads, Some(3));
        let words = wishes.for_test("queue::a").join(" ".as_ref());
        let expected = "queue::a --exact --test-threads=1 --include-ignored --nocapture";
        assert_eq!(words, expected);
        assert!(Wishes::of(&["--test-threads".into(), "x".into()]).is_err());
        assert!(Wishes::of(&["--skip".into()]).is_err());
    }

    #[test]
    fn tests_and_benchmarks_are_listed() {
        assert_eq!(named("a::b: test"), Some("a::b"));
        assert_eq!(named("c: benchmark"), Some("c"));
        assert_eq!(named(""), None);
    }
}
