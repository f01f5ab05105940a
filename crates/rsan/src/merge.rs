//! `rsan merge`: the results of all parts of one piece of work as one answer.

use crate::args::MergeArgs;
use crate::session::{baseline, eprint, render};
use crate::shard::{Kept, Open, Shard, Tree, leave_open, read_coverage};
use crate::status::Status;
use rsan_report::number::plural;
use rsan_report::{Command, Document, unite};
use rsan_schedule::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Shows the answer of all parts.
pub(crate) fn run(args: &MergeArgs) -> Status {
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let Merged {
        mut documents,
        missing,
    } = match merged(&args.folders) {
        Ok(merged) => merged,
        Err(message) => {
            eprint(&format!("error: {message}\n"));
            return Status::BadInput;
        }
    };
    let mut status = Status::Clean;
    if let Some(missing) = missing {
        eprint(&format!("{missing}\n"));
        status = Status::Undecided;
    }
    for document in &mut documents {
        if let Some(baseline) = &baseline {
            baseline.apply(document);
        }
        document.fail_on = args.report.fail_on;
        status = status.and(Status::from(&*document));
    }
    let several = documents.len() > 1;
    status.and(render(args.report.rendering(), documents, several))
}

/// What all parts say.
struct Merged {
    documents: Vec<Document>,
    /// What is missing that no document can say.
    missing: Option<String>,
}

/// A part that counts.
type Counted<'a> = (&'a Shard, &'a Path, &'a Kept);

/// Puts all parts in these folders together.
fn merged(folders: &[PathBuf]) -> Result<Merged, String> {
    let tree = Tree::read(folders)?;
    let nothing = || {
        let names: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
        format!("no result of a shard in {}", names.join(", "))
    };
    let (counted, open) = tree.walk(tree.of().ok_or_else(nothing)?);
    let (_, _, first) = counted.first().ok_or_else(nothing)?;
    let notes: Vec<String> = told(&open)
        .into_iter()
        .chain(doubt(&tree, &counted))
        .collect();
    let mut places: BTreeMap<usize, Vec<Document>> = BTreeMap::new();
    for (shard, _, kept) in &counted {
        for answer in &kept.answers {
            let mut document = answer.document.clone();
            let schedules = document.stats.schedules.as_mut();
            let is_open = open.contains(&Open::Unfinished((*shard).clone()));
            if let Some(exploration) = schedules.and_then(|all| all.exploration.as_mut()) {
                // What a part has left is in its parts.
                exploration.left *= u64::from(is_open);
                exploration.complete &= notes.is_empty();
            }
            places.entry(answer.place).or_default().push(document);
        }
    }
    let united = places.into_values().map(unite).collect::<Option<Vec<_>>>();
    let mut documents = united.ok_or("the shards give answers about different things")?;
    if first.asked.command() == Command::Litmus {
        // Each file has its whole answer, or none.
        let missing = (!notes.is_empty()).then(|| notes.join("; "));
        return Ok(Merged { documents, missing });
    }
    let coverage = coverage(&counted)?;
    for document in &mut documents {
        leave_open(document, !notes.is_empty());
        document.notes.extend(notes.iter().cloned());
        if let Some(schedules) = &mut document.stats.schedules {
            schedules.executions = coverage.unwrap_or(schedules.executions);
            // Runs of some parts are not one row of seeds.
            schedules.seed = schedules.seed.filter(|_| notes.is_empty());
        }
    }
    let missing = None;
    Ok(Merged { documents, missing })
}

/// What has to be made yet, in words.
fn told(open: &[Open]) -> Vec<String> {
    let of = |unfinished: bool| {
        let shards = open.iter().filter_map(move |open| match open {
            Open::Missing(shard) => (!unfinished).then(|| shard.to_string()),
            Open::Unfinished(shard) => unfinished.then(|| shard.to_string()),
        });
        shards.collect::<Vec<_>>()
    };
    let sentence = |shards: Vec<String>, what: &str| {
        const NAMED: usize = 8;
        let are = if shards.len() == 1 { "is" } else { "are" };
        let number = plural(shards.len() as u64, "shard");
        let more = if shards.len() > NAMED { ", …" } else { "" };
        let named = shards[..shards.len().min(NAMED)].join(", ");
        (!shards.is_empty()).then(|| format!("{number} {are} {what}: {named}{more}"))
    };
    let missing = sentence(of(false), "missing");
    missing
        .into_iter()
        .chain(sentence(of(true), "unfinished"))
        .collect()
}

/// Why parts are perhaps not parts of the same: they have made different beginnings, or gone on from something else than was left.
fn doubt(tree: &Tree, counted: &[Counted<'_>]) -> Option<String> {
    let mut dealt: BTreeMap<Option<Shard>, (&Shard, &Option<String>)> = BTreeMap::new();
    for (shard, _, kept) in counted {
        let parent = shard.parent();
        let left = parent
            .as_ref()
            .and_then(|parent| tree.get(parent)?.left.as_ref());
        if kept.from.as_ref() != left {
            return Some(format!("shard {shard} did not go on from what was left"));
        }
        let (first, digest) = dealt.entry(parent).or_insert((shard, &kept.dealt));
        if **digest != kept.dealt {
            return Some(format!(
                "shards {first} and {shard} began differently: the program does not do the same again"
            ));
        }
    }
    None
}

/// Different executions that sampled runs of all parts have shown; none if some part is no sample.
fn coverage(counted: &[Counted<'_>]) -> Result<Option<u64>, String> {
    let mut all: BTreeSet<Fingerprint> = BTreeSet::new();
    for (_, folder, kept) in counted {
        match read_coverage(folder, kept)? {
            Some(mut executions) => all.append(&mut executions),
            None => return Ok(None),
        }
    }
    Ok(Some(all.len() as u64))
}
