//! Settings, from the environment variable `RSAN_OPTIONS`: `name=value` pairs, separated by blanks or colons;
//! a value that has such characters is put in quotes.
//!
//! All of them stand in one table; an unknown name or a bad value is told to the user and otherwise ignored.

mod tsan;

use crate::output::printable;
use rsan_model::Model;
use rsan_schedule::Settings;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The settings of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// File that findings are appended to, one JSON line each; none if empty.
    pub log: String,
    /// Exit status of the process when there was a finding; 0 leaves it alone.
    pub exitcode: i32,
    /// Print findings.
    pub text: bool,
    /// Where they are printed: standard error if empty, or a file, to whose name the number of the process is added.
    pub text_path: String,
    /// Log that the process runs.
    pub announce: bool,
    /// File that says which findings are left out; none if empty.
    pub suppressions: String,
    /// Abort at the first finding.
    pub halt_on_error: bool,
    /// Check plain accesses.
    pub races: bool,
    /// An allocation is a write of the block, also where the schedule is the system's.
    pub allocations: bool,
    /// Check that descriptors are not used while they are closed.
    pub descriptors: bool,
    /// Check what signal handlers do.
    pub signals: bool,
    /// Check atomic accesses for robustness.
    pub robustness: bool,
    /// Report locks that are used wrongly.
    pub lock_misuse: bool,
    /// Check, with those, that what is destroyed is not locked.
    pub destroy_locked: bool,
    /// Report locks that are taken in orders that can end in a deadlock.
    pub lock_order: bool,
    /// Report locks and the like whose end is not ordered with their use.
    pub sync_objects: bool,
    /// Report threads that have ended and that nobody joined or detached.
    pub thread_leaks: bool,
    /// Report threads that wait for ever, and end the process then.
    pub deadlocks: bool,
    /// What accesses are judged by: [`Model::C20`] or [`Model::Rc20`].
    pub model: Model,
    /// What a volatile access counts as.
    pub volatile: Volatile,
    /// Writes kept per location; 0 keeps all.
    pub log_cap: usize,
    /// A proof is claimed: forget nothing that could still be part of a finding, and say where something could not be decided.
    pub exact: bool,
    /// A rule of it that is broken, for tests.
    pub approximate: Option<Approximation>,
    /// The number that the epochs of threads begin with.
    pub first_epoch: u32,
    /// Threads' places in the clocks before those of ended threads are taken.
    pub slots: usize,
    /// How often the program is asked, at one place, whether it waits there; 0: never.
    pub probes: u64,
    /// Who runs next; the operating system if empty.
    pub sched: String,
    /// Socket of whoever wants many runs; none if empty.
    pub server: String,
    /// File that the steps of a run are left in.
    pub trace: String,
    /// Runs are made one after the other in one process, where that is possible.
    pub reuse: bool,
    /// Scheduling is controlled from the call of `rsan_snapshot` on, not from `main`.
    pub at_marker: bool,
    /// Say at the end what was done.
    pub stats: bool,
    /// Say at the end how many findings there were.
    pub summary: bool,
    /// List the settings at the start.
    pub help: bool,
}

static CURRENT: AtomicPtr<Options> = AtomicPtr::new(std::ptr::null_mut());

/// Makes these the settings of the process, for ever.
pub(crate) fn set(options: Options) -> &'static Options {
    let options = Box::leak(Box::new(options));
    // ORDERING: release, with the acquire in `current`.
    CURRENT.store(options, Ordering::Release);
    options
}

/// The settings, if they are known yet.
pub(crate) fn current() -> Option<&'static Options> {
    // ORDERING: acquire, with the release in `set`.
    let options = CURRENT.load(Ordering::Acquire);
    // SAFETY: null, or leaked by `set`.
    unsafe { options.as_ref() }
}

/// The status of a run that ended because nobody can go on.
pub(crate) fn deadlock_status() -> i32 {
    current().map_or(Options::default().exitcode, |options| options.exitcode)
}

/// A rule of explorations that tests break, to see that it is noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Approximation {
    /// Whether a stale value matters is sampled, as in other runs ([`crate::probe`]).
    Waits,
    /// What follows a stale value reads last writes of other words only.
    Words,
    /// A stale value makes no difference if the program comes to any loop.
    Loops,
    /// A later read of the same word is as good as the weak one again, wherever it is.
    Places,
    /// A granule forgets plain accesses.
    Readers,
}

/// What a volatile access counts as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Volatile {
    /// A plain access.
    Plain,
    /// A relaxed atomic access.
    Relaxed,
    /// An atomic access that acquires if it reads, and releases if it writes.
    AcqRel,
}

