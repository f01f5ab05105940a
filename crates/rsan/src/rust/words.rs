//! Command lines of rustc, option by option.

use crate::files;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// An option with its value, or something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Argument {
    pub(crate) kind: Kind,
    /// As it is written.
    pub(crate) words: Vec<OsString>,
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An option for code generation; `-O` and `-g` are such ones, too.
    Codegen {
        /// With dashes, as rustc documents it.
        name: String,
        /// Empty if there is none.
        value: String,
    },
    /// An option of which the value matters here.
    Named(Name, OsString),
    /// Input, or an option that is left as it is.
    Other,
}

/// Options of which the value matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    /// `-C`
    Codegen,
    /// `-Z`
    Unstable,
    /// `--target`
    Target,
    /// `--crate-type`
    CrateType,
    /// `--crate-name`
    Title,
    /// `--out-dir`
    OutDir,
    /// `-o`
    Output,
    /// `--edition`
    Edition,
    /// `--check-cfg`
    CheckCfg,
    /// `--extern`
    Extern,
}

/// The long and the short form of each.
const FORMS: &[(Name, &str, Option<&str>)] = &[
    (Name::Codegen, "--codegen", Some("-C")),
    (Name::Unstable, "-Z", Some("-Z")),
    (Name::Target, "--target", None),
    (Name::CrateType, "--crate-type", None),
    (Name::Title, "--crate-name", None),
    (Name::OutDir, "--out-dir", None),
    (Name::Output, "-o", Some("-o")),
    (Name::Edition, "--edition", None),
    (Name::CheckCfg, "--check-cfg", None),
    (Name::Extern, "--extern", None),
];

/// The arguments of a command line. What stands in files (`@file`, a word in each line) is read.
pub(crate) fn parse(words: &[OsString]) -> Vec<Argument> {
    let words = expand(words);
    let mut arguments = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        let Some((name, attached)) = named(&word) else {
            let kind = short(&word).unwrap_or(Kind::Other);
            let words = vec![word];
            arguments.push(Argument { kind, words });
            continue;
        };
        let mut words = vec![word];
        let value = match attached {
            Some(value) => value,
            None => {
                let value = rest.next();
                words.extend(value.clone());
                value.unwrap_or_default()
            }
        };
        let kind = match name {
            Name::Codegen => codegen(&value),
            _ => Kind::Named(name, value),
        };
        arguments.push(Argument { kind, words });
    }
    arguments
}

/// The last value of an option.
pub(crate) fn last(arguments: &[Argument], name: Name) -> Option<&OsStr> {
    all(arguments, name).last()
}

/// All values of an option.
pub(crate) fn all(arguments: &[Argument], name: Name) -> impl Iterator<Item = &OsStr> {
    let of =
        move |argument: &'_ Argument| matches!(&argument.kind, Kind::Named(own, _) if *own == name);
    let with = arguments.iter().filter(move |argument| of(argument));
    with.filter_map(|argument| match &argument.kind {
        Kind::Named(_, value) => Some(value.as_os_str()),
        Kind::Codegen { .. } | Kind::Other => None,
    })
}

/// The last value of an option for code generation.
pub(crate) fn setting<'a>(arguments: &'a [Argument], wanted: &str) -> Option<&'a str> {
    settings(arguments, wanted).last()
}

/// All values of an option for code generation.
pub(crate) fn settings<'a>(
    arguments: &'a [Argument],
    wanted: &str,
) -> impl Iterator<Item = &'a str> {
    arguments
        .iter()
        .filter_map(move |argument| match &argument.kind {
            Kind::Codegen { name, value } if name == wanted => Some(value.as_str()),
            Kind::Codegen { .. } | Kind::Named(..) | Kind::Other => None,
        })
}

fn expand(words: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::new();
    for word in words {
        let file = word.to_str().and_then(|word| word.strip_prefix('@'));
        match file.and_then(|file| files::read_text(Path::new(file), files::TEXT).ok()) {
            Some(text) => expanded.extend(text.lines().map(OsString::from)),
            None => expanded.push(word.clone()),
        }
    }
    expanded
}

/// The option that a word is, with the value that is attached to it.
fn named(word: &OsStr) -> Option<(Name, Option<OsString>)> {
    let bytes = word.as_bytes();
    let value = |bytes: &[u8]| Some(OsString::from_vec(bytes.to_vec()));
    FORMS.iter().find_map(|(name, long, short)| {
        if word == *long || short.is_some_and(|short| word == short) {
            return Some((*name, None));
        }
        if let Some(short) = short
            && let Some(rest) = bytes.strip_prefix(short.as_bytes())
        {
            return Some((*name, value(rest)));
        }
        let rest = bytes.strip_prefix(long.as_bytes())?.strip_prefix(b"=")?;
        Some((*name, value(rest)))
    })
}

fn short(word: &OsStr) -> Option<Kind> {
    let (name, value) = match word.to_str()? {
        "-O" => ("opt-level", "3"),
        "-g" => ("debuginfo", "2"),
        _ => return None,
    };
    let (name, value) = (name.to_owned(), value.to_owned());
    Some(Kind::Codegen { name, value })
}

/// rustc takes names with underscores, too.
fn codegen(text: &OsStr) -> Kind {
    let text = text.to_string_lossy();
    let (name, value) = text.split_once('=').unwrap_or((&text, ""));
    Kind::Codegen {
        name: name.replace('_', "-"),
        value: value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Vec<Argument> {
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        parse(&words)
    }

    #[test]
    fn every_form_of_an_option_is_read() {
        for line in [
            "-C opt-level=2 x.rs",
            "-Copt-level=2 x.rs",
            "--codegen opt-level=2 x.rs",
            "--codegen=opt-level=2 x.rs",
            "-C opt_level=2 x.rs",
        ] {
            let arguments = parsed(line);
            assert_eq!(setting(&arguments, "opt-level"), Some("2"), "{line}");
            assert_eq!(arguments.last().map(|last| &last.kind), Some(&Kind::Other));
        }
        assert_eq!(setting(&parsed("-O"), "opt-level"), Some("3"));
        assert_eq!(setting(&parsed("-O -Copt-level=s"), "opt-level"), Some("s"));
        assert_eq!(setting(&parsed("-Clto"), "lto"), Some(""));
        for line in ["-Z sanitizer=thread", "-Zsanitizer=thread"] {
            let arguments = parsed(line);
            assert_eq!(
                last(&arguments, Name::Unstable),
                Some(OsStr::new("sanitizer=thread"))
            );
        }
        for line in ["--target t", "--target=t"] {
            assert_eq!(last(&parsed(line), Name::Target), Some(OsStr::new("t")));
        }
        assert_eq!(last(&parsed("--target-dir t"), Name::Target), None);
    }

    #[test]
    fn words_are_kept_as_they_are_written() {
        let line = "--crate-name a -C lto x.rs --emit=link -o b -g @no-such-file --cfg=-C";
        let words: Vec<_> = parsed(line).into_iter().flat_map(|a| a.words).collect();
        assert_eq!(words, line.split(' ').collect::<Vec<_>>());
    }
}
