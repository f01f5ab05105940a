//! What `explore` takes.

use super::values::{Volatile, jobs, runs, volatile};
use super::{BuildArgs, ControlArgs, ReportArgs, SanitizerArgs, ShardArgs};
use crate::quantity;
use clap::Args;
use rsan_schedule::strategy::WeakSpec;
use std::ffi::OsString;
use std::time::Duration;

/// What `explore` takes.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    /// C, C++ or Rust files, each a program of its own; without any, a program and its arguments stand after `--`
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// After `--`: arguments of the program, or the program and its arguments.
    #[arg(skip)]
    pub(crate) words: Vec<OsString>,

    #[command(flatten)]
    pub(crate) build: BuildArgs,

    /// Number of runs: 1000
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    #[command(flatten)]
    pub(crate) weak: WeakArgs,

    #[command(flatten)]
    pub(crate) sanitizer: SanitizerArgs,

    #[command(flatten)]
    pub(crate) control: ControlArgs,

    #[command(flatten)]
    pub(crate) shard: ShardArgs,

    /// Stop all runs after this time (500ms, 30s, 5m); with --exhaustive 5m, unless --max-executions, --checkpoint or --shard is given
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Runs in parallel; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0, value_parser = jobs)]
    pub(crate) jobs: usize,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// What `explore` takes about weak executions.
#[derive(Args, Clone, Debug)]
pub(crate) struct WeakArgs {
    /// Who runs next, and what loads read: guided (the default), pctwm, pctwm:depth=N or random
    #[arg(long, value_name = "STRATEGY", value_parser = str::parse::<WeakSpec>, conflicts_with_all = ["replay", "exhaustive"])]
    pub(crate) strategy: Option<WeakSpec>,

    /// Forget writes that are older than this many steps: flat memory in long runs, fewer stale values
    #[arg(long, value_name = "STEPS", conflicts_with = "exhaustive")]
    pub(crate) window: Option<u64>,

    /// What a volatile access counts as, if the compiler tells them apart: relaxed (the default), acqrel or plain
    #[arg(long, value_name = "AS", value_parser = volatile)]
    pub(crate) volatile: Option<Volatile>,
}
