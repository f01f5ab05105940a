//! `rsan completions`: scripts with which shells complete command lines, made of the table of options.

use crate::args::{Cli, CompletionsArgs, Shell};
use crate::folders::{self, Home};
use crate::status::Status;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, Parser};
use clap_complete::{generate, shells};
use std::path::{Path, PathBuf};

/// Prints or installs the script.
pub(crate) fn run(args: &CompletionsArgs) -> Status {
    folders::print(answer(args))
}

fn answer(args: &CompletionsArgs) -> Result<String, String> {
    let script = script(args.shell);
    if !args.install {
        return Ok(script);
    }
    let folder = args.dir.clone().or_else(|| folder(args.shell));
    let folder = folder.ok_or("no folder for it: neither HOME nor --dir names one\n")?;
    let path = folders::install(&folder, name(args.shell), script.as_bytes())?;
    let hint = hint(args.shell, &folder);
    Ok(format!("{}\n{hint}", path.display()))
}

fn script(shell: Shell) -> String {
    let mut command = offering(Cli::command());
    let mut bytes = Vec::new();
    match shell {
        Shell::Bash => generate(shells::Bash, &mut command, "rsan", &mut bytes),
        Shell::Zsh => generate(shells::Zsh, &mut command, "rsan", &mut bytes),
        Shell::Fish => generate(shells::Fish, &mut command, "rsan", &mut bytes),
    }
    String::from_utf8(bytes).expect("scripts are UTF-8, as their help texts are")
}

/// Words that options take. A command may refuse some of them.
const WORDS: &[(&str, &[&str])] = &[
    ("format", &["text", "json", "html", "sarif", "junit", "dot"]),
    ("model", &["c20", "rc20", "ra", "tso", "sc", "rc11"]),
    (
        "arch",
        &[
            "x86",
            "armv8",
            "armv8+rcpc",
            "armv8+lse",
            "armv7",
            "riscv",
            "power",
        ],
    ),
    ("property", &["robust", "observational", "safe", "trf"]),
    ("sched", &["random", "pct", "pos"]),
    ("strategy", &["guided", "pctwm", "random"]),
    ("volatile", &["relaxed", "acqrel", "plain"]),
    ("target", &["armv8", "riscv", "x86"]),
    ("optimize", &["0", "1", "2", "3", "s", "z", "g", "fast"]),
];

/// The table of options with the words that each takes, which only shells want to know: the help has them in sentences.
fn offering(rsan: Command) -> Command {
    rsan.mut_subcommands(|command| offering_below(&["rsan"], command))
}

/// The same of a command below others.
fn offering_below(above: &[&str], command: Command) -> Command {
    let name = command.get_name().to_owned();
    let line = [above, &[&*name]].concat();
    command
        .mut_args(|arg| with_words(&line, arg))
        .mut_subcommands(|command| offering_below(&line, command))
}

fn with_words(line: &[&str], arg: Arg) -> Arg {
    let of = |(option, _): &&(&str, _)| arg.get_long() == Some(option);
    let Some((option, words)) = WORDS.iter().find(of) else {
        return arg;
    };
    let words = words.iter().filter(|word| is_accepted(line, option, word));
    arg.value_parser(PossibleValuesParser::new(words))
}

/// Whether a command takes a word as the value of an option; what else is wrong with so short a line does not matter.
fn is_accepted(line: &[&str], option: &str, word: &str) -> bool {
    let option = format!("--{option}");
    let parsed = Cli::try_parse_from([line, &[&*option, word]].concat());
    parsed
        .err()
        .is_none_or(|error| error.kind() != ErrorKind::ValueValidation)
}

/// Where the shell looks for scripts of a user.
fn folder(shell: Shell) -> Option<PathBuf> {
    let home = Home::current();
    match shell {
        Shell::Bash => home.data("bash-completion/completions"),
        Shell::Zsh => home.data("zsh/site-functions"),
        Shell::Fish => home.config("fish/completions"),
    }
}

/// What the shell wants the script to be named.
fn name(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => "rsan",
        Shell::Zsh => "_rsan",
        Shell::Fish => "rsan.fish",
    }
}

/// What else the user has to do.
fn hint(shell: Shell, folder: &Path) -> String {
    match shell {
        Shell::Bash => "It needs the package bash-completion.\n".to_owned(),
        Shell::Zsh => format!(
            "~/.zshrc has to name the folder, before compinit: fpath=({} $fpath)\n",
            folder.display()
        ),
        Shell::Fish => String::new(),
    }
}
