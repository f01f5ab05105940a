//! Programs that are made for one rule each, where random ones would take long to meet it.

use super::{Case, parse};
use rsan_model::Model;

/// Name, model and program in the compact notation.
#[rustfmt::skip] // one program, one line
const PROGRAMS: &[(&str, Model, &str)] = &[
    ("spurious failure", Model::Rc20, "wcas.rlx.rlx r0 z 0 1; ld.rlx r1 z; beq r1 1 2; st.rel x 1; ld.acq r2 y ‖ st.rel y 1; ld.acq r0 x"),
    ("branch on an old value", Model::Rc20, "ld.rlx r0 z; st.rel x 1; beq r0 0 1; ld.acq r1 y ‖ st.rlx z 1; st.rel y 1; ld.acq r0 x"),
    ("child with an early acquire fence", Model::Rc20, "wait.rlx y 1; spawn 1 ‖ fence.acq; ld.rlx r0 x ‖ st.rlx x 1; st.rlx y 1"),
    ("child with a late release fence", Model::Rc20, "st.rlx x 1; spawn 1 ‖ st.rlx y 1; fence.rel ‖ ld.acq r0 y; ld.rlx r1 x"),
    ("child born late with a late release fence", Model::Rc20, "st.rlx x 1; st.rlx z 1; spawn 1 ‖ st.rlx y 1; fence.rel ‖ wait.acq y 1; ld.rlx r0 x"),
    ("join of one who has seen", Model::Rc20, "spawn 1; join 1; ld.rlx r0 x ‖ wait.rlx y 1 ‖ st.rlx x 1; st.rlx y 1"),
    ("atomic read, then plain write", Model::Rc20, "ld.rlx r0 x; st.rlx y 1 ‖ wait.rlx y 1; nst x 1"),
    ("atomic write, then plain read", Model::Rc20, "st.rlx x 1; st.rlx y 1 ‖ wait.rlx y 1; nld r0 x"),
    ("published plain write", Model::Rc20, "nst d 1; st.rel y 1 ‖ wait.acq y 1; nld r0 d"),
    ("plain write behind a plain read", Model::Rc20, "nst d 1; st.rel y 1 ‖ wait.acq y 1; nld r0 d; st.rlx z 1 ‖ wait.acq z 1; nld r0 d"),
    ("atomic write behind an atomic write", Model::Rc20, "fadd.rlx r0 x 1; st.rlx y 1 ‖ wait.rlx y 1; fadd.rlx r0 x 1; st.rel z 1 ‖ wait.acq z 1; nld r0 x"),
    ("two plain readers", Model::Rc20, "nst d 1; st.rel y 1 ‖ wait.acq y 1; nld r0 d ‖ wait.acq y 1; nld r0 d"),
    ("race between twins that overtake each other", Model::Rc20, "bcas.rlx l 0 1; fadd.rlx r0 w 1; bne r0 0 3; nst d 1; fadd.rlx r1 l -1; wait.rlx x 7; fadd.rlx r1 v 1; nst d 2 ‖ bcas.rlx l 0 1; fadd.rlx r0 w 1; bne r0 0 3; nst d 1; fadd.rlx r1 l -1; wait.rlx x 7; fadd.rlx r1 v 1; nst d 2"),
    ("seq_cst accesses bind no others", Model::C20, "st.sc x 1; ld.sc r0 y; st.rlx w 1 ‖ wait.rlx w 1; st.sc y 1; ld.acq r0 x"),
    ("what a seq_cst read acquires is not before itself", Model::C20, "st.sc x 1; fadd.rel r0 y 1 ‖ wait.sc y 1; st.rlx w 1 ‖ wait.rlx w 1; st.sc y 2; ld.sc r0 x"),
    ("what a seq_cst read acquires is before the next", Model::C20, "st.sc x 1; st.rel z 1 ‖ ld.sc r0 z; ld.sc r1 y ‖ st.sc y 1; ld.sc r0 x"),
    ("what a seq_cst RMW acquires is before the next", Model::C20, "st.sc x 1; st.rel z 1 ‖ fadd.sc r0 z 0; ld.sc r1 y ‖ st.sc y 1; ld.sc r0 x"),
    ("seq_cst reads are not before each other", Model::C20, "st.sc x 1; ld.sc r0 y; st.rlx w 1 ‖ wait.rlx w 1; ld.sc r0 y; ld.sc r1 x; st.rlx y 1"),
    ("weak compare-and-swap that fails", Model::Rc20, "xchg.ar r2 x 1; wcas.ar.acq r3 y 0 0 ‖ wcas.rel.rlx r0 y 0 0; bcas.rlx x 0 0"),
    ("failure order", Model::C20, "fadd.sc r1 z 0; st.sc y 2 ‖ st.sc y 1; scas.rlx.sc r1 z 1 2"),
    ("success order", Model::C20, "st.rlx y 2; fence.sc; st.rel x 1 ‖ st.sc y 1; st.sc x 0; scas.sc.rlx r2 y 1 2"),
    ("seq_cst load of one's own", Model::C20, "ld.sc r0 y; ld.sc r1 x; st.rlx x 1 ‖ ld.sc r1 x; for.sc r3 y 1 ‖ st.sc y 1"),
    ("a stale load orders later writes", Model::Rc20, "st.rlx z 1; st.rlx w 1 ‖ wait.rlx w 1; st.rlx a 1; ld.rlx r0 z ‖ st.rlx z 2; ld.rlx r0 a; st.rlx v r0"),
    ("threads that store different values", Model::Rc20, "fadd.rlx r0 k 1; beq r0 0 1; wait.rlx w 7; st.rlx x 1 ‖ fadd.rlx r0 k 1; beq r0 0 1; wait.rlx w 7; st.rlx x 2 ‖ wait.rlx x 1; st.rel y 1; ld.acq r0 z ‖ st.rel z 1; ld.acq r0 y"),
    ("stale value overwritten", Model::Rc20, "st.rel x 1; ld.acq r0 y; ld.acq r0 z; st.rlx w r0 ‖ st.rel y 1; ld.acq r0 x"),
];

/// The hand-made programs.
pub(super) fn cases() -> impl Iterator<Item = Case> {
    PROGRAMS.iter().map(|&(name, model, text)| Case {
        name: format!("hand-made {name}"),
        model,
        program: parse(name, text),
    })
}
