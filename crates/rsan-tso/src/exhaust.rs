//! A look at every SC configuration.

use crate::compiled::Compiled;
use crate::config::Config;
use crate::limits::{Limits, Stats, Watch};
use crate::search::ended;
use crate::space::{Note, Space, Step};
use crate::{Outcome, Verdict, verdict};

/// Has a verdict, or not, about a configuration; the second argument gives the steps that lead there.
pub(crate) type Judge<'a> = dyn Fn(&Config, &dyn Fn() -> Vec<Step>) -> Option<Verdict> + 'a;

/// Looks at all SC configurations, in the order in which they are found, until `judge` has a verdict.
pub(crate) fn exhaust(
    compiled: &Compiled<'_>,
    limits: &Limits<'_>,
    note: Note,
    judge: &Judge<'_>,
) -> Outcome {
    let automata = compiled.automata;
    let watch = Watch::new(limits);
    let mut space = match Space::new(compiled, note) {
        Ok(space) => space,
        Err(leave) => {
            let found = ended(&leave, Vec::new);
            return Outcome {
                verdict: verdict(automata, found),
                stats: Stats::default(),
            };
        }
    };
    let mut told = 0;
    let mut answer = None;
    while answer.is_none() && !space.is_complete() {
        let number = space.expanded as u32;
        if number.is_multiple_of(256) {
            watch.tell(space.states.memory(), &mut told);
            answer = watch.check().err().map(Verdict::Unknown);
        }
        let config = space.config(number, &mut Vec::new());
        answer = answer.or_else(|| judge(&config, &|| space.path(number)));
        if let (None, Err(trouble)) = (&answer, space.expand_next()) {
            let found = ended(&trouble.into(), || space.path(number));
            answer = Some(verdict(automata, found));
        }
    }
    Outcome {
        verdict: answer.unwrap_or(Verdict::Robust),
        stats: Stats {
            states: space.states.len() as u64,
            attack_states: 0,
            memory: space.states.memory(),
            elapsed: watch.began.elapsed(),
        },
    }
}
