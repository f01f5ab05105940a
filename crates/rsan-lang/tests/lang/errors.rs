//! Golden tests of messages: each file of `tests/errors` has the rendered errors beside it.
//!
//! `RSAN_BLESS=1 cargo test -p rsan-lang` rewrites them.

use rsan_lang::{Format, parse};
use rsan_model::Source;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors")
}

#[test]
fn messages_are_as_recorded() {
    let bless = std::env::var_os("RSAN_BLESS").is_some();
    let mut inputs: Vec<PathBuf> = std::fs::read_dir(directory())
        .expect("the directory of inputs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e != "stderr"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    let mut wrong = Vec::new();
    for input in inputs {
        let name = input
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&input).expect("a readable file");
        let source = Source::new(name.as_str(), text.as_str());
        let format = Format::detect(&name, &text).expect("a known extension");
        let errors = parse(&source, format).expect_err(&format!("{name} is refused"));
        let rendered = errors.render(&source, false);
        let recorded = input.with_extension(format!(
            "{}.stderr",
            input.extension().expect("an extension").to_string_lossy()
        ));
        if bless {
            std::fs::write(&recorded, &rendered).expect("a writable file");
        } else if std::fs::read_to_string(&recorded).ok().as_deref() != Some(&rendered) {
            wrong.push(format!("{name}:\n{rendered}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "these differ from what is recorded (RSAN_BLESS=1 rewrites it):\n{}",
        wrong.join("\n")
    );
}

#[test]
fn no_recorded_message_is_left_without_its_input() {
    for entry in std::fs::read_dir(directory()).expect("the directory of inputs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "stderr") {
            assert!(path.with_extension("").exists(), "{}", path.display());
        }
    }
}
