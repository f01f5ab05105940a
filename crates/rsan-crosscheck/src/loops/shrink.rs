//! Smaller programs with the same difference.

use super::{Form, Looping};
use crate::{edit, shrink};
use rsan_model::Instr;

impl Looping {
    /// All programs that are one step smaller.
    pub(super) fn candidates(&self) -> Vec<Self> {
        let threads = 0..self.program.threads.len();
        let without = threads.clone().map(|t| self.without_thread(t));
        let places = || {
            let threads = threads.clone();
            threads.flat_map(|t| (0..self.forms[t].len()).map(move |pc| (t, pc)))
        };
        let removed = places().map(|(t, pc)| self.without(t, pc));
        let simplified = places().filter_map(|(t, pc)| self.simplified(t, pc));
        let all = without.chain(removed).chain(simplified);
        all.filter(Self::has_steps_in_all_rounds).collect()
    }

    fn without_thread(&self, t: usize) -> Self {
        let mut smaller = self.clone();
        smaller.program.threads.remove(t);
        smaller.forms.remove(t);
        smaller
    }

    fn without(&self, t: usize, at: usize) -> Self {
        let mut smaller = self.clone();
        edit::remove(&mut smaller.program.threads[t], at);
        let forms = &mut smaller.forms[t];
        forms.remove(at);
        for (end, form) in forms.iter_mut().enumerate() {
            let Some(to) = form.back() else {
                continue;
            };
            if at < to {
                *form = match *form {
                    Form::Carry(to) => Form::Carry(to - 1),
                    _ => Form::Back(to - 1),
                };
            } else if at <= end {
                *form = Form::Back(to);
            }
        }
        smaller
    }

    fn simplified(&self, t: usize, at: usize) -> Option<Self> {
        let mut smaller = self.clone();
        let form = &mut smaller.forms[t][at];
        match form {
            Form::Kept | Form::Pause | Form::Yield | Form::Reread(..) | Form::Exchange => {
                *form = Form::Short;
            }
            Form::Carry(to) => *form = Form::Back(*to),
            Form::Short | Form::Back(_) => {
                let instr = &mut smaller.program.threads[t].code[at];
                if !shrink::simplify(instr) {
                    return None;
                }
                // The compare-and-swap no longer expects what was loaded.
                if let Some(Form::Carry(to)) = smaller.forms[t].get(at + 1).copied() {
                    smaller.forms[t][at + 1] = Form::Back(to);
                }
            }
        }
        Some(smaller)
    }

    /// A round without a step would be one of an endless loop.
    fn has_steps_in_all_rounds(&self) -> bool {
        let mut threads = self.program.threads.iter().zip(&self.forms);
        let no_threads = self.forms.is_empty();
        !no_threads
            && threads.all(|(thread, forms)| {
                forms.iter().enumerate().all(|(end, form)| {
                    form.back()
                        .is_none_or(|to| thread.code[to..end].iter().any(Instr::is_atomic_access))
                })
            })
    }
}
