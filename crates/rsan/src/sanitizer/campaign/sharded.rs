//! A part of a campaign, in a folder of its own: made once, whoever asks again.

use super::{Memory, Request, made};
use crate::args::ControlArgs;
use crate::files;
use crate::session::Reply;
use crate::shard::{Answer, Asked, Kept, Portion, Shard, Tree, program, tell};
use crate::status::Status;
use rsan_report::number::{count, plural};
use rsan_schedule::Fingerprint;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What a part adds to an answer.
#[derive(Default)]
pub(super) struct Made {
    /// Executions that sampled runs have shown.
    pub(super) coverage: Option<BTreeSet<Fingerprint>>,
    /// Stands for what was dealt out to the parts of an exploration, if it came to that.
    pub(super) dealt: Option<u128>,
}

const CHECKPOINT: &str = "checkpoint.json";

/// Makes the part, unless it was made before, and says what came of it.
pub(super) fn answer(request: &Request<'_>, shard: &Shard) -> Result<Reply, String> {
    refuse(request)?;
    let out = &request.schedule.out;
    let folder = shard.folder(out);
    let asked = asked(request)?;
    if let Some(kept) = made_before(out, shard, &asked)? {
        return reply(kept, shard, request);
    }
    let exhaustive = request.schedule.exhaustive;
    let before = Before::read(out, shard, &asked, exhaustive)?;
    let control = ControlArgs {
        out: folder.clone(),
        checkpoint: exhaustive.then(|| folder.join(CHECKPOINT)),
        ..request.schedule.clone()
    };
    let portion = Portion {
        shard: Some(shard),
        done: &before.done,
        left: before.checkpoint.as_deref().filter(|_| exhaustive),
    };
    let request = &Request {
        schedule: &control,
        portion,
        again: request.again.clone(),
        ..*request
    };
    if !exhaustive && request.slice().len == 0 {
        return Err(format!(
            "shard {shard} has no run: there are fewer runs than shards"
        ));
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (mut reply, made) = made(request)?;
    let mut kept = Kept::new(shard, asked, Vec::new());
    kept.from = before.from;
    let left = keep(request, &reply, &made, kept)?;
    tell(&mut reply.document, shard, left.as_deref());
    reply.status = Status::from(&reply.document);
    reply.interrupted = request.stop.load(Ordering::Relaxed);
    Ok(reply)
}

/// The result of a part that has nothing left.
fn made_before(out: &PathBuf, shard: &Shard, asked: &Asked) -> Result<Option<Kept>, String> {
    let folder = shard.folder(out);
    let Some(kept) = Kept::read(&folder, shard)? else {
        return Ok(None);
    };
    if let Some(difference) = asked.difference(&kept.asked) {
        let folder = folder.display();
        return Err(format!(
            "{folder} has the result of something else; {difference}"
        ));
    }
    if kept.finished {
        return Ok(Some(kept));
    }
    match Tree::read(std::slice::from_ref(out))?.is_split(shard) {
        true => Err(format!("shard {shard} was split: its parts go on")),
        false => Ok(None),
    }
}

/// Writes the result of a part, and says what is left, if something is. What was not dealt out yet would be counted by every part, and is
/// not written.
fn keep(
    request: &Request<'_>,
    reply: &Reply,
    made: &Made,
    mut kept: Kept,
) -> Result<Option<String>, String> {
    let folder = &request.schedule.out;
    let checkpoint = folder.join(CHECKPOINT);
    let stats = &reply.document.stats;
    let schedules = stats.schedules.as_ref();
    let exploration = schedules.and_then(|schedules| schedules.exploration.as_ref());
    let runs = stats.runs.unwrap_or(0);
    kept.runs = runs;
    kept.dealt = made.dealt.map(|digest| format!("{digest:032x}"));
    let document = reply.document.clone();
    kept.answers.push(Answer { place: 0, document });
    let left = match exploration {
        Some(_) if made.dealt.is_none() => return Ok(Some("it has not begun".to_owned())),
        None if runs == 0 => return Ok(Some("it has not begun".to_owned())),
        Some(exploration) => {
            let left = exploration.left;
            kept.left = (left > 0).then(|| of_file(&checkpoint).unwrap_or_default());
            (left > 0).then(|| format!("{} plans are left", count(left)))
        }
        None => {
            let wanted = request.slice().len as u64;
            kept.left = (runs < wanted).then(|| runs.to_string());
            (runs < wanted).then(|| format!("{} of {}", count(runs), plural(wanted, "run")))
        }
    };
    kept.finished = left.is_none();
    kept.write(folder, made.coverage.as_ref())?;
    if kept.finished && exploration.is_some() {
        // The result says more.
        let _ = fs::remove_file(&checkpoint);
    }
    Ok(left)
}

/// The answer of a part that was made before.
fn reply(kept: Kept, shard: &Shard, request: &Request<'_>) -> Result<Reply, String> {
    let nothing = || format!("shard {shard} has a result without an answer");
    let answer = kept.answers.into_iter().next().ok_or_else(nothing)?;
    let mut document = answer.document;
    document.subject = request.subject.to_owned();
    tell(&mut document, shard, None);
    Ok(Reply {
        status: Status::from(&document),
        document,
        interrupted: false,
    })
}

/// What cannot be done in parts.
fn refuse(request: &Request<'_>) -> Result<(), String> {
    let control = request.schedule;
    let until_saturated = match request.memory {
        Memory::Sequential(args) => args.until_saturated,
        Memory::Weak(_) => false,
    };
    let options = [
        ("--replay", control.replay.is_some(), "a replay is one run"),
        (
            "--checkpoint",
            control.checkpoint.is_some(),
            "a shard has its own in --out",
        ),
        (
            "--max-executions",
            control.max_executions.is_some(),
            "a shard does not know what others explore; use --time-limit",
        ),
        (
            "--until-saturated",
            until_saturated,
            "a shard does not know what others show",
        ),
        (
            "--halt-on-error",
            request.sanitizer.halt_on_error,
            "a shard does not know what others find",
        ),
    ];
    match options.into_iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => Err(format!("{option} is not possible with --shard: {why}")),
        None => Ok(()),
    }
}

