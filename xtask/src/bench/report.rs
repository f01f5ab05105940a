//! Benchmark results as a table, as JSON, and summed up.

use super::measure::Cost;
use super::verify::{Row, Small};
use serde::Serialize;
use std::fmt;

/// The share of the peer's verifier time, and of its memory, that we want to stay below.
const TIME_GOAL: f64 = 10.0;
const MEMORY_GOAL: f64 = 5.0;

/// Seconds in which a small program is to be answered.
const SMALL_GOAL: f64 = 0.020;

/// All results.
#[derive(Default)]
pub(crate) struct Report {
    /// The programs that were measured.
    pub(crate) rows: Vec<Row>,
    /// Small programs, with the default options.
    pub(crate) small: Vec<Small>,
}

/// How many rows reach the goals.
#[derive(Serialize)]
struct Summary {
    rows: usize,
    verdicts_as_expected: usize,
    compared: usize,
    peer_disagrees: usize,
    time_goal_by_wall: usize,
    time_goal_by_cpu: usize,
    memory_goal: usize,
    small: usize,
    small_goal: usize,
}

/// The peer's cost divided by ours.
struct Ratios {
    wall: f64,
    cpu: f64,
    memory: f64,
}

impl Ratios {
    fn of(row: &Row) -> Option<Self> {
        let peer = row.peer.as_ref().filter(|peer| peer.answers())?.cost;
        // Clocks have a resolution; a run that takes no time is not infinitely fast.
        let ratio = |peer: f64, ours: f64| peer / ours.max(0.001);
        Some(Self {
            wall: ratio(peer.wall, row.ours.wall),
            cpu: ratio(peer.cpu, row.ours.cpu),
            memory: peer.memory / row.ours.memory,
        })
    }
}

impl Report {
    fn summary(&self) -> Summary {
        let count = |f: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| f(row)).count();
        let reach = |f: &dyn Fn(Ratios) -> bool| count(&|row| Ratios::of(row).is_some_and(f));
        Summary {
            rows: self.rows.len(),
            verdicts_as_expected: count(&|row| row.as_expected),
            compared: count(&|row| Ratios::of(row).is_some()),
            peer_disagrees: count(&|row| {
                let peer = row.peer.as_ref().filter(|peer| peer.answers());
                peer.is_some_and(|peer| peer.verdict != row.verdict)
            }),
            time_goal_by_wall: reach(&|r| r.wall >= TIME_GOAL),
            time_goal_by_cpu: reach(&|r| r.cpu >= TIME_GOAL),
            memory_goal: reach(&|r| r.memory >= MEMORY_GOAL),
            small: self.small.len(),
            small_goal: self
                .small
                .iter()
                .filter(|s| s.ours.wall <= SMALL_GOAL)
                .count(),
        }
    }

    /// One document.
    pub(crate) fn json(&self) -> String {
        let document = serde_json::json!({
            "schema": "rsan-bench/1",
            "benchmark": "verify",
            "rows": self.rows,
            "small": self.small,
            "summary": self.summary(),
        });
        format!("{document:#}")
    }

    /// One line of the table.
    pub(crate) fn line(row: &Row) -> String {
        let name = row.program.trim_end_matches(".tpl");
        let property = match row.property {
            "robust" => "",
            _ => " obs",
        };
        let mark = if row.as_expected { "" } else { " WRONG" };
        let mut line = format!(
            "| {name} | {}{property} | {}{mark} | {} | {} | {} |",
            row.model,
            row.verdict,
            row.states,
            cost(&row.ours),
            one_worker(row)
        );
        match (&row.peer, Ratios::of(row)) {
            (Some(peer), Some(ratios)) => {
                let states = peer.states.map_or("-".to_owned(), |n| format!("{n:.0}"));
                let agrees = if peer.verdict == row.verdict {
                    String::new()
                } else {
                    format!(" ({})", peer.verdict)
                };
                line += &format!(
                    " {states}{agrees} | {} | {:.1} | {:.1} | {:.1} |",
                    cost(&peer.cost),
                    ratios.wall,
                    ratios.cpu,
                    ratios.memory
                );
            }
            (Some(peer), None) => line += &format!(" ({}) | | | | | | |", peer.verdict),
            (None, _) => {
                let why = row.peer_failed.as_ref();
                let why = why.map_or(String::new(), |why| format!(" ({why})"));
                line += &format!("{why} | | | | | | |");
            }
        }
        line
    }
}

/// Wall seconds, CPU seconds, MiB.
fn cost(cost: &Cost) -> String {
    format!("{:.3} | {:.3} | {:.1}", cost.wall, cost.cpu, cost.memory)
}

/// Wall seconds with one worker, and states per second of its CPU time, where that was measured.
fn one_worker(row: &Row) -> String {
    row.one_worker.as_ref().map_or("|".to_owned(), |cost| {
        format!("{:.3} | {:.0}", cost.wall, row.states as f64 / cost.cpu)
    })
}

impl fmt::Display for Report {
    /// A Markdown table and its summary. States per second are those of one worker, where runs take long enough to tell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| program | model | verdict | states | time (s) | CPU (s) | MiB | one worker (s) | states per CPU second | peer: states | time (s) | CPU (s) | MiB | time ratio | CPU ratio | memory ratio |"
        )?;
        writeln!(
            f,
            "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )?;
        for row in &self.rows {
            writeln!(f, "{}", Self::line(row))?;
        }
        let Summary {
            rows,
            verdicts_as_expected,
            compared,
            peer_disagrees,
            time_goal_by_wall,
            time_goal_by_cpu,
            memory_goal,
            small,
            small_goal,
        } = self.summary();
        writeln!(
            f,
            "\n{verdicts_as_expected} of {rows} verdicts as in the manifest."
        )?;
        if compared > 0 {
            writeln!(
                f,
                "The peer answered {compared} times, {peer_disagrees} times with another verdict. \
                 At most 1/{TIME_GOAL} of its verifier time: {time_goal_by_wall} of {compared} (by CPU time: {time_goal_by_cpu}). \
                 At most 1/{MEMORY_GOAL} of its memory: {memory_goal} of {compared}."
            )?;
        }
        writeln!(
            f,
            "Small programs answered within {:.0} ms: {small_goal} of {small}.",
            SMALL_GOAL * 1000.0
        )?;
        for slow in self.small.iter().filter(|s| s.ours.wall > SMALL_GOAL) {
            let (program, cost) = (&slow.program, &slow.ours);
            writeln!(
                f,
                "- {program}: {:.3} s, {:.3} s of CPU",
                cost.wall, cost.cpu
            )?;
        }
        writeln!(
            f,
            "Times of short runs are the best of three. On a machine with other work, compare CPU times."
        )
    }
}
