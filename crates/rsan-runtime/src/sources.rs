//! The sources of this crate, for tests that check how they are written.

use std::path::Path;

/// A file, without comments and tests.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its module: `race::cells`.
    pub(crate) module: String,
    /// What it says.
    pub(crate) code: String,
}

/// All files but those of tests, in the order of their modules.
pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    add(&root, "", &mut files);
    files.sort_by(|a, b| a.module.cmp(&b.module));
    files
}

fn add(folder: &Path, above: &str, files: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.expect("a name in UTF-8");
        let module = match (above, name) {
            (_, "mod") => above.to_owned(),
            ("", _) => name.to_owned(),
            _ => format!("{above}::{name}"),
        };
        if path.is_dir() {
            add(&path, &module, files);
        } else if name != "tests" {
            let text = std::fs::read_to_string(&path).expect("a text");
            files.push(Source {
                module,
                code: code_of(&text),
            });
        }
    }
}

/// What of a text is neither comment nor test. The tests of a file are its end.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next();
    let lines = text.unwrap_or_default().lines();
    let lines = lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn comments_and_tests_are_no_code() {
    let text = "//! a\nuse b; // c\n\n#[cfg(test)]\nmod tests {\n    use d;\n}\n";
    assert_eq!(code_of(text), "\nuse b; \n");
    let modules: Vec<_> = sources().into_iter().map(|file| file.module).collect();
    assert!(
        ["lib", "sched", "sched::state", "race::cells"]
            .iter()
            .all(|name| modules.contains(&(*name).to_owned()))
    );
    assert!(!modules.iter().any(|name| name.ends_with("tests")));
}
