//! What `entries/plain.s` calls, which `rsan cc` links with programs, if it does not find a plain access known
//! ([`crate::shadow`]).

use crate::entry::entries_as_they_are;
use crate::race;

entries_as_they_are! {
    __rsan_plain_read1 => race::unknown::<1, false>;
    __rsan_plain_read2 => race::unknown::<2, false>;
    __rsan_plain_read4 => race::unknown::<4, false>;
    __rsan_plain_read8 => race::unknown::<8, false>;
    __rsan_plain_write1 => race::unknown::<1, true>;
    __rsan_plain_write2 => race::unknown::<2, true>;
    __rsan_plain_write4 => race::unknown::<4, true>;
    __rsan_plain_write8 => race::unknown::<8, true>;
}
