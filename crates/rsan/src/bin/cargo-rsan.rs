//! `cargo rsan`: the same as `rsan cargo`, under the name that cargo looks for.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo says its name first.
    if words.first().is_some_and(|word| word == "rsan") {
        words.remove(0);
    }
    // Both are installed together; a copy elsewhere finds the other one by the search path.
    let beside = std::env::current_exe().map(|own| own.with_file_name("rsan"));
    let beside = beside.ok().filter(|command| command.is_file());
    let command = beside.map_or("rsan".into(), |path| path.into_os_string());
    let error = Command::new(&command).arg("cargo").args(words).exec();
    eprintln!("cargo-rsan: {}: {error}", command.display());
    ExitCode::from(2)
}
