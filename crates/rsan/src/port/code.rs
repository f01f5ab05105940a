//! `rsan port` of programs: the static analysis of their IR, and the cheapest repair.

use super::again::{Again, Left};
use super::build::{Built, NotBuilt, build};
use super::diff::{Changed, changed};
use super::document;
use super::limits::Limits;
use super::places::Places;
use crate::args::PortArgs;
use crate::input::{Input, failure};
use crate::session::{Reply, eprint};
use rsan_ir::module::{Edit, Module};
use rsan_ir::port::{Answer, Costs, Means, Question, Refusal, Repair};
use rsan_ir::{analyse, apply, from_program, repair};
use rsan_llvm::{Error, Form, Reader};
use rsan_model::Reason;
use rsan_report::document::Method;
use rsan_report::number::plural;
use rsan_report::{Document, Judgement, complaint};
use std::path::Path;

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// The complete message for the user, who has to change something.
    Bad(String),
    /// It is not decided, and why.
    Undecided(String),
    /// A limit was reached.
    Stopped(Reason),
}

impl From<NotBuilt> for NoAnswer {
    fn from(why: NotBuilt) -> Self {
        match why {
            NotBuilt::Bad(message) => Self::Bad(message),
            NotBuilt::Stopped(reason) => Self::Stopped(reason),
            NotBuilt::NoCompiler(message) => Self::Undecided(message),
        }
    }
}

/// Answers about a program that is given as sources or IR.
///
/// # Errors
/// The complete message for the user.
pub(super) fn program(
    args: &PortArgs,
    subject: &str,
    files: &[String],
    limits: &mut Limits<'_>,
) -> Result<Reply, String> {
    let answered = of_files(args, subject, files, limits);
    reply(args, subject, answered, limits)
}

fn of_files(
    args: &PortArgs,
    subject: &str,
    files: &[String],
    limits: &mut Limits<'_>,
) -> Result<Document, NoAnswer> {
    let built = build(files, args, None, limits)?;
    let module = read(&built, subject, limits)?;
    let again = Again::Files(files);
    let (document, repair) = analysed(args, subject, &module, &again, limits)?;
    if let (Some(out), Some(repair)) = (&args.fix.emit_llvm, &repair) {
        emit(&built, &module, repair, out, limits)?;
    }
    Ok(document)
}

/// Answers about a litmus test, for any number of copies of its threads.
///
/// # Errors
/// The complete message for the user.
pub(super) fn test(
    args: &PortArgs,
    input: &Input,
    limits: &mut Limits<'_>,
) -> Result<Reply, String> {
    let module = module_of(input)?;
    let answered = analysed(args, &input.subject, &module, &Again::Test, limits);
    let answered = answered.map(|(document, _)| document);
    reply(args, &input.subject, answered, limits)
}

/// A litmus test as a module.
///
/// # Errors
/// The complete message for the user.
pub(super) fn module_of(input: &Input) -> Result<Module, String> {
    from_program(&input.program).map_err(|(thread, pc)| {
        let span = input.program.threads[thread.index()].span(pc);
        let message =
            "threads that are started by others are not analysed; leave --static and --fix out";
        match &input.program.source {
            Some(source) => {
                let style = crate::terminal::stderr_style();
                complaint(source, span, message, "here", style)
            }
            None => failure(&input.subject, &message),
        }
    })
}

fn reply(
    args: &PortArgs,
    subject: &str,
    answered: Result<Document, NoAnswer>,
    limits: &Limits<'_>,
) -> Result<Reply, String> {
    let unknown = |why: &str| {
        let mut document = document::empty(args, subject, Judgement::Unknown, Method::Static);
        document.notes.push(why.to_owned());
        document
    };
    let mut interrupted = false;
    let mut document = match answered {
        Ok(document) => document,
        Err(NoAnswer::Bad(message)) => return Err(message),
        Err(NoAnswer::Undecided(why)) => unknown(&why),
        Err(NoAnswer::Stopped(reason)) => {
            interrupted = reason == Reason::Interrupted;
            unknown(&reason.to_string())
        }
    };
    document.stats.seconds = limits.elapsed().as_secs_f64();
    Ok(Reply {
        status: document.verdict.into(),
        document,
        interrupted,
    })
}

/// The program in IR, read in a process of its own.
pub(super) fn read(
    built: &Built,
    subject: &str,
    limits: &mut Limits<'_>,
) -> Result<Module, NoAnswer> {
    let reader = reader(limits)?;
    let read = reader.read(&built.files, &mut || limits.go_on());
    read.map(|read| read.module)
        .map_err(|error| unread(subject, error, limits))
}

fn reader(limits: &Limits<'_>) -> Result<Reader, NoAnswer> {
    let reader = Reader::new().map_err(|error| NoAnswer::Undecided(error.to_string()))?;
    Ok(reader.limited(rsan_llvm::Limits {
        time: limits.left(),
        memory: limits.memory(),
    }))
}

fn unread(subject: &str, error: Error, limits: &Limits<'_>) -> NoAnswer {
    match error {
        Error::Missing { .. } => NoAnswer::Undecided(error.to_string().replace("\n ", ";")),
        Error::Time => NoAnswer::Stopped(Reason::TimeLimit),
        Error::Memory => NoAnswer::Stopped(Reason::MemoryLimit),
        Error::Interrupted => NoAnswer::Stopped(limits.reason().unwrap_or(Reason::Interrupted)),
        Error::Edit { .. } | Error::Child { .. } => NoAnswer::Bad(failure(subject, &error)),
        Error::File { .. } | Error::Corrupt { .. } | Error::TooNew { .. } | Error::Empty { .. } => {
            NoAnswer::Bad(format!("error: {error}\n"))
        }
    }
}

