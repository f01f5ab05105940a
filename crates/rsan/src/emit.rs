//! `rsan emit-c` and `rsan emit-rust`: a program in C, or in Rust.

use crate::args::EmitArgs;
use crate::input::{self, failure};
use crate::session::{eprint, print};
use crate::status::Status;
use crate::terminal;
use rsan_lang::emit::{self, Language};

/// Translates the input to C.
pub(crate) fn in_c(args: &EmitArgs) -> Status {
    run(args, Language::C)
}

/// Translates the input to Rust.
pub(crate) fn in_rust(args: &EmitArgs) -> Status {
    run(args, Language::Rust)
}

fn run(args: &EmitArgs, language: Language) -> Status {
    match translate(args, language) {
        Ok(status) => status,
        Err(message) => {
            eprint(&message);
            Status::BadInput
        }
    }
}

fn translate(args: &EmitArgs, language: Language) -> Result<Status, String> {
    let input = input::read(&args.file, terminal::stderr_style())?;
    let options = emit::Options {
        scheduled: args.scheduled,
        annotated: args.annotated,
    };
    let text = match language {
        Language::C => emit::print(&input.program, options),
        Language::Rust => emit::print_rust(&input.program, options),
    };
    let text = text.map_err(|e| failure(&input.subject, &e))?;
    if let Some(path) = &args.output {
        std::fs::write(path, text).map_err(|e| failure(path, &e))?;
        return Ok(Status::Clean);
    }
    Ok(print(&text))
}
