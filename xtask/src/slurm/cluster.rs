//! A cluster of Slurm on this machine: a controller and two nodes with one slot each, which end with it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Nodes, and the ports of the controller and of them.
const NODES: [(&str, u16); 2] = [("n1", 17_818), ("n2", 17_819)];
const PORT: u16 = 17_817;
/// Time for the nodes to be there.
const START: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);
/// Ticks of a second, in which Linux tells CPU time to every program.
const TICKS: f64 = 100.0;

/// The daemons, and the folder that all they write is in.
pub(super) struct Cluster {
    folder: PathBuf,
    daemons: Vec<Child>,
    nodes: Vec<Child>,
}

impl Cluster {
    /// Starts the daemons, and waits until the nodes are idle.
    pub(super) fn start(folder: &Path) -> Result<Self, String> {
        for name in ["munged", "slurmctld", "slurmd", "sbatch", "squeue"] {
            if !is_installed(name) {
                return Err(format!(
                    "{name} is not installed; Debian has slurm-wlm and munge"
                ));
            }
        }
        let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder.join("state")).map_err(fail)?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname").map_err(fail)?;
        let host = host.trim().split('.').next().unwrap_or_default().to_owned();
        fs::write(folder.join("slurm.conf"), configuration(folder, &host)).map_err(fail)?;
        let mut cluster = Self {
            folder: folder.to_owned(),
            daemons: Vec::new(),
            nodes: Vec::new(),
        };
        cluster.munge().map_err(fail)?;
        let controller = cluster.daemon("slurmctld", &["-D", "-c"]).map_err(fail)?;
        cluster.daemons.push(controller);
        for (node, _) in NODES {
            let node = cluster
                .daemon("slurmd", &["-D", "-N", node])
                .map_err(fail)?;
            cluster.nodes.push(node);
        }
        cluster.wait()?;
        Ok(cluster)
    }

    /// A key that nobody else knows, and the daemon that has it.
    fn munge(&mut self) -> std::io::Result<()> {
        let key = self.folder.join("munge.key");
        let status = Command::new("mungekey")
            .arg("--create")
            .arg("--force")
            .arg(format!("--keyfile={}", key.display()))
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(std::io::Error::other("mungekey cannot make a key"));
        }
        let file = |name: &str| self.folder.join(name).display().to_string();
        let words = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--key-file={}", key.display()),
            format!("--socket={}", file("munge.socket")),
            format!("--log-file={}", file("munge.log")),
            format!("--pid-file={}", file("munge.pid")),
            format!("--seed-file={}", file("munge.seed")),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let daemon = self.daemon("munged", &words)?;
        self.daemons.push(daemon);
        Ok(())
    }

    fn daemon(&self, name: &str, words: &[&str]) -> std::io::Result<Child> {
        let log = fs::File::create(self.folder.join(format!("{name}{}.out", self.nodes.len())))?;
        let mut command = Command::new(name);
        command.args(words).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        self.environment(&mut command).spawn()
    }

    /// The command with what it needs to find the cluster.
    pub(super) fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("SLURM_CONF", self.folder.join("slurm.conf"))
    }

    fn wait(&self) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < START {
            let mut command = Command::new("sinfo");
            command
                .args(["--noheader", "--Node", "--format=%T"])
                .stderr(Stdio::null());
            let output = self.environment(&mut command).output();
            let text = output.map(|output| output.stdout).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            if text.lines().filter(|line| *line == "idle").count() == NODES.len() {
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        Err(format!(
            "the nodes do not come up; see {}",
            self.folder.display()
        ))
    }

    /// Seconds of CPU that the daemons have used so far, and what they waited for.
    pub(super) fn cpu(&self) -> f64 {
        let all = self.daemons.iter().chain(&self.nodes);
        all.filter_map(|daemon| ticks(daemon.id())).sum::<f64>() / TICKS
    }

    /// Stops the last node while it works on a task of an array that has not ended; whether it does so now.
    ///
    /// Nothing on it moves from then on, so that what was true of the task stays true until the node dies.
    pub(super) fn freeze_node(&mut self, has_ended: impl Fn(u64) -> bool) -> Result<bool, String> {
        let daemon = self.nodes.last().ok_or("there is no node left")?.id();
        signal("STOP", daemon);
        let running = self.processes()?;
        running.signal("STOP");
        let mut working = running.tasks.iter().filter_map(|pid| array_task(*pid));
        if working.next().is_some_and(|task| !has_ended(task)) {
            return Ok(true);
        }
        running.signal("CONT");
        signal("CONT", daemon);
        Ok(false)
    }

    /// Ends the last node with all that runs on it, as if somebody had pulled its plug.
    pub(super) fn kill_node(&mut self) -> Result<(), String> {
        let running = self.processes()?;
        let mut node = self.nodes.pop().ok_or("there is no node left")?;
        let _ = node.kill();
        let _ = node.wait();
        running.signal("KILL");
        Ok(())
    }

    /// What runs on the last node.
    fn processes(&self) -> Result<Processes, String> {
        let (name, _) = NODES[NODES.len() - 1];
        let mine = format!("SLURMD_NODENAME={name}");
        let slurm = self.folder.join("slurm.conf").display().to_string();
        let entries = fs::read_dir("/proc").map_err(|error| error.to_string())?;
        let mut found = Processes::default();
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|pid| pid.parse().ok()) else {
                continue;
            };
            let words = environment(&entry.path());
            let name_of = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            // Its daemons have no name of a node, but that of the configuration.
            let is_daemon = name_of.trim() == "slurmstepd"
                && words.iter().any(|word| word.ends_with(&slurm))
                && is_of_node(&entry.path(), &mine);
            if is_daemon {
                found.daemons.push(pid);
            } else if words.contains(&mine) {
                found.tasks.push(pid);
            }
        }
        Ok(found)
    }
}

