//! Objects that are not memory: a library says "this is a read of that object", and two that are not ordered race.

use crate::entry::entries;
use crate::race;
use std::ffi::c_char;

/// Tags only name kinds of objects in TSan's reports; ours do without, so any value but null will do.
const TAG: usize = 1;

extern "C" fn register_tag(_: *const c_char) -> usize {
    TAG
}

extern "C" fn register_header(_: usize, _: *const c_char) {}

extern "C" fn assign_tag(_: usize, _: usize) {}

extern "C" fn read(object: usize, pc: usize, _: usize) {
    race::plain::<1, false>(object, pc);
}

extern "C" fn write(object: usize, pc: usize, _: usize) {
    race::plain::<1, true>(object, pc);
}

entries! {
    __tsan_external_register_tag => register_tag;
    __tsan_external_register_header => register_header;
    __tsan_external_assign_tag => assign_tag;
    __tsan_external_read => read;
    __tsan_external_write => write;
}
