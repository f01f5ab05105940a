//! What `rsan check`, `rsan explore` and `rsan port` take beside their own options: flags for the compiler among them, and arguments of
//! the program, or more flags, after `--`.

use super::{Cli, Command};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;

/// How flags begin that are passed to the compiler.
const PREFIXES: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-W",
    "-m",
    "-f",
    "-g",
    "-std=",
    "--std=",
    "-stdlib=",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-pedantic",
    "--param=",
    "--sysroot=",
    "--target=",
    // Of rustc.
    "-A",
    "-C",
    "--cfg=",
    "--edition=",
    "--extern=",
];
/// The same, whole words.
const WORDS: &[&str] = &[
    "--param",
    "--sysroot",
    "-ansi",
    "-no-pie",
    "-nostdinc",
    "-nostdinc++",
    "-pie",
    "-pthread",
    "-rdynamic",
    "-w",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "--cfg",
    "--edition",
    "--extern",
    "--test",
];
/// Those whose value may be, or is, the next word.
const WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "--param",
    "--sysroot",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-A",
    "-C",
    "--cfg",
    "--edition",
    "--extern",
];

/// Understands a command line.
///
/// # Errors
/// What is wrong with it, or the help that was asked for.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    if words.get(1).is_some_and(|command| command == "cargo") {
        return super::cargo::parse(&words);
    }
    let compiles = |command: &OsString| ["check", "explore", "port"].iter().any(|c| command == c);
    if !words.get(1).is_some_and(compiles) {
        return Cli::try_parse_from(words);
    }
    let end = words.iter().position(|word| word == "--");
    let (before, after) = words.split_at(end.unwrap_or(words.len()));
    let (flags, rest) = separate(before);
    match Cli::try_parse_from(rest.iter()) {
        // What comes after it is the files.
        Err(error) if end.is_some() && error.kind() == ErrorKind::MissingRequiredArgument => {
            with(Cli::try_parse_from(rest.iter().chain(after)), flags, &[])
        }
        parsed => with(parsed, flags, after.get(1..).unwrap_or_default()),
    }
}

fn with(
    parsed: Result<Cli, clap::Error>,
    flags: Vec<OsString>,
    arguments: &[OsString],
) -> Result<Cli, clap::Error> {
    let mut cli = parsed?;
    match &mut cli.command {
        Command::Check(args) => {
            args.build.flags = flags;
            args.arguments = arguments.to_vec();
        }
        Command::Explore(args) if args.files.is_empty() && arguments.is_empty() => {
            let message = "a file to compile, or `--` and a program, is missing";
            return Err(missing(message));
        }
        Command::Port(args) => args.flags = [flags, arguments.to_vec()].concat(),
        Command::Explore(args) => {
            args.build.flags = flags;
            args.words = arguments.to_vec();
        }
        _ => {}
    }
    Ok(cli)
}

/// An error of the command line of `explore`.
fn missing(message: &str) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    let kind = ErrorKind::MissingRequiredArgument;
    match cli.find_subcommand_mut("explore") {
        Some(explore) => explore.error(kind, message),
        None => cli.error(kind, message),
    }
}

/// The flags for the compiler, and the other words.
fn separate(words: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut flags, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let known = WORDS.contains(&&*text) || PREFIXES.iter().any(|start| text.starts_with(start));
        if !known {
            rest.push(word.clone());
            continue;
        }
        let value = WITH_VALUE.contains(&&*text).then(|| words.next()).flatten();
        let mut flag = word.clone();
        match value {
            // In one word, for libraries stand behind the files.
            Some(value) if word == "-l" => flag.push(value),
            _ => {}
        }
        let apart = value.filter(|_| word != "-l");
        flags.push(flag);
        flags.extend(apart.cloned());
    }
    (flags, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files, flags and arguments of a command line.
    fn parts(line: &str) -> Option<[String; 3]> {
        let words = line.split(' ').map(OsString::from).collect();
        let Command::Check(args) = parse(words).ok()?.command else {
            return None;
        };
        let join = |words: &[OsString]| words.join(" ".as_ref()).to_string_lossy().into_owned();
        Some([
            args.verify.files.join(" "),
            join(&args.build.flags),
            join(&args.arguments),
        ])
    }

    #[test]
    fn flags_and_arguments_are_told_from_files() {
        let line = "rsan check -O2 -std=c++20 -I include --runs 3 a.cc -lm -fopenmp b.cc -- -x a.c";
        let expected = ["a.cc b.cc", "-std=c++20 -I include -lm -fopenmp", "-x a.c"];
        assert_eq!(parts(line), Some(expected.map(str::to_owned)));
        let files = ["-a.c", "-w", ""].map(str::to_owned);
        assert_eq!(parts("rsan check -w -- -a.c"), Some(files));
        let parametric = ["a.tpl", "", ""].map(str::to_owned);
        assert_eq!(parts("rsan check --parametric a.tpl"), Some(parametric));
        let words = |line: &str| line.split(' ').map(OsString::from).collect();
        let Ok(Cli {
            command: Command::Explore(args),
        }) = parse(words("rsan explore --runs 3 -- ./test -x"))
        else {
            panic!("it is understood");
        };
        assert_eq!((args.files.len(), args.words.len()), (0, 2));
        let nothing = parse(words("rsan explore --runs 3"));
        assert!(nothing.is_err_and(|error| error.to_string().contains("a file to compile, or")));
        let rust = ["a.rs", "--cfg fixed -Copt-level=1 --test", ""].map(str::to_owned);
        let line = "rsan check --cfg fixed -Copt-level=1 --test a.rs";
        assert_eq!(parts(line), Some(rust));
        assert_eq!(parts("rsan check -c a.c"), None);
        assert_eq!(parts("rsan check --frobnicate a.c"), None);
    }
}