fn volatile(text: &str) -> Option<Volatile> {
    match text {
        "plain" => Some(Volatile::Plain),
        "relaxed" => Some(Volatile::Relaxed),
        "acqrel" => Some(Volatile::AcqRel),
        _ => None,
    }
}

fn approximation(text: &str) -> Option<Option<Approximation>> {
    Some(Some(match text {
        "" => return Some(None),
        "waits" => Approximation::Waits,
        "words" => Approximation::Words,
        "loops" => Approximation::Loops,
        "places" => Approximation::Places,
        "readers" => Approximation::Readers,
        _ => return None,
    }))
}

impl Options {
    /// Whether a rule of explorations is broken.
    pub fn breaks(&self, rule: Approximation) -> bool {
        self.approximate == Some(rule)
    }

    /// Whether no plain access may be forgotten.
    pub fn keeps_all(&self) -> bool {
        self.exact && !self.breaks(Approximation::Readers)
    }
}

struct Row {
    name: &'static str,
    default: &'static str,
    help: &'static str,
    set: fn(&mut Options, &str) -> Option<()>,
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

fn model(text: &str) -> Option<Model> {
    let models = [Model::C20, Model::Rc20];
    models.into_iter().find(|model| model.name() == text)
}

macro_rules! table {
    ($($name:ident, $default:literal, $parse:expr, $help:literal;)+) => {
        const TABLE: &[Row] = &[$(Row {
            name: stringify!($name),
            default: $default,
            help: $help,
            set: |options, text| {
                let parse: fn(&str) -> Option<_> = $parse;
                options.$name = parse(text)?;
                Some(())
            },
        }),+];
    };
}

table! {
    log, "", |text| Some(text.to_owned()), "append findings to this file, one JSON line each";
    exitcode, "66", |text| text.parse().ok(), "exit status when there was a finding (0: leave it alone)";
    text, "1", flag, "print findings on standard error (without it only if they can't be logged)";
    text_path, "", |text| Some(text.to_owned()), "print them to this file instead, with the number of the process behind its name (or stdout)";
    announce, "0", flag, "log that the process runs, too";
    suppressions, "", |text| Some(text.to_owned()), "leave out findings that a line of this file matches";
    halt_on_error, "0", flag, "abort at the first finding";
    races, "1", flag, "report data races";
    allocations, "0", flag, "report uses of a block that its allocation does not happen-before (up to 1.5 times slower)";
    descriptors, "1", flag, "report descriptors that are closed while another thread uses or closes them";
    robustness, "1", flag, "report violations of robustness";
    lock_misuse, "1", flag, "report locks and the like that are used wrongly";
    destroy_locked, "1", flag, "report locks, with those, that are destroyed while they are locked";
    lock_order, "1", flag, "report locks that are taken in orders that can end in a deadlock";
    sync_objects, "1", flag, "report data races of destroying a lock or the like with its use";
    thread_leaks, "1", flag, "report threads that have ended and were neither joined nor detached";
    deadlocks, "1", flag, "report threads that wait for ever, and end the process then";
    signals, "1", flag, "report signal handlers that call what they must not, or change errno";
    model, "c20", model, "memory model: c20 (C++20), or rc20, which has no seq_cst accesses";
    volatile, "plain", volatile, "what volatile accesses count as, if the compiler tells them apart: plain, relaxed or acqrel";
    log_cap, "8", |text| text.parse().ok(), "writes kept per atomic location (0: all that matter, exact)";
    exact, "0", flag, "forget no access that could still race, and say what could not be decided (slower)";
    first_epoch, "0", |text| text.parse().ok(), "where threads begin to count what they do, for tests (the end is 4294967295: there they have no other counter either)";
    approximate, "", approximation, "break a rule of explorations, for tests: waits, words, loops, places or readers";
    slots, "256", |text| text.parse().ok(), "threads told apart before those of ended threads are reused inexactly";
    probes, "8", |text| text.parse().ok(), "questions per place whether it waits there (0: waits are not recognised)";
    sched, "", |text| Some(text.to_owned()), "run one thread at a time: 'strategy=pct:depth=3 seed=7' or 'replay=FILE'";
    server, "", |text| Some(text.to_owned()), "make the runs that are asked for at this socket";
    trace, "", |text| Some(text.to_owned()), "leave the steps of such a run in this file";
    reuse, "1", flag, "make such runs one after the other in one process, where that is possible";
    at_marker, "0", flag, "own the schedule from rsan_snapshot() on, not from main";
    stats, "0", flag, "say at the end what was done to recognise waits";
    summary, "1", flag, "say at the end how many findings there were";
    help, "0", flag, "list the settings";
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Self {
            log: String::new(),
            exitcode: 0,
            text: false,
            text_path: String::new(),
            announce: false,
            suppressions: String::new(),
            halt_on_error: false,
            races: false,
            allocations: false,
            descriptors: false,
            robustness: false,
            lock_misuse: false,
            destroy_locked: false,
            lock_order: false,
            sync_objects: false,
            thread_leaks: false,
            deadlocks: false,
            signals: false,
            model: Model::C20,
            volatile: Volatile::Plain,
            log_cap: 0,
            exact: false,
            approximate: None,
            first_epoch: 0,
            slots: 0,
            probes: 0,
            sched: String::new(),
            server: String::new(),
            trace: String::new(),
            reuse: false,
            at_marker: false,
            stats: false,
            summary: false,
            help: false,
        };
        for row in TABLE {
            (row.set)(&mut options, row.default).expect("a default is a valid value");
        }
        options
    }
}

