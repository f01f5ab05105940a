//! A part of the tests, each as a whole: those in the places of the part. A part that was made is not made again.

use super::answer;
use crate::args::LitmusArgs;
use crate::files;
use crate::input::{self, failure};
use crate::session::{Reply, Session, eprint};
use crate::shard::{Answer, Asked, Kept, Shard};
use crate::status::Status;
use crate::terminal;
use rsan_report::Command;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answers the inputs of a part.
pub(super) fn run(
    args: &LitmusArgs,
    shard: &Shard,
    session: Session<'_>,
    stop: &AtomicBool,
) -> Status {
    let part = Part::new(args, shard);
    let made = part.and_then(|part| part.run(args, session, stop));
    made.unwrap_or_else(|message| {
        eprint(&message);
        Status::BadInput
    })
}

struct Part<'a> {
    shard: &'a Shard,
    asked: Asked,
    /// Its inputs, with their places.
    files: Vec<(usize, String)>,
}

impl<'a> Part<'a> {
    fn new(args: &LitmusArgs, shard: &'a Shard) -> Result<Self, String> {
        let fail = |message: &str| format!("error: {message}\n");
        if shard.parent().is_some() {
            return Err(fail("a shard of tests leaves nothing that could be split"));
        }
        let part = shard.last();
        let all = args.files.iter().cloned().enumerate();
        let own = all.filter(|(place, _)| place % part.of == part.number - 1);
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            let message = format!("shard {shard} has no test: there are fewer tests than shards");
            return Err(fail(&message));
        }
        Ok(Self {
            shard,
            asked: asked(args)?,
            files: own,
        })
    }

    fn run(
        self,
        args: &LitmusArgs,
        session: Session<'_>,
        stop: &AtomicBool,
    ) -> Result<Status, String> {
        let folder = self.shard.folder(&args.out);
        let fail = |message: String| format!("error: {message}\n");
        let names: Vec<String> = self.files.iter().map(|(_, file)| file.clone()).collect();
        let session = Session {
            files: &names,
            ..session
        };
        if let Some(kept) = Kept::read(&folder, self.shard).map_err(fail)? {
            if let Some(difference) = self.asked.difference(&kept.asked) {
                let place = folder.display();
                return Err(fail(format!(
                    "{place} has the result of something else; {difference}"
                )));
            }
            let mut answers = kept.answers.into_iter();
            return Ok(session.run(&mut |file| {
                let answer = answers.next();
                let answer =
                    answer.ok_or_else(|| failure(file, &"the result has no answer for it"))?;
                Ok(Reply {
                    status: Status::Clean,
                    document: answer.document,
                    interrupted: false,
                })
            }));
        }
        let mut answers = Vec::new();
        let mut places = self.files.iter().map(|(place, _)| *place);
        let status = session.run(&mut |file| {
            let place = places.next().unwrap_or_default();
            let input = input::read_litmus(file, terminal::stderr_style())?;
            let reply = answer(args, &input, stop)?;
            let document = reply.document.clone();
            answers.push(Answer { place, document });
            Ok(reply)
        });
        let is_whole = answers.len() == self.files.len() && !stop.load(Ordering::Relaxed);
        if is_whole {
            let mut kept = Kept::new(self.shard, self.asked, answers);
            kept.write(&folder, None).map_err(fail)?;
        }
        Ok(status)
    }
}

/// What all parts have in common: all tests, and how they are answered.
fn asked(args: &LitmusArgs) -> Result<Asked, String> {
    let mut contents = Vec::new();
    for file in &args.files {
        if file == "-" {
            return Err(failure("<stdin>", &"only files can be split"));
        }
        let bytes = files::read(Path::new(file), files::TEXT);
        contents.push(bytes.map_err(|error| failure(file, &error))?);
    }
    let mut options = vec![format!("--unroll {}", args.unroll)];
    options.extend(args.model.map(|model| format!("--model {model:?}")));
    options.extend(args.arch.map(|arch| format!("--arch {arch}")));
    options.extend(
        args.memory_limit
            .map(|limit| format!("--memory-limit {limit}")),
    );
    options.extend(
        args.time_limit
            .map(|limit| format!("--time-limit {limit:?}")),
    );
    let subject = args.files.join(" ");
    Ok(Asked::new(Command::Litmus, subject, &contents, options))
}
