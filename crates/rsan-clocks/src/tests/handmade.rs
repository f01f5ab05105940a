//! Programs and sequences made by hand for rules that random tests hardly reach.

use super::explore::compare_everywhere;
use super::forms::{Demand, Variant, queries};
use super::machine::{Event, Machine};
use super::program::{Op, Program};
use crate::write_log::Options;
use rsan_model::{Model, ThreadId};

/// Which broken rules they are for (the numbers of `mutation.rs`), and the program.
pub(super) const PROGRAMS: &[(&str, &str)] = &[
    (
        "1: what happens before an SC fence binds",
        "st.rlx x; fence.sc; ld.rlx y || st.rlx y; fence.sc; ld.rlx x",
    ),
    (
        "2: a seq_cst access does not carry a relaxed write before it",
        "st.rlx x; ld.sc y || st.rlx y; fence.sc; ld.rlx x",
    ),
    (
        "34: a seq_cst read of a relaxed write, known by a later seq_cst access",
        "st.rlx x; st.sc y || ld.sc y; ld.sc x; ld.sc z || st.sc z; ld.sc x",
    ),
    (
        "21: what a seq_cst read acquires is not before itself",
        "st.sc x; st.rel y || ld.sc y || st.sc y 2; ld.sc x",
    ),
    (
        "22: what a relaxed read leaves for an acquire fence",
        "st.sc x; st.rel y || ld.rlx y; fence.acq; ld.sc z || st.sc z; ld.sc x",
    ),
    (
        "26: news from the last write is published",
        "st.sc z; st.sc y || ld.rlx y; ld.sc x; ld.sc y; ld.sc x || st.sc x; ld.sc z",
    ),
    (
        "54, 60: the message of a saturated write",
        "st.sc z; st.sc x || ld.acq x; ld.sc y || st.sc y; ld.sc z",
    ),
    (
        "36: messages carry what is eco-before",
        "st.sc y; st.sc x || ld.rlx x; st.rel z || ld.acq z; fence.sc; ld.rlx y",
    ),
    (
        "41: fork passes on what binds seq_cst accesses",
        "st.sc x; st.rlx w; fork 1 || ld.sc y || st.sc y; ld.sc x",
    ),
    (
        "42: fork passes on what binds all accesses",
        "st.rlx x; fence.sc; fork 1 || ld.rlx y || st.rlx y; fence.sc; ld.rlx x",
    ),
    (
        "43: fork passes on what is eco-before",
        "ld.rlx x; fork 1 || fence.sc; ld.rlx y || st.sc y; st.sc x",
    ),
    (
        "45: join takes what is eco-before",
        "fork 1; join 1; fence.sc; ld.rlx y || ld.rlx x || st.sc y; st.sc x",
    ),
    (
        "52: an SC fence of a saturated thread",
        "st.sc y; fence.sc; ld.rlx x || st.sc x; ld.sc y",
    ),
    (
        "53: a release fence of a saturated thread",
        "st.sc z; fence.rel; st.rlx x || ld.acq x; ld.sc y || st.sc y; ld.sc z",
    ),
    (
        "16: the release view of an SC fence",
        "st.sc w; ld.sc y || st.sc y || ld.rlx y; fence.sc; st.rlx z || ld.acq z; ld.sc w",
    ),
    (
        "15: an SC fence bumps",
        "ld.rlx y; st.rel x; fence.sc; st.rlx z || ld.acq x; ld.acq z; ld.rlx w || st.rlx w; st.rel y",
    ),
    (
        "64: a seq_cst read between two writes of its thread",
        "st.sc y; st.rlx x; ld.sc x; st.rlx x 2 || ld.sc x; ld.sc y",
    ),
    (
        "66: a seq_cst write that learns, and another",
        "st.sc z; st.sc x || st.sc x 2; st.sc x 3 || ld.acq x; ld.sc z",
    ),
    (
        "67: an RMW that does not acquire, and one that does",
        "st.rlx z; st.rel x || fadd.rlx x; fadd.acq x; ld.rlx z",
    ),
    (
        "69: a seq_cst write that learns, and a release write",
        "st.sc z; st.sc x || st.rlx w; st.sc x 2; st.rel x 3 || ld.acq x; ld.sc z",
    ),
    (
        "73: a write between two SC fences learns what is eco-before",
        "fence.sc; st.rlx x 2; fence.sc; ld.rlx y || st.sc y; st.sc x",
    ),
    (
        "74: a read between two SC fences learns nothing but its message",
        "st.rlx y; st.rel x; st.rlx w || ld.rlx w; fence.sc; ld.rlx x; fence.sc; ld.rlx y",
    ),
    (
        "75: a repeated write after a repeated fence",
        "fence.sc; st.rlx x; st.rlx z; fence.sc; st.rlx x 2 || st.rlx x 3; fence.sc; ld.rlx z",
    ),
    (
        "84: a repeated write of a thread with a fence, and a seq_cst access since that",
        "fence.sc; st.sc y; st.sc x; st.rlx x 2; st.rlx x 3 || st.sc x 4; ld.sc y",
    ),
    (
        "76: a release write after a repeated fence, and another before it",
        "fence.sc; st.rel x; st.rlx w; fence.sc; st.rel x 2 || ld.acq x; st.rlx v || st.rlx v 2; fence.sc; ld.rlx w",
    ),
    (
        "77: a repeated fence after a release write",
        "fence.sc; st.rlx w; st.rel x; fence.sc; st.rlx y || ld.acq x; ld.acq y; st.rlx v || st.rlx v 2; fence.sc; ld.rlx w",
    ),
    (
        "78: a repeated fence between two seq_cst reads",
        "fence.sc; st.rlx w; ld.sc x; fence.sc; ld.sc x || st.rlx x; fence.sc; ld.rlx w",
    ),
    (
        "85: a write after a read that its last writer made after a repeated fence",
        "fence.sc; st.rlx x; st.rlx w; fence.sc; ld.rlx x || st.rlx x 2; fence.sc; ld.rlx w",
    ),
    (
        "86: a read after a read that the last writer made after a repeated fence",
        "fence.sc; st.rlx x; st.rlx w; st.rlx v; fence.sc; ld.rlx x || ld.rlx x; ld.rlx v; fence.sc; ld.rlx w",
    ),
    (
        "87: a relaxed write after a release write of a thread that acquired something since its fence",
        "fence.sc; ld.acq y; st.rel x; st.rlx x 2 || st.rlx w; st.rel y || ld.acq x; ld.rlx w",
    ),
    (
        "76: a relaxed write after a repeated fence, and another before it",
        "fence.sc; st.rlx x; st.rlx w; fence.sc; st.rlx x 2 || ld.acq x; st.rlx v || st.rlx v 2; fence.sc; ld.rlx w",
    ),
];

