//! Manual pages and completions have every command and every option that the help has, and the book every setting of the runtime.

use crate::common::{Run, root, rsan, run, scratch};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The commands that `rsan --help` lists, but for `help`.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    let names: Vec<_> = names.filter(|n| *n != "help").map(str::to_owned).collect();
    assert!(names.iter().any(|name| name == "check"), "{names:?}");
    names
}

/// The long options that the help of a command lists.
fn options(command: &str) -> BTreeSet<String> {
    let help = run(&["help", command]).stdout;
    let listed = help.lines().filter_map(|line| {
        let (_, option) = line.trim_start().split_once("--")?;
        let listed = line.trim_start().starts_with('-');
        let name = option.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        listed.then(|| name.take(1).collect::<String>())
    });
    listed.collect()
}

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    let overview = run(&["man"]).stdout;
    assert!(overview.contains(".SH NAME"), "{overview}");
    for command in commands() {
        let page = run(&["man", &command]).stdout;
        let name = format!("rsan-{command}").replace('-', "\\-");
        assert!(overview.contains(&name), "{name} is not in {overview}");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"] {
            let heading = format!(".SH {section}");
            let heading = heading.replace("SEE ALSO", "\"SEE ALSO\"");
            assert!(page.contains(&heading), "{command}: no {section}\n{page}");
        }
        assert!(page.contains(&name), "{name} is not in {page}");
        for option in options(&command) {
            let written = format!("\\-\\-{}", option.replace('-', "\\-"));
            assert!(page.contains(&written), "{command}: no --{option}\n{page}");
        }
    }
    assert!(options("check").contains("exhaustive"));
    let unknown = run(&["man", "frobnicate"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("emit-c"), "{}", unknown.stderr);
}

#[test]
fn completions_know_every_option() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).stdout;
        for command in commands() {
            assert!(script.contains(&command), "{shell}: no {command}");
            for option in options(&command) {
                let written = match shell {
                    "fish" => format!("-l {option}"),
                    _ => format!("--{option}"),
                };
                assert!(script.contains(&written), "{shell}: {command} --{option}");
            }
        }
    }
    assert_eq!(run(&["completions", "sh"]).code, 2);
}

/// What bash offers for the last of the words.
fn offered(words: &[&str]) -> Option<String> {
    let script = format!(
        "source <({rsan} completions bash); COMP_WORDS=({words}); COMP_CWORD={last}; \
         _rsan rsan '{current}' '{previous}'; echo \"${{COMPREPLY[@]}}\"",
        rsan = env!("CARGO_BIN_EXE_rsan"),
        words = words.join(" "),
        last = words.len() - 1,
        current = words[words.len() - 1],
        previous = words[words.len() - 2],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &script])
        .output();
    let run = Run::from(output.ok()?);
    assert_eq!(run.stderr, "");
    Some(run.stdout.trim().to_owned())
}

#[test]
fn bash_completes_commands_and_options() {
    let Some(commands) = offered(&["rsan", "ve"]) else {
        println!("bash is not installed: its completion is not tried");
        return;
    };
    assert_eq!(commands, "verify");
    let option = offered(&["rsan", "check", "--exh"]);
    assert_eq!(option.as_deref(), Some("--exhaustive"));
    for (words, expected) in [
        (["rsan", "check", "--format", "js"], "json"),
        (["rsan", "litmus", "--model", "rc"], "rc20 rc11"),
        (["rsan", "verify", "--model", "rc"], "rc20"),
        (["rsan", "run", "--sched", "p"], "pct pos"),
        (["rsan", "explore", "--strategy", "p"], "pctwm"),
    ] {
        assert_eq!(offered(&words).as_deref(), Some(expected), "{words:?}");
    }
}

#[test]
fn every_setting_is_in_the_book() {
    let program = scratch("settings");
    let compiled = rsan(&root())
        .args(["cc", "-pthread", "-o", &program, "examples/dekker.c"])
        .status();
    assert!(compiled.expect("rsan starts").success());
    let listed = Command::new(&program).env("RSAN_OPTIONS", "help").output();
    let listed = Run::from(listed.expect("the program starts")).stderr;
    let lines = listed
        .lines()
        .skip_while(|line| !line.contains("RSAN_OPTIONS"));
    let lines = lines.skip(1).map_while(|line| line.strip_prefix("  "));
    let names: BTreeSet<_> = lines.filter_map(|line| line.split(' ').next()).collect();
    let page = std::fs::read_to_string(root().join("docs/settings.md")).expect("the page");
    let ours = page
        .split("## ThreadSanitizer's")
        .next()
        .unwrap_or_default();
    let rows = ours.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: BTreeSet<_> = rows.filter_map(|row| row.split('`').next()).collect();
    assert!(names.contains("log_cap"), "{listed}");
    assert_eq!(names, rows);
}

/// Runs the command for a user whose home is an empty folder.
fn at_home(home: &str, args: &[&str]) -> Run {
    let mut command = rsan(&root());
    command.env("HOME", home);
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command.args(args).output().expect("rsan starts").into()
}

#[test]
fn pages_and_scripts_are_installed_for_the_user() {
    let home = scratch("home");
    // What an earlier run of this test has left.
    let _ = std::fs::remove_dir_all(&home);
    let printed = at_home(&home, &["man", "--install"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let below = ["test", "nextest", "run", "build", "clean", "setup"];
    let pages = 1 + commands().len() + below.len();
    assert_eq!(printed.stdout.lines().count(), pages, "{}", printed.stdout);
    for command in below {
        let page = run(&["man", &format!("cargo-{command}")]).stdout;
        assert!(page.contains(".SH EXAMPLES"), "{command}: {page}");
    }
    let page = Path::new(&home).join(".local/share/man/man1/rsan-check.1");
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert_eq!(page, run(&["man", "check"]).stdout);
    for (shell, file) in [
        ("bash", ".local/share/bash-completion/completions/rsan"),
        ("zsh", ".local/share/zsh/site-functions/_rsan"),
        ("fish", ".config/fish/completions/rsan.fish"),
    ] {
        let installed = at_home(&home, &["completions", shell, "--install"]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        let script = std::fs::read_to_string(Path::new(&home).join(file));
        let script = script.expect("the script is there");
        assert_eq!(script, run(&["completions", shell]).stdout);
    }
    let elsewhere = scratch("manuals");
    let named = at_home(&home, &["man", "--install", "--dir", &elsewhere]);
    assert_eq!(named.code, 0, "{}", named.stderr);
    assert!(Path::new(&elsewhere).join("man1/rsan.1").is_file());
    let file = format!("{home}/.config/fish/completions/rsan.fish");
    let refused = at_home(&home, &["man", "--install", "--dir", &file]);
    assert_eq!(refused.code, 2, "a file is no folder");
}
