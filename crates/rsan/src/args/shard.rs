//! What commands take whose work can be done in parts, and those that put parts together.

use super::ReportArgs;
use super::values::{cpus, shards};
use crate::quantity;
use crate::shard::Shard;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What `run`, `check`, `explore` and `litmus` take about parts of their work.
#[derive(Args, Clone, Debug)]
pub(crate) struct ShardArgs {
    /// Do part K of N only, and keep its result in --out; `rsan merge` puts the parts together
    #[arg(long, value_name = "K/N", value_parser = str::parse::<Shard>)]
    pub(crate) shard: Option<Shard>,
}

/// What `merge` takes.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Folders that shards were given as --out
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What `campaign` takes.
#[derive(Args, Debug)]
pub(crate) struct CampaignArgs {
    /// A command whose work is split, without `rsan`: run, check, explore or litmus
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<OsString>,

    #[command(flatten)]
    pub(crate) systems: SystemArgs,

    /// Number of shards
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = shards)]
    pub(crate) shards: usize,

    /// Folder for results, which all machines share or bring together
    #[arg(long, value_name = "DIR", default_value = "rsan-out")]
    pub(crate) out: PathBuf,

    /// Stop a shard after this time (500ms, 30s, 5m); what it leaves is split again in the next round
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Most rounds, with --slurm
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) rounds: u32,

    /// Cores for each shard
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = cpus)]
    pub(crate) cpus: usize,

    /// One more option of sbatch, as --with=--partition=long; can be given several times
    #[arg(long, value_name = "OPTION", requires = "slurm")]
    pub(crate) with: Vec<String>,

    /// A command that a CI system runs first, to install rsan and to build the program; can be given several times
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["slurm", "kubernetes"])]
    pub(crate) setup: Vec<String>,

    /// The image of a Kubernetes Job, with rsan and the program
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    pub(crate) image: Option<String>,

    /// The claim of the volume that all pods of a Kubernetes Job share, mounted at --out
    #[arg(long, value_name = "NAME", requires = "kubernetes")]
    pub(crate) claim: Option<String>,

    /// Print what would be written, and neither write nor submit anything
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Who runs the shards.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct SystemArgs {
    /// Submit a job array to Slurm, follow it, and merge the results
    #[arg(long)]
    slurm: bool,

    /// Write an indexed Job for Kubernetes
    #[arg(long)]
    kubernetes: bool,

    /// Write a workflow with a matrix for GitHub Actions
    #[arg(long)]
    github: bool,

    /// Write a pipeline with a matrix for GitLab CI
    #[arg(long)]
    gitlab: bool,
}

/// Who runs the shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum System {
    Slurm,
    Kubernetes,
    Github,
    Gitlab,
}

impl SystemArgs {
    /// The one that was given.
    pub(crate) fn system(&self) -> System {
        let all = [
            (self.slurm, System::Slurm),
            (self.kubernetes, System::Kubernetes),
            (self.github, System::Github),
            (self.gitlab, System::Gitlab),
        ];
        let given = all.into_iter().find(|(given, _)| *given);
        given.map_or(System::Slurm, |(_, system)| system)
    }
}
