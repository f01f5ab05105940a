//! The loops of the C program, in the model's program: all that its failed spin iterations read is there.

use super::{Form, Looping};
use rsan_model::{
    BinOp, CasStrength, Expr, Instr, Pc, Place, Program, ReadOrd, RegId, Register, Span,
};

/// The program with the loops that the C program has.
pub(super) fn as_written(looping: &Looping) -> Program {
    let mut program = looping.program.clone();
    for (thread, forms) in program.threads.iter_mut().zip(&looping.forms) {
        let mut starts = vec![0];
        let mut code = Vec::new();
        let mut registers = thread.registers.len();
        for (instr, form) in thread.code.iter().zip(forms) {
            let at = code.len();
            match unrolled(instr, *form, at, &mut registers) {
                Some(several) => code.extend(several),
                None => code.push(instr.clone()),
            }
            starts.push(code.len());
        }
        thread.spans = vec![Span::default(); code.len()];
        let moved = |pc: &mut Pc| *pc = Pc::new(starts[pc.index()]);
        let mut next = 0;
        for (at, instr) in code.iter_mut().enumerate() {
            while starts[next + 1] <= at {
                next += 1;
            }
            match (instr, thread.code.get(next), forms.get(next)) {
                (
                    Instr::Branch {
                        then, otherwise, ..
                    },
                    Some(Instr::Branch { .. }),
                    _,
                ) => {
                    moved(then);
                    moved(otherwise);
                }
                (Instr::Branch { otherwise, .. }, Some(Instr::Assume(_)), Some(form)) => {
                    let to = form.back().expect("an assumption ends a round");
                    *otherwise = Pc::new(starts[to]);
                }
                _ => {}
            }
        }
        thread.code = code;
        for r in thread.registers.len()..registers {
            thread.registers.push(Register {
                name: format!("r{r}"),
                init: 0,
            });
        }
    }
    program
}

/// A blocking operation at `at` as a loop, and an assumption as a branch whose `otherwise` is still to be set.
fn unrolled(instr: &Instr, form: Form, at: usize, registers: &mut usize) -> Option<Vec<Instr>> {
    if let Instr::Assume(cond) = instr {
        let (then, otherwise) = (Pc::new(at + 1), Pc::new(0));
        let cond = cond.clone();
        return Some(vec![Instr::Branch {
            cond,
            then,
            otherwise,
        }]);
    }
    let (read, passes, reg) = attempt(instr, registers)?;
    let mut code = vec![read];
    if let Form::Reread(loc, ord) = form {
        let dst = register(registers);
        let place = Place::Loc(loc);
        let (then, otherwise) = (Pc::new(at + 4), Pc::new(at + 2));
        let cond = passes;
        code.push(Instr::Branch {
            cond,
            then,
            otherwise,
        });
        code.push(Instr::Load { dst, place, ord });
        code.push(Instr::Jump(Pc::new(at)));
    } else {
        let (then, otherwise) = (Pc::new(at + 2), Pc::new(at));
        let cond = passes;
        code.push(Instr::Branch {
            cond,
            then,
            otherwise,
        });
    }
    if let Instr::Wait { dst: Some(dst), .. } = instr {
        let (dst, value) = (*dst, Expr::Reg(reg));
        code.push(Instr::Assign { dst, value });
    }
    Some(code)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::Binary(BinOp::Eq, left.into(), right.into())
}

/// One round: what it reads, when it is the last one, and the register that decides.
fn attempt(instr: &Instr, registers: &mut usize) -> Option<(Instr, Expr, RegId)> {
    Some(match instr {
        Instr::Wait {
            place, values, ord, ..
        } => {
            let dst = register(registers);
            let read = Instr::Load {
                dst,
                place: place.clone(),
                ord: *ord,
            };
            let passes = values.iter().map(|v| equal(Expr::Reg(dst), v.clone()));
            let passes = passes.reduce(|a, b| Expr::Binary(BinOp::Or, a.into(), b.into()))?;
            (read, passes, dst)
        }
        Instr::Bcas {
            place,
            expected,
            new,
            ord,
        } => {
            let success = register(registers);
            let read = Instr::Cas {
                dst: None,
                success: Some(success),
                place: place.clone(),
                expected: expected.clone(),
                new: new.clone(),
                ord: *ord,
                fail: ReadOrd::Relaxed,
                strength: CasStrength::Strong,
            };
            (read, Expr::Reg(success), success)
        }
        _ => return None,
    })
}

/// A new register.
fn register(registers: &mut usize) -> RegId {
    *registers += 1;
    RegId::new(*registers - 1)
}
