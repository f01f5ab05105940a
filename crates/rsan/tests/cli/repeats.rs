//! No ten lines of code stand twice: what is the same is written once.

use crate::common::root;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// So many equal lines, one after the other, are a repetition.
const LINES: usize = 10;

/// Pairs of files, from the root of the repository, that may repeat each other, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

#[test]
fn no_ten_lines_stand_twice() {
    let root = root().canonicalize().expect("the root");
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        sources(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 300, "only {} files", files.len());
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let name = file.strip_prefix(&root).expect("a file below the root");
            let text = std::fs::read_to_string(file).expect("a source");
            (name.display().to_string(), text)
        })
        .collect();
    let excepted = |a: &str, b: &str| {
        EXCEPTIONS
            .iter()
            .any(|(one, other, _)| (a, b) == (*one, *other) || (b, a) == (*one, *other))
    };
    let found: Vec<String> = repeats(&texts)
        .into_iter()
        .filter(|(a, b)| !excepted(a.0, b.0))
        .map(|(a, b)| format!("{}:{} and {}:{}\n", a.0, a.1, b.0, b.1))
        .collect();
    assert!(
        found.is_empty(),
        "{LINES} lines stand twice from\n{}",
        found.concat()
    );
}

#[test]
fn repeated_lines_are_found_but_for_layout_and_comments() {
    let body: Vec<String> = (0..LINES).map(|i| format!("call_{i}();")).collect();
    let one = format!("fn one() {{\n    {}\n}}\n", body.join("\n    "));
    let other = format!("fn other() {{\n\n{}\n}}\n", body.join("\n\n// why\n"));
    let texts = [("a".to_owned(), one.clone()), ("b".to_owned(), other)];
    assert_eq!(repeats(&texts), [(("a", 2), ("b", 3))]);
    let shorter = one.replace("call_4();", "another();");
    assert_eq!(
        repeats(&[("a".to_owned(), one), ("b".to_owned(), shorter)]),
        []
    );
}

/// The sources below a folder, links not followed. What Cargo builds is not below any.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = entry.path();
        if entry.file_type().expect("a type").is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// A line of a file.
type At<'a> = (&'a str, usize);

/// Where lines stand that stand elsewhere, too: the first place of each pair of files, or of a file with itself.
fn repeats(texts: &[(String, String)]) -> Vec<(At<'_>, At<'_>)> {
    let mut seen: HashMap<Vec<&str>, At<'_>> = HashMap::new();
    let mut found: Vec<(At<'_>, At<'_>)> = Vec::new();
    for (name, text) in texts {
        let lines = code(text);
        for window in lines.windows(LINES) {
            let here = (name.as_str(), window[0].0);
            let words = window.iter().map(|(_, line)| *line).collect();
            let there = *seen.entry(words).or_insert(here);
            let known = |(a, b): &(At<'_>, At<'_>)| (a.0, b.0) == (there.0, here.0);
            if there != here && !found.iter().any(known) {
                found.push((there, here));
            }
        }
    }
    found
}

/// The lines of a text that say something, with their numbers: no comments, imports or lone punctuation.
fn code(text: &str) -> Vec<(usize, &str)> {
    let mut importing = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let imports = importing || line.starts_with("use ") || line.starts_with("pub use ");
        importing = imports && !line.ends_with(';');
        let speaks = line.contains(|c: char| c.is_alphanumeric());
        if speaks && !imports && !line.starts_with("//") {
            lines.push((number, line));
        }
    }
    lines
}
