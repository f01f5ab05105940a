//! `rsan check`: picks the engine by the kind of file: `verify` for litmus tests and TPL, the sanitizer for C, C++ and Rust.

use crate::args::CheckArgs;
use crate::input::failure;
use crate::sanitizer::compiler::Language;
use crate::sanitizer::run::{self, Sources, Written, language, written};
use crate::session::{accept_all, eprint};
use crate::status::Status;
use crate::verify;
use rsan_report::Command;
use std::path::Path;

/// A result is that of one program.
pub(crate) const SEVERAL: &str = "error: --shard is for one program at a time\n";

/// Checks every input.
pub(crate) fn run(args: &CheckArgs) -> Status {
    let files = &args.verify.files;
    if args.shard.shard.is_some() && files.len() > 1 && !args.build.together {
        eprint(SEVERAL);
        return Status::BadInput;
    }
    if args.build.together {
        let sources = match together(files) {
            Ok(sources) => sources,
            Err(message) => {
                eprint(&message);
                return Status::BadInput;
            }
        };
        let subject = [sources.subject.clone()];
        return verify::inputs(&args.verify, &subject, accept_all, &mut |_, stop| {
            run::check(args, stop, &sources)
        });
    }
    verify::inputs(
        &args.verify,
        files,
        unsupported,
        &mut |file, stop| match written(file) {
            Some(language) => {
                let subject = file.to_owned();
                let sources = Sources {
                    files: std::slice::from_ref(&subject),
                    subject: subject.clone(),
                    language,
                };
                run::check(args, stop, &sources)
            }
            None => match for_programs(args) {
                Some(what) => Err(failure(
                    file,
                    &format!("{what} are for C, C++ and Rust files"),
                )),
                None => verify::answer(Command::Check, &args.verify, stop, file),
            },
        },
    )
}

/// What the user gave that is of no use for files that are verified.
fn for_programs(args: &CheckArgs) -> Option<&'static str> {
    match () {
        () if !args.build.flags.is_empty() => Some("flags of the compiler"),
        () if !args.arguments.is_empty() => Some("arguments of the program"),
        () if args.shard.shard.is_some() => Some("shards"),
        () => None,
    }
}

/// The parts of one program: C and C++ files, and what is linked with them.
pub(crate) fn together(files: &[String]) -> Result<Sources<'_>, String> {
    const LINKED: [&str; 3] = ["o", "a", "so"];
    let mut languages = Vec::new();
    for file in files {
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        match language(file) {
            Some(language) => languages.push(language),
            None if extension.is_some_and(|e| LINKED.contains(&e)) => {}
            None => {
                return Err(failure(
                    file,
                    &"only C and C++ files, and objects, make a program",
                ));
            }
        }
    }
    let language = match languages.as_slice() {
        [] => return Err(failure(&files.join(" "), &"there is no C or C++ file")),
        all if all.contains(&Language::Cpp) => Language::Cpp,
        _ => Language::C,
    };
    Ok(Sources {
        subject: files.join(" "),
        files,
        language: Written::C(language),
    })
}

/// Why `check` cannot take a file, judged by its extension.
fn unsupported(path: &str) -> Option<String> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let what = match extension {
        _ if path == "-" || written(path).is_some() => return None,
        Some("litmus" | "tpl" | "mini") => return None,
        Some("txt") => return None,
        Some("ll" | "bc") => {
            "`rsan port` analyses LLVM IR; .litmus, .tpl, C, C++ and Rust files are checked"
        }
        _ => "unknown kind of file; .litmus, .tpl, C, C++ and Rust files are checked",
    };
    Some(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::unsupported;

    #[test]
    fn the_extension_decides() {
        for known in [
            "-",
            "a.litmus",
            "dir.c/b.tpl",
            "a.c",
            "b.cc",
            "c.cpp",
            "c.txt",
            "b.rs",
        ] {
            assert_eq!(unsupported(known), None, "{known}");
        }
        for unknown in ["d.ll", "d.bc", "e", "f.xyz"] {
            assert!(unsupported(unknown).is_some(), "{unknown}");
        }
    }
}