impl Options {
    /// Reads settings, first those of texts for ThreadSanitizer; also returns what was wrong, one line each.
    pub fn parse(tsan: &[&str], text: &str) -> (Self, String) {
        let (mut options, mut complaints) = (Self::default(), String::new());
        for text in tsan {
            tsan::apply(&mut options, text);
        }
        let (settings, open) = Settings::read(text);
        for setting in settings.iter() {
            let row = TABLE.iter().find(|row| row.name == setting.name());
            let problem = match row.map(|row| (row.set)(&mut options, setting.value())) {
                Some(Some(())) => continue,
                Some(None) => "bad value in",
                None => "unknown name in",
            };
            let pair = printable(&setting.plain());
            let _ = writeln!(complaints, "rsan: RSAN_OPTIONS: {problem} '{pair}'");
        }
        if let Some(open) = open {
            let open = printable(&open.to_string());
            let _ = writeln!(complaints, "rsan: RSAN_OPTIONS: {open}, which is ignored");
        }
        (options, complaints)
    }

    /// The settings of a text but those of schedules: what a program that this one executes is to get.
    pub fn without_schedule(text: &str) -> String {
        let (settings, _) = Settings::read(text);
        let schedule = ["sched", "server", "trace", "at_marker"];
        settings.without(&schedule).to_string()
    }

    /// Whether the order of the threads is ours, not the system's.
    pub fn owns_schedule(&self) -> bool {
        !self.sched.is_empty() || !self.server.is_empty()
    }

    /// The table as text.
    pub fn table() -> String {
        let mut text =
            String::from("rsan: RSAN_OPTIONS, name=value separated by blanks or colons:\n");
        for Row {
            name,
            default,
            help,
            ..
        } in TABLE
        {
            let _ = writeln!(text, "  {name:<14} {help} [{default}]");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_complained_about() {
        let (options, complaints) =
            Options::parse(&[], "exitcode=3:log=/a/b races=0 log_cap=x colour=1");
        assert_eq!(options.exitcode, 3);
        assert_eq!(options.log, "/a/b");
        assert!(!options.races && options.robustness);
        assert_eq!(options.log_cap, 8);
        assert_eq!(
            complaints,
            "rsan: RSAN_OPTIONS: bad value in 'log_cap=x'\nrsan: RSAN_OPTIONS: unknown name in 'colour=1'\n"
        );
    }

    #[test]
    fn quotes_protect_blanks_and_colons() {
        let (options, complaints) = Options::parse(&[], "log='/a b:c/\"d' exitcode=\"5\"  races=0");
        assert_eq!(options.log, "/a b:c/\"d");
        assert_eq!((options.exitcode, options.races), (5, false));
        assert_eq!(complaints, "");
    }

    #[test]
    fn an_open_quote_is_complained_about() {
        let (options, complaints) = Options::parse(&[], "exitcode=3 log='/a races=0");
        assert_eq!((options.exitcode, options.log.as_str()), (3, ""));
        assert!(options.races);
        let said =
            "rsan: RSAN_OPTIONS: a quote is not closed in 'log=/a races=0', which is ignored\n";
        assert_eq!(complaints, said);
    }

    #[test]
    fn schedules_are_not_passed_on() {
        let text = "log='/a b' sched=\"strategy=random seed=1\":server=/s trace=/t races";
        let rest = Options::without_schedule(text);
        assert_eq!(rest, "log=\"/a b\" races");
        let (options, complaints) = Options::parse(&[], &rest);
        assert_eq!((options.log.as_str(), complaints.as_str()), ("/a b", ""));
        assert!(!options.owns_schedule());
    }

    #[test]
    fn every_option_is_in_the_help() {
        let table = Options::table();
        for row in TABLE {
            assert!(table.contains(row.name) && !row.help.is_empty());
        }
    }
}
