//! The memory models that rsan knows, by name.

use std::fmt;
use std::str::FromStr;

/// A memory model. What each one allows is defined by `rsan-axioms`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// x86-TSO; orders are ignored but for the usual mapping of seq_cst stores, RMWs and fences.
    Tso,
    /// Release/acquire: RC20 with every access at least release/acquire (Rocker, PLDI 2019).
    Ra,
    /// RC20 (Rocker, POPL 2021; RSAN, PLDI 2025): SC fences through a reserved location, no seq_cst accesses.
    Rc20,
    /// C++20: RC20's base axioms with seq_cst accesses and fences per \[atomics.order\]p4.
    C20,
    /// RC11 (Lahav et al., PLDI 2017), seq_cst accesses included.
    Rc11,
}

impl Model {
    /// All models, in the order in which they are documented.
    pub const ALL: [Self; 6] = [
        Self::Sc,
        Self::Tso,
        Self::Ra,
        Self::Rc20,
        Self::C20,
        Self::Rc11,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Ra => "ra",
            Self::Rc20 => "rc20",
            Self::C20 => "c20",
            Self::Rc11 => "rc11",
        }
    }

    /// Whether the model gives seq_cst *accesses* a meaning of their own.
    pub fn has_sc_accesses(self) -> bool {
        match self {
            Self::Ra | Self::Rc20 => false,
            Self::Sc | Self::Tso | Self::C20 | Self::Rc11 => true,
        }
    }

    /// Whether a data race leaves a program without a meaning: in the models of C and C++ it does, in those of
    /// interleaving and of the x86 a racy access is an access like any other.
    pub fn has_undefined_behaviour(self) -> bool {
        match self {
            Self::Sc | Self::Tso => false,
            Self::Ra | Self::Rc20 | Self::C20 | Self::Rc11 => true,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|m| m.name() == text)
            .ok_or_else(|| format!("unknown model `{text}` (known: sc, tso, ra, rc20, c20, rc11)"))
    }
}
