//! `rsan check`: picks the engine by the kind of file. So far that is `verify` for litmus tests and TPL.

use crate::args::VerifyArgs;
use crate::status::Status;
use crate::verify;
use std::path::Path;

/// Checks every input.
pub(crate) fn run(args: &VerifyArgs) -> Status {
    verify::run("check", args, unsupported)
}

/// Why `check` cannot take a file, judged by its extension.
fn unsupported(path: &str) -> Option<String> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str());
    let what = match extension {
        _ if path == "-" => return None,
        Some("litmus" | "tpl" | "mini") => return None,
        Some("c" | "cc" | "cpp" | "cxx" | "rs") => {
            "compiling and running programs is not available yet; .litmus and .tpl files are checked"
        }
        Some("txt") => {
            "Trencher automata are not available yet; .litmus and .tpl files are checked"
        }
        Some("ll") => "LLVM IR is not available yet; .litmus and .tpl files are checked",
        _ => "unknown kind of file; .litmus and .tpl files are checked",
    };
    Some(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::unsupported;

    #[test]
    fn the_extension_decides() {
        for known in ["-", "a.litmus", "dir.c/b.tpl"] {
            assert_eq!(unsupported(known), None, "{known}");
        }
        for unknown in ["a.c", "b.rs", "c.txt", "d.ll", "e", "f.xyz"] {
            assert!(unsupported(unknown).is_some(), "{unknown}");
        }
    }
}