/// The parts that a part is a part of.
#[derive(Default)]
struct Before {
    /// Runs that they have made, the largest part first.
    done: Vec<usize>,
    /// Where the last of them left its exploration.
    checkpoint: Option<PathBuf>,
    /// Stands for what it left.
    from: Option<String>,
}

impl Before {
    fn read(out: &Path, shard: &Shard, asked: &Asked, exhaustive: bool) -> Result<Self, String> {
        let mut before = Self::default();
        let Some(parent) = shard.parent() else {
            return Ok(before);
        };
        let mut parents: Vec<Shard> = std::iter::successors(Some(parent), Shard::parent).collect();
        parents.reverse();
        for parent in parents {
            let folder = parent.folder(out);
            let kept = Kept::read(&folder, &parent)?;
            let kept =
                kept.ok_or_else(|| format!("shard {parent} has no result in {}", out.display()))?;
            if let Some(difference) = asked.difference(&kept.asked) {
                return Err(format!(
                    "{} has the result of something else; {difference}",
                    folder.display()
                ));
            }
            if kept.finished {
                return Err(format!("shard {parent} has left nothing"));
            }
            let checkpoint = folder.join(CHECKPOINT);
            before
                .done
                .push(usize::try_from(kept.runs).unwrap_or(usize::MAX));
            before.from = kept.left;
            before.checkpoint = Some(checkpoint).filter(|file| file.exists());
        }
        let checkpoint = before.checkpoint.as_ref();
        let is_left = checkpoint.is_some_and(|file| of_file(file) == before.from);
        match is_left || !exhaustive {
            true => Ok(before),
            false => Err(format!(
                "{}: what shard {shard} goes on from has changed, or is not there",
                out.display()
            )),
        }
    }
}

/// Stands for a file, if it can be read.
fn of_file(file: &Path) -> Option<String> {
    files::read(file, files::LARGE)
        .ok()
        .map(|bytes| files::checksum(&bytes))
}

/// What all parts have in common.
fn asked(request: &Request<'_>) -> Result<Asked, String> {
    let control = request.schedule;
    let mut contents = vec![program(&request.program[0])?];
    if let Some(file) = &request.sanitizer.suppressions {
        let text = files::read(file, files::TEXT);
        contents.push(text.map_err(|error| format!("{}: {error}", file.display()))?);
    }
    let mut options = vec![format!("--timeout {:?}", request.timeout())];
    let mut add = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| format!("{name} {value}")));
    };
    let how = match (control.exhaustive, request.memory) {
        (true, Memory::Sequential(args)) => {
            add(
                "--max-preemptions",
                args.max_preemptions.map(|n| n.to_string()),
            );
            None
        }
        (true, Memory::Weak(_)) => None,
        (false, Memory::Sequential(args)) => args.sched.map(|spec| format!("--sched {spec}")),
        (false, Memory::Weak(args)) => {
            add("--window", args.window.map(|n| n.to_string()));
            Some(format!("--strategy {}", args.strategy.unwrap_or_default()))
        }
    };
    if let Memory::Weak(args) = request.memory {
        add(
            "--volatile",
            Some(args.volatile.unwrap_or_default().name().to_owned()),
        );
    }
    let steps = match control.exhaustive {
        true => u64::from(request.thread_limit()),
        false => request.limit(),
    };
    add("--max-steps", Some(steps.to_string()));
    let sampled = !control.exhaustive;
    add("--seed", sampled.then(|| control.seed.to_string()));
    add("--runs", sampled.then(|| request.count().to_string()));
    add("--model", request.model.map(|model| model.to_string()));
    add("--confirm", request.confirm.map(|runs| runs.to_string()));
    let flags = [
        ("--exhaustive", control.exhaustive),
        ("--suppressions", request.sanitizer.suppressions.is_some()),
        ("--include-libraries", request.sanitizer.include_libraries),
        ("--include-std", request.sanitizer.include_std),
    ];
    let flags = flags.into_iter().filter(|(_, given)| *given);
    options.extend(
        how.into_iter()
            .chain(flags.map(|(flag, _)| flag.to_owned())),
    );
    options.sort();
    Ok(Asked::new(
        request.command,
        request.again.clone(),
        &contents,
        options,
    ))
}
