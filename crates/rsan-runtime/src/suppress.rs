//! Findings that the user does not want to see, by the option `suppressions`.
//!
//! Here the names of functions are those that the linker knows (C++ names are mangled, inlined functions have none), and
//! the names of source files are not known: `rsan run` knows more, and does its own suppressing.

use crate::elf::{self, Symbol};
use crate::files;
use crate::finding::{Finding, Waiting};
use crate::hooks;
use crate::lock::Lock;
use crate::modules::{self, Module};
use crate::options::Options;
use crate::stack::{Function, Site};
use crate::tables::Map;
use rsan_suppressions::{Frame, Subject, Suppression};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static ALL: AtomicPtr<Vec<Suppression>> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The functions of the modules that were asked about.
static FUNCTIONS: Lock<Option<Map<String, Vec<Symbol>>>> = Lock::new(None);

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

/// Reads what the program says itself, and the file, if there is one.
fn read(options: &Options) -> Result<Vec<Suppression>, String> {
    let own = hooks::default_suppressions();
    let mut all = rsan_suppressions::parse("__tsan_default_suppressions", &own)?;
    let file = &options.suppressions;
    if !file.is_empty() {
        let text = files::read(file, files::TEXT).map_err(|error| format!("{file}: {error}"))?;
        all.extend(rsan_suppressions::parse(file, &text)?);
    }
    Ok(all)
}

/// Reads the suppressions; ends the process with status 2 if something is wrong with them.
pub(crate) fn start(options: &Options) {
    match read(options) {
        Ok(all) if all.is_empty() => {}
        // ORDERING: release, with the acquire in `suppresses`.
        Ok(all) => ALL.store(Box::leak(Box::new(all)), Ordering::Release),
        Err(errors) => {
            for error in errors.lines() {
                crate::output::write_to(2, format!("rsan: {error}\n").as_bytes());
            }
            crate::system::end_process(2)
        }
    }
}

/// The name of the variable at an address, as the linker knows it.
fn variable(address: usize, modules: &[Module]) -> Option<String> {
    let (module, offset) = modules::find_data(modules, address)?;
    let variables = elf::variables(&module.path);
    elf::name(&variables, offset as u64).map(str::to_owned)
}

/// Whether a finding is to be left out.
pub(crate) fn suppresses(finding: &Finding, modules: &[Module]) -> bool {
    // ORDERING: acquire, with the release in `start`.
    if ALL.load(Ordering::Acquire).is_null() {
        return false;
    }
    let subject = match finding {
        Finding::Race { .. } => Subject::Race,
        Finding::Violation { .. } => Subject::Robustness,
        Finding::Misuse { what, .. } => Subject::of_kind(what.kind().name()),
        Finding::Inversion { .. } => Subject::Deadlock,
    };
    let variable = variable(finding.extent().0, modules);
    let sides = finding.sides();
    let places = sides.iter().map(|(_, side)| (side.site, side.function));
    matches(subject, places, variable.as_deref(), modules)
}

/// Whether the threads of a deadlock are to be left alone.
pub(crate) fn suppresses_deadlock(threads: &[Waiting], modules: &[Module]) -> bool {
    let places = threads.iter().map(|waiting| (waiting.site, Function::NONE));
    matches(Subject::Deadlock, places, None, modules)
}

fn matches(
    subject: Subject,
    places: impl Iterator<Item = (Site, Function)>,
    variable: Option<&str>,
    modules: &[Module],
) -> bool {
    // ORDERING: acquire, with the release in `start`.
    let all = ALL.load(Ordering::Acquire);
    if all.is_null() {
        return false;
    }
    // SAFETY: leaked by `start`.
    let all = unsafe { &*all };
    let (sites, calls): (Vec<_>, Vec<_>) = places.unzip();
    let addresses: Vec<_> = sites
        .into_iter()
        .map(|site| crate::stack::frames(site, modules))
        .collect();
    let mut guard = FUNCTIONS.lock();
    let functions = guard.get_or_insert_default();
    for module in addresses
        .iter()
        .flatten()
        .filter_map(|frame| frame.module.as_deref())
    {
        if !functions.contains_key(module) {
            functions.insert(module.to_owned(), elf::functions(module));
        }
    }
    let frame = |rsan_log::Frame { module, offset }: &rsan_log::Frame<'_>| Frame {
        function: module
            .as_deref()
            .and_then(|module| functions.get(module))
            .and_then(|functions| elf::name(functions, offset.0)),
        file: None,
        module: modules
            .iter()
            .map(|m| m.path.as_str())
            .find(|path| Some(*path) == module.as_deref()),
    };
    let of_libc = |function: &Function| {
        let function = function.name();
        function.map(|_| Frame {
            function,
            ..Frame::default()
        })
    };
    let stacks: Vec<Vec<_>> = calls
        .iter()
        .zip(&addresses)
        .map(|(call, stack)| {
            of_libc(call)
                .into_iter()
                .chain(stack.iter().map(frame))
                .collect()
        })
        .collect();
    let suppressed = all.iter().any(|s| s.matches(subject, &stacks, variable));
    if suppressed {
        // ORDERING: relaxed; a statistic.
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    suppressed
}
