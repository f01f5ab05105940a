//! `cargo rsan run`: the program that cargo would run, as `rsan run` runs it.

use super::build::Build;
use super::record;
use crate::args::CargoTestArgs;
use crate::status::Status;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Builds a program and becomes `rsan run` with it.
///
/// # Errors
/// The message for the user.
pub(super) fn run(args: &CargoTestArgs) -> Result<Status, String> {
    let build = Build::new(&args.words)?;
    let folder = build.scratch.path().join("notes");
    fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let mut command = build.command("run", &[]);
    let status = command.env(record::VARIABLE, &folder).status();
    let status = status.map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Ok(Status::BadInput);
    }
    let mut started = record::notes(&folder)?
        .pop()
        .ok_or("cargo did not say what it would run")?;
    build.restore(&mut started.environment);
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // The folder of the build is gone when this process is another one.
    drop(build);
    let error = Command::new(own)
        .arg("run")
        .args(&args.words.own)
        .arg("--")
        .args(&started.program)
        .current_dir(&started.folder)
        .env_clear()
        .envs(started.environment)
        .exec();
    Err(error.to_string())
}
