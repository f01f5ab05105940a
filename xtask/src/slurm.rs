//! `cargo xtask slurm`: campaigns through a real Slurm say what runs on one machine say, also when a node dies.

mod cluster;
mod logs;

use crate::bench::measure::observe;
use crate::steps::{cargo, root};
use cluster::Cluster;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use wait4::Wait4;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs of the program
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    runs: u64,
    /// Numbers of shards; a node dies in one more campaign with the last of them
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    shards: Vec<u64>,
    /// The program, a file of C
    #[arg(long, value_name = "FILE", default_value = "examples/seqlock.c")]
    program: PathBuf,
    /// A name that is defined when it is compiled
    #[arg(long, value_name = "NAME")]
    define: Vec<String>,
    /// The command to be tested; built from this repository if not given
    #[arg(long, value_name = "PATH")]
    rsan: Option<PathBuf>,
}

/// Compares, and says what the way through Slurm costs.
pub(crate) fn run(args: &Args) -> ExitCode {
    let folder = root().join("target/slurm");
    let _ = fs::remove_dir_all(&folder);
    let cluster = match Cluster::start(&folder.join("cluster")) {
        Ok(cluster) => cluster,
        Err(message) => {
            eprintln!("xtask: no cluster: {message}");
            return ExitCode::from(NO_CLUSTER);
        }
    };
    let compared = Test::new(args, &folder, cluster).and_then(|mut test| test.run());
    match compared {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}; see {}", folder.display());
            ExitCode::FAILURE
        }
    }
}

/// The exit status where Slurm is not installed, or does not start: nothing was tested.
const NO_CLUSTER: u8 = 3;

struct Test<'a> {
    args: &'a Args,
    folder: &'a Path,
    rsan: PathBuf,
    cluster: Cluster,
}

/// How often results are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// A campaign that takes longer does not end.
const LONGEST: Duration = Duration::from_secs(3600);

impl<'a> Test<'a> {
    fn new(args: &'a Args, folder: &'a Path, cluster: Cluster) -> Result<Self, String> {
        let rsan = match &args.rsan {
            Some(rsan) => std::path::absolute(rsan).map_err(|error| error.to_string())?,
            None => {
                let mut build = cargo();
                build.args(["build", "--release", "--quiet", "--package", "rsan"]);
                if !build.status().is_ok_and(|status| status.success()) {
                    return Err("rsan cannot be built".to_owned());
                }
                root().join("target/release/rsan")
            }
        };
        Ok(Self {
            args,
            folder,
            rsan,
            cluster,
        })
    }

    fn run(&mut self) -> Result<(), String> {
        let program = std::path::absolute(&self.args.program).map_err(|error| error.to_string())?;
        let mut build = Command::new(&self.rsan);
        build
            .args(["cc", "--rsan-as-written", "-g", "-pthread", "-o", "program"])
            .args(self.args.define.iter().map(|name| format!("-D{name}")))
            .arg(&program);
        if !build
            .current_dir(self.folder)
            .status()
            .is_ok_and(|status| status.success())
        {
            return Err(format!("{} cannot be compiled", program.display()));
        }
        let sampled = format!("run --sched pct --runs {} -- ./program", self.args.runs);
        let (alone, seconds) = self.alone(&sampled)?;
        println!(
            "{} runs of one process: {seconds:.2} s of CPU",
            self.args.runs
        );
        println!("\n| shards | s of CPU | shards | command and merge | Slurm | ratio |");
        println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
        for shards in self.args.shards.clone() {
            let name = format!("shards-{shards}");
            let (through, cost) = self.campaign(&name, shards, &sampled, false)?;
            same(&alone, &through)?;
            let sum = cost.shards + cost.command + cost.daemons;
            println!(
                "| {shards} | {sum:.2} | {:.2} | {:.2} | {:.2} | {:.3} |",
                cost.shards,
                cost.command,
                cost.daemons,
                sum / seconds
            );
        }
        let shards = self.args.shards.last().copied().unwrap_or(2);
        let (survived, _) = self.campaign("killed", shards, &sampled, true)?;
        same(&alone, &survived)?;
        println!("\nthe same findings, also when a node dies; each shard has ended once");
        Ok(())
    }

    /// The answer of one process with two runs at a time, and its CPU time.
    fn alone(&self, line: &str) -> Result<(Value, f64), String> {
        let mut words = line.split(' ');
        let mut command = Command::new(&self.rsan);
        command.args(words.next());
        command
            .args(["--jobs", "2", "--format", "json", "--out", "alone"])
            .args(words);
        let (output, _, cost) = observe(command.current_dir(self.folder))?;
        let answer = serde_json::from_str(&output);
        let answer = answer.map_err(|error| format!("no answer: {error}"))?;
        Ok((answer, cost.cpu))
    }

