//! Findings that the user does not want to see, by the option `suppressions`.
//!
//! Here the names of functions are those that the linker knows (C++ names are mangled, inlined functions have none), and
//! the names of source files are not known: `rsan run` knows more, and does its own suppressing.

use crate::elf::{self, Function};
use crate::ending;
use crate::lock::Lock;
use crate::modules::Module;
use crate::options::Options;
use crate::report::{self, Finding};
use crate::stack::Site;
use rsan_suppressions::{Frame, Subject, Suppression};
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static ALL: AtomicPtr<Vec<Suppression>> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The functions of the modules that were asked about.
static FUNCTIONS: Lock<Option<HashMap<String, Vec<Function>>>> = Lock::new(None);

/// The lock of this module, for fork.
pub(crate) fn lock() -> &'static crate::lock::RawLock {
    FUNCTIONS.raw()
}

/// Starts counting again.
pub(crate) fn reset_count() {
    // ORDERING: relaxed; a statistic.
    COUNT.store(0, Ordering::Relaxed);
}

/// How many findings were left out.
pub(crate) fn count() -> usize {
    // ORDERING: relaxed; a statistic.
    COUNT.load(Ordering::Relaxed)
}

/// Reads the file, if there is one; ends the process with status 2 if something is wrong with it.
pub(crate) fn start(options: &Options) {
    if options.suppressions.is_empty() {
        return;
    }
    let file = &options.suppressions;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
    match text.and_then(|text| rsan_suppressions::parse(file, &text)) {
        // ORDERING: release, with the acquire in `suppresses_sites`.
        Ok(all) => ALL.store(Box::leak(Box::new(all)), Ordering::Release),
        Err(errors) => {
            for error in errors.lines() {
                report::write_to(2, format!("rsan: {error}\n").as_bytes());
            }
            ending::now(2)
        }
    }
}

/// Whether a finding is to be left out.
pub(crate) fn suppresses(finding: &Finding, modules: &[Module]) -> bool {
    let subject = match finding {
        Finding::Race { .. } => Subject::Race,
        Finding::Violation { .. } => Subject::Robustness,
        Finding::Misuse { what, .. } if what.is_of_lock() => Subject::Lock,
        Finding::Misuse { what, .. } if what.is_of_thread() => Subject::Thread,
        Finding::Misuse { .. } => Subject::Memory,
        Finding::Inversion { .. } => Subject::Deadlock,
    };
    let sites = finding.sides().into_iter().map(|(_, side)| side.site);
    suppresses_sites(subject, sites, modules)
}

/// The same for the places of a finding.
pub(crate) fn suppresses_sites(
    subject: Subject,
    sites: impl Iterator<Item = Site>,
    modules: &[Module],
) -> bool {
    // ORDERING: acquire, with the release in `start`.
    let all = ALL.load(Ordering::Acquire);
    if all.is_null() {
        return false;
    }
    // SAFETY: leaked by `start`.
    let all = unsafe { &*all };
    let addresses: Vec<_> = sites.map(|site| report::frames(site, modules)).collect();
    let mut guard = FUNCTIONS.lock();
    let functions = guard.get_or_insert_default();
    for module in addresses.iter().flatten().filter_map(|frame| frame.0) {
        if !functions.contains_key(module) {
            functions.insert(module.to_owned(), elf::functions(module));
        }
    }
    let frame = |&(module, offset): &(Option<&'_ str>, usize)| Frame {
        function: module
            .and_then(|module| functions.get(module))
            .and_then(|functions| elf::name(functions, offset as u64)),
        file: None,
        module: modules
            .iter()
            .map(|m| m.path.as_str())
            .find(|path| Some(*path) == module),
    };
    let stacks: Vec<Vec<_>> = addresses
        .iter()
        .map(|stack| stack.iter().map(frame).collect())
        .collect();
    let suppressed = all.iter().any(|s| s.matches(subject, &stacks));
    if suppressed {
        // ORDERING: relaxed; a statistic.
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    suppressed
}
