//! Named litmus tests with a few random changes. Most of them sit close to the border between robust and not, which
//! random programs rarely do.

use crate::{Random, edit, tables};
use rsan_model::{
    Expr, FenceOrd, Instr, LocId, Model, Place, Program, ReadOrd, RmwOrd, Thread, WriteOrd,
};

/// Most instructions of a thread, and of all, that duplication makes.
const LONGEST: usize = 6;
const LARGEST: usize = 13;

/// A litmus test with one to three changes, for a model.
pub(crate) fn mutant(random: &mut Random, model: Model) -> Program {
    let rows: Vec<_> = tables::rows(model.has_sc_accesses()).collect();
    let mut program = rows[random.below(rows.len())].program();
    program.name = "mutant".to_owned();
    program.source = None;
    for _ in 0..random.between(1, 3) {
        change(random, model, &mut program);
    }
    program
}

fn change(random: &mut Random, model: Model, program: &mut Program) {
    let locations = program.locations.len();
    let size = program.instructions().count();
    let t = random.below(program.threads.len());
    let length = program.threads[t].code.len();
    if length == 0 {
        return;
    }
    let at = random.below(length);
    // Weights of: order, location, value, swap, removal, duplicate.
    match random.weighted(&[40, 15, 15, 12, 8, 10]) {
        0 => reorder(random, model, &mut program.threads[t].code[at]),
        1 => {
            let to = LocId::new(random.below(locations));
            if let Some(place) = place_mut(&mut program.threads[t].code[at]) {
                *place = Place::Loc(to);
            }
        }
        2 => {
            let value = random.below(3) as i64;
            let mut operands = operands_mut(&mut program.threads[t].code[at]);
            if !operands.is_empty() {
                let operand = random.below(operands.len());
                *operands[operand] = Expr::Const(value);
            }
        }
        3 => swap(&mut program.threads[t], at),
        4 => edit::remove(&mut program.threads[t], at),
        _ => {
            let instr = program.threads[t].code[at].clone();
            let to = random.below(program.threads.len());
            let to = &mut program.threads[to];
            let position = random.between(0, to.code.len());
            if to.code.len() < LONGEST && size < LARGEST {
                edit::insert(to, position, instr);
            }
        }
    }
}

fn swap(thread: &mut Thread, at: usize) {
    if at + 1 < thread.code.len() {
        thread.code.swap(at, at + 1);
        edit::settle(thread);
    }
}

/// Gives an instruction another order.
fn reorder(random: &mut Random, model: Model, instr: &mut Instr) {
    let sc = usize::from(model.has_sc_accesses());
    let mut read = |ord: &mut ReadOrd| *ord = random.pick(&ReadOrd::ALL[..2 + sc]);
    match instr {
        Instr::Load { ord, .. } | Instr::Wait { ord, .. } => read(ord),
        Instr::Cas { fail, ord, .. } => {
            read(fail);
            *ord = random.pick(&RmwOrd::ALL[..4 + sc]);
        }
        Instr::Rmw { ord, .. } | Instr::Bcas { ord, .. } => {
            *ord = random.pick(&RmwOrd::ALL[..4 + sc]);
        }
        Instr::Store { ord, .. } => *ord = random.pick(&WriteOrd::ALL[..2 + sc]),
        Instr::Fence(ord) => *ord = random.pick(&FenceOrd::ALL),
        _ => {}
    }
}

fn place_mut(instr: &mut Instr) -> Option<&mut Place> {
    match instr {
        Instr::Load { place, .. }
        | Instr::Store { place, .. }
        | Instr::Rmw { place, .. }
        | Instr::Cas { place, .. }
        | Instr::Wait { place, .. }
        | Instr::Bcas { place, .. } => Some(place),
        _ => None,
    }
}

fn operands_mut(instr: &mut Instr) -> Vec<&mut Expr> {
    match instr {
        Instr::Store { value, .. } => vec![value],
        Instr::Rmw { operand, .. } => vec![operand],
        Instr::Cas { expected, new, .. } | Instr::Bcas { expected, new, .. } => vec![expected, new],
        Instr::Wait { values, .. } => values.iter_mut().collect(),
        Instr::Branch {
            cond: Expr::Binary(_, _, right),
            ..
        } => vec![right.as_mut()],
        _ => vec![],
    }
}