/// The processes of a node, without its own daemon.
#[derive(Default)]
struct Processes {
    /// Those that wait for tasks.
    daemons: Vec<u32>,
    tasks: Vec<u32>,
}

impl Processes {
    /// The daemons come first: nobody must be left to tell that the tasks have ended.
    fn signal(&self, name: &str) {
        for pid in self.daemons.iter().chain(&self.tasks) {
            signal(name, *pid);
        }
    }
}

fn signal(name: &str, pid: u32) {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{name}")).arg(pid.to_string());
    // One that has ended meanwhile needs none.
    let _ = kill.stderr(Stdio::null()).status();
}

/// The task of an array that a process belongs to.
fn array_task(pid: u32) -> Option<u64> {
    let words = environment(&Path::new("/proc").join(pid.to_string()));
    let mut numbers = words
        .iter()
        .filter_map(|word| word.strip_prefix("SLURM_ARRAY_TASK_ID="));
    numbers.next()?.parse().ok()
}

/// CPU time of a process and of the children that it waited for, in ticks.
fn ticks(process: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may have anything in it.
    let fields = text.rsplit_once(')')?.1.split_whitespace();
    let times = fields.skip(11).take(4).map(str::parse::<f64>);
    times.sum::<Result<f64, _>>().ok()
}

/// The variables of a process.
fn environment(process: &Path) -> Vec<String> {
    let bytes = fs::read(process.join("environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split('\0').map(str::to_owned).collect()
}

/// Whether a daemon of a job has tasks with a variable.
fn is_of_node(process: &Path, variable: &String) -> bool {
    let threads = fs::read_dir(process.join("task")).into_iter();
    let mut children = threads.flatten().flatten().flat_map(|thread| {
        let text = fs::read_to_string(thread.path().join("children"));
        let text = text.unwrap_or_default();
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    children.any(|child| environment(&Path::new("/proc").join(child)).contains(variable))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let daemons = self.nodes.iter_mut().chain(self.daemons.iter_mut().rev());
        for daemon in daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Nothing that a system administrator would do: all daemons are root's, and tasks are not contained.
fn configuration(folder: &Path, host: &str) -> String {
    let folder = folder.display();
    let mut text = format!(
        "ClusterName=rsan
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={PORT}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdTimeout=5
SlurmdParameters=config_overrides
JobRequeue=1
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"
    );
    let mut names = Vec::new();
    for (node, port) in NODES {
        let _ = writeln!(
            text,
            "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
        );
        names.push(node);
    }
    let nodes = names.join(",");
    let _ = writeln!(
        text,
        "PartitionName=main Nodes={nodes} Default=YES MaxTime=INFINITE State=UP"
    );
    text
}
