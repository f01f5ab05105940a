//! ThreadSanitizer's own settings, from `__tsan_default_options` and the variable `TSAN_OPTIONS`: those that mean something here.
//!
//! What has no counterpart is ignored without a word, so that what is set up for ThreadSanitizer works as it is.

use super::{Options, TABLE, flag};
use rsan_schedule::Settings;

/// Names there, and the settings that they are here.
const NAMES: &[(&str, &[&str])] = &[
    ("halt_on_error", &["halt_on_error"]),
    ("exitcode", &["exitcode"]),
    ("log_path", &["text_path"]),
    ("suppressions", &["suppressions"]),
    ("print_summary", &["summary"]),
    ("help", &["help"]),
    ("detect_deadlocks", &["lock_order", "deadlocks"]),
    ("report_thread_leaks", &["thread_leaks"]),
    ("report_mutex_bugs", &["lock_misuse"]),
    ("report_destroy_locked", &["destroy_locked"]),
    ("report_signal_unsafe", &["signals"]),
];

/// Settings without which nothing is reported.
const FINDINGS: &[&str] = &[
    "races",
    "robustness",
    "lock_misuse",
    "lock_order",
    "deadlocks",
    "thread_leaks",
    "descriptors",
    "signals",
    "sync_objects",
];

fn set(options: &mut Options, name: &str, value: &str) {
    // A value that is wrong for a setting leaves it as it was.
    if let Some(row) = TABLE.iter().find(|row| row.name == name) {
        let _ = (row.set)(options, value);
    }
}

/// Takes the settings of a text over.
pub(super) fn apply(options: &mut Options, text: &str) {
    for setting in Settings::read_tsan(text).iter() {
        let (name, value) = (setting.name(), setting.value());
        if name == "report_bugs" && flag(value) == Some(false) {
            for name in FINDINGS {
                set(options, name, "0");
            }
        }
        let known = NAMES.iter().filter(|(theirs, _)| *theirs == name);
        for ours in known.flat_map(|(_, ours)| *ours) {
            set(options, ours, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_counterpart_is_taken_and_the_rest_ignored() {
        let text = "halt_on_error=1,exitcode=7:log_path='/a b' history_size=4 second_deadlock_stack=1 exitcode=x";
        let (options, complaints) = Options::parse(&[text, "halt_on_error=0"], "");
        assert_eq!((options.exitcode, options.halt_on_error), (7, false));
        assert_eq!(
            (options.text_path.as_str(), complaints.as_str()),
            ("/a b", "")
        );
    }

    #[test]
    fn our_own_settings_come_last() {
        let (options, _) = Options::parse(&["exitcode=7", "exitcode=8"], "exitcode=9");
        assert_eq!(options.exitcode, 9);
        let (options, _) = Options::parse(&["report_bugs=0"], "robustness=1");
        assert!(!options.races && options.robustness);
        let (options, _) = Options::parse(&["report_bugs=1 races=0"], "");
        assert!(options.races, "names of our own mean nothing there");
    }
}