    /// The answer of a campaign; a node dies amid a shard, when another is done, if that is wanted.
    fn campaign(
        &mut self,
        name: &str,
        shards: u64,
        line: &str,
        dies: bool,
    ) -> Result<(Value, Spent), String> {
        let answer = self.folder.join(format!("{name}.json"));
        let mut command = Command::new(&self.rsan);
        command.args(["campaign", "--slurm", "--format", "json", "--out", name]);
        command
            .args(["--shards", &shards.to_string(), "-o"])
            .arg(&answer);
        command
            .arg("--")
            .args(line.split(' '))
            .current_dir(self.folder);
        let before = self.cluster.cpu();
        let child = self
            .cluster
            .environment(&mut command)
            .stdout(Stdio::null())
            .spawn();
        let child = child.map_err(|error| error.to_string())?;
        let out = self.folder.join(name);
        let used = self.follow(child, &out, dies)?;
        let daemons = self.cluster.cpu() - before;
        let text = fs::read(&answer).map_err(|error| format!("{}: {error}", answer.display()))?;
        let answer = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let ended = logs::ended(&out.join("campaign"))?;
        if ended.len() as u64 != shards {
            return Err(format!(
                "{} of {shards} shards have ended once",
                ended.len()
            ));
        }
        let cost = Spent {
            shards: ended.iter().sum(),
            command: used,
            daemons,
        };
        Ok((answer, cost))
    }

    /// Waits for the command, and kills a node on the way; its CPU time, and that of what it started.
    fn follow(&mut self, mut child: Child, out: &Path, dies: bool) -> Result<f64, String> {
        let mut death = if dies { Death::Wanted } else { Death::Over };
        let id = child.id().to_string();
        let (tell, told) = mpsc::channel();
        let waiter = thread::spawn(move || tell.send(child.wait4()));
        let start = Instant::now();
        let ended = loop {
            match told.recv_timeout(LOOK) {
                Ok(ended) => break ended.map_err(|error| error.to_string()),
                Err(_) if start.elapsed() > LONGEST => {
                    let _ = Command::new("kill").arg(&id).status();
                    break Err("the campaign does not end".to_owned());
                }
                Err(_) => {}
            }
            death = match death {
                Death::Wanted => {
                    let logs = out.join("campaign");
                    let has_ended = |task| logs::has_ended(&logs, task);
                    match self.cluster.freeze_node(has_ended)? {
                        true => Death::Near,
                        false => Death::Wanted,
                    }
                }
                Death::Near if results(out) > 0 => {
                    self.cluster.kill_node()?;
                    Death::Over
                }
                same => same,
            };
        };
        let _ = waiter.join();
        if matches!(death, Death::Wanted | Death::Near) {
            return Err("it ended before a node could die".to_owned());
        }
        let used = ended?.rusage;
        Ok((used.utime + used.stime).as_secs_f64())
    }
}

/// What is to come of a node.
enum Death {
    /// It dies as soon as it works on a shard and another shard is done.
    Wanted,
    /// It works on a shard, and has been stopped there.
    Near,
    /// It is dead, or lives on.
    Over,
}

/// Seconds of CPU of a campaign.
struct Spent {
    shards: f64,
    /// The command that submits and merges.
    command: f64,
    /// The controller and the nodes.
    daemons: f64,
}

/// Shards that have a result.
fn results(out: &Path) -> usize {
    let entries = fs::read_dir(out).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.path().join("result.json").is_file())
        .count()
}

/// Whether two answers have the same verdict, runs, executions and findings; files and times aside.
fn same(one: &Value, other: &Value) -> Result<(), String> {
    let figures = |answer: &Value| {
        let stats = &answer["stats"];
        let mut findings = answer["findings"].clone();
        for finding in findings.as_array_mut().into_iter().flatten() {
            for name in ["file", "command"] {
                if let Some(recorded) = finding["recorded"].as_object_mut() {
                    recorded.remove(name);
                }
            }
        }
        [
            answer["verdict"].clone(),
            stats["runs"].clone(),
            stats["schedules"]["executions"].clone(),
            findings,
        ]
    };
    let names = ["verdicts", "runs", "executions", "findings"];
    let pairs = figures(one).into_iter().zip(figures(other));
    for (name, (one, other)) in names.into_iter().zip(pairs) {
        if one != other {
            return Err(format!("the {name} differ: {one:#} and {other:#}"));
        }
    }
    Ok(())
}
