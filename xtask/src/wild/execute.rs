//! Runs of a program: for its findings, and for its time and memory.

use super::build::Tools;
use super::judge::{self, Judged};
use super::manifest::{Case, Run};
use crate::bench::measure::{Cost, observe};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Where a program was built, and how often it is measured.
pub(crate) struct Place<'a> {
    pub(crate) case: &'a Case,
    pub(crate) version: String,
    pub(crate) rsan: &'a Path,
    pub(crate) tsan: Option<&'a Path>,
    pub(crate) runs: u32,
}

/// What came out of a run.
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) run: String,
    pub(crate) version: String,
    pub(crate) fixed_time: bool,
    /// What went wrong, apart from findings.
    pub(crate) failure: Option<String>,
    pub(crate) findings: Judged,
    /// With ThreadSanitizer beside.
    pub(crate) compared: Option<Compared>,
}

/// Best figures of both sanitizers.
pub(crate) struct Compared {
    pub(crate) ours: Cost,
    pub(crate) theirs: Cost,
    /// Warnings that ThreadSanitizer prints.
    pub(crate) warnings: usize,
}

impl Row {
    /// Whether nothing new was found and nothing went wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.failure.is_none() && self.findings.unknown.is_empty()
    }
}

impl Place<'_> {
    /// Runs the program for its findings, and if ThreadSanitizer is there, both for their figures.
    pub(crate) fn row(&self, run: &Run, tools: &Tools) -> Result<Row, String> {
        let name = format!("{}/{}", self.case.name, run.name);
        eprintln!("xtask: {name}");
        let (document, failure) = self.findings(run, tools)?;
        let compared = match self.tsan {
            Some(tsan) => Some(self.compare(run, tools, tsan)?),
            None => None,
        };
        Ok(Row {
            case: self.case.name.clone(),
            run: run.name.clone(),
            version: self.version.clone(),
            fixed_time: run.fixed_time,
            failure,
            findings: judge::judge(&document, self.case),
            compared,
        })
    }

    /// `rsan run`, and what went wrong.
    fn findings(&self, run: &Run, tools: &Tools) -> Result<(Value, Option<String>), String> {
        let kept = self.rsan.join(format!("rsan-{}.json", run.name));
        let script = format!(
            "exec rsan run --format json --runs {} --timeout {} -- {} > {}",
            run.runs,
            run.limit,
            run.command,
            kept.display()
        );
        let mut command = tools.shell(&script, self.rsan);
        let log = self.rsan.join(format!("rsan-{}.err", run.name));
        let output = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let beside = self.beside(run, tools, self.rsan)?;
        let status = command
            .stdin(Stdio::null())
            .stderr(output)
            .status()
            .map_err(|e| format!("cannot run {command:?}: {e}"))?;
        let text = std::fs::read_to_string(&kept).unwrap_or_default();
        let document: Value = serde_json::from_str(&text)
            .map_err(|_| format!("rsan run: {status}; its output is {}", log.display()))?;
        let mut failure = document["notes"][0].as_str().map(str::to_owned);
        if let Some(beside) = beside {
            failure = failure.or(finished(beside));
        }
        Ok((document, failure))
    }

    fn compare(&self, run: &Run, tools: &Tools, tsan: &Path) -> Result<Compared, String> {
        let mut best: [Option<Cost>; 2] = [None, None];
        for _ in 0..self.runs {
            for (folder, best) in [self.rsan, tsan].into_iter().zip(&mut best) {
                let cost = self.timed(run, tools, folder)?;
                let least = best.get_or_insert(cost);
                least.wall = least.wall.min(cost.wall);
                least.cpu = least.cpu.min(cost.cpu);
                least.memory = least.memory.min(cost.memory);
            }
        }
        let [Some(ours), Some(theirs)] = best else {
            return Err("nothing was measured".to_owned());
        };
        let warnings = self.warnings(run, tools, tsan)?;
        Ok(Compared {
            ours,
            theirs,
            warnings,
        })
    }

    /// Time and memory; neither sanitizer prints reports, and ours logs them.
    fn timed(&self, run: &Run, tools: &Tools, folder: &Path) -> Result<Cost, String> {
        let mut command = tools.shell(&limited(run), folder);
        let log = folder.join("timed.jsonl");
        let _ = std::fs::remove_file(&log);
        command.env("TSAN_OPTIONS", "report_bugs=0 exitcode=0").env(
            "RSAN_OPTIONS",
            format!("log={} exitcode=0 summary=0", log.display()),
        );
        let beside = self.beside(run, tools, folder)?;
        let (_, status, cost) = observe(&mut command)?;
        let failed = beside.and_then(finished);
        match failed {
            Some(failure) => Err(failure),
            None if status.success() => Ok(cost),
            None => Err(format!("{}: {status}", run.command)),
        }
    }

    /// How many warnings ThreadSanitizer has.
    fn warnings(&self, run: &Run, tools: &Tools, folder: &Path) -> Result<usize, String> {
        let mut command = tools.shell(&limited(run), folder);
        command
            .env("TSAN_OPTIONS", "exitcode=0")
            .stdin(Stdio::null());
        let beside = self.beside(run, tools, folder)?;
        let Output { stderr, .. } = command
            .output()
            .map_err(|e| format!("cannot run {command:?}: {e}"))?;
        let _ = beside.and_then(finished);
        let log = folder.join(format!("tsan-{}.err", run.name));
        std::fs::write(&log, &stderr).map_err(|e| format!("{}: {e}", log.display()))?;
        let text = String::from_utf8_lossy(&stderr);
        Ok(text.matches("WARNING: ThreadSanitizer").count())
    }

    /// Starts the other command, if there is one.
    fn beside(&self, run: &Run, tools: &Tools, folder: &Path) -> Result<Option<Child>, String> {
        let Some(script) = &run.beside else {
            return Ok(None);
        };
        let log: PathBuf = folder.join(format!("beside-{}.out", run.name));
        let output = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let mut command: Command = tools.shell(script, folder);
        let child = command.stdin(Stdio::null()).stdout(output).spawn();
        child
            .map(Some)
            .map_err(|e| format!("cannot run {command:?}: {e}"))
    }
}

/// What went wrong with the other command, once it has ended.
fn finished(mut beside: Child) -> Option<String> {
    match beside.wait() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("the command beside it: {status}")),
        Err(error) => Some(error.to_string()),
    }
}

fn limited(run: &Run) -> String {
    format!("exec timeout --signal=KILL {} {}", run.limit, run.command)
}
