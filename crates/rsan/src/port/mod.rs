//! `rsan port`: what breaks on a weaker machine.
//!
//! Sources and LLVM's IR are one program, which the static analysis of `rsan-ir` answers for any number of threads; a litmus test is answered
//! exactly, by the oracle.

mod again;
mod build;
mod code;
mod diff;
mod document;
mod exact;
mod limits;
mod places;
mod scan;
mod source;

use crate::args::PortArgs;
use crate::input::{self, failure};
use crate::interrupt;
use crate::session::{Reply, Session, accept_all, baseline, eprint};
use crate::status::Status;
use crate::terminal;
use build::{Part, part};
use limits::Limits;
use rsan_model::machine::Machine;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What is answered at once.
enum Subject {
    /// A program, by its files.
    Program(Vec<String>),
    /// A litmus test.
    Test(String),
}

impl Subject {
    /// Its name for the user.
    fn name(&self) -> String {
        match self {
            Self::Test(file) => file.clone(),
            Self::Program(files) => match files.as_slice() {
                [first, _, _, _, more @ ..] => format!("{first} and {} more", more.len() + 3),
                few => few.join(" "),
            },
        }
    }
}

/// Answers every input.
pub(crate) fn run(args: &PortArgs) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let subjects = match refused(args) {
        Some(message) => Err(message),
        None => subjects(args),
    };
    let subjects = match subjects {
        Ok(subjects) => subjects,
        Err(message) => {
            eprint(&message);
            return Status::BadInput;
        }
    };
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let names: Vec<String> = subjects.iter().map(Subject::name).collect();
    let session = Session {
        files: &names,
        baseline: baseline.as_ref(),
        fail_on: args.report.fail_on,
        rendering: args.report.rendering(),
        dot: None,
        refuse: accept_all,
    };
    let mut subjects = subjects.iter();
    session.run(&mut |_| match subjects.next() {
        Some(subject) => answer(args, subject, &stop),
        None => Err("error: no input is left\n".to_owned()),
    })
}

/// Why a question cannot be asked.
fn refused(args: &PortArgs) -> Option<String> {
    let message = match (args.from, args.to) {
        (from, to) if from == to => format!(
            "error: --from and --to are both {from}: every program is robust from a machine to itself\n"
        ),
        (_, Machine::Sc) => {
            "error: --to sc: nothing is stronger than sc; what breaks there breaks everywhere\n"
                .to_owned()
        }
        _ => return None,
    };
    Some(message)
}

/// The inputs: the files of one program, and tests.
///
/// # Errors
/// The complete message for the user.
fn subjects(args: &PortArgs) -> Result<Vec<Subject>, String> {
    let mut program = Vec::new();
    let mut tests = Vec::new();
    for file in &args.files {
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        match (part(file), extension) {
            (Some(_), _) => program.push(file.clone()),
            (None, Some("litmus" | "tpl" | "mini")) => tests.push(Subject::Test(file.clone())),
            (None, _) if file == "-" => tests.push(Subject::Test(file.clone())),
            (None, _) => {
                let message = "unknown kind of file; .c, .cc, .cpp, .rs, .bc, .ll, .litmus and .tpl files are taken";
                return Err(failure(file, &message));
            }
        }
    }
    let sources = program.iter().any(|file| part(file) != Some(Part::Ir));
    if !sources && !args.flags.is_empty() {
        return Err("error: flags of the compiler are for C, C++ and Rust files\n".to_owned());
    }
    if args.race_free && !tests.is_empty() && !args.as_code && !args.fix.fix {
        let message = "error: --race-free is for programs; a test is answered exactly, unless --static or --fix is given\n";
        return Err(message.to_owned());
    }
    let many = program.len() != 1 || !tests.is_empty();
    if args.fix.emit_llvm.is_some() && many {
        let message = "error: --emit-llvm takes one file of a program; the others would be lost\n";
        return Err(message.to_owned());
    }
    let program = (!program.is_empty()).then_some(Subject::Program(program));
    Ok(program.into_iter().chain(tests).collect())
}

/// Answers one input.
///
/// # Errors
/// The complete message for the user.
fn answer(args: &PortArgs, subject: &Subject, stop: &AtomicBool) -> Result<Reply, String> {
    let mut limits = Limits::new(stop, args.time_limit, args.memory_limit);
    match subject {
        Subject::Program(files) => code::program(args, &subject.name(), files, &mut limits),
        Subject::Test(file) => {
            let input = input::read(file, terminal::stderr_style())?;
            match args.as_code || args.fix.fix {
                true => code::test(args, &input, &mut limits),
                false => exact::answer(args, &input, &mut limits),
            }
        }
    }
}
