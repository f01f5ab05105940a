//! Functions of libc as rows of a table: what they read and use, and, when they have returned, what they have written.
//!
//! ```text
//! fn name(arguments) -> result [before] result [after];
//! ```
//!
//! `before` and `after` are methods of [`Call`](super::call::Call); what comes after may use the result by its name. The
//! function itself is the next one of the same name. A row that begins with `outside` may wait for something that is not
//! in the program.

/// Rows, and their exported names.
macro_rules! functions {
    ($($(#$outside:ident)? fn $name:ident ($($arg:ident: $type:ty),*) $(-> $ret:ty)?
        [$($before:ident($($given:expr),*)),*] $result:ident [$($after:ident($($got:expr),*)),*];)+) => {
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::let_unit_value, clippy::unused_unit)]
        mod functions {
            use super::*;

            /// Where they are.
            #[allow(non_upper_case_globals)]
            mod reals {
                $(pub(super) static $name: $crate::real::Real =
                    $crate::intercept::table::functions!(@real $name);)+
            }

            pub(super) static ALL: &[&$crate::real::Real] = &[$(&reals::$name),+];

            $(pub(super) unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
                type Function = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
                let call = Call::of($crate::real::c_name!($name));
                // SAFETY: the program's call, and what it passes.
                unsafe {
                    $(call.$before($($given),*);)*
                    let function = std::mem::transmute::<usize, Function>(reals::$name.address());
                    let $result = $crate::intercept::table::functions!(@call $($outside)? function($($arg),*));
                    call.resume();
                    $(call.$after($($got),*);)*
                    $result
                }
            })+
        }
        $crate::entry::interceptors! { $($name => functions::$name;)+ }

        /// Where the functions of this table are.
        pub(crate) static ALL: &[&$crate::real::Real] = functions::ALL;
    };
    (@real $name:ident) => { $crate::real::Real::new($crate::real::c_name!($name)) };
    (@call $function:ident($($arg:ident),*)) => { $function($($arg),*) };
    (@call outside $function:ident($($arg:ident),*)) => {
        $crate::sched::outside(|| $function($($arg),*))
    };
}

pub(super) use functions;
