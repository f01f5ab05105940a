//! `rsan explore`: runs programs with loads that return what C++20 allows. Files are compiled as `check` does it.

use crate::args::ExploreArgs;
use crate::check::{SEVERAL, together};
use crate::input::failure;
use crate::interrupt;
use crate::sanitizer::campaign::{self, Memory, Request};
use crate::sanitizer::run::{Sources, again, build, is_as_written, program_again, written};
use crate::session::{Reply, Session, accept_all, baseline, eprint, render};
use crate::shard::Portion;
use crate::status::Status;
use rsan_model::Model;
use rsan_report::{Baseline, Command};
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

/// Explores every input.
pub(crate) fn run(args: &ExploreArgs) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    if args.shard.shard.is_some() && args.files.len() > 1 && !args.build.together {
        eprint(SEVERAL);
        return Status::BadInput;
    }
    match args.files.is_empty() {
        true => program(args, baseline.as_ref(), &stop),
        false => files(args, baseline.as_ref(), &stop),
    }
}

/// A program that is there.
fn program(args: &ExploreArgs, baseline: Option<&Baseline>, stop: &AtomicBool) -> Status {
    let given = !args.build.flags.is_empty() || args.build.together || args.build.level.is_some();
    let subject = args.words[0].display().to_string();
    let reply = match given {
        true => Err("flags of the compiler are for C and C++ files".to_owned()),
        false => {
            let again = program_again(&args.words);
            answer(args, &subject, &args.words, (true, again), stop)
        }
    };
    match reply.map(|reply| reply.judged(baseline, args.report.fail_on)) {
        Ok(reply) => {
            let written = render(args.report.rendering(), vec![reply.document], false);
            reply.status.and(written)
        }
        Err(message) => {
            eprint(&format!("error: {message}\n"));
            Status::BadInput
        }
    }
}

/// Programs that are compiled first.
fn files(args: &ExploreArgs, baseline: Option<&Baseline>, stop: &AtomicBool) -> Status {
    let whole = [args.files.join(" ")];
    let session = Session {
        files: match args.build.together {
            true => &whole,
            false => &args.files,
        },
        rendering: args.report.rendering(),
        dot: None,
        baseline,
        fail_on: args.report.fail_on,
        refuse: match args.build.together {
            true => accept_all,
            false => unsupported,
        },
    };
    session.run(&mut |file| {
        let own = [file.to_owned()];
        let sources = match (args.build.together, written(file)) {
            (false, Some(language)) => Sources {
                subject: file.to_owned(),
                files: &own,
                language,
            },
            (_, _) => together(&args.files)?,
        };
        let built = build(&sources, &args.build)?;
        let again = again(&args.build, sources.files, &args.words);
        let how = (is_as_written(&args.build), again);
        let reply = answer(args, file, &built.with(&args.words), how, stop);
        reply.map_err(|message| failure(file, &message))
    })
}

fn unsupported(file: &str) -> Option<String> {
    let what = "only C, C++ and Rust files are explored; other programs stand after `--`";
    written(file).is_none().then(|| what.to_owned())
}

/// Explores a program, which makes every access of its source or not, and is run again by what stands after the options.
fn answer(
    args: &ExploreArgs,
    subject: &str,
    program: &[OsString],
    (as_written, again): (bool, String),
    stop: &AtomicBool,
) -> Result<Reply, String> {
    campaign::answer(&Request {
        command: Command::Explore,
        subject,
        program,
        as_written,
        again,
        memory: Memory::Weak(&args.weak),
        portion: Portion::of(args.shard.shard.as_ref()),
        schedule: &args.control,
        sanitizer: &args.sanitizer,
        runs: args.runs,
        jobs: args.jobs,
        time_limit: args.time_limit,
        model: Some(Model::C20),
        confirm: None,
        report: &args.report,
        stop,
        standing: None,
    })
}
