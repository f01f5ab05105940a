//! Libraries that are not instrumented, said with the first data race: they may order what looks like a race.

use crate::imports;
use crate::journal;
use crate::modules::Module;
use crate::options::Options;
use rsan_log::Event;
use std::sync::atomic::{AtomicBool, Ordering};

/// Libraries whose order is known, or which order nothing.
const KNOWN: &[&str] = &[
    "ld-linux",
    "linux-vdso",
    "libc.so",
    "libm.so",
    "libdl.so",
    "librt.so",
    "libutil.so",
    "libpthread.so",
    "libgcc_s.so",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libatomic.so",
    "libgomp.so",
    "librsan_runtime",
];

/// The names of the files of those that are not instrumented, without those above, in the loader's order.
fn names(modules: &[Module], is_instrumented: impl Fn(&Module) -> bool) -> Vec<&str> {
    let mut names = Vec::new();
    for module in modules {
        let name = module.path.rsplit('/').next().unwrap_or_default();
        let is_known = KNOWN.iter().any(|known| name.starts_with(known));
        if !name.is_empty() && !is_known && !is_instrumented(module) {
            names.push(name);
        }
    }
    names
}

/// Says, once, which they are; returns the text of it.
pub(super) fn announce(modules: &[Module], options: &Options) -> String {
    static SAID: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed; a flag that is only ever set.
    if SAID.swap(true, Ordering::Relaxed) {
        return String::new();
    }
    let names = names(modules, imports::is_instrumented);
    if names.is_empty() {
        return String::new();
    }
    if options.announce {
        let modules = names.iter().map(|name| (*name).into()).collect();
        journal::say(Event::Foreign { modules });
    }
    let names = names.join(", ");
    format!(
        "rsan: not instrumented, so what they order by means of their own is not seen: {names}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> Module {
        Module {
            path: path.to_owned(),
            bias: 0,
            code: Vec::new(),
            data: Vec::new(),
            views: Vec::new(),
            dynamic: 0,
            thread_local: 0,
        }
    }

    #[test]
    fn known_and_instrumented_modules_are_not_named() {
        let paths = [
            "/a.out",
            "/lib/libc.so.6",
            "/lib/libz.so.1",
            "",
            "/x/libplain.so",
        ];
        let modules = paths.map(module);
        let found = names(&modules, |module| module.path == "/a.out");
        assert_eq!(found, ["libz.so.1", "libplain.so"]);
    }
}
