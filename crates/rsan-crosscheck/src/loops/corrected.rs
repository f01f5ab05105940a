//! Stale loads that the failed compare-and-swap behind them corrects.
//!
//! In `if (x == 0) cas(x, 0, 1);` the load may be stale, and the compare-and-swap fails then, for it finds something else. If nobody
//! looks at what it returned, the thread is where it would be, had the load read what the compare-and-swap found. An optimising
//! compiler makes the same of `for (r = x; r == 0;) if (cas(x, &r, 1)) break;`, in which that is a round that only takes longer, so an
//! exploration cannot tell the two, and reports neither. In a graph without the load the failed compare-and-swap stands for it.

use super::Looping;
use rsan_axioms::Execution;
use rsan_model::{EventId, Expr, Instr, Label, Pc, RegId, Thread, Value};

impl Looping {
    /// The loads of a graph that could have read what the compare-and-swap behind them found.
    pub(super) fn corrected(&self, execution: &Execution<'_>) -> Vec<EventId> {
        let graph = execution.graph;
        let is_corrected = |load: &EventId| {
            let event = graph.event(*load);
            let Some(t) = event.thread else { return false };
            let thread = &self.program.threads[t.index()];
            let Some(test) = Test::at(thread, event.pc.index()) else {
                return false;
            };
            let swap = graph.ids().find(|e| {
                let other = graph.event(*e);
                (other.thread, other.pc) == (event.thread, Pc::new(event.pc.index() + 2))
            });
            swap.is_some_and(|swap| match graph.label(swap) {
                Label::Read { value, .. } => test.passes_over(value),
                _ => false,
            })
        };
        graph.ids().filter(is_corrected).collect()
    }
}

/// A load, a branch and a compare-and-swap of the same word, over which the branch leads.
struct Test<'a> {
    loaded: RegId,
    cond: &'a Expr,
}

impl<'a> Test<'a> {
    /// The test that begins at an instruction, if nothing depends on it but whether the word is swapped.
    fn at(thread: &'a Thread, at: usize) -> Option<Self> {
        let [load, branch, swap] = thread.code.get(at..at + 3)? else {
            return None;
        };
        let (
            Instr::Load { dst, place, ord },
            Instr::Branch {
                cond,
                then,
                otherwise,
            },
            Instr::Cas {
                place: swapped,
                fail,
                ..
            },
        ) = (load, branch, swap)
        else {
            return None;
        };
        let leads_over = (then.index(), otherwise.index()) == (at + 3, at + 2);
        let knows_as_much = place == swapped && fail >= ord;
        let mut is_of_load = true;
        cond.for_each_reg(&mut |r| is_of_load &= r == *dst);
        let mut results = vec![*dst];
        swap.for_each_written_reg(&mut |r| results.push(r));
        let others = thread.code.iter().enumerate();
        let mut others = others.filter(|(pc, _)| !(at..at + 3).contains(pc));
        let is_used = others.any(|(_, instr)| {
            let mut reads = false;
            instr.for_each_read_reg(&mut |r| reads |= results.contains(&r));
            reads
        });
        (leads_over && knows_as_much && is_of_load && !is_used)
            .then_some(Self { loaded: *dst, cond })
    }

    /// Whether the compare-and-swap would not be tried, had the load read this value.
    fn passes_over(&self, value: Value) -> bool {
        let mut registers = vec![0; self.loaded.index() + 1];
        registers[self.loaded.index()] = value;
        self.cond.eval(&registers).is_ok_and(|n| n != 0)
    }
}
