//! Where `entries/plain.s`, which `rsan cc` links with programs, finds out that a plain access is known.
//!
//! Names with a number change when the assembly would have to: a program that was linked by another version does not
//! start then.

use super::Table;
use crate::tls;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Where a known access is found out.
#[derive(Debug)]
#[repr(C)]
pub struct Plain {
    /// The table; null before the start, and in copies of the process that do not have the shadow.
    table: AtomicPtr<Table>,
    /// Where the thread's stamp is ([`tls::set_stamp`]), from the thread's pointer on.
    stamp: AtomicUsize,
}

/// The one.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static __rsan_plain_1: Plain = Plain {
    table: AtomicPtr::new(std::ptr::null_mut()),
    stamp: AtomicUsize::new(0),
};

/// The table is there.
pub(crate) fn start(table: *mut Table) {
    // ORDERING: relaxed; the next store is a release.
    __rsan_plain_1
        .stamp
        .store(tls::stamp_offset(), Ordering::Relaxed);
    // ORDERING: release; the assembly loads the table first.
    __rsan_plain_1.table.store(table, Ordering::Release);
}

/// This process does not have what the table points to.
pub(crate) fn stop() {
    let none = std::ptr::null_mut();
    // ORDERING: relaxed; there is one thread.
    __rsan_plain_1.table.store(none, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow;

    const TEXT: &str = include_str!("../../entries/plain.s");

    fn number(name: &str) -> usize {
        let line = TEXT.lines().find_map(|line| {
            let (key, value) = line.strip_prefix(".equ ")?.split_once(", ")?;
            (key == name).then_some(value)
        });
        let line = line.unwrap_or_else(|| panic!("{name} has a line"));
        match line.strip_prefix("0x") {
            Some(digits) => usize::from_str_radix(digits, 16).expect("a number"),
            None => line.parse().expect("a number"),
        }
    }

    #[test]
    fn the_assembly_knows_the_shadow() {
        assert_eq!(number("CHUNK_BITS"), shadow::CHUNK_BITS);
        assert_eq!(number("CHUNKS"), shadow::CHUNKS);
        assert_eq!(number("GRANULE_IN_CHUNK"), shadow::GRANULE_IN_CHUNK);
        assert_eq!(number("CELLS_IN_CHUNK"), shadow::CELLS_IN_CHUNK);
        assert_eq!(std::mem::offset_of!(Plain, table), 0);
        assert_eq!(std::mem::offset_of!(Plain, stamp), 8);
    }
}
