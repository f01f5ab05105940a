//! `rsan emit-c`: a program in C.

use crate::args::EmitCArgs;
use crate::input::{self, failure};
use crate::session::{eprint, print};
use crate::status::Status;
use crate::terminal;
use rsan_lang::emit;

/// Translates the input.
pub(crate) fn run(args: &EmitCArgs) -> Status {
    match translate(args) {
        Ok(status) => status,
        Err(message) => {
            eprint(&message);
            Status::BadInput
        }
    }
}

fn translate(args: &EmitCArgs) -> Result<Status, String> {
    let input = input::read(&args.file, terminal::stderr_style())?;
    let options = emit::Options {
        scheduled: args.scheduled,
        annotated: args.annotated,
    };
    let text = emit::print(&input.program, options).map_err(|e| failure(&input.subject, &e))?;
    if let Some(path) = &args.output {
        std::fs::write(path, text).map_err(|e| failure(path, &e))?;
        return Ok(Status::Clean);
    }
    Ok(print(&text))
}
