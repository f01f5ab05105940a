//! Schedules in the user's folder: a file for every run that showed something first.
//!
//! A file says which program it belongs to. That of another program is not overwritten: then the name of the program is part of
//! the name of the file.

use super::tally::{Failure, Tally};
use super::weak::Weak;
use super::{Request, quoted};
use crate::files;
use crate::sanitizer::findings::Found;
use crate::sanitizer::verdict::described;
use rsan_report::document::{FailedRuns, Recorded, Schedules};
use rsan_schedule::Schedule;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The note of a schedule that names its program.
pub(super) const PROGRAM: &str = "program";

/// What a schedule shows that is kept for a stale value, where nothing else can be recognised: an output, say.
pub(super) const STALE: &str = "stale value";

/// Writes schedules.
pub(super) struct Files<'a> {
    request: &'a Request<'a>,
    /// What the files of findings are called, before their numbers.
    pub(super) name: &'static str,
    /// The memory of the runs, if it is weak.
    pub(super) weak: Option<Weak>,
    /// Why the first one that could not be written could not.
    pub(super) unwritten: Option<String>,
}

impl<'a> Files<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            name: "violation",
            weak: None,
            unwritten: None,
        }
    }

    /// A file for every run that showed a finding first.
    pub(super) fn keep_findings(
        &mut self,
        found: &mut [Found],
        tally: &Tally,
        schedules: &Schedules,
    ) {
        let mut first: BTreeMap<usize, Vec<&mut Found>> = BTreeMap::new();
        for finding in found {
            first.entry(finding.first_run()).or_default().push(finding);
        }
        for (number, (run, findings)) in first.into_iter().enumerate() {
            let Some(schedule) = tally.schedules.get(&run) else {
                continue;
            };
            let labels: Vec<_> = findings.iter().map(|finding| finding.label()).collect();
            let name = format!("{}-{}", self.name, number + 1);
            let recorded = self.keep(&name, schedule, run, &labels.join("; "), schedules);
            for finding in findings {
                finding.finding.recorded = recorded.clone();
            }
        }
    }

    /// A file for every way to fail.
    pub(super) fn keep_failures(
        &mut self,
        failures: &[Failure],
        schedules: &Schedules,
    ) -> Vec<FailedRuns> {
        let mut all = Vec::new();
        for (number, failure) in failures.iter().enumerate() {
            let (how, shows) = (described(failure.end), failure.end.to_string());
            let name = format!("failure-{}", number + 1);
            let schedule = &failure.schedule;
            let first = self.keep(&name, schedule, failure.first, &shows, schedules);
            let runs = failure.in_runs.len() as u64;
            all.push(FailedRuns { how, runs, first });
        }
        all
    }

    /// A file for a run in which a stale value hurts.
    pub(super) fn keep_harm(
        &mut self,
        name: &str,
        schedule: &Schedule,
        shows: &str,
    ) -> Option<Recorded> {
        let schedules = Schedules {
            strategy: "guided".to_owned(),
            ..Schedules::default()
        };
        self.weak = Some(Weak::default());
        self.keep(name, schedule, 0, shows, &schedules)
    }

    fn keep(
        &mut self,
        name: &str,
        schedule: &Schedule,
        run: usize,
        shows: &str,
        schedules: &Schedules,
    ) -> Option<Recorded> {
        // Seeds of a part are as far apart as it says.
        let apart = (run as u64).wrapping_mul(schedules.stride.unwrap_or(1));
        let seed = schedules.seed.map(|seed| seed.wrapping_add(apart));
        let mut schedule = schedule.clone();
        schedule.set_note(PROGRAM, &one_line(self.request.subject));
        schedule.set_note("strategy", &schedules.strategy);
        if let Some(seed) = seed {
            schedule.set_note("seed", &seed.to_string());
        }
        if let Some(weak) = self.weak {
            weak.note(&mut schedule);
        }
        schedule.set_note("shows", shows);
        let file = place(&self.request.schedule.out, name, self.request.subject);
        if let Err(why) = write(&file, &schedule) {
            self.unwritten.get_or_insert(why);
            return None;
        }
        let file = file.display().to_string();
        let command = self.request.replay(&file);
        Some(Recorded {
            seed,
            file,
            command,
        })
    }
}

/// A file that is not there yet, or is of the same program.
fn place(folder: &Path, name: &str, program: &str) -> PathBuf {
    let stem = stem(program);
    let plain = format!("{name}.sched");
    let others = (1..).map(|number| match number {
        1 => format!("{name}-{stem}.sched"),
        _ => format!("{name}-{stem}-{number}.sched"),
    });
    let mut names = std::iter::once(plain).chain(others);
    let free = names.find_map(|name| Some(folder.join(name)).filter(|file| is_of(file, program)));
    free.expect("there is no end of numbers")
}

/// Whether a file may be written for a program: it is not there, it is no schedule of another one.
fn is_of(file: &Path, program: &str) -> bool {
    let Ok(text) = files::read_text(file, files::RECORD) else {
        return true;
    };
    let schedule = text.parse::<Schedule>();
    let owner = schedule.as_ref().ok().and_then(|s| s.note(PROGRAM));
    owner.is_none_or(|owner| one_line(owner) == one_line(program))
}

/// The name of a program without folder and extension, as it can be part of any file name.
fn stem(program: &str) -> String {
    let stem = Path::new(program).file_stem().unwrap_or_default();
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || "._-+".contains(c) => c,
        _ => '_',
    };
    stem.to_string_lossy().chars().map(plain).collect()
}

/// Why a schedule is perhaps not of the program that it is to be replayed with.
pub(super) fn doubt(schedule: &Schedule, program: &str) -> Option<String> {
    let recorded = schedule.note(PROGRAM)?;
    let differs = stem(recorded) != stem(program);
    differs.then(|| {
        format!(
            "the schedule is one of another program, {}",
            quoted(recorded)
        )
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a schedule, in a folder that is made if it is not there.
pub(super) fn write(file: &Path, schedule: &Schedule) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", quoted(&file.display().to_string()));
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    files::write(file, schedule.to_string().as_bytes()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_can_be_part_of_names_of_files() {
        assert_eq!(stem("./a dir/b c.c"), "b_c");
        assert_eq!(stem("/usr/bin/queue"), "queue");
        assert_eq!(stem(".."), "");
    }

    #[test]
    fn a_schedule_of_another_program_is_doubtful() {
        let mut schedule = Schedule::default();
        assert_eq!(doubt(&schedule, "./queue"), None);
        schedule.set_note(PROGRAM, "tests/queue.c");
        assert_eq!(doubt(&schedule, "./queue"), None);
        let said = "the schedule is one of another program, tests/queue.c";
        assert_eq!(doubt(&schedule, "./stack").as_deref(), Some(said));
    }
}
