//! Whether the program calls our functions before libc's.
//!
//! The loader gives a call the first function of its name. A library that was linked with the runtime, and is loaded into a
//! program that was not, comes after libc: nothing is seen of threads and locks then. An allocator that is preloaded
//! comes before the runtime: memory that it hands out again looks as if it were still in use.

use crate::symbols::{self, Definer};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Functions whose first definition must be ours, and what is not seen otherwise.
const FUNCTIONS: [(&CStr, &str); 2] = [
    (c"pthread_create", "threads and locks are"),
    (c"malloc", "memory that is allocated is"),
];

/// What to say about a function, if anything.
fn complaint(name: &CStr, unseen: &str, definer: Option<Definer>, own: &str) -> Option<String> {
    let Some(Definer::Library(library)) = definer else {
        return None;
    };
    let name = name.to_string_lossy();
    Some(format!(
        "rsan: {name} of {library} comes before rsan's, so {unseen} not seen, and findings may be wrong; \
         use `rsan run`, or LD_PRELOAD={own}\n"
    ))
}

/// Says, once, what comes before the runtime. The loader calls: its list of modules does not change.
pub(super) fn check() {
    static DONE: AtomicBool = AtomicBool::new(false);
    // ORDERING: relaxed; the loader calls from one thread at a time.
    if cfg!(test) || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let own = symbols::own_file();
    let complaints = FUNCTIONS.iter().find_map(|(name, unseen)| {
        let definer = symbols::first(name).map(|(_, definer)| definer);
        complaint(name, unseen, definer, &own)
    });
    if let Some(text) = complaints {
        crate::output::write_to(2, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_library_that_comes_first_is_complained_about() {
        let complain = |definer| complaint(c"malloc", "memory is", definer, "/lib/own.so");
        assert_eq!(complain(None), None);
        assert_eq!(complain(Some(Definer::Runtime)), None);
        assert_eq!(complain(Some(Definer::Program)), None);
        let text = complain(Some(Definer::Library("/lib/other.so".to_owned())));
        let text = text.expect("a library comes first");
        assert!(
            text.contains("malloc of /lib/other.so") && text.contains("LD_PRELOAD=/lib/own.so")
        );
    }
}
