//! `rsan campaign`: the work of a command for a cluster or a CI system, in rounds.
//!
//! A round is what is open: at first all shards; later those without a result, and parts of what others have left. Who runs them is
//! somebody else's: no scheduler is here, only what one is told. All state is in the results, so whoever asks again goes on.
//!
//! * `round`: what is open. `script`: the commands of a shard. `slurm`: arrays that are submitted and followed. `manifest`: files for others.

mod manifest;
mod round;
mod script;
mod slurm;

use crate::args::{self, CampaignArgs, Command, MergeArgs, System};
use crate::files;
use crate::interrupt;
use crate::merge;
use crate::session::{eprint, print};
use crate::status::Status;
use round::Round;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Splits the work.
pub(crate) fn run(args: &CampaignArgs) -> Status {
    let said = match args.systems.system() {
        System::Slurm => submitted(args),
        system @ (System::Kubernetes | System::Github | System::Gitlab) => written(args, system),
    };
    said.unwrap_or_else(|message| {
        eprint(&format!("error: {message}\n"));
        Status::BadInput
    })
}

/// A file for whoever runs the shards of the next round.
fn written(args: &CampaignArgs, system: System) -> Result<Status, String> {
    let campaign = Campaign::new(args)?;
    let Some(round) = Round::next(&campaign, None)? else {
        eprint("nothing is left; `rsan merge` says what came of it\n");
        return Ok(Status::Clean);
    };
    let text = manifest::of(system, &campaign, &round)?;
    let file = campaign.file(&round, "yaml");
    campaign.keep(&file, &text)
}

/// Arrays for Slurm, until nothing is left, and the answer.
fn submitted(args: &CampaignArgs) -> Result<Status, String> {
    let campaign = Campaign::new(args)?;
    let Some(stop) = interrupt::stop_flag() else {
        return Ok(Status::BadInput);
    };
    let mut last: Option<Round> = None;
    for _ in 0..args.rounds {
        let Some(round) = Round::next(&campaign, last.as_ref())? else {
            break;
        };
        let text = script::of_slurm(&campaign, &round);
        let file = campaign.file(&round, "sh");
        if args.dry_run {
            return campaign.keep(&file, &text);
        }
        campaign.keep(&file, &text)?;
        let came = slurm::run(&file, &round, &stop)?;
        last = Some(round);
        if came == slurm::Came::Interrupted {
            break;
        }
    }
    let folders = vec![args.out.clone()];
    let report = args.report.clone();
    Ok(merge::run(&MergeArgs { folders, report }))
}

/// What is split.
struct Campaign<'a> {
    args: &'a CampaignArgs,
    /// The folder of results as all machines name it.
    out: PathBuf,
    /// Most shards of which each has something to do.
    shards: usize,
    /// Whether the command takes a number of runs at a time.
    has_jobs: bool,
}

impl<'a> Campaign<'a> {
    /// Reads the command as each shard will.
    fn new(args: &'a CampaignArgs) -> Result<Self, String> {
        let out = match args.systems.system() {
            System::Slurm => std::path::absolute(&args.out).map_err(|error| error.to_string())?,
            System::Kubernetes | System::Github | System::Gitlab => args.out.clone(),
        };
        let mut campaign = Self {
            args,
            out,
            shards: args.shards,
            has_jobs: true,
        };
        campaign.has_jobs = args.words[0] != "litmus";
        let mut words: Vec<OsString> = vec!["rsan".into()];
        words.extend(campaign.words("1/1").into_iter().skip(1));
        let message = |error: clap::Error| {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default().to_owned();
            line.strip_prefix("error: ")
                .map_or(line.clone(), str::to_owned)
        };
        let parsed = args::parse(words).map_err(message)?;
        let most = match &parsed.command {
            Command::Run(args) if args.schedule.sched.is_some() => args.runs,
            Command::Run(args) if args.schedule.control.exhaustive => None,
            Command::Check(args) if args.schedule.sched.is_some() => args.runs,
            Command::Check(args) if args.schedule.control.exhaustive => None,
            Command::Explore(args) if !args.control.exhaustive => args.runs,
            Command::Explore(_) => None,
            Command::Litmus(args) => Some(args.files.len()),
            _ => {
                return Err(
                    "only `run` and `check` with --sched or --exhaustive, `explore` and `litmus` can be split"
                        .to_owned(),
                );
            }
        };
        campaign.shards = most.map_or(args.shards, |most| args.shards.min(most));
        Ok(campaign)
    }

    /// The command of a shard.
    fn words(&self, shard: &str) -> Vec<OsString> {
        let (command, rest) = self.args.words.split_at(1);
        let mut words: Vec<OsString> = vec![self.rsan().into()];
        words.extend(command.iter().cloned());
        words.extend(["--shard", shard, "--out"].map(OsString::from));
        words.push(self.out.clone().into());
        if self.has_jobs {
            words.extend(["--jobs".into(), self.args.cpus.to_string().into()]);
        }
        if let Some(limit) = self.args.time_limit {
            words.extend([
                "--time-limit".into(),
                format!("{}ms", limit.as_millis()).into(),
            ]);
        }
        words.extend(rest.iter().cloned());
        words
    }

    /// This command, as those name it who run shards.
    fn rsan(&self) -> PathBuf {
        match self.args.systems.system() {
            System::Slurm => std::env::current_exe().unwrap_or("rsan".into()),
            System::Kubernetes | System::Github | System::Gitlab => "rsan".into(),
        }
    }

    /// The file of a round.
    fn file(&self, round: &Round, extension: &str) -> PathBuf {
        let name = format!("round-{}.{extension}", round.number);
        self.args.out.join(round::FOLDER).join(name)
    }

    /// Writes a file, or prints what would be in it.
    fn keep(&self, file: &Path, text: &str) -> Result<Status, String> {
        if self.args.dry_run {
            return Ok(print(text));
        }
        let fail = |error: std::io::Error| format!("{}: {error}", file.display());
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        files::write(file, text.as_bytes()).map_err(fail)?;
        eprint(&format!("written: {}\n", file.display()));
        Ok(Status::Clean)
    }
}
