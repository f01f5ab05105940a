//! What kind of thing standard output and standard error are.

use rsan_report::Style;
use std::ffi::OsStr;
use std::io::{IsTerminal, stderr, stdout};

/// How text on standard output looks.
pub(crate) fn stdout_style() -> Style {
    style(stdout().is_terminal())
}

/// How messages on standard error look.
pub(crate) fn stderr_style() -> Style {
    style(stderr().is_terminal())
}

/// Colour on terminals that can show it, unless `NO_COLOR` (<https://no-color.org>) is set.
fn style(terminal: bool) -> Style {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").as_deref() == Some(OsStr::new("dumb"));
    if terminal && !set("NO_COLOR") && !dumb {
        Style::Color
    } else {
        Style::Plain
    }
}
