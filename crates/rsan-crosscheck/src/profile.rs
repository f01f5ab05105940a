//! Kinds of random programs.

use rsan_model::Model;
use std::str::FromStr;

/// What random programs are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// All operations and orders, 2 or 3 threads.
    Mix,
    /// Longer threads.
    Big,
    /// Mostly waits, blocking and other compare-and-swaps, on few locations.
    Values,
    /// Many SC fences.
    Fences,
    /// Many seq_cst accesses (C20 only).
    SeqCst,
    /// seq_cst accesses only, but for a few (C20 only).
    Saturated,
    /// Plain accesses between atomics.
    Plain,
    /// A thread that creates and joins others.
    Spawning,
    /// Four threads.
    Wide,
    /// Threads with equal code.
    Twins,
    /// The litmus tests of [`crate::tables`] with one to three random changes.
    Litmus,
    /// Waits for words that are written the same values again and again, for programs in C.
    Spinning,
    /// Loops around compare-and-swaps, and loops that read several words, for programs in C.
    Retrying,
    /// Plain accesses behind waits, flags and locks, for programs in C.
    Guarded,
    /// Litmus tests with random changes, in which some loads become loops, for programs in C.
    Looped,
    /// Many threads that read a plain word before one writes it, for programs in C.
    Readers,
}

impl Profile {
    /// The profiles that make sense for a model.
    pub fn of(model: Model) -> &'static [Self] {
        const WITHOUT: &[Profile] = &[
            Profile::Mix,
            Profile::Big,
            Profile::Values,
            Profile::Fences,
            Profile::Plain,
            Profile::Spawning,
            Profile::Wide,
            Profile::Twins,
            Profile::Litmus,
        ];
        const WITH: &[Profile] = &[
            Profile::Mix,
            Profile::Big,
            Profile::Values,
            Profile::Fences,
            Profile::SeqCst,
            Profile::Saturated,
            Profile::Plain,
            Profile::Spawning,
            Profile::Wide,
            Profile::Twins,
            Profile::Litmus,
        ];
        if model.has_sc_accesses() {
            WITH
        } else {
            WITHOUT
        }
    }

    /// The profiles of programs that are written in C, as often as they are drawn, with loops where the model has blocking operations.
    pub const LOOPS: [Self; 12] = [
        Self::Looped,
        Self::Spinning,
        Self::Looped,
        Self::Retrying,
        Self::Looped,
        Self::Guarded,
        Self::Looped,
        Self::Readers,
        Self::Values,
        Self::Plain,
        Self::Wide,
        Self::Litmus,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mix => "mix",
            Self::Big => "big",
            Self::Values => "values",
            Self::Fences => "fences",
            Self::SeqCst => "seq-cst",
            Self::Saturated => "saturated",
            Self::Plain => "plain",
            Self::Spawning => "spawning",
            Self::Wide => "wide",
            Self::Twins => "twins",
            Self::Litmus => "litmus",
            Self::Spinning => "spinning",
            Self::Retrying => "retrying",
            Self::Guarded => "guarded",
            Self::Looped => "looped",
            Self::Readers => "readers",
        }
    }

    /// All profiles.
    pub fn all() -> &'static [Self] {
        Self::of(Model::C20)
    }

    /// Fewest and most threads, most instructions of a thread, and of all.
    pub(crate) fn size(self) -> (usize, usize, usize, usize) {
        match self {
            Self::Big => (2, 3, 5, 11),
            Self::Wide => (4, 4, 3, 8),
            Self::Twins => (3, 4, 3, 9),
            Self::Spinning => (2, 4, 4, 9),
            Self::Retrying => (2, 3, 5, 9),
            Self::Guarded => (2, 3, 5, 10),
            _ => (2, 3, 4, 9),
        }
    }

    /// Weights of: load, store, RMW, weak CAS, strong CAS, wait, BCAS, fence, branch, plain, assert.
    pub(crate) fn weights(self) -> [usize; 11] {
        match self {
            Self::Values => [14, 22, 10, 8, 16, 14, 12, 4, 2, 0, 1],
            Self::Fences => [26, 26, 8, 1, 2, 2, 2, 32, 2, 0, 1],
            Self::SeqCst => [32, 32, 10, 3, 5, 4, 3, 8, 2, 0, 1],
            Self::Saturated => [34, 34, 12, 3, 5, 3, 3, 4, 2, 0, 0],
            Self::Plain => [18, 18, 8, 2, 3, 4, 4, 10, 4, 30, 1],
            Self::Twins => [24, 24, 8, 2, 3, 4, 4, 10, 4, 16, 1],
            Self::Spinning => [18, 32, 5, 0, 5, 24, 6, 6, 4, 0, 0],
            Self::Retrying => [20, 30, 8, 0, 16, 6, 10, 6, 4, 0, 0],
            Self::Guarded => [12, 22, 4, 0, 4, 14, 8, 6, 8, 28, 0],
            _ => [28, 28, 12, 3, 6, 6, 5, 9, 3, 0, 1],
        }
    }

    /// Percentage of accesses that are seq_cst.
    pub(crate) fn sc(self, model: Model) -> usize {
        match self {
            _ if !model.has_sc_accesses() => 0,
            Self::SeqCst => 55,
            Self::Saturated => 93,
            Self::Fences => 10,
            _ => 22,
        }
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        named(Self::all(), text)
    }
}

impl Profile {
    /// One of [`Profile::LOOPS`], by its name.
    ///
    /// # Errors
    /// When there is none.
    pub fn looping(text: &str) -> Result<Self, String> {
        named(&Self::LOOPS, text)
    }
}

fn named(all: &[Profile], text: &str) -> Result<Profile, String> {
    let found = all.iter().copied().find(|p| p.name() == text);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|p| p.name()).collect();
        format!("unknown profile `{text}` (known: {})", known.join(", "))
    })
}
