//! The commands of a shard, for shells.

use super::{Campaign, Round, round};
use crate::sanitizer::campaign::quoted;
use std::fmt::Write;
use std::time::Duration;

/// Time for a shard to end by itself, before Slurm ends it.
const GRACE: Duration = Duration::from_secs(300);

/// A word of a command that the shell replaces by the name of the shard.
const SHARD: &str = "@shard@";

/// The command of a shard, whose name is the value of a variable. A finding is no failure of the job; wrong usage is, and a process that was killed.
fn command(campaign: &Campaign<'_>, shard: &str) -> String {
    let words = campaign.words(SHARD);
    let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
    let line: Vec<_> = words.collect();
    let line = line.join(" ").replacen(SHARD, shard, 1);
    format!("{line} || case $? in 1 | 3 | 4) ;; *) exit 1 ;; esac")
}

/// The same for the shard with a number, from 0, which is the value of an expression.
pub(super) fn numbered(campaign: &Campaign<'_>, round: &Round, number: &str) -> String {
    let names: Vec<_> = round.shards.iter().map(ToString::to_string).collect();
    let names = names.join(" ");
    let command = command(campaign, "\"$1\"");
    format!("set -- {names}\nshift {number}\n{command}\n")
}

/// The same for a shard that a CI system names.
pub(super) fn named(campaign: &Campaign<'_>, variable: &str) -> String {
    command(campaign, variable)
}

/// The script of a job array. The log of each shard ends with its CPU time.
pub(super) fn of_slurm(campaign: &Campaign<'_>, round: &Round) -> String {
    let args = campaign.args;
    let mut text = "#!/bin/sh\n".to_owned();
    let folder = campaign.out.join(round::FOLDER);
    let log = folder.join(format!("round-{}-%a.log", round.number));
    let mut options = vec![
        "--job-name=rsan".to_owned(),
        format!("--array=1-{}", round.shards.len()),
        format!("--cpus-per-task={}", args.cpus),
        // A shard of a node that dies is made again, or goes on where it was saved.
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        format!("--output={}", quoted(&log.to_string_lossy())),
    ];
    if let Some(limit) = args.time_limit {
        let minutes = (limit + GRACE).as_secs().div_ceil(60);
        options.push(format!("--time={minutes}"));
    }
    options.extend(args.with.iter().cloned());
    for option in options {
        let _ = writeln!(text, "#SBATCH {option}");
    }
    text + &numbered(campaign, round, "$((SLURM_ARRAY_TASK_ID - 1))") + "times\n"
}