/// What is asked about a module. Of a test, all functions are those of threads.
fn question(args: &PortArgs, module: &Module, again: &Again<'_>) -> Question {
    let threads = match again {
        Again::Test if args.thread.is_empty() => {
            let functions = module.functions.iter();
            functions.map(|function| function.name.clone()).collect()
        }
        Again::Test | Again::Files(_) => args.thread.clone(),
    };
    Question {
        from: args.from,
        to: args.to,
        threads,
        rcpc: args.rcpc,
        race_free: args.race_free,
    }
}

/// The pairs that may be swapped.
pub(super) fn ask(
    args: &PortArgs,
    subject: &str,
    module: &Module,
    again: &Again<'_>,
    limits: &mut Limits<'_>,
) -> Result<Answer, NoAnswer> {
    let question = question(args, module, again);
    let answer = analyse(module, &question, &mut || limits.go_on());
    answer.map_err(|refusal| refused(subject, &refusal, limits))
}

fn refused(subject: &str, refusal: &Refusal, limits: &Limits<'_>) -> NoAnswer {
    match refusal {
        Refusal::Stopped => NoAnswer::Stopped(limits.reason().unwrap_or(Reason::Interrupted)),
        Refusal::NoThreads | Refusal::UnknownThread(_) | Refusal::NotWeaker => {
            NoAnswer::Bad(failure(subject, refusal))
        }
    }
}

/// The answer about a module, and its repair if that is wanted.
fn analysed(
    args: &PortArgs,
    subject: &str,
    module: &Module,
    again: &Again<'_>,
    limits: &mut Limits<'_>,
) -> Result<(Document, Option<Repair>), NoAnswer> {
    let answer = ask(args, subject, module, again, limits)?;
    let places = Places::new(module);
    let mut document = document::of(args, subject, &answer, &places);
    if !args.fix.fix {
        return Ok((document, None));
    }
    let means = match args.fix.fences_only {
        true => Means::Fences,
        false => Means::FencesAndOrders,
    };
    let costs = match args.fix.unit_costs {
        true => Costs::unit(),
        false => Costs::of(args.to),
    };
    let question = question(args, module, again);
    let found = repair(module, &question, &answer, means, &costs, &mut || {
        limits.go_on()
    });
    let found = found.map_err(|refusal| refused(subject, &refusal, limits))?;
    let after = ask(args, subject, &apply(module, &found), again, limits)?;
    document.repair = Some(document::repair(args.to, &found, &costs, &places));
    if let Some(port) = &mut document.port {
        port.naive = Some(found.naive as u64);
    }
    if !found.exact {
        let note = "too many paths for a search: there may be cheaper changes";
        document.notes.push(note.to_owned());
    }
    if !answer.warnings.is_empty() {
        document.verdict = judged(&after);
        document.incomplete = false;
    }
    if args.fix.diff {
        let changed = changed(&found.changes, &places);
        let left = again.left(args, &changed, limits)?;
        deliver(args, &mut document, changed, left);
    }
    Ok((document, Some(found)))
}

/// What is known of a program that was changed.
fn judged(after: &Answer) -> Judgement {
    let proof = after.assumptions.iter().all(|known| !known.unsound);
    match (after.warnings.is_empty(), proof) {
        (true, true) => Judgement::Robust,
        (true, false) => Judgement::Unknown,
        (false, _) => Judgement::Violation,
    }
}

/// Adds the diff to a document. What is wrong with it is said apart from it: it is for `patch`.
fn deliver(args: &PortArgs, document: &mut Document, changed: Changed, left: Left) {
    let mut complaints = changed.unplaced;
    match left {
        Left::Nothing | Left::Unchecked => {}
        Left::Pairs(number) => complaints.push(format!(
            "with the diff alone, {} of accesses may still be swapped",
            plural(number as u64, "pair")
        )),
        Left::NotCompiled => complaints.push("with the diff, it cannot be compiled".to_owned()),
    }
    if !complaints.is_empty() {
        let rest = "--emit-llvm writes a program with all changes";
        complaints.push(rest.to_owned());
        if document.verdict == Judgement::Robust {
            document.verdict = Judgement::Unknown;
        }
    }
    if args.report.leaves_stdout() {
        let subject = &document.subject;
        let all = complaints.iter();
        all.for_each(|complaint| eprint(&format!("{subject}: note: {complaint}\n")));
    }
    document.notes.extend(complaints);
    document.diff = Some(changed.diff);
}

/// Writes the changed IR.
fn emit(
    built: &Built,
    module: &Module,
    repair: &Repair,
    out: &Path,
    limits: &mut Limits<'_>,
) -> Result<(), NoAnswer> {
    let edits = repair.changes.iter().map(|placed| Edit {
        function: module.functions[placed.function.index()].name.clone(),
        number: placed.number,
        change: placed.change.clone(),
    });
    let edits: Vec<Edit> = edits.collect();
    let form = match out.extension().is_some_and(|end| end == "ll") {
        true => Form::Text,
        false => Form::Bitcode,
    };
    let file = &built.files[0];
    let reader = reader(limits)?;
    let patched = reader.patch(file, &edits, out, form, &mut || limits.go_on());
    patched.map_err(|error| unread(&out.display().to_string(), error, limits))
}
