//! The examples in README.md and docs/*.md are what the command really prints: every fenced `console` block whose
//! first line starts with `$ rsan` is run from the repository's root. `RSAN_BLESS=1` rewrites the blocks.

use crate::common::{Run, blessing, normalise, root, rsan, scratch};
use std::path::PathBuf;

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("the folder of the documentation");
    let mut pages: Vec<_> = docs
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

#[test]
fn examples_show_what_is_printed() {
    let mut examples = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a readable page");
        let (actual, found) = replay(&text);
        examples += found;
        if blessing() && normalise(&actual) != normalise(&text) {
            std::fs::write(&page, actual).expect("the page can be written");
        } else {
            assert!(
                normalise(&actual) == normalise(&text),
                "{} shows something else than\n{actual}",
                page.display()
            );
        }
    }
    assert!(examples > 0, "no example was found");
}

/// The page with the output of every example replaced by the real one, and the number of examples.
fn replay(page: &str) -> (String, usize) {
    let mut out = String::new();
    let mut examples = 0;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let example = lines.peek().is_some_and(|next| next.starts_with("$ rsan"));
        if line != "```console" || !example {
            continue;
        }
        examples += 1;
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut status = 0;
        for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
            out.push_str(&format!("$ {command}\n"));
            out.push_str(&execute(command, &mut status));
        }
        out.push_str("```\n");
    }
    (out, examples)
}

/// What a line of an example prints: an `rsan` command, or `echo $?`.
fn execute(command: &str, status: &mut i32) -> String {
    if command == "echo $?" {
        return format!("{status}\n");
    }
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("rsan"), "examples run rsan: {command}");
    let output = rsan(&root()).args(words).output().expect("rsan starts");
    *status = output.status.code().expect("the command was not killed");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    text(output.stdout) + &text(output.stderr)
}

/// The programs that the page about the languages shows are accepted as they stand there.
#[test]
fn programs_in_the_documentation_are_accepted() {
    let page = std::fs::read_to_string(root().join("docs/languages.md")).expect("a readable page");
    let mut programs = 0;
    for (tag, extension) in [("c", "litmus"), ("tpl", "tpl")] {
        for block in page.split(&format!("```{tag}\n")).skip(1) {
            let program = block.split("```").next().unwrap_or("");
            let file = scratch(&format!("example-{programs}.{extension}"));
            std::fs::write(&file, program).expect("the scratch folder is writable");
            let run: Run = rsan(&root())
                .args(["litmus", &file])
                .output()
                .expect("rsan starts")
                .into();
            assert_ne!(run.code, 2, "{program}\n{}", run.stderr);
            programs += 1;
        }
    }
    assert_eq!(programs, 2);
}
