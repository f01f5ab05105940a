//! One line on standard error that says how a search is going; only when standard error is a terminal.

use rsan_report::number::{bytes, count, plural};
use rsan_report::printable::name;
use rsan_verify::Stats;
use std::io::{IsTerminal, Write, stderr};

/// The line; it disappears when it is dropped.
pub(crate) struct Progress<'a> {
    subject: &'a str,
    terminal: bool,
    shown: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(subject: &'a str) -> Self {
        Self {
            subject,
            terminal: stderr().is_terminal(),
            shown: false,
        }
    }

    /// Shows the newest figures.
    pub(crate) fn update(&mut self, stats: &Stats) {
        if self.terminal {
            self.show(&figures(stats));
        }
    }

    /// Shows how it is going. A terminal that cannot be written to is not worth a word.
    pub(crate) fn show(&mut self, state: &str) {
        if self.terminal {
            self.shown = true;
            let _ = write!(stderr(), "\r\x1b[K{}", line(self.subject, state));
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn line(subject: &str, state: &str) -> String {
    format!("{}: {state}", name(subject))
}

fn figures(stats: &Stats) -> String {
    let seconds = stats.elapsed.as_secs_f64().max(0.001);
    format!(
        "{}, {} states/s, depth {}, {}",
        plural(stats.states, "state"),
        count((stats.states as f64 / seconds) as u64),
        stats.depth,
        bytes(stats.memory),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_line_has_states_rate_depth_and_memory() {
        let stats = Stats {
            states: 1_000_000,
            transitions: 2_000_000,
            depth: 40,
            memory: 64 << 20,
            elapsed: Duration::from_secs(2),
        };
        assert_eq!(
            line("a.tpl", &figures(&stats)),
            "a.tpl: 1,000,000 states, 500,000 states/s, depth 40, 64.0 MiB"
        );
    }
}
