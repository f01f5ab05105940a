//! What the logs of shards say: each ends with the times of its shell.

use std::fs;
use std::path::Path;

/// The CPU time of each shard that has ended, in seconds.
///
/// # Errors
/// A shard has ended twice.
pub(super) fn ended(folder: &Path) -> Result<Vec<f64>, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_none_or(|ending| ending != "log") {
            continue;
        }
        // Two lines each: the shell, and the commands that it waited for.
        match times(&path).map_err(fail)?[..] {
            [] => {}
            [shell, commands] => all.push(shell + commands),
            _ => return Err(format!("{} has ended twice", path.display())),
        }
    }
    Ok(all)
}

/// Whether the shard of a task has ended, in the first round.
pub(super) fn has_ended(folder: &Path, task: u64) -> bool {
    let log = folder.join(format!("round-1-{task}.log"));
    // Without a log it has not even begun.
    times(&log).is_ok_and(|times| !times.is_empty())
}

fn times(log: &Path) -> std::io::Result<Vec<f64>> {
    Ok(fs::read_to_string(log)?.lines().filter_map(line).collect())
}

/// User and system time of a line such as `0m0.010s 1m2.500s`.
fn line(text: &str) -> Option<f64> {
    let (user, system) = text.trim().split_once(' ')?;
    Some(time(user)? + time(system)?)
}

fn time(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    let (minutes, seconds): (f64, f64) = (minutes.parse().ok()?, seconds.parse().ok()?);
    Some(minutes * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_shells_are_read() {
        assert_eq!(line("0m0.000000s 0m0.250000s"), Some(0.25));
        assert_eq!(line("1m2.5s 2m0.0s"), Some(182.5));
        assert_eq!(line("examples/seqlock.c: 1 finding in 10 runs"), None);
    }
}
