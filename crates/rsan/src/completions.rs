//! `rsan completions`: scripts with which shells complete command lines, made of the table of options.

use crate::args::{Cli, CompletionsArgs, Shell};
use crate::folders::{self, Home};
use crate::status::Status;
use clap::CommandFactory;
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
    let mut command = Cli::command();
    let mut bytes = Vec::new();
    match shell {
        Shell::Bash => generate(shells::Bash, &mut command, "rsan", &mut bytes),
        Shell::Zsh => generate(shells::Zsh, &mut command, "rsan", &mut bytes),
        Shell::Fish => generate(shells::Fish, &mut command, "rsan", &mut bytes),
    }
    String::from_utf8(bytes).expect("scripts are UTF-8, as their help texts are")
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
