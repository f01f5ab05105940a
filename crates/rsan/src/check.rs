//! `rsan check`: picks the engine by the kind of file: `verify` for litmus tests and TPL, the sanitizer for C and C++.

use crate::args::CheckArgs;
use crate::sanitizer::run::{self, language};
use crate::status::Status;
use crate::verify;
use std::path::Path;

/// Checks every input.
pub(crate) fn run(args: &CheckArgs) -> Status {
    verify::inputs(
        &args.verify,
        unsupported,
        &mut |file, stop, style| match language(file) {
            Some(language) => run::check(args, stop, file, language, style),
            None => verify::answer("check", &args.verify, stop, file, style),
        },
    )
}

/// Why `check` cannot take a file, judged by its extension.
fn unsupported(path: &str) -> Option<String> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let what = match extension {
        _ if path == "-" || language(path).is_some() => return None,
        Some("litmus" | "tpl" | "mini") => return None,
        Some("rs") => "Rust programs are not available yet; C and C++ programs are checked",
        Some("txt") => return None,
        Some("ll") => "LLVM IR is not available yet; .litmus and .tpl files are checked",
        _ => "unknown kind of file; .litmus, .tpl, C and C++ files are checked",
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
        ] {
            assert_eq!(unsupported(known), None, "{known}");
        }
        for unknown in ["b.rs", "d.ll", "e", "f.xyz"] {
            assert!(unsupported(unknown).is_some(), "{unknown}");
        }
    }
}
