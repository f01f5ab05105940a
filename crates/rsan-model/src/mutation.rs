//! Rules that tests break on purpose, to see that the tests would notice; see [`mutants`](crate::mutants).

/// Defines `Mutant`, the rules that can be broken, and `Mutation`, which of them is.
///
/// At the line that implements a rule, the code asks `mutation.breaks(Mutant::…)`. In normal builds a `Mutation` has no
/// size and the answer is a constant `false`, so nothing is left of the question. In the tests of the crate that uses
/// the macro, `Mutation::new` breaks one rule, and `Mutant::ALL` has them all.
///
/// `switches { … }` before the rules adds fields that a test can set, each with a question of the same name.
///
/// ```
/// mod mutation {
///     rsan_model::mutants! {
///         switches {
///             /// Look at every order of steps.
///             every_order,
///         }
///         /// Two and two are five.
///         Arithmetic,
///     }
/// }
/// use mutation::{Mutant, Mutation};
///
/// let mutation = Mutation::default();
/// assert!(!mutation.breaks(Mutant::Arithmetic) && !mutation.every_order());
/// ```
#[macro_export]
macro_rules! mutants {
    (
        switches { $($(#[$switch_doc:meta])* $switch:ident,)+ }
        $($rules:tt)+
    ) => {
        $crate::mutants!(@define [$($([$switch_doc])* $switch)+] $($rules)+);
    };
    (@define
        [$($([$switch_doc:meta])* $switch:ident)*]
        $($(#[$doc:meta])* $name:ident,)+
    ) => {
        /// A broken rule.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Mutant {
            $($(#[$doc])* $name,)+
        }

        #[cfg(test)]
        impl Mutant {
            /// Every one of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];
        }

        /// The rule that is broken, if any; nothing at all in normal builds.
        #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
        pub(crate) struct Mutation {
            #[cfg(test)]
            pub(crate) broken: Option<Mutant>,
            $($(#[$switch_doc])* #[cfg(test)] pub(crate) $switch: bool,)*
        }

        #[cfg(test)]
        impl Mutation {
            /// Breaks one rule.
            pub(crate) fn new(mutant: Mutant) -> Self {
                let mut mutation = Self::default();
                mutation.broken = Some(mutant);
                mutation
            }

            /// Whether this rule is broken.
            pub(crate) fn breaks(self, mutant: Mutant) -> bool {
                self.broken == Some(mutant)
            }

            $($(#[$switch_doc])* pub(crate) const fn $switch(self) -> bool {
                self.$switch
            })*
        }

        #[cfg(not(test))]
        impl Mutation {
            /// Whether this rule is broken.
            #[inline(always)]
            pub(crate) const fn breaks(self, _: Mutant) -> bool {
                false
            }

            $($(#[$switch_doc])* #[inline(always)] pub(crate) const fn $switch(self) -> bool {
                false
            })*
        }
    };
    ($($rules:tt)+) => {
        $crate::mutants!(@define [] $($rules)+);
    };
}
