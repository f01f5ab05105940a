//! The examples in README.md and docs/*.md are what the command really prints: every fenced `console` block whose
//! first line starts with `$ ` is run from the repository's root. `RSAN_BLESS=1` rewrites the blocks.
//!
//! A line `…` stands for lines that are left out. Of a command that is not `rsan`'s only the success is checked, and what
//! the page shows of it stays; a block with a program that is not installed is left alone, as are those behind it, which may use what it makes, and the test says so.

use crate::common::{Run, blessing, normalise, root, rsan, scratch};
use std::path::{Path, PathBuf};

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
    let mut absent = None;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let example = lines.peek().is_some_and(|next| next.starts_with("$ "));
        if line != "```console" || !example {
            continue;
        }
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        absent = absent.or_else(|| missing(&block));
        match absent {
            Some(program) => {
                println!("{program} is not installed: its example is not run");
                out.push_str(&format!("{}\n", block.join("\n")));
            }
            None => out.push_str(&run(&block)),
        }
        out.push_str("```\n");
        examples += 1;
    }
    (out, examples)
}

/// The lines of a block with what its commands really print.
fn run(block: &[&str]) -> String {
    let mut out = String::new();
    let mut status = 0;
    let mut lines = block.iter().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").expect("a command comes first");
        let mut shown = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            shown.push(*line);
        }
        out.push_str(&format!("$ {command}\n"));
        out.push_str(&execute(command, &shown, &mut status));
    }
    out
}

/// The program that a line of an example starts, after the variables that are set for it.
fn program(command: &str) -> &str {
    let mut rest = command;
    while let Some((name, value)) = rest.split_once('=') {
        if !name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            break;
        }
        let end = match value.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map(|end| end + 2),
            None => value.find(' '),
        };
        rest = value[end.expect("a command follows")..].trim_start();
    }
    rest.split(' ').next().unwrap_or(rest)
}

/// A program of a block that is not installed.
fn missing<'a>(block: &[&'a str]) -> Option<&'a str> {
    let commands = block.iter().filter_map(|line| line.strip_prefix("$ "));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    commands
        .map(program)
        .find(|name| !["rsan", "echo"].contains(name) && !installed(name))
}

/// What a line of an example prints: an `rsan` command, `echo $?`, or something else that has to succeed.
fn execute(command: &str, shown: &[&str], status: &mut i32) -> String {
    if command == "echo $?" {
        return format!("{status}\n");
    }
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    if program(command) == "rsan" {
        let output = rsan(&root())
            .args(command.split_whitespace().skip(1))
            .output()
            .expect("rsan starts");
        *status = output.status.code().expect("the command was not killed");
        return left_out(shown, &(text(output.stdout) + &text(output.stderr)));
    }
    // A folder that was configured before knows the `rsan` of then.
    if let Some((_, folder)) = command.split_once(" -B ") {
        let _ = std::fs::remove_dir_all(root().join(folder));
    }
    let output = shell(command).output().expect("a shell starts");
    let said = text(output.stdout) + &text(output.stderr);
    assert!(output.status.success(), "{command}\n{said}");
    *status = 0;
    shown.iter().map(|line| format!("{line}\n")).collect()
}

/// A shell in the root of the repository that finds this `rsan`.
fn shell(command: &str) -> std::process::Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_rsan")).parent();
    let mut path = folder.expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(root()).env("PATH", path);
    shell.env("XDG_CACHE_HOME", scratch("cache"));
    shell.args(["-c", command]);
    shell
}

/// What was printed, without what the page leaves out: as many lines as it shows before the first `…` and behind the last.
fn left_out(shown: &[&str], printed: &str) -> String {
    let Some(first) = shown.iter().position(|line| *line == "…") else {
        return addresses(printed);
    };
    let last = shown.iter().rposition(|line| *line == "…").unwrap_or(first);
    let behind = shown.len() - last - 1;
    let lines: Vec<_> = printed.lines().collect();
    let head = lines.iter().take(first);
    let tail = lines[first.min(lines.len())..].iter();
    let tail = tail.skip((lines.len() - first.min(lines.len())).saturating_sub(behind));
    let kept = head.chain([&"…"]).chain(tail);
    addresses(&kept.map(|line| format!("{line}\n")).collect::<String>())
}

/// The text without addresses, which the system chooses.
fn addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        out.push_str("0x…");
        out.push_str(rest);
    }
    out
}

#[test]
fn examples_may_leave_lines_out() {
    let printed = "a\nb at 0x12ff\nc\nd\n";
    assert_eq!(left_out(&[], printed), "a\nb at 0x…\nc\nd\n");
    assert_eq!(left_out(&["x", "…"], printed), "a\n…\n");
    assert_eq!(left_out(&["x", "…", "y"], printed), "a\n…\nd\n");
    assert_eq!(left_out(&["x", "x", "x", "…", "y"], "a\nb\n"), "a\nb\n…\n");
    assert_eq!(program("CC=\"rsan cc\" A=1 cmake -B build"), "cmake");
    assert_eq!(program("rsan check -DA=1 a.c"), "rsan");
    assert_eq!(
        missing(&["$ no-such-program x", "y"]),
        Some("no-such-program")
    );
    assert_eq!(missing(&["$ rsan x", "y", "$ echo $?"]), None);
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
