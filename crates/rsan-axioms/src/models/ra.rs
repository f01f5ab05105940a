//! RA: RC20 with every access at least release/acquire (Rocker, PLDI 2019).

use super::{Rules, rc20};
use crate::Axiom;
use rsan_model::{Graph, Label, ReadOrd, Relation, RmwOrd, WriteOrd};
use std::borrow::Cow;

pub(super) const RULES: Rules = Rules {
    consistent,
    happens_before,
    sc_order: rc20::sc_order,
    fences_are_ordered: true,
    failed_cas_is_locked: false,
};

fn consistent(graph: &Graph) -> Result<(), Axiom> {
    rc20::consistent(&raised(graph))
}

fn happens_before(graph: &Graph) -> Relation {
    rc20::happens_before(&raised(graph))
}

/// The graph with release/acquire on every atomic access, as `Program::for_model` does for programs.
fn raised(graph: &Graph) -> Cow<'_, Graph> {
    let mut raised = Cow::Borrowed(graph);
    for e in graph.ids() {
        let old = graph.label(e);
        let new = match old {
            Label::Read { loc, value, ord } => Label::Read {
                loc,
                value,
                ord: ord.max(ReadOrd::Acquire),
            },
            Label::Write { loc, value, ord } => Label::Write {
                loc,
                value,
                ord: ord.max(WriteOrd::Release),
            },
            Label::Rmw {
                loc,
                read,
                written,
                ord,
            } => Label::Rmw {
                loc,
                read,
                written,
                ord: if ord.is_sc() { ord } else { RmwOrd::AcqRel },
            },
            other => other,
        };
        if new != old {
            raised.to_mut().set_label(e, new);
        }
    }
    raised
}
