//! The `rsan` command: reads programs, asks an engine, shows the answer.
//!
//! Decides nothing itself. What scripts rely on (exit statuses, formats, determinism) is enforced in [`status`]
//! and [`session`]; the commands are one module each.

mod args;
mod campaign;
mod cargo;
mod check;
mod completions;
mod emit;
mod explore;
mod fence;
mod files;
mod folders;
mod input;
mod interrupt;
mod litmus;
mod machines;
mod manual;
mod merge;
mod pause;
mod port;
mod progress;
mod quantity;
mod report;
mod rust;
mod sanitizer;
mod session;
mod shard;
mod status;
mod terminal;
mod tso;
mod verify;

use args::Command;
use sanitizer::compile;
use sanitizer::compiler::Language;
use sanitizer::guard;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(language) = compiler_name() {
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        return compile::run(language, &words).into();
    }
    if let Some(tool) = tool_of_rust() {
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        return ExitCode::from(tool(&words));
    }
    if let Some(words) = called_as(guard::NAME) {
        return ExitCode::from(guard::run(&words));
    }
    if let Some(words) = called_as(cargo::UNIT) {
        return ExitCode::from(cargo::unit(&words).code());
    }
    if let Some(words) = called_as(rsan_llvm::NAME) {
        return ExitCode::from(rsan_llvm::serve(&words));
    }
    let cli = match args::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let status = match cli.command {
        Command::Verify(args) => verify::run(&args),
        Command::Fence(args) => fence::run(&args),
        Command::Litmus(args) => litmus::run(&args),
        Command::EmitC(args) => emit::in_c(&args),
        Command::EmitRust(args) => emit::in_rust(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => sanitizer::run::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Port(args) => port::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Man(args) => manual::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Cargo(args) => cargo::run(&args.command),
        Command::Cc(args) => return compile::run(Language::C, &args.words).into(),
        Command::Cpp(args) => return compile::run(Language::Cpp, &args.words).into(),
    };
    ExitCode::from(status.code())
}

/// The words behind a name, if it was this command that started this process under it.
fn called_as(name: &str) -> Option<Vec<OsString>> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == name).then(|| words.collect())
}

/// Says what is wrong with the command line, or shows the help that was asked for.
fn refused(error: &clap::Error) -> ExitCode {
    match error.use_stderr() {
        true => session::eprint(&error.render().to_string()),
        // Whoever reads it may have had enough.
        false => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What cargo and rustc call this command for, by the name that they call it.
fn tool_of_rust() -> Option<fn(&[OsString]) -> u8> {
    let name = std::env::args_os().next()?;
    match Path::new(&name).file_name()?.to_str()? {
        rust::session::RUSTC => Some(rust::wrapper::run),
        rust::session::LINKER => Some(rust::link::run),
        cargo::RUNNER => Some(cargo::runner),
        _ => None,
    }
}

/// Whether the command was called by a link named as a compiler, for tools that want one word.
fn compiler_name() -> Option<Language> {
    let name = std::env::args_os().next()?;
    match Path::new(&name).file_name()?.to_str()? {
        "rsan-cc" => Some(Language::C),
        "rsan-c++" => Some(Language::Cpp),
        _ => None,
    }
}
