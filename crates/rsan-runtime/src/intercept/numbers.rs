//! Texts that are numbers: what is read is the number and the byte behind it.

use super::call::{Call, Room, Text};
use crate::entry::interceptors;
use crate::real::{Real, c_name};
use libc::{c_int, c_long};

/// Functions with a place for the end of the number; the program's may be null.
macro_rules! numbers {
    ($($name:ident($($base:ident)?) -> $ret:ty;)+) => {
        #[allow(non_snake_case, non_upper_case_globals)]
        mod functions {
            use super::*;

            $(static $name: Real = Real::new(c_name!($name));)+

            pub(super) static ALL: &[&Real] = &[$(&$name),+];

            pub(super) mod entries {
                use super::*;

                $(pub(crate) unsafe extern "C-unwind" fn $name(text: Text, end: *mut Room $(, $base: c_int)?) -> $ret {
                    type Function = unsafe extern "C-unwind" fn(Text, *mut Room $(, numbers!(@int $base))?) -> $ret;
                    let call = Call::of(c_name!($name));
                    let mut behind = text.cast_mut();
                    // SAFETY: the program's call.
                    unsafe {
                        let function = std::mem::transmute::<usize, Function>(super::$name.address());
                        let number = function(text, &raw mut behind $(, $base)?);
                        call.resume();
                        call.reads(text, behind as usize - text as usize + 1);
                        if !end.is_null() {
                            call.writes_one(end, true);
                            end.write(behind);
                        }
                        number
                    }
                })+
            }
        }
        interceptors! { $($name => functions::entries::$name;)+ }
    };
    (@int $base:ident) => { c_int };
}

numbers! {
    strtol(base) -> c_long;
    strtoll(base) -> c_long;
    strtoul(base) -> c_long;
    strtoull(base) -> c_long;
    strtoimax(base) -> c_long;
    strtoumax(base) -> c_long;
    __isoc23_strtol(base) -> c_long;
    __isoc23_strtoll(base) -> c_long;
    __isoc23_strtoul(base) -> c_long;
    __isoc23_strtoull(base) -> c_long;
    strtod() -> f64;
    strtof() -> f32;
}

unsafe extern "C-unwind" fn int(text: Text) -> c_int {
    // SAFETY: the program's call; this is what the C standard says.
    unsafe { functions::entries::strtol(text, std::ptr::null_mut(), 10) as c_int }
}

unsafe extern "C-unwind" fn long(text: Text) -> c_long {
    // SAFETY: as above.
    unsafe { functions::entries::strtol(text, std::ptr::null_mut(), 10) }
}

unsafe extern "C-unwind" fn double(text: Text) -> f64 {
    // SAFETY: as above.
    unsafe { functions::entries::strtod(text, std::ptr::null_mut()) }
}

interceptors! {
    atoi => int;
    atol => long;
    atoll => long;
    atof => double;
}

/// Where the functions are.
pub(crate) static ALL: &[&Real] = functions::ALL;
