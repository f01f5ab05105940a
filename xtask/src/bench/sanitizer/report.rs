//! The results as tables and as JSON.

use super::Row;
use crate::bench::measure::Cost;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Our time divided by ThreadSanitizer's is to be at most this, in the geometric mean.
const TIME_GOAL: f64 = 1.3;

/// The same for peak memory.
const MEMORY_GOAL: f64 = 1.5;

/// Our figures divided by ThreadSanitizer's, in the geometric mean.
#[derive(Serialize)]
struct Mean {
    compiler: String,
    group: String,
    programs: usize,
    wall: f64,
    cpu: f64,
    memory: f64,
}

/// All results.
#[derive(Default)]
pub(crate) struct Report {
    /// Programs.
    pub(crate) rows: Vec<Row>,
    /// One program over numbers of locations.
    pub(crate) flat: Vec<Row>,
    /// Programs with little and much work.
    pub(crate) growth: Vec<Row>,
}

/// What all groups together are called.
const ALL: &str = "all";

impl Report {
    /// A mean for each group, in the order of the rows, and one for all, for each compiler.
    fn means(&self) -> Vec<Mean> {
        let mut order: Vec<(&str, &str)> = Vec::new();
        let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            for group in [row.group.as_str(), ALL] {
                let key = (row.compiler.as_str(), group);
                if !groups.contains_key(&key) {
                    order.push(key);
                }
                groups.entry(key).or_default().push(row);
            }
        }
        // Stable: groups stay in order, and each compiler's mean of all comes after them.
        order.sort_by_key(|(compiler, group)| (*compiler, *group == ALL));
        order
            .into_iter()
            .filter_map(|key| mean(key, &groups[&key]))
            .collect()
    }

    /// One document.
    pub(crate) fn json(&self) -> String {
        let document = serde_json::json!({
            "schema": "rsan-bench/1",
            "benchmark": "sanitizer",
            "rows": self.rows,
            "flat": self.flat,
            "growth": self.growth,
            "means": self.means(),
            "targets": { "time": TIME_GOAL, "memory": MEMORY_GOAL },
        });
        format!("{document:#}")
    }
}

fn mean((compiler, group): (&str, &str), rows: &[&Row]) -> Option<Mean> {
    let ratios: Vec<Cost> = rows.iter().filter_map(|row| ratios(row)).collect();
    let of = |figure: fn(&Cost) -> f64| {
        let logarithms: f64 = ratios.iter().map(|ratio| figure(ratio).ln()).sum();
        (logarithms / ratios.len() as f64).exp()
    };
    (!ratios.is_empty()).then(|| Mean {
        compiler: compiler.to_owned(),
        group: group.to_owned(),
        programs: ratios.len(),
        wall: of(|ratio| ratio.wall),
        cpu: of(|ratio| ratio.cpu),
        memory: of(|ratio| ratio.memory),
    })
}

/// Our figures divided by ThreadSanitizer's.
fn ratios(row: &Row) -> Option<Cost> {
    let Cost { wall, cpu, memory } = row.tsan?;
    // Clocks have a resolution; a run that takes no time is not infinitely fast.
    let ratio = |ours: f64, theirs: f64| ours / theirs.max(0.0001);
    Some(Cost {
        wall: ratio(row.rsan.wall, wall),
        cpu: ratio(row.rsan.cpu, cpu),
        memory: ratio(row.rsan.memory, memory),
    })
}

const HEADER: &str = "| program | plain (s) | TSan (s) | rsan (s) | ratio | TSan CPU (s) | rsan CPU (s) | ratio | TSan MiB | rsan MiB | ratio | TSan reports | rsan findings |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";

/// One line of the table.
pub(crate) fn line(row: &Row) -> String {
    let optional =
        |value: Option<f64>, digits| value.map_or(String::new(), |v| format!("{v:.digits$}"));
    let (tsan, ratios) = (row.tsan, ratios(row));
    let doubtful = if row.findings > 0 && !row.findings_expected {
        " FALSE?"
    } else {
        ""
    };
    let of =
        |cost: Option<Cost>, figure: fn(Cost) -> f64, digits| optional(cost.map(figure), digits);
    [
        format!("| {}", row.program),
        format!("{:.3}", row.plain.wall),
        of(tsan, |c| c.wall, 3),
        format!("{:.3}", row.rsan.wall),
        of(ratios, |c| c.wall, 2),
        of(tsan, |c| c.cpu, 3),
        format!("{:.3}", row.rsan.cpu),
        of(ratios, |c| c.cpu, 2),
        of(tsan, |c| c.memory, 0),
        format!("{:.0}", row.rsan.memory),
        of(ratios, |c| c.memory, 2),
        row.tsan_reports.map_or(String::new(), |n| n.to_string()),
        format!("{}{doubtful} |", row.findings),
    ]
    .join(" | ")
}

/// Nanoseconds of CPU for an operation.
fn each(row: &Row, cost: Option<Cost>) -> String {
    match (cost, row.operations) {
        (Some(cost), Some(operations)) => format!("{:.1}", cost.cpu * 1e9 / operations),
        _ => String::new(),
    }
}

/// Time of an operation and memory, for sizes of one program.
fn sizes(f: &mut fmt::Formatter<'_>, rows: &[Row], what: &str) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{what}\n")?;
    writeln!(
        f,
        "| program | operations | TSan ns | rsan ns | TSan MiB | rsan MiB |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for row in rows {
        let memory = row
            .tsan
            .map_or(String::new(), |cost| format!("{:.0}", cost.memory));
        writeln!(
            f,
            "| {} | {} | {} | {} | {memory} | {:.0} |",
            row.program,
            row.operations.unwrap_or_default(),
            each(row, row.tsan),
            each(row, Some(row.rsan)),
            row.rsan.memory
        )?;
    }
    Ok(())
}

impl fmt::Display for Report {
    /// Markdown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut above = None;
        for row in &self.rows {
            let group = (&row.compiler, &row.group);
            if above.replace(group) != Some(group) {
                writeln!(f, "\n{} ({})\n\n{HEADER}", row.group, row.compiler)?;
            }
            writeln!(f, "{}", line(row))?;
        }
        let means = self.means();
        if !means.is_empty() {
            writeln!(
                f,
                "\nGeometric means of the ratios, rsan divided by TSan (targets: time {TIME_GOAL}, memory {MEMORY_GOAL})\n\n\
                 | compiler | group | programs | time | CPU | memory |\n| --- | --- | ---: | ---: | ---: | ---: |"
            )?;
        }
        for mean in means {
            let Mean {
                compiler,
                group,
                programs,
                wall,
                cpu,
                memory,
            } = mean;
            writeln!(
                f,
                "| {compiler} | {group} | {programs} | {wall:.2} | {cpu:.2} | {memory:.2} |"
            )?;
        }
        sizes(
            f,
            &self.flat,
            "Numbers of locations: CPU time of an operation (target: flat)",
        )?;
        sizes(
            f,
            &self.growth,
            "Length of the run: peak memory (target: the same)",
        )?;
        writeln!(
            f,
            "\nThe best of all runs. On a machine with other work, compare CPU times."
        )
    }
}
