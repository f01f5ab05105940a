//! Small changes to a thread's code that keep its jumps meaningful.

use rsan_model::{Instr, Pc, Register, Span, Thread};

/// Removes the instruction at `at`; jumps to it go to what comes next.
pub(crate) fn remove(thread: &mut Thread, at: usize) {
    thread.code.remove(at);
    thread.spans.remove(at);
    thread.for_each_target(|pc| {
        if pc.index() > at {
            pc.0 -= 1;
        }
    });
}

/// Inserts an instruction before the one at `at`; jumps to that one still go there.
pub(crate) fn insert(thread: &mut Thread, at: usize, instr: Instr) {
    thread.for_each_target(|pc| {
        if pc.index() >= at {
            pc.0 += 1;
        }
    });
    thread.code.insert(at, instr);
    thread.spans.insert(at, Span::default());
    settle(thread);
}

/// Makes all branches go forward, within the code, and all registers exist.
pub(crate) fn settle(thread: &mut Thread) {
    let end = thread.code.len();
    let mut registers = thread.registers.len();
    for (at, instr) in thread.code.iter_mut().enumerate() {
        if let Instr::Branch {
            then, otherwise, ..
        } = instr
        {
            *then = Pc::new(then.index().clamp(at + 1, end));
            *otherwise = Pc::new(at + 1);
        }
        let mut count = |r: rsan_model::RegId| registers = registers.max(r.index() + 1);
        instr.for_each_read_reg(&mut count);
        instr.for_each_written_reg(&mut count);
    }
    for r in thread.registers.len()..registers {
        thread.registers.push(Register {
            name: format!("r{r}"),
            init: 0,
        });
    }
}
