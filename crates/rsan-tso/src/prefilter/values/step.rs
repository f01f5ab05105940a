//! What one operation does to the values of a thread.

use super::set::{each, equality, registers, results};
use super::{Fact, Local, Values, ValuesOf};
use crate::compiled::address;
use crate::mutation::Mutant;
use rsan_model::automata::Op;
use rsan_model::{Expr, Value};

impl ValuesOf<'_> {
    /// What an operation may do, and the thread's values after it; `None` if it cannot be done.
    pub(super) fn follow(&self, thread: usize, op: &Op, local: &mut Local) -> Option<Fact> {
        let mut fact = Fact {
            taken: true,
            address: Values::NONE,
            old: Values::NONE,
            written: Values::NONE,
        };
        match op {
            Op::Read { reg, addr, accept } => {
                fact.address = self.addresses(addr, &local.regs);
                local.regs[reg.index()] = self.read(thread, local, &fact.address);
                self.restrict(accept.as_ref(), &mut local.regs)?;
            }
            Op::Write { addr, value } => {
                fact.address = self.addresses(addr, &local.regs);
                fact.written = self.values(value, &local.regs);
                self.write(local, &fact);
            }
            Op::Update {
                reg,
                addr,
                accept,
                value,
            } => {
                fact.address = self.addresses(addr, &local.regs);
                fact.old = self.read(thread, local, &fact.address);
                if let Some(reg) = reg {
                    local.regs[reg.index()] = fact.old;
                }
                self.restrict(accept.as_ref(), &mut local.regs)?;
                fact.old = reg.map_or(Values::ANY, |reg| local.regs[reg.index()].clone());
                if let Some(value) = value {
                    fact.written = self.values(value, &local.regs);
                    self.write(local, &fact);
                }
            }
            Op::Assign { reg, value } => {
                local.regs[reg.index()] = self.values(value, &local.regs);
            }
            Op::Check(e) | Op::Assert(e) | Op::Bounds(e) => {
                self.restrict(Some(e), &mut local.regs)?;
            }
            Op::Fence | Op::Lock | Op::Unlock | Op::Noop => {}
        }
        Some(fact)
    }

    fn read(&self, thread: usize, local: &Local, addresses: &Values) -> Values {
        let Values::Few(addresses) = addresses else {
            return Values::ANY;
        };
        let mut read = Values::NONE;
        for at in addresses {
            read.join(&self.read_at(thread, local, *at));
        }
        read
    }

    fn read_at(&self, thread: usize, local: &Local, at: Value) -> Values {
        let mut initial = Values::one(self.initial(at));
        if self.anywhere {
            return Values::ANY;
        }
        let written = self.written.get(&at);
        let mut writers = written.iter().flat_map(|(writers, _)| writers);
        let is_mine = self.alone[thread] && writers.all(|w| *w == thread);
        if is_mine || self.mutation.breaks(Mutant::ValuesOfOthersForgotten) {
            return local.own.get(&at).cloned().unwrap_or(initial);
        }
        if let Some((_, values)) = written {
            initial.join(values);
        }
        initial
    }

    fn write(&self, local: &mut Local, fact: &Fact) {
        let Values::Few(addresses) = &fact.address else {
            // Nobody's own values count any more.
            return;
        };
        for at in addresses {
            let mut value = fact.written.clone();
            if addresses.len() > 1 {
                let old = local.own.get(at).cloned();
                value.join(&old.unwrap_or_else(|| Values::one(self.initial(*at))));
            }
            local.own.insert(*at, value);
        }
    }

    fn addresses(&self, e: &Expr, regs: &[Values]) -> Values {
        results(e, regs, address)
    }

    fn values(&self, e: &Expr, regs: &[Values]) -> Values {
        results(e, regs, |n| self.automata.domain.wrap(n))
    }

    /// Keeps the values of registers with which a condition may hold; `None` if it never does.
    fn restrict(&self, condition: Option<&Expr>, regs: &mut [Values]) -> Option<()> {
        let Some(e) = condition else { return Some(()) };
        let used = registers(e);
        let mut kept = vec![Values::NONE; used.len()];
        let mut holds = false;
        let all = each(e, regs, &mut |chosen, result| {
            if result.is_some_and(|n| n != 0) {
                holds = true;
                for (kept, reg) in kept.iter_mut().zip(&used) {
                    kept.join(&Values::one(chosen[reg.index()]));
                }
            }
        });
        if all {
            for (kept, reg) in kept.into_iter().zip(&used) {
                regs[reg.index()] = kept;
            }
            return holds.then_some(());
        }
        if let Some((reg, n)) = equality(e) {
            regs[reg.index()] = Values::one(Value::try_from(n).ok()?);
        }
        Some(())
    }
}