/// Steps of threads in a fixed order, after all threads have lost saturation.
pub(super) const SEQUENCES: &[(&str, &[(u32, &str)])] = &[
    (
        "40: a slot whose seq_cst accesses do not bind the parent",
        &[
            (1, "st.sc x"),
            (0, "ld.acq x"),
            (1, "exit"),
            (0, "fork 3"),
            (3, "ld.sc y"),
            (2, "st.sc y"),
            (2, "ld.sc x"),
        ],
    ),
    (
        "47: ownership does not outlive the thread",
        &[
            (2, "st.sc w"),
            (2, "ld.sc x"),
            (2, "st.rlx v"),
            (1, "st.sc x"),
            (1, "exit"),
            (0, "fork 3"),
            (3, "st.sc x"),
            (3, "ld.rlx v"),
            (3, "ld.sc w"),
        ],
    ),
    (
        "44: a forced reuse starts a generation",
        &[
            (1, "st.rlx x"),
            (1, "exit"),
            (0, "fork 3"),
            (3, "st.rel y"),
            (2, "ld.rlx y"),
            (2, "ld.rlx x"),
        ],
    ),
    (
        "82: what another thread of the slot has read is not read again",
        &[
            (0, "fork 4"),
            (2, "st.rlx y"),
            (2, "fence.sc"),
            (2, "ld.rlx x"),
            (0, "st.rlx x"),
            (0, "st.rlx z"),
            (1, "ld.rlx x"),
            (1, "exit"),
            (4, "fork 3"),
            (3, "ld.rlx z"),
            (3, "ld.rlx x"),
            (3, "fence.sc"),
            (3, "ld.rlx y"),
        ],
    ),
];

/// Runs a sequence with threads 0, 1 and 2, and compares everything after each step.
pub(super) fn run_sequence(
    steps: &[(u32, &str)],
    reference: Variant,
    subjects: &[(Demand, Variant)],
) -> Result<(), String> {
    let mut machine = Machine::new(10, reference, subjects);
    let queries = queries();
    let mut live: Vec<_> = (0..3).map(ThreadId).collect();
    for &thread in &live {
        machine.tell(Event::Start(thread))?;
    }
    let unsaturate = (0..3).map(|thread| (thread, "ld.rlx a"));
    for (thread, text) in unsaturate.chain(steps.iter().copied()) {
        let thread = ThreadId(thread);
        let event = if text == "exit" {
            live.retain(|&other| other != thread);
            Event::Exit(thread)
        } else {
            match Program::parse(text).threads[0][0] {
                Op::Access {
                    loc,
                    access,
                    operand,
                    ..
                } => {
                    let (effect, _) = machine.outcomes(loc, &access, operand)[0];
                    Event::Access(thread, loc, effect)
                }
                Op::Spawn(child) => {
                    live.push(child);
                    Event::Spawn(thread, child)
                }
                Op::Fence(ord) => Event::Fence(thread, ord),
                op => panic!("{op:?} in a sequence"),
            }
        };
        machine.tell(event)?;
        machine.compare(&live, &queries)?;
    }
    Ok(())
}

/// The settings under which sequences are run: exact, and with three slots at most.
pub(super) fn sequence_variants() -> [(Demand, Variant); 2] {
    let forced = Options {
        slots: Some(3),
        ..Options::default()
    };
    [
        (Demand::Equal, Variant::log(Model::C20, Options::default())),
        (Demand::NoFalseAlarm, Variant::log(Model::C20, forced)),
    ]
}

#[test]
fn forms_agree_on_handmade_programs() {
    for model in [Model::C20, Model::Rc20] {
        let mut forms = Variant::exact_logs(model);
        forms.push(Variant::declared(model));
        let subjects: Vec<_> = forms.iter().map(|&form| (Demand::Equal, form)).collect();
        for (name, text) in PROGRAMS {
            let program = Program::parse(text);
            compare_everywhere(&program, Variant::clocks(model), &subjects)
                .unwrap_or_else(|difference| panic!("{name}: {difference}"));
        }
    }
}

#[test]
fn forms_agree_on_handmade_sequences() {
    for (name, steps) in SEQUENCES {
        run_sequence(steps, Variant::clocks(Model::C20), &sequence_variants())
            .unwrap_or_else(|difference| panic!("{name}: {difference}"));
    }
}
