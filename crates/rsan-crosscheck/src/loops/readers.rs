//! Many threads that read a plain word, and one that writes it.

use super::generate::{Body, form, settled};
use super::{Form, Looping};
use crate::generate::{Generator, initial_thread};
use crate::{Profile, Random};
use rsan_model::{BinOp, Expr, Instr, LocId, Model, Pc, Place, ReadOrd, RmwOp, RmwOrd, WriteOrd};

/// Some threads read a plain word and say so; another one writes it when it has seen that of all, or of some, or waits for it.
pub(super) fn readers(random: &mut Random) -> Looping {
    // The orders in which many threads count, and in which one waits for many, are too many.
    let counted = random.chance(30);
    let readers = if counted { 3 } else { random.between(3, 5) };
    let mut generator = Generator {
        atomics: if counted { 1 } else { readers },
        plain: 1,
        random,
        profile: Profile::Readers,
        model: Model::C20,
    };
    let mut program = generator.declarations();
    let data = Place::Loc(LocId::new(generator.atomics));
    let said = |r: usize| Place::Loc(LocId::new(if counted { 0 } else { r }));
    let mut bodies = Vec::new();
    for r in 0..readers {
        let mut body = Body::default();
        let dst = body.register();
        let place = data.clone();
        body.push(Instr::PlainLoad { dst, place }, Form::Short);
        let place = said(r);
        let weak = generator.random.chance(12);
        let instr = if counted {
            let ord = if weak {
                RmwOrd::Relaxed
            } else {
                RmwOrd::Release
            };
            Instr::Rmw {
                dst: None,
                place,
                op: RmwOp::Add,
                operand: Expr::Const(1),
                ord,
            }
        } else {
            let ord = if weak {
                WriteOrd::Relaxed
            } else {
                WriteOrd::Release
            };
            let value = Expr::Const(1);
            Instr::Store { place, value, ord }
        };
        body.push(instr, Form::Short);
        bodies.push(body);
    }
    let writer = writer(&mut generator, readers, counted, &data, &said);
    let at = generator.random.between(0, readers);
    bodies.insert(at, writer);
    let mut forms = Vec::new();
    for (t, body) in bodies.into_iter().enumerate() {
        let thread = initial_thread(t, body.registers.max(1), body.code);
        program.threads.push(thread);
        forms.push(body.forms);
    }
    settled(program, forms)
}

/// The thread that writes what the readers read.
fn writer(
    generator: &mut Generator<'_>,
    readers: usize,
    counted: bool,
    data: &Place,
    said: &dyn Fn(usize) -> Place,
) -> Body {
    let mut body = Body::default();
    let mut branches = Vec::new();
    let waits = generator.random.chance(if readers < 5 { 50 } else { 10 });
    let words = if counted { 1 } else { readers };
    for r in 0..words {
        if !counted && generator.random.chance(4) {
            continue;
        }
        let ord = if generator.random.chance(8) {
            ReadOrd::Relaxed
        } else {
            ReadOrd::Acquire
        };
        let place = said(r);
        let value = Expr::Const(if counted { readers as i64 } else { 1 });
        if waits {
            let (dst, values) = (None, vec![value]);
            let instr = Instr::Wait {
                dst,
                place,
                values,
                ord,
            };
            let form = form(generator, &instr);
            body.push(instr, form);
        } else {
            let dst = body.register();
            body.push(Instr::Load { dst, place, ord }, Form::Short);
            branches.push((body.len(), dst, value));
            body.push(Instr::Halt, Form::Short);
        }
    }
    let (place, value) = (data.clone(), Expr::Const(1));
    body.push(Instr::PlainStore { place, value }, Form::Short);
    for (at, seen, value) in branches {
        body.code[at] = Instr::Branch {
            cond: Expr::Binary(BinOp::Ne, Expr::Reg(seen).into(), value.into()),
            then: Pc::new(body.len()),
            otherwise: Pc::new(at + 1),
        };
    }
    body
}
