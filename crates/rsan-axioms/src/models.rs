//! The models, one module each, behind one interface.

pub(crate) mod c20;
mod ra;
mod rc11;
mod rc20;
mod sc;
mod tso;

use crate::Axiom;
use rsan_model::{Graph, Model, Relation};

/// What the rest of the crate needs to know about a model.
pub(crate) struct Rules {
    /// Its axioms.
    pub(crate) consistent: fn(&Graph) -> Result<(), Axiom>,
    /// Its happens-before.
    pub(crate) happens_before: fn(&Graph) -> Relation,
    /// The relation whose cycles make a graph non-SC.
    pub(crate) sc_order: fn(&Graph) -> Relation,
    /// Whether the order of the SC fences is part of a graph: they then update a reserved location, in the
    /// order of their ids.
    pub(crate) fences_are_ordered: bool,
    /// Whether a compare-and-swap that fails is still a locked instruction.
    pub(crate) failed_cas_is_locked: bool,
}

impl Rules {
    /// The rules of a model.
    pub(crate) fn of(model: Model) -> &'static Self {
        match model {
            Model::Sc => &sc::RULES,
            Model::Tso => &tso::RULES,
            Model::Ra => &ra::RULES,
            Model::Rc20 => &rc20::RULES,
            Model::C20 => &c20::RULES,
            Model::Rc11 => &rc11::RULES,
        }
    }
}
