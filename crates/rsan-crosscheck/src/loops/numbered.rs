//! A word under a sequence number: two words that a loop reads, of which stale values may fit together.

use super::generate::{Body, settled};
use super::{Form, Looping, patterns};
use crate::generate::{Generator, initial_thread};
use crate::{Profile, Random};
use rsan_model::{Expr, FenceOrd, Instr, LocId, Model, Place, RegId, WriteOrd};

/// A writer that changes the word between two numbers and says so, and a reader that has perhaps heard of it.
pub(super) fn numbered(random: &mut Random) -> Looping {
    let mut generator = Generator {
        atomics: 3,
        plain: 0,
        random,
        profile: Profile::Retrying,
        model: Model::C20,
    };
    let mut program = generator.declarations();
    let [number, word, said] = [0, 1, 2].map(LocId::new);
    let mut writer = Body::default();
    for (loc, value) in [(number, 1), (word, 1), (number, 2), (said, 1)] {
        if generator.random.chance(12) {
            writer.push(Instr::Fence(FenceOrd::Release), Form::Short);
        }
        // Strong ones forbid it all.
        let ord = match generator.random.chance(35) {
            true => WriteOrd::Release,
            false => WriteOrd::Relaxed,
        };
        let (place, value) = (Place::Loc(loc), Expr::Const(value));
        writer.push(Instr::Store { place, value, ord }, Form::Short);
    }
    let mut reader = Body::default();
    let dst: RegId = reader.register();
    let ord = generator.read_ord();
    let place = Place::Loc(said);
    reader.push(Instr::Load { dst, place, ord }, Form::Short);
    patterns::seqlock(&mut generator, &mut reader, number);
    let mut forms = Vec::new();
    for (t, body) in [writer, reader].into_iter().enumerate() {
        let registers = body.registers.max(1);
        program
            .threads
            .push(initial_thread(t, registers, body.code));
        forms.push(body.forms);
    }
    settled(program, forms)
}
