//! The results as one table with notes, and as JSON.

use super::outcome::Outcome;
use super::planning::Planning;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A tool, or one of its modes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Column {
    /// For the head of the table.
    pub(crate) name: &'static str,
    /// Which version, or why it is not there.
    pub(crate) about: String,
    /// Whether it is there.
    pub(crate) present: bool,
    /// Whether it explores everything, or samples.
    pub(crate) explores: bool,
}

/// One program.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) program: String,
    /// Whether it is known not to be robust.
    pub(crate) weak: bool,
    /// One for each column; none for a tool that is not there.
    pub(crate) outcomes: Vec<Option<Outcome>>,
}

/// All results.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Not when only some programs are wanted.
    pub(crate) planning: Option<Planning>,
}

impl Report {
    /// One document.
    pub(crate) fn json(&self) -> String {
        let document = serde_json::json!({
            "schema": "rsan-bench/1",
            "benchmark": "peers",
            "columns": self.columns,
            "rows": self.rows,
            "planning": self.planning,
        });
        format!("{document:#}")
    }

    fn present(&self) -> impl Iterator<Item = (usize, &Column)> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.present)
    }

    fn head(&self) -> String {
        let mut names = "| program | rsan says |".to_owned();
        let mut rules = "| --- | --- |".to_owned();
        for (_, column) in self.present() {
            let name = column.name;
            if column.explores {
                names += &format!(" {name} | CPU s |");
                rules += " ---: | ---: |";
            } else {
                names += &format!(" {name}: runs per CPU s |");
                rules += " ---: |";
            }
        }
        format!("{names}\n{rules}")
    }

    fn line(&self, row: &Row) -> String {
        let mut line = format!("| {} | {} |", row.program, says(row));
        for (i, column) in self.present() {
            let outcome = row.outcomes.get(i).and_then(Option::as_ref);
            match outcome {
                None if column.explores => line += " | |",
                None => line += " |",
                Some(outcome) if column.explores => {
                    line += &format!(" {} | {:.2} |", outcome.count(), outcome.cost.cpu);
                }
                Some(Outcome { error: Some(_), .. }) => line += " failed |",
                Some(outcome) => {
                    let rate = outcome.rate();
                    line += &rate.map_or(" |".to_owned(), |rate| format!(" {rate:.0} |"));
                }
            }
        }
        line
    }

    /// What tools complained about, and why they did not come to an end; once for each text.
    fn complaints(&self) -> BTreeMap<(usize, &str), Vec<&str>> {
        let mut complaints: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for row in &self.rows {
            for (i, outcome) in row.outcomes.iter().enumerate() {
                let Some(Outcome { error, reason, .. }) = outcome else {
                    continue;
                };
                for text in error.iter().chain(reason) {
                    let programs = complaints.entry((i, text.as_str())).or_default();
                    programs.push(&row.program);
                }
            }
        }
        complaints
    }
}

/// Our answer for a program; wrong ones are marked.
fn says(row: &Row) -> &'static str {
    let ours = row.outcomes.first().and_then(Option::as_ref);
    let Some(ours) = ours else { return "" };
    let violated = ours.findings.is_some_and(|n| n > 0);
    match (ours.complete, violated, row.weak) {
        (_, true, true) => "not robust",
        (true, false, false) => "robust",
        (false, false, _) => "undecided",
        (_, true, false) | (true, false, true) => "WRONG",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.head())?;
        for row in &self.rows {
            writeln!(f, "{}", self.line(row))?;
        }
        writeln!(f)?;
        for Column { name, about, .. } in &self.columns {
            writeln!(f, "- {name}: {about}")?;
        }
        for ((column, error), programs) in self.complaints() {
            let name = self.columns.get(column).map_or("", |column| column.name);
            writeln!(f, "- {name} on {}: {error}", programs.join(", "))?;
        }
        match &self.planning {
            Some(planning) => write!(f, "\n{planning}"),
            None => Ok(()),
        }
    }
}
